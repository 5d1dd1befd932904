//! Device time by events, and what keeps it clean: a gate, cold caches, the clock.
//!
//! A tool whose kernels use its own memory belongs to a device and waits for its stream before it frees memory.
//!
//! ```no_run
//! let gpu = cuda_host::Gpu::auto(&[])?;
//! let stopwatch = coalesce::timing::Stopwatch::new()?;
//! stopwatch.start(&gpu)?;
//! // Work of `gpu`'s stream.
//! stopwatch.stop(&gpu)?;
//! println!("{} ms", stopwatch.elapsed_ms()?);
//! # Ok::<(), cuda_host::GpuError>(())
//! ```

use crate::instruments::Instruments;
use anyhow::Result;
use cuda_host::{DevicePtr, Gpu, GpuError};
use cust::event::{Event, EventFlags, EventStatus};
use cust::memory::{DeviceBuffer, DevicePointer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use measurement_kernels::{
    THREADS_PER_BLOCK, measurement_clock, measurement_read, measurement_wait,
};
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
            .record(gpu.stream())
            .map_err(|error| GpuError::driver("recording an event", error))
    }

    /// Waits for the first event, so that what the host does from now on lies between the two.
    pub fn wait_for_start(&self) -> Result<(), GpuError> {
        let is_ahead = || {
            let status = self.start.query();
            status
                .map(|status| status == EventStatus::NotReady)
                .map_err(|error| GpuError::driver("asking for an event", error))
        };
        while is_ahead()? {
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Enqueues the second event.
    pub fn stop(&self, gpu: &Gpu) -> Result<(), GpuError> {
        self.stop
            .record(gpu.stream())
            .map_err(|error| GpuError::driver("recording an event", error))
    }

    /// Milliseconds between the events; waits for the second.
    pub fn elapsed_ms(&self) -> Result<f64, GpuError> {
        let fail = |error| GpuError::driver("reading an event", error);
        self.stop.synchronize().map_err(fail)?;
        Ok(f64::from(self.stop.elapsed_time_f32(&self.start).map_err(fail)?))
    }
}

/// Waits for a device's stream when it is dropped: declared before memory that the stream uses, it is dropped first.
pub struct Waiter<'a>(pub &'a Gpu);

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        // A device that has failed is at work no longer.
        let _ = self.0.synchronize();
    }
}

/// Reads a buffer larger than the caches, so that they hold clean lines of it and nothing else.
///
/// Reading rather than writing: dirty lines would be written back while the next kernel is timed.
pub struct Flush<'a> {
    _waiter: Waiter<'a>,
    instruments: &'a Instruments<'a>,
    source: DeviceBuffer<f32>,
    target: DeviceBuffer<f32>,
}

impl<'a> Flush<'a> {
    /// A buffer of twice the L2 cache.
    pub fn new(instruments: &'a Instruments<'a>) -> Result<Flush<'a>, GpuError> {
        let gpu = instruments.gpu();
        let fail = |error| GpuError::driver("allocating the buffer that flushes the cache", error);
        let bytes = usize::try_from(gpu.facts()?.l2_bytes).unwrap_or(0).max(1 << 20) * 2;
        let source = DeviceBuffer::zeroed(bytes / size_of::<f32>()).map_err(fail)?;
        let target = DeviceBuffer::zeroed(1).map_err(fail)?;
        Ok(Flush { _waiter: Waiter(gpu), instruments, source, target })
    }

    /// Enqueues one pass over the buffer.
    pub fn enqueue(&self) -> Result<()> {
        let vectors = self.source.len() as u32 / 4;
        let source = DevicePtr::from_raw(self.source.as_device_ptr().as_raw(), vectors as usize);
        let arguments = (source, self.target.as_device_ptr(), vectors);
        // SAFETY: any grid of whole blocks; the source has `vectors` times four f32 at the start of an allocation, the
        // target one; nobody else uses them, and the waiter keeps them until the stream has ended.
        unsafe {
            let grid = vectors.div_ceil(THREADS_PER_BLOCK * 8);
            Ok(self.instruments.launcher().launch(
                measurement_read,
                grid,
                THREADS_PER_BLOCK,
                0,
                arguments,
            )?)
        }
    }
}

/// Holds the stream back until all that is timed is enqueued, so that no host work lies between the events.
pub struct Gate<'a> {
    waiter: Waiter<'a>,
    instruments: &'a Instruments<'a>,
    /// The word that the device reads: of `_memory`, which nothing else touches.
    word: *mut u32,
    address: DevicePointer<u32>,
    _memory: HostBuffer<u32>,
}

impl<'a> Gate<'a> {
    /// The longest that the stream waits: if the host is away for longer, the sample is as it is.
    const MAX_NS: u64 = 20_000_000;

    /// A gate that is open.
    pub fn new(instruments: &'a Instruments<'a>) -> Result<Gate<'a>> {
        let mut memory = HostBuffer::from_slice(&[1], HostFlags::MAPPED)?;
        let (word, address) = (memory.as_mut_ptr(), memory.device_pointer()?);
        let waiter = Waiter(instruments.gpu());
        Ok(Gate { waiter, instruments, word, address, _memory: memory })
    }

    /// Shuts the gate and enqueues the wait for it. A wait that the stream has not yet passed is shut again, too.
    pub fn shut(&self) -> Result<()> {
        self.flag().store(0, Ordering::Release);
        let arguments = (self.address, Gate::MAX_NS);
        // SAFETY: one thread; the pointer is to one u32, which the host changes atomically and the waiter keeps until
        // the stream has ended.
        unsafe { Ok(self.instruments.launcher().launch(measurement_wait, 1, 1, 0, arguments)?) }
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        self.flag().store(1, Ordering::Release);
    }

    fn flag(&self) -> &AtomicU32 {
        // SAFETY: the pointer was made from a mutable reference to the memory's one word, which is aligned, lives as long
        // as `self` and is touched by nobody but the device and this atomic.
        unsafe { AtomicU32::from_ptr(self.word) }
    }
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.open();
        let _ = self.waiter.0.synchronize();
    }
}

/// Measures the clock of the multiprocessors.
pub struct Clock<'a> {
    waiter: Waiter<'a>,
    instruments: &'a Instruments<'a>,
    ticks: HostBuffer<u64>,
}

impl<'a> Clock<'a> {
    /// The least time in which cycles are counted.
    const MIN_NS: u64 = 10_000;

    /// Two words that the device writes.
    pub fn new(instruments: &'a Instruments<'a>) -> Result<Clock<'a>> {
        let ticks = HostBuffer::zeroed(2, HostFlags::MAPPED)?;
        Ok(Clock { waiter: Waiter(instruments.gpu()), instruments, ticks })
    }

    /// Enqueues a measurement.
    pub fn enqueue(&self) -> Result<()> {
        let arguments = (self.ticks.device_pointer()?, Clock::MIN_NS);
        // SAFETY: one thread; the pointer is to two u64, which the waiter keeps until the stream has ended.
        unsafe { Ok(self.instruments.launcher().launch(measurement_clock, 1, 1, 0, arguments)?) }
    }

    /// Returns what was measured last, MHz; waits for the stream.
    pub fn mhz(&self) -> Result<f64> {
        self.waiter.0.synchronize()?;
        // SAFETY: both words are aligned and live; the device, which wrote them, has ended.
        let [cycles, ns] = [0, 1].map(|i| unsafe { self.ticks.as_ptr().add(i).read_volatile() });
        Ok(1e3 * cycles as f64 / ns.max(1) as f64)
    }
}
