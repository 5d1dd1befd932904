//! Asynchronous copies whose buffers cannot be freed or touched before the copy is done.
//!
//! # Why this is sound
//! A copy engine reads or writes memory after the call has returned, so the borrow of that memory must last until the
//! stream was synchronized. A guard that synchronizes when dropped would not do: it can be leaked, and the borrow ends
//! while the copy runs. Two shapes can not be leaked out of:
//! * [`scope`] synchronizes before it returns, however the closure ends, as `std::thread::scope` does. What it uses is
//!   borrowed for the whole scope.
//! * [`InFlight`] *owns* its buffers. Leaking it leaks the memory, which is safe.
//!
//! Work of one scope is on one stream and therefore ordered. So device memory is lent to a scope once, by
//! [`Scope::lend`], and may then be used by it again and again: nobody else can reach it until the scope has ended.

use crate::device;
use crate::error::{Result, argument, call};
use crate::stream::DefaultStream;
pub use batch::Batch;
use bytemuck::{AnyBitPattern, NoUninit};
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use cust::stream::Stream;
pub use in_flight::InFlight;
pub use rows::{Rows, download_rows, upload_rows};
use std::marker::PhantomData;
use std::ops::Deref;

mod batch;
mod in_flight;
mod rows;

/// Asynchronous copies on one stream, made inside [`scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    stream: &'scope Stream,
    // Invariant, so that a borrow given to the scope cannot be shortened.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _environment: PhantomData<&'env mut &'env ()>,
}

/// Device memory that a scope has for itself until it ends, from [`Scope::lend`].
///
/// Only the scope that borrowed it takes it: the lifetime is the scope's own.
#[derive(Debug)]
pub struct Lent<'scope, T: DeviceCopy> {
    pointer: DevicePointer<T>,
    length: usize,
    // Invariant, so that it fits no scope inside of this one, whose stream is another.
    _scope: PhantomData<&'scope mut &'scope ()>,
}

/// Device memory that a scope may read until it ends, from [`Scope::share`].
#[derive(Debug)]
pub struct Shared<'scope, T: DeviceCopy>(Lent<'scope, T>);

impl<T: DeviceCopy> Lent<'_, T> {
    /// The address of the first value, for calls whose contract covers what else uses the memory.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.pointer
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'scope, T: DeviceCopy> Deref for Shared<'scope, T> {
    type Target = Lent<'scope, T>;

    fn deref(&self) -> &Lent<'scope, T> {
        &self.0
    }
}

/// Runs `body`, which enqueues copies on `stream`, and waits for the stream before returning.
///
/// ```
/// # use cust::memory::DeviceBuffer;
/// # use virtual_gpu::{Options, Profile, VirtualGpu};
/// # let gpu = VirtualGpu::start(Profile::named("h200").unwrap(), Options::default()).unwrap();
/// # cuda_driver::select(cuda_driver::Backend::Table(gpu)).unwrap();
/// # let _device = cust_ext::device::open(0)?;
/// # let stream = &cust_ext::stream::non_blocking(None)?;
/// let input = cust_ext::host_memory::HostBuffer::from_slice(&[1.0f32; 1024], Default::default())?;
/// let mut output = cust_ext::host_memory::HostBuffer::<f32>::zeroed(1024, Default::default())?;
/// let mut device = DeviceBuffer::<f32>::zeroed(1024)?;
/// cust_ext::transfer::scope(stream, |scope| {
///     let mut device = scope.lend(&mut device)?;
///     scope.upload(&input, &mut device)?;
///     scope.download(&device, &mut output)
/// })?;
/// assert_eq!(*input, *output);
/// # Ok::<(), cust_ext::Error>(())
/// ```
///
/// A buffer that is still being copied cannot be touched:
/// ```compile_fail,E0502
/// # use cust::memory::DeviceBuffer;
/// # fn example(stream: &cust::stream::Stream, device: &DeviceBuffer<f32>) -> cust_ext::Result<()> {
/// let mut output = vec![0.0f32; 1024];
/// cust_ext::transfer::scope(stream, |scope| {
///     scope.download(&*scope.share(device)?, &mut output)?;
///     println!("{}", output[0]);
///     Ok(())
/// })
/// # }
/// ```
/// Nor can device memory that a copy writes, such as by work on another stream:
/// ```compile_fail,E0502
/// # use cust::memory::DeviceBuffer;
/// # fn read_elsewhere(device: &DeviceBuffer<f32>) {}
/// # fn example(stream: &cust::stream::Stream, input: &[f32], mut device: DeviceBuffer<f32>) -> cust_ext::Result<()> {
/// cust_ext::transfer::scope(stream, |scope| {
///     scope.upload(input, &mut scope.lend(&mut device)?)?;
///     read_elsewhere(&device);
///     Ok(())
/// })
/// # }
/// ```
/// A scope inside of another is on its own stream, and does not take what was lent to the outer one:
/// ```compile_fail,E0521
/// # use cust::memory::DeviceBuffer;
/// # use cust::stream::Stream;
/// # fn example(one: &Stream, other: &Stream, mut device: DeviceBuffer<f32>) -> cust_ext::Result<()> {
/// cust_ext::transfer::scope(one, |outer| {
///     let mut device = outer.lend(&mut device)?;
///     cust_ext::transfer::scope(other, |inner| inner.fill(&mut device, 0))
/// })
/// # }
/// ```
///
/// # Errors
/// A stream that is being captured, those of `body`, and the driver's, also of work that a kernel's fault ended.
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

    /// Borrows device memory for the rest of the scope, which may then write it.
    ///
    /// Waits for what cust's calls without a stream left under way, such as `DeviceBuffer::zeroed`.
    ///
    /// # Errors
    /// When waiting finds that a kernel has failed.
    pub fn lend<T: DeviceCopy>(
        &self,
        buffer: &'scope mut DeviceBuffer<T>,
    ) -> Result<Lent<'scope, T>> {
        enter(buffer)
    }

    /// Borrows device memory for the rest of the scope, which then reads it; so may others.
    ///
    /// Waits as [`Self::lend`] does.
    ///
    /// # Errors
    /// When waiting finds that a kernel has failed.
    pub fn share<T: DeviceCopy>(
        &self,
        buffer: &'scope DeviceBuffer<T>,
    ) -> Result<Shared<'scope, T>> {
        enter(buffer).map(Shared)
    }

    /// Copies host values to the device.
    ///
    /// From page-locked memory the copy overlaps with other streams; other memory is staged by the driver, and the host
    /// waits.
    ///
    /// # Errors
    /// When the lengths differ, or the driver refuses the copy.
    pub fn upload<T: NoUninit + DeviceCopy>(
        &self,
        source: &'scope [T],
        target: &mut Lent<'scope, T>,
    ) -> Result<()> {
        let bytes = same_length(source.len(), target.length, size_of::<T>())?;
        if bytes == 0 {
            return Ok(());
        }
        let pointer = target.pointer.as_raw();
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
    ///
    /// # Errors
    /// When the lengths differ, or the driver refuses the copy.
    pub fn download<T: AnyBitPattern + DeviceCopy>(
        &self,
        source: &Lent<'scope, T>,
        target: &'scope mut [T],
    ) -> Result<()> {
        let bytes = same_length(source.length, target.len(), size_of::<T>())?;
        if bytes == 0 {
            return Ok(());
        }
        let pointer = source.pointer.as_raw();
        // SAFETY: as for `upload`; the target is borrowed exclusively for 'scope, and any bytes are a `T: AnyBitPattern`.
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
    ///
    /// # Errors
    /// When the lengths differ, or the driver refuses the copy.
    pub fn copy<T: DeviceCopy>(
        &self,
        source: &Lent<'scope, T>,
        target: &mut Lent<'scope, T>,
    ) -> Result<()> {
        let bytes = same_length(source.length, target.length, size_of::<T>())?;
        if bytes == 0 {
            return Ok(());
        }
        let (source, target) = (source.pointer.as_raw(), target.pointer.as_raw());
        // SAFETY: both ranges have `bytes` bytes of device memory that the borrows keep allocated until the stream was
        // waited for, and do not overlap, because one is borrowed exclusively.
        unsafe { call!(cuMemcpyDtoDAsync_v2(target, source, bytes, self.stream.as_inner())) }
    }

    /// Sets every byte of device memory.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn fill<T: AnyBitPattern + DeviceCopy>(
        &self,
        target: &mut Lent<'scope, T>,
        byte: u8,
    ) -> Result<()> {
        let bytes = target.length * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range is device memory that the borrow keeps allocated until the stream was waited for.
        unsafe {
            call!(cuMemsetD8Async(target.pointer.as_raw(), byte, bytes, self.stream.as_inner()))
        }
    }

    /// Runs `function` on a driver thread when the stream reaches it. It may borrow what outlives the scope and must not
    /// call CUDA.
    ///
    /// # Errors
    /// When the driver does not enqueue it; then it never runs.
    pub fn host_function<F: FnOnce() + Send + 'scope>(&self, function: F) -> Result<()> {
        // SAFETY: the stream is waited for before 'scope ends, so the function runs, or is dropped with the context,
        // while what it borrows is alive.
        unsafe { crate::stream::enqueue_host_function(self.stream, function) }
    }
}

/// Device memory as a scope sees it, once the legacy default stream has nothing more to do with it.
fn enter<'scope, T: DeviceCopy>(buffer: &'scope DeviceBuffer<T>) -> Result<Lent<'scope, T>> {
    DefaultStream::legacy().synchronize()?;
    Ok(Lent { pointer: buffer.as_device_ptr(), length: buffer.len(), _scope: PhantomData })
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
/// The stream's own context is made current where another one is. A wait that fails nevertheless means that the context
/// is lost and with it all its work, except when the stream is being captured: then the capture is ended first, because
/// work from before it may still run.
fn settle(stream: &Stream) -> Result<()> {
    // SAFETY: the stream is alive.
    let wait = || unsafe { call!(cuStreamSynchronize(stream.as_inner())) };
    let Err(error) = wait() else { return Ok(()) };
    if !error.code().is_some_and(|code| (900..=908).contains(&code.0)) {
        return device::in_context_of(stream, wait)?;
    }
    let mut graph = std::ptr::null_mut();
    // SAFETY: the stream is alive, the graph is a local to write to and destroyed at once.
    unsafe {
        let _ = call!(cuStreamEndCapture(stream.as_inner(), &mut graph));
        if !graph.is_null() {
            let _ = call!(cuGraphDestroy(graph));
        }
    }
    wait()?;
    Err(error)
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

    #[test]
    fn lengths_have_to_agree() {
        assert_eq!(same_length(8, 8, 4).unwrap(), 32);
        assert_eq!(
            same_length(8, 9, 4).unwrap_err().to_string(),
            "a copy between 8 and 9 values: make both sides equally long"
        );
    }

    #[test]
    fn a_scope_brings_values_there_and_back() {
        let _context = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let input: Vec<u32> = (0..10_000).collect();
        let input = HostBuffer::from_slice(&input, HostFlags::PINNED).unwrap();
        let mut output = HostBuffer::<u32>::zeroed(10_000, HostFlags::PINNED).unwrap();
        let mut first = DeviceBuffer::zeroed(10_000).unwrap();
        let mut second = DeviceBuffer::zeroed(10_000).unwrap();
        let mut reached = false;
        scope(&stream, |scope| {
            let (mut first, mut second) = (scope.lend(&mut first)?, scope.lend(&mut second)?);
            scope.upload(&input, &mut first)?;
            scope.copy(&first, &mut second)?;
            scope.fill(&mut first, 0xff)?;
            scope.host_function(|| reached = true)?;
            scope.download(&second, &mut output)
        })
        .unwrap();
        assert!(reached);
        assert_eq!(*input, *output);
        assert!(first.as_host_vec().unwrap().iter().all(|value| *value == u32::MAX));
        output.fill(0);
        scope(&stream, |scope| scope.download(&*scope.share(&second)?, &mut output)).unwrap();
        assert_eq!(*input, *output);
    }

    #[test]
    fn a_scope_whose_body_takes_the_context_away_still_waits() {
        let (_, context) = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let device = DeviceBuffer::from_slice(&[3_u32; 1000]).unwrap();
        let mut output = HostBuffer::<u32>::zeroed(1000, HostFlags::PINNED).unwrap();
        let ended = scope(&stream, |scope| {
            scope.download(&*scope.share(&device)?, &mut output)?;
            cust::context::legacy::ContextStack::pop()?;
            Ok(())
        });
        ended.expect("the stream was waited for in its own context");
        assert_eq!(*output, [3; 1000]);
        cust::context::CurrentContext::set_current(&context).unwrap();
    }
}
