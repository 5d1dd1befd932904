//! Device time by events, and what keeps it clean: a gate, cold caches, the clock.

use super::{Gpu, GpuError};
use anyhow::Result;
use cust::event::{Event, EventFlags, EventStatus};
use cust::function::Function;
use cust::memory::DeviceBuffer;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use kernels::measurement;
use std::sync::atomic::{AtomicU32, Ordering};

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

    /// Waits for the first event, so that what the host does from now on lies between the two.
    pub fn wait_for_start(&self) -> Result<(), GpuError> {
        let is_ahead = || {
            let status = self.start.query();
            Ok(status.map_err(|error| GpuError::driver("asking for an event", error))?
                == EventStatus::NotReady)
        };
        while is_ahead()? {
            std::hint::spin_loop();
        }
        Ok(())
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
        let block = measurement::BLOCK;
        let quads = self.source.len() as u32 / 4;
        let fail = |error| GpuError::driver("flushing the cache", error);
        let function = kernel(gpu, measurement::measurement_read.name())?;
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

/// Holds the stream back until the host has enqueued all that is to be timed, so that no host work lies between the
/// events.
pub struct Gate {
    open: HostBuffer<u32>,
}

impl Gate {
    /// The longest that the stream waits: if the host is away for longer, the sample is as it is.
    const MOST_NS: u64 = 20_000_000;

    /// A gate that is open.
    pub fn new() -> Result<Gate> {
        Ok(Gate { open: HostBuffer::from_slice(&[1], HostFlags::MAPPED)? })
    }

    /// Shuts the gate and enqueues the wait for it. The stream must have passed it since it was opened last.
    pub fn shut(&self, gpu: &Gpu) -> Result<()> {
        self.flag().store(0, Ordering::Release);
        let function = kernel(gpu, measurement::measurement_wait.name())?;
        let (gate, most_ns) = (self.open.device_pointer()?, Gate::MOST_NS);
        let stream = &gpu.stream;
        // SAFETY: one thread, a pointer to one u32 and a u64; the word lives until the stream has passed, because every
        // sample waits for the stream.
        unsafe { cust::launch!(function<<<1, 1, 0, stream>>>(gate, most_ns)) }
            .map_err(|error| GpuError::driver("shutting the gate before a sample", error))?;
        Ok(())
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        self.flag().store(1, Ordering::Release);
    }

    fn flag(&self) -> &AtomicU32 {
        // SAFETY: the word is aligned, lives as long as `self`, and is only touched atomically while `self` lives.
        unsafe { AtomicU32::from_ptr(self.open.as_ptr().cast_mut()) }
    }
}

/// Measures the clock of the multiprocessors.
pub struct Clock {
    ticks: HostBuffer<u64>,
}

impl Clock {
    /// How long the cycles are counted at least.
    const LEAST_NS: u64 = 10_000;

    /// Two words that the device writes.
    pub fn new() -> Result<Clock> {
        Ok(Clock { ticks: HostBuffer::zeroed(2, HostFlags::MAPPED)? })
    }

    /// Enqueues a measurement.
    pub fn enqueue(&self, gpu: &Gpu) -> Result<()> {
        let function = kernel(gpu, measurement::measurement_clock.name())?;
        let (ticks, least_ns) = (self.ticks.device_pointer()?, Clock::LEAST_NS);
        let stream = &gpu.stream;
        // SAFETY: one thread, a pointer to two u64 and a u64; the words live until the stream has ended, because every
        // sample waits for the stream before it reads them.
        unsafe { cust::launch!(function<<<1, 1, 0, stream>>>(ticks, least_ns)) }
            .map_err(|error| GpuError::driver("measuring the clock", error))?;
        Ok(())
    }

    /// What was measured last, MHz. The stream has ended.
    pub fn mhz(&self) -> f64 {
        // SAFETY: both words are aligned and live; the device, which wrote them, has ended.
        let [cycles, ns] = [0, 1].map(|i| unsafe { self.ticks.as_ptr().add(i).read_volatile() });
        1e3 * cycles as f64 / ns.max(1) as f64
    }
}

/// A kernel of the measurement's own.
pub(super) fn kernel<'a>(gpu: &'a Gpu, name: &str) -> Result<Function<'a>, GpuError> {
    gpu.module
        .get_function(name)
        .map_err(|error| GpuError::driver("finding a kernel of the measurement", error))
}
