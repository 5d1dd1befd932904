//! Thread block clusters: blocks that run at the same time and reach each other's shared memory.
//!
//! Compute capability 9.0; a kernel asks for a cluster with `#[kernel(cluster(x, y, z))]`, or the
//! launch does. Beyond rust-cuda.
//!
//! Sources: PTX ISA, `barrier.cluster`, `mapa`, "%cluster_ctarank"; CUDA C++ Programming Guide,
//! "Thread Block Clusters" and "Distributed Shared Memory".
//!
//! ```no_run
//! # let mut mine = [0_u32; 256];
//! use cuda_std::cluster;
//! cluster::sync();
//! let rank = cluster::rank();
//! ```

use glam::UVec3;

use crate::capability::require;
use crate::{gpu_only, nvvm};

/// Declares functions that read special registers of the cluster.
macro_rules! cluster_registers {
    ($($(#[$documentation:meta])* $name:ident: $register:ident;)*) => {
        $(
            $(#[$documentation])*
            #[inline(always)]
            #[must_use]
            pub fn $name() -> u32 {
                require::<90>();
                // SAFETY: reading a special register has no precondition.
                unsafe { nvvm::$register() }
            }
        )*
    };
}

cluster_registers! {
    /// The block's number in its cluster. PTX: `%cluster_ctarank`.
    rank: cluster_block_rank;
    /// The number of blocks in the cluster. PTX: `%cluster_nctarank`.
    size: cluster_block_count;
}

/// Declares functions that read special registers of three dimensions.
macro_rules! cluster_vectors {
    ($($(#[$documentation:meta])* $name:ident: $x:ident $y:ident $z:ident;)*) => {
        $(
            $(#[$documentation])*
            #[inline(always)]
            #[must_use]
            pub fn $name() -> UVec3 {
                require::<90>();
                // SAFETY: reading special registers has no precondition.
                unsafe { UVec3::new(nvvm::$x(), nvvm::$y(), nvvm::$z()) }
            }
        )*
    };
}

cluster_vectors! {
    /// The block's index in its cluster. PTX: `%cluster_ctaid`.
    block_idx: cluster_block_idx_x cluster_block_idx_y cluster_block_idx_z;
    /// Blocks per cluster along each axis. PTX: `%cluster_nctaid`.
    dim: cluster_dim_x cluster_dim_y cluster_dim_z;
    /// The cluster's index in the grid. PTX: `%clusterid`.
    cluster_idx: cluster_idx_x cluster_idx_y cluster_idx_z;
    /// Clusters in the grid along each axis. PTX: `%nclusterid`.
    grid_dim: grid_clusters_x grid_clusters_y grid_clusters_z;
}

/// Waits for all threads of the cluster, and orders their memory accesses.
/// PTX: `barrier.cluster.arrive.aligned` and `barrier.cluster.wait.aligned`.
///
/// Every thread of the cluster that has not returned must reach the same call. A block must not
/// return while others may still access its shared memory: end with this.
#[inline(always)]
pub fn sync() {
    arrive();
    wait();
}

/// The first half of [`sync`]: says that this thread is here, and goes on. PTX:
/// `barrier.cluster.arrive.aligned`. Must be followed by [`wait`].
#[inline(always)]
pub fn arrive() {
    require::<90>();
    // SAFETY: arriving touches no memory.
    unsafe { nvvm::cluster_arrive() }
}

/// [`arrive`] without ordering memory. PTX: `barrier.cluster.arrive.relaxed.aligned`.
#[inline(always)]
pub fn arrive_relaxed() {
    require::<90>();
    // SAFETY: arriving touches no memory.
    unsafe { nvvm::cluster_arrive_relaxed() }
}

/// The second half of [`sync`]: waits until all threads of the cluster have arrived.
/// PTX: `barrier.cluster.wait.aligned`.
#[inline(always)]
pub fn wait() {
    require::<90>();
    // SAFETY: waiting touches no memory.
    unsafe { nvvm::cluster_wait() }
}

/// The pointer by which this block reaches another block's copy of a place in shared memory.
/// PTX: `mapa.u64`.
///
/// # Safety
/// - `pointer` must point into this block's shared memory, and `rank` be below [`size`].
/// - The result may be used while the other block runs: after a [`sync`], and before the last one.
#[inline(always)]
#[must_use]
pub unsafe fn map_shared_rank<T>(pointer: *mut T, rank: u32) -> *mut T {
    require::<90>();
    // SAFETY: the caller's contract.
    unsafe { nvvm::map_shared_rank(pointer.cast(), rank).cast() }
}

/// Adds to a number in the shared memory of a block of the cluster, atomically for the cluster; the place is that of
/// `pointer`, which points into this block's own.
/// PTX: `mapa.shared::cluster.u32`, `red.relaxed.cluster.shared::cluster.add.u32`.
///
/// # Safety
/// - `pointer` must point to an aligned number in this block's shared memory, and `rank` be below [`size`].
/// - Until the next [`sync`], the number must be accessed by atomics only.
/// - The other block must run: after a [`sync`], and before the last one.
#[gpu_only]
#[inline(always)]
pub unsafe fn add_u32(pointer: *mut u32, rank: u32, value: u32) {
    require::<90>();
    // SAFETY: the caller's contract.
    unsafe {
        core::arch::asm!(
            "{{ .reg .b32 place;",
            "mapa.shared::cluster.u32 place, {pointer}, {rank};",
            "red.relaxed.cluster.shared::cluster.add.u32 [place], {value}; }}",
            pointer = in(reg32) crate::ptr::shared_address(pointer),
            rank = in(reg32) rank,
            value = in(reg32) value,
            options(nostack, preserves_flags)
        );
    }
}

/// Declares stores and additions that count their bytes at a barrier of the block where they land.
macro_rules! asynchronous {
    ($($(#[$documentation:meta])* $name:ident $instruction:literal;)*) => {
        $(
            $(#[$documentation])*
            ///
            /// Target and barrier are at the offsets of `pointer` and `barrier` in the block of rank `rank`. Nobody waits for the
            /// way: the other block waits for the bytes at its barrier.
            ///
            /// # Safety
            /// - Grid: `rank` is below [`size`], and that block runs: after a [`sync`], and before the last one.
            /// - Lengths: `pointer` and `barrier` point into this block's shared memory; the barrier there expects the 4 bytes in
            ///   its current phase.
            /// - Alignment: `pointer` is aligned to 4.
            /// - Aliasing: until that phase is complete, others access the number by such instructions alone.
            #[gpu_only]
            #[inline(always)]
            pub unsafe fn $name(
                pointer: *mut u32,
                rank: u32,
                value: u32,
                barrier: *mut crate::mbarrier::Barrier,
            ) {
                require::<90>();
                // SAFETY: the caller's contract.
                unsafe {
                    core::arch::asm!(
                        "{{ .reg .b32 place, count;",
                        "mapa.shared::cluster.u32 place, {pointer}, {rank};",
                        "mapa.shared::cluster.u32 count, {barrier}, {rank};",
                        $instruction,
                        pointer = in(reg32) crate::ptr::shared_address(pointer),
                        rank = in(reg32) rank,
                        value = in(reg32) value,
                        barrier = in(reg32) crate::ptr::shared_address(barrier),
                        options(nostack, preserves_flags)
                    );
                }
            }
        )*
    };
}

asynchronous! {
    /// Starts a store into the shared memory of a block of the cluster. PTX: `mapa.shared::cluster.u32`, `st.async`.
    store_async_u32
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [place], {value}, [count]; }}";
    /// Starts an addition in the shared memory of a block of the cluster, atomic for the cluster.
    /// PTX: `mapa.shared::cluster.u32`, `red.async`.
    add_async_u32
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [place], {value}, [count]; }}";
}
