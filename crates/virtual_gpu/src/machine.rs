//! The virtual device: its memory, its objects, the order of its work and its clock.

use crate::handles::Handles;
use crate::l2::AccessWindow;
use crate::misuse::{Misuse, MisuseKind};
use crate::model::{self, Direction, Larger, Load, Parts};
use crate::profile::Profile;
use crate::source::{Options, Order};
use crate::timeline::{Engine, Timeline};
use crate::work::{Fill, HostFunction, KernelLaunch, Operation, Slot, Work};
use cuda_driver::ReturnCode;
use cuda_driver::{OperationKind, OperationRecord};
use simt::{Memory, Module, Pieces, Report, Watched};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::c_void;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

/// What a driver function did: a return code is the error.
pub(crate) type Outcome<T = ()> = Result<T, ReturnCode>;

pub(crate) const NOT_INITIALIZED: ReturnCode = ReturnCode(3);
pub(crate) const INVALID_DEVICE: ReturnCode = ReturnCode(101);
pub(crate) const INVALID_CONTEXT: ReturnCode = ReturnCode(201);
pub(crate) const INVALID_HANDLE: ReturnCode = ReturnCode(400);
pub(crate) const NOT_FOUND: ReturnCode = ReturnCode(500);
pub(crate) const NOT_PERMITTED: ReturnCode = ReturnCode(800);
pub(crate) const CAPTURE_UNSUPPORTED: ReturnCode = ReturnCode(900);

/// `CU_MEMHOSTALLOC_WRITECOMBINED`.
const WRITE_COMBINED: u32 = 4;
/// Bytes that the driver is taken to lock at once for small page-locked allocations, which are those of up to half of it.
/// No document says so: on an H200 1 MiB cost a call where another allocation lived (pinned_memory/allocate_pinned), and
/// a page took `page_lock_latency_ns` where none did (`coalesce calibrate`).
const SHARED_PAGES: u64 = 2 << 20;

/// The legacy default stream's key; the driver's handles 0 and 1 both mean it.
pub(crate) const LEGACY: usize = 1;

thread_local! {
    /// The contexts of this thread, the current one last.
    pub(crate) static CONTEXTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// From the moment at which a host function could start to its start, for the driver's thread has to wake: an estimate.
const HOST_FUNCTION_NS: f64 = 10_000.0;

/// Blocks that a cluster may have on every device that has clusters, and when the program asks for more.
pub(crate) const PORTABLE_CLUSTER: u32 = 8;
const LARGEST_CLUSTER: u32 = 16;

/// Launches that are remembered until they are asked for; older ones are dropped.
const LAUNCHES_MAX: usize = 4096;
/// The same of operations.
const OPERATIONS_MAX: usize = 1 << 16;

/// A kernel that ran.
#[derive(Debug, Clone)]
pub struct LaunchRecord {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Exact: what the executor counted.
    pub report: Report,
    /// Model: how long each part of the device was busy.
    pub parts: Parts,
    /// Model: how long the kernel took, in nanoseconds.
    pub model_ns: f64,
}

/// Host memory that the driver knows.
#[derive(Debug)]
pub(crate) struct HostRegion {
    pub(crate) bytes: usize,
    pub(crate) kind: HostKind,
    pub(crate) flags: u32,
    /// The memory itself, when it is ours. Registered memory is the program's.
    pub(crate) _owned: Option<Vec<u128>>,
}

/// How the driver came to know host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostKind {
    Pinned,
    Registered,
    Managed,
}

#[derive(Debug, Default)]
pub(crate) struct StreamState {
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) tail: Option<usize>,
    pub(crate) capture: Option<StreamCapture>,
    /// What its kernels say L2 of addresses.
    pub(crate) window: Option<AccessWindow>,
}

/// A stream that is being captured: into which graph, and after which of its nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamCapture {
    pub(crate) capture: usize,
    pub(crate) tails: Vec<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct EventState {
    pub(crate) flags: u32,
    pub(crate) recorded: Option<usize>,
    pub(crate) captured: Option<StreamCapture>,
}

#[derive(Debug)]
pub(crate) struct FunctionState {
    pub(crate) module: usize,
    pub(crate) name: String,
    pub(crate) max_dynamic_shared_bytes: u32,
    pub(crate) carveout: i32,
    /// Clusters of more than [`PORTABLE_CLUSTER`] blocks are allowed.
    pub(crate) large_clusters: bool,
}

#[derive(Debug, Default)]
pub(crate) struct PoolState {
    pub(crate) threshold: u64,
    pub(crate) used: u64,
    pub(crate) used_max: u64,
    pub(crate) reserved: u64,
    pub(crate) reserved_max: u64,
}

/// Recorded work: each node with the nodes that it follows.
#[derive(Debug, Clone, Default)]
pub(crate) struct GraphState {
    pub(crate) nodes: Vec<(Work, Vec<usize>)>,
}

/// A capture under way.
#[derive(Debug, Default)]
pub(crate) struct CaptureState {
    pub(crate) origin: usize,
    pub(crate) graph: GraphState,
    pub(crate) invalid: bool,
}

/// The virtual device.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) profile: Profile,
    pub(crate) options: Options,
    /// How much larger kernels are taken to be than what they execute.
    pub(crate) larger: Larger,
    /// Kernels are recorded and not executed.
    pub(crate) skips_kernels: bool,
    /// Registers per thread of kernels, where they are known.
    pub(crate) registers: HashMap<String, u32>,
    pub(crate) initialised: bool,
    pub(crate) memory: Memory,
    pub(crate) host: BTreeMap<u64, HostRegion>,
    pub(crate) contexts: Handles<u32>,
    pub(crate) primary: Option<(usize, usize)>,
    pub(crate) primary_flags: u32,
    pub(crate) limits: [usize; 7],
    /// What the part of L2 that is set aside holds.
    pub(crate) persisting: Arc<Pieces>,
    /// What the call that is under way costs the host, where that is not as its kind has it.
    pub(crate) own_call_ns: Option<f64>,
    pub(crate) streams: Handles<StreamState>,
    pub(crate) default_streams: HashMap<usize, StreamState>,
    pub(crate) events: Handles<EventState>,
    pub(crate) modules: Handles<Arc<Module>>,
    pub(crate) functions: Handles<FunctionState>,
    pub(crate) pools: Handles<PoolState>,
    pub(crate) default_pool: usize,
    pub(crate) pool_of: HashMap<u64, usize>,
    pub(crate) captures: Handles<CaptureState>,
    pub(crate) graphs: Handles<GraphState>,
    pub(crate) executables: Handles<GraphState>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) timeline: Timeline,
    pub(crate) now: f64,
    pub(crate) call: &'static str,
    pub(crate) fault: Option<ReturnCode>,
    pub(crate) misuse: Vec<Misuse>,
    pub(crate) launches: VecDeque<LaunchRecord>,
    /// The warp of each launch whose requests are recorded.
    pub(crate) watched: Option<Watched>,
    pub(crate) operations: VecDeque<OperationRecord>,
    /// Work is being executed, possibly long after the call that enqueued it.
    is_executing: bool,
    /// No operation before this one is pending.
    pub(crate) first_pending: usize,
    /// Operations executed so far.
    executed: u64,
    /// After how many operations the device last wrote each page-locked range, by its first address.
    written: HashMap<u64, u64>,
    /// After how many operations a host function last ran: it may have written anything.
    host_function_ran: u64,
    random: u64,
}

/// Runs a driver function on the machine.
pub(crate) fn enter(call: &'static str, body: impl FnOnce(&mut Machine) -> Outcome) -> ReturnCode {
    if IN_HOST_FUNCTION.get() {
        return NOT_PERMITTED;
    }
    let Some(machine) = crate::source::machine() else { return NOT_INITIALIZED };
    let mut machine = machine.lock().unwrap_or_else(PoisonError::into_inner);
    machine.call = call;
    let start = machine.now;
    // A panic here is a bug of this crate; unwinding into a caller in C would end the process.
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut machine)));
    // Work is enqueued when the call begins; the host is held up until the call has ended.
    machine.now += machine.own_call_ns.take().unwrap_or(machine.profile.call_ns(call));
    let end = machine.now;
    if end > start {
        machine.note(OperationKind::Call { name: call }, None, start..end);
    }
    match outcome {
        Ok(Ok(())) => ReturnCode::SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => ReturnCode::UNKNOWN,
    }
}

impl Machine {
    pub(crate) fn new(profile: Profile, options: Options) -> Machine {
        let mut pools = Handles::new(7);
        let default_pool = pools.add(PoolState::default());
        let memory = Memory::new(profile.memory_bytes);
        let mut machine = Machine {
            memory,
            options,
            larger: Larger::default(),
            skips_kernels: false,
            registers: HashMap::new(),
            initialised: false,
            host: BTreeMap::new(),
            contexts: Handles::new(1),
            primary: None,
            primary_flags: 0,
            limits: [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0],
            persisting: Arc::default(),
            own_call_ns: None,
            streams: Handles::new(2),
            default_streams: HashMap::new(),
            events: Handles::new(3),
            modules: Handles::new(4),
            functions: Handles::new(5),
            pools,
            default_pool,
            pool_of: HashMap::new(),
            captures: Handles::new(8),
            graphs: Handles::new(9),
            executables: Handles::new(10),
            slots: Vec::new(),
            timeline: Timeline::default(),
            now: 0.0,
            call: "",
            fault: None,
            misuse: Vec::new(),
            launches: VecDeque::new(),
            watched: None,
            operations: VecDeque::new(),
            is_executing: false,
            first_pending: 0,
            executed: 0,
            written: HashMap::new(),
            host_function_ran: 0,
            random: 0,
            profile,
        };
        machine.set_options(options);
        machine
    }

    /// Changes how the device runs from here on.
    pub(crate) fn set_options(&mut self, options: Options) {
        if options.checks.uninitialised {
            self.memory.track_initialisation();
        }
        if let Order::Seeded(seed) = options.order {
            self.random = seed;
        }
        self.options = options;
    }

    /// A context is current on this thread and has not failed.
    pub(crate) fn context(&mut self) -> Outcome<usize> {
        if !self.initialised {
            return Err(NOT_INITIALIZED);
        }
        let current = CONTEXTS
            .with_borrow(|contexts| contexts.last().copied())
            .filter(|context| *context != 0);
        let Some(context) = current.filter(|context| self.contexts.get(*context).is_ok()) else {
            let message = "no context is current on this thread; make one current first".to_owned();
            self.report(MisuseKind::Context, message);
            return Err(INVALID_CONTEXT);
        };
        self.fault.map_or(Ok(context), Err)
    }

    /// The host works on so many bytes, and its clock moves on.
    fn host_works(&mut self, bytes: usize, bytes_per_second: f64) {
        self.now += self.larger_bytes(bytes as u64) as f64 / bytes_per_second * 1e9;
    }

    /// The driver locks pages for an allocation while the host waits. Small ones share pages that stay locked while one
    /// of them lives.
    pub(crate) fn allocates_page_locked(&mut self, bytes: usize, flags: u32) {
        let is_small = |machine: &Machine, bytes: usize| {
            machine.larger_bytes(bytes as u64) <= SHARED_PAGES / 2
        };
        let shares = |region: &HostRegion| {
            region.kind == HostKind::Pinned
                && is_small(self, region.bytes)
                && (region.flags ^ flags) & WRITE_COMBINED == 0
        };
        if is_small(self, bytes) && self.host.values().any(shares) {
            return;
        }
        let beyond = self.larger_bytes(bytes as u64).saturating_sub(SHARED_PAGES);
        self.now += self.profile.page_lock_latency_ns
            + beyond as f64 / self.profile.page_lock_bytes_per_second * 1e9;
        if flags & WRITE_COMBINED != 0 {
            self.now += self.profile.write_combined_lock_ns;
        }
    }

    /// The driver locks pages of the program's while the host waits.
    pub(crate) fn registers_pages(&mut self, bytes: usize) {
        self.now += self.profile.page_register_latency_ns;
        self.host_works(bytes, self.profile.page_register_bytes_per_second);
    }

    /// The host reads memory of its own.
    pub(crate) fn host_reads(&mut self, address: u64, bytes: usize) {
        let region = self.host.range(..=address).next_back();
        let is_write_combined = region.is_some_and(|(start, region)| {
            address < start + region.bytes as u64 && region.flags & WRITE_COMBINED != 0
        });
        let rate = if is_write_combined {
            self.profile.write_combined_read_bytes_per_second
        } else {
            self.profile.host_read_bytes_per_second
        };
        let start = self.now;
        self.host_works(bytes, rate);
        self.note(OperationKind::HostRead { bytes: bytes as u64 }, None, start..self.now);
    }

    /// Remembers what device or host did.
    pub(crate) fn note(&mut self, kind: OperationKind, stream: Option<usize>, time: Range<f64>) {
        if self.operations.len() == OPERATIONS_MAX {
            self.operations.pop_front();
        }
        let Range { start: start_ns, end: end_ns } = time;
        self.operations.push_back(OperationRecord { kind, stream, start_ns, end_ns });
    }

    /// Notes a mistake of the program.
    pub(crate) fn report(&mut self, kind: MisuseKind, message: String) {
        let call = self.call;
        let same =
            |other: &Misuse| other.kind == kind && other.call == call && other.message == message;
        if self.misuse.iter().any(same) {
            return;
        }
        // Work that runs late is no longer in the call that enqueued it.
        let location = if self.is_executing { None } else { crate::misuse::caller() };
        let misuse = Misuse { kind, call, message, location };
        // Pageable memory costs time and is no error: programs that use it use it everywhere.
        if self.options.announce && kind != MisuseKind::PageableAsyncCopy {
            eprintln!("virtual {}: {misuse}", self.profile.name);
        }
        self.misuse.push(misuse);
    }

    /// Notes that a call asks for something that is missing here, and gives the code to answer with.
    pub(crate) fn unsupported(&mut self, what: &str) -> ReturnCode {
        self.report(MisuseKind::Unsupported, format!("the virtual device does not support {what}"));
        ReturnCode::NOT_SUPPORTED
    }

    /// Notes a failure of asynchronous work; every later call of the context returns it.
    fn fail(&mut self, kind: MisuseKind, code: ReturnCode, message: String) {
        self.report(kind, message);
        self.fault.get_or_insert(code);
    }

    /// What is still allocated.
    pub(crate) fn leaks(&self) -> Vec<Misuse> {
        let device = self
            .memory
            .allocations()
            .into_iter()
            .filter(|one| !one.is_mapped && one.label.is_empty());
        let device = device.map(|one| {
            format!("{} bytes of device memory at {:#x} were never freed", one.bytes, one.address)
        });
        let host = self.host.iter().map(|(address, region)| {
            format!(
                "{} bytes of {:?} host memory at {address:#x} were never freed",
                region.bytes, region.kind
            )
        });
        let messages = device.chain(host);
        messages
            .map(|message| Misuse {
                kind: MisuseKind::Leak,
                call: "at exit",
                message,
                location: None,
            })
            .collect()
    }

    /// The key under which a stream handle of the driver's is found.
    pub(crate) fn key(stream: usize) -> usize {
        if stream == 0 { LEGACY } else { stream }
    }

    /// The stream, creating default streams when they are first used.
    pub(crate) fn stream(&mut self, stream: usize) -> Outcome<&mut StreamState> {
        match Machine::key(stream) {
            key @ (LEGACY | 2) => Ok(self.default_streams.entry(key).or_default()),
            key => self.streams.get_mut(key),
        }
    }

    /// The operations that new work on the stream follows.
    fn dependencies(&mut self, stream: usize) -> Outcome<Vec<usize>> {
        let key = Machine::key(stream);
        let own = self.stream(stream)?;
        let (non_blocking, tail) = (own.flags & 1 != 0, own.tail);
        let mut dependencies: Vec<usize> = tail.into_iter().collect();
        if key == LEGACY {
            let others = self
                .streams
                .values()
                .filter(|other| other.flags & 1 == 0)
                .filter_map(|other| other.tail);
            dependencies.extend(others);
            dependencies.extend(self.default_streams.get(&2).and_then(|other| other.tail));
        } else if !non_blocking {
            dependencies.extend(self.default_streams.get(&LEGACY).and_then(|legacy| legacy.tail));
        }
        Ok(dependencies)
    }

    /// Enqueues work on a stream, or records it when the stream is being captured.
    pub(crate) fn submit(&mut self, stream: usize, mut work: Work) -> Outcome<Option<usize>> {
        if let Some(capturing) = self.stream(stream)?.capture.clone() {
            if let Work::Kernel(kernel) = &mut work {
                kernel.in_graph = true;
            }
            // Nothing is handed to the device.
            self.own_call_ns = Some(self.profile.api_call_ns);
            let capture = self.captures.get_mut(capturing.capture)?;
            capture.graph.nodes.push((work, capturing.tails));
            let node = capture.graph.nodes.len() - 1;
            self.stream(stream)?.capture =
                Some(StreamCapture { capture: capturing.capture, tails: vec![node] });
            return Ok(None);
        }
        let implicit = Machine::key(stream) == LEGACY;
        if implicit
            && self.streams.values().any(|other| other.flags & 1 == 0 && other.capture.is_some())
        {
            return Err(ReturnCode(906));
        }
        let dependencies = self.dependencies(stream)?;
        let id = self.push(stream, work, dependencies);
        self.stream(stream)?.tail = Some(id);
        if self.options.order == Order::Immediate {
            self.run_until(id);
        }
        Ok(Some(id))
    }

    fn push(&mut self, stream: usize, work: Work, dependencies: Vec<usize>) -> usize {
        let fingerprint =
            if self.options.watch_host_memory { self.fingerprint(&work) } else { None };
        let operation = Operation {
            work,
            dependencies,
            stream: Machine::key(stream),
            enqueued: self.now,
            executed: self.executed,
            call: self.call,
            fingerprint,
        };
        self.slots.push(Slot::Pending(Box::new(operation)));
        self.slots.len() - 1
    }

    /// Enqueues all work of a graph.
    pub(crate) fn submit_graph(&mut self, stream: usize, graph: &GraphState) -> Outcome {
        let before = self.dependencies(stream)?;
        let mut ids = Vec::with_capacity(graph.nodes.len());
        for (work, follows) in &graph.nodes {
            let dependencies = if follows.is_empty() {
                before.clone()
            } else {
                follows.iter().map(|node| ids[*node]).collect()
            };
            ids.push(self.push(stream, work.clone(), dependencies));
        }
        ids.extend(before);
        let end = self.push(stream, Work::Marker, ids);
        self.stream(stream)?.tail = Some(end);
        if self.options.order == Order::Immediate {
            self.run_until(end);
        }
        Ok(())
    }

    /// Makes later work on the stream follow `operation`.
    pub(crate) fn follow(&mut self, stream: usize, operation: usize) -> Outcome {
        let mut dependencies = self.dependencies(stream)?;
        dependencies.push(operation);
        let id = self.push(stream, Work::Marker, dependencies);
        self.stream(stream)?.tail = Some(id);
        Ok(())
    }

    /// When the operation ends, once it was executed.
    pub(crate) fn end(&self, id: usize) -> Option<f64> {
        match &self.slots[id] {
            Slot::Done(end, _) => Some(*end),
            Slot::Pending(_) => None,
        }
    }

    /// What is pending of an operation and everything that it follows.
    fn follows(&self, id: usize) -> BTreeSet<usize> {
        let mut wanted = BTreeSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if let Slot::Pending(operation) = &self.slots[id]
                && wanted.insert(id)
            {
                open.extend(&operation.dependencies);
            }
        }
        wanted
    }

    /// Executes an operation and everything that it follows, and nothing else.
    pub(crate) fn run_until(&mut self, id: usize) -> f64 {
        let wanted = self.follows(id);
        if let Order::Seeded(_) = self.options.order {
            self.run_permuted(wanted);
        } else {
            // An operation only ever follows earlier ones.
            wanted.into_iter().for_each(|id| self.execute(id));
        }
        self.end(id).unwrap_or(self.now)
    }

    /// Executes a set of operations in an order drawn from those that are allowed.
    fn run_permuted(&mut self, mut wanted: BTreeSet<usize>) {
        while !wanted.is_empty() {
            let ready: Vec<usize> =
                wanted.iter().copied().filter(|id| self.is_ready(*id)).collect();
            // SplitMix64's increment and one of its multipliers: any sequence that the seed decides will do.
            self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let chosen = ready[(mixed >> 33) as usize % ready.len()];
            wanted.remove(&chosen);
            self.execute(chosen);
        }
    }

    fn is_ready(&self, id: usize) -> bool {
        match &self.slots[id] {
            Slot::Pending(operation) => {
                operation.dependencies.iter().all(|other| self.end(*other).is_some())
            }
            Slot::Done(..) => true,
        }
    }

    /// Executes everything that is pending, as a call does that waits for the device.
    pub(crate) fn run_all(&mut self) {
        let pending: BTreeSet<usize> =
            (self.first_pending..self.slots.len()).filter(|id| self.end(*id).is_none()).collect();
        if let Order::Seeded(_) = self.options.order {
            self.run_permuted(pending.clone());
        } else {
            pending.iter().for_each(|id| self.execute(*id));
        }
        let end = pending.iter().filter_map(|id| self.end(*id)).fold(self.now, f64::max);
        let tails: Vec<usize> = self
            .streams
            .values()
            .chain(self.default_streams.values())
            .filter_map(|s| s.tail)
            .collect();
        self.now = tails.into_iter().filter_map(|id| self.end(id)).fold(end, f64::max);
        self.forget_the_past();
        self.settle_pools();
    }

    /// Drops from the timeline what nothing can be booked before any more: work that is pending may still have been
    /// ready earlier than now.
    fn forget_the_past(&mut self) {
        while matches!(self.slots.get(self.first_pending), Some(Slot::Done(..))) {
            self.first_pending += 1;
        }
        let horizon = match self.slots.get(self.first_pending) {
            Some(Slot::Pending(operation)) => operation.enqueued.min(self.now),
            _ => self.now,
        };
        self.timeline.forget_before(horizon);
    }

    /// The operations that are pending, in the order in which they were enqueued.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Operation> {
        self.slots[self.first_pending..].iter().filter_map(|slot| match slot {
            Slot::Pending(operation) => Some(&**operation),
            Slot::Done(..) => None,
        })
    }

    /// Waits for an operation: the host's clock moves to its end.
    pub(crate) fn wait(&mut self, id: usize) -> Outcome {
        let end = self.run_until(id);
        self.now = self.now.max(end);
        self.forget_the_past();
        self.settle_pools();
        self.fault.map_or(Ok(()), Err)
    }

    /// A pool gives back what it keeps above its threshold when the host synchronises, which takes the host's time.
    fn settle_pools(&mut self) {
        for pool in self.pools.values_mut() {
            let kept = pool.used.max(pool.reserved.min(pool.threshold));
            if kept < pool.reserved {
                pool.reserved = kept;
                self.now += self.profile.device_memory_call_ns;
            }
        }
    }

    /// Waits for a stream.
    pub(crate) fn synchronise(&mut self, stream: usize) -> Outcome {
        if let Some(capturing) = self.stream(stream)?.capture.clone() {
            self.captures.get_mut(capturing.capture)?.invalid = true;
            return Err(CAPTURE_UNSUPPORTED);
        }
        let dependencies = self.dependencies(stream)?;
        dependencies.into_iter().try_for_each(|id| self.wait(id))
    }

    /// Whether an operation has ended by the host's clock.
    pub(crate) fn poll(&mut self, id: usize) -> Outcome {
        // A host function may wait for what the host does after this call, so it runs no earlier than it must.
        let waits = self.follows(id).into_iter().any(|id| match &self.slots[id] {
            Slot::Pending(operation) => {
                matches!(operation.work, Work::Host(_))
                    && operation.enqueued + HOST_FUNCTION_NS > self.now
            }
            Slot::Done(..) => false,
        });
        if waits {
            return Err(ReturnCode::NOT_READY);
        }
        let end = self.run_until(id);
        match self.fault {
            Some(code) => Err(code),
            None if end <= self.now => Ok(()),
            None => Err(ReturnCode::NOT_READY),
        }
    }

    /// Executes one operation whose dependencies were executed.
    fn execute(&mut self, id: usize) {
        let Slot::Pending(operation) =
            std::mem::replace(&mut self.slots[id], Slot::Done(0.0, None))
        else {
            return;
        };
        let latency = match operation.work {
            Work::Kernel(_) | Work::Fill(_) | Work::Marker => self.profile.launch_latency_ns,
            Work::Copy(_) | Work::Prefetch(..) => self.profile.copy_latency_ns,
            Work::Host(_) => HOST_FUNCTION_NS,
            Work::Release(_) => 0.0,
        };
        let engine = self.engine(&operation.work);
        let (mut ready, mut before) = (operation.enqueued + latency, None);
        for dependency in &operation.dependencies {
            let Slot::Done(end, on) = &self.slots[*dependency] else { continue };
            let switches = engine.is_some() && on.is_some() && engine != *on;
            let end = if switches { end + self.profile.engine_switch_ns } else { *end };
            if end > ready {
                (ready, before) = (end, *on);
            }
        }
        let call = std::mem::replace(&mut self.call, operation.call);
        self.is_executing = true;
        self.notice_overtaking(id, &operation);
        let end = if self.fault.is_some() {
            ready
        } else {
            let (kind, time) = self.perform(&operation, ready);
            let end = time.end;
            if let Some(kind) = kind {
                self.note(kind, Some(operation.stream), time);
            }
            end
        };
        self.is_executing = false;
        self.executed += 1;
        self.note_writes(&operation.work);
        self.call = call;
        self.slots[id] = Slot::Done(end, engine.or(before));
    }

    /// The engine that does the work, if it takes an engine's time.
    fn engine(&self, work: &Work) -> Option<Engine> {
        match work {
            Work::Kernel(_) | Work::Fill(_) => Some(Engine::Compute),
            Work::Copy(copy) => match self.direction(copy) {
                Direction::Upload(_) => Some(Engine::Upload),
                Direction::Download(_) => Some(Engine::Download),
                Direction::Device => Some(Engine::Compute),
                Direction::Host => None,
            },
            Work::Prefetch(_, true) => Some(Engine::Upload),
            Work::Prefetch(_, false) => Some(Engine::Download),
            Work::Marker | Work::Host(_) | Work::Release(_) => None,
        }
    }

    /// Does the work and says when it starts and ends.
    fn perform(
        &mut self,
        operation: &Operation,
        ready: f64,
    ) -> (Option<OperationKind>, Range<f64>) {
        let at_once = |kind| (kind, ready..ready);
        let (kind, time) = match &operation.work {
            Work::Marker => return self.marker(operation, ready),
            Work::Host(function) => {
                call_host(*function);
                return at_once(Some(OperationKind::HostFunction));
            }
            Work::Release(address) => {
                self.release(*address);
                return at_once(None);
            }
            Work::Copy(copy) => {
                self.notice_changes(operation);
                let direction = self.direction(copy);
                let Some(duration) = self.copy(copy) else { return at_once(None) };
                let kind = operation_kind(direction, copy.bytes());
                (kind, self.book_copy(direction, ready, duration))
            }
            Work::Fill(fill) => {
                let Some(duration) = self.fill(*fill) else { return at_once(None) };
                let bytes = (fill.width * fill.size * fill.height) as u64;
                (OperationKind::Fill { bytes }, self.timeline.compute(ready, duration, 1.0))
            }
            Work::Kernel(kernel) => {
                let Some(duration) = self.kernel(kernel) else { return at_once(None) };
                let kind = OperationKind::Kernel { name: kernel.launch.kernel.clone() };
                (kind, self.timeline.compute(ready, duration, kernel.share))
            }
            Work::Prefetch(bytes, to_device) => {
                let direction =
                    if *to_device { Direction::Upload(false) } else { Direction::Download(false) };
                let taken = self.larger_bytes(*bytes);
                let duration = model::copy_ns(&self.profile, direction, taken);
                let kind = operation_kind(direction, *bytes);
                (kind, self.book_copy(direction, ready, duration))
            }
        };
        // What a call staged was noted there.
        let is_staged = matches!(&operation.work, Work::Copy(copy) if copy.staged.is_some());
        ((!is_staged).then_some(kind), time)
    }

    /// An event, which takes no time, or a wait, which takes what is left of another stream's work.
    fn marker(&self, operation: &Operation, ready: f64) -> (Option<OperationKind>, Range<f64>) {
        if operation.call != "cuStreamWaitEvent" {
            let kind = operation.call.starts_with("cuEventRecord").then_some(OperationKind::Event);
            return (kind, ready..ready);
        }
        // What the stream waits for is the last; what it has itself comes before.
        let own = operation.dependencies.split_last().map_or(&[][..], |(_, own)| own);
        let free = operation.enqueued + self.profile.launch_latency_ns;
        let start = own.iter().filter_map(|id| self.end(*id)).fold(free, f64::max);
        ((start < ready).then_some(OperationKind::Wait), start.min(ready)..ready)
    }

    /// Books a copy on the engine of its direction, and says when it runs.
    fn book_copy(&mut self, direction: Direction, ready: f64, duration: f64) -> Range<f64> {
        let rate = model::bus_rate(&self.profile, direction);
        let bus = rate / self.profile.both_ways_bytes_per_second;
        match direction {
            Direction::Upload(_) => self.timeline.copy(true, ready, duration, bus),
            Direction::Download(_) => self.timeline.copy(false, ready, duration, bus),
            Direction::Device => self.timeline.compute(ready, duration, 1.0),
            Direction::Host => ready..ready + duration,
        }
    }

    /// What a copy or a fill of so many bytes is taken to be.
    pub(crate) fn larger_bytes(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.larger.work) as u64
    }

    /// Remembers which page-locked memory an operation may have written.
    fn note_writes(&mut self, work: &Work) {
        let addresses: Vec<u64> = match work {
            Work::Copy(copy) => vec![copy.target.address],
            Work::Fill(fill) => vec![fill.address],
            Work::Kernel(kernel) => {
                let words =
                    kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
                words.map(|word| u64::from_le_bytes(*word)).collect()
            }
            Work::Host(_) => {
                self.host_function_ran = self.executed;
                return;
            }
            Work::Marker | Work::Release(_) | Work::Prefetch(..) => return,
        };
        for address in addresses {
            if let Some(allocation) =
                self.memory.allocation(address).filter(|allocation| allocation.is_mapped)
            {
                self.written.insert(allocation.address, self.executed);
            }
        }
    }

    /// Whether the device may have written the page-locked range of `address` since `executed` operations had run.
    pub(crate) fn device_wrote_since(&self, address: u64, executed: u64) -> bool {
        let base = self.memory.allocation(address).map_or(address, |allocation| allocation.address);
        self.host_function_ran > executed
            || self.written.get(&base).is_some_and(|last| *last > executed)
    }

    fn release(&mut self, address: u64) {
        if let Err(error) = self.memory.free(address) {
            self.fail(
                MisuseKind::DoubleFree,
                ReturnCode::INVALID_VALUE,
                format!("freeing {address:#x}: {error}"),
            );
        }
    }

    fn fill(&mut self, fill: Fill) -> Option<f64> {
        let row_bytes = fill.width * fill.size;
        let pattern = fill.value.to_le_bytes();
        for row in 0..fill.height {
            let address = fill.address + (row * fill.pitch) as u64;
            let done = if pattern[..fill.size].iter().all(|byte| *byte == pattern[0]) {
                self.memory.fill(address, pattern[0], row_bytes)
            } else {
                let values: Vec<u8> =
                    pattern[..fill.size].iter().copied().cycle().take(row_bytes).collect();
                self.memory.write(address, &values)
            };
            if let Err(error) = done {
                let kind = self.kind_of(address);
                self.fail(kind, ReturnCode::INVALID_VALUE, format!("a fill of {error}"));
                return None;
            }
        }
        let bytes = self.larger_bytes((row_bytes * fill.height) as u64);
        Some(model::fill_ns(&self.profile, bytes))
    }

    fn kernel(&mut self, kernel: &KernelLaunch) -> Option<f64> {
        let options = simt::Options {
            checks: self.options.checks,
            fuel: self.options.fuel,
            limits: self.limits_of_device(),
            estimate: Some(self.profile.latencies(kernel.shared_bytes, kernel.resident)),
            far: self.mapped_ranges(),
            watched: self.watched,
            l2: self.l2(kernel.window),
            ..simt::Options::default()
        };
        if self.skips_kernels {
            self.remember(kernel, Report::default(), Parts::default(), 0.0);
            return Some(0.0);
        }
        let report = match simt::run(&kernel.module, &mut self.memory, &kernel.launch, &options) {
            Ok(report) => report,
            Err(error) => {
                let code = code_of(&error);
                self.fail(MisuseKind::KernelFault, code, error.to_string());
                return None;
            }
        };
        for finding in &report.findings {
            self.report(MisuseKind::KernelHazard, finding.to_string());
        }
        let estimate = report.estimate.clone().unwrap_or_default();
        self.keep(&estimate.kept);
        let load = Load {
            counters: &report.counters,
            once: &report.once,
            estimate: &estimate,
            warps: report.warps,
            blocks: report.blocks,
            resident: kernel.resident,
            larger: self.larger,
        };
        let parts = model::parts(&self.profile, &load);
        let minimum_ns = if kernel.in_graph {
            self.profile.graph_kernel_minimum_ns
        } else {
            self.profile.kernel_minimum_ns
        };
        let model_ns = minimum_ns + parts.together_ns();
        self.remember(kernel, report, parts, model_ns);
        Some(model_ns)
    }

    fn remember(&mut self, kernel: &KernelLaunch, report: Report, parts: Parts, model_ns: f64) {
        if self.launches.len() == LAUNCHES_MAX {
            self.launches.pop_front();
        }
        self.launches.push_back(LaunchRecord {
            kernel: kernel.launch.kernel.clone(),
            grid: kernel.launch.grid,
            block: kernel.launch.block,
            report,
            parts,
            model_ns,
        });
    }

    pub(crate) fn limits_of_device(&self) -> simt::Limits {
        simt::Limits {
            shared_bytes_per_block: self.profile.shared_bytes_per_block_opt_in,
            threads_per_block: self.profile.max_threads_per_block,
            multiprocessors: self.profile.multiprocessors,
            blocks_per_multiprocessor: self.profile.blocks_per_multiprocessor,
            blocks_per_cluster: if self.profile.has_clusters() { LARGEST_CLUSTER } else { 1 },
            ..simt::Limits::default()
        }
    }

    /// Page-locked host memory, which kernels reach over the bus. Managed memory moves instead.
    fn mapped_ranges(&self) -> Vec<Range<u64>> {
        let mapped = self.host.iter().filter(|(_, region)| region.kind != HostKind::Managed);
        mapped.map(|(start, region)| *start..start + region.bytes as u64).collect()
    }

    /// Whether an address that no allocation holds was once one's.
    pub(crate) fn kind_of(&self, address: u64) -> MisuseKind {
        if self.memory.describe(address).contains("freed") {
            MisuseKind::UseAfterFree
        } else {
            MisuseKind::OutOfBounds
        }
    }
}

/// Calls a function of the host's; a panic in it must not leave the machine.
fn call_host(function: HostFunction) {
    IN_HOST_FUNCTION.set(true);
    let data = std::ptr::with_exposed_provenance_mut::<c_void>(function.data);
    // SAFETY: the program gave function and data to cuLaunchHostFunc (or a graph) to be called together, in stream
    // order, which is now.
    unsafe { (function.function)(data) };
    IN_HOST_FUNCTION.set(false);
}

/// The driver's code for what stopped a kernel.
fn code_of(error: &simt::Error) -> ReturnCode {
    ReturnCode(match error {
        simt::Error::IllegalAddress { .. } => 700,
        simt::Error::MisalignedAddress { .. } => 716,
        simt::Error::Trap { message, .. } if !message.is_empty() => 710,
        simt::Error::Trap { .. } => 719,
        simt::Error::Deadlock { .. } | simt::Error::OutOfFuel { .. } => 702,
        simt::Error::IllegalInstruction { .. } => 715,
        simt::Error::OutOfMemory { .. } => 2,
        simt::Error::Unsupported { .. } => 801,
        _ => 1,
    })
}

/// What a copy is in the record of operations.
fn operation_kind(direction: Direction, bytes: u64) -> OperationKind {
    match direction {
        Direction::Upload(_) => OperationKind::Upload { bytes },
        Direction::Download(_) => OperationKind::Download { bytes },
        Direction::Device => OperationKind::DeviceCopy { bytes },
        Direction::Host => OperationKind::HostCopy { bytes },
    }
}
