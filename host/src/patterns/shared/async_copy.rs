use crate::cases::copy::{self, bytes};
use crate::prelude::*;
use kernels::shared::async_copy::{self as device, APART, THREADS_PER_BLOCK, TILE};
use rayon::prelude::*;

/// Tiles of a block: many more than are under way at a time, few enough that blocks that come late
/// find work.
const TILES_PER_BLOCK: u32 = 16;

/// From 2 blocks to about one per multiprocessor: each has to hide its own waits.
const SIZES: &[usize] = &[1 << 16, 1 << 18, 1 << 20, 1 << 22];

pub const PATTERN: Pattern = Pattern {
    name: "async_copy",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/async_copy.rs"),
    dimensions: &[Dimension::extent("n", "elements", 1)],
    verify_sizes: lengths![
        1, 31, 32, 33, 127, 129, 2047, 2048, 2049, 8191, 10_243, 32_768, 100_003, 262_146
    ],
    bench_size: &[1 << 28],
    count_size: &[1 << 18],
    sweeps: &[Sweep { dimension: 0, values: SIZES, variants: &[0, 1, 2, 3, 4, 5, 6, 7] }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::async_copy_registers_4, launch).expecting(|_| {
            in_pieces(1.0, "in: 32 x 4 B = 4 sectors, 1 wavefront; out: 32 x 16 B = 16 sectors")
        }),
        variant!(device::async_copy_registers_8, launch).expecting(|_| {
            in_pieces(2.0, "in: 32 x 8 B = 8 sectors, 256 B / 128 B = 2 wavefronts")
        }),
        variant!(device::async_copy_registers_16, launch).expecting(|_| {
            in_pieces(4.0, "in: 32 x 16 B = 16 sectors, 512 B / 128 B = 4 wavefronts")
        }),
        variant!(device::async_copy_async_4, launch).expecting(|_| {
            in_pieces(1.0, "the same bytes as through registers: 4 sectors, 1 wavefront")
        }),
        variant!(device::async_copy_async_8, launch)
            .expecting(|_| in_pieces(2.0, "8 sectors, a wavefront for each of 2 cache lines")),
        variant!(device::async_copy_async_16, launch)
            .expecting(|_| in_pieces(4.0, "16 sectors, a wavefront for each of 4 cache lines")),
        variant!(device::async_copy_pipelined, launch)
            .expecting(|_| in_pieces(4.0, "16 sectors, a wavefront for each of 4 cache lines")),
        variant!(device::async_copy_bulk, launch).expecting(|_| Expectation {
            load_sectors: None,
            shared_store_wavefronts: None,
            ..in_pieces(0.0, "no lane loads, one bulk copy does; out: 32 x 16 B = 16 sectors")
        }),
    ],
};

/// A variant that fills its tiles with `wavefronts` of 128 bytes per request, and empties them with 16
/// bytes per lane.
fn in_pieces(wavefronts: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(4.0 * wavefronts, 16.0, arithmetic).shared(4.0, wavefronts)
}

fn case(size: &Size, random: &mut Random) -> Case {
    copy::case(size, random, reference)
}

/// Each element and its partner; one beyond the end counts as 0.
fn reference(source: &[f32]) -> Vec<f32> {
    let partner = |i: usize| source.get(i ^ APART as usize).copied().unwrap_or(0.0);
    source.par_iter().enumerate().map(|(i, own)| own + partner(i)).collect()
}

/// Launches a kernel of this file, which shares the tiles out over any grid.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: copy::Copy,
) -> Result<(), GpuError> {
    let [n] = size.get().map(|value: usize| value as u32);
    let grid = n.div_ceil(TILE).div_ceil(TILES_PER_BLOCK);
    copy::launch_grid(launcher, arrays, size, kernel, (0, 0), (grid, THREADS_PER_BLOCK))
}
