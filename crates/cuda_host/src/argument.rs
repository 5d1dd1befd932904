//! What may be passed to a kernel: its signature decides, when the program is compiled.

use crate::view::{DevicePtr, DevicePtrMut};
use cuda_std::kernel::ByValue;
use cuda_std::safe::{PerBlock, PerThread, Plane, PlanePerThread, TransposedPlanePerThread};
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
    pub fn push<T: ByValue>(&mut self, value: &T) {
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

    /// Where each argument lies.
    pub(crate) fn pointers(&mut self) -> Vec<*mut c_void> {
        let first = self.slots.as_mut_ptr();
        self.starts.iter().map(|start| first.wrapping_add(*start).cast()).collect()
    }
}

/// What may be passed for a kernel parameter of type `P`.
///
/// Values are passed as themselves: scalars, arrays of them, and any type of yours that is [`ByValue`]. Device memory is
/// passed as a reference to cust's buffers and slices, as a [`DevicePtr`] or as a [`DevicePointer`].
///
/// # Safety
/// `append` must append exactly the values of `P`'s parameters in the PTX entry: one for a value or a pointer, a pointer
/// and a length for a slice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel that takes `{P}`",
    label = "not an argument for `{P}`",
    note = "a kernel's `*const T` and `&[T]` take `&DeviceBuffer<T>`, its `*mut T` and `PerThread<T>` take `&mut DeviceBuffer<T>`, a value takes a value of the same type; a structure of yours needs `#[derive(Argument)]`"
)]
pub unsafe trait Argument<P> {
    /// How many dimensions a launch may have that passes this.
    const MOST_DIMENSIONS: usize = 3;

    /// Appends the value.
    fn append(&self, list: &mut ArgumentList);

    /// The elements of a slice.
    fn length(&self) -> Option<usize> {
        None
    }

    /// What is wrong with the value by itself, if anything.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// An argument that may be passed without `unsafe`: it borrows memory that is there, or is a value.
///
/// # Safety
/// What the kernel may access through the parameter is valid, and is not accessed by others, while the argument is borrowed.
pub unsafe trait SafeArgument<P>: Argument<P> {}

// SAFETY: a value gives access to nothing.
unsafe impl<T: ByValue> SafeArgument<T> for T {}

// SAFETY: the value's own bytes, whose layout is that of the device by the contract of `ByValue`.
unsafe impl<T: ByValue> Argument<T> for T {
    fn append(&self, list: &mut ArgumentList) {
        list.push(self);
    }
}

// SAFETY: a pointer to the elements.
unsafe impl<T> Argument<*const T> for DevicePtr<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address());
    }
}

// SAFETY: a pointer to the elements and their number.
unsafe impl<T> Argument<&'static [T]> for DevicePtr<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address());
        list.push(&(self.len() as u64));
    }

    fn length(&self) -> Option<usize> {
        Some(self.len())
    }
}

// SAFETY: a pointer to the elements.
unsafe impl<T> Argument<*mut T> for DevicePtrMut<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address());
    }
}

// SAFETY: a pointer to the elements, which the kernel only reads.
unsafe impl<T> Argument<*const T> for DevicePtrMut<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address());
    }
}

// SAFETY: a pointer to the elements and their number.
unsafe impl<T> Argument<&'static mut [T]> for DevicePtrMut<'_, T> {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.address());
        list.push(&(self.len() as u64));
    }
}

/// The address of memory of which threads write their own elements: one that is not null, also when there are none.
fn own_address<T>(address: u64, len: usize) -> u64 {
    if len == 0 { align_of::<T>() as u64 } else { address }
}

/// What a thread or a block may write its own element of.
macro_rules! own_elements {
    ($($own:ident)*) => {$(
        // SAFETY: a pointer to the elements and their number.
        unsafe impl<T> Argument<$own<T>> for DevicePtrMut<'_, T> {
            const MOST_DIMENSIONS: usize = 1;

            fn append(&self, list: &mut ArgumentList) {
                list.push(&own_address::<T>(self.address(), self.len()));
                list.push(&(self.len() as u64));
            }

            fn length(&self) -> Option<usize> {
                Some(self.len())
            }
        }
    )*};
}
own_elements!(PerThread PerBlock);

/// Why a plane and its memory do not fit.
fn plane_fault([width, height]: [u32; 2], len: usize) -> Option<String> {
    let elements = width as usize * height as usize;
    (elements != len).then(|| {
        format!("is a plane of {width} x {height} = {elements} elements, but its memory has {len}")
    })
}

// SAFETY: a pointer to the elements, and how many there are in a row and how many rows: as many as the memory has, or the
// launch is refused.
unsafe impl<T> Argument<Plane<T>> for (DevicePtr<'_, T>, [u32; 2]) {
    fn append(&self, list: &mut ArgumentList) {
        list.push(&self.0.address());
        list.push(&self.1);
    }

    fn fault(&self) -> Option<String> {
        plane_fault(self.1, self.0.len())
    }
}

/// Planes of which a thread may write its own element.
macro_rules! own_planes {
    ($($plane:ident)*) => {$(
        // SAFETY: as for `Plane`.
        unsafe impl<T, const ROWS: u32> Argument<$plane<T, ROWS>> for (DevicePtrMut<'_, T>, [u32; 2]) {
            const MOST_DIMENSIONS: usize = 2;

            fn append(&self, list: &mut ArgumentList) {
                list.push(&own_address::<T>(self.0.address(), self.0.len()));
                list.push(&self.1);
            }

            fn fault(&self) -> Option<String> {
                plane_fault(self.1, self.0.len())
            }
        }

        // SAFETY: as for the view; the buffer is borrowed for writing.
        unsafe impl<T: DeviceCopy, const ROWS: u32> Argument<$plane<T, ROWS>> for (&mut DeviceBuffer<T>, [u32; 2]) {
            const MOST_DIMENSIONS: usize = 2;

            fn append(&self, list: &mut ArgumentList) {
                list.push(&own_address::<T>(self.0.as_device_ptr().as_raw(), self.0.len()));
                list.push(&self.1);
            }

            fn fault(&self) -> Option<String> {
                plane_fault(self.1, self.0.len())
            }
        }

        // SAFETY: the buffer is borrowed for writing.
        unsafe impl<T: DeviceCopy, const ROWS: u32> SafeArgument<$plane<T, ROWS>> for (&mut DeviceBuffer<T>, [u32; 2]) {}
    )*};
}
own_planes!(PlanePerThread TransposedPlanePerThread);

// SAFETY: as for the view.
unsafe impl<T: DeviceCopy> Argument<Plane<T>> for (&DeviceBuffer<T>, [u32; 2]) {
    fn append(&self, list: &mut ArgumentList) {
        Argument::<Plane<T>>::append(&(DevicePtr::from(self.0), self.1), list);
    }

    fn fault(&self) -> Option<String> {
        plane_fault(self.1, self.0.len())
    }
}

// SAFETY: the buffer is borrowed.
unsafe impl<T: DeviceCopy> SafeArgument<Plane<T>> for (&DeviceBuffer<T>, [u32; 2]) {}

/// Memory that is borrowed for writing, of which a thread or a block may write its own element.
macro_rules! own_elements_of {
    ($memory:ident: $($own:ident)*) => {$(
        // SAFETY: as for the view.
        unsafe impl<T: DeviceCopy> Argument<$own<T>> for &mut $memory<T> {
            const MOST_DIMENSIONS: usize = 1;

            fn append(&self, list: &mut ArgumentList) {
                list.push(&own_address::<T>(self.as_device_ptr().as_raw(), self.len()));
                list.push(&(self.len() as u64));
            }

            fn length(&self) -> Option<usize> {
                Some(self.len())
            }
        }

        // SAFETY: the memory is borrowed for writing.
        unsafe impl<T: DeviceCopy> SafeArgument<$own<T>> for &mut $memory<T> {}
    )*};
}

/// cust's owners of device memory are passed as views of it.
macro_rules! memory {
    ($($memory:ident)*) => {$(
        // SAFETY: as for the view.
        unsafe impl<T: DeviceCopy> Argument<*const T> for &$memory<T> {
            fn append(&self, list: &mut ArgumentList) {
                Argument::<*const T>::append(&DevicePtr::from(*self), list);
            }
        }

        // SAFETY: as for the view.
        unsafe impl<T: DeviceCopy> Argument<&'static [T]> for &$memory<T> {
            fn append(&self, list: &mut ArgumentList) {
                Argument::<&'static [T]>::append(&DevicePtr::from(*self), list);
            }

            fn length(&self) -> Option<usize> {
                Some(self.len())
            }
        }

        // SAFETY: the memory is borrowed.
        unsafe impl<T: DeviceCopy> SafeArgument<&'static [T]> for &$memory<T> {}

        own_elements_of!($memory: PerThread PerBlock);

        // SAFETY: a pointer to the elements, borrowed for writing.
        unsafe impl<T: DeviceCopy> Argument<*mut T> for &mut $memory<T> {
            fn append(&self, list: &mut ArgumentList) {
                list.push(&self.as_device_ptr().as_raw());
            }
        }

        // SAFETY: a pointer to the elements, borrowed for writing, and their number.
        unsafe impl<T: DeviceCopy> Argument<&'static mut [T]> for &mut $memory<T> {
            fn append(&self, list: &mut ArgumentList) {
                list.push(&self.as_device_ptr().as_raw());
                list.push(&(self.len() as u64));
            }
        }
    )*};
}
memory!(DeviceBuffer DeviceSlice);

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

/// cust's buffers cannot hold the floats of `half`, but their bits.
macro_rules! halves {
    ($($half:ty)*) => {$(
        // SAFETY: the bits of a float are a float.
        unsafe impl Argument<*const $half> for &DeviceBuffer<u16> {
            fn append(&self, list: &mut ArgumentList) {
                Argument::<*const u16>::append(self, list);
            }
        }

        // SAFETY: the bits of a float are a float.
        unsafe impl Argument<*mut $half> for &mut DeviceBuffer<u16> {
            fn append(&self, list: &mut ArgumentList) {
                Argument::<*mut u16>::append(self, list);
            }
        }

        // SAFETY: the bits of a float are a float.
        unsafe impl Argument<&'static [$half]> for &DeviceBuffer<u16> {
            fn append(&self, list: &mut ArgumentList) {
                Argument::<&'static [u16]>::append(self, list);
            }

            fn length(&self) -> Option<usize> {
                Some(self.len())
            }
        }

        // SAFETY: the buffer is borrowed.
        unsafe impl SafeArgument<&'static [$half]> for &DeviceBuffer<u16> {}

        // SAFETY: the bits of a float are a float.
        unsafe impl Argument<PerThread<$half>> for &mut DeviceBuffer<u16> {
            const MOST_DIMENSIONS: usize = 1;

            fn append(&self, list: &mut ArgumentList) {
                Argument::<PerThread<u16>>::append(self, list);
            }

            fn length(&self) -> Option<usize> {
                Some(self.len())
            }
        }

        // SAFETY: the buffer is borrowed for writing.
        unsafe impl SafeArgument<PerThread<$half>> for &mut DeviceBuffer<u16> {}
    )*};
}
halves!(cuda_std::f16 cuda_std::bf16);

/// A tuple that fits the parameters of a kernel with signature `F`.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters",
    label = "the kernel is a `{F}`",
    note = "the arguments are `{Self}`: one for each parameter, in a tuple (`(a,)` if there is one)"
)]
pub trait Arguments<F> {
    /// How many dimensions a launch may have that passes them.
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
/// Each value is a [`SafeArgument`], and [`Arguments`] says the truth of them.
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

    /// What a user shares with a kernel: 4 bytes, 4 of padding, 8 bytes.
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
