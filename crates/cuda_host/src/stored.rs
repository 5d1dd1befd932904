//! The form of a host value in a buffer: the value itself, or a 16-bit float in a type that buffers take.

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use cuda_std::{bf16, f16};
use cust::memory::DeviceCopy;

/// A 16-bit float as buffers hold it: `f16` and `bf16` themselves are not cust's `DeviceCopy`.
///
/// [`Gpu::upload`](crate::Gpu::upload) makes it of floats, and [`Gpu::download`](crate::Gpu::download) makes floats of it.
/// A `DeviceBuffer<Half<f16>>` fits where a kernel has `&[f16]` or `PerThread<f16>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Half<T>(pub T);

/// A value in a buffer, with its type on the host.
pub trait Stored: DeviceCopy + NoUninit + AnyBitPattern {
    /// Its type on the host.
    type Value: Copy;

    /// Gives the value.
    fn value(self) -> Self::Value;

    /// Gives values of the host as what a buffer holds, such as for the copies of a scope.
    fn of(values: &[Self::Value]) -> &[Self];

    /// Gives values of the host as what a buffer holds, to be overwritten.
    fn of_mut(values: &mut [Self::Value]) -> &mut [Self];
}

/// A value of the host that a buffer holds as `T`.
pub trait StoredAs<T>: Copy {
    /// Gives values as what a buffer holds.
    fn stored(values: &[Self]) -> &[T];
}

impl<T: Pod + DeviceCopy> Stored for T {
    type Value = T;

    fn value(self) -> T {
        self
    }

    fn of(values: &[T]) -> &[T] {
        values
    }

    fn of_mut(values: &mut [T]) -> &mut [T] {
        values
    }
}

impl<T: Pod + DeviceCopy> StoredAs<T> for T {
    fn stored(values: &[T]) -> &[T] {
        values
    }
}

macro_rules! halves {
    ($($float:ident),*) => {$(
        // SAFETY: 16 bits that mean the same everywhere.
        unsafe impl DeviceCopy for Half<$float> {}

        // SAFETY: zero bits are the float 0.
        unsafe impl Zeroable for Half<$float> {}

        // SAFETY: any 16 bits are a float.
        unsafe impl AnyBitPattern for Half<$float> {}

        // SAFETY: transparent, of a float whose 16 bits are all in use.
        unsafe impl NoUninit for Half<$float> {}

        impl Stored for Half<$float> {
            type Value = $float;

            fn value(self) -> $float {
                self.0
            }

            fn of(values: &[$float]) -> &[Half<$float>] {
                // SAFETY: `Half` is transparent, so that the slice has the same elements, borrowed as before.
                unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
            }

            fn of_mut(values: &mut [$float]) -> &mut [Half<$float>] {
                // SAFETY: as for `of`, and any element of the one is one of the other.
                unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
            }
        }

        impl StoredAs<Half<$float>> for $float {
            fn stored(values: &[$float]) -> &[Half<$float>] {
                Stored::of(values)
            }
        }
    )*};
}
halves!(f16, bf16);
