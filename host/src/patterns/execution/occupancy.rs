//! Host half of `occupancy`. Device half and teaching doc: `kernels/src/execution/occupancy.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Sweep, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use cuda_std::warp::WARP_SIZE;
use kernels::execution::occupancy as device;
use kernels::execution::occupancy::MAX_THREADS;

/// Blocks per multiprocessor in a curve, of 128 threads: occupancy from 6 % to 100 %.
const BLOCKS: &[usize] = &[1, 2, 4, 8, 12, 16];
/// Threads per block in a curve, of 4 blocks: occupancy from 6 % to 100 %.
const THREADS: &[usize] = &[32, 64, 128, 256, 384, 512];

pub const PATTERN: Pattern = Pattern {
    name: "occupancy",
    group: "execution",
    doc_source: include_str!("../../../../kernels/src/execution/occupancy.rs"),
    dimensions: &[
        Dimension::extent("n", "elements copied", 1),
        Dimension::amount("blocks", "blocks per multiprocessor", 1),
        Dimension::amount("threads", "threads per block", 32),
    ],
    verify_sizes: &[
        &[1, 1, 32],
        &[31, 1, 64],
        &[32, 2, 32],
        &[33, 1, 96],
        &[1000, 1, 32],
        &[4099, 1, 64],
        &[65_537, 1, 32],
    ],
    bench_size: &[1 << 27, 4, 128],
    count_size: &[1 << 18, 4, 128],
    sweeps: &[
        Sweep { dimension: 1, values: BLOCKS, variants: &[0, 1, 2, 3, 4, 5] },
        Sweep { dimension: 2, values: THREADS, variants: &[0, 1, 2, 3, 4, 5] },
    ],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel(
            "words_1",
            "a thread copies one word per round",
            |launcher, arrays, size| launch(launcher, arrays, size, device::occupancy_words_1),
        )
        .only_when(fits)
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel(
            "words_2",
            "two words per round, both loads before the first store",
            |launcher, arrays, size| launch(launcher, arrays, size, device::occupancy_words_2),
        )
        .only_when(fits)
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel("words_4", "four words per round", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::occupancy_words_4)
        })
        .only_when(fits)
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel(
            "vectorized_16",
            "four words with one 16-byte access",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::occupancy_vectorized_16)
            },
        )
        .only_when(fits)
        .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        Variant::kernel(
            "vectorized_32",
            "two 16-byte accesses per round",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::occupancy_vectorized_32)
            },
        )
        .only_when(fits)
        .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        Variant::kernel(
            "vectorized_64",
            "four 16-byte accesses per round",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::occupancy_vectorized_64)
            },
        )
        .only_when(fits)
        .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
    ],
};

/// Whether all blocks are resident at once.
fn fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, blocks, threads] = size.get();
    if threads % WARP_SIZE as usize != 0 || threads > 1024 {
        return Err("a block has whole warps: threads is a multiple of 32, up to 1024");
    }
    let is_resident = blocks.saturating_mul(threads) <= MAX_THREADS as usize;
    if is_resident { Ok(()) } else { Err("blocks x threads is at most 2048 per multiprocessor") }
}

/// A copy whose loads and stores touch the same sectors.
fn traffic(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(sectors),
        store_sectors: Some(sectors),
        arithmetic,
        ..Expectation::default()
    }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, _, _] = size.get();
    let source = random.f32s(n);
    let outputs = vec![Output::exact(Data::F32(reference(&source)))];
    Case { outputs, inputs: vec![Data::F32(source)] }
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.to_vec()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _, _] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Launches a kernel of this file with so many blocks for each multiprocessor.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
) -> Result<()> {
    let [n, blocks, threads] = size.get().map(|value: usize| value as u32);
    let grid = blocks * launcher.gpu().multiprocessors()?;
    let arguments = (arrays.input(0), arrays.output(0), n);
    // SAFETY: any grid is right; a block has at least 32 threads, which the precondition checked; both arrays hold n
    // elements, start at a multiple of 256 bytes and are different allocations.
    unsafe { Ok(launcher.launch(kernel, grid, threads, 0, arguments)?) }
}
