//! Shared memory whose size is chosen at launch.
//!
//! Shared memory of a fixed size is a static: see [`address_space`](crate::address_space).
//!
//! ```no_run
//! use cuda_std::shared::dynamic_shared_mem;
//! // As many as the launch asked for.
//! let words: *mut f32 = dynamic_shared_mem();
//! ```

/// The block's dynamic shared memory, as many bytes as the launch asked for, aligned to 16 bytes.
/// PTX: the address of an `.extern .shared` array.
///
/// All calls in a kernel return the same address, whatever their type.
#[inline(always)]
#[must_use]
pub fn dynamic_shared_mem<T>() -> *mut T {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            #[link_name = "__dynamic_shared_memory"]
            static mut DYNAMIC: [u8; 0];
        }
        (&raw mut DYNAMIC).cast()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    crate::nvvm::outside_kernel("dynamic_shared_mem")
}
