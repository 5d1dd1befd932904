use crate::cases::copy::{self, LENGTHS, bytes, traffic};
use crate::prelude::*;
use kernels::global::coalescing::{self as device, LOADS_IN_FLIGHT, THREADS_PER_BLOCK};

pub const PATTERN: Pattern = Pattern {
    name: "coalescing",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/coalescing.rs"),
    dimensions: &[Dimension::extent("n", "elements copied", 1)],
    verify_sizes: LENGTHS,
    bench_size: &[1 << 28],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::coalescing_strided, copy::launch, THREADS_PER_BLOCK, 1)
            .expecting(|_| traffic(32.0, "32 lanes in 32 different sectors")),
        variant!(device::coalescing_every_other_lane, half).expecting(|_| {
            traffic(4.0, "16 lanes, every other word of 128 B: 4 sectors, half used")
        }),
        variant!(device::coalescing_half_warp, half)
            .expecting(|_| traffic(2.0, "16 lanes x 4 B / 32 B = 2 sectors")),
        variant!(device::coalescing_permuted, copy::launch, THREADS_PER_BLOCK, 1)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors, in any order")),
        variant!(device::coalescing_scalar, copy::launch, THREADS_PER_BLOCK, 1)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::coalescing_vectorized_8, copy::launch, THREADS_PER_BLOCK, 2)
            .expecting(|_| traffic(8.0, "32 lanes x 8 B / 32 B = 8 sectors")),
        variant!(device::coalescing_vectorized_16, copy::launch, THREADS_PER_BLOCK, 4)
            .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        variant!(
            device::coalescing_in_flight,
            copy::launch,
            THREADS_PER_BLOCK,
            4 * LOADS_IN_FLIGHT
        )
        .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    copy::case(size, random, reference)
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.to_vec()
}

/// Launches a kernel of this file in which half of the lanes copy one element each.
fn half(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: copy::Copy,
) -> Result<(), GpuError> {
    let [n] = size.get();
    let grid = (2 * n.next_multiple_of(32)).div_ceil(THREADS_PER_BLOCK as usize) as u32;
    // There are two threads for each element of whole warps.
    copy::launch_grid(launcher, arrays, size, kernel, (0, 0), (grid, THREADS_PER_BLOCK))
}
