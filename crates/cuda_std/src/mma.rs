//! Matrix products on tensor cores: `mma.sync`, and `ldmatrix` and `stmatrix`, which move its fragments.
//!
//! The 32 lanes of a warp together compute D = A x B + C of a small tile. Each lane holds a few elements of each
//! matrix, its *fragment*: [`A`], [`B`] and [`C`]. Which elements is fixed by the hardware; `position` says it, and
//! `from_fn` fills a fragment by row and column.
//!
//! ```text
//! let a = A::<f16, 8>::from_fn(|row, column| a[row * 16 + column]);   // 16 x 16
//! let b = B::<f16, 4>::from_fn(|row, column| b[row * 8 + column]);    // 16 x 8
//! let d = unsafe { mma::m16n8k16_f32_f16(a, b, C::default()) };       // 16 x 8, of f32
//! d.for_each(|row, column, value| ...);
//! ```
//!
//! | elements | A | B | C and D | function |
//! |---|---|---|---|---|
//! | [`f16`](struct@f16), [`bf16`] | 16 x 8: `A<T, 4>` | 8 x 8: `B<T, 2>` | 16 x 8: `C<f32, 4>`, `C<f16, 4>` | `m16n8k8_*` |
//! | [`f16`](struct@f16), [`bf16`] | 16 x 16: `A<T, 8>` | 16 x 8: `B<T, 4>` | 16 x 8: `C<f32, 4>`, `C<f16, 4>` | `m16n8k16_*` |
//! | [`Tf32`] | 16 x 4: `A<Tf32, 2>` | 4 x 8: `B<Tf32, 1>` | 16 x 8: `C<f32, 4>` | [`m16n8k4_f32_tf32`] |
//! | [`Tf32`] | 16 x 8: `A<Tf32, 4>` | 8 x 8: `B<Tf32, 2>` | 16 x 8: `C<f32, 4>` | [`m16n8k8_f32_tf32`] |
//! | `i8`, `u8` | 16 x 16: `A<T, 8>` | 16 x 8: `B<T, 4>` | 16 x 8: `C<i32, 4>` | `m16n8k16_i32_*` |
//! | `i8`, `u8` | 16 x 32: `A<T, 16>` | 32 x 8: `B<T, 8>` | 16 x 8: `C<i32, 4>` | `m16n8k32_i32_*` |
//! | `f64` | 8 x 4: `A<f64, 1>` | 4 x 8: `B<f64, 1>` | 8 x 8: `C<f64, 2>` | [`m8n8k4_f64`] |
//!
//! Products of halves and [`Tf32`] are exact, but their sum is not rounded like a chain of `mul_add`: the hardware
//! aligns all terms to the largest and cuts what is below. Sums of integers wrap.
//!
//! The products are inline assembly: LLVM 22 does not know that its own intrinsics for them need all lanes of a warp,
//! and copies them into branches that only some lanes take. It does not copy this assembly, because a call before it
//! keeps it from that. `ldmatrix` is inline assembly, too: its intrinsic takes a generic address, and NVIDIA's assembler
//! computes that of each load on its own. `stmatrix` is an intrinsic, which LLVM knows to need all lanes.
//!
//! Beyond rust-cuda. Sources: PTX ISA, "Matrix Fragments for mma", `mma`, `ldmatrix`, `stmatrix`.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
use core::mem::size_of;

use crate::{bf16, f16};

use crate::capability::require;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;
use crate::warp::lane_id;
use crate::{gpu_only, nvvm};

/// An f32 of which the tensor cores use the sign, the exponent and the upper 10 bits of the fraction.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Tf32(pub f32);

impl Tf32 {
    /// The nearest value with 10 bits of fraction, ties away from zero. PTX: `cvt.rna.tf32.f32`, compute capability 8.0.
    ///
    /// `Tf32(value)` costs nothing instead, and cuts the lower 13 bits.
    #[inline(always)]
    #[must_use]
    pub fn nearest(value: f32) -> Self {
        require::<80>();
        #[cfg(target_arch = "nvptx64")]
        {
            let bits: f32;
            // SAFETY: the conversion has no precondition.
            unsafe {
                asm!(
                    "cvt.rna.tf32.f32 {bits}, {value};",
                    bits = out(reg32) bits,
                    value = in(reg32) value,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            Tf32(bits)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        Tf32(f32::from_bits(match value.is_finite() {
            true => (value.to_bits() + 0x1000) & !0x1fff,
            false => value.to_bits(),
        }))
    }
}

mod sealed {
    /// An element that tensor cores multiply and add.
    pub trait Element: Copy + Default {
        /// True when the tiles have 8 rows instead of 16.
        const IS_DOUBLE: bool = false;
    }
}
use sealed::Element;

impl Element for f16 {}
impl Element for bf16 {}
impl Element for Tf32 {}
impl Element for i8 {}
impl Element for u8 {}
impl Element for f32 {}
impl Element for i32 {}
impl Element for f64 {
    const IS_DOUBLE: bool = true;
}

/// Elements that share a register.
const fn per_register<T>() -> usize {
    if size_of::<T>() < 4 { 4 / size_of::<T>() } else { 1 }
}

/// Declares a fragment and how its elements are found.
macro_rules! fragment {
    ($(#[$documentation:meta])* $name:ident: |$t:ident, $element:ident, $group:ident, $place:ident| $position:expr;) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[repr(C, align(4))]
        pub struct $name<T, const N: usize>(pub [T; N]);

        impl<$t: Element, const N: usize> $name<$t, N> {
            /// Row and column of an element of the fragment that a lane holds.
            #[inline(always)]
            #[must_use]
            pub const fn position(lane: u32, element: usize) -> (usize, usize) {
                let ($group, $place) = (lane as usize / 4, lane as usize % 4);
                let $element = element;
                $position
            }

            /// This lane's fragment of the matrix with these elements, by row and column.
            #[inline(always)]
            #[must_use]
            pub fn from_fn(mut element: impl FnMut(usize, usize) -> $t) -> Self {
                let lane = lane_id();
                $name(core::array::from_fn(|i| {
                    let (row, column) = Self::position(lane, i);
                    element(row, column)
                }))
            }

            /// Calls a function with row, column and value of each element that this lane holds.
            #[inline(always)]
            pub fn for_each(self, mut visit: impl FnMut(usize, usize, $t)) {
                let lane = lane_id();
                let mut i = 0;
                while i < N {
                    let (row, column) = Self::position(lane, i);
                    visit(row, column, self.0[i]);
                    i += 1;
                }
            }
        }

        impl<T: Element, const N: usize> Default for $name<T, N> {
            #[inline(always)]
            fn default() -> Self {
                $name([T::default(); N])
            }
        }
    };
}

fragment! {
    /// The `N` elements of A that a lane holds.
    ///
    /// With `group = lane / 4`, `place = lane % 4`, and P elements to a register of 32 bits (2 halves, 4 bytes, 1
    /// [`Tf32`]), element `P r + e` lies in row `group + 8 (r % 2)` and column `4 P (r / 2) + P place + e`. That of an
    /// `f64` lies in row `group` and column `place`.
    A: |T, element, group, place| {
        let p = per_register::<T>();
        let (r, e) = (element / p, element % p);
        if T::IS_DOUBLE {
            (group, place)
        } else {
            (group + 8 * (r % 2), 4 * p * (r / 2) + p * place + e)
        }
    };
}

fragment! {
    /// The `N` elements of B that a lane holds.
    ///
    /// With `group = lane / 4`, `place = lane % 4`, and P elements to a register of 32 bits (2 halves, 4 bytes, 1
    /// [`Tf32`] or `f64`), element `P r + e` lies in row `4 P r + P place + e` and column `group`.
    B: |T, element, group, place| {
        let p = per_register::<T>();
        (4 * p * (element / p) + p * place + element % p, group)
    };
}

fragment! {
    /// The `N` elements of C or D that a lane holds.
    ///
    /// With `group = lane / 4` and `place = lane % 4`, element `i` lies in row `group + 8 (i / 2)` and column
    /// `2 place + i % 2`.
    C: |T, element, group, place| (group + 8 * (element / 2), 2 * place + element % 2);
}

/// Declares what [`ldmatrix_x4`] and its like give as a fragment, and back.
macro_rules! registers {
    ($($fragment:ident<$t:ty, $n:literal>: $registers:literal;)*) => {
        $(
            impl From<[u32; $registers]> for $fragment<$t, $n> {
                /// The fragment that these registers hold.
                #[inline(always)]
                fn from(registers: [u32; $registers]) -> Self {
                    // SAFETY: both have the same size, and every pattern of bits is a value of either.
                    unsafe { core::mem::transmute(registers) }
                }
            }

            impl From<$fragment<$t, $n>> for [u32; $registers] {
                /// The registers that hold this fragment.
                #[inline(always)]
                fn from(fragment: $fragment<$t, $n>) -> Self {
                    // SAFETY: both have the same size, and every pattern of bits is a value of either.
                    unsafe { core::mem::transmute(fragment) }
                }
            }
        )*
    };
}

registers! {
    A<f16, 4>: 2;
    A<f16, 8>: 4;
    A<bf16, 4>: 2;
    A<bf16, 8>: 4;
    A<Tf32, 2>: 2;
    A<Tf32, 4>: 4;
    A<i8, 8>: 2;
    A<i8, 16>: 4;
    A<u8, 8>: 2;
    A<u8, 16>: 4;
    B<f16, 2>: 1;
    B<f16, 4>: 2;
    B<bf16, 2>: 1;
    B<bf16, 4>: 2;
    B<Tf32, 1>: 1;
    B<Tf32, 2>: 2;
    B<i8, 4>: 1;
    B<i8, 8>: 2;
    B<u8, 4>: 1;
    B<u8, 8>: 2;
    C<f16, 4>: 2;
    C<f32, 4>: 4;
    C<i32, 4>: 4;
}

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// No instruction, but LLVM copies no block of instructions that has it: `cuda_builder` writes it.
    #[link_name = "__coalesce_convergent"]
    pub(crate) fn convergent();
}

/// Declares functions that are one `mma.sync` each. The numbers are the registers of A, B and C.
macro_rules! products {
    ($($name:ident($a:ty, $b:ty, $c:ty) $registers:tt $capability:literal: $instruction:literal;)*) => {
        $(
            #[doc = concat!("The product of a tile, and its sum with `c`. PTX: `mma.sync.aligned.", $instruction, "`,")]
            #[doc = concat!("compute capability ", stringify!($capability), " (75 is 7.5).")]
            ///
            /// # Safety
            /// - Block: all 32 lanes of the warp come to this call together.
            #[gpu_only]
            #[inline(always)]
            #[must_use]
            pub unsafe fn $name(a: $a, b: $b, c: $c) -> $c {
                require::<$capability>();
                // SAFETY: the caller's contract.
                unsafe {
                    convergent();
                    products!(@ $registers, concat!("mma.sync.aligned.", $instruction), a, b, c).into()
                }
            }
        )*
    };
    (@ (2, 1, 4), $text:expr, $a:ident, $b:ident, $c:ident) => {{
        let (a, b, mut c): ([u32; 2], [u32; 1], [u32; 4]) = ($a.into(), $b.into(), $c.into());
        asm!(
            concat!($text, " {{{0}, {1}, {2}, {3}}}, {{{4}, {5}}}, {{{6}}}, {{{0}, {1}, {2}, {3}}};"),
            inout(reg32) c[0], inout(reg32) c[1], inout(reg32) c[2], inout(reg32) c[3],
            in(reg32) a[0], in(reg32) a[1], in(reg32) b[0],
            options(nomem, nostack, preserves_flags)
        );
        c
    }};
    (@ (4, 2, 4), $text:expr, $a:ident, $b:ident, $c:ident) => {{
        let (a, b, mut c): ([u32; 4], [u32; 2], [u32; 4]) = ($a.into(), $b.into(), $c.into());
        asm!(
            concat!($text, " {{{0}, {1}, {2}, {3}}}, {{{4}, {5}, {6}, {7}}}, {{{8}, {9}}}, {{{0}, {1}, {2}, {3}}};"),
            inout(reg32) c[0], inout(reg32) c[1], inout(reg32) c[2], inout(reg32) c[3],
            in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], in(reg32) b[0], in(reg32) b[1],
            options(nomem, nostack, preserves_flags)
        );
        c
    }};
    (@ (2, 1, 2), $text:expr, $a:ident, $b:ident, $c:ident) => {{
        let (a, b, mut c): ([u32; 2], [u32; 1], [u32; 2]) = ($a.into(), $b.into(), $c.into());
        asm!(
            concat!($text, " {{{0}, {1}}}, {{{2}, {3}}}, {{{4}}}, {{{0}, {1}}};"),
            inout(reg32) c[0], inout(reg32) c[1],
            in(reg32) a[0], in(reg32) a[1], in(reg32) b[0],
            options(nomem, nostack, preserves_flags)
        );
        c
    }};
    (@ (4, 2, 2), $text:expr, $a:ident, $b:ident, $c:ident) => {{
        let (a, b, mut c): ([u32; 4], [u32; 2], [u32; 2]) = ($a.into(), $b.into(), $c.into());
        asm!(
            concat!($text, " {{{0}, {1}}}, {{{2}, {3}, {4}, {5}}}, {{{6}, {7}}}, {{{0}, {1}}};"),
            inout(reg32) c[0], inout(reg32) c[1],
            in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], in(reg32) b[0], in(reg32) b[1],
            options(nomem, nostack, preserves_flags)
        );
        c
    }};
    (@ (f64), $text:expr, $a:ident, $b:ident, $c:ident) => {{
        let mut c = $c.0;
        asm!(
            concat!($text, " {{{0}, {1}}}, {{{2}}}, {{{3}}}, {{{0}, {1}}};"),
            inout(reg64) c[0], inout(reg64) c[1],
            in(reg64) $a.0[0], in(reg64) $b.0[0],
            options(nomem, nostack, preserves_flags)
        );
        C(c)
    }};
}

products! {
    m16n8k8_f32_f16(A<f16, 4>, B<f16, 2>, C<f32, 4>) (2, 1, 4) 75: "m16n8k8.row.col.f32.f16.f16.f32";
    m16n8k16_f32_f16(A<f16, 8>, B<f16, 4>, C<f32, 4>) (4, 2, 4) 80: "m16n8k16.row.col.f32.f16.f16.f32";
    m16n8k8_f16_f16(A<f16, 4>, B<f16, 2>, C<f16, 4>) (2, 1, 2) 75: "m16n8k8.row.col.f16.f16.f16.f16";
    m16n8k16_f16_f16(A<f16, 8>, B<f16, 4>, C<f16, 4>) (4, 2, 2) 80: "m16n8k16.row.col.f16.f16.f16.f16";
    m16n8k8_f32_bf16(A<bf16, 4>, B<bf16, 2>, C<f32, 4>) (2, 1, 4) 80: "m16n8k8.row.col.f32.bf16.bf16.f32";
    m16n8k16_f32_bf16(A<bf16, 8>, B<bf16, 4>, C<f32, 4>) (4, 2, 4) 80: "m16n8k16.row.col.f32.bf16.bf16.f32";
    m16n8k4_f32_tf32(A<Tf32, 2>, B<Tf32, 1>, C<f32, 4>) (2, 1, 4) 80: "m16n8k4.row.col.f32.tf32.tf32.f32";
    m16n8k8_f32_tf32(A<Tf32, 4>, B<Tf32, 2>, C<f32, 4>) (4, 2, 4) 80: "m16n8k8.row.col.f32.tf32.tf32.f32";
    m16n8k16_i32_i8_i8(A<i8, 8>, B<i8, 4>, C<i32, 4>) (2, 1, 4) 80: "m16n8k16.row.col.s32.s8.s8.s32";
    m16n8k16_i32_i8_u8(A<i8, 8>, B<u8, 4>, C<i32, 4>) (2, 1, 4) 80: "m16n8k16.row.col.s32.s8.u8.s32";
    m16n8k16_i32_u8_i8(A<u8, 8>, B<i8, 4>, C<i32, 4>) (2, 1, 4) 80: "m16n8k16.row.col.s32.u8.s8.s32";
    m16n8k16_i32_u8_u8(A<u8, 8>, B<u8, 4>, C<i32, 4>) (2, 1, 4) 80: "m16n8k16.row.col.s32.u8.u8.s32";
    m16n8k32_i32_i8_i8(A<i8, 16>, B<i8, 8>, C<i32, 4>) (4, 2, 4) 80: "m16n8k32.row.col.s32.s8.s8.s32";
    m16n8k32_i32_i8_u8(A<i8, 16>, B<u8, 8>, C<i32, 4>) (4, 2, 4) 80: "m16n8k32.row.col.s32.s8.u8.s32";
    m16n8k32_i32_u8_i8(A<u8, 16>, B<i8, 8>, C<i32, 4>) (4, 2, 4) 80: "m16n8k32.row.col.s32.u8.s8.s32";
    m16n8k32_i32_u8_u8(A<u8, 16>, B<u8, 8>, C<i32, 4>) (4, 2, 4) 80: "m16n8k32.row.col.s32.u8.u8.s32";
    m8n8k4_f64(A<f64, 1>, B<f64, 1>, C<f64, 2>) (f64) 80: "m8n8k4.row.col.f64.f64.f64.f64";
}

/// Declares `ldmatrix` and `stmatrix` of a number of matrices.
macro_rules! matrices {
    ($($load:ident $load_trans:ident $store:ident $store_trans:ident: $count:tt $matrices:literal $lanes:literal [$($i:tt)*];)*) => {
        $(
            matrices! { @load $load: $count $matrices $lanes "" ""; }
            matrices! { @load $load_trans: $count $matrices $lanes ".trans" ", transposed"; }
            matrices! { @store $store: $count $matrices $lanes "" "" [$($i)*]; }
            matrices! { @store $store_trans: $count $matrices $lanes ".trans" ", transposed" [$($i)*]; }
        )*
    };
    (@load $name:ident: $count:tt $matrices:literal $lanes:literal $suffix:literal $transposed:literal;) => {
        #[doc = concat!("Loads ", $matrices, " of 8 x 8 halves from shared memory", $transposed, ". PTX:")]
        #[doc = concat!("`ldmatrix.sync.aligned.m8n8.x", $count, $suffix, ".b16`, compute capability 7.5.")]
        ///
        /// Matrix `i` becomes register `i`: lane `l` gets elements `2 (l % 4)` and the next of row `l / 4`. Lane
        /// `8 i + j` gives the address of row `j` of matrix `i`.
        ///
        /// # Safety
        /// - Block: all 32 lanes of the warp come to this call together.
        #[doc = concat!("- Lengths: in the lanes below ", $lanes, " `row` is valid for reads of 16 bytes of shared memory.")]
        /// - Alignment: there it is aligned to 16 bytes.
        #[gpu_only]
        #[inline(always)]
        #[must_use]
        pub unsafe fn $name<T>(row: *const T) -> [u32; $count] {
            require::<75>();
            let mut registers = [0_u32; $count];
            // SAFETY: the caller's contract.
            unsafe {
                convergent();
                matrices!(@asm $count $suffix, registers, row);
            }
            registers
        }
    };
    (@asm 1 $suffix:literal, $r:ident, $row:ident) => {
        asm!(
            concat!("ldmatrix.sync.aligned.m8n8.x1", $suffix, ".shared.b16 {{{0}}}, [{1}];"),
            out(reg32) $r[0],
            in(reg32) shared_address($row),
            options(readonly, nostack, preserves_flags)
        )
    };
    (@asm 2 $suffix:literal, $r:ident, $row:ident) => {
        asm!(
            concat!("ldmatrix.sync.aligned.m8n8.x2", $suffix, ".shared.b16 {{{0}, {1}}}, [{2}];"),
            out(reg32) $r[0], out(reg32) $r[1],
            in(reg32) shared_address($row),
            options(readonly, nostack, preserves_flags)
        )
    };
    (@asm 4 $suffix:literal, $r:ident, $row:ident) => {
        asm!(
            concat!("ldmatrix.sync.aligned.m8n8.x4", $suffix, ".shared.b16 {{{0}, {1}, {2}, {3}}}, [{4}];"),
            out(reg32) $r[0], out(reg32) $r[1], out(reg32) $r[2], out(reg32) $r[3],
            in(reg32) shared_address($row),
            options(readonly, nostack, preserves_flags)
        )
    };
    (@store $name:ident: $count:tt $matrices:literal $lanes:literal $suffix:literal $transposed:literal [$($i:tt)*];) => {
        #[doc = concat!("Stores ", $matrices, " of 8 x 8 halves to shared memory", $transposed, ". PTX:")]
        #[doc = concat!("`stmatrix.sync.aligned.m8n8.x", $count, $suffix, ".b16`, compute capability 9.0.")]
        ///
        /// Register `i` becomes matrix `i`: lane `l` has elements `2 (l % 4)` and the next of row `l / 4`. Lane
        /// `8 i + j` gives the address of row `j` of matrix `i`.
        ///
        /// # Safety
        /// - Block: all 32 lanes of the warp come to this call together.
        #[doc = concat!("- Lengths: in the lanes below ", $lanes, " `row` is valid for writes of 16 bytes of shared memory.")]
        /// - Alignment: there it is aligned to 16 bytes.
        #[inline(always)]
        pub unsafe fn $name<T>(row: *mut T, registers: [u32; $count]) {
            require::<90>();
            // SAFETY: the caller's contract.
            unsafe { nvvm::$name(row.cast(), $(registers[$i]),*) }
        }
    };
}

matrices! {
    ldmatrix_x1 ldmatrix_x1_trans stmatrix_x1 stmatrix_x1_trans: 1 "one matrix" 8 [0];
    ldmatrix_x2 ldmatrix_x2_trans stmatrix_x2 stmatrix_x2_trans: 2 "two matrices" 16 [0 1];
    ldmatrix_x4 ldmatrix_x4_trans stmatrix_x4 stmatrix_x4_trans: 4 "four matrices" 32 [0 1 2 3];
}
