//! Measures on a device what a profile of the virtual device says of it, and writes such a profile.
//!
//! Rates of the device come from two sizes and costs of calls from two counts, so that what both have in common drops out:
//!
//! ```text
//! rate = (large - small) / (time of large - time of small)      cost = (time of 2 k - time of k) / k
//! ```
//!
//! What crosses the link or the host's memory is long enough to be timed whole, and differs by more than what is fixed.
//!
//! What the host's calls cost is measured while the device has nothing to do, what the device takes for small work
//! while a copy before it keeps it busy until the host has enqueued everything.

mod host_memory;
pub mod probes;

use crate::instruments::Instruments;
use crate::timing::Stopwatch;
use anyhow::{Context, Result, ensure};
use cuda_host::{Gpu, Streams, WorkScale};
use cust::event::{Event, EventFlags};
use cust::function::Function;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, DevicePointer};
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::graph::{CaptureMode, capture};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::pool::Pool;
use measurement_kernels::{
    IN_FLIGHT, THREADS_PER_BLOCK, measurement_reread, measurement_scale, measurement_scale_strided,
};
use results::Spread;
use serde_json::{Map, Value};
use std::hint::black_box;
use virtual_gpu::{PROFILES, Profile};

/// Samples of a time on a GPU, of which the median counts, after some to warm up.
const SAMPLES: usize = 21;
const WARM_UP: usize = 3;
/// Repetitions from which a cost is taken, and twice as many.
const CALLS: usize = 64;
/// The same for what has to be enqueued while a copy runs.
const QUEUED: usize = 16;
/// Words of a copy that takes an engine: 256 KiB.
const PIECE: usize = 1 << 16;

/// A profile that was measured.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The whole of it.
    pub profile: Profile,
    /// The measurement.
    pub figures: Vec<Figure>,
    /// The name of the profile that everything else was taken from.
    pub nearest: &'static str,
}

/// A measured figure of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name in the profile, which ends in its unit.
    pub name: &'static str,
    /// The measurement.
    pub value: f64,
    /// The nearest profile's value.
    pub nearest: f64,
}

/// Measures a device. The virtual one gives back what its profile says.
///
/// # Errors
/// The driver's, and a device that has less free memory than 2 GiB.
pub fn run(gpu: &Gpu) -> Result<Calibration> {
    if let Some(device) = gpu.virtual_device() {
        device.scale_work(WorkScale::default());
    }
    let instruments = Instruments::load(gpu)?;
    let facts = gpu.facts()?;
    let (nearest, base) = nearest(facts.capability)?;
    let Value::Object(mut fields) = serde_json::to_value(&base)? else {
        unreachable!("a profile is an object");
    };
    let told = told(gpu)?;
    let tools = Tools {
        gpu,
        instruments: &instruments,
        stopwatch: Stopwatch::new()?,
        is_model: gpu.virtual_device().is_some(),
        page_fault_ns: base.page_fault_ns,
    };
    let mut measured = Vec::new();
    tools.rates(&mut measured)?;
    tools.zero_copy(&mut measured)?;
    tools.calls(&mut measured)?;
    tools.small_work(&mut measured)?;
    tools.memory(&mut measured)?;
    tools.pages(&mut measured)?;

    let mut figures = Vec::new();
    for (name, value) in measured {
        ensure!(
            value.is_finite() && value >= 0.0,
            "{name} came out as {value}: calibrate again while nothing else uses the device"
        );
        let before = fields.insert(name.to_owned(), value.into());
        let nearest = before.and_then(|value| value.as_f64());
        let nearest = nearest.with_context(|| format!("profiles have no number `{name}`"))?;
        figures.push(Figure { name, value, nearest });
    }
    for (name, value) in &told {
        fields.insert(name.clone(), value.clone());
    }
    let is_taken = |name: &&String| {
        !figures.iter().any(|figure| figure.name == **name)
            && !told.contains_key(*name)
            && !["sources", "calibrated"].contains(&name.as_str())
    };
    let taken: Vec<&str> = fields.keys().filter(is_taken).map(String::as_str).collect();
    let list = |names: Vec<&str>| names.join(", ");
    let device = format!("{}, CUDA {}", facts.name, facts.driver_version);
    let sources = vec![
        format!("the driver of {device}: {}", list(told.keys().map(String::as_str).collect())),
        format!(
            "`coalesce calibrate` on {device}: {}",
            list(figures.iter().map(|figure| figure.name).collect())
        ),
        format!("the profile {nearest}, not measured: {}", list(taken)),
    ];
    fields.insert("sources".to_owned(), sources.into());
    fields.insert("calibrated".to_owned(), (!tools.is_model).into());
    let profile = Profile::from_json(&Value::Object(fields).to_string())?;
    Ok(Calibration { profile, figures, nearest })
}

/// The profile whose compute capability is nearest, the first of several.
fn nearest(capability: u32) -> Result<(&'static str, Profile)> {
    let mut profiles = Vec::new();
    for (name, text) in PROFILES {
        profiles.push((*name, Profile::from_json(text)?));
    }
    let nearest =
        profiles.into_iter().min_by_key(|(_, profile)| profile.architecture().abs_diff(capability));
    nearest.context("there is no profile to start from")
}

/// Returns what the driver says of a device.
fn told(gpu: &Gpu) -> Result<Map<String, Value>> {
    let facts = gpu.facts()?;
    let number = |kind: DeviceAttribute| -> Result<u32> {
        Ok(u32::try_from(attribute(gpu.device(), kind)?)?)
    };
    let mut told = Map::new();
    let mut say = |name: &str, value: Value| told.insert(name.to_owned(), value);
    say("name", facts.name.trim_end_matches(" (virtual)").into());
    say("compute_capability", vec![facts.capability / 10, facts.capability % 10].into());
    say("clock_hz", (1e3 * f64::from(facts.clock_khz)).into());
    say("memory_bytes", facts.memory_bytes.into());
    for (name, kind) in [
        ("multiprocessors", DeviceAttribute::MultiprocessorCount),
        ("memory_clock_khz", DeviceAttribute::MemoryClockRate),
        ("memory_bus_bits", DeviceAttribute::GlobalMemoryBusWidth),
        ("l2_bytes", DeviceAttribute::L2CacheSize),
        ("persisting_l2_bytes", DeviceAttribute::MaxPersistingL2CacheBytes),
        ("max_access_window_bytes", DeviceAttribute::MaxAccessPolicyWindowBytes),
        ("threads_per_multiprocessor", DeviceAttribute::MaxThreadsPerMultiprocessor),
        ("blocks_per_multiprocessor", DeviceAttribute::MaxBlocksPerMultiprocessor),
        ("shared_bytes_per_multiprocessor", DeviceAttribute::MaxSharedMemoryPerMultiprocessor),
        ("shared_bytes_per_block", DeviceAttribute::MaxSharedMemoryPerBlock),
        ("shared_bytes_per_block_opt_in", DeviceAttribute::MaxSharedMemoryPerBlockOptIn),
        ("reserved_shared_bytes_per_block", DeviceAttribute::ReservedSharedMemoryPerBlock),
        ("registers_per_multiprocessor", DeviceAttribute::MaxRegistersPerMultiprocessor),
        ("registers_per_block", DeviceAttribute::MaxRegistersPerBlock),
        ("warp_size", DeviceAttribute::WarpSize),
        ("max_threads_per_block", DeviceAttribute::MaxThreadsPerBlock),
        ("copy_engines", DeviceAttribute::AsyncEngineCount),
    ] {
        say(name, number(kind)?.into());
    }
    Ok(told)
}

/// Figures by their names in a profile.
type Figures = Vec<(&'static str, f64)>;

struct Tools<'a> {
    gpu: &'a Gpu,
    instruments: &'a Instruments<'a>,
    /// The virtual device: work is smaller, since every step is executed, and one sample says it all.
    is_model: bool,
    /// The time of a page fault, which is not measured.
    page_fault_ns: f64,
    stopwatch: Stopwatch,
}

impl Tools<'_> {
    /// The larger of two sizes in words: smaller where every step is executed.
    fn words(&self, on_a_gpu: usize, on_the_virtual_device: usize) -> usize {
        if self.is_model { on_the_virtual_device } else { on_a_gpu }
    }

    /// Returns how long something takes between two events, in nanoseconds.
    fn time(&self, work: impl FnMut() -> Result<()>) -> Result<f64> {
        Ok(self.spread(work)?.median)
    }

    fn spread(&self, mut work: impl FnMut() -> Result<()>) -> Result<Spread> {
        let (warm_up, samples) = if self.is_model { (1, 1) } else { (WARM_UP, SAMPLES) };
        let mut times = Vec::new();
        for _ in 0..warm_up + samples {
            self.gpu.synchronize()?;
            self.stopwatch.start(self.gpu)?;
            work()?;
            self.stopwatch.stop(self.gpu)?;
            times.push(1e6 * self.stopwatch.elapsed_ms()?);
        }
        Ok(Spread::of(&times[warm_up..]))
    }

    /// Returns how many per second, from half of `most` and all of them: the fastest samples, since interference
    /// makes no hardware faster, and the difference of two medians was half the rate of a link once.
    fn rate(&self, most: usize, mut work: impl FnMut(usize) -> Result<()>) -> Result<f64> {
        let (half, all) = (self.spread(|| work(most / 2))?.min, self.spread(|| work(most))?.min);
        Ok((most - most / 2) as f64 / (all - half) * 1e9)
    }

    /// Returns how many per second cross the link between host and device: the fastest sample of all of them, beside
    /// which the fixed part is nothing. The difference of two sizes was a tenth above the link's rate once.
    fn link_rate(&self, most: usize, mut work: impl FnMut(usize) -> Result<()>) -> Result<f64> {
        Ok(most as f64 / self.spread(|| work(most))?.min * 1e9)
    }

    /// Returns how many per second of what the host's memory decides: as a program finds it, at the size that most
    /// rows of `pinned_memory` have. Two sizes would differ by what the host's caches do with each, and by its noise.
    fn whole_rate(&self, mut work: impl FnMut(usize) -> Result<()>) -> Result<f64> {
        let words = self.words(1 << 24, 1 << 23);
        Ok(words as f64 / self.time(|| work(words))? * 1e9)
    }

    /// Returns what one of so many in a row takes, in nanoseconds.
    fn each(&self, count: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        Ok(self.time(|| (0..count).try_for_each(|_| work()))? / count as f64)
    }

    /// Returns what one of `count` costs, in nanoseconds, from as many and twice as many.
    fn cost(&self, count: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        let mut times = [0.0; 2];
        for (time, count) in times.iter_mut().zip([count, 2 * count]) {
            *time = self.time(|| (0..count).try_for_each(|_| work()))?;
        }
        Ok((times[1] - times[0]) / count as f64)
    }

    /// As [`Tools::cost`], of work that waits behind a copy until all of it is enqueued, and of the fastest samples.
    fn queued_cost(&self, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        let words = 1 << 22;
        let host = HostBuffer::<u32>::zeroed(words, HostFlags::PINNED)?;
        let mut device = DeviceBuffer::<u32>::zeroed(words)?;
        let mut times = [0.0; 2];
        for (time, count) in times.iter_mut().zip([QUEUED, 2 * QUEUED]) {
            let spread = self.spread(|| {
                // SAFETY: both buffers live until `spread` has waited, and nobody else uses them.
                unsafe { device.async_copy_from(&host[..], self.gpu.stream()) }?;
                (0..count).try_for_each(|_| work())
            });
            *time = spread?.min;
        }
        Ok((times[1] - times[0]) / QUEUED as f64)
    }

    /// Device memory, L2, and copies between host and device.
    fn rates(&self, figures: &mut Figures) -> Result<()> {
        let gpu = self.gpu;
        let words = self.words(1 << 26, 1 << 24);
        let rate = self.l2_reads(self.words(256, 32))?;
        figures.push(("l2_bytes_per_second", rate));

        let mut host = HostBuffer::<u32>::zeroed(words, HostFlags::PINNED)?;
        let host_source = HostBuffer::<u32>::zeroed(words, HostFlags::PINNED)?;
        let many = self.words(1 << 27, words);
        let mut device = DeviceBuffer::<u32>::zeroed(many)?;
        let device_source = DeviceBuffer::<u32>::zeroed(many)?;
        let stream = gpu.stream();
        let inside = self.rate(many, |n| {
            let source = device_source.index(0..n);
            // SAFETY: all buffers live until `time` has waited, and nobody else uses them.
            Ok(unsafe { device.index(0..n).async_copy_from(&source, stream) }?)
        })?;
        let up = self.link_rate(words, |n| {
            // SAFETY: both buffers live until `link_rate` has waited, and nobody else uses them.
            Ok(unsafe { device.index(0..n).async_copy_from(&host_source[..n], stream) }?)
        })?;
        let down = self.link_rate(words, |n| {
            // SAFETY: both buffers live until `link_rate` has waited, and nobody else uses them.
            Ok(unsafe { device_source.index(0..n).async_copy_to(&mut host[..n], stream) }?)
        })?;
        let streams = Streams::new(2)?;
        let both = self.link_rate(words, |n| {
            streams.fork(gpu)?;
            let [first, second] = [0, 1].map(|index| streams.enter(index));
            // SAFETY: all four buffers live until `link_rate` has waited for both streams, and nobody else uses them.
            unsafe {
                device.index(0..n).async_copy_from(&host_source[..n], first?)?;
                device_source.index(0..n).async_copy_to(&mut host[..n], second?)?;
            }
            Ok(streams.join(gpu)?)
        })?;
        // Written, so that its pages are there.
        let mut pageable = vec![1_u32; words];
        let pageable_up =
            self.whole_rate(|n| Ok(device.index(0..n).copy_from(&pageable[..n])?))?;
        let pageable_down =
            self.whole_rate(|n| Ok(device_source.index(0..n).copy_to(&mut pageable[..n])?))?;
        figures.extend([
            ("dram_bytes_per_second", 8.0 * inside),
            ("host_to_device_bytes_per_second", 4.0 * up),
            ("device_to_host_bytes_per_second", 4.0 * down),
            ("both_ways_bytes_per_second", 8.0 * both),
            ("pageable_host_to_device_bytes_per_second", 4.0 * pageable_up),
            ("pageable_device_to_host_bytes_per_second", 4.0 * pageable_down),
        ]);
        black_box(&mut device);
        Ok(())
    }

    /// Bytes per second of reads that L1 is too small for: 16 bytes per thread and load, on a full device.
    fn l2_reads(&self, passes: usize) -> Result<f64> {
        let gpu = self.gpu;
        // A quarter of L2 at most, a power of two.
        let l2_bytes = usize::try_from(gpu.facts()?.l2_bytes)?.max(1 << 20);
        let vectors = 1 << (l2_bytes / 4 / 16).ilog2();
        let source = DeviceBuffer::<u32>::zeroed(4 * vectors)?;
        let target = DeviceBuffer::<u32>::zeroed(1)?;
        let reread = self.instruments.module().get_function(measurement_reread.name())?;
        // With an odd number of blocks a warp comes back to where it was only after all of the source.
        let (vectors, grid) = (vectors as u32, 8 * gpu.multiprocessors()? - 1);
        let rate = self.rate(passes, |passes| {
            let (stream, passes) = (gpu.stream(), passes as u32);
            let (source, target) = (source.as_device_ptr(), target.as_device_ptr());
            // SAFETY: the kernel has these parameters; the source has so many words, a power of two of them, and both
            // arrays live until `time` has waited.
            unsafe {
                cust::launch!(reread<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, vectors, passes))?
            };
            Ok(())
        })?;
        Ok(f64::from(16 * IN_FLIGHT * grid * THREADS_PER_BLOCK) * rate)
    }

    fn zero_copy(&self, figures: &mut Figures) -> Result<()> {
        let module = self.instruments.module();
        let words = self.words(1 << 24, 1 << 18);
        let host = HostBuffer::<u32>::zeroed(words, HostFlags::MAPPED)?;
        let device = DeviceBuffer::<u32>::zeroed(words)?;
        let (mapped, near) = (host.device_pointer()?, device.as_device_ptr());
        let scale = module.get_function(measurement_scale.name())?;
        let strided = module.get_function(measurement_scale_strided.name())?;
        let read = self.rate(words, |n| self.enqueue(&scale, mapped, near, n, 1))?;
        let written = self.rate(words, |n| self.enqueue(&scale, near, mapped, n, 1))?;
        // Each lane writes a line of its own.
        let lines = self.rate(words / 4, |n| self.enqueue(&strided, near, mapped, n, 1))?;
        figures.extend([
            ("zero_copy_read_bytes_per_second", 4.0 * read),
            ("zero_copy_write_bytes_per_second", 4.0 * written),
            ("zero_copy_lines_per_second", lines),
        ]);
        self.gpu.synchronize()?;
        Ok(())
    }

    /// Returns what calls cost the host, and how long it is until a launch or a copy begins.
    fn calls(&self, figures: &mut Figures) -> Result<()> {
        let gpu = self.gpu;
        let nothing = Nothing::new(self.instruments)?;
        let event = Event::new(EventFlags::DEFAULT)?;
        let api_call = self.cost(CALLS, || Ok(event.record(gpu.stream())?))?;
        let launch_call = self.cost(CALLS, || nothing.enqueue(self))?;
        // The host learns of the first event, and records the second: a call, and the way to the device.
        let (first, second) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
        let mut times = Vec::new();
        for _ in 0..SAMPLES {
            first.record(gpu.stream())?;
            first.synchronize()?;
            second.record(gpu.stream())?;
            second.synchronize()?;
            times.push(1e6 * f64::from(second.elapsed_time_f32(&first)?));
        }
        let host = HostBuffer::<u32>::zeroed(1, HostFlags::PINNED)?;
        let mut device = DeviceBuffer::<u32>::zeroed(1)?;
        let mut copy = || -> Result<()> {
            // SAFETY: both buffers live until the device was waited for, and nobody else uses them.
            Ok(unsafe { device.async_copy_from(&host[..], gpu.stream()) }?)
        };
        let copy_call = self.cost(CALLS, &mut copy)?;
        // Of an idle device: what a copy adds to two events that the host records one behind the other.
        let [alone, without] = [true, false].map(|copies| {
            let mut times = Vec::new();
            for _ in 0..SAMPLES {
                gpu.synchronize()?;
                self.stopwatch.start(gpu)?;
                self.stopwatch.wait_for_start()?;
                if copies {
                    copy()?;
                }
                self.stopwatch.stop(gpu)?;
                times.push(1e6 * self.stopwatch.elapsed_ms()?);
            }
            Ok::<f64, anyhow::Error>(Spread::of(&times).median)
        });
        let launch_latency = (Spread::of(&times).median - api_call).max(0.0);
        // A quarter of the set-up keeps the engine busy, the rest is the way to it.
        let copy_latency = ((alone? - without? + launch_latency) / 1.25).max(0.0);
        let pool = Pool::new(gpu.device())?;
        pool.set_release_threshold(u64::MAX)?;
        let pool_pair = self.cost(CALLS, || {
            // SAFETY: nobody uses the memory, which is freed on the same stream, before the pool.
            let buffer = unsafe { pool.allocate::<u32>(1 << 10, gpu.stream()) }?;
            Ok(buffer.drop_async(gpu.stream())?)
        })?;
        gpu.synchronize()?;
        figures.extend([
            ("api_call_ns", api_call),
            ("launch_call_ns", launch_call),
            ("copy_call_ns", copy_call),
            ("launch_latency_ns", launch_latency),
            ("copy_latency_ns", copy_latency),
            ("pool_call_ns", pool_pair / 2.0),
        ]);
        Ok(())
    }

    /// Returns what the device takes for a kernel that does nothing, and from one engine to another.
    fn small_work(&self, figures: &mut Figures) -> Result<()> {
        let gpu = self.gpu;
        let nothing = Nothing::new(self.instruments)?;
        let host = HostBuffer::<u32>::zeroed(PIECE, HostFlags::PINNED)?;
        let device = DeviceBuffer::<u32>::zeroed(PIECE)?;
        let enqueue_copy = |words: usize| -> Result<()> {
            let mut target = device.index(..words);
            // SAFETY: both buffers live until the device was waited for, and nobody else uses them.
            Ok(unsafe { target.async_copy_from(&host[..words], gpu.stream()) }?)
        };
        let kernel = self.queued_cost(|| nothing.enqueue(self))?;
        // A copy of a word may go with the commands, without an engine.
        let piece = self.queued_cost(|| enqueue_copy(PIECE))?;
        let both = self.queued_cost(|| {
            enqueue_copy(PIECE)?;
            nothing.enqueue(self)
        })?;
        let graphs = [QUEUED, 2 * QUEUED].map(|count| {
            let recorded = capture(gpu.stream(), CaptureMode::default(), |_| {
                (0..count).try_for_each(|_| nothing.enqueue(self)).map_err(|error| {
                    error.downcast::<cust_ext::Error>().unwrap_or_else(|other| panic!("{other}"))
                })
            })?;
            let graph = recorded.instantiate()?;
            // SAFETY: the kernel touches no memory.
            self.time(|| Ok(unsafe { graph.launch(gpu.stream()) }?))
        });
        let [some, more] = graphs;
        figures.extend([
            ("kernel_minimum_ns", kernel),
            ("graph_kernel_minimum_ns", (more? - some?) / QUEUED as f64),
            ("engine_switch_ns", ((both - kernel - piece) / 2.0).max(0.0)),
        ]);
        Ok(())
    }

    /// Enqueues a kernel that scales on n words, which both arrays hold and nobody else uses.
    fn enqueue(
        &self,
        function: &Function<'_>,
        source: DevicePointer<u32>,
        target: DevicePointer<u32>,
        n: usize,
        amount: usize,
    ) -> Result<()> {
        let (n, amount, stream) = (n as u32, amount as u32, self.gpu.stream());
        // A whole number of warps, as the strided kernel needs it, and a block where there is nothing to do.
        let grid = (n.div_ceil(32) * 32).div_ceil(THREADS_PER_BLOCK).max(1);
        // SAFETY: the kernels that scale have these parameters, and the grid covers their threads; the callers
        // keep both arrays, which do not overlap, until the device was waited for.
        unsafe {
            cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, amount))?
        };
        Ok(())
    }
}

/// A kernel that finds nothing to do.
struct Nothing<'a> {
    function: Function<'a>,
}

impl<'a> Nothing<'a> {
    fn new(instruments: &'a Instruments<'_>) -> Result<Nothing<'a>> {
        Ok(Nothing { function: instruments.module().get_function(measurement_scale.name())? })
    }

    fn enqueue(&self, tools: &Tools<'_>) -> Result<()> {
        tools.enqueue(&self.function, DevicePointer::null(), DevicePointer::null(), 0, 1)
    }
}
