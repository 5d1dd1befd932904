//! Device time by events.

use super::{Gpu, GpuError};
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceBuffer};

/// Two events around work on the stream.
pub struct Stopwatch {
    start: Event,
    stop: Event,
}

impl Stopwatch {
    /// A stopwatch for the device's stream.
    pub fn new() -> Result<Stopwatch, GpuError> {
        let event = || {
            Event::new(EventFlags::DEFAULT)
                .map_err(|error| GpuError::driver("creating an event", error))
        };
        Ok(Stopwatch { start: event()?, stop: event()? })
    }

    /// Enqueues the first event.
    pub fn start(&self, gpu: &Gpu) -> Result<(), GpuError> {
        self.start
            .record(&gpu.stream)
            .map_err(|error| GpuError::driver("recording an event", error))
    }

    /// Enqueues the second event.
    pub fn stop(&self, gpu: &Gpu) -> Result<(), GpuError> {
        self.stop.record(&gpu.stream).map_err(|error| GpuError::driver("recording an event", error))
    }

    /// Milliseconds between the events; waits for the second.
    pub fn elapsed_ms(&self) -> Result<f64, GpuError> {
        let fail = |error| GpuError::driver("reading an event", error);
        self.stop.synchronize().map_err(fail)?;
        Ok(f64::from(self.stop.elapsed_time_f32(&self.start).map_err(fail)?))
    }
}

/// Two halves of device memory, for the driver's own copy: the ceiling of a copying kernel.
pub struct CopyPair {
    source: DeviceBuffer<u8>,
    target: DeviceBuffer<u8>,
}

impl CopyPair {
    /// Allocates two buffers of `bytes` each.
    pub fn new(bytes: usize) -> Result<CopyPair, GpuError> {
        let fail = |error| GpuError::driver("allocating device memory", error);
        // SAFETY: the source is set below; the target is only written.
        let mut source = unsafe { DeviceBuffer::<u8>::uninitialized(bytes) }.map_err(fail)?;
        // SAFETY: as above.
        let target = unsafe { DeviceBuffer::uninitialized(bytes) }.map_err(fail)?;
        source.set_8(0x5A).map_err(fail)?;
        Ok(CopyPair { source, target })
    }

    /// Enqueues one copy.
    pub fn enqueue(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        // SAFETY: both buffers live as long as `self`, which outlives the synchronisation that
        // every measurement ends with.
        unsafe { self.target.async_copy_from(&self.source, &gpu.stream) }
            .map_err(|error| GpuError::driver("copying on the device", error))
    }

    /// The bytes one copy moves: read and written.
    pub fn bytes(&self) -> usize {
        self.source.len() * 2
    }
}

/// Reads a buffer larger than the caches, so that they hold clean lines of it and nothing else.
///
/// Reading rather than writing: dirty lines would be written back while the next kernel is timed.
pub struct Flush {
    source: DeviceBuffer<f32>,
    target: DeviceBuffer<f32>,
}

impl Flush {
    /// A buffer of twice the L2 cache.
    pub fn new(gpu: &Gpu) -> Result<Flush, GpuError> {
        let fail = |error| GpuError::driver("allocating the buffer that flushes the cache", error);
        let bytes = usize::try_from(gpu.facts()?.l2_bytes).unwrap_or(0).max(1 << 20) * 2;
        let source = DeviceBuffer::zeroed(bytes / size_of::<f32>()).map_err(fail)?;
        let target = DeviceBuffer::zeroed(1).map_err(fail)?;
        Ok(Flush { source, target })
    }

    /// Enqueues one pass over the buffer.
    pub fn enqueue(&self, gpu: &Gpu) -> Result<(), GpuError> {
        let kernel = kernels::measurement::measurement_read;
        let block = kernels::measurement::BLOCK;
        let quads = self.source.len() as u32 / 4;
        let fail = |error| GpuError::driver("flushing the cache", error);
        let function = gpu.module.get_function(kernel.name()).map_err(fail)?;
        let grid = quads.div_ceil(block * 8);
        let (source, target) = (self.source.as_device_ptr(), self.target.as_device_ptr());
        // SAFETY: the kernel's parameters are a pointer to `quads` times four f32, a pointer to one f32
        // and `quads`; both buffers outlive the measurement that enqueues this.
        unsafe {
            let stream = &gpu.stream;
            cust::launch!(function<<<grid, block, 0, stream>>>(source, target, quads)).map_err(fail)
        }
    }
}
