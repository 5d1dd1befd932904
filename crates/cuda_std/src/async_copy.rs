//! Copies from global to shared memory that run while the thread goes on.
//!
//! A thread starts copies, closes them into a group with [`commit_group`], and later waits until at
//! most some number of its groups are still under way with [`wait_group`]. What was copied is then
//! visible to that thread; a barrier makes it visible to the block. Compute capability 8.0. Beyond
//! rust-cuda.
//!
//! ```text
//! copy_16(shared_next, global_next); commit_group();
//! wait_group::<1>(); sync_threads();       // the copy before that one has arrived
//! ```
//!
//! They are inline assembly, because LLVM's intrinsics take pointers of the shared state space,
//! which Rust cannot express. That is safe with respect to convergence: none of them waits for, or
//! communicates with, other lanes. Every one is a barrier to the compiler for all memory.
//!
//! Sources: PTX ISA, `cp.async`; CUDA C++ Programming Guide, "Asynchronous Data Copies".

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::capability::require;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;

/// Declares a copy of a fixed number of bytes, and its twin that fills with zeros.
macro_rules! copies {
    ($(
        $(#[$documentation:meta])* $name:ident,
        $(#[$partial_documentation:meta])* $partial:ident: $operator:literal $bytes:literal;
    )*) => {
        $(
            $(#[$documentation])*
            ///
            /// # Safety
            #[doc = concat!("- Lengths: both are valid for ", $bytes, " bytes, `target` in shared and `source` in global memory.")]
            #[doc = concat!("- Alignment: both are aligned to ", $bytes, " bytes.")]
            /// - Aliasing: until the copy has been waited for, nobody accesses the target or writes the source.
            #[inline(always)]
            pub unsafe fn $name<T>(target: *mut T, source: *const T) {
                require::<80>();
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!("cp.async.", $operator, ".shared.global [{target}], [{source}], ", $bytes, ";"),
                        target = in(reg32) shared_address(target),
                        source = in(reg64) source,
                        options(nostack, preserves_flags)
                    );
                }
                #[cfg(not(target_arch = "nvptx64"))]
                // SAFETY: the caller's contract.
                unsafe {
                    target.cast::<[u8; $bytes]>().write(source.cast::<[u8; $bytes]>().read());
                }
            }

            $(#[$partial_documentation])*
            ///
            /// # Safety
            #[doc = concat!("- Lengths: as the copy of all ", $bytes, " bytes, except that only the first `source_bytes` of the source, at")]
            #[doc = concat!("  most ", $bytes, ", need be readable.")]
            /// - Alignment and aliasing: as there.
            #[inline(always)]
            pub unsafe fn $partial<T>(target: *mut T, source: *const T, source_bytes: u32) {
                require::<80>();
                #[cfg(target_arch = "nvptx64")]
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!("cp.async.", $operator, ".shared.global [{target}], [{source}], ", $bytes, ", {source_bytes};"),
                        target = in(reg32) shared_address(target),
                        source = in(reg64) source,
                        source_bytes = in(reg32) source_bytes,
                        options(nostack, preserves_flags)
                    );
                }
                #[cfg(not(target_arch = "nvptx64"))]
                // SAFETY: the caller's contract.
                unsafe {
                    let mut bytes = [0_u8; $bytes];
                    source.cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), source_bytes as usize);
                    target.cast::<[u8; $bytes]>().write(bytes);
                }
            }
        )*
    };
}

copies! {
    /// Starts a copy of 4 bytes through L1. PTX: `cp.async.ca.shared.global` of 4 bytes.
    copy_4,
    /// [`copy_4`] of the first `source_bytes` bytes; the rest of the target becomes zero.
    copy_4_zero_fill: "ca" 4;
    /// Starts a copy of 8 bytes through L1. PTX: `cp.async.ca.shared.global` of 8 bytes.
    copy_8,
    /// [`copy_8`] of the first `source_bytes` bytes; the rest of the target becomes zero.
    copy_8_zero_fill: "ca" 8;
    /// Starts a copy of 16 bytes through L1. PTX: `cp.async.ca.shared.global` of 16 bytes.
    copy_16,
    /// [`copy_16`] of the first `source_bytes` bytes; the rest of the target becomes zero.
    copy_16_zero_fill: "ca" 16;
    /// Starts a copy of 16 bytes from L2 that bypasses L1. PTX: `cp.async.cg.shared.global`.
    copy_16_bypass,
    /// [`copy_16_bypass`] of the first `source_bytes` bytes, then zeros; an H200 takes each pass of it twice.
    copy_16_bypass_zero_fill: "cg" 16;
}

/// Closes the copies that this thread has started since the last call into a group.
/// PTX: `cp.async.commit_group`.
#[inline(always)]
pub fn commit_group() {
    require::<80>();
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: committing a group has no precondition.
    unsafe {
        asm!("cp.async.commit_group;", options(nostack, preserves_flags));
    }
}

/// Waits until at most `PENDING` of this thread's most recent groups are still under way.
/// PTX: `cp.async.wait_group`.
#[inline(always)]
pub fn wait_group<const PENDING: u32>() {
    require::<80>();
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: waiting has no precondition.
    unsafe {
        asm!(
            "cp.async.wait_group {pending};",
            pending = const PENDING,
            options(nostack, preserves_flags)
        );
    }
}

/// Waits for all copies of this thread, in groups or not. PTX: `cp.async.wait_all`.
#[inline(always)]
pub fn wait_all() {
    require::<80>();
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: waiting has no precondition.
    unsafe {
        asm!("cp.async.wait_all;", options(nostack, preserves_flags));
    }
}
