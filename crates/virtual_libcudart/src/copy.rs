use crate::array::bytes_per_element;
use crate::context;
use crate::define::{Result, exports, given, in_order, is_own, on, per_thread};
use crate::error::{Error, because, check};
use crate::memory::{Extent, Pitched, address, check_pitch};
use crate::registration::variable;
use cuda_driver::raw::{CUDA_MEMCPY3D, CUarray, CUmemorytype, CUstream};
use cuda_driver::{ReturnCode, api};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// The directions (`cudaMemcpyKind`).
const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const DEFAULT: c_int = 4;

/// Stream of a copy; without one the copy is done before the call returns.
type Order = Option<CUstream>;

/// Copies bytes.
///
/// # Safety
/// - The pointers are valid for the copy.
pub unsafe fn bytes(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    order: Order,
) -> Result {
    if !(HOST_TO_HOST..=DEFAULT).contains(&kind) {
        return Err(Error::INVALID_DIRECTION);
    }
    context::enter()?;
    if bytes == 0 {
        return Ok(());
    }
    let (to_device, from_device) = (address(to), address(from));
    // SAFETY: the caller's pointers are valid for the copy, as the reference asks; the driver checks those of the device.
    let on_stream = |stream| unsafe {
        match kind {
            HOST_TO_DEVICE => api::cuMemcpyHtoDAsync_v2(to_device, from, bytes, stream),
            DEVICE_TO_HOST => api::cuMemcpyDtoHAsync_v2(to, from_device, bytes, stream),
            DEVICE_TO_DEVICE => api::cuMemcpyDtoDAsync_v2(to_device, from_device, bytes, stream),
            _ => api::cuMemcpyAsync(to_device, from_device, bytes, stream),
        }
    };
    // SAFETY: the caller's pointers are valid for the copy, which has ended when the call returns.
    let at_once = || unsafe {
        match kind {
            HOST_TO_DEVICE => api::cuMemcpyHtoD_v2(to_device, from, bytes),
            DEVICE_TO_HOST => api::cuMemcpyDtoH_v2(to, from_device, bytes),
            DEVICE_TO_DEVICE => api::cuMemcpyDtoD_v2(to_device, from_device, bytes),
            _ => api::cuMemcpy(to_device, from_device, bytes),
        }
    };
    // SAFETY: the stream is the thread's own.
    unsafe { in_order(order, on_stream, at_once) }
}

/// Runs a copy in the order that is asked for. One of the thread's own default stream is waited for where nothing else says
/// when it is done.
unsafe fn in_order(
    order: Order,
    on_stream: impl FnOnce(CUstream) -> ReturnCode,
    at_once: impl FnOnce() -> ReturnCode,
) -> Result {
    match order {
        Some(stream) => check(on_stream(on(stream))),
        None if is_own() => {
            check(on_stream(per_thread()))?;
            // SAFETY: the handle names the thread's own stream.
            check(unsafe { api::cuStreamSynchronize(per_thread()) })
        }
        None => check(at_once()),
    }
}

/// An end of a copy of rows.
#[derive(Clone, Copy)]
struct End {
    kind: CUmemorytype,
    pointer: *mut c_void,
    array: CUarray,
    /// Bytes from a row to the next, and rows from a slice to the next.
    pitch: usize,
    rows: usize,
    /// First byte of the copy: a byte of a row, a row, a slice.
    x: usize,
    y: usize,
    z: usize,
}

impl End {
    fn linear(pointer: *const c_void, pitch: usize, kind: CUmemorytype) -> End {
        let pointer = pointer.cast_mut();
        End { kind, pointer, array: null_mut(), pitch, rows: 0, x: 0, y: 0, z: 0 }
    }

    fn array(array: CUarray, x: usize, y: usize) -> End {
        let kind = CUmemorytype::CU_MEMORYTYPE_ARRAY;
        End { kind, pointer: null_mut(), array, pitch: 0, rows: 0, x, y, z: 0 }
    }
}

/// Returns the kinds of memory that a direction names: of where it comes from, and where it goes to.
fn kinds(kind: c_int) -> Result<[CUmemorytype; 2]> {
    use CUmemorytype::{
        CU_MEMORYTYPE_DEVICE as DEVICE, CU_MEMORYTYPE_HOST as HOST,
        CU_MEMORYTYPE_UNIFIED as UNIFIED,
    };
    match kind {
        HOST_TO_HOST => Ok([HOST, HOST]),
        HOST_TO_DEVICE => Ok([HOST, DEVICE]),
        DEVICE_TO_HOST => Ok([DEVICE, HOST]),
        DEVICE_TO_DEVICE => Ok([DEVICE, DEVICE]),
        DEFAULT => Ok([UNIFIED, UNIFIED]),
        _ => Err(Error::INVALID_DIRECTION),
    }
}

/// Returns the driver's description of a copy of rows: `extent` is in bytes.
fn description(from: End, to: End, extent: Extent) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: from.x,
        srcY: from.y,
        srcZ: from.z,
        srcLOD: 0,
        srcMemoryType: from.kind,
        srcHost: from.pointer,
        srcDevice: address(from.pointer),
        srcArray: from.array,
        reserved0: null_mut(),
        srcPitch: from.pitch,
        srcHeight: from.rows,
        dstXInBytes: to.x,
        dstY: to.y,
        dstZ: to.z,
        dstLOD: 0,
        dstMemoryType: to.kind,
        dstHost: to.pointer,
        dstDevice: address(to.pointer),
        dstArray: to.array,
        reserved1: null_mut(),
        dstPitch: to.pitch,
        dstHeight: to.rows,
        WidthInBytes: extent.width,
        Height: extent.height,
        Depth: extent.depth,
    }
}

unsafe fn rows(from: End, to: End, extent: Extent, order: Order) -> Result {
    context::enter()?;
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Ok(());
    }
    let copy = description(from, to, extent);
    // SAFETY: the description lives during the call, and the caller's pointers are valid for the copy.
    unsafe {
        in_order(
            order,
            |stream| api::cuMemcpy3DAsync_v2(&raw const copy, stream),
            || api::cuMemcpy3D_v2(&raw const copy),
        )
    }
}

unsafe fn plane(mut from: End, mut to: End, width: usize, height: usize, order: Order) -> Result {
    for end in [&mut from, &mut to].into_iter().filter(|end| end.array.is_null()) {
        // On an H200 one row needs no pitch, and a pitch of less than the row is another error than for more rows.
        if height == 1 && end.pitch == 0 {
            end.pitch = width;
        }
        if height == 1 && end.pitch < width {
            return Err(Error::INVALID_VALUE);
        }
        check_pitch(end.pitch, width)?;
    }
    // SAFETY: as for the caller.
    unsafe { rows(from, to, Extent { width, height, depth: 1 }, order) }
}

/// Copies bytes to or from an array, from an element on and row by row: as CUDA before version 10 had it.
unsafe fn run_of(
    array: End,
    linear: *const c_void,
    count: usize,
    is_to_array: bool,
    kind: c_int,
    order: Order,
) -> Result {
    // SAFETY: the driver checks the handle.
    let row = unsafe { crate::array::row_bytes(array.array) }?;
    let [from_kind, to_kind] = kinds(kind)?;
    let (mut at, mut place) = (0, array);
    while at < count {
        let width = (count - at).min(row - place.x.min(row));
        if width == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let outside = |kind| End::linear(linear.wrapping_byte_add(at), width, kind);
        let (from, to) =
            if is_to_array { (outside(from_kind), place) } else { (place, outside(to_kind)) };
        // SAFETY: as for the caller.
        unsafe { rows(from, to, Extent { width, height: 1, depth: 1 }, order) }?;
        at += width;
        place = End { x: 0, y: place.y + 1, ..place };
    }
    Ok(())
}

/// The place of an element (`cudaPos`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Position {
    /// Along x: in bytes for linear memory, in elements for an array.
    pub x: usize,
    /// Along y.
    pub y: usize,
    /// Along z.
    pub z: usize,
}

/// A copy of a box (`cudaMemcpy3DParms`): its width is in elements where an array takes part.
#[repr(C)]
pub struct Box3 {
    /// The array that it comes from, or null.
    pub from_array: CUarray,
    /// First position of the source.
    pub from_position: Position,
    /// The memory that it comes from, where there is no array.
    pub from: Pitched,
    /// The array that it goes to, or null.
    pub to_array: CUarray,
    /// First position of the target.
    pub to_position: Position,
    /// The memory that it goes to, where there is no array.
    pub to: Pitched,
    /// The extent of the box.
    pub extent: Extent,
    /// The direction.
    pub kind: c_int,
}

impl Box3 {
    unsafe fn ends(&self) -> Result<(End, End, Extent)> {
        let array = if self.from_array.is_null() { self.to_array } else { self.from_array };
        // SAFETY: the driver checks the handle.
        let element = if array.is_null() { 1 } else { unsafe { bytes_per_element(array) }? };
        let [from_kind, to_kind] = kinds(self.kind)?;
        let end = |array: CUarray, at: Position, rows: Pitched, kind| {
            let end = if array.is_null() {
                End { rows: rows.height, ..End::linear(rows.pointer, rows.pitch, kind) }
            } else {
                End::array(array, 0, 0)
            };
            End { x: at.x * element, y: at.y, z: at.z, ..end }
        };
        let from = end(self.from_array, self.from_position, self.from, from_kind);
        let to = end(self.to_array, self.to_position, self.to, to_kind);
        Ok((from, to, Extent { width: self.extent.width * element, ..self.extent }))
    }

    /// Returns the driver's description.
    ///
    /// # Safety
    /// - The arrays are the driver's.
    pub unsafe fn for_the_driver(&self) -> Result<CUDA_MEMCPY3D> {
        // SAFETY: the caller's contract.
        let (from, to, extent) = unsafe { self.ends() }?;
        Ok(description(from, to, extent))
    }

    /// Returns the runtime's description for the driver's.
    ///
    /// # Safety
    /// - The arrays are the driver's.
    pub unsafe fn of(driver: &CUDA_MEMCPY3D) -> Result<Box3> {
        use CUmemorytype::{CU_MEMORYTYPE_HOST as HOST, CU_MEMORYTYPE_UNIFIED as UNIFIED};
        let (from, to) = (driver.srcMemoryType, driver.dstMemoryType);
        let is_array = |kind| kind == CUmemorytype::CU_MEMORYTYPE_ARRAY;
        let kind = match (from, to) {
            (UNIFIED, _) | (_, UNIFIED) => DEFAULT,
            (HOST, HOST) => HOST_TO_HOST,
            (HOST, _) => HOST_TO_DEVICE,
            (_, HOST) => DEVICE_TO_HOST,
            _ => DEVICE_TO_DEVICE,
        };
        let from_array = if is_array(from) { driver.srcArray } else { null_mut() };
        let to_array = if is_array(to) { driver.dstArray } else { null_mut() };
        let array = if from_array.is_null() { to_array } else { from_array };
        // SAFETY: the caller's contract.
        let element = if array.is_null() { 1 } else { unsafe { bytes_per_element(array) }? };
        let linear = |kind, host: *const c_void, device, pitch, height| {
            let pointer = if kind == HOST { host.cast_mut() } else { device as *mut c_void };
            let pointer = if is_array(kind) { null_mut() } else { pointer };
            Pitched { pointer, pitch, width: driver.WidthInBytes, height }
        };
        Ok(Box3 {
            from_array,
            from_position: Position {
                x: driver.srcXInBytes / element,
                y: driver.srcY,
                z: driver.srcZ,
            },
            from: linear(from, driver.srcHost, driver.srcDevice, driver.srcPitch, driver.srcHeight),
            to_array,
            to_position: Position {
                x: driver.dstXInBytes / element,
                y: driver.dstY,
                z: driver.dstZ,
            },
            to: linear(to, driver.dstHost, driver.dstDevice, driver.dstPitch, driver.dstHeight),
            extent: Extent {
                width: driver.WidthInBytes / element,
                height: driver.Height,
                depth: driver.Depth,
            },
            kind,
        })
    }
}

/// Returns the driver's description of a copy of bytes.
///
/// # Errors
/// There is no such direction.
pub fn line(
    to: *mut c_void,
    from: *const c_void,
    count: usize,
    kind: c_int,
) -> Result<CUDA_MEMCPY3D> {
    let [from_kind, to_kind] = kinds(kind)?;
    let end = |pointer, kind| End { rows: 1, ..End::linear(pointer, count, kind) };
    let extent = Extent { width: count, height: 1, depth: 1 };
    Ok(description(end(from, from_kind), end(to, to_kind), extent))
}

/// Copies a box.
///
/// # Safety
/// - The description is null or one of memory that is valid for the copy.
pub unsafe fn cuboid(copy: *const Box3, order: Order) -> Result {
    context::enter()?;
    // SAFETY: the caller hands over a description with arrays of the driver's.
    unsafe {
        let (from, to, extent) = given(copy)?.ends()?;
        rows(from, to, extent, order)
    }
}

/// A copy of a box between devices (`cudaMemcpy3DPeerParms`).
#[repr(C)]
pub struct PeerBox3 {
    from_array: CUarray,
    from_position: Position,
    from: Pitched,
    from_device: c_int,
    to_array: CUarray,
    to_position: Position,
    to: Pitched,
    to_device: c_int,
    extent: Extent,
}

const _: () = assert!(size_of::<Box3>() == 160 && size_of::<PeerBox3>() == 168);

/// Copies a box between devices, whose memory has one address space.
unsafe fn peer_cuboid(copy: *const PeerBox3, order: Order) -> Result {
    // SAFETY: the caller hands over a description.
    let copy = unsafe { given(copy) }?;
    let same = Box3 {
        from_array: copy.from_array,
        from_position: copy.from_position,
        from: copy.from,
        to_array: copy.to_array,
        to_position: copy.to_position,
        to: copy.to,
        extent: copy.extent,
        kind: DEFAULT,
    };
    // SAFETY: as for the caller.
    unsafe { cuboid(&raw const same, order) }
}

/// Returns the address of bytes of a variable.
///
/// # Errors
/// There is no such variable, or it does not have these bytes.
pub fn part_of_variable(symbol: *const c_void, offset: usize, count: usize) -> Result<*mut c_void> {
    let (address, bytes) = variable(symbol)?;
    if offset.checked_add(count).is_none_or(|end| end > bytes) {
        let why = format!("{count} bytes from byte {offset} on of a variable that has {bytes}");
        return Err(because(Error::INVALID_VALUE, why));
    }
    Ok((address as usize + offset) as *mut c_void)
}

in_order! {
    fn cudaMemcpy, cudaMemcpyAsync(
        to: *mut c_void, from: *const c_void, count: usize, kind: c_int
    ) own cudaMemcpy_ptds, cudaMemcpyAsync_ptsz: |stream| bytes(to, from, count, kind, stream);
    fn cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync(
        symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: c_int
    ) own cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbolAsync_ptsz: |stream|
        bytes(part_of_variable(symbol, offset, count)?, from, count, kind, stream);
    fn cudaMemcpyFromSymbol, cudaMemcpyFromSymbolAsync(
        to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: c_int
    ) own cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbolAsync_ptsz: |stream|
        bytes(to, part_of_variable(symbol, offset, count)?, count, kind, stream);
    fn cudaMemcpy2D, cudaMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int
    ) own cudaMemcpy2D_ptds, cudaMemcpy2DAsync_ptsz: |stream| {
        let [from_kind, to_kind] = kinds(kind)?;
        plane(End::linear(from, from_pitch, from_kind), End::linear(to, to_pitch, to_kind), width, height, stream)
    };
    fn cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync(
        to: CUarray, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize, kind: c_int
    ) own cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArrayAsync_ptsz: |stream|
        plane(End::linear(from, pitch, kinds(kind)?[0]), End::array(to, x, y), width, height, stream);
    fn cudaMemcpy2DFromArray, cudaMemcpy2DFromArrayAsync(
        to: *mut c_void, pitch: usize, from: CUarray, x: usize, y: usize, width: usize, height: usize, kind: c_int
    ) own cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArrayAsync_ptsz: |stream|
        plane(End::array(from, x, y), End::linear(to, pitch, kinds(kind)?[1]), width, height, stream);
    fn cudaMemcpyToArray, cudaMemcpyToArrayAsync(
        to: CUarray, x: usize, y: usize, from: *const c_void, count: usize, kind: c_int
    ) own cudaMemcpyToArray_ptds, cudaMemcpyToArrayAsync_ptsz: |stream|
        run_of(End::array(to, x, y), from, count, true, kind, stream);
    fn cudaMemcpyFromArray, cudaMemcpyFromArrayAsync(
        to: *mut c_void, from: CUarray, x: usize, y: usize, count: usize, kind: c_int
    ) own cudaMemcpyFromArray_ptds, cudaMemcpyFromArrayAsync_ptsz: |stream|
        run_of(End::array(from, x, y), to, count, false, kind, stream);
    fn cudaMemcpy3D, cudaMemcpy3DAsync(copy: *const Box3) own cudaMemcpy3D_ptds, cudaMemcpy3DAsync_ptsz: |stream|
        cuboid(copy, stream);
    fn cudaMemcpy3DPeer, cudaMemcpy3DPeerAsync(
        copy: *const PeerBox3
    ) own cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeerAsync_ptsz: |stream| peer_cuboid(copy, stream);
}

exports! {
    fn cudaMemcpyPeer(to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, count: usize) {
        let (to_context, from_context) = (context::primary(to_device)?, context::primary(from_device)?);
        context::enter()?;
        check(api::cuMemcpyPeer(address(to), to_context, address(from), from_context, count))
    }
    fn cudaMemcpyPeerAsync(
        to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, count: usize, stream: CUstream
    ) {
        let (to_context, from_context) = (context::primary(to_device)?, context::primary(from_device)?);
        context::enter()?;
        check(api::cuMemcpyPeerAsync(address(to), to_context, address(from), from_context, count, on(stream)))
    }
    fn cudaMemcpy2DArrayToArray(
        to: CUarray, to_x: usize, to_y: usize, from: CUarray, from_x: usize, from_y: usize, width: usize, height: usize, _kind: c_int
    ) own cudaMemcpy2DArrayToArray_ptds {
        plane(End::array(from, from_x, from_y), End::array(to, to_x, to_y), width, height, None)
    }
}
