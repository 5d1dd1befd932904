use cuda_std::memory::{self, CachePolicy};
use cuda_std::vector::{F32x2, F32x4, F64x2, U8x4, U8x16, U32x4};
use cuda_std::{bf16, f16, kernel, thread};

/// Declares kernels that copy with a load and a store of the module.
macro_rules! copies {
    ($($(#[$attribute:meta])* $name:ident: $kind:ty, $load:ident, $store:ident;)*) => {
        $(
            $(#[$attribute])*
            pub unsafe fn $name(source: *const $kind, target: *mut $kind) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module; buffers are in global memory.
                unsafe { memory::$store(target.add(tid), memory::$load(source.add(tid))) };
            }
        )*
    };
}

copies! {
    #[kernel] ca_wb_f32: f32, load_ca, store_wb;
    #[kernel] cg_cg_f32: f32, load_cg, store_cg;
    #[kernel] cs_cs_f32: f32, load_cs, store_cs;
    #[kernel] lu_wt_f32: f32, load_lu, store_wt;
    #[kernel] cv_wt_f32: f32, load_cv, store_wt;
    #[kernel] nc_wb_f32: f32, load_nc, store_wb;
    #[kernel] nc_no_allocate_f32: f32, load_nc_no_allocate, store_no_allocate;
    #[kernel] no_allocate_f32: f32, load_no_allocate, store_no_allocate;
    #[kernel] evict_first_f32: f32, load_evict_first, store_evict_first;
    #[kernel] evict_last_f32: f32, load_evict_last, store_evict_last;
    #[kernel] evict_unchanged_f32: f32, load_evict_unchanged, store_evict_unchanged;
    #[kernel] nc_evict_first_f32: f32, load_nc_evict_first, store_wb;
    #[kernel] nc_evict_last_f32: f32, load_nc_evict_last, store_wb;
    #[kernel(min_compute_capability = 75)] prefetch_64_f32: f32, load_prefetch_64, store_wb;
    #[kernel(min_compute_capability = 75)] prefetch_128_f32: f32, load_prefetch_128, store_wb;
    #[kernel(min_compute_capability = 80)] prefetch_256_f32: f32, load_prefetch_256, store_wb;

    #[kernel] cs_cs_f32x4: F32x4, load_cs, store_cs;
    #[kernel] cg_cg_f32x4: F32x4, load_cg, store_cg;
    #[kernel] nc_wt_u32x4: U32x4, load_nc, store_wt;
    #[kernel] nc_no_allocate_f32x4: F32x4, load_nc_no_allocate, store_no_allocate;
    #[kernel] evict_last_f32x4: F32x4, load_evict_last, store_evict_first;

    #[kernel] cs_cs_u8: u8, load_cs, store_cs;
    #[kernel] cs_cs_i16: i16, load_cs, store_cs;
    #[kernel] cs_cs_f16: f16, load_cs, store_cs;
    #[kernel] cs_cs_bf16: bf16, load_cs, store_cs;
    #[kernel] cs_cs_i32: i32, load_cs, store_cs;
    #[kernel] cs_cs_u8x4: U8x4, load_cs, store_cs;
    #[kernel] cs_cs_u64: u64, load_cs, store_cs;
    #[kernel] cs_cs_f64: f64, load_cs, store_cs;
    #[kernel] cs_cs_f32x2: F32x2, load_cs, store_cs;
    #[kernel] cs_cs_f64x2: F64x2, load_cs, store_cs;
    #[kernel] cs_cs_u8x16: U8x16, load_cs, store_cs;
}

/// Declares kernels that copy with an L2 policy.
macro_rules! policies {
    ($($name:ident: $kind:ty, $policy:ident($fraction:literal);)*) => {
        $(
            #[kernel(min_compute_capability = 80)]
            pub unsafe fn $name(source: *const $kind, target: *mut $kind) {
                let tid = thread::thread_idx_x() as usize;
                let policy = CachePolicy::$policy($fraction);
                // SAFETY: the launch contract of the module; buffers are in global memory.
                unsafe {
                    let value = memory::load_with_policy(source.add(tid), policy);
                    memory::store_with_policy(target.add(tid), value, policy);
                }
            }
        )*
    };
}

policies! {
    policy_evict_first: f32, evict_first(1.0);
    policy_evict_last: F32x4, evict_last(0.5);
    policy_evict_normal: u64, evict_normal(1.0);
    policy_evict_unchanged: F32x2, evict_unchanged(1.0);
}

/// Declares kernels that act on the line of the next element, then copy.
macro_rules! lines {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        $(
            $(#[$attribute])*
            pub unsafe fn $name(source: *const f32, target: *mut f32) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module; buffers are in global memory, aligned
                // to 128 bytes and as long.
                unsafe {
                    memory::$name(source);
                    *target.add(tid) = *source.add(tid);
                }
            }
        )*
    };
}

lines! {
    #[kernel] prefetch_l1;
    #[kernel] prefetch_l2;
    #[kernel(min_compute_capability = 80)] prefetch_l2_evict_last;
    #[kernel(min_compute_capability = 80)] prefetch_l2_evict_normal;
    #[kernel(min_compute_capability = 80)] l2_evict_normal;
}

/// Drops the target's lines, then writes them.
#[kernel(min_compute_capability = 80)]
pub unsafe fn discard_l2(source: *const f32, target: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; the target is aligned to 128 bytes, and every
    // element of its lines is written after the barrier.
    unsafe {
        if tid.is_multiple_of(32) {
            memory::discard_l2(target.add(tid));
        }
        thread::sync_threads();
        *target.add(tid) = *source.add(tid);
    }
}

/// Loads twice around a barrier: neither load may move over it, nor one replace the other.
#[kernel]
pub unsafe fn load_around_barrier(data: *mut u32, target: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    let neighbour = tid ^ 1;
    // SAFETY: the launch contract of the module; barriers separate loads from stores.
    unsafe {
        let before = memory::load_cg(data.add(neighbour));
        thread::sync_threads();
        *data.add(tid) = before + 100;
        thread::sync_threads();
        let after = memory::load_cg(data.add(neighbour));
        *target.add(tid) = before << 16 | after;
    }
}
