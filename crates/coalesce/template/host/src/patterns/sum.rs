//! The sum of each block's share of an array.

use coalesce::data::{Data, Random, Tolerance};
use coalesce::pattern::{Bytes, Case, Dimension, Output, Pattern, Resource, Size, Variant};
use my_app_kernels::sum::{THREADS_PER_BLOCK, sum_blocks};

/// Elements that each thread adds, where there are enough.
const PER_THREAD: usize = 16;

pub static PATTERN: Pattern = Pattern {
    name: "sum",
    group: "linear_algebra",
    doc_source: include_str!("../../../kernels/src/sum.rs"),
    dimensions: &[Dimension::extent("n", "elements", 1)],
    verify_sizes: &[&[1], &[31], &[1000], &[1 << 16]],
    bench_size: &[1 << 26],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Read, bytes(size).read)),
    variants: &[Variant::kernel("blocks", |launcher, arrays, size| {
        let arguments = (arrays.input(0), arrays.output(0));
        // SAFETY: the arrays live until the instrument has waited, and are different ones.
        Ok(unsafe { launcher.enqueue(sum_blocks, blocks(size) as u32, arguments) }?)
    })],
};

fn blocks(size: &Size) -> usize {
    let [n] = size.get();
    n.div_ceil(PER_THREAD * THREADS_PER_BLOCK as usize)
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let x = random.f32s(n);
    let block = THREADS_PER_BLOCK as usize;
    let mut sums = vec![0.0_f64; blocks(size)];
    for (index, x) in x.iter().enumerate() {
        let block = index / block % sums.len();
        sums[block] += f64::from(*x);
    }
    let sums = sums.into_iter().map(|sum| sum as f32).collect();
    let tolerance = Tolerance::sum_of_products(PER_THREAD * block);
    Case {
        inputs: vec![Data::F32(x)],
        outputs: vec![Output::near(Data::F32(sums), tolerance)],
    }
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * blocks(size) }
}
