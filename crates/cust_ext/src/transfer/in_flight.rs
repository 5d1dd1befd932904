//! A copy that owns its two buffers.

use super::{same_length, settle};
use crate::error::{Result, argument, call};
use crate::handle;
use crate::host_memory::PinnedMemory;
use crate::stream::DefaultStream;
use cust::event::{Event, EventFlags};
use cust::memory::DeviceBuffer;
use cust::stream::Stream;
use std::mem::ManuallyDrop;

/// A copy under way between a host buffer and a device buffer; [`InFlight::wait`] gives both back.
///
/// For pipelines that reuse buffers while others are under way, where a [`scope`](super::scope) would be too coarse.
#[derive(Debug)]
#[must_use = "the buffers come back from `wait`"]
pub struct InFlight<B: PinnedMemory> {
    buffers: ManuallyDrop<(B, DeviceBuffer<B::Item>)>,
    done: Event,
}

impl<B: PinnedMemory> InFlight<B> {
    /// Copies the host buffer to the device and owns both meanwhile.
    ///
    /// # Errors
    /// When the lengths differ, or the driver refuses the copy.
    pub fn upload(
        source: B,
        target: DeviceBuffer<B::Item>,
        stream: &Stream,
    ) -> Result<InFlight<B>> {
        InFlight::start((source, target), stream, |(source, target), bytes| {
            let (pointer, source) = (target.as_device_ptr().as_raw(), source.as_ptr().cast());
            // SAFETY: both ranges have `bytes` bytes, and the `InFlight` owns both until the event after this copy was
            // reached.
            unsafe { call!(cuMemcpyHtoDAsync_v2(pointer, source, bytes, stream.as_inner())) }
        })
    }

    /// Copies the device buffer to the host and owns both meanwhile.
    ///
    /// # Errors
    /// When the lengths differ, or the driver refuses the copy.
    pub fn download(
        source: DeviceBuffer<B::Item>,
        target: B,
        stream: &Stream,
    ) -> Result<InFlight<B>> {
        InFlight::start((target, source), stream, |(target, source), bytes| {
            let (pointer, target) = (source.as_device_ptr().as_raw(), target.as_mut_ptr().cast());
            // SAFETY: as for `upload`; any bytes are a `B::Item: Pod`.
            unsafe { call!(cuMemcpyDtoHAsync_v2(target, pointer, bytes, stream.as_inner())) }
        })
    }

    fn start(
        mut buffers: (B, DeviceBuffer<B::Item>),
        stream: &Stream,
        copy: impl FnOnce(&mut (B, DeviceBuffer<B::Item>), usize) -> Result<()>,
    ) -> Result<InFlight<B>> {
        let bytes = same_length(buffers.0.len(), buffers.1.len(), size_of::<B::Item>())?;
        if crate::stream::is_capturing(stream)? {
            return argument(
                "a copy under capture runs when its graph is launched and cannot own its buffers",
            );
        }
        // What cust's calls without a stream left under way in the device's buffer.
        DefaultStream::legacy().synchronize()?;
        let done = Event::new(EventFlags::DISABLE_TIMING)?;
        copy(&mut buffers, bytes)?;
        if let Err(error) = done.record(stream) {
            settle(stream)?;
            return Err(error.into());
        }
        Ok(InFlight { buffers: ManuallyDrop::new(buffers), done })
    }

    /// Returns whether the copy is done, without waiting.
    ///
    /// # Errors
    /// When a kernel has failed.
    pub fn is_done(&self) -> Result<bool> {
        crate::stream::event_reached(&self.done)
    }

    /// Waits for the copy and gives the buffers back. When waiting fails they are leaked.
    ///
    /// # Errors
    /// When the copy or a kernel has failed.
    pub fn wait(self) -> Result<(B, DeviceBuffer<B::Item>)> {
        let mut this = ManuallyDrop::new(self);
        let waited = this.done.synchronize();
        // SAFETY: `this` is never used again nor dropped, so each field is taken once.
        let (buffers, done) =
            unsafe { (ManuallyDrop::take(&mut this.buffers), std::ptr::read(&this.done)) };
        drop(done);
        match waited {
            Ok(()) => Ok(buffers),
            Err(error) => {
                std::mem::forget(buffers);
                Err(error.into())
            }
        }
    }
}

impl<B: PinnedMemory> Drop for InFlight<B> {
    fn drop(&mut self) {
        // SAFETY: the event is alive.
        let waited = unsafe { call!(cuEventSynchronize(handle::of_event(&self.done))) };
        if waited.is_ok() {
            // SAFETY: the copy is done, and the buffers are dropped once, here. When waiting failed they are leaked.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_memory::{HostBuffer, HostFlags};

    #[test]
    fn buffers_in_flight_come_back() {
        let _context = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let device = DeviceBuffer::<u32>::zeroed(4).unwrap();
        let buffer = HostBuffer::from_slice(&[1, 2, 3, 4], HostFlags::PINNED).unwrap();
        let copy = InFlight::upload(buffer, device, &stream).unwrap();
        let (buffer, device) = copy.wait().unwrap();
        assert_eq!(*buffer, [1, 2, 3, 4]);
        let target = HostBuffer::zeroed(4, HostFlags::PINNED).unwrap();
        let (target, _) = InFlight::download(device, target, &stream).unwrap().wait().unwrap();
        assert_eq!(*target, [1, 2, 3, 4]);
    }
}
