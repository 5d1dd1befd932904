//! Products of 8-bit and 4-bit floats with scales, on tensor cores: `mma.sync` with `.block_scale`. Compute capability 12.0
//! alone. Beyond rust-cuda.
//!
//! A warp computes D = (A x B) + C of a 16 x 8 tile, as with [`mma`](crate::mma), and each element of A and B is multiplied
//! by the scale of its block: of so many elements along K of a row of A, or of a column of B. No GPU of this project has
//! confirmed these functions.
//!
//! | elements | of a block | scales | function |
//! |---|---|---|---|
//! | e4m3, e5m2 | 32 | one of ue8m0 | `m16n8k32_e4m3_e4m3` and its like |
//! | e2m1 | 32 | two of ue8m0 | [`m16n8k64_e2m1_mx`] |
//! | e2m1 | 16 | four of ue4m3 | [`m16n8k64_e2m1_nv`] |
//!
//! Elements lie in registers as bytes do in [`mma`](crate::mma), those of 4 bits two to a byte. With `group = lane / 4` and
//! `place = lane % 4`, lanes of place 0 and 1 hold the scales of A's rows `group` and `group + 8`, and lanes of place 0 those
//! of B's column `group`, in the order of their blocks from the lowest byte on. What other lanes hold does not count.
//!
//! Source: PTX ISA, `mma`, "Block Scaling for mma.sync", PTX 8.7.
//!
//! ```no_run
//! use cuda_std::{mma::C, scaled_mma};
//! # fn f(a: [u32; 4], b: [u32; 2]) { unsafe {
//! // A scale of 1 is the exponent 127.
//! let sum: C<f32, 4> = scaled_mma::m16n8k32_e4m3_e4m3(a, b, C::default(), [127, 127]);
//! # }}
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

#[cfg(target_arch = "nvptx64")]
use crate::capability::{ONLY_120, require};
use crate::gpu_only;
use crate::mma::C;
#[cfg(target_arch = "nvptx64")]
use crate::mma::convergent;

/// Declares functions that are one product each.
macro_rules! products {
    ($($name:ident: $instruction:literal;)*) => {
        $(
            #[doc = concat!("The product of a tile with the scales of A and of B, and its sum with `c`. PTX: `", $instruction, "`.")]
            ///
            /// # Safety
            /// - Block: all 32 lanes of the warp come to this call together.
            #[gpu_only]
            #[inline(always)]
            #[must_use]
            pub unsafe fn $name(a: [u32; 4], b: [u32; 2], c: C<f32, 4>, scales: [u32; 2]) -> C<f32, 4> {
                require::<ONLY_120>();
                let mut c: [u32; 4] = c.into();
                // SAFETY: the caller's contract.
                unsafe {
                    convergent();
                    asm!(
                        concat!(
                            "mma.sync.aligned.", $instruction,
                            " {{{0}, {1}, {2}, {3}}}, {{{4}, {5}, {6}, {7}}}, {{{8}, {9}}}, {{{0}, {1}, {2}, {3}}}, \
                             {{{10}}}, {{0, 0}}, {{{11}}}, {{0, 0}};"
                        ),
                        inout(reg32) c[0], inout(reg32) c[1], inout(reg32) c[2], inout(reg32) c[3],
                        in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], in(reg32) b[0], in(reg32) b[1],
                        in(reg32) scales[0], in(reg32) scales[1],
                        options(nomem, nostack, preserves_flags)
                    );
                }
                c.into()
            }
        )*
    };
}

products! {
    m16n8k32_e4m3_e4m3: "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0";
    m16n8k32_e4m3_e5m2: "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0";
    m16n8k32_e5m2_e4m3: "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e4m3.f32.ue8m0";
    m16n8k32_e5m2_e5m2: "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0";
    m16n8k64_e2m1_mx: "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0";
    m16n8k64_e2m1_nv: "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";
}
