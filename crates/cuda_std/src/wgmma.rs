//! Matrix products by four warps: `wgmma`, which reads its factors from shared memory.
//!
//! The 128 threads of a warpgroup, four warps of which the first is a multiple of four, compute D = A x B + D of 64 x N
//! results and 16 steps of the inner dimension. B is in shared memory, A there or in registers, D in registers. Products are
//! asynchronous: [`fence`] before the first one and after other accesses to D or to A in registers, then products, then
//! [`commit_group`], and [`wait_group`] before D is used or the memory of the factors is written.
//!
//! A [`Descriptor`] says how a factor lies in shared memory. Where rows of 64 elements (128 bytes) lie one behind the other along
//! K, swizzled as a [tensor copy](crate::tensor_copy) with a swizzle of 128 bytes stores them, [`Descriptor::swizzled_128`]
//! is all that is needed; 16 steps further along K are 32 bytes further ([`Descriptor::advanced`]).
//!
//! Thread `t` of the warpgroup holds `N / 2` results: element `4 j + 2 h + e` lies in row
//! `16 (t / 32) + t % 32 / 4 + 8 h` and column `8 j + 2 (t % 4) + e`. A in registers is [`A`] of each warp's 16
//! rows.
//!
//! These instructions exist on compute capability 9.0 alone, not on newer ones: kernels say
//! `min_compute_capability = 90a`. As with [`mma`](crate::mma), a call that LLVM may not copy stands before each product.
//!
//! Beyond rust-cuda. Sources: PTX ISA, "Asynchronous warpgroup level matrix instructions".
//!
//! ```no_run
//! use cuda_std::wgmma::Descriptor;
//! # unsafe fn f(tile: *const u16) {
//! // SAFETY: a tile in shared memory, as a copy with a swizzle of 128 bytes leaves it.
//! let a = unsafe { Descriptor::swizzled_128(tile) };
//! # }
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::{bf16, f16};

#[cfg(target_arch = "nvptx64")]
use crate::capability::{ONLY_90, require};
use crate::gpu_only;
use crate::mma::A;
use crate::ptr::shared_address;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// No instruction, but LLVM copies no block of instructions that has it: `cuda_builder` writes it.
    #[link_name = "__coalesce_convergent"]
    fn convergent();
}

/// The permutation of the 16-byte chunks of rows in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Swizzle {
    /// Not at all.
    None = 0,
    /// Within rows of 128 bytes.
    Bytes128 = 1,
    /// Within rows of 64 bytes.
    Bytes64 = 2,
    /// Within rows of 32 bytes.
    Bytes32 = 3,
}

/// Place and layout of a factor in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor(pub u64);

impl Descriptor {
    /// A factor that begins at `start`, in blocks that are `leading` and `stride` bytes apart.
    ///
    /// Along K, elements are neighbours (not transposed): `stride` leads to the next 8 rows of A (columns of B), and without a
    /// swizzle `leading` leads to the next 16 bytes along K. Transposed, elements are neighbours along M (N): with a swizzle
    /// `leading` leads to the next row's worth of elements along M and `stride` to the next 8 steps of K, without it
    /// `stride` leads to the next 8 elements along M and `leading` to the next 8 steps.
    ///
    /// # Safety
    /// - Lengths: `start` points into the block's shared memory, and the tile ends in it.
    /// - Alignment: `start`, `leading` and `stride` are multiples of 16; a swizzled row of blocks begins at a multiple of 8
    ///   times its bytes.
    /// - Index width: all three are below 2^18.
    #[inline(always)]
    #[must_use]
    pub unsafe fn new<T>(
        start: *const T,
        leading: u32,
        stride: u32,
        swizzle: Swizzle,
    ) -> Descriptor {
        // SAFETY: the caller's contract.
        let start = unsafe { shared_address(start) };
        Descriptor(
            u64::from(start >> 4 & 0x3fff)
                | u64::from(leading >> 4) << 16
                | u64::from(stride >> 4) << 32
                | (swizzle as u64) << 62,
        )
    }

    /// Rows of 128 bytes along K, one behind the other, with a swizzle of 128 bytes.
    ///
    /// # Safety
    /// - Lengths: `start` points into the block's shared memory, and the tile ends in it.
    /// - Alignment: it is a multiple of 1024, or of 32 bytes more within the first row.
    #[inline(always)]
    #[must_use]
    pub unsafe fn swizzled_128<T>(start: *const T) -> Descriptor {
        // SAFETY: the caller's contract.
        unsafe { Descriptor::new(start, 16, 1024, Swizzle::Bytes128) }
    }

    /// So many bytes further, a multiple of 16.
    #[inline(always)]
    #[must_use]
    pub const fn advanced(self, bytes: u32) -> Descriptor {
        Descriptor(self.0 + (bytes >> 4) as u64)
    }
}

/// Orders the products that follow after earlier accesses to D, and to A in registers. PTX: `wgmma.fence`.
///
/// # Safety
/// - Block: all threads of the warpgroup come to this call together.
#[gpu_only]
#[inline(always)]
pub unsafe fn fence() {
    require::<ONLY_90>();
    // SAFETY: the caller's contract.
    unsafe {
        convergent();
        asm!("wgmma.fence.sync.aligned;", options(nostack, preserves_flags));
    }
}

/// Closes the products since the last call into a group. PTX: `wgmma.commit_group`.
///
/// # Safety
/// - As for [`fence`].
#[gpu_only]
#[inline(always)]
pub unsafe fn commit_group() {
    require::<ONLY_90>();
    // SAFETY: the caller's contract.
    unsafe {
        convergent();
        asm!("wgmma.commit_group.sync.aligned;", options(nostack, preserves_flags));
    }
}

/// Waits until at most `PENDING` of the most recent groups are still under way. PTX: `wgmma.wait_group`.
///
/// # Safety
/// - As for [`fence`].
#[gpu_only]
#[inline(always)]
pub unsafe fn wait_group<const PENDING: u32>() {
    require::<ONLY_90>();
    // SAFETY: the caller's contract.
    unsafe {
        convergent();
        asm!(
            "wgmma.wait_group.sync.aligned {pending};",
            pending = const PENDING,
            options(nostack, preserves_flags)
        );
    }
}

/// Gives the registers of a warpgroup back to the others, except so many per thread. PTX: `setmaxnreg.dec`.
///
/// # Safety
/// - As for [`fence`].
/// - `REGISTERS` is a multiple of 8 from 24 to 256 that the warpgroup's code fits into, and the kernel has launch
///   bounds.
#[gpu_only]
#[inline(always)]
pub unsafe fn release_registers<const REGISTERS: u32>() {
    require::<ONLY_90>();
    // SAFETY: the caller's contract.
    unsafe {
        convergent();
        asm!("setmaxnreg.dec.sync.aligned.u32 {n};", n = const REGISTERS, options(nostack, preserves_flags));
    }
}

/// Waits for the registers that other warpgroups gave back, up to so many per thread. PTX: `setmaxnreg.inc`.
///
/// # Safety
/// - As for [`release_registers`].
/// - All warpgroups together have no more registers than the launch gave the block.
#[gpu_only]
#[inline(always)]
pub unsafe fn acquire_registers<const REGISTERS: u32>() {
    require::<ONLY_90>();
    // SAFETY: the caller's contract.
    unsafe {
        convergent();
        asm!("setmaxnreg.inc.sync.aligned.u32 {n};", n = const REGISTERS, options(nostack, preserves_flags));
    }
}

/// Declares the products of a type and a shape, with A in shared memory and in registers.
macro_rules! products {
    ($($name:ident $from_registers:ident $t:ty: $count:literal $shape:literal [$($i:literal)*] $last:literal;)*) => { $(
        #[doc = concat!("Starts D = A x B + D. PTX: `wgmma.mma_async.sync.aligned.", $shape, "`.")]
        ///
        /// `TRANSPOSED_A` and `TRANSPOSED_B`: neighbouring elements in shared memory lie along M or N, not along K.
        ///
        /// # Safety
        /// - Block: all threads of the warpgroup come to this call together, after [`fence`], with the same descriptors.
        /// - Lengths: these describe shared memory that holds the factors, visible to the asynchronous proxy.
        /// - Aliasing: until the product's group has been waited for nobody writes the factors, and nobody uses `d`, except for
        ///   further products of the same shape.
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $name<const TRANSPOSED_A: bool, const TRANSPOSED_B: bool>(
            d: &mut [f32; $count],
            a: Descriptor,
            b: Descriptor,
        ) {
            require::<ONLY_90>();
            // SAFETY: the caller's contract.
            unsafe {
                convergent();
                asm!(
                    concat!("wgmma.mma_async.sync.aligned.", $shape, " {{", $("{", $i, "}, ",)* "{", $last,
                        "}}}, {a}, {b}, 1, 1, 1, {transposed_a}, {transposed_b};"),
                    $(inout(reg32) d[$i],)*
                    inout(reg32) d[$last],
                    a = in(reg64) a.0,
                    b = in(reg64) b.0,
                    transposed_a = const TRANSPOSED_A as i32,
                    transposed_b = const TRANSPOSED_B as i32,
                    options(nostack, preserves_flags)
                );
            }
        }

        #[doc = concat!("[`", stringify!($name), "`] with A in registers.")]
        ///
        /// # Safety
        #[doc = concat!("- As for [`", stringify!($name), "`]; `a` must not change until the group has been waited for.")]
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $from_registers<const TRANSPOSED_B: bool>(
            d: &mut [f32; $count],
            a: A<$t, 8>,
            b: Descriptor,
        ) {
            require::<ONLY_90>();
            // SAFETY: the caller's contract.
            unsafe {
                let a: [u32; 4] = a.into();
                convergent();
                asm!(
                    concat!("wgmma.mma_async.sync.aligned.", $shape, " {{", $("{", $i, "}, ",)* "{", $last,
                        "}}}, {{{a0}, {a1}, {a2}, {a3}}}, {b}, 1, 1, 1, {transposed_b};"),
                    $(inout(reg32) d[$i],)*
                    inout(reg32) d[$last],
                    a0 = in(reg32) a[0],
                    a1 = in(reg32) a[1],
                    a2 = in(reg32) a[2],
                    a3 = in(reg32) a[3],
                    b = in(reg64) b.0,
                    transposed_b = const TRANSPOSED_B as i32,
                    options(nostack, preserves_flags)
                );
            }
        }
    )* };
}

products! {
    m64n8k16_f32_f16 m64n8k16_f32_f16_registers f16: 4 "m64n8k16.f32.f16.f16" [0 1 2] 3;
    m64n8k16_f32_bf16 m64n8k16_f32_bf16_registers bf16: 4 "m64n8k16.f32.bf16.bf16" [0 1 2] 3;
    m64n16k16_f32_f16 m64n16k16_f32_f16_registers f16: 8 "m64n16k16.f32.f16.f16" [0 1 2 3 4 5 6] 7;
    m64n16k16_f32_bf16 m64n16k16_f32_bf16_registers bf16: 8 "m64n16k16.f32.bf16.bf16" [0 1 2 3 4 5 6] 7;
    m64n32k16_f32_f16 m64n32k16_f32_f16_registers f16: 16 "m64n32k16.f32.f16.f16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14] 15;
    m64n32k16_f32_bf16 m64n32k16_f32_bf16_registers bf16: 16 "m64n32k16.f32.bf16.bf16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14] 15;
    m64n64k16_f32_f16 m64n64k16_f32_f16_registers f16: 32 "m64n64k16.f32.f16.f16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30] 31;
    m64n64k16_f32_bf16 m64n64k16_f32_bf16_registers bf16: 32 "m64n64k16.f32.bf16.bf16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30] 31;
    m64n128k16_f32_f16 m64n128k16_f32_f16_registers f16: 64 "m64n128k16.f32.f16.f16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62] 63;
    m64n128k16_f32_bf16 m64n128k16_f32_bf16_registers bf16: 64 "m64n128k16.f32.bf16.bf16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62] 63;
    m64n256k16_f32_f16 m64n256k16_f32_f16_registers f16: 128 "m64n256k16.f32.f16.f16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126] 127;
    m64n256k16_f32_bf16 m64n256k16_f32_bf16_registers bf16: 128 "m64n256k16.f32.bf16.bf16" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126] 127;
}
