use cuda_std::warp::{self, FULL_MASK, WarpReductionOp};
use cuda_std::{bf16, f16, kernel, thread};

/// Declares kernels that store the value of an expression of the thread's element.
macro_rules! of_element {
    ($($(#[$attribute:meta])* $name:ident($value:ident: $kind:ty) -> $result:ty { $body:expr })*) => {
        $(
            $(#[$attribute])*
            pub unsafe fn $name(source: *const $kind, target: *mut $result) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module; whole warps call this.
                unsafe {
                    let $value = *source.add(tid);
                    *target.add(tid) = $body;
                }
            }
        )*
    };
}

of_element! {
    #[kernel] lane_id(value: u32) -> u32 { value + warp::lane_id() }
    #[kernel] lane_mask_eq(value: u32) -> u32 { value + warp::lane_mask_eq() }
    #[kernel] lane_mask_lt(value: u32) -> u32 { value + warp::lane_mask_lt() }
    #[kernel] lane_mask_le(value: u32) -> u32 { value + warp::lane_mask_le() }
    #[kernel] lane_mask_gt(value: u32) -> u32 { value + warp::lane_mask_gt() }
    #[kernel] lane_mask_ge(value: u32) -> u32 { value.wrapping_add(warp::lane_mask_ge()) }
    #[kernel] activemask(value: u32) -> u32 { value + warp::activemask() }
    #[kernel(min_compute_capability = 90)] elect(value: u32) -> u32 { value + u32::from(warp::elect(FULL_MASK)) }

    #[kernel] vote_all(value: u32) -> u32 { u32::from(warp::warp_vote_all(FULL_MASK, value > 10)) }
    #[kernel] vote_any(value: u32) -> u32 { u32::from(warp::warp_vote_any(FULL_MASK, value > 10)) }
    #[kernel] vote_uniform(value: u32) -> u32 {
        u32::from(warp::warp_vote_uniform(FULL_MASK, value > 10))
    }
    #[kernel] vote_ballot(value: u32) -> u32 { warp::warp_vote_ballot(FULL_MASK, value > 10) }

    #[kernel] match_any_u32(value: u32) -> u32 { warp::warp_match_any(FULL_MASK, value) }
    #[kernel] match_any_i64(value: i64) -> u32 { warp::warp_match_any(FULL_MASK, value) }
    #[kernel] match_any_f32(value: f32) -> u32 { warp::warp_match_any(FULL_MASK, value) }
    #[kernel] match_all_u32(value: u32) -> u32 {
        warp::warp_match_all(FULL_MASK, value).unwrap_or(0)
    }
    #[kernel] match_all_u64(value: u64) -> u32 {
        warp::warp_match_all(FULL_MASK, value).unwrap_or(0)
    }

    #[kernel(min_compute_capability = 80)] reduce_add_u32(value: u32) -> u32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Add)
    }
    #[kernel(min_compute_capability = 80)] reduce_add_i32(value: i32) -> i32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Add)
    }
    #[kernel(min_compute_capability = 80)] reduce_min_u32(value: u32) -> u32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Min)
    }
    #[kernel(min_compute_capability = 80)] reduce_min_i32(value: i32) -> i32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Min)
    }
    #[kernel(min_compute_capability = 80)] reduce_max_u32(value: u32) -> u32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Max)
    }
    #[kernel(min_compute_capability = 80)] reduce_max_i32(value: i32) -> i32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Max)
    }
    #[kernel(min_compute_capability = 80)] reduce_and_u32(value: u32) -> u32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::And)
    }
    #[kernel(min_compute_capability = 80)] reduce_or_u32(value: u32) -> u32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Or)
    }
    #[kernel(min_compute_capability = 80)] reduce_xor_u32(value: u32) -> u32 {
        warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Xor)
    }
}

/// Reverses the elements of each warp through global memory, ordered by the warp's barrier.
#[kernel]
pub unsafe fn sync_warp(data: *mut u32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; whole warps call this.
    unsafe {
        let value = *data.add(tid ^ 31);
        warp::sync_warp(FULL_MASK);
        *data.add(tid) = value;
    }
}

/// Declares kernels that store the value of a shuffle, and whether its source was in the segment.
macro_rules! shuffles {
    ($($name:ident: $function:ident($kind:ty, $lane:literal, $width:literal);)*) => {
        $(
            #[kernel]
            pub unsafe fn $name(source: *const $kind, target: *mut $kind, inside: *mut u32) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module; whole warps call this.
                unsafe {
                    let value = *source.add(tid);
                    let (value, flag) = warp::$function(FULL_MASK, value, $lane, $width);
                    *target.add(tid) = value;
                    *inside.add(tid) = u32::from(flag);
                }
            }
        )*
    };
}

shuffles! {
    shuffle_down_u32: warp_shuffle_down(u32, 3, 32);
    shuffle_down_width_8: warp_shuffle_down(u32, 3, 8);
    shuffle_up_u32: warp_shuffle_up(u32, 3, 32);
    shuffle_up_width_8: warp_shuffle_up(u32, 3, 8);
    shuffle_idx_u32: warp_shuffle_idx(u32, 5, 32);
    shuffle_idx_width_8: warp_shuffle_idx(u32, 5, 8);
    shuffle_xor_u32: warp_shuffle_xor(u32, 16, 32);
    shuffle_xor_width_8: warp_shuffle_xor(u32, 9, 8);
    shuffle_down_u8: warp_shuffle_down(u8, 1, 32);
    shuffle_down_i8: warp_shuffle_down(i8, 1, 32);
    shuffle_down_u16: warp_shuffle_down(u16, 1, 32);
    shuffle_down_i16: warp_shuffle_down(i16, 1, 32);
    shuffle_down_i32: warp_shuffle_down(i32, 1, 32);
    shuffle_down_u64: warp_shuffle_down(u64, 1, 32);
    shuffle_down_i64: warp_shuffle_down(i64, 1, 32);
    shuffle_down_u128: warp_shuffle_down(u128, 1, 32);
    shuffle_down_i128: warp_shuffle_down(i128, 1, 32);
    shuffle_down_f16: warp_shuffle_down(f16, 1, 32);
    shuffle_down_bf16: warp_shuffle_down(bf16, 1, 32);
    shuffle_down_f32: warp_shuffle_down(f32, 1, 32);
    shuffle_down_f64: warp_shuffle_down(f64, 1, 32);
}
