//! Arrays in device memory as launches see them: an address, a length and an element type.

use cust::memory::{DeviceBuffer, DeviceCopy, DeviceSlice};
use std::marker::PhantomData;

/// A read-only view of `len` elements in device memory.
#[derive(Clone, Copy, Debug)]
pub struct DevicePtr<'a, T> {
    address: u64,
    len: usize,
    array: PhantomData<&'a T>,
}

/// A view of `len` elements in device memory that a kernel may write.
#[derive(Clone, Copy, Debug)]
pub struct DevicePtrMut<'a, T> {
    address: u64,
    len: usize,
    array: PhantomData<&'a T>,
}

macro_rules! views {
    ($($view:ident)*) => {$(
        impl<T> $view<'_, T> {
            /// A view of device memory by its address. Nothing is accessed before a launch, whose contract then covers
            /// the address, the length and what else uses the memory.
            pub fn from_raw(address: u64, len: usize) -> Self {
                Self { address, len, array: PhantomData }
            }

            /// The device address of the first element.
            pub fn address(&self) -> u64 {
                self.address
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                self.len
            }

            /// Whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }
        }
    )*};
}
views!(DevicePtr DevicePtrMut);

impl<'a, T: DeviceCopy> From<&'a DeviceSlice<T>> for DevicePtr<'a, T> {
    fn from(slice: &'a DeviceSlice<T>) -> Self {
        DevicePtr::from_raw(slice.as_device_ptr().as_raw(), slice.len())
    }
}

impl<'a, T: DeviceCopy> From<&'a mut DeviceSlice<T>> for DevicePtrMut<'a, T> {
    fn from(slice: &'a mut DeviceSlice<T>) -> Self {
        DevicePtrMut::from_raw(slice.as_device_ptr().as_raw(), slice.len())
    }
}

impl<'a, T: DeviceCopy> From<&'a DeviceBuffer<T>> for DevicePtr<'a, T> {
    fn from(buffer: &'a DeviceBuffer<T>) -> Self {
        let slice: &DeviceSlice<T> = buffer;
        slice.into()
    }
}

impl<'a, T: DeviceCopy> From<&'a mut DeviceBuffer<T>> for DevicePtrMut<'a, T> {
    fn from(buffer: &'a mut DeviceBuffer<T>) -> Self {
        let slice: &mut DeviceSlice<T> = buffer;
        slice.into()
    }
}
