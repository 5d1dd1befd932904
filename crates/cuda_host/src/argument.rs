//! Arguments of a kernel: its signature decides, when the program is compiled.

use crate::stored::Half;
use crate::view::{DevicePtr, DevicePtrMut, Part, PartMut};
use core::sync::atomic;
use cuda_std::kernel::Parameter;
use cuda_std::safe::{PerBlock, PerThread, Plane, PlanePerThread, TransposedPlanePerThread};
use cuda_std::{bf16, f16};
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer, DeviceSlice};
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// The arguments of a launch as the driver takes them: each in as many 8-byte slots as it needs.
#[derive(Default)]
pub struct ArgumentList {
    /// Some bytes of a slot may be padding of a structure, which nobody reads.
    slots: Vec<MaybeUninit<u64>>,
    /// The first slot of each argument.
    starts: Vec<usize>,
}

impl ArgumentList {
    /// Appends a value: its bytes as they lie in memory.
    pub fn push<T: Parameter>(&mut self, value: &T) {
        const {
            assert!(size_of::<T>() > 0, "a value without bytes is no parameter");
        }
        let start = self.slots.len();
        self.starts.push(start);
        self.slots.resize(start + size_of::<T>().div_ceil(8), MaybeUninit::zeroed());
        // SAFETY: the slots from `start` on have at least the size of T; the new slots are not `value`. The driver copies
        // the bytes, so that they need no alignment here.
        unsafe { self.slots[start..].as_mut_ptr().cast::<T>().write_unaligned(*value) };
    }

    /// Returns how many parameters of the entry the values are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn pointers(&mut self) -> Vec<*mut c_void> {
        let first = self.slots.as_mut_ptr();
        self.starts.iter().map(|start| first.wrapping_add(*start).cast()).collect()
    }
}

/// A value that may be passed for a kernel parameter of type `P`.
///
/// Values are passed as themselves: scalars, arrays of them, and any type of yours that is [`ByValue`](cuda_std::kernel::ByValue). Device memory is
/// passed as a reference to cust's buffers, as a [`Part`](crate::Part) of one, as a [`DevicePtr`](crate::DevicePtr) or as a [`DevicePointer`].
///
/// # Safety
/// - `append` must append exactly the values of `P`'s parameters in the PTX entry: one for a value or a pointer, a
///   pointer and a length for a slice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel that takes `{P}`",
    label = "not an argument for `{P}`",
    note = "a kernel's `*const T` and `&[T]` take `&DeviceBuffer<T>`, its `*mut T` and `PerThread<T>` take `&mut DeviceBuffer<T>`, a value takes a value of the same type; a structure of yours needs `#[derive(Argument)]`"
)]
pub unsafe trait Argument<P> {
    /// The most dimensions of a launch that passes this.
    const MOST_DIMENSIONS: usize = 3;

    /// Appends the value.
    fn append(&self, list: &mut ArgumentList);

    /// The elements of a slice.
    fn length(&self) -> Option<usize> {
        None
    }

    /// Returns what is wrong with the value by itself, if anything.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// An argument that may be passed without `unsafe`: it borrows memory that is there, or is a value.
///
/// A `DeviceSlice` is none: it can be copied, so that what it points to may be freed or written meanwhile.
///
/// # Safety
/// - What the kernel may access through the parameter is valid, and is not accessed by others, while the argument is
///   borrowed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed without `unsafe` to a kernel that takes `{P}`",
    label = "not an argument for `{P}`",
    note = "`&[T]` takes `&DeviceBuffer<T>`, `PerThread<T>` and `&[AtomicU32]` take `&mut DeviceBuffer<T>`, a plane takes `(buffer, [width, height])`, `f16` lies in a `DeviceBuffer<Half<f16>>`, a value takes a value of the same type; of a part of a buffer there is `Parts::part`"
)]
pub unsafe trait SafeArgument<P>: Argument<P> {}

// SAFETY: a value gives access to nothing.
unsafe impl<T: Parameter> SafeArgument<T> for T {}

// SAFETY: the value's own bytes, whose layout is that of the device by the contract of `Parameter`.
unsafe impl<T: Parameter> Argument<T> for T {
    fn append(&self, list: &mut ArgumentList) {
        list.push(self);
    }
}

// SAFETY: a pointer.
unsafe impl<T: DeviceCopy> Argument<*const T> for DevicePointer<T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.as_raw());
    }
}

// SAFETY: a pointer.
unsafe impl<T: DeviceCopy> Argument<*mut T> for DevicePointer<T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.as_raw());
    }
}

// SAFETY: a pointer to the elements, which the kernel only reads.
unsafe impl<T> Argument<*const T> for DevicePtrMut<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address());
    }
}

/// A holder of device memory: its address and number of elements.
trait Memory {
    fn place(&self) -> (u64, usize);
}

/// The address of memory for a reference of the device, which is never null: not that of no elements, nor that of
/// elements without bytes.
fn reference<T>((address, len): (u64, usize)) -> u64 {
    if len == 0 || size_of::<T>() == 0 { align_of::<T>() as u64 } else { address }
}

/// Why a plane and its memory do not fit.
fn plane_fault([width, height]: [u32; 2], len: usize) -> Option<String> {
    let elements = width as usize * height as usize;
    (elements != len).then(|| {
        format!("is a plane of {width} x {height} = {elements} elements, but its memory has {len}")
    })
}

/// Memory as one parameter: a pointer, a pointer and a length, or a pointer and the extent of a plane. `safe` says that
/// the memory is borrowed, for writing where the kernel writes.
macro_rules! argument {
    (pointer [$($generics:tt)*] $memory:ty as $parameter:ty,) => {
        // SAFETY: a pointer to the elements.
        unsafe impl<$($generics)*> Argument<$parameter> for $memory {
            fn append(&self, list: &mut ArgumentList) {
                list.push(&self.place().0);
            }
        }
    };
    (slice of $element:ty, $dimensions:literal, [$($generics:tt)*] $memory:ty as $parameter:ty, $($safe:ident)?) => {
        // SAFETY: a pointer to the elements and their number.
        unsafe impl<$($generics)*> Argument<$parameter> for $memory {
            const MOST_DIMENSIONS: usize = $dimensions;

            fn append(&self, list: &mut ArgumentList) {
                list.push(&reference::<$element>(self.place()));
                list.push(&(self.place().1 as u64));
            }

            fn length(&self) -> Option<usize> {
                Some(self.place().1)
            }
        }
        argument!($($safe)? [$($generics)*] $memory as $parameter);
    };
    (plane of $element:ty, $dimensions:literal, [$($generics:tt)*] $memory:ty as $parameter:ty, $($safe:ident)?) => {
        // SAFETY: a pointer to the elements, and how many there are in a row and how many rows: as many as the memory has,
        // or the launch is refused.
        unsafe impl<$($generics)*> Argument<$parameter> for ($memory, [u32; 2]) {
            const MOST_DIMENSIONS: usize = $dimensions;

            fn append(&self, list: &mut ArgumentList) {
                list.push(&reference::<$element>(self.0.place()));
                list.push(&self.1);
            }

            fn fault(&self) -> Option<String> {
                plane_fault(self.1, self.0.place().1)
            }
        }
        argument!($($safe)? [$($generics)*] ($memory, [u32; 2]) as $parameter);
    };
    (safe [$($generics:tt)*] $memory:ty as $parameter:ty) => {
        // SAFETY: the memory is borrowed, for writing where the kernel writes.
        unsafe impl<$($generics)*> SafeArgument<$parameter> for $memory {}
    };
    ([$($generics:tt)*] $memory:ty as $parameter:ty) => {};
}

/// Implements arguments that a kernel may read.
macro_rules! readable {
    ($([$($generics:tt)*] $memory:ty as $element:ty $(, $safe:ident)?;)*) => {$(
        argument!(pointer [$($generics)*] $memory as *const $element,);
        argument!(slice of $element, 3, [$($generics)*] $memory as &'static [$element], $($safe)?);
        argument!(plane of $element, 3, [$($generics)*] $memory as Plane<'static, $element>, $($safe)?);
    )*};
}
readable! {
    [T: DeviceCopy] &DeviceBuffer<T> as T, safe;
    [T] Part<'_, T> as T, safe;
    [T] PartMut<'_, T> as T, safe;
    [T: DeviceCopy] &DeviceSlice<T> as T;
    [T] DevicePtr<'_, T> as T;
    [] &DeviceBuffer<Half<f16>> as f16, safe;
    [] &DeviceBuffer<Half<bf16>> as bf16, safe;
    [] Part<'_, Half<f16>> as f16, safe;
    [] Part<'_, Half<bf16>> as bf16, safe;
}

/// Implements arguments of which each thread may write its own elements.
macro_rules! writable {
    ($([$($generics:tt)*] $memory:ty as $element:ty $(, $safe:ident)?;)*) => {$(
        argument!(pointer [$($generics)*] $memory as *mut $element,);
        argument!(slice of $element, 3, [$($generics)*] $memory as &'static mut [$element],);
        argument!(slice of $element, 1, [$($generics)*] $memory as PerBlock<'static, $element>, $($safe)?);
        writable!(@each PerThread slice 1 [$($generics)*] $memory, $element, $($safe)?);
        writable!(@each PlanePerThread plane 2 [$($generics)*] $memory, $element, $($safe)?);
        writable!(@each TransposedPlanePerThread plane 2 [$($generics)*] $memory, $element, $($safe)?);
    )*};
    (@each $own:ident $shape:ident $dimensions:literal [] $memory:ty, $element:ty, $($safe:ident)?) => {
        argument!($shape of $element, $dimensions, [const EACH: u32] $memory as $own<'static, $element, EACH>, $($safe)?);
    };
    (@each $own:ident $shape:ident $dimensions:literal [$($generics:tt)*] $memory:ty, $element:ty, $($safe:ident)?) => {
        argument!($shape of $element, $dimensions, [$($generics)*, const EACH: u32] $memory as $own<'static, $element, EACH>, $($safe)?);
    };
}
writable! {
    [T: DeviceCopy] &mut DeviceBuffer<T> as T, safe;
    [T] PartMut<'_, T> as T, safe;
    [T: DeviceCopy] &mut DeviceSlice<T> as T;
    [T] DevicePtrMut<'_, T> as T;
    [] &mut DeviceBuffer<Half<f16>> as f16, safe;
    [] &mut DeviceBuffer<Half<bf16>> as bf16, safe;
    [] PartMut<'_, Half<f16>> as f16, safe;
    [] PartMut<'_, Half<bf16>> as bf16, safe;
}

/// Numbers that all threads may change by atomic operations: the kernel has a shared slice, and the memory is borrowed for
/// writing. An atomic has the layout of its number. Atomics of 8 and 16 bits are none: the device changes the whole word
/// around them, which may belong to others or lie beyond the buffer.
macro_rules! atomics {
    ($($number:ty as $($atomic:ty),*;)*) => {$($(
        argument!(slice of $atomic, 3, [] &mut DeviceBuffer<$number> as &'static [$atomic], safe);
        argument!(slice of $atomic, 3, [] PartMut<'_, $number> as &'static [$atomic], safe);
        argument!(slice of $atomic, 3, [] DevicePtrMut<'_, $number> as &'static [$atomic],);
    )*)*};
}
atomics! {
    u32 as atomic::AtomicU32, cuda_std::atomic::AtomicU32;
    i32 as atomic::AtomicI32, cuda_std::atomic::AtomicI32;
    u64 as atomic::AtomicU64, cuda_std::atomic::AtomicU64;
    i64 as atomic::AtomicI64, cuda_std::atomic::AtomicI64;
    f32 as cuda_std::atomic::AtomicF32;
    f64 as cuda_std::atomic::AtomicF64;
}

/// Views, which know their place, and cust's owners and slices.
macro_rules! memory {
    ($($view:ident)*; $($owner:ident)*) => {
        $(impl<T> Memory for $view<'_, T> {
            fn place(&self) -> (u64, usize) {
                (self.address(), self.len())
            }
        })*
        $(
            impl<T: DeviceCopy> Memory for &$owner<T> {
                fn place(&self) -> (u64, usize) {
                    (self.as_device_ptr().as_raw(), self.len())
                }
            }

            impl<T: DeviceCopy> Memory for &mut $owner<T> {
                fn place(&self) -> (u64, usize) {
                    (self.as_device_ptr().as_raw(), self.len())
                }
            }
        )*
    };
}
memory!(DevicePtr DevicePtrMut Part PartMut; DeviceBuffer DeviceSlice);

/// A tuple that fits the parameters of a kernel with signature `F`.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters",
    label = "the kernel is a `{F}`",
    note = "the arguments are `{Self}`: one for each parameter, in a tuple (`(a,)` if there is one)"
)]
pub trait Arguments<F> {
    /// The most dimensions of a launch that passes them.
    const MOST_DIMENSIONS: usize;

    /// The values in order.
    fn list(&self) -> ArgumentList;

    /// Of each the length, if it is a slice.
    fn lengths(&self) -> Vec<Option<usize>>;

    /// The first that is wrong by itself: its position, and what is wrong.
    fn fault(&self) -> Option<(usize, String)>;
}

/// A tuple of arguments that may all be passed without `unsafe`.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters, or need `unsafe`",
    label = "the kernel is a `{F}`",
    note = "the arguments are `{Self}`; a launch without `unsafe` borrows its memory: `&DeviceBuffer<T>` and `&mut DeviceBuffer<T>`"
)]
///
/// # Safety
/// - Each value is a [`SafeArgument`], and [`Arguments`] says the truth of them.
pub unsafe trait SafeArguments<F>: Arguments<F> {}

macro_rules! tuples {
    ($($argument:ident $parameter:ident $index:tt),*) => {
        impl<$($argument, $parameter,)*> Arguments<fn($($parameter),*)> for ($($argument,)*)
        where $($argument: Argument<$parameter>,)*
        {
            const MOST_DIMENSIONS: usize = {
                #[allow(unused_mut)]
                let mut most = 3;
                $(if <$argument as Argument<$parameter>>::MOST_DIMENSIONS < most {
                    most = <$argument as Argument<$parameter>>::MOST_DIMENSIONS;
                })*
                most
            };

            fn list(&self) -> ArgumentList {
                #[allow(unused_mut)]
                let mut list = ArgumentList::default();
                $(self.$index.append(&mut list);)*
                list
            }

            fn lengths(&self) -> Vec<Option<usize>> {
                vec![$(self.$index.length()),*]
            }

            fn fault(&self) -> Option<(usize, String)> {
                $(if let Some(fault) = self.$index.fault() {
                    return Some(($index, fault));
                })*
                None
            }
        }

        // SAFETY: each is one, and the values of `Arguments` are theirs.
        unsafe impl<$($argument, $parameter,)*> SafeArguments<fn($($parameter),*)> for ($($argument,)*)
        where $($argument: SafeArgument<$parameter>,)*
        {
        }
    };
}
tuples!();
tuples!(A0 P0 0);
tuples!(A0 P0 0, A1 P1 1);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6, A7 P7 7);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6, A7 P7 7, A8 P8 8);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6, A7 P7 7, A8 P8 8, A9 P9 9);

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::kernel::ByValue;

    /// A value that a user shares with a kernel: 4 bytes, 4 of padding, 8 bytes.
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Own {
        count: u32,
        scale: f64,
    }
    // SAFETY: `repr(C)`, and both fields are plain.
    unsafe impl ByValue for Own {}

    #[test]
    fn each_argument_has_its_slots_and_its_pointer() {
        let own = Own { count: 5, scale: 0.5 };
        let mut list =
            Arguments::<fn(u8, [u32; 3], i64, Own)>::list(&(7_u8, [1_u32, 2, 3], -1_i64, own));
        let pointers = list.pointers();
        let first = list.slots.as_mut_ptr();
        let expected: Vec<*mut c_void> =
            [0, 1, 3, 4].map(|slot| first.wrapping_add(slot).cast()).to_vec();
        assert_eq!(pointers, expected);
        // SAFETY: all of these were written as values of these types.
        unsafe {
            assert_eq!(pointers[0].cast::<u8>().read(), 7);
            assert_eq!(pointers[1].cast::<[u32; 3]>().read(), [1, 2, 3]);
            assert_eq!(pointers[2].cast::<i64>().read(), -1);
            let read = pointers[3].cast::<Own>().read();
            assert_eq!((read.count, read.scale), (5, 0.5));
        }
        assert_eq!(list.slots.len(), 6);
    }
}
