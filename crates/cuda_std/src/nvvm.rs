//! The LLVM intrinsics of the NVPTX backend that the other modules are built from.
//!
//! Intrinsics rather than inline assembly, because LLVM knows of each what it may do with it: that a
//! barrier is convergent and must not be duplicated into branches, that a special register may be
//! read once and kept, which memory a fence orders. The names are those of LLVM 22, not older ones
//! that LLVM upgrades when it reads a file: until then a function under an old name has none of the
//! attributes.
//!
//! On targets other than the device each is a function that panics.

/// Reports a device function that was called on the host.
#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[track_caller]
pub(crate) fn outside_kernel(name: &str) -> ! {
    panic!("`{name}` was called outside a kernel: it exists only on the device (nvptx64)")
}

/// Declares intrinsics on the device and panicking twins of the same signature elsewhere.
macro_rules! intrinsics {
    ($abi:literal; $($link:literal fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        // A pair of results is an LLVM struct of two values, as Rust passes a tuple of scalars. A longer tuple is such
        // a struct only by the ABI that adjusts nothing.
        #[cfg(target_arch = "nvptx64")]
        #[allow(improper_ctypes)]
        unsafe extern $abi {
            $(#[link_name = $link] pub(crate) fn $name($($argument: $kind),*) $(-> $result)?;)*
        }

        $(
            #[cfg(not(target_arch = "nvptx64"))]
            #[track_caller]
            pub(crate) unsafe fn $name($(_: $kind),*) $(-> $result)? {
                outside_kernel(stringify!($name))
            }
        )*
    };
}

intrinsics! {
    "C";
    "llvm.nvvm.read.ptx.sreg.tid.x" fn thread_idx_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.tid.y" fn thread_idx_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.tid.z" fn thread_idx_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.ctaid.x" fn block_idx_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.ctaid.y" fn block_idx_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.ctaid.z" fn block_idx_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.ntid.x" fn block_dim_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.ntid.y" fn block_dim_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.ntid.z" fn block_dim_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.nctaid.x" fn grid_dim_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.nctaid.y" fn grid_dim_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.nctaid.z" fn grid_dim_z() -> u32;

    "llvm.nvvm.barrier.cta.sync.aligned.all" fn barrier_sync_all(barrier: u32);
    "llvm.nvvm.barrier.cta.sync.all" fn barrier_sync_all_diverged(barrier: u32);
    "llvm.nvvm.barrier.cta.sync.aligned.count" fn barrier_sync_count(barrier: u32, threads: u32);
    "llvm.nvvm.barrier.cta.arrive.aligned.count" fn barrier_arrive_count(barrier: u32, threads: u32);
    "llvm.nvvm.barrier.cta.red.popc.aligned.all"
        fn barrier_count(barrier: u32, predicate: bool) -> u32;
    "llvm.nvvm.barrier.cta.red.popc.all"
        fn barrier_count_diverged(barrier: u32, predicate: bool) -> u32;
    "llvm.nvvm.barrier.cta.red.and.aligned.all"
        fn barrier_and(barrier: u32, predicate: bool) -> bool;
    "llvm.nvvm.barrier.cta.red.or.aligned.all"
        fn barrier_or(barrier: u32, predicate: bool) -> bool;

    "llvm.nvvm.membar.cta" fn fence_block();
    "llvm.nvvm.membar.gl" fn fence_device();
    "llvm.nvvm.membar.sys" fn fence_system();
    "llvm.nvvm.nanosleep" fn nanosleep(nanoseconds: u32);

    "llvm.nvvm.read.ptx.sreg.laneid" fn lane_id() -> u32;
    "llvm.nvvm.read.ptx.sreg.lanemask.eq" fn lane_mask_eq() -> u32;
    "llvm.nvvm.read.ptx.sreg.lanemask.lt" fn lane_mask_lt() -> u32;
    "llvm.nvvm.read.ptx.sreg.lanemask.le" fn lane_mask_le() -> u32;
    "llvm.nvvm.read.ptx.sreg.lanemask.gt" fn lane_mask_gt() -> u32;
    "llvm.nvvm.read.ptx.sreg.lanemask.ge" fn lane_mask_ge() -> u32;
    "llvm.nvvm.activemask" fn active_mask() -> u32;
    "llvm.nvvm.bar.warp.sync" fn warp_sync(mask: u32);
    "llvm.nvvm.elect.sync" fn elect(mask: u32) -> (u32, bool);

    "llvm.nvvm.shfl.sync.down.i32p"
        fn shuffle_down(mask: u32, value: u32, delta: u32, clamp: u32) -> (u32, bool);
    "llvm.nvvm.shfl.sync.up.i32p"
        fn shuffle_up(mask: u32, value: u32, delta: u32, clamp: u32) -> (u32, bool);
    "llvm.nvvm.shfl.sync.idx.i32p"
        fn shuffle_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool);
    "llvm.nvvm.shfl.sync.bfly.i32p"
        fn shuffle_xor(mask: u32, value: u32, lane_mask: u32, clamp: u32) -> (u32, bool);

    "llvm.nvvm.vote.all.sync" fn vote_all(mask: u32, predicate: bool) -> bool;
    "llvm.nvvm.vote.any.sync" fn vote_any(mask: u32, predicate: bool) -> bool;
    "llvm.nvvm.vote.uni.sync" fn vote_uniform(mask: u32, predicate: bool) -> bool;
    "llvm.nvvm.vote.ballot.sync" fn vote_ballot(mask: u32, predicate: bool) -> u32;

    "llvm.nvvm.match.any.sync.i32" fn match_any_32(mask: u32, value: u32) -> u32;
    "llvm.nvvm.match.any.sync.i64" fn match_any_64(mask: u32, value: u64) -> u32;
    "llvm.nvvm.match.all.sync.i32p" fn match_all_32(mask: u32, value: u32) -> (u32, bool);
    "llvm.nvvm.match.all.sync.i64p" fn match_all_64(mask: u32, value: u64) -> (u32, bool);

    "llvm.nvvm.redux.sync.add" fn reduce_add(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.umin" fn reduce_min_unsigned(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.min" fn reduce_min_signed(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.umax" fn reduce_max_unsigned(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.max" fn reduce_max_signed(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.and" fn reduce_and(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.or" fn reduce_or(value: u32, mask: u32) -> u32;
    "llvm.nvvm.redux.sync.xor" fn reduce_xor(value: u32, mask: u32) -> u32;

    "llvm.nvvm.isspacep.global" fn is_global(pointer: *const u8) -> bool;
    "llvm.nvvm.isspacep.shared" fn is_shared(pointer: *const u8) -> bool;
    "llvm.nvvm.isspacep.const" fn is_constant(pointer: *const u8) -> bool;
    "llvm.nvvm.isspacep.local" fn is_local(pointer: *const u8) -> bool;

    "llvm.nvvm.read.ptx.sreg.dynamic_smem_size" fn dynamic_shared_size() -> u32;
    "llvm.nvvm.read.ptx.sreg.total_smem_size" fn total_shared_size() -> u32;

    "llvm.nvvm.barrier.cluster.arrive.aligned" fn cluster_arrive();
    "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned" fn cluster_arrive_relaxed();
    "llvm.nvvm.barrier.cluster.wait.aligned" fn cluster_wait();
    "llvm.nvvm.mapa" fn map_shared_rank(pointer: *const u8, rank: u32) -> *mut u8;
    "llvm.nvvm.read.ptx.sreg.cluster.ctarank" fn cluster_block_rank() -> u32;
    "llvm.nvvm.read.ptx.sreg.cluster.nctarank" fn cluster_block_count() -> u32;
    "llvm.nvvm.read.ptx.sreg.cluster.ctaid.x" fn cluster_block_idx_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.cluster.ctaid.y" fn cluster_block_idx_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.cluster.ctaid.z" fn cluster_block_idx_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.cluster.nctaid.x" fn cluster_dim_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.cluster.nctaid.y" fn cluster_dim_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.cluster.nctaid.z" fn cluster_dim_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.clusterid.x" fn cluster_idx_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.clusterid.y" fn cluster_idx_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.clusterid.z" fn cluster_idx_z() -> u32;
    "llvm.nvvm.read.ptx.sreg.nclusterid.x" fn grid_clusters_x() -> u32;
    "llvm.nvvm.read.ptx.sreg.nclusterid.y" fn grid_clusters_y() -> u32;
    "llvm.nvvm.read.ptx.sreg.nclusterid.z" fn grid_clusters_z() -> u32;
}

intrinsics! {
    "unadjusted";
    "llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16.p0"
        fn stmatrix_x1(row: *mut u8, a: u32);
    "llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.b16.p0"
        fn stmatrix_x2(row: *mut u8, a: u32, b: u32);
    "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p0"
        fn stmatrix_x4(row: *mut u8, a: u32, b: u32, c: u32, d: u32);
    "llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16.p0"
        fn stmatrix_x1_trans(row: *mut u8, a: u32);
    "llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16.p0"
        fn stmatrix_x2_trans(row: *mut u8, a: u32, b: u32);
    "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16.p0"
        fn stmatrix_x4_trans(row: *mut u8, a: u32, b: u32, c: u32, d: u32);
}

/// Declares functions that read one special register each.
macro_rules! special_registers {
    ($($(#[$documentation:meta])* $name:ident;)*) => {
        $(
            $(#[$documentation])*
            #[inline(always)]
            #[must_use]
            pub fn $name() -> u32 {
                // SAFETY: reading a special register has no precondition.
                unsafe { nvvm::$name() }
            }
        )*
    };
}
pub(crate) use special_registers;

/// Rust's own half-precision type, whose arithmetic LLVM lowers; here, because `float::half` has another of its name.
#[cfg(target_arch = "nvptx64")]
pub(crate) type NativeF16 = f16;
