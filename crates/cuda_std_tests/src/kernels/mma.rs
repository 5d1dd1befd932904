//! Kernels for `cuda_std::mma`. Each warp of a block has a tile of its own.

use core::mem::MaybeUninit;
use cuda_std::mma::{self, A, B, C, Tf32};
use cuda_std::{address_space, bf16, f16, kernel, thread, warp};

/// Declares kernels that multiply tiles of M x N x K, which lie row by row.
macro_rules! products {
    ($($(#[$attribute:meta])* $name:ident: $m:literal $n:literal $k:literal, $a:ty, $b:ty, $c:ty, $la:literal $lb:literal $lc:literal;)*) => {
        $(
            $(#[$attribute])*
            pub unsafe fn $name(a: *const $a, b: *const $b, c: *const $c, d: *mut $c) {
                let tile = thread::thread_idx_x() as usize / 32;
                // SAFETY: the launch contract of the module, with a tile for each of its two warps.
                unsafe {
                    let (a, b) = (a.add(tile * $m * $k), b.add(tile * $k * $n));
                    let (c, d) = (c.add(tile * $m * $n), d.add(tile * $m * $n));
                    let a = A::<$a, $la>::from_fn(|row, column| *a.add(row * $k + column));
                    let b = B::<$b, $lb>::from_fn(|row, column| *b.add(row * $n + column));
                    let c = C::<$c, $lc>::from_fn(|row, column| *c.add(row * $n + column));
                    mma::$name(a, b, c).for_each(|row, column, value| *d.add(row * $n + column) = value);
                }
            }
        )*
    };
}

products! {
    #[kernel(min_compute_capability = 75)] m16n8k8_f32_f16: 16 8 8, f16, f16, f32, 4 2 4;
    #[kernel(min_compute_capability = 80)] m16n8k16_f32_f16: 16 8 16, f16, f16, f32, 8 4 4;
    #[kernel(min_compute_capability = 75)] m16n8k8_f16_f16: 16 8 8, f16, f16, f16, 4 2 4;
    #[kernel(min_compute_capability = 80)] m16n8k16_f16_f16: 16 8 16, f16, f16, f16, 8 4 4;
    #[kernel(min_compute_capability = 80)] m16n8k8_f32_bf16: 16 8 8, bf16, bf16, f32, 4 2 4;
    #[kernel(min_compute_capability = 80)] m16n8k16_f32_bf16: 16 8 16, bf16, bf16, f32, 8 4 4;
    #[kernel(min_compute_capability = 80)] m16n8k4_f32_tf32: 16 8 4, Tf32, Tf32, f32, 2 1 4;
    #[kernel(min_compute_capability = 80)] m16n8k8_f32_tf32: 16 8 8, Tf32, Tf32, f32, 4 2 4;
    #[kernel(min_compute_capability = 80)] m16n8k16_i32_i8_i8: 16 8 16, i8, i8, i32, 8 4 4;
    #[kernel(min_compute_capability = 80)] m16n8k16_i32_i8_u8: 16 8 16, i8, u8, i32, 8 4 4;
    #[kernel(min_compute_capability = 80)] m16n8k16_i32_u8_i8: 16 8 16, u8, i8, i32, 8 4 4;
    #[kernel(min_compute_capability = 80)] m16n8k16_i32_u8_u8: 16 8 16, u8, u8, i32, 8 4 4;
    #[kernel(min_compute_capability = 80)] m16n8k32_i32_i8_i8: 16 8 32, i8, i8, i32, 16 8 4;
    #[kernel(min_compute_capability = 80)] m16n8k32_i32_i8_u8: 16 8 32, i8, u8, i32, 16 8 4;
    #[kernel(min_compute_capability = 80)] m16n8k32_i32_u8_i8: 16 8 32, u8, i8, i32, 16 8 4;
    #[kernel(min_compute_capability = 80)] m16n8k32_i32_u8_u8: 16 8 32, u8, u8, i32, 16 8 4;
    #[kernel(min_compute_capability = 80)] m8n8k4_f64: 8 8 4, f64, f64, f64, 1 1 2;
}

/// Stores the product in one lane only: the product itself needs all of them.
#[kernel(min_compute_capability = 80)]
pub unsafe fn product_of_one_lane(a: *const f16, b: *const f16, d: *mut f32) {
    // SAFETY: the launch contract of the module.
    unsafe {
        let a = A::<f16, 8>::from_fn(|row, column| *a.add(row * 16 + column));
        let b = B::<f16, 4>::from_fn(|row, column| *b.add(row * 8 + column));
        let product = mma::m16n8k16_f32_f16(a, b, C::default());
        if thread::thread_idx_x() == 0 {
            *d = product.0[0];
        }
    }
}

/// Loads and stores on either side of a product in the same lanes: LLVM would like to follow each kind of lane with a
/// product of its own, and the warp would then not be together for either.
#[kernel(min_compute_capability = 80)]
pub unsafe fn product_between_branches(source: *const f64, target: *mut f64) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        let x = if tid % 32 < 5 { source.add(tid).read_volatile() } else { 0.0 };
        let product = mma::m8n8k4_f64(A([x]), B([x]), C([x, x]));
        if tid % 32 < 5 {
            target.add(tid).write_volatile(product.0[0]);
        }
    }
}

/// Stores the nearest number that tensor cores multiply.
#[kernel(min_compute_capability = 80)]
pub unsafe fn nearest_tf32(source: *const f32, target: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(tid) = Tf32::nearest(*source.add(tid)).0 }
}

/// Declares kernels that load from shared memory, which has 4 matrices of 8 rows for each warp, and store the registers of each lane.
macro_rules! loads {
    ($($name:ident $count:literal;)*) => {
        $(
            #[kernel(min_compute_capability = 75)]
            pub unsafe fn $name(source: *const u32, target: *mut u32) {
                #[address_space(shared)]
                static mut TILE: MaybeUninit<[[u16; 8]; 64]> = MaybeUninit::uninit();
                let (tid, lane) = (thread::thread_idx_x() as usize, warp::lane_id() as usize);
                let tile = (&raw mut TILE).cast::<u32>();
                // SAFETY: the launch contract of the module, with 4 words for each thread.
                unsafe {
                    for word in 0..4 {
                        *tile.add(word * 64 + tid) = *source.add(word * 64 + tid);
                    }
                    thread::sync_threads();
                    let row = tile.add((tid / 32 * 32 + lane) * 4);
                    let registers = mma::$name(row);
                    for register in 0..$count {
                        *target.add(register * 64 + tid) = registers[register];
                    }
                }
            }
        )*
    };
}

loads! {
    ldmatrix_x1 1;
    ldmatrix_x2 2;
    ldmatrix_x4 4;
    ldmatrix_x1_trans 1;
    ldmatrix_x2_trans 2;
    ldmatrix_x4_trans 4;
}

/// Declares kernels that store registers of each lane as matrices in shared memory.
macro_rules! stores {
    ($($name:ident $count:literal;)*) => {
        $(
            #[kernel(min_compute_capability = 90)]
            pub unsafe fn $name(source: *const u32, target: *mut u32) {
                #[address_space(shared)]
                static mut TILE: MaybeUninit<[[u16; 8]; 64]> = MaybeUninit::uninit();
                let (tid, lane) = (thread::thread_idx_x() as usize, warp::lane_id() as usize);
                let tile = (&raw mut TILE).cast::<u32>();
                // SAFETY: the launch contract of the module, with 4 words for each thread.
                unsafe {
                    for word in 0..4 {
                        *tile.add(word * 64 + tid) = 0;
                    }
                    thread::sync_threads();
                    let row = tile.add((tid / 32 * 32 + lane) * 4);
                    mma::$name(row, core::array::from_fn::<_, $count, _>(|i| *source.add(i * 64 + tid)));
                    thread::sync_threads();
                    for word in 0..4 {
                        *target.add(word * 64 + tid) = *tile.add(word * 64 + tid);
                    }
                }
            }
        )*
    };
}

stores! {
    stmatrix_x1 1;
    stmatrix_x2 2;
    stmatrix_x4 4;
    stmatrix_x1_trans 1;
    stmatrix_x2_trans 2;
    stmatrix_x4_trans 4;
}

/// Multiplies tiles whose fragments come from shared memory: A as it is, B transposed, since each lane holds
/// neighbours of a column of B.
#[kernel(min_compute_capability = 80)]
pub unsafe fn product_from_shared(a: *const f16, b: *const f16, d: *mut f32) {
    #[address_space(shared)]
    static mut TILE_A: MaybeUninit<[[f16; 16]; 32]> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut TILE_B: MaybeUninit<[[f16; 8]; 32]> = MaybeUninit::uninit();
    let (tid, lane) = (thread::thread_idx_x() as usize, warp::lane_id() as usize);
    let tile = tid / 32;
    // Rows of 16 bytes must be aligned to 16 bytes, which the words of this copy do not ask for.
    let (tile_a, tile_b) = ((&raw mut TILE_A).cast::<f16>(), (&raw mut TILE_B).cast::<f16>());
    // SAFETY: the launch contract of the module, with a tile for each of its two warps.
    unsafe {
        for element in 0..8 {
            *tile_a.add(element * 64 + tid) = *a.add(element * 64 + tid);
        }
        for element in 0..4 {
            *tile_b.add(element * 64 + tid) = *b.add(element * 64 + tid);
        }
        thread::sync_threads();
        let (tile_a, tile_b) = (tile_a.add(tile * 256), tile_b.add(tile * 128));
        let a = mma::ldmatrix_x4(tile_a.add(lane % 16 * 16 + lane / 16 * 8));
        let b = mma::ldmatrix_x2_trans(tile_b.add(lane % 16 * 8));
        let product = mma::m16n8k16_f32_f16(a.into(), b.into(), C::default());
        product.for_each(|row, column, value| *d.add(tile * 128 + row * 8 + column) = value);
    }
}
