#![no_std]
#![feature(abi_ptx, stdarch_nvptx, core_float_math)]
#![allow(internal_features)]
use core::arch::nvptx::*;
#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { unsafe { trap() } }
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn saxpy_loop(x: *const f32, y: *mut f32, a: f32, n: usize) {
    unsafe {
        let step = (_grid_dim_x() * _block_dim_x()) as usize;
        let mut i = (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize;
        while i < n { *y.add(i) = core::f32::math::mul_add(a, *x.add(i), *y.add(i)); i += step; }
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn checked_sum(x: *const u32, y: *mut u32, n: usize) {
    unsafe {
        let x = core::slice::from_raw_parts(x, n);
        let i = (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize;
        if i < n { let mut s = 0u32; for k in 0..8 { s = s.wrapping_add(x[(i * 7 + k) % n] / (k as u32 + 1)); } *y.add(i) = s; }
    }
}
