//! Cluster launch control: a block that has done its work takes that of a block that has not started. Compute capability
//! 10.0. Beyond rust-cuda.
//!
//! A grid of one block for each piece of work then balances itself, as persistent blocks with a counter do, and what all
//! blocks compute at first is computed once for several pieces. No GPU of this project has confirmed it.
//!
//! Source: PTX ISA, `clusterlaunchcontrol`, PTX 8.6.
//!
//! ```no_run
//! use cuda_std::launch_control::{self, Answer};
//! use cuda_std::{mbarrier, thread};
//! # unsafe fn f(answer: *mut Answer, barrier: *mut mbarrier::Barrier) { unsafe {
//! if thread::thread_idx_x() == 0 {
//!     launch_control::try_cancel(answer, barrier);
//!     mbarrier::arrive_expect(barrier, size_of::<Answer>() as u32);
//! }
//! // The block does its own work meanwhile.
//! mbarrier::wait(barrier, 0);
//! let next = launch_control::cancelled(answer);
//! # }}
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use glam::UVec3;

#[cfg(target_arch = "nvptx64")]
use crate::capability::require;
use crate::gpu_only;
use crate::mbarrier::Barrier;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;

/// A place in shared memory for what [`try_cancel`] finds out.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub struct Answer([u64; 2]);

/// Asks for a block that has not started, which then never starts. The answer is written as an asynchronous copy of 16
/// bytes, for which one arrival at the barrier has to expect so many. PTX: `clusterlaunchcontrol.try_cancel`.
///
/// # Safety
/// - Block: one thread calls it, and none again after an answer without a block.
/// - Lengths: `answer` and `barrier` point to shared memory of the block, and the barrier is initialized.
/// - Aliasing: nobody uses the answer until the barrier's phase is complete.
#[gpu_only]
#[inline(always)]
pub unsafe fn try_cancel(answer: *mut Answer, barrier: *mut Barrier) {
    require::<100>();
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [{answer}], [{barrier}];",
            answer = in(reg32) shared_address(answer),
            barrier = in(reg32) shared_address(barrier),
            options(nostack, preserves_flags)
        );
    }
}

/// Returns the index of the first block whose work is this one's now, or `None` where all blocks have started. PTX:
/// `clusterlaunchcontrol.query_cancel`.
///
/// # Safety
/// - Lengths: `answer` points to shared memory of the block.
/// - Aliasing: the phase of the barrier that [`try_cancel`] was given is complete for this thread.
#[gpu_only]
#[inline(always)]
#[must_use]
pub unsafe fn cancelled(answer: *const Answer) -> Option<UVec3> {
    require::<100>();
    let (is_some, x, y, z): (u32, u32, u32, u32);
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "{{ .reg .pred is; .reg .b128 answer; ld.shared.b128 answer, [{answer}]; \
             clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 is, answer; selp.u32 {is_some}, 1, 0, is; \
             clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{{x}, {y}, {z}, _}}, answer; }}",
            answer = in(reg32) shared_address(answer),
            is_some = out(reg32) is_some,
            x = out(reg32) x,
            y = out(reg32) y,
            z = out(reg32) z,
            options(nostack, preserves_flags, readonly)
        );
    }
    (is_some != 0).then_some(UVec3::new(x, y, z))
}
