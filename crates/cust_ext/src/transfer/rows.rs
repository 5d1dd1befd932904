//! Copies of rows that lie further apart than they are wide.

use crate::error::{Result, argument, call};
use bytemuck::{AnyBitPattern, NoUninit};
use cust::memory::{DeviceCopy, DeviceSlice};
use cust::stream::Stream;
use std::ffi::c_void;

/// Rows of values in one array: `width` values each, their beginnings `pitch` values apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// Values per row.
    pub width: usize,
    /// Values from the beginning of a row to that of the next.
    pub pitch: usize,
}

/// Copies `count` rows of host values to rows of equal width on the device in one call.
///
/// # Errors
/// Rows of different widths, wider than their pitch, or beyond the end of an array; or the driver's.
///
/// # Safety
/// - The source stays allocated and unchanged, and the target allocated, until the stream has reached this copy.
pub unsafe fn upload_rows<T: NoUninit + DeviceCopy>(
    (source, from): (&[T], Rows),
    (target, to): (&DeviceSlice<T>, Rows),
    count: usize,
    stream: &Stream,
) -> Result<()> {
    let (host, device) = ((source.as_ptr().cast(), source.len(), from), (target, to));
    // SAFETY: by the contract.
    unsafe { copy_rows::<T>(host, device, true, count, stream) }
}

/// Copies `count` rows of values on the device to rows of equal width on the host in one call.
///
/// # Errors
/// As [`upload_rows`].
///
/// # Safety
/// - The source stays allocated and unchanged, and the target allocated and unused, until the stream has reached this
///   copy.
pub unsafe fn download_rows<T: AnyBitPattern + DeviceCopy>(
    (source, from): (&DeviceSlice<T>, Rows),
    (target, to): (&mut [T], Rows),
    count: usize,
    stream: &Stream,
) -> Result<()> {
    let (host, device) =
        ((target.as_mut_ptr().cast_const().cast(), target.len(), to), (source, from));
    // SAFETY: by the contract.
    unsafe { copy_rows::<T>(host, device, false, count, stream) }
}

/// # Safety
/// - As [`upload_rows`] or [`download_rows`].
/// - The host's pointer is that of as many values.
unsafe fn copy_rows<T: DeviceCopy>(
    (host, length, of_host): (*const c_void, usize, Rows),
    (device, of_device): (&DeviceSlice<T>, Rows),
    uploads: bool,
    count: usize,
    stream: &Stream,
) -> Result<()> {
    if count == 0 || of_host.width == 0 {
        return Ok(());
    }
    let size = size_of::<T>();
    let fits = |length: usize, rows: Rows| {
        let values =
            (count - 1).checked_mul(rows.pitch).and_then(|last| last.checked_add(rows.width));
        rows.width <= rows.pitch
            && rows.pitch.checked_mul(size).is_some()
            && values.is_some_and(|values| values <= length)
    };
    if of_host.width != of_device.width || !fits(length, of_host) || !fits(device.len(), of_device)
    {
        return argument(format!(
            "{count} rows, {of_host:?} of {length} values on the host and {of_device:?} of {} on the device: make rows \
             equally wide, at most as wide as their pitch, and inside both arrays",
            device.len()
        ));
    }
    let (on_host, on_device) = (
        cust::sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        cust::sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
    );
    let address = device.as_device_ptr().as_raw();
    let [(from, from_pitch), (to, to_pitch)] = match uploads {
        true => [(on_host, of_host.pitch), (on_device, of_device.pitch)],
        false => [(on_device, of_device.pitch), (on_host, of_host.pitch)],
    };
    // Of each side the address that its kind of memory does not name is ignored.
    let descriptor = cust::sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from,
        srcHost: host,
        srcDevice: address,
        srcArray: std::ptr::null_mut(),
        srcPitch: from_pitch * size,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to,
        dstHost: host.cast_mut(),
        dstDevice: address,
        dstArray: std::ptr::null_mut(),
        dstPitch: to_pitch * size,
        WidthInBytes: of_host.width * size,
        Height: count,
    };
    // SAFETY: every row lies inside its array, as was checked; the caller keeps both until the copy is done.
    unsafe { call!(cuMemcpy2DAsync_v2(&descriptor, stream.as_inner())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::{HostBuffer, HostFlags};
    use cust::memory::DeviceBuffer;

    #[test]
    fn rows_arrive_and_leave_what_lies_between_them() {
        let _context = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let source = HostBuffer::from_slice(&[1, 2, 0, 3, 4, 0], HostFlags::PINNED).unwrap();
        let target = DeviceBuffer::from_slice(&[9u32; 7]).unwrap();
        let (from, to) = (Rows { width: 2, pitch: 3 }, Rows { width: 2, pitch: 4 });
        // SAFETY: both buffers live until the stream was waited for, and nobody writes the source.
        unsafe { upload_rows((&source, from), (&target, to), 2, &stream) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(target.as_host_vec().unwrap(), [1, 2, 9, 9, 3, 4, 9]);
        let mut back = HostBuffer::from_slice(&[7_u32; 5], HostFlags::PINNED).unwrap();
        // SAFETY: both buffers live until the stream was waited for, and nobody reads `back` before.
        unsafe { download_rows((&target, to), (&mut back, from), 2, &stream) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(*back, [1, 2, 7, 3, 4]);
        let wide = Rows { width: 2, pitch: 6 };
        // SAFETY: nothing is copied.
        assert!(unsafe { upload_rows((&source, from), (&target, wide), 2, &stream) }.is_err());
        // Rows whose places, or their bytes, are more than a number can hold.
        for (pitch, count) in [(1 << 63, 3), (usize::MAX, 2), (1 << 62, 1)] {
            let beyond = Rows { width: 2, pitch };
            // SAFETY: nothing is copied.
            let copied =
                unsafe { upload_rows((&source, beyond), (&target, beyond), count, &stream) };
            let message = copied.expect_err("the rows end beyond both arrays").to_string();
            assert!(message.contains("inside both arrays"), "{message}");
        }
    }
}
