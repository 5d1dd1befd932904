use super::arguments::{In, InMut, Out};
use super::define::exports;
use super::descriptor;
use crate::access::{self, Access, How};
use crate::array_work::{BoxCopy, BoxSide};
use crate::code::{CuResult, INVALID_CONTEXT};
use crate::driver::Driver;
use crate::memories::MemoryKind;
use crate::misuse::MisuseKind;
use crate::objects::DEFAULT;
use crate::work::{Copy, CopySide, Fill, QueuedWork};
use cuda_driver::OperationKind;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUDA_MEMCPY2D, CUcontext, CUdeviceptr, CUstream};
use cuda_driver::types::CopyAttributes;
use gpu_model::copy_time::{self, Direction};
use std::ffi::{c_uchar, c_uint, c_ushort, c_void};
use std::sync::Arc;

/// The claim of a program about an address, which decides what an unknown one is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Host,
    Device,
    Any,
}

/// Finds copies past an allocation when they are asked for, as the driver does.
fn check(driver: &mut Driver, side: CopySide, width: usize, height: usize, said: Said) -> CuResult {
    let extent = (height - 1).checked_mul(side.pitch).and_then(|rows| rows.checked_add(width));
    // More bytes than there are addresses are no range at all.
    let Some(bytes) = extent else { return Err(ReturnCode::INVALID_VALUE) };
    if said != Said::Device && driver.memory.is_host(side.address) {
        return if side.address == 0 { Err(ReturnCode::INVALID_VALUE) } else { Ok(()) };
    }
    let inside = driver
        .memory
        .device
        .allocation(side.address)
        .is_some_and(|found| bytes as u64 <= found.address + found.bytes - side.address);
    let inside = inside || driver.memory.graphs.holds(side.address, bytes as u64);
    if inside {
        return Ok(());
    }
    let kind = driver.memory.kind_of(side.address);
    let kind = if driver.memory.place(side.address) == MemoryKind::Unknown {
        kind
    } else {
        MisuseKind::OutOfBounds
    };
    let message = format!(
        "{bytes} bytes at {:#x}: {}; give the range of one live allocation",
        side.address,
        driver.memory.device.describe(side.address)
    );
    driver.report(kind, message);
    Err(ReturnCode::INVALID_VALUE)
}

impl Driver {
    /// Finds a range of device memory that lies in no allocation.
    pub(crate) fn check_range(&mut self, address: u64, bytes: usize) -> CuResult {
        check(self, CopySide { address, pitch: bytes }, bytes, 1, Said::Any)
    }
}

fn copy(
    driver: &mut Driver,
    stream: Option<usize>,
    mut copy: Copy,
    to: Said,
    from: Said,
) -> CuResult {
    driver.context_with_stream(stream.unwrap_or(DEFAULT))?;
    if copy.width == 0 || copy.height == 0 {
        return Ok(());
    }
    check(driver, copy.target, copy.width, copy.height, to)?;
    check(driver, copy.source, copy.width, copy.height, from)?;
    notice_overlap(driver, &copy);
    let (source_pageable, target_pageable) =
        (driver.memory.is_host(copy.source.address), driver.memory.is_host(copy.target.address));
    let Some(stream) = stream else {
        // The host is in this call until the copy is done and cannot change anything.
        let watches = std::mem::replace(&mut driver.options.watch_host_memory, false);
        let submitted = driver.submit(DEFAULT, QueuedWork::Copy(copy.clone()));
        driver.options.watch_host_memory = watches;
        let Some(id) = submitted? else { return Ok(()) };
        let may_return_early = driver.options.checks.global_races && returns_early(driver, &copy);
        return if may_return_early { driver.wait_until_begun(id) } else { driver.wait(id) };
    };
    let capturing = driver.objects.stream(stream)?.capture.is_some();
    if capturing || !(source_pageable || target_pageable) {
        return driver.submit(stream, QueuedWork::Copy(copy)).map(|_| ());
    }
    let bytes = copy.bytes();
    driver.report(
        MisuseKind::PageableAsyncCopy,
        format!("an asynchronous copy of {bytes} bytes uses pageable memory and will not overlap; page-lock the buffer"),
    );
    if source_pageable && !target_pageable {
        copy.staged = Some(stage(&copy));
        let taken = driver.larger_bytes(bytes);
        let start = driver.clock.now;
        let end = start
            + copy_time::copy_ns(&driver.device().profile, Direction::HostToDevice(true), taken);
        driver.clock.now = end;
        let kind = OperationKind::HostToDevice(bytes);
        driver.recorder.note(kind, Some(driver.objects.key(stream)), start..end);
        return driver.submit(stream, QueuedWork::Copy(copy)).map(|_| ());
    }
    let id = driver.submit(stream, QueuedWork::Copy(copy))?;
    id.map_or(Ok(()), |id| driver.wait(id))
}

/// Reports a copy whose source and target overlap.
fn notice_overlap(driver: &mut Driver, copy: &Copy) {
    let is_same = copy.source == copy.target;
    if is_same || !driver.options.checks.global_races {
        return;
    }
    let side = |side: CopySide, how| {
        Access::plane(side.address, (copy.width, side.pitch, copy.height), how)
    };
    let [source, target] = [side(copy.source, How::Reads), side(copy.target, How::Writes)];
    if let Some(address) = access::conflict(&[source], &[target]) {
        let message = format!(
            "the source and the target of this copy overlap at {address:#x}, and which bytes are read before they are \
             written is not promised; copy by way of other memory, or by a kernel"
        );
        driver.report(MisuseKind::MissingOrder, message);
    }
}

/// Returns whether the call of a synchronous copy may return before the copy has arrived: from pageable memory when it was
/// staged, and inside a device at once (CUDA Driver API, "API synchronization behavior").
fn returns_early(driver: &Driver, copy: &Copy) -> bool {
    matches!(driver.memory.direction(copy), Direction::HostToDevice(true) | Direction::Device)
}

/// The driver reads pageable memory before the call returns.
fn stage(copy: &Copy) -> Arc<[u8]> {
    let mut staged = Vec::with_capacity(copy.width * copy.height);
    for row in 0..copy.height {
        let address = copy.source.address as usize + row * copy.source.pitch;
        let pointer = std::ptr::with_exposed_provenance::<u8>(address);
        // SAFETY: by the driver API's contract the source is readable host memory for the copy's size.
        staged.extend_from_slice(unsafe { std::slice::from_raw_parts(pointer, copy.width) });
    }
    staged.into()
}

pub(super) fn fill(driver: &mut Driver, stream: Option<usize>, fill: Fill) -> CuResult {
    driver.context_with_stream(stream.unwrap_or(DEFAULT))?;
    if fill.width == 0 || fill.height == 0 {
        return Ok(());
    }
    check_fill(driver, &fill)?;
    driver.submit(stream.unwrap_or(DEFAULT), QueuedWork::Fill(fill))?;
    // A fill returns before it is done, except on the host's memory.
    Ok(())
}

/// Finds a fill past an allocation, and one of which no element lies where it may.
pub(super) fn check_fill(driver: &mut Driver, fill: &Fill) -> CuResult {
    if !fill.address.is_multiple_of(fill.size as u64) || !fill.pitch.is_multiple_of(fill.size) {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let side = CopySide { address: fill.address, pitch: fill.pitch };
    let row_bytes = fill.width.checked_mul(fill.size).ok_or(ReturnCode::INVALID_VALUE)?;
    check(driver, side, row_bytes, fill.height, Said::Device)
}

/// Finds a copy past an allocation.
pub(super) fn check_copy(driver: &mut Driver, copy: &Copy) -> CuResult {
    check(driver, copy.target, copy.width, copy.height, Said::Any)?;
    check(driver, copy.source, copy.width, copy.height, Said::Any)
}

fn linear_fill(address: u64, value: u32, size: usize, count: usize) -> Fill {
    // `fill` refuses a row of more bytes than a number can hold.
    Fill { address, pitch: count.wrapping_mul(size), value, size, width: count, height: 1 }
}

/// Copies the plane that a descriptor asks for.
fn plane(driver: &mut Driver, stream: Option<usize>, descriptor: &In<CUDA_MEMCPY2D>) -> CuResult {
    let planned = descriptor::plane(descriptor)?;
    let [width, height, _] = planned.extent;
    let (
        BoxSide::Plain { address: to, pitch: to_pitch, .. },
        BoxSide::Plain { address, pitch, .. },
    ) = (planned.target, planned.source)
    else {
        if driver.objects.stream(stream.unwrap_or(DEFAULT))?.capture.is_some() {
            return Err(driver.unsupported("capturing copies of arrays"));
        }
        return driver.copy_box(stream, &planned);
    };
    if pitch < width || to_pitch < width {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let (target, source) = (CopySide { address: to, pitch: to_pitch }, CopySide { address, pitch });
    copy(driver, stream, Copy { target, source, width, height, staged: None }, Said::Any, Said::Any)
}

/// Copies a box between plain memory, slice by slice where the slices do not follow each other.
pub(super) fn slices(driver: &mut Driver, stream: Option<usize>, planned: BoxCopy) -> CuResult {
    let [width, height, depth] = planned.extent;
    let side = |side: BoxSide| match side {
        BoxSide::Plain { address, pitch, rows } => Ok((address, pitch, rows)),
        BoxSide::Array { .. } => Err(ReturnCode::INVALID_VALUE),
    };
    let [(to, to_pitch, to_rows), (from, pitch, rows)] =
        [side(planned.target)?, side(planned.source)?];
    let is_short = |pitch: usize, rows: usize| pitch < width || depth > 1 && rows < height;
    if is_short(pitch, rows) || is_short(to_pitch, to_rows) {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let is_one = depth == 1 || rows == height && to_rows == height;
    let rows_at_once = if is_one { height.checked_mul(depth) } else { Some(height) };
    let height = rows_at_once.ok_or(ReturnCode::INVALID_VALUE)?;
    for z in 0..if is_one { 1 } else { depth } {
        let at = |address: u64, pitch: usize, rows: usize| {
            let slice = z.checked_mul(rows).and_then(|rows| rows.checked_mul(pitch));
            let slice = slice.and_then(|bytes| address.checked_add(bytes as u64));
            Ok(CopySide { address: slice.ok_or(ReturnCode::INVALID_VALUE)?, pitch })
        };
        let (target, source) = (at(to, to_pitch, to_rows)?, at(from, pitch, rows)?);
        let one = Copy { target, source, width, height, staged: None };
        copy(driver, stream, one, Said::Any, Said::Any)?;
    }
    Ok(())
}

/// Copies of one call, in the order in which they stand.
///
/// # Safety
/// - The caller gave as many addresses, sizes and attributes as it says.
unsafe fn batch(
    driver: &mut Driver,
    [targets, sources]: [InMut<CUdeviceptr>; 2],
    (sizes, count): (InMut<usize>, usize),
    attributes: (InMut<CopyAttributes>, InMut<usize>, usize),
    stream: CUstream,
) -> CuResult {
    driver.context_with_stream(stream.addr())?;
    let stream = stream.addr();
    let (attributes, first, several) = attributes;
    // SAFETY: by the contract.
    let (targets, sources, sizes, attributes, first) = unsafe {
        (
            targets.read_all(count)?,
            sources.read_all(count)?,
            sizes.read_all(count)?,
            attributes.read_all(several)?,
            first.read_all(several)?,
        )
    };
    let has_order = first.first() == Some(&0) && first.is_sorted_by(|one, next| one < next);
    let is_known = |it: &CopyAttributes| (1..=3).contains(&it.source_order);
    let is_valid = count > 0 && has_order && several <= count && attributes.iter().all(is_known);
    if !is_valid || driver.objects.key(stream) == driver.objects.legacy() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    for ((target, source), bytes) in targets.into_iter().zip(sources).zip(sizes) {
        copy(driver, Some(stream), Copy::linear(target, source, bytes), Said::Any, Said::Any)?;
    }
    // Sources that are read during the call may be changed after it.
    let tail = driver.objects.stream(stream)?.tail;
    if let Some(tail) = tail.filter(|_| attributes.iter().any(|it| it.source_order == 2)) {
        driver.run_until(tail);
    }
    Ok(())
}

/// The devices of the contexts that a copy between devices names.
fn peers(driver: &mut Driver, from: CUcontext, to: CUcontext) -> CuResult<(usize, usize)> {
    driver.context()?;
    driver.objects.devices_of((from.addr(), to.addr())).ok_or(INVALID_CONTEXT)
}

fn host<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

exports! {
    #[cost(Copy)]
    fn cuMemcpy(driver, target: CUdeviceptr, source: CUdeviceptr, bytes: usize) {
        copy(driver, None, Copy::linear(target, source, bytes), Said::Any, Said::Any)
    }
    #[cost(Copy)]
    fn cuMemcpyAsync(driver, target: CUdeviceptr, source: CUdeviceptr, bytes: usize, stream: CUstream) {
        copy(driver, Some(stream.addr()), Copy::linear(target, source, bytes), Said::Any, Said::Any)
    }
    #[cost(Copy)]
    fn cuMemcpyHtoD_v2(driver, target: CUdeviceptr, source: *const c_void, bytes: usize) {
        copy(driver, None, Copy::linear(target, host(source), bytes), Said::Device, Said::Host)
    }
    #[cost(Copy)]
    fn cuMemcpyDtoH_v2(driver, target: *mut c_void, source: CUdeviceptr, bytes: usize) {
        copy(driver, None, Copy::linear(host(target), source, bytes), Said::Host, Said::Device)
    }
    #[cost(Copy)]
    fn cuMemcpyDtoD_v2(driver, target: CUdeviceptr, source: CUdeviceptr, bytes: usize) {
        copy(driver, None, Copy::linear(target, source, bytes), Said::Device, Said::Device)
    }
    #[cost(Copy)]
    fn cuMemcpyHtoDAsync_v2(driver, target: CUdeviceptr, source: *const c_void, bytes: usize, stream: CUstream) {
        copy(driver, Some(stream.addr()), Copy::linear(target, host(source), bytes), Said::Device, Said::Host)
    }
    #[cost(Copy)]
    fn cuMemcpyDtoHAsync_v2(driver, target: *mut c_void, source: CUdeviceptr, bytes: usize, stream: CUstream) {
        copy(driver, Some(stream.addr()), Copy::linear(host(target), source, bytes), Said::Host, Said::Device)
    }
    #[cost(Copy)]
    fn cuMemcpyDtoDAsync_v2(driver, target: CUdeviceptr, source: CUdeviceptr, bytes: usize, stream: CUstream) {
        copy(driver, Some(stream.addr()), Copy::linear(target, source, bytes), Said::Device, Said::Device)
    }
    #[cost(Copy)]
    fn cuMemcpyPeer(
        driver, target: CUdeviceptr, to: CUcontext, source: CUdeviceptr, from: CUcontext, bytes: usize
    ) {
        // It comes after what was enqueued on either device, and in the current context.
        let (from, to) = peers(driver, from, to)?;
        driver.run_device(from);
        driver.run_device(to);
        copy(driver, None, Copy::linear(target, source, bytes), Said::Device, Said::Device)
    }
    #[cost(Copy)]
    fn cuMemcpyPeerAsync(
        driver, target: CUdeviceptr, to: CUcontext, source: CUdeviceptr, from: CUcontext, bytes: usize,
        stream: CUstream
    ) {
        peers(driver, from, to)?;
        copy(driver, Some(stream.addr()), Copy::linear(target, source, bytes), Said::Device, Said::Device)
    }
    #[cost(Copy)]
    fn cuMemcpy2D_v2(driver, descriptor: In<CUDA_MEMCPY2D>) {
        plane(driver, None, &descriptor)
    }
    #[cost(Copy)]
    fn cuMemcpy2DUnaligned_v2(driver, descriptor: In<CUDA_MEMCPY2D>) {
        plane(driver, None, &descriptor)
    }
    #[cost(Copy)]
    fn cuMemcpy2DAsync_v2(driver, descriptor: In<CUDA_MEMCPY2D>, stream: CUstream) {
        plane(driver, Some(stream.addr()), &descriptor)
    }
    #[cost(Copy)]
    fn cuMemcpyBatchAsync(
        driver, targets: InMut<CUdeviceptr>, sources: InMut<CUdeviceptr>, sizes: InMut<usize>, count: usize,
        attributes: InMut<CopyAttributes>, first: InMut<usize>, several: usize, failed: Out<usize>, stream: CUstream
    ) {
        // What is wrong is wrong with the whole batch.
        failed.write_optional(usize::MAX)?;
        // SAFETY: by the function's contract.
        unsafe { batch(driver, [targets, sources], (sizes, count), (attributes, first, several), stream) }
    }
    #[cost(Copy)]
    fn cuMemcpyBatchAsync_v2(
        driver, targets: InMut<CUdeviceptr>, sources: InMut<CUdeviceptr>, sizes: InMut<usize>, count: usize,
        attributes: InMut<CopyAttributes>, first: InMut<usize>, several: usize, stream: CUstream
    ) {
        // SAFETY: by the function's contract.
        unsafe { batch(driver, [targets, sources], (sizes, count), (attributes, first, several), stream) }
    }
    #[cost(Copy)]
    fn cuMemsetD8_v2(driver, target: CUdeviceptr, value: c_uchar, count: usize) {
        fill(driver, None, linear_fill(target, value.into(), 1, count))
    }
    #[cost(Copy)]
    fn cuMemsetD16_v2(driver, target: CUdeviceptr, value: c_ushort, count: usize) {
        fill(driver, None, linear_fill(target, value.into(), 2, count))
    }
    #[cost(Copy)]
    fn cuMemsetD32_v2(driver, target: CUdeviceptr, value: c_uint, count: usize) {
        fill(driver, None, linear_fill(target, value, 4, count))
    }
    #[cost(Copy)]
    fn cuMemsetD8Async(driver, target: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream) {
        fill(driver, Some(stream.addr()), linear_fill(target, value.into(), 1, count))
    }
    #[cost(Copy)]
    fn cuMemsetD16Async(driver, target: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream) {
        fill(driver, Some(stream.addr()), linear_fill(target, value.into(), 2, count))
    }
    #[cost(Copy)]
    fn cuMemsetD32Async(driver, target: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) {
        fill(driver, Some(stream.addr()), linear_fill(target, value, 4, count))
    }
    #[cost(Copy)]
    fn cuMemsetD2D8_v2(driver, address: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize) {
        fill(driver, None, Fill { address, pitch, value: value.into(), size: 1, width, height })
    }
    #[cost(Copy)]
    fn cuMemsetD2D32_v2(driver, address: CUdeviceptr, pitch: usize, value: c_uint, width: usize, height: usize) {
        fill(driver, None, Fill { address, pitch, value, size: 4, width, height })
    }
    #[cost(Copy)]
    fn cuMemsetD2D8Async(
        driver, address: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize, stream: CUstream
    ) {
        fill(driver, Some(stream.addr()), Fill { address, pitch, value: value.into(), size: 1, width, height })
    }
    #[cost(Copy)]
    fn cuMemsetD2D32Async(
        driver, address: CUdeviceptr, pitch: usize, value: c_uint, width: usize, height: usize, stream: CUstream
    ) {
        fill(driver, Some(stream.addr()), Fill { address, pitch, value, size: 4, width, height })
    }
}
