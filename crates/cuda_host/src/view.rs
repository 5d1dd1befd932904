//! Arrays in device memory as launches see them: an address, a length and an element type.

use cust::memory::{DeviceBuffer, DeviceCopy, DeviceSlice};
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

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

/// A part of a buffer, borrowed for reading.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a, T> {
    address: u64,
    len: usize,
    buffer: PhantomData<&'a [T]>,
}

/// A part of a buffer, borrowed for writing.
#[derive(Debug)]
pub struct PartMut<'a, T> {
    address: u64,
    len: usize,
    buffer: PhantomData<&'a mut [T]>,
}

/// Parts of a buffer, which launches without `unsafe` take as they take the whole.
///
/// ```
/// # use cuda_host::{Launcher, Parts};
/// # use cuda_std::safe::PerThread;
/// # use cust::memory::DeviceBuffer;
/// # const scale: cuda_std::kernel::SafeKernel<fn(&'static [f32], PerThread<'static, f32>)> = unsafe {
/// #     let kernel = cuda_std::kernel::Kernel::new("scale", (0, 0), (0, 0, 0), 0);
/// #     cuda_std::kernel::SafeKernel::new(kernel, (256, 1, 1), &["x", "z"], &[0, 1])
/// # };
/// # fn f(launcher: &Launcher<'_>, mut both: DeviceBuffer<f32>) -> Result<(), cuda_host::GpuError> {
/// let (x, z) = both.parts_at(1000);
/// launcher.run(scale, 4, (x, z))
/// # }
/// ```
pub trait Parts<T> {
    /// The elements of a range.
    ///
    /// # Panics
    /// When the range goes beyond the buffer.
    fn part(&self, range: impl RangeBounds<usize>) -> Part<'_, T>;

    /// The elements of a range, to be written.
    ///
    /// # Panics
    /// When the range goes beyond the buffer.
    fn part_mut(&mut self, range: impl RangeBounds<usize>) -> PartMut<'_, T>;

    /// The elements before `middle`, and those from it on.
    ///
    /// # Panics
    /// When `middle` lies beyond the buffer.
    fn parts_at(&mut self, middle: usize) -> (PartMut<'_, T>, PartMut<'_, T>);
}

/// The first element of a range and their number.
fn extent(range: impl RangeBounds<usize>, len: usize) -> (usize, usize) {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => len,
    };
    assert!(first <= end && end <= len, "{first}..{end} of a buffer of {len} elements");
    (first, end - first)
}

impl<T: DeviceCopy> Parts<T> for DeviceBuffer<T> {
    fn part(&self, range: impl RangeBounds<usize>) -> Part<'_, T> {
        let (first, len) = extent(range, self.len());
        let address = self.as_device_ptr().as_raw() + (first * size_of::<T>()) as u64;
        Part { address, len, buffer: PhantomData }
    }

    fn part_mut(&mut self, range: impl RangeBounds<usize>) -> PartMut<'_, T> {
        let Part { address, len, .. } = self.part(range);
        PartMut { address, len, buffer: PhantomData }
    }

    fn parts_at(&mut self, middle: usize) -> (PartMut<'_, T>, PartMut<'_, T>) {
        let [before, from] = [self.part(..middle), self.part(middle..)];
        let [before, from] = [before, from].map(|Part { address, len, .. }| (address, len));
        let part = |(address, len)| PartMut { address, len, buffer: PhantomData };
        (part(before), part(from))
    }
}

macro_rules! views {
    ($($view:ident)*; $($part:ident)*; $($all:ident)*) => {
        $(impl<T> $view<'_, T> {
            /// A view of device memory by its address. Nothing is accessed before a launch, whose contract then covers
            /// the address, the length and what else uses the memory.
            pub fn from_raw(address: u64, len: usize) -> Self {
                Self { address, len, array: PhantomData }
            }
        })*

        $(impl<T> $part<'_, T> {
            /// Makes a part of memory that is borrowed in another way than by a reference to its buffer.
            ///
            /// # Safety
            /// - `len` elements lie at `address`.
            /// - Until a launch that takes the part has ended, they stay allocated, and are borrowed as by the part.
            pub(crate) unsafe fn at(address: u64, len: usize) -> Self {
                Self { address, len, buffer: PhantomData }
            }
        })*

        $(impl<T> $all<'_, T> {
            /// The device address of the first element.
            pub fn address(&self) -> u64 {
                self.address
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                self.len
            }

            /// Returns whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }
        })*
    };
}
views!(DevicePtr DevicePtrMut; Part PartMut; DevicePtr DevicePtrMut Part PartMut);

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
