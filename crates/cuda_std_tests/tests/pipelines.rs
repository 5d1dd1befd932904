//! A pipeline of copies to shared memory: what it computes, with every check for races and for copies that were not
//! waited for.

use crate::blocks::Run;
use cuda_std_tests::kernels::THREADS;
use cuda_std_tests::kernels::pipelines::TILE;

#[test]
fn tiles_arrive_before_they_are_used_and_stay_until_they_were() {
    for stages in [2, 3, 4] {
        for tiles in [0, 1, 2, 3, 4, 9] {
            let source: Vec<u32> = (0..(TILE * tiles.max(1)) as u32).map(|at| at * at).collect();
            let launch = Run {
                kernel: &format!("pipeline_{stages}"),
                blocks: 1,
                threads: THREADS as usize,
                shared_bytes: 4 * TILE * stages,
                words: &[tiles as u64],
            };
            let (found, counters) = launch.of::<u32, u32>(&source, THREADS as usize);
            let of_thread = |own: usize| -> u32 {
                let of_tile = |tile: usize| {
                    source[TILE * tile + TILE - 1 - own].wrapping_mul(tile as u32 + 1)
                };
                (0..tiles).map(of_tile).fold(0, u32::wrapping_add)
            };
            let expected: Vec<u32> = (0..THREADS as usize).map(of_thread).collect();
            assert_eq!(found, expected, "{stages} stages, {tiles} tiles");
            let copies = (tiles * THREADS as usize / 32) as u64;
            assert_eq!(counters.async_copy_shared.requests, copies, "a copy of each warp and tile");
        }
    }
}
