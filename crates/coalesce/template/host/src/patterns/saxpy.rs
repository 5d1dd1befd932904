//! z = a x + y.

use coalesce::data::{Data, Random};
use coalesce::pattern::{Bytes, Case, Dimension, Pattern, Resource, Size, Variant};
use my_app_kernels::saxpy::{THREADS_PER_BLOCK, saxpy_coalesced};

const A: f32 = 2.5;

pub static PATTERN: Pattern = Pattern {
    name: "saxpy",
    group: "linear_algebra",
    doc_source: include_str!("../../../kernels/src/saxpy.rs"),
    dimensions: &[Dimension::extent("n", "elements of each vector", 1)],
    verify_sizes: &[&[1], &[31], &[1000], &[1 << 16]],
    bench_size: &[1 << 26],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[Variant::kernel("coalesced", |launcher, arrays, size| {
        let [n] = size.get().map(|n: usize| n as u32);
        let arguments = (A, arrays.input(0), arrays.input(1), arrays.output(0));
        let grid = n.div_ceil(THREADS_PER_BLOCK);
        // SAFETY: the arrays live until the instrument has waited, and the output is another one than the inputs.
        Ok(unsafe { launcher.enqueue(saxpy_coalesced, grid, arguments) }?)
    })],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let (x, y) = (random.f32s(n), random.f32s(n));
    let z = x.iter().zip(&y).map(|(x, y)| A * x + y).collect();
    Case::exact(vec![Data::F32(z)], vec![Data::F32(x), Data::F32(y)])
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 8 * n, written: 4 * n }
}
