//! Short vectors that a thread loads and stores with one instruction.
//!
//! Reading `*pointer` where `pointer: *const F32x4` is one `ld.global.v4.b32`, in shared memory one
//! `ld.shared.v4.b32`, and the same holds for slices, for writes and for [`load`] and [`store`]. A
//! `#[repr(C, align(16))]` struct of four floats does not promise that: LLVM copies such a struct
//! with `memcpy`, which becomes two 8-byte accesses, or a detour through local memory.
//!
//! The elements of a vector of two or four are the fields `x`, `y`, `z`, `w`; a vector derefs to its
//! fields or, with more elements, to an array. Vectors add, subtract, multiply and divide element by
//! element. Beyond rust-cuda.
//!
//! Source: PTX ISA, "Vectors" and "ld"; CUDA C++ Programming Guide, "Built-in Vector Types".
//!
//! ```no_run
//! use cuda_std::vector::F32x4;
//! # unsafe fn scale(x: *const F32x4, z: *mut F32x4) { unsafe {
//! let four = *x;
//! *z = four + four;
//! # }}
//! ```

use core::fmt;
use core::ops::{Add, AddAssign, Deref, DerefMut, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};

/// The fields of a vector of two elements.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Xy<T> {
    /// The first element.
    pub x: T,
    /// The second element.
    pub y: T,
}

/// The fields of a vector of four elements.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Xyzw<T> {
    /// The first element.
    pub x: T,
    /// The second element.
    pub y: T,
    /// The third element.
    pub z: T,
    /// The fourth element.
    pub w: T,
}

macro_rules! vector {
    (
        $(#[$documentation:meta])*
        $name:ident($element:ty; $count:literal, align $alignment:literal)
        derefs to $fields:ty, new($($argument:ident),*)
    ) => {
        $(#[$documentation])*
        #[derive(Clone, Copy)]
        #[cfg_attr(target_arch = "nvptx64", repr(simd))]
        #[cfg_attr(not(target_arch = "nvptx64"), repr(C, align($alignment)))]
        pub struct $name([$element; $count]);

        const _: () = {
            assert!(size_of::<$name>() == $alignment);
            assert!(align_of::<$name>() == $alignment);
            assert!(size_of::<$fields>() == $alignment);
        };

        impl $name {
            /// The number of elements.
            pub const LANES: usize = $count;

            /// A vector of the given elements.
            #[inline(always)]
            #[must_use]
            #[allow(clippy::too_many_arguments)]
            pub const fn new($($argument: $element),*) -> Self {
                Self([$($argument),*])
            }

            /// A vector with the same value in every element.
            #[inline(always)]
            #[must_use]
            pub const fn splat(value: $element) -> Self {
                Self([value; $count])
            }

            /// A vector of the elements of an array.
            #[inline(always)]
            #[must_use]
            pub const fn from_array(array: [$element; $count]) -> Self {
                Self(array)
            }

            /// The elements.
            #[inline(always)]
            #[must_use]
            pub const fn to_array(self) -> [$element; $count] {
                // SAFETY: both types are the same elements in the same order, without padding.
                unsafe { core::mem::transmute(self) }
            }

            /// The vector of `function` of each element.
            #[inline(always)]
            #[must_use]
            pub fn map(self, function: impl FnMut($element) -> $element) -> Self {
                Self(self.to_array().map(function))
            }
        }

        impl Deref for $name {
            type Target = $fields;

            #[inline(always)]
            fn deref(&self) -> &$fields {
                // SAFETY: the target has the same elements in the same order, and its alignment is
                // at most that of the vector.
                unsafe { &*(&raw const *self).cast() }
            }
        }

        impl DerefMut for $name {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut $fields {
                // SAFETY: as in `deref`; every bit pattern of the elements is valid.
                unsafe { &mut *(&raw mut *self).cast() }
            }
        }

        impl Default for $name {
            #[inline(always)]
            fn default() -> Self {
                Self([<$element>::default(); $count])
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut tuple = formatter.debug_tuple(stringify!($name));
                for element in self.to_array() {
                    tuple.field(&element);
                }
                tuple.finish()
            }
        }

        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_array() == other.to_array()
            }
        }

        impl From<[$element; $count]> for $name {
            #[inline(always)]
            fn from(array: [$element; $count]) -> Self {
                Self(array)
            }
        }

        impl From<$name> for [$element; $count] {
            #[inline(always)]
            fn from(vector: $name) -> Self {
                vector.to_array()
            }
        }

        impl sealed::Sealed for $name {}
        impl Vector for $name {}

        // SAFETY: zero is a valid value of every element, and there is no padding.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl bytemuck::Zeroable for $name {}
        // SAFETY: the elements are plain data, and there is no padding.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl bytemuck::Pod for $name {}

        elementwise!($name($element; $count): Add add AddAssign add_assign +, Sub sub SubAssign sub_assign -,
            Mul mul MulAssign mul_assign *, Div div DivAssign div_assign /);

        impl Mul<$element> for $name {
            type Output = Self;

            #[inline(always)]
            fn mul(self, factor: $element) -> Self {
                self * Self::splat(factor)
            }
        }
    };
}

/// Implements operators element by element.
macro_rules! elementwise {
    (
        $name:ident($element:ty; $count:literal):
        $($operator:ident $method:ident $assign:ident $assign_method:ident $symbol:tt),*
    ) => {
        $(
            impl $operator for $name {
                type Output = Self;

                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    let (left, right) = (self.to_array(), other.to_array());
                    Self(core::array::from_fn(|index| left[index] $symbol right[index]))
                }
            }

            impl $assign for $name {
                #[inline(always)]
                fn $assign_method(&mut self, other: Self) {
                    *self = *self $symbol other;
                }
            }
        )*
    };
}

/// Declares each of a list of vector types.
macro_rules! vectors {
    ($($(#[$documentation:meta])* $name:ident $elements:tt derefs to $fields:ty, new $arguments:tt)*) => {
        $(vector! { $(#[$documentation])* $name $elements derefs to $fields, new $arguments })*
    };
}

vectors! {
    /// Two `f32`: 8 bytes, CUDA's `float2`.
    F32x2(f32; 2, align 8) derefs to Xy<f32>, new(x, y)
    /// Four `f32`: 16 bytes, CUDA's `float4`.
    F32x4(f32; 4, align 16) derefs to Xyzw<f32>, new(x, y, z, w)
    /// Two `f64`: 16 bytes, CUDA's `double2`.
    F64x2(f64; 2, align 16) derefs to Xy<f64>, new(x, y)
    /// Two `u32`: 8 bytes, CUDA's `uint2`.
    U32x2(u32; 2, align 8) derefs to Xy<u32>, new(x, y)
    /// Four `u32`: 16 bytes, CUDA's `uint4`.
    U32x4(u32; 4, align 16) derefs to Xyzw<u32>, new(x, y, z, w)
    /// Two `i32`: 8 bytes, CUDA's `int2`.
    I32x2(i32; 2, align 8) derefs to Xy<i32>, new(x, y)
    /// Four `i32`: 16 bytes, CUDA's `int4`.
    I32x4(i32; 4, align 16) derefs to Xyzw<i32>, new(x, y, z, w)
    /// Two `u64`: 16 bytes, CUDA's `ulonglong2`.
    U64x2(u64; 2, align 16) derefs to Xy<u64>, new(x, y)
    /// Two `i64`: 16 bytes, CUDA's `longlong2`.
    I64x2(i64; 2, align 16) derefs to Xy<i64>, new(x, y)
    /// Four `u16`: 8 bytes, CUDA's `ushort4`.
    U16x4(u16; 4, align 8) derefs to Xyzw<u16>, new(x, y, z, w)
    /// Eight `u16`: 16 bytes; also the bits of eight `f16` or `bf16`.
    U16x8(u16; 8, align 16) derefs to [u16; 8], new(a, b, c, d, e, f, g, h)
    /// Four `u8`: 4 bytes, CUDA's `uchar4`.
    U8x4(u8; 4, align 4) derefs to Xyzw<u8>, new(x, y, z, w)
    /// Eight `u8`: 8 bytes.
    U8x8(u8; 8, align 8) derefs to [u8; 8], new(a, b, c, d, e, f, g, h)
    /// Sixteen `u8`: 16 bytes.
    U8x16(u8; 16, align 16) derefs to [u8; 16], new(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
}

mod sealed {
    pub trait Sealed {}
}

/// The vector types of this module.
pub trait Vector: sealed::Sealed + Copy {}

/// Loads a vector from its first element, with one instruction.
/// PTX: `ld.v2` or `ld.v4` in the state space that the pointer comes from.
///
/// # Safety
/// - `source` must be valid for reading a `V` and aligned to the size of `V`.
#[inline(always)]
#[must_use]
pub unsafe fn load<V: Vector + Deref, E>(source: *const E) -> V {
    // SAFETY: the caller's contract.
    unsafe { source.cast::<V>().read() }
}

/// Stores a vector to where its first element goes, with one instruction.
/// PTX: `st.v2` or `st.v4` in the state space that the pointer comes from.
///
/// # Safety
/// - `target` must be valid for writing a `V` and aligned to the size of `V`.
#[inline(always)]
pub unsafe fn store<V: Vector, E>(target: *mut E, value: V) {
    // SAFETY: the caller's contract.
    unsafe { target.cast::<V>().write(value) }
}
