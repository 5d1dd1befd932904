//! Memory that a kernel allocates, and how much shared memory a block has.
//!
//! ```no_run
//! let bytes = cuda_std::mem::dynamic_smem_size();
//! ```

#[cfg(target_arch = "nvptx64")]
use core::alloc::{GlobalAlloc, Layout};
#[cfg(target_arch = "nvptx64")]
use core::ffi::c_void;

use crate::nvvm;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// Allocates from the device's heap, or returns null.
    pub fn malloc(size: usize) -> *mut c_void;
    /// Returns an allocation of [`malloc`] to the device's heap.
    pub fn free(pointer: *mut c_void);
}

/// The device's heap (`malloc` and `free` of the CUDA runtime, 8 MiB unless the host asks for more, as on the virtual GPU).
///
/// It is the allocator of every kernels crate: `Box`, `Vec` and `String` of the prelude take their memory from it.
#[derive(Debug, Clone, Copy, Default)]
pub struct CUDAAllocator;

/// The allocator of device code.
#[cfg(target_arch = "nvptx64")]
#[global_allocator]
pub static GLOBAL_ALLOCATOR: CUDAAllocator = CUDAAllocator;

/// The alignment of `malloc`'s results.
#[cfg(target_arch = "nvptx64")]
const HEAP_ALIGNMENT: usize = 16;

#[cfg(target_arch = "nvptx64")]
// SAFETY: `malloc` returns memory for exclusive use, aligned to 16 bytes, or null; more alignment
// than that is refused.
unsafe impl GlobalAlloc for CUDAAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > HEAP_ALIGNMENT {
            return core::ptr::null_mut();
        }
        // SAFETY: `malloc` may be called with any size.
        unsafe { malloc(layout.size()).cast() }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _layout: Layout) {
        // SAFETY: the caller passes a pointer that `alloc` returned.
        unsafe { free(pointer.cast()) }
    }
}

/// The bytes of dynamic shared memory that the launch asked for. PTX: `%dynamic_smem_size`.
#[inline(always)]
#[must_use]
pub fn dynamic_smem_size() -> u32 {
    // SAFETY: reading a special register has no precondition.
    unsafe { nvvm::dynamic_shared_size() }
}

/// The bytes of shared memory of the block, static and dynamic, rounded up to the allocation unit.
/// PTX: `%total_smem_size`.
#[inline(always)]
#[must_use]
pub fn total_smem_size() -> u32 {
    // SAFETY: reading a special register has no precondition.
    unsafe { nvvm::total_shared_size() }
}
