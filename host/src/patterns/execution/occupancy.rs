use crate::cases::copy::{self, bytes, traffic};
use crate::prelude::*;
use cuda_std::warp::WARP_SIZE;
use kernels::execution::occupancy::{self as device, MAX_THREADS};

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
        variant!(device::occupancy_words_1, launch)
            .only_when(fits)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::occupancy_words_2, launch)
            .only_when(fits)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::occupancy_words_4, launch)
            .only_when(fits)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::occupancy_vectorized_16, launch)
            .only_when(fits)
            .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        variant!(device::occupancy_vectorized_32, launch)
            .only_when(fits)
            .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        variant!(device::occupancy_vectorized_64, launch)
            .only_when(fits)
            .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
    ],
};

/// Returns whether all blocks are resident at once.
fn fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, blocks, threads] = size.get();
    if threads % WARP_SIZE as usize != 0 || threads > 1024 {
        return Err("a block has whole warps: threads is a multiple of 32, up to 1024");
    }
    let is_resident = blocks.saturating_mul(threads) <= MAX_THREADS as usize;
    if is_resident { Ok(()) } else { Err("blocks x threads is at most 2048 per multiprocessor") }
}

fn case(size: &Size, random: &mut Random) -> Case {
    copy::case(size, random, reference)
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.to_vec()
}

/// Launches a kernel of this file with so many blocks for each multiprocessor, for which any grid is right.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: copy::Copy,
) -> Result<(), GpuError> {
    let [_, blocks, threads] = size.get().map(|value: usize| value as u32);
    let grid = blocks * launcher.gpu().multiprocessors()?;
    copy::launch_grid(launcher, arrays, size, kernel, (0, 0), (grid, threads))
}
