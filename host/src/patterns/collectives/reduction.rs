use crate::prelude::*;
use coalesce::pattern::Before;
use kernels::collectives::reduction::{
    self as device, LOADS_IN_FLIGHT, MAX_BLOCKS, THREADS_PER_BLOCK,
};
use rayon::prelude::*;

const PACK: usize = 16;

pub const PATTERN: Pattern = Pattern {
    name: "reduction",
    group: "collectives",
    doc_source: include_str!("../../../../kernels/src/collectives/reduction.rs"),
    dimensions: &[Dimension::extent("n", "32-bit elements", 1)],
    verify_sizes: lengths![1, 2, 31, 32, 33, 511, 512, 513, 8191, 8193, 100_003, 5_000_001],
    bench_size: &[1 << 28],
    count_size: &[1 << 18],
    sweeps: &[Sweep {
        dimension: 0,
        values: &[1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26],
        variants: &[4, 5],
    }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Read, bytes(size).total())),
    variants: &[
        variant!(device::reduction_global_atomic, launch, 0, blocks).expecting(|size| {
            Expectation {
                load_sectors: Some(4.0),
                global_atomics: Some(elements(size) as f64),
                global_atomic_updates: Some(32.0),
                arithmetic: "32 lanes x 4 B / 32 B = 4 sectors; n atomics, \
                    32 lanes on one address, one after the other",
                ..Expectation::default()
            }
        }),
        variant!(device::reduction_interleaved, launch, 0, blocks).expecting(|size| {
            tree(
                size,
                (1.0, 1.0),
                "a warp's words are within 32 consecutive ones: 1 wavefront; n / 512 \
                atomics",
            )
        }),
        variant!(device::reduction_strided, launch, 0, blocks).expecting(|size| {
            let (warps, wavefronts) = strided_tree();
            let loads = (2.0 * wavefronts + 1.0) / (2.0 * warps + 1.0);
            let stores = (wavefronts + 16.0) / (warps + 16.0);
            tree(
                size,
                (loads, stores),
                "20 warps of 9 levels: 95 wavefronts; loads (2 x 95 + 1) / (2 x 20 + 1), \
                stores (95 + 16) / (20 + 16)",
            )
        }),
        variant!(device::reduction_sequential, launch, 0, blocks).expecting(|size| {
            tree(
                size,
                (1.0, 1.0),
                "neighbouring lanes access neighbouring words: 1 wavefront; n / 512 \
                atomics",
            )
        }),
        variant!(device::reduction_shuffle, launch, 0, blocks).expecting(|size| {
            tree(
                size,
                (1.0, 1.0),
                "16 stores and 1 load per block, shuffles use no shared memory; n / 512 \
                atomics",
            )
        }),
        variant!(device::reduction_vectorized, launch, 0, vectorized_blocks)
            .expecting(vectorized_traffic),
        variant!(device::reduction_vectorized_i32, launch, 1, vectorized_blocks)
            .writing(&[1])
            .expecting(vectorized_traffic),
        variant!(device::reduction_vectorized_f64, launch, 2, vectorized_blocks)
            .writing(&[2])
            .expecting(vectorized_traffic),
    ],
};

fn elements(size: &Size) -> usize {
    let [n] = size.get();
    n
}

/// The doubles of a size: as many bytes as its floats.
fn doubles(size: &Size) -> usize {
    elements(size).div_ceil(2)
}

/// The warps that work in all levels of a tree of 512 words, whose pairs are 2, 4, 8 .. 512 words apart, and the wavefronts of
/// all of them for one access each.
pub(super) fn strided_tree() -> (f64, f64) {
    // Warps, and wavefronts for each.
    let levels = [
        (8.0, 2.0),
        (4.0, 4.0),
        (2.0, 8.0),
        (1.0, 16.0),
        (1.0, 16.0),
        (1.0, 8.0),
        (1.0, 4.0),
        (1.0, 2.0),
        (1.0, 1.0),
    ];
    let warps = levels.iter().map(|(warps, _)| warps).sum();
    (warps, levels.iter().map(|(warps, wavefronts)| warps * wavefronts).sum())
}

fn blocks(size: &Size) -> u32 {
    (elements(size) as u32).div_ceil(THREADS_PER_BLOCK)
}

/// As many blocks as have loads to do, up to what the device holds at once.
fn vectorized_blocks(size: &Size) -> u32 {
    let bytes = 4 * elements(size);
    let per_block = THREADS_PER_BLOCK as usize * LOADS_IN_FLIGHT as usize * PACK;
    (bytes.div_ceil(per_block) as u32).min(MAX_BLOCKS)
}

/// The traffic of a tree: one element per thread and one atomic per block, with the wavefronts of shared loads and stores.
fn tree(size: &Size, wavefronts: (f64, f64), arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(4.0),
        shared_load_wavefronts: Some(wavefronts.0),
        shared_store_wavefronts: Some(wavefronts.1),
        global_atomics: Some(f64::from(blocks(size))),
        global_atomic_updates: Some(1.0),
        arithmetic,
        ..Expectation::default()
    }
}

fn vectorized_traffic(size: &Size) -> Expectation {
    Expectation {
        load_sectors: Some(16.0),
        global_atomics: Some(f64::from(vectorized_blocks(size))),
        ..tree(size, (1.0, 1.0), "32 lanes x 16 B / 32 B = 16 sectors; one atomic per block")
    }
}

/// Floats and doubles that add without rounding: odd multiples of 1/64 in (-1, 1).
fn case(size: &Size, random: &mut Random) -> Case {
    let exact = |byte: &u8| (f32::from(byte >> 2) * 2.0 - 63.0) / 64.0;
    let floats: Vec<f32> = random.u8s(elements(size)).par_iter().map(exact).collect();
    let doubles: Vec<f64> =
        random.u8s(doubles(size)).par_iter().map(|byte| f64::from(exact(byte))).collect();
    let integers: Vec<i32> =
        random.u32s(elements(size)).into_par_iter().map(u32::cast_signed).collect();
    let sums = [
        Data::F32(vec![reference(floats.par_iter().map(|value| f64::from(*value))) as f32]),
        Data::I32(vec![integers.par_iter().copied().reduce(|| 0, i32::wrapping_add)]),
        Data::F64(vec![reference(doubles.par_iter().copied())]),
    ];
    Case {
        inputs: vec![Data::F32(floats), Data::I32(integers), Data::F64(doubles)],
        outputs: sums.map(sum).into(),
    }
}

/// An output that starts from zero and is added to.
fn sum(reference: Data) -> Output {
    Output { reference, tolerance: Tolerance::Exact, before: Before::Zeros }
}

fn reference(values: impl ParallelIterator<Item = f64>) -> f64 {
    values.sum()
}

fn bytes(size: &Size) -> Bytes {
    Bytes { read: 4 * elements(size), written: 4 }
}

/// Launches a kernel that takes one input and the sum in the output of the same number.
fn launch<T: Element>(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const T, *mut T, u32)>,
    array: usize,
    blocks: fn(&Size) -> u32,
) -> Result<(), GpuError> {
    let n = elements(size).div_ceil(size_of::<T>() / 4) as u32;
    let arguments = (arrays.input(array), arrays.output(array), n);
    // SAFETY: one thread per element, or a grid of its own choice for the vectorized ones; the input has that many
    // elements and is 256-byte aligned; the output is one zero.
    unsafe { launcher.launch(kernel, blocks(size), THREADS_PER_BLOCK, 0, arguments) }
}
