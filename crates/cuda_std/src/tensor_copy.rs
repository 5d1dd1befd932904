//! Copies of boxes of tensors by the Tensor Memory Accelerator: one thread starts them.
//!
//! A [`TensorMap`] says where a tensor of one to five dimensions lies in global memory and which box of it a copy
//! moves; the host encodes it (`cust_ext::tensor_map`) and passes it to the kernel by value. Coordinates count
//! elements, that of neighbouring elements first. What is beyond the tensor arrives as zeros, and is not written. The rows of
//! a box may arrive swizzled, as [`wgmma`](crate::wgmma) reads them without bank conflicts.
//!
//! As with [`bulk_copy`](crate::bulk_copy), a copy into shared memory arrives on an [`mbarrier`](crate::mbarrier), which counts
//! all bytes of the box, and a copy out of it belongs to a group of the thread: [`bulk_copy::commit_group`] and
//! [`bulk_copy::wait_group`]. Compute capability 9.0. Beyond rust-cuda.
//!
//! [`bulk_copy::commit_group`]: crate::bulk_copy::commit_group
//! [`bulk_copy::wait_group`]: crate::bulk_copy::wait_group
//!
//! Sources: PTX ISA, `cp.async.bulk.tensor`; CUDA C++ Programming Guide, "Using TMA to transfer multi-dimensional arrays".
//!
//! ```no_run
//! use cuda_std::tensor_copy::{TensorMap, store_2d};
//! # unsafe fn f(map: *const TensorMap, tile: *const f32) {
//! // SAFETY: one thread; the tile has the box of the map.
//! unsafe { store_2d(map, [64, 0], tile) };
//! # }
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

#[cfg(target_arch = "nvptx64")]
use crate::capability::require;
use crate::gpu_only;
use crate::kernel::Parameter;
use crate::mbarrier::Barrier;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;

/// A tensor map as the driver encoded it: `CUtensorMap`.
///
/// As a parameter of a kernel it is passed by value, and [`parameter!`](crate::tensor_map_parameter) gives its address.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TensorMap(pub [u64; 16]);

// SAFETY: `repr(C)`, and its field is an array of scalars. It is not `ByValue`, because only the driver encodes one.
unsafe impl Parameter for TensorMap {}

/// The address of a kernel's parameter that is a [`TensorMap`]: `parameter!(name_of_the_kernel, 0)` for the first one, where a
/// slice counts as two. A reference to the parameter would point to a copy in local memory, which copies cannot use.
///
/// It is a `*const TensorMap`, valid while the kernel runs, if that parameter is a tensor map. `cuda_builder` aligns such
/// parameters to 64 bytes.
#[macro_export]
#[doc(hidden)]
macro_rules! tensor_map_parameter {
    ($kernel:ident, $number:literal) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            let address: u64;
            // SAFETY: it reads no memory; the assembler refuses a parameter that does not exist.
            unsafe {
                ::core::arch::asm!(
                    concat!(
                        "{{ .reg .b64 p; mov.b64 p, ", stringify!($kernel), "_param_", $number,
                        "; cvta.param.u64 {address}, p; }}"
                    ),
                    address = out(reg64) address,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            address as *const $crate::tensor_copy::TensorMap
        }
        #[cfg(not(target_arch = "nvptx64"))]
        ::core::ptr::null::<$crate::tensor_copy::TensorMap>()
    }};
}
#[doc(inline)]
pub use tensor_map_parameter as parameter;

/// Declares the copies of one rank.
macro_rules! copies {
    ($($load:ident $multicast:ident $store:ident $rank:literal: $dimension:literal $list:literal $($coordinate:literal)*;)*) => { $(
        #[doc = concat!("Starts a copy of the box at `coordinates` of a tensor of rank ", stringify!($rank))]
        /// into the block's shared memory; when it is complete it counts as all bytes of the box on the barrier.
        #[doc = concat!("PTX: `cp.async.bulk.tensor.", $dimension, ".shared::cluster.global.mbarrier::complete_tx::bytes`.")]
        ///
        /// # Safety
        #[doc = concat!("- Lengths: `map` points to a map of rank ", stringify!($rank), ", a kernel parameter or in global or constant")]
        ///   memory. `target` is in the block's shared memory and valid for the bytes of the box, which `barrier` expects in
        ///   its current phase.
        /// - Alignment: `target` is aligned to 128 bytes, and to 1024 for its swizzle to begin with a row of its own.
        /// - Aliasing: until that phase is complete, nobody accesses the target or writes the tensor.
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $load<T>(
            target: *mut T,
            map: *const TensorMap,
            coordinates: [i32; $rank],
            barrier: *mut Barrier,
        ) {
            require::<90>();
            // SAFETY: the caller's contract.
            unsafe {
                asm!(
                    concat!(
                        "cp.async.bulk.tensor.", $dimension, ".shared::cluster.global.tile.mbarrier::complete_tx::bytes \
                         [{target}], [{map}, {{", $list, "}}], [{barrier}];"
                    ),
                    $(in(reg32) coordinates[$coordinate],)*
                    target = in(reg32) shared_address(target),
                    map = in(reg64) map,
                    barrier = in(reg32) shared_address(barrier),
                    options(nostack, preserves_flags)
                );
            }
        }

        #[doc = concat!("Starts a copy of the box at `coordinates` of a tensor of rank ", stringify!($rank))]
        /// into the shared memory of each block of the cluster whose bit of `ranks` is set. It is read once; in every such block
        /// it arrives at the offset of `target`, and counts on the barrier at the offset of `barrier`.
        #[doc = concat!("PTX: `cp.async.bulk.tensor.", $dimension, ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster`.")]
        ///
        /// # Safety
        #[doc = concat!("- Grid: bit `r` of `ranks` stands for the block of rank `r`; at least one is set, all are below")]
        ///   [`cluster::size`](crate::cluster::size). Those blocks run: after a [`cluster::sync`](crate::cluster::sync), and before
        ///   the last one.
        #[doc = concat!("- Lengths, alignment, aliasing: as for [`", stringify!($load), "`], in each of those blocks.")]
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $multicast<T>(
            target: *mut T,
            map: *const TensorMap,
            coordinates: [i32; $rank],
            barrier: *mut Barrier,
            ranks: u16,
        ) {
            require::<90>();
            // SAFETY: the caller's contract.
            unsafe {
                asm!(
                    concat!(
                        "cp.async.bulk.tensor.", $dimension, ".shared::cluster.global.tile.mbarrier::complete_tx::bytes\
                         .multicast::cluster [{target}], [{map}, {{", $list, "}}], [{barrier}], {ranks};"
                    ),
                    $(in(reg32) coordinates[$coordinate],)*
                    target = in(reg32) shared_address(target),
                    map = in(reg64) map,
                    barrier = in(reg32) shared_address(barrier),
                    ranks = in(reg16) ranks,
                    options(nostack, preserves_flags)
                );
            }
        }

        #[doc = concat!("Starts a copy from the block's shared memory to the box at `coordinates` of a tensor of rank ", stringify!($rank), ".")]
        #[doc = concat!("PTX: `cp.async.bulk.tensor.", $dimension, ".global.shared::cta.bulk_group`.")]
        ///
        /// Threads that wrote the source call [`fence_shared`](crate::bulk_copy::fence_shared), then all meet at a barrier of
        /// the block, and then one calls this.
        ///
        /// # Safety
        #[doc = concat!("- Lengths: `map` is as for [`", stringify!($load), "`], `source` in the block's shared memory and valid for the")]
        #[doc = "  bytes of the box."]
        /// - Alignment: `source` is aligned to 128 bytes.
        /// - Aliasing: until the copy's group has been waited for, nobody writes the source or accesses the box.
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $store<T>(
            map: *const TensorMap,
            coordinates: [i32; $rank],
            source: *const T,
        ) {
            require::<90>();
            // SAFETY: the caller's contract.
            unsafe {
                asm!(
                    concat!(
                        "cp.async.bulk.tensor.", $dimension, ".global.shared::cta.tile.bulk_group \
                         [{map}, {{", $list, "}}], [{source}];"
                    ),
                    $(in(reg32) coordinates[$coordinate],)*
                    map = in(reg64) map,
                    source = in(reg32) shared_address(source),
                    options(nostack, preserves_flags)
                );
            }
        }
    )* };
}

copies! {
    load_1d multicast_1d store_1d 1: "1d" "{0}" 0;
    load_2d multicast_2d store_2d 2: "2d" "{0}, {1}" 0 1;
    load_3d multicast_3d store_3d 3: "3d" "{0}, {1}, {2}" 0 1 2;
    load_4d multicast_4d store_4d 4: "4d" "{0}, {1}, {2}, {3}" 0 1 2 3;
    load_5d multicast_5d store_5d 5: "5d" "{0}, {1}, {2}, {3}, {4}" 0 1 2 3 4;
}
