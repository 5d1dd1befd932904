//! Copies of whole ranges by the Tensor Memory Accelerator: one thread starts them.
//!
//! A copy into shared memory arrives on an [`mbarrier`](crate::mbarrier), which counts its bytes; a
//! copy out of it belongs to a group of the thread, as with `cp.async`. Addresses and sizes are
//! multiples of 16 bytes. Compute capability 9.0. Beyond rust-cuda.
//!
//! They are inline assembly, because LLVM's intrinsics take pointers of the shared state space,
//! which Rust cannot express. That is safe with respect to convergence: none of them waits for, or
//! communicates with, other lanes. Every one is a barrier to the compiler for all memory.
//!
//! Sources: PTX ISA, `cp.async.bulk`; CUDA C++ Programming Guide, "Using TMA to transfer
//! one-dimensional arrays".
//!
//! ```no_run
//! use cuda_std::bulk_copy;
//! # unsafe fn f(target: *mut f32, source: *const f32) {
//! // SAFETY: one thread; both have 1024 values, aligned to 16 bytes.
//! unsafe { bulk_copy::shared_to_global(target, source, 4096) };
//! bulk_copy::commit_group();
//! bulk_copy::wait_group::<0>();
//! # }
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::capability::require;
use crate::gpu_only;
use crate::mbarrier::Barrier;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;

/// Starts a copy of `bytes` bytes from global into the block's shared memory; when it is complete it
/// counts as `bytes` bytes on the barrier.
/// PTX: `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes`.
///
/// # Safety
/// - Lengths: `target` is in the block's shared and `source` in global memory, both valid for `bytes` bytes, which
///   `barrier` expects in its current phase.
/// - Alignment: both are aligned to 16, and `bytes` is a multiple of 16.
/// - Aliasing: until that phase is complete, nobody accesses the target or writes the source.
#[gpu_only]
#[inline(always)]
pub unsafe fn global_to_shared<T>(
    target: *mut T,
    source: *const T,
    bytes: u32,
    barrier: *mut Barrier,
) {
    require::<90>();
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes \
             [{target}], [{source}], {bytes}, [{barrier}];",
            target = in(reg32) shared_address(target),
            source = in(reg64) source,
            bytes = in(reg32) bytes,
            barrier = in(reg32) shared_address(barrier),
            options(nostack, preserves_flags)
        );
    }
}

/// Starts a copy of `bytes` bytes from the block's shared into global memory.
/// PTX: `cp.async.bulk.global.shared::cta.bulk_group`.
///
/// Threads that wrote the source call [`fence_shared`], then all meet at a barrier of the block, and then
/// one calls this.
///
/// # Safety
/// - Lengths: `target` is in global and `source` in the block's shared memory, both valid for `bytes` bytes.
/// - Alignment: both are aligned to 16, and `bytes` is a multiple of 16.
/// - Aliasing: until the copy's group has been waited for, nobody writes the source or accesses the target.
#[gpu_only]
#[inline(always)]
pub unsafe fn shared_to_global<T>(target: *mut T, source: *const T, bytes: u32) {
    require::<90>();
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "cp.async.bulk.global.shared::cta.bulk_group [{target}], [{source}], {bytes};",
            target = in(reg64) target,
            source = in(reg32) shared_address(source),
            bytes = in(reg32) bytes,
            options(nostack, preserves_flags)
        );
    }
}

/// Starts a copy of `bytes` bytes from the block's shared memory into that of the block of rank `rank` of the cluster, where it
/// counts on a barrier; target and barrier are at the offsets of `target` and `barrier` there.
/// PTX: `mapa.shared::cluster.u32`, `cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes`.
///
/// Threads that wrote the source call [`fence_shared`], then all meet at a barrier of the block, and then
/// one calls this.
///
/// # Safety
/// - Grid: `rank` is below [`cluster::size`](crate::cluster::size), and that block runs: after a
///   [`cluster::sync`](crate::cluster::sync), and before the last one.
/// - Lengths: `target` and `source` are in the block's shared memory, valid for `bytes` bytes, which the barrier at `barrier` of
///   that block expects in its current phase.
/// - Alignment: both are aligned to 16, and `bytes` is a multiple of 16.
/// - Aliasing: until that phase is complete, nobody accesses the target or writes the source.
#[gpu_only]
#[inline(always)]
pub unsafe fn shared_to_rank<T>(
    target: *mut T,
    source: *const T,
    bytes: u32,
    barrier: *mut Barrier,
    rank: u32,
) {
    require::<90>();
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "{{ .reg .b32 place, count; mapa.shared::cluster.u32 place, {target}, {rank}; \
             mapa.shared::cluster.u32 count, {barrier}, {rank}; \
             cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [place], [{source}], {bytes}, [count]; }}",
            target = in(reg32) shared_address(target),
            source = in(reg32) shared_address(source),
            bytes = in(reg32) bytes,
            barrier = in(reg32) shared_address(barrier),
            rank = in(reg32) rank,
            options(nostack, preserves_flags)
        );
    }
}

/// Starts an addition of each of `bytes / 4` numbers in the block's shared memory to one in global memory: one instruction for
/// a whole range. PTX: `cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32`.
///
/// # Safety
/// - Lengths, alignment: as for [`shared_to_global`].
/// - Aliasing: until the copy's group has been waited for, nobody writes the source, and others access the target by atomics
///   alone.
#[gpu_only]
#[inline(always)]
pub unsafe fn add_to_global(target: *mut u32, source: *const u32, bytes: u32) {
    require::<90>();
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [{target}], [{source}], {bytes};",
            target = in(reg64) target,
            source = in(reg32) shared_address(source),
            bytes = in(reg32) bytes,
            options(nostack, preserves_flags)
        );
    }
}

/// Asks for a range of global memory in L2. PTX: `cp.async.bulk.prefetch.L2.global`.
///
/// # Safety
/// - Lengths: `source` is in global memory and valid for `bytes` bytes.
/// - Alignment: it is aligned to 16, and `bytes` is a multiple of 16.
#[inline(always)]
pub unsafe fn prefetch_l2<T>(source: *const T, bytes: u32) {
    require::<90>();
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "cp.async.bulk.prefetch.L2.global [{source}], {bytes};",
            source = in(reg64) source,
            bytes = in(reg32) bytes,
            options(nostack, preserves_flags)
        );
    }
    #[cfg(not(target_arch = "nvptx64"))]
    let _ = (source, bytes);
}

/// Closes the copies into global memory that this thread has started since the last call into a
/// group. PTX: `cp.async.bulk.commit_group`.
#[gpu_only]
#[inline(always)]
pub fn commit_group() {
    require::<90>();
    // SAFETY: committing a group has no precondition.
    unsafe {
        asm!("cp.async.bulk.commit_group;", options(nostack, preserves_flags));
    }
}

/// Waits until at most `PENDING` of this thread's most recent groups are still under way.
/// PTX: `cp.async.bulk.wait_group`.
#[gpu_only]
#[inline(always)]
pub fn wait_group<const PENDING: u32>() {
    require::<90>();
    // SAFETY: waiting has no precondition.
    unsafe {
        asm!(
            "cp.async.bulk.wait_group {pending};",
            pending = const PENDING,
            options(nostack, preserves_flags)
        );
    }
}

/// Waits until at most `PENDING` of this thread's most recent groups still read their source, which
/// may then be written again. PTX: `cp.async.bulk.wait_group.read`.
#[gpu_only]
#[inline(always)]
pub fn wait_group_read<const PENDING: u32>() {
    require::<90>();
    // SAFETY: waiting has no precondition.
    unsafe {
        asm!(
            "cp.async.bulk.wait_group.read {pending};",
            pending = const PENDING,
            options(nostack, preserves_flags)
        );
    }
}

/// Orders this thread's accesses to the block's shared memory before later copies out of it or into
/// it. PTX: `fence.proxy.async.shared::cta`.
#[gpu_only]
#[inline(always)]
pub fn fence_shared() {
    require::<90>();
    // SAFETY: a fence has no precondition.
    unsafe {
        asm!("fence.proxy.async.shared::cta;", options(nostack, preserves_flags));
    }
}
