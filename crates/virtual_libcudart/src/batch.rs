//! Batches: several copies or moves by one call.

use crate::context;
use crate::copy::{Box3, Position, bytes, cuboid};
use crate::define::{Result, exports, given, on};
use crate::error::{Error, check};
use crate::memory::{Extent, Pitched};
use crate::version::is_12;
use cuda_driver::api;
use cuda_driver::raw::{CUarray, CUdeviceptr, CUstream};
use cuda_driver::types::{CopyAttributes, MemoryLocation};
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;

/// `cudaMemcpyDefault`.
const ANY_DIRECTION: c_int = 4;

/// A copy of a batch (`cudaMemcpy3DBatchOp`).
#[repr(C)]
pub struct Operation {
    from: Operand,
    to: Operand,
    extent: Extent,
    source_order: c_uint,
    flags: c_uint,
}

/// An end of a copy (`cudaMemcpy3DOperand`).
#[repr(C)]
struct Operand {
    kind: c_uint,
    of: OfKind,
}

/// The content of an operand, as its kind says.
#[repr(C)]
union OfKind {
    linear: Linear,
    array: InArray,
}

/// Rows and slices in memory: their numbers are in elements, and 0 where they are those of the copy.
#[repr(C)]
#[derive(Clone, Copy)]
struct Linear {
    pointer: *mut c_void,
    row: usize,
    height: usize,
    hint: MemoryLocation,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct InArray {
    array: CUarray,
    at: Position,
}

const _: () = assert!(size_of::<Operand>() == 40 && size_of::<Operation>() == 112);

impl Operand {
    /// Returns the end as a description of a box has it: array, place, rows.
    fn end(&self, extent: Extent, element: usize) -> Result<(CUarray, Position, Pitched)> {
        let none = Pitched { pointer: null_mut(), pitch: 0, width: 0, height: 0 };
        match self.kind {
            // SAFETY: the kind says what is there.
            1 => unsafe {
                let Linear { pointer, row, height, .. } = self.of.linear;
                let width = if row == 0 { extent.width } else { row };
                let height = if height == 0 { extent.height } else { height };
                let rows = Pitched { pointer, pitch: width * element, width, height };
                Ok((null_mut(), Position { x: 0, y: 0, z: 0 }, rows))
            },
            // SAFETY: the kind says what is there.
            2 => unsafe { Ok((self.of.array.array, self.of.array.at, none)) },
            _ => Err(Error::INVALID_VALUE),
        }
    }

    /// Returns the bytes of an element, which an array says.
    fn element(&self) -> Result<Option<usize>> {
        if self.kind != 2 {
            return Ok(None);
        }
        // SAFETY: the kind says what is there, and the driver checks the handle.
        unsafe { crate::array::bytes_per_element(self.of.array.array) }.map(Some)
    }
}

unsafe fn boxes(operations: *const Operation, count: usize, stream: CUstream) -> Result {
    context::enter()?;
    for index in 0..count {
        // SAFETY: the caller hands over so many operations.
        let operation = unsafe { given(operations.wrapping_add(index)) }?;
        let element = operation.from.element()?.or(operation.to.element()?).unwrap_or(1);
        let (from_array, from_position, from) = operation.from.end(operation.extent, element)?;
        let (to_array, to_position, to) = operation.to.end(operation.extent, element)?;
        let copy = Box3 {
            from_array,
            from_position,
            from,
            to_array,
            to_position,
            to,
            extent: operation.extent,
            kind: ANY_DIRECTION,
        };
        // SAFETY: the description lives during the call.
        unsafe { cuboid(&raw const copy, Some(stream)) }?;
    }
    Ok(())
}

exports! {
    fn cudaMemcpyBatchAsync(
        to: *mut CUdeviceptr, from: *mut CUdeviceptr, sizes: *mut usize, count: usize, attributes: *mut CopyAttributes,
        firsts: *mut usize, number: usize, failed_or_stream: usize, stream: CUstream
    ) own cudaMemcpyBatchAsync_ptsz {
        context::enter()?;
        // CUDA 13 has no place for the copy that failed: its eighth argument is the stream.
        let (failed, stream) =
            if is_12() { (failed_or_stream as *mut usize, stream) } else { (null_mut(), failed_or_stream as CUstream) };
        let mut unread = 0;
        let failed = if failed.is_null() { &raw mut unread } else { failed };
        check(api::cuMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, number, failed, on(stream)))
    }
    fn cudaMemcpy3DBatchAsync(
        count: usize, operations: *const Operation, failed_or_flags: usize, flags_or_stream: usize, stream: CUstream
    ) own cudaMemcpy3DBatchAsync_ptsz {
        let stream = if is_12() { stream } else { flags_or_stream as CUstream };
        let flags = if is_12() { flags_or_stream } else { failed_or_flags };
        if flags != 0 || count == 0 { return Err(Error::INVALID_VALUE); }
        boxes(operations, count, stream)
    }
    fn cudaMemcpy3DWithAttributesAsync(
        operation: *const Operation, flags: c_ulonglong, stream: CUstream
    ) own cudaMemcpy3DWithAttributesAsync_ptsz {
        if flags != 0 { return Err(Error::INVALID_VALUE); }
        boxes(operation, 1, stream)
    }
    fn cudaMemcpyWithAttributesAsync(
        to: *mut c_void, from: *const c_void, count: usize, attributes: *const CopyAttributes, stream: CUstream
    ) own cudaMemcpyWithAttributesAsync_ptsz {
        given(attributes)?;
        bytes(to, from, count, ANY_DIRECTION, Some(stream))
    }
    fn cudaMemPrefetchBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, locations: *mut MemoryLocation, firsts: *mut usize,
        number: usize, flags: c_ulonglong, stream: CUstream
    ) own cudaMemPrefetchBatchAsync_ptsz {
        context::enter()?;
        check(api::cuMemPrefetchBatchAsync(pointers.cast(), sizes, count, locations, firsts, number, flags, on(stream)))
    }
    fn cudaMemDiscardBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, flags: c_ulonglong, stream: CUstream
    ) own cudaMemDiscardBatchAsync_ptsz {
        context::enter()?;
        check(api::cuMemDiscardBatchAsync(pointers.cast(), sizes, count, flags, on(stream)))
    }
    fn cudaMemDiscardAndPrefetchBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, locations: *mut MemoryLocation, firsts: *mut usize,
        number: usize, flags: c_ulonglong, stream: CUstream
    ) own cudaMemDiscardAndPrefetchBatchAsync_ptsz {
        context::enter()?;
        check(api::cuMemDiscardAndPrefetchBatchAsync(
            pointers.cast(), sizes, count, locations, firsts, number, flags, on(stream)
        ))
    }
}
