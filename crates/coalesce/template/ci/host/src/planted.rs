//! The kernel with a planted race, as a catalogue of its own: no test of the others sees it.

use coalesce::data::{Data, Random};
use coalesce::pattern::{Bytes, Case, Dimension, Pattern, Resource, Size, Variant};
use my_app_kernels::planted::{THREADS_PER_BLOCK, planted_reversed};

/// The catalogue of `cargo planted`.
pub static CATALOGUE: coalesce::Catalogue =
    coalesce::Catalogue::new("planted", &[&PATTERN], crate::IMAGES);

static PATTERN: Pattern = Pattern {
    name: "planted",
    group: "ci",
    doc_source: include_str!("../../kernels/src/planted.rs"),
    dimensions: &[Dimension::extent("blocks", "blocks of 256 elements", 1)],
    verify_sizes: &[&[1], &[4]],
    bench_size: &[1 << 16],
    count_size: &[16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[Variant::kernel("reversed", |launcher, arrays, size| {
        let [blocks] = size.get().map(|blocks: usize| blocks as u32);
        let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0));
        // SAFETY: an element for each thread of the grid; source and target are different arrays.
        unsafe { launcher.launch(planted_reversed, blocks, THREADS_PER_BLOCK, 0, arguments) }
    })],
};

fn elements(size: &Size) -> usize {
    let [blocks] = size.get();
    blocks * THREADS_PER_BLOCK as usize
}

fn case(size: &Size, random: &mut Random) -> Case {
    let source = random.f32s(elements(size));
    let blocks = source.chunks(THREADS_PER_BLOCK as usize);
    let target = blocks.flat_map(|block| block.iter().rev().copied()).collect();
    Case::exact(vec![Data::F32(target)], vec![Data::F32(source)])
}

fn bytes(size: &Size) -> Bytes {
    Bytes { read: 4 * elements(size), written: 4 * elements(size) }
}
