//! A static that the host writes between launches, and that kernels read.

use crate::kernel::ByValue;
use core::cell::UnsafeCell;

/// A value that the host writes before a launch, and that all threads read: the type of a static in constant or global
/// memory.
///
/// ```
/// # use cuda_std::prelude::*;
/// # use cuda_std::safe::{Constant, PerThread};
/// #[address_space(constant)]
/// pub static WEIGHTS: Constant<[f32; 4]> = Constant::new([0.0; 4]);
///
/// #[kernel(block = 256, same_length(x, out))]
/// pub fn weighted(x: &[f32], mut out: PerThread<f32>) {
///     let i = out.index();
///     if let Some(out) = out.mine() {
///         *out = x[i] * WEIGHTS.at(i % 4);
///     }
/// }
/// ```
///
/// The host writes it with `launcher.write::<WEIGHTS>(&[1.0, 2.0, 3.0, 4.0])`, by the type of the same name.
#[repr(transparent)]
pub struct Constant<T>(UnsafeCell<T>);

// SAFETY: a kernel only reads it, and the host writes it while no kernel of the stream runs.
unsafe impl<T: ByValue> Sync for Constant<T> {}

impl<T: ByValue> Constant<T> {
    /// The value until the host writes another one.
    pub const fn new(value: T) -> Constant<T> {
        Constant(UnsafeCell::new(value))
    }

    /// The value.
    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: nobody writes it while a kernel runs.
        unsafe { *self.0.get() }
    }
}

impl<T: ByValue, const N: usize> Constant<[T; N]> {
    /// The element at `index`.
    ///
    /// # Panics
    /// When there is no such element.
    #[inline(always)]
    pub fn at(&self, index: usize) -> T {
        assert!(index < N, "a constant array has no such element");
        // SAFETY: the index is below the length, and nobody writes the array while a kernel runs.
        unsafe { *self.0.get().cast::<T>().add(index) }
    }
}

/// The type of a static that the host may write.
///
/// # Safety
/// - Any bytes of `Value` are a value of the static.
#[diagnostic::on_unimplemented(
    message = "the host cannot write a `{Self}`",
    note = "a static that the host writes is a `static mut`, or a `cuda_std::safe::Constant<T>`"
)]
pub unsafe trait HostWritten {
    /// The type that the host writes.
    type Value: 'static;
}

// SAFETY: transparent, and any bytes are a value of a `ByValue` type.
unsafe impl<T: ByValue> HostWritten for Constant<T> {
    type Value = T;
}
