//! Barriers in shared memory, on which threads and asynchronous copies arrive.
//!
//! A barrier counts down the arrivals and the bytes that its current phase still expects; when both
//! are zero the phase is complete, and the next begins. Waiting names the phase by its parity: 0 for
//! the first, then 1, 0, and so on. Compute capability 9.0. Beyond rust-cuda.
//!
//! They are inline assembly, because LLVM's intrinsics take pointers of the shared state space,
//! which Rust cannot express. That is safe with respect to convergence: each is one thread's access
//! to memory, and the loop of [`wait`] lets the lanes of a warp wait independently. Every one is a
//! barrier to the compiler for all memory.
//!
//! Source: PTX ISA, "mbarrier".
//!
//! ```no_run
//! use cuda_std::mbarrier::{self, Barrier};
//! # unsafe fn f(barrier: *mut Barrier) {
//! // SAFETY: one thread has made the barrier ready, and all have seen that.
//! unsafe {
//!     mbarrier::arrive(barrier);
//!     mbarrier::wait(barrier, 0);
//! }
//! # }
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

#[cfg(target_arch = "nvptx64")]
use crate::capability::require;
use crate::gpu_only;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;

/// A barrier, to be placed in shared memory:
/// `#[address_space(shared)] static mut FULL: MaybeUninit<Barrier> = MaybeUninit::uninit();`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Barrier(u64);

/// Declares the instructions that take the barrier's address and up to one number.
macro_rules! barrier_instructions {
    ($(
        $(#[$documentation:meta])*
        $name:ident($($argument:ident)?) $instruction:literal;
    )*) => {
        $(
            $(#[$documentation])*
            #[gpu_only]
            #[inline(always)]
            pub unsafe fn $name(barrier: *mut Barrier $(, $argument: u32)?) {
                require::<90>();
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        $instruction,
                        barrier = in(reg32) shared_address(barrier),
                        $($argument = in(reg32) $argument,)?
                        options(nostack, preserves_flags)
                    );
                }
            }
        )*
    };
}

barrier_instructions! {
    /// Makes a barrier that expects `count` arrivals in each phase. PTX: `mbarrier.init`.
    ///
    /// One thread does this; then [`fence_init`] and a barrier of the block make it known.
    ///
    /// # Safety
    /// - `barrier` must point into the block's shared memory, where no barrier is in use.
    init(count) "mbarrier.init.shared.b64 [{barrier}], {count};";
    /// Arrives, without waiting. PTX: `mbarrier.arrive`.
    ///
    /// # Safety
    /// - `barrier` must point to a barrier of the block that expects more arrivals in this phase.
    arrive() "{{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [{barrier}]; }}";
    /// Arrives, and has the phase expect `bytes` more bytes of asynchronous copies.
    /// PTX: `mbarrier.arrive.expect_tx`.
    ///
    /// # Safety
    /// - `barrier` must point to a barrier of the block that expects more arrivals in this phase.
    arrive_expect(bytes)
        "{{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [{barrier}], {bytes}; }}";
    /// Has the phase expect `bytes` more bytes, without arriving. PTX: `mbarrier.expect_tx`.
    ///
    /// # Safety
    /// - `barrier` must point to a barrier of the block whose phase is not complete.
    expect(bytes) "mbarrier.expect_tx.relaxed.cta.shared.b64 [{barrier}], {bytes};";
    /// Ends the barrier's life, so that its memory can be used otherwise. PTX: `mbarrier.inval`.
    ///
    /// # Safety
    /// - `barrier` must point to a barrier of the block that nobody uses any more.
    invalidate() "mbarrier.inval.shared.b64 [{barrier}];";
}

/// Arrives at the barrier of a block of the cluster, at the offset of `barrier` in this block's shared memory.
/// PTX: `mapa.shared::cluster.u32`, `mbarrier.arrive.shared::cluster`.
///
/// It orders memory for this block alone. For others, `.release.cluster` would make ptxas wait for all stores of the thread; use
/// [`cluster::sync`](crate::cluster::sync) or a fence where ordinary stores are handed on.
///
/// # Safety
/// - Grid: `rank` is below [`cluster::size`](crate::cluster::size), and that block runs: after a
///   [`cluster::sync`](crate::cluster::sync), and before the last one.
/// - Lengths: `barrier` points to a place of the block's shared memory where that block has a barrier, which expects more
///   arrivals in this phase.
#[gpu_only]
#[inline(always)]
pub unsafe fn arrive_at(barrier: *mut Barrier, rank: u32) {
    require::<90>();
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "{{ .reg .b32 place; mapa.shared::cluster.u32 place, {barrier}, {rank}; \
             mbarrier.arrive.shared::cluster.b64 _, [place]; }}",
            barrier = in(reg32) shared_address(barrier),
            rank = in(reg32) rank,
            options(nostack, preserves_flags)
        );
    }
}

/// Makes [`init`] visible to asynchronous copies and to the other blocks of the cluster.
/// PTX: `fence.mbarrier_init.release.cluster`.
#[gpu_only]
#[inline(always)]
pub fn fence_init() {
    require::<90>();
    // SAFETY: a fence has no precondition.
    unsafe {
        asm!("fence.mbarrier_init.release.cluster;", options(nostack, preserves_flags));
    }
}

/// Returns whether the phase of the given parity is complete, after waiting for it for a time that the
/// hardware chooses. PTX: `mbarrier.try_wait.parity`.
///
/// # Safety
/// - `barrier` must point to a barrier of the block, and `parity` be 0 or 1, that of its current phase or of the one
///   before.
#[gpu_only]
#[inline(always)]
pub unsafe fn try_wait(barrier: *mut Barrier, parity: u32) -> bool {
    require::<90>();
    {
        let complete: u32;
        // SAFETY: the caller's contract.
        unsafe {
            asm!(
                "{{ .reg .pred complete; \
                 mbarrier.try_wait.parity.shared.b64 complete, [{barrier}], {parity}; \
                 selp.u32 {result}, 1, 0, complete; }}",
                result = out(reg32) complete,
                barrier = in(reg32) shared_address(barrier),
                parity = in(reg32) parity,
                options(nostack, preserves_flags)
            );
        }
        complete != 0
    }
}

/// [`wait`] for what other blocks of the cluster send by [`cluster::store_async_u32`](crate::cluster::store_async_u32) and the
/// like. PTX: a loop of `mbarrier.try_wait.parity.acquire.cluster`.
///
/// # Safety
/// - As for [`try_wait`].
#[gpu_only]
#[inline(always)]
pub unsafe fn wait_for_cluster(barrier: *mut Barrier, parity: u32) {
    require::<90>();
    loop {
        let complete: u32;
        // SAFETY: the caller's contract.
        unsafe {
            asm!(
                "{{ .reg .pred complete; \
                 mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [{barrier}], {parity}; \
                 selp.u32 {result}, 1, 0, complete; }}",
                result = out(reg32) complete,
                barrier = in(reg32) shared_address(barrier),
                parity = in(reg32) parity,
                options(nostack, preserves_flags)
            );
        }
        if complete != 0 {
            return;
        }
    }
}

/// Waits until the phase of the given parity is complete, and makes what arrived in it visible to
/// this thread. PTX: a loop of `mbarrier.try_wait.parity`.
///
/// # Safety
/// - As for [`try_wait`].
#[inline(always)]
pub unsafe fn wait(barrier: *mut Barrier, parity: u32) {
    // SAFETY: the caller's contract.
    while !unsafe { try_wait(barrier, parity) } {}
}
