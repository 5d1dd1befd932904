//! What may be passed to a kernel: its signature decides, when the program is compiled.

use crate::view::{DevicePtr, DevicePtrMut};
use cuda_std::kernel::ByValue;
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
pub unsafe trait Argument<P> {
    /// Appends the value.
    fn append(&self, list: &mut ArgumentList);
}

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
        }

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

/// A tuple that fits the parameters of a kernel with signature `F`.
pub trait Arguments<F> {
    /// The values in order.
    fn list(&self) -> ArgumentList;
}

macro_rules! tuples {
    ($($argument:ident $parameter:ident $index:tt),*) => {
        impl<$($argument, $parameter,)*> Arguments<fn($($parameter),*)> for ($($argument,)*)
        where $($argument: Argument<$parameter>,)*
        {
            fn list(&self) -> ArgumentList {
                #[allow(unused_mut)]
                let mut list = ArgumentList::default();
                $(self.$index.append(&mut list);)*
                list
            }
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
