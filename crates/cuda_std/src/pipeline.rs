//! Copies to shared memory that run some stages ahead of what uses them. CUDA's `cuda::pipeline`. Beyond rust-cuda.
//!
//! A [`Pipeline`] starts the copies of a tile, waits for those of an earlier one and has the block's barriers, so none can
//! be forgotten: a kernel says how a tile is filled and what is done with it. Compute capability 8.0.
//!
//! ```no_run
//! use core::mem::MaybeUninit;
//! use cuda_std::pipeline::Pipeline;
//! use cuda_std::prelude::*;
//!
//! /// Adds up tiles of 1024 elements, by 256 threads.
//! #[kernel(min_compute_capability = 80, launch_bounds(256))]
//! pub unsafe fn sums(x: *const f32, tiles: usize, target: *mut f32) {
//!     #[address_space(shared)]
//!     static mut STAGES: MaybeUninit<[[f32; 1024]; 3]> = MaybeUninit::uninit();
//!     let own = thread::thread_idx_x() as usize;
//!     let mut sum = 0.0;
//!     // SAFETY: all threads come here; each copies 16 bytes of its own in each of the tiles that `x` has.
//!     unsafe {
//!         Pipeline::new(&raw mut STAGES).run(
//!             tiles,
//!             |filling, tile| filling.copy::<16>(4 * own, x.add(1024 * tile + 4 * own)),
//!             |elements, _| sum += elements[own] + elements[1023 - own],
//!         );
//!         *target.add(own) = sum;
//!     }
//! }
//! ```
//! Copied elements are there while they are used, and not longer:
//! ```compile_fail,E0521
//! # use core::mem::MaybeUninit;
//! # use cuda_std::pipeline::Pipeline;
//! # unsafe fn escape(stages: *mut MaybeUninit<[[f32; 64]; 2]>) {
//! let mut kept = None;
//! unsafe { Pipeline::new(stages).run(8, |_, _| {}, |elements, _| kept = Some(elements)) };
//! # }
//! ```
//!
//! Source: CUDA C++ Programming Guide, "Asynchronous Data Copies using `cuda::pipeline`".

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::async_copy;
use crate::capability::require;
use crate::thread::sync_threads;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Stages of `LENGTH` elements in shared memory: one is used while the others are filled.
#[derive(Debug)]
pub struct Pipeline<T, const LENGTH: usize, const STAGES: usize> {
    stages: *mut [T; LENGTH],
}

/// A stage that copies may go to. Nothing of it can be read.
#[derive(Debug)]
pub struct Filling<'s, T, const LENGTH: usize> {
    stage: *mut T,
    filled: PhantomData<&'s mut [T; LENGTH]>,
}

impl<T: Copy, const LENGTH: usize> Filling<'_, T, LENGTH> {
    /// Starts a copy of `BYTES` bytes, 4, 8 or 16, to the element `at` and those behind it. PTX: `cp.async`, of 16 bytes
    /// past L1.
    ///
    /// # Safety
    /// - Lengths: `source` is valid for `BYTES` bytes of global memory, and the stage has as many from `at` on.
    /// - Alignment: both are aligned to `BYTES`.
    /// - Aliasing: nobody writes the source while the pipeline runs, and no other copy of the tile has the same target.
    #[inline(always)]
    pub unsafe fn copy<const BYTES: u32>(&self, at: usize, source: *const T) {
        const { assert!(matches!(BYTES, 4 | 8 | 16), "a copy has 4, 8 or 16 bytes") };
        // SAFETY: the caller's contract.
        unsafe {
            let target = self.stage.add(at);
            match BYTES {
                4 => async_copy::copy_4(target, source),
                8 => async_copy::copy_8(target, source),
                _ => async_copy::copy_16_bypass(target, source),
            }
        }
    }
}

impl<T: Copy, const LENGTH: usize, const STAGES: usize> Pipeline<T, LENGTH, STAGES> {
    /// The pipeline of the block, in its shared memory.
    ///
    /// # Safety
    /// - `stages` is in shared memory, which nobody else accesses until the barrier after the pipeline's last use.
    /// - Alignment: that of the copies that are started.
    #[inline(always)]
    #[must_use]
    pub unsafe fn new(stages: *mut MaybeUninit<[[T; LENGTH]; STAGES]>) -> Self {
        const { assert!(STAGES >= 2, "a pipeline has at least two stages") };
        Pipeline { stages: stages.cast() }
    }

    /// Fills and uses `tiles` tiles, in order: the copies of a tile start `STAGES - 1` tiles before its use.
    ///
    /// There is one barrier for each tile. Behind the last use there is none.
    ///
    /// # Safety
    /// - Block: no thread has returned.
    /// - Lanes: all threads of the block come to this same call, with the same `tiles`.
    /// - Aliasing: `fill` starts copies by [`Filling`] alone, and all threads together fill all that is used.
    #[inline(always)]
    pub unsafe fn run(
        self,
        tiles: usize,
        mut fill: impl FnMut(&Filling<'_, T, LENGTH>, usize),
        mut consume: impl FnMut(&[T; LENGTH], usize),
    ) {
        require::<80>();
        let mut start = |stage: usize, tile: usize| {
            if tile < tiles {
                // SAFETY: there are as many stages.
                let stage = unsafe { self.stages.add(stage) }.cast();
                fill(&Filling { stage, filled: PhantomData }, tile);
            }
            // Also without a copy: groups are counted.
            async_copy::commit_group();
        };
        for tile in 0..STAGES - 1 {
            start(tile, tile);
        }
        let (mut used, mut filled) = (0, STAGES - 1);
        for tile in 0..tiles {
            Self::wait();
            // The copies of all threads have arrived, and all are done with the stage that is filled next.
            sync_threads();
            start(filled, tile + STAGES - 1);
            // SAFETY: its copies have arrived, and nobody writes the stage before the next barrier.
            consume(unsafe { &*self.stages.add(used) }, tile);
            used = if used + 1 == STAGES { 0 } else { used + 1 };
            filled = if filled + 1 == STAGES { 0 } else { filled + 1 };
        }
    }

    /// Waits for the oldest tile of which copies have been started.
    #[inline(always)]
    fn wait() {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: waiting has no precondition.
        unsafe {
            asm!(
                "cp.async.wait_group {pending};",
                pending = const STAGES - 2,
                options(nostack, preserves_flags)
            );
        }
    }
}
