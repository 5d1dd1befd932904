//! Barriers of the whole grid, CUDA's `cooperative_groups::this_grid().sync()`, and kernels that start before the one ahead
//! of them has ended.
//!
//! Blocks of an ordinary launch run in any order, and may run one after the other: one that waits for another may wait
//! forever. A cooperative launch (`Launcher::launch_cooperative` of `cuda_host`, `cuLaunchCooperativeKernel` of the driver)
//! starts only when all of its blocks fit on the device at once, and gives them a word of memory through which they wait.
//!
//! Beyond rust-cuda.
//!
//! Source: CUDA C++ Programming Guide, "Grid Synchronization"; `cooperative_groups/details/sync.h` of the CUDA toolkit,
//! whose protocol this is; "Programmatic Dependent Launch and Synchronization"; PTX ISA, `griddepcontrol`.
//!
//! ```no_run
//! # let first_part = || ();
//! first_part();
//! // The launch is cooperative, and every thread of the grid comes here.
//! cuda_std::grid::sync();
//! // What any block wrote is seen here.
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

#[cfg(target_arch = "nvptx64")]
use crate::capability::require;
use crate::gpu_only;
#[cfg(target_arch = "nvptx64")]
use crate::thread;

/// Lets the next kernel of the stream start, if its launch allows that, once each block of this grid has said so or ended.
/// PTX: `griddepcontrol.launch_dependents`.
///
/// It promises nothing of this kernel's results: the next kernel calls [`wait_for_previous`] before it reads them.
/// Compute capability 9.0; without that launch attribute (`cust_ext::launch::Launch::overlap_previous`) it does nothing.
#[gpu_only]
#[inline(always)]
pub fn launch_dependents() {
    require::<90>();
    // SAFETY: the instruction touches no memory.
    unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack, preserves_flags)) };
}

/// Waits until the stream's previous kernel has ended and what it wrote is visible, if this kernel was allowed to start
/// earlier. PTX: `griddepcontrol.wait`.
///
/// Until then, this kernel reads nothing that the previous one writes, and writes nothing that it accesses.
/// Compute capability 9.0; in another launch it does nothing.
#[gpu_only]
#[inline(always)]
pub fn wait_for_previous() {
    require::<90>();
    // SAFETY: waiting has no precondition.
    unsafe { asm!("griddepcontrol.wait;", options(nostack, preserves_flags)) };
}

/// Waits for all threads of the grid, and orders their memory accesses. PTX: `bar.sync`, `atom.add.release.gpu` and
/// `ld.acquire.gpu` by one thread of each block, `bar.sync`.
///
/// Every thread of the grid must reach the same call, and the launch must be cooperative. In another launch there is no
/// memory to wait through: this panics, and the virtual GPU refuses the launch.
#[inline(always)]
pub fn sync() {
    #[cfg(target_arch = "nvptx64")]
    {
        thread::sync_threads();
        if thread::thread_idx() == glam::UVec3::ZERO {
            wait_for_blocks();
        }
        thread::sync_threads();
    }
    #[cfg(not(target_arch = "nvptx64"))]
    crate::nvvm::outside_kernel("grid::sync")
}

/// Arrives for the block, and waits until each block has arrived.
///
/// Each block adds one to a word and the first one what is missing to 2^31, so that its highest bit flips when all have
/// arrived, whatever it was before.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn wait_for_blocks() {
    let workspace: u64;
    // SAFETY: reading special registers has no precondition. The name of the register tells the executor that the kernel
    // needs a cooperative launch.
    unsafe {
        asm!(
            "{{ .reg .b32 cuda_std_grid_barrier, high;",
            "mov.u32 cuda_std_grid_barrier, %envreg2;",
            "mov.u32 high, %envreg1;",
            "mov.b64 {workspace}, {{cuda_std_grid_barrier, high}}; }}",
            workspace = out(reg64) workspace,
            options(nostack, preserves_flags)
        );
    }
    assert!(workspace != 0, "`grid::sync` needs a cooperative launch");
    let dim = thread::grid_dim();
    let is_first = thread::block_idx() == glam::UVec3::ZERO;
    let arrival = if is_first { 0x8000_0001 - dim.x * dim.y * dim.z } else { 1 };
    let before: u32;
    // SAFETY: `workspace` is not null, so that the launch is cooperative: its workspace has its size in the first word and
    // is for the blocks to wait through in the second, which is aligned to 4 bytes and only accessed atomically.
    unsafe {
        asm!(
            "atom.add.release.gpu.u32 {before}, [{workspace}+4], {arrival};",
            before = out(reg32) before,
            workspace = in(reg64) workspace,
            arrival = in(reg32) arrival,
            options(nostack, preserves_flags)
        );
    }
    loop {
        let now: u32;
        // SAFETY: `workspace` is not null, so that the launch is cooperative and its second word is the one to wait through.
        unsafe {
            asm!(
                "ld.acquire.gpu.u32 {now}, [{workspace}+4];",
                now = out(reg32) now,
                workspace = in(reg64) workspace,
                options(nostack, preserves_flags)
            );
        }
        if (now ^ before) >> 31 == 1 {
            return;
        }
    }
}
