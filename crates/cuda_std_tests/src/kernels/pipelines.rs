use core::mem::MaybeUninit;
use cuda_std::pipeline::Pipeline;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{kernel, thread};

/// Elements of a tile: four for each of 64 threads.
pub const TILE: usize = 256;

/// Stores for each thread the sum of what another thread copied, over tiles, each times its number.
#[kernel(STAGES = [2, 3, 4], min_compute_capability = 80)]
pub unsafe fn pipeline<const STAGES: usize>(source: *const u32, target: *mut u32, tiles: usize) {
    let own = thread::thread_idx_x() as usize;
    let stages = dynamic_shared_mem::<MaybeUninit<[[u32; TILE]; STAGES]>>();
    let mut sum = 0_u32;
    // SAFETY: the launch contract of the module; the source has as many tiles, and the shared memory all stages.
    unsafe {
        Pipeline::new(stages).run(
            tiles,
            |filling, tile| filling.copy::<16>(4 * own, source.add(TILE * tile + 4 * own)),
            |elements, tile| sum += elements[TILE - 1 - own] * (tile as u32 + 1),
        );
        *target.add(own) = sum;
    }
}
