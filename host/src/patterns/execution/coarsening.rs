use crate::cases::copy::{self, bytes, traffic};
use crate::prelude::*;
use kernels::execution::coarsening::{self as device, FACTOR, THREADS_PER_BLOCK};

pub const PATTERN: Pattern = Pattern {
    name: "coarsening",
    group: "execution",
    doc_source: include_str!("../../../../kernels/src/execution/coarsening.rs"),
    dimensions: &[Dimension::extent("n", "elements", 1)],
    verify_sizes: &[&[1], &[31], &[32], &[33], &[255], &[256], &[257], &[1023], &[4096], &[10_007]],
    bench_size: &[1 << 27],
    count_size: &[1 << 14],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::coarsening_one, copy::launch, THREADS_PER_BLOCK, 1)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::coarsening_consecutive_2, copy::launch, THREADS_PER_BLOCK, 2).expecting(
            |_| traffic(8.0, "lanes 8 B apart: min(32 x 8 B / 32 B, 32 lanes) = 8 sectors"),
        ),
        variant!(device::coarsening_consecutive_4, copy::launch, THREADS_PER_BLOCK, 4).expecting(
            |_| traffic(16.0, "lanes 16 B apart: min(32 x 16 B / 32 B, 32 lanes) = 16 sectors"),
        ),
        variant!(device::coarsening_consecutive_8, copy::launch, THREADS_PER_BLOCK, 8).expecting(
            |_| traffic(32.0, "lanes 32 B apart: min(32 x 32 B / 32 B, 32 lanes) = 32 sectors"),
        ),
        variant!(device::coarsening_consecutive_16, copy::launch, THREADS_PER_BLOCK, 16).expecting(
            |_| traffic(32.0, "lanes 64 B apart: min(32 x 64 B / 32 B, 32 lanes) = 32 sectors"),
        ),
        variant!(device::coarsening_strided_2, copy::launch, THREADS_PER_BLOCK, 2)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::coarsening_strided_4, copy::launch, THREADS_PER_BLOCK, 4)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::coarsening_strided_8, copy::launch, THREADS_PER_BLOCK, 8)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::coarsening_strided_16, copy::launch, THREADS_PER_BLOCK, 16)
            .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::coarsening_vectorized_4, copy::launch, THREADS_PER_BLOCK, 4)
            .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        variant!(device::coarsening_vectorized_16, copy::launch, THREADS_PER_BLOCK, 16)
            .expecting(|_| traffic(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    copy::case(size, random, reference)
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.iter().map(|element| FACTOR * element).collect()
}
