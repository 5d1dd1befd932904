//! The state of the virtual device, and what can be said of it without running anything.

use crate::clock::Clock;
use crate::code::{self, CuResult, INVALID_CONTEXT, NOT_INITIALIZED};
use crate::concurrent::Concurrent;
use crate::device_state::DeviceState;
use crate::happens_before::HappensBefore;
use crate::memories::{HostKind, HostRegion, Memories, WRITE_COMBINED};
use crate::misuse::MisuseKind;
use crate::objects::Objects;
use crate::options::{Options, Order};
use crate::recorder::Recorder;
use crate::scheduler::Scheduler;
use crate::taken_pages::HostRaces;
use crate::thread;
use cuda_driver::{OperationKind, ReturnCode};
use gpu_model::Topology;
use gpu_model::copy_time;
use gpu_model::kernel_time::WorkScale;
use gpu_model::timeline::Timeline;
use simt::{Trace, Watched};
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes that the driver is taken to lock at once for small page-locked allocations, which are those of up to half of it.
/// No document says so: on an H200 1 MiB cost a call where another allocation lived (pinned_memory/allocate_pinned), and
/// a page took `page_lock_latency_ns` where none did (`coalesce calibrate`).
const SHARED_PAGES: u64 = 2 << 20;

/// The part of the time of pinned pages that write-combined ones take to be locked: `pinned_memory/allocate_write_combined`
/// over `allocate_pinned` is 0.63 to 0.83 in `reference.json` and `third.json.gz` of an H200 and `all.json.gz` of an H100
/// (`results`).
const WRITE_COMBINED_PAGES: f64 = 0.75;

/// The virtual machine: its devices, and everything that they share.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) devices: Vec<DeviceState>,
    pub(crate) topology: Topology,
    pub(crate) options: Options,
    /// The factor between kernels as they are meant to be and as they are executed.
    pub(crate) larger: WorkScale,
    /// Warp-instructions after which a kernel is taken to run forever, where that is not what the options say.
    pub(crate) limit: Option<u64>,
    /// Warp-instructions that were executed, or are counted for nodes of graphs.
    pub(crate) spent: u64,
    /// Work that the kernel under way has enqueued.
    pub(crate) enqueued: Vec<simt::DeviceWork>,
    /// Work that a kernel in the stream for last work has enqueued.
    pub(crate) last_work: Option<Vec<simt::DeviceWork>>,
    /// The kernels that launched what is executed, with what they access beside it.
    pub(crate) launching: Vec<(String, simt::Footprint)>,
    /// The number at which `spent` ends a kernel and all that it launched.
    pub(crate) most_spent: u64,
    /// Kernels under way: each was launched by the one before.
    pub(crate) depth: u32,
    /// Kernels are recorded and not executed.
    pub(crate) skips_kernels: bool,
    /// Registers per thread of kernels, where they are known.
    pub(crate) registers: HashMap<String, u32>,
    /// The warp of each launch whose requests are recorded.
    pub(crate) watched: Option<Watched>,
    pub(crate) trace: Option<Arc<Trace>>,
    pub(crate) initialized: bool,
    pub(crate) objects: Objects,
    pub(crate) memory: Memories,
    pub(crate) scheduler: Scheduler,
    pub(crate) order: HappensBefore,
    /// Of each device whose one engine does all copies, the copy that was enqueued last.
    pub(crate) last_copies: BTreeMap<usize, usize>,
    pub(crate) concurrent: Concurrent,
    pub(crate) host_races: HostRaces,
    pub(crate) timeline: Timeline,
    pub(crate) clock: Clock,
    pub(crate) recorder: Recorder,
}

/// A number that no attribute of a device reaches.
const ATTRIBUTES: u32 = 256;

impl Driver {
    pub(crate) fn new(topology: impl Into<Topology>, options: Options) -> Driver {
        let topology = topology.into();
        let devices = topology.devices();
        let bytes: Vec<u64> = devices.iter().map(|profile| profile.memory_bytes).collect();
        let mut driver = Driver {
            memory: Memories::new(&bytes),
            objects: Objects::new(devices.len()),
            timeline: Timeline::new(devices.len()),
            devices: devices.iter().cloned().map(DeviceState::new).collect(),
            topology,
            options,
            larger: WorkScale::default(),
            limit: None,
            spent: 0,
            enqueued: Vec::new(),
            last_work: None,
            launching: Vec::new(),
            most_spent: 0,
            depth: 0,
            skips_kernels: false,
            registers: HashMap::new(),
            watched: None,
            trace: None,
            initialized: false,
            scheduler: Scheduler::default(),
            order: HappensBefore::default(),
            last_copies: BTreeMap::new(),
            concurrent: Concurrent::default(),
            host_races: HostRaces::default(),
            clock: Clock::default(),
            recorder: Recorder::default(),
        };
        for (ordinal, device) in driver.devices.iter_mut().enumerate() {
            device.kernels_until_lost = driver.topology.kernels_until_lost(ordinal);
            let attributes = (0..ATTRIBUTES).map(|number| device.profile.attribute(number));
            driver.memory.device.set_attributes(ordinal, attributes.collect());
        }
        driver.set_options(options);
        driver
    }

    /// Changes how the device runs from here on.
    pub(crate) fn set_options(&mut self, options: Options) {
        if options.checks.uninitialized {
            self.memory.device.track_initialization();
        }
        if let Order::Seeded(seed) = options.order {
            self.scheduler.seed(seed);
        }
        self.recorder.announced_by =
            options.announce.then(|| format!("virtual {}", self.topology.name()));
        self.options = options;
    }

    /// A context is current on this thread and has not failed.
    pub(crate) fn context(&mut self) -> CuResult<usize> {
        if !self.initialized {
            return Err(NOT_INITIALIZED);
        }
        let current = thread::current_context();
        let Some(context) = current.filter(|context| self.objects.contexts.get(*context).is_ok())
        else {
            let message = "no context is current on this thread; make one current first".to_owned();
            self.report(MisuseKind::Context, message);
            return Err(INVALID_CONTEXT);
        };
        self.device().fault.map_or(Ok(context), Err)
    }

    pub(crate) fn report(&mut self, kind: MisuseKind, message: String) {
        self.recorder.report(kind, message);
    }

    /// Gives the code with which the call under way fails, and remembers why.
    pub(crate) fn refuse(&mut self, code: ReturnCode, why: impl Into<String>) -> ReturnCode {
        self.recorder.reason = Some(why.into());
        code
    }

    /// A call failed.
    pub(crate) fn fails(&mut self, call: &str, code: ReturnCode) {
        if code::is_answer(call, code) {
            return;
        }
        let is_sticky = self.device().fault == Some(code);
        let kind = if is_sticky { MisuseKind::FailedSince } else { MisuseKind::CallFailed };
        if is_sticky {
            self.recorder.reason =
                Some("every call of the device fails since something before it failed".to_owned());
        }
        self.recorder.fails(code, kind);
    }

    /// Notes that a call asks for something that is missing here, and gives the code to answer with.
    pub(crate) fn unsupported(&mut self, what: &str) -> ReturnCode {
        self.report(MisuseKind::Unsupported, format!("the virtual device does not support {what}"));
        ReturnCode::NOT_SUPPORTED
    }

    /// Returns what a copy or a fill of so many bytes is taken to be.
    pub(crate) fn larger_bytes(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.larger.work) as u64
    }

    /// The host works on so many bytes, and its clock moves on.
    fn host_works(&mut self, bytes: usize, bytes_per_second: f64) {
        self.clock.advance(self.larger_bytes(bytes as u64) as f64 / bytes_per_second * 1e9);
    }

    /// The driver locks pages for an allocation while the host waits. Small ones share pages, locked while one lives.
    pub(crate) fn allocates_page_locked(&mut self, bytes: usize, flags: u32) {
        let is_small =
            |driver: &Driver, bytes: usize| driver.larger_bytes(bytes as u64) <= SHARED_PAGES / 2;
        let shares = |region: &HostRegion| {
            region.kind == HostKind::Pinned
                && is_small(self, region.bytes)
                && (region.flags ^ flags) & WRITE_COMBINED == 0
        };
        if is_small(self, bytes) && self.memory.host.values().any(shares) {
            return;
        }
        let beyond = self.larger_bytes(bytes as u64).saturating_sub(SHARED_PAGES);
        let profile = &self.device().profile;
        let (more_ns, part) = match flags & WRITE_COMBINED {
            0 => (0.0, 1.0),
            _ => (profile.write_combined_lock_ns, WRITE_COMBINED_PAGES),
        };
        let pages_ns = beyond as f64 / profile.page_lock_bytes_per_second * 1e9;
        self.clock.advance(profile.page_lock_latency_ns + more_ns + part * pages_ns);
    }

    /// The driver locks pages of the program's while the host waits.
    pub(crate) fn registers_pages(&mut self, bytes: usize) {
        if self.memory.registered_is_device {
            return;
        }
        self.clock.advance(self.device().profile.page_register_latency_ns);
        self.host_works(bytes, self.device().profile.page_register_bytes_per_second);
    }

    /// The host uses memory of its own: pages of managed memory come to it first.
    pub(crate) fn host_touches(&mut self, address: u64, bytes: usize, writes: bool) {
        let moves = self.memory.managed.host_touches(
            address..address + bytes as u64,
            writes,
            self.clock.now,
        );
        self.clock.advance(copy_time::moves_ns(&self.device().profile, &moves, self.larger.work));
    }

    /// The host writes memory of its own.
    pub(crate) fn host_writes(&mut self, address: u64, bytes: usize) {
        self.host_touches(address, bytes, true);
    }

    /// The host reads memory of its own.
    pub(crate) fn host_reads(&mut self, address: u64, bytes: usize) {
        self.host_touches(address, bytes, false);
        let rate = if self.memory.is_write_combined(address) {
            self.device().profile.write_combined_read_bytes_per_second
        } else {
            self.device().profile.host_read_bytes_per_second
        };
        let start = self.clock.now;
        self.host_works(bytes, rate);
        let kind = OperationKind::HostRead(bytes as u64);
        self.recorder.note(kind, None, start..self.clock.now);
    }

    pub(crate) fn allocate(&mut self, bytes: usize) -> CuResult<u64> {
        self.context()?;
        self.allocate_on_device(bytes)
    }

    /// Allocates memory of the device that is meant.
    pub(crate) fn allocate_on_device(&mut self, bytes: usize) -> CuResult<u64> {
        if bytes == 0 {
            return Err(self.refuse(ReturnCode::INVALID_VALUE, "0 bytes are asked for"));
        }
        let taken = self.memory.device.allocate(bytes as u64);
        // Device memory goes before managed memory, which has the host to go to.
        let moves = self.memory.managed.shrink(self.memory.room_for_managed());
        self.clock.advance(copy_time::moves_ns(&self.device().profile, &moves, 1.0));
        taken.map_err(|error| self.refuse(ReturnCode::OUT_OF_MEMORY, error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::ContextState;
    use gpu_model::Profile;

    fn driver() -> Driver {
        Driver::new(Profile::named("h200").unwrap(), Options::default())
    }

    #[test]
    fn a_context_is_asked_for_after_the_start() {
        let mut driver = driver();
        assert_eq!(driver.allocate(64), Err(NOT_INITIALIZED));
        driver.initialized = true;
        assert_eq!(driver.allocate(64), Err(INVALID_CONTEXT));
        assert_eq!(driver.recorder.misuse[0].kind, MisuseKind::Context);
        let context = driver.objects.contexts.add(ContextState::default());
        thread::push_context(context);
        assert_eq!(driver.allocate(0), Err(ReturnCode::INVALID_VALUE));
        assert!(driver.allocate(64).is_ok());
        driver.device_mut().fault = Some(ReturnCode(700));
        assert_eq!(driver.context(), Err(ReturnCode(700)));
        thread::pop_context();
    }

    #[test]
    fn the_hosts_work_grows_with_the_size_that_it_stands_for() {
        let mut driver = driver();
        driver.host_reads(0, 1 << 20);
        let once = driver.clock.now;
        driver.larger = WorkScale { blocks: 1.0, ..WorkScale::all(8.0) };
        driver.host_reads(0, 1 << 20);
        assert!((driver.clock.now - 9.0 * once).abs() < 1e-6 * once);
    }
}
