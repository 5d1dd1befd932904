//! Asynchronous copies whose buffers cannot be freed or touched before the copy is done.
//!
//! # Why this is sound
//! A copy engine reads or writes host memory after the call has returned, so the borrow of that memory must last until
//! the stream was synchronized. A guard that synchronizes when dropped would not do: it can be leaked, and the borrow
//! ends while the copy runs. Two shapes can not be leaked out of:
//! * [`scope`] synchronizes before it returns, however the closure ends, as `std::thread::scope` does. Host slices are
//!   borrowed for the whole scope.
//! * [`InFlight`] *owns* its host buffer. Leaking it leaks the memory, which is safe.
//!
//! Device memory is different. The host never holds a reference to its contents, work on one stream is ordered, and
//! whatever bytes a race between streams leaves behind are valid values because everything here is [`Pod`]. So device
//! slices are borrowed shared even where they are written: a pipeline can upload to, compute on and download from one
//! buffer in one scope. The borrow only keeps the memory from being freed.

use crate::error::{Result, argument, call};
use crate::handle;
use crate::host_memory::PinnedMemory;
use bytemuck::Pod;
use cust::event::{Event, EventFlags};
use cust::memory::{DeviceCopy, DeviceSlice};
use cust::stream::Stream;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// Asynchronous copies on one stream, made inside [`scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    stream: &'scope Stream,
    // Invariant, so that a borrow given to the scope cannot be shortened.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _environment: PhantomData<&'env mut &'env ()>,
}

/// Runs `body`, which enqueues copies on `stream`, and waits for the stream before returning.
///
/// ```no_run
/// # use cust::memory::DeviceBuffer;
/// # fn example(stream: &cust::stream::Stream) -> cust_ext::Result<()> {
/// let input = cust_ext::host_memory::HostBuffer::from_slice(&[1.0f32; 1024], Default::default())?;
/// let mut output = cust_ext::host_memory::HostBuffer::<f32>::zeroed(1024, Default::default())?;
/// let device = DeviceBuffer::<f32>::zeroed(1024)?;
/// cust_ext::transfer::scope(stream, |scope| {
///     scope.upload(&input, &device)?;
///     scope.download(&device, &mut output)
/// })?;
/// assert_eq!(*input, *output);
/// # Ok(())
/// # }
/// ```
///
/// A buffer that is still being copied cannot be touched:
/// ```compile_fail
/// # use cust::memory::DeviceBuffer;
/// # fn example(stream: &cust::stream::Stream, device: &DeviceBuffer<f32>) -> cust_ext::Result<()> {
/// let mut output = vec![0.0f32; 1024];
/// cust_ext::transfer::scope(stream, |scope| {
///     scope.download(device, &mut output)?;
///     println!("{}", output[0]);
///     Ok(())
/// })
/// # }
/// ```
pub fn scope<'env, F, R>(stream: &'env Stream, body: F) -> Result<R>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R>,
{
    if crate::stream::is_capturing(stream)? {
        return argument(
            "a transfer scope waits for its stream, which a stream under capture cannot do",
        );
    }
    let guard = Settle { stream };
    let scope = Scope { stream, _scope: PhantomData, _environment: PhantomData };
    let result = body(&scope);
    std::mem::forget(guard);
    let settled = settle(stream);
    result.and_then(|value| settled.map(|()| value))
}

impl<'scope> Scope<'scope, '_> {
    /// The stream, to launch kernels between the copies.
    pub fn stream(&self) -> &'scope Stream {
        self.stream
    }

    /// Copies host values to the device.
    ///
    /// From page-locked memory the copy overlaps with other streams; from ordinary memory the driver stages it, and the
    /// host waits.
    pub fn upload<T: Pod + DeviceCopy>(
        &'scope self,
        source: &'scope [T],
        target: &'scope DeviceSlice<T>,
    ) -> Result<()> {
        let bytes = same_length(source.len(), target.len(), size_of::<T>())?;
        if bytes == 0 {
            return Ok(());
        }
        let pointer = target.as_device_ptr().as_raw();
        // SAFETY: both ranges have `bytes` bytes and are borrowed for 'scope, which ends after the stream was waited
        // for; the source is not written meanwhile because it is borrowed shared.
        unsafe {
            call!(cuMemcpyHtoDAsync_v2(
                pointer,
                source.as_ptr().cast(),
                bytes,
                self.stream.as_inner()
            ))
        }
    }

    /// Copies device values to the host.
    pub fn download<T: Pod + DeviceCopy>(
        &'scope self,
        source: &'scope DeviceSlice<T>,
        target: &'scope mut [T],
    ) -> Result<()> {
        let bytes = same_length(source.len(), target.len(), size_of::<T>())?;
        if bytes == 0 {
            return Ok(());
        }
        let pointer = source.as_device_ptr().as_raw();
        // SAFETY: as for `upload`; the target is borrowed exclusively for 'scope, and any bytes are a `T: Pod`.
        unsafe {
            call!(cuMemcpyDtoHAsync_v2(
                target.as_mut_ptr().cast(),
                pointer,
                bytes,
                self.stream.as_inner()
            ))
        }
    }

    /// Copies between two places of device memory.
    pub fn copy<T: Pod + DeviceCopy>(
        &'scope self,
        source: &'scope DeviceSlice<T>,
        target: &'scope DeviceSlice<T>,
    ) -> Result<()> {
        let bytes = same_length(source.len(), target.len(), size_of::<T>())?;
        if bytes == 0 {
            return Ok(());
        }
        let (source, target) = (source.as_device_ptr().as_raw(), target.as_device_ptr().as_raw());
        // SAFETY: both ranges have `bytes` bytes of device memory that the borrows keep allocated until the stream was
        // waited for; overlapping ranges leave unspecified but valid values.
        unsafe { call!(cuMemcpyDtoDAsync_v2(target, source, bytes, self.stream.as_inner())) }
    }

    /// Sets every byte of device memory.
    pub fn fill<T: Pod + DeviceCopy>(
        &'scope self,
        target: &'scope DeviceSlice<T>,
        byte: u8,
    ) -> Result<()> {
        let bytes = target.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range is device memory that the borrow keeps allocated until the stream was waited for.
        unsafe {
            call!(cuMemsetD8Async(
                target.as_device_ptr().as_raw(),
                byte,
                bytes,
                self.stream.as_inner()
            ))
        }
    }

    /// Runs `function` on a driver thread when the stream reaches it. It may borrow what outlives the scope and must not
    /// call CUDA.
    pub fn host_function<F: FnOnce() + Send + 'scope>(&'scope self, function: F) -> Result<()> {
        // SAFETY: the stream is waited for before 'scope ends, so the function runs, or is dropped with the context,
        // while what it borrows is alive.
        unsafe { crate::stream::enqueue_host_function(self.stream, function) }
    }
}

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
/// The source stays allocated and unchanged, and the target allocated, until the stream has reached this copy.
pub unsafe fn upload_rows<T: Pod + DeviceCopy>(
    (source, from): (&[T], Rows),
    (target, to): (&DeviceSlice<T>, Rows),
    count: usize,
    stream: &Stream,
) -> Result<()> {
    if count == 0 || from.width == 0 {
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
    if from.width != to.width || !fits(source.len(), from) || !fits(target.len(), to) {
        return argument(format!(
            "{count} rows, {from:?} of {} values to {to:?} of {}: make rows equally wide, at most as wide as their \
             pitch, and inside both arrays",
            source.len(),
            target.len()
        ));
    }
    let descriptor = cust::sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: cust::sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: source.as_ptr().cast(),
        srcDevice: 0,
        srcArray: std::ptr::null_mut(),
        srcPitch: from.pitch * size,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: cust::sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: std::ptr::null_mut(),
        dstDevice: target.as_device_ptr().as_raw(),
        dstArray: std::ptr::null_mut(),
        dstPitch: to.pitch * size,
        WidthInBytes: from.width * size,
        Height: count,
    };
    // SAFETY: every row lies inside its array, as was checked; the caller keeps both until the copy is done.
    unsafe { call!(cuMemcpy2DAsync_v2(&descriptor, stream.as_inner())) }
}

/// Waits for the stream when the closure of a scope unwinds.
struct Settle<'a> {
    stream: &'a Stream,
}

impl Drop for Settle<'_> {
    fn drop(&mut self) {
        let _ = settle(self.stream);
    }
}

/// Waits until nothing that was enqueued on the stream can still touch memory.
///
/// A failing wait means that the context is lost and with it all its work, except when the stream is being captured:
/// then the capture is ended first, because work from before it may still run.
fn settle(stream: &Stream) -> Result<()> {
    // SAFETY: the stream is alive.
    let waited = unsafe { call!(cuStreamSynchronize(stream.as_inner())) };
    let Err(error) = waited else { return Ok(()) };
    if error.code().is_some_and(|code| (900..=908).contains(&code.0)) {
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is alive, the graph is a local to write to and destroyed at once.
        unsafe {
            let _ = call!(cuStreamEndCapture(stream.as_inner(), &mut graph));
            if !graph.is_null() {
                let _ = call!(cuGraphDestroy(graph));
            }
            call!(cuStreamSynchronize(stream.as_inner()))?;
        }
    }
    Err(error)
}

/// A host buffer that a copy is using; [`InFlight::wait`] gives it back.
///
/// For pipelines that reuse buffers while others are under way, where a [`scope`] would be too coarse.
#[derive(Debug)]
#[must_use = "the buffer comes back from `wait`"]
pub struct InFlight<B> {
    buffer: ManuallyDrop<B>,
    done: Event,
}

impl<B: PinnedMemory> InFlight<B> {
    /// Copies the buffer to the device and owns it meanwhile.
    pub fn upload(
        buffer: B,
        target: &DeviceSlice<B::Item>,
        stream: &Stream,
    ) -> Result<InFlight<B>> {
        let bytes = same_length(buffer.len(), target.len(), size_of::<B::Item>())?;
        InFlight::start(buffer, stream, |buffer| {
            let (pointer, source) = (target.as_device_ptr().as_raw(), buffer.as_ptr().cast());
            // SAFETY: both ranges have `bytes` bytes. The host memory is owned by the `InFlight` until the event after
            // this copy was reached; device memory is not freed under a running copy because cuMemFree waits.
            unsafe { call!(cuMemcpyHtoDAsync_v2(pointer, source, bytes, stream.as_inner())) }
        })
    }

    /// Copies device memory into the buffer and owns it meanwhile.
    pub fn download(
        source: &DeviceSlice<B::Item>,
        buffer: B,
        stream: &Stream,
    ) -> Result<InFlight<B>> {
        let bytes = same_length(source.len(), buffer.len(), size_of::<B::Item>())?;
        InFlight::start(buffer, stream, |buffer| {
            let (pointer, target) = (source.as_device_ptr().as_raw(), buffer.as_mut_ptr().cast());
            // SAFETY: as for `upload`; any bytes are a `B::Item: Pod`.
            unsafe { call!(cuMemcpyDtoHAsync_v2(target, pointer, bytes, stream.as_inner())) }
        })
    }

    fn start(
        mut buffer: B,
        stream: &Stream,
        copy: impl FnOnce(&mut B) -> Result<()>,
    ) -> Result<InFlight<B>> {
        if crate::stream::is_capturing(stream)? {
            return argument(
                "a copy under capture runs when its graph is launched and cannot own its buffer",
            );
        }
        let done = Event::new(EventFlags::DISABLE_TIMING)?;
        copy(&mut buffer)?;
        if let Err(error) = done.record(stream) {
            settle(stream)?;
            return Err(error.into());
        }
        Ok(InFlight { buffer: ManuallyDrop::new(buffer), done })
    }

    /// Whether the copy is done, without waiting.
    pub fn is_done(&self) -> Result<bool> {
        crate::stream::event_reached(&self.done)
    }

    /// Waits for the copy and gives the buffer back. When waiting fails the context is lost and the buffer leaked.
    pub fn wait(self) -> Result<B> {
        let mut this = ManuallyDrop::new(self);
        let waited = this.done.synchronize();
        // SAFETY: `this` is never used again nor dropped, so each field is taken once.
        let (buffer, done) =
            unsafe { (ManuallyDrop::take(&mut this.buffer), std::ptr::read(&this.done)) };
        drop(done);
        match waited {
            Ok(()) => Ok(buffer),
            Err(error) => {
                std::mem::forget(buffer);
                Err(error.into())
            }
        }
    }
}

impl<B> Drop for InFlight<B> {
    fn drop(&mut self) {
        // SAFETY: the event is alive.
        let waited = unsafe { call!(cuEventSynchronize(handle::of_event(&self.done))) };
        if waited.is_ok() {
            // SAFETY: the copy is done, and the buffer is dropped once, here. When waiting failed it is leaked instead.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

fn same_length(source: usize, target: usize, size: usize) -> Result<usize> {
    if source != target {
        return argument(format!(
            "a copy between {source} and {target} values: make both sides equally long"
        ));
    }
    Ok(source * size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::{HostBuffer, HostFlags};
    use cust::memory::DeviceBuffer;

    #[test]
    fn lengths_have_to_agree() {
        assert_eq!(same_length(8, 8, 4).unwrap(), 32);
        assert_eq!(
            same_length(8, 9, 4).unwrap_err().to_string(),
            "a copy between 8 and 9 values: make both sides equally long"
        );
    }

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

    #[test]
    fn a_scope_brings_values_there_and_back() {
        let _context = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let input: Vec<u32> = (0..10_000).collect();
        let input = HostBuffer::from_slice(&input, HostFlags::PINNED).unwrap();
        let mut output = HostBuffer::<u32>::zeroed(10_000, HostFlags::PINNED).unwrap();
        let (first, second) =
            (DeviceBuffer::zeroed(10_000).unwrap(), DeviceBuffer::zeroed(10_000).unwrap());
        // cust zeroes on the legacy default stream, which a non-blocking stream does not wait for.
        cust::context::CurrentContext::synchronize().unwrap();
        let mut reached = false;
        scope(&stream, |scope| {
            scope.upload(&input, &first)?;
            scope.copy(&first, &second)?;
            scope.fill(&first, 0xff)?;
            scope.host_function(|| reached = true)?;
            scope.download(&second, &mut output)
        })
        .unwrap();
        assert!(reached);
        assert_eq!(*input, *output);
        assert!(first.as_host_vec().unwrap().iter().all(|value| *value == u32::MAX));
    }

    #[test]
    fn a_buffer_in_flight_comes_back() {
        let _context = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let device = DeviceBuffer::<u32>::zeroed(4).unwrap();
        cust::context::CurrentContext::synchronize().unwrap();
        let buffer = HostBuffer::from_slice(&[1, 2, 3, 4], HostFlags::PINNED).unwrap();
        let buffer = InFlight::upload(buffer, &device, &stream).unwrap().wait().unwrap();
        assert_eq!(*buffer, [1, 2, 3, 4]);
        let target = HostBuffer::zeroed(4, HostFlags::PINNED).unwrap();
        let copy = InFlight::download(&device, target, &stream).unwrap();
        assert_eq!(*copy.wait().unwrap(), [1, 2, 3, 4]);
    }
}
