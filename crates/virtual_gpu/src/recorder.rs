//! The memory of a virtual GPU until it is asked: kernels, operations and mistakes.

use crate::code;
use crate::misuse::{KernelFault, Misuse, MisuseKind, MisusedMemory, caller, place_of};
use cuda_driver::{OperationKind, OperationRecord, ReturnCode};
use gpu_model::Estimate;
use gpu_model::PageMoves;
use gpu_model::kernel_time::Parts;
use simt::{Module, Report};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Launches that are remembered until they are asked for; older ones are dropped.
const MAX_LAUNCHES: usize = 4096;
/// The same of operations.
const MAX_OPERATIONS: usize = 1 << 16;

/// The allocations of a mistake that was noted, each with its place in [`Recorder::misuse`].
type Noted = Vec<(Option<u64>, usize)>;
/// Allocations with which a program is shown to make the same mistake.
const MAX_ALLOCATIONS: usize = 8;

/// A kernel that ran.
#[derive(Debug, Clone)]
pub struct LaunchRecord {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared_bytes: u32,
    /// Warps that fit on a multiprocessor at once, over those that it could hold.
    pub occupancy: f64,
    /// The module that the kernel is of.
    pub module: Arc<Module>,
    /// Exact: what the executor counted.
    pub report: Report,
    /// Model: its waiting and its traffic behind the caches; none on a device without a model of time.
    pub estimate: Option<Estimate>,
    /// Model: how long each part of the device was busy.
    pub parts: Parts,
    /// Model: pages of managed memory that it moved. Its time waits for them.
    pub moves: PageMoves,
    /// Model: how long the kernel took, in nanoseconds.
    pub model_ns: f64,
    /// Model: how long a profiler would show that it took, alone on the device.
    pub profiled_ns: f64,
    /// The sentence of what ended it before its end; then the report is of what it did until then.
    pub fault: Option<String>,
    /// The instruction at which that showed, where one did.
    pub fault_place: Option<simt::Place>,
}

/// A record of what orders the work of a device, of which times say nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderRecord {
    /// Work was enqueued.
    Enqueued {
        /// Its number.
        id: usize,
        /// Its kind, if it is a copy or a kernel.
        kind: Option<OperationKind>,
        /// The numbers of what it follows.
        after: Vec<usize>,
    },
    /// The host has waited for work of these numbers: what it enqueues from here on follows it.
    Waited(Vec<usize>),
}

/// A listener to each launch.
pub(crate) struct Observer(pub(crate) Box<dyn FnMut(LaunchRecord) + Send>);

impl fmt::Debug for Observer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Observer")
    }
}

/// A listener to the names of kernels that are enqueued.
pub(crate) struct EnqueuedObserver(pub(crate) Box<dyn FnMut(&str) + Send>);

impl fmt::Debug for EnqueuedObserver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EnqueuedObserver")
    }
}

/// The records since they were last asked for.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// The call of the driver that is under way, or whose work is being executed.
    pub(crate) call: &'static str,
    /// The calls so far.
    pub(crate) calls: u64,
    /// The mistake that the call under way was found to make.
    cause: Option<usize>,
    /// The reason for which it will fail.
    pub(crate) reason: Option<String>,
    /// Work is being executed, possibly long after the call that enqueued it.
    pub(crate) is_executing: bool,
    /// The instruction of the host that made the mistake which is reported, where that is no call.
    pub(crate) host_code: Option<[u64; 2]>,
    /// The name under which mistakes go to standard error, if they do.
    pub(crate) announced_by: Option<String>,
    pub(crate) misuse: Vec<Misuse>,
    /// The mistakes in the order of streams by call and begin of the sentence: for each allocation its place in `misuse`.
    orders: HashMap<(&'static str, String), Noted>,
    /// Kernels whose contraction was reported.
    pub(crate) contracted: HashSet<String>,
    /// The kernels that have been launched: a first launch takes longer.
    pub(crate) launched: HashSet<String>,
    /// Allocations whose unwritten bytes were reported.
    pub(crate) unwritten: HashSet<u64>,
    /// A kernel ran.
    pub(crate) has_launched: bool,
    /// The program asked for the tables that the CUDA runtime needs.
    pub(crate) asks_for_tables: bool,
    pub(crate) launches: VecDeque<LaunchRecord>,
    /// Is given each launch, which is then not remembered.
    pub(crate) observer: Option<Observer>,
    /// Is given the kernel of each launch when it is enqueued.
    pub(crate) observer_of_enqueued: Option<EnqueuedObserver>,
    /// Is given each launch when it begins.
    pub(crate) observer_of_begins: Option<Observer>,
    pub(crate) operations: VecDeque<OperationRecord>,
    /// The order of the work, if somebody asked for it.
    pub(crate) order: Option<Vec<OrderRecord>>,
}

impl Recorder {
    /// Remembers what device or host did.
    pub(crate) fn note(&mut self, kind: OperationKind, stream: Option<usize>, time: Range<f64>) {
        let Range { start: start_ns, end: end_ns } = time;
        let record = OperationRecord { kind, stream, start_ns, end_ns };
        push_within(&mut self.operations, MAX_OPERATIONS, record);
    }

    /// Remembers what orders work, if somebody asked for it and there is room.
    pub(crate) fn ordered(&mut self, record: impl FnOnce() -> OrderRecord) {
        if let Some(order) = self.order.as_mut().filter(|order| order.len() < MAX_OPERATIONS) {
            order.push(record());
        }
    }

    /// Tells who wants to know that a kernel is enqueued.
    pub(crate) fn enqueued(&mut self, kernel: &str) {
        if let Some(EnqueuedObserver(observer)) = &mut self.observer_of_enqueued {
            observer(kernel);
        }
    }

    /// Tells who wants to know that a kernel begins to run.
    pub(crate) fn begins(&mut self, record: LaunchRecord) {
        if let Some(Observer(observer)) = &mut self.observer_of_begins {
            observer(record);
        }
    }

    /// Remembers a kernel that ran.
    pub(crate) fn launched(&mut self, record: LaunchRecord) {
        self.has_launched = true;
        match &mut self.observer {
            Some(Observer(observer)) => observer(record),
            None => push_within(&mut self.launches, MAX_LAUNCHES, record),
        }
    }

    /// Notes a mistake of the program, once.
    pub(crate) fn report(&mut self, kind: MisuseKind, message: String) {
        self.note_misuse(kind, None, None, None, message);
    }

    /// Notes that nothing orders two uses of memory: once for each allocation, and of a program that makes the mistake with
    /// many allocations those beyond the first with the last of these.
    pub(crate) fn report_order(&mut self, memory: MisusedMemory, message: String) {
        self.report_about(MisuseKind::MissingOrder, memory, message);
    }

    /// The same of a kind of mistake.
    pub(crate) fn report_about(
        &mut self,
        kind: MisuseKind,
        memory: MisusedMemory,
        message: String,
    ) {
        let base = memory.allocation();
        let known =
            self.orders.entry((self.call, before_address(&message).to_owned())).or_default();
        let same = known.iter().find(|(other, _)| *other == base);
        let same = same.or_else(|| known.last().filter(|_| known.len() == MAX_ALLOCATIONS));
        if let Some(misuse) = same.and_then(|(_, index)| self.misuse.get_mut(*index)) {
            misuse.count += 1;
            return;
        }
        known.push((base, self.misuse.len()));
        self.note_misuse(kind, None, Some(memory), None, message);
    }

    pub(crate) fn report_fault(&mut self, error: &simt::Error) {
        let (fault, memory) = (KernelFault::of(error), MisusedMemory::of(error));
        self.note_misuse(MisuseKind::KernelFault, Some(fault), memory, None, error.to_string());
    }

    fn note_misuse(
        &mut self,
        kind: MisuseKind,
        fault: Option<KernelFault>,
        memory: Option<MisusedMemory>,
        code: Option<ReturnCode>,
        message: String,
    ) {
        let call = self.call;
        let same =
            |other: &Misuse| other.kind == kind && other.call == call && other.message == message;
        let known = self.misuse.iter().position(same);
        // What a call itself does wrong, and not work that it runs, is why it fails.
        if !self.is_executing && !kind.is_advice() {
            self.cause = Some(known.unwrap_or(self.misuse.len()));
        }
        if let Some(known) = known {
            self.misuse[known].count += 1;
            return;
        }
        // Work that runs late is no longer in the call that enqueued it.
        let location = match self.host_code {
            Some(code) => place_of(code),
            None if self.is_executing => None,
            None => caller(),
        };
        let count = 1;
        let misuse = Misuse { kind, fault, memory, call, code, message, count, location };
        // What costs time is no error: programs that use pageable memory use it everywhere. After a failure every call fails.
        let is_told = !matches!(kind, MisuseKind::PageableAsyncCopy | MisuseKind::FailedSince);
        if let Some(name) = self.announced_by.as_ref().filter(|_| is_told) {
            eprintln!("{name}: {misuse}");
        }
        self.misuse.push(misuse);
    }

    /// A call of the program's begins.
    pub(crate) fn begin_call(&mut self, call: &'static str) {
        (self.call, self.cause, self.reason) = (call, None, None);
        self.calls += 1;
    }

    /// The call that is under way failed. What it was found to do wrong is why, or the reason that was given, or else what
    /// the code means.
    pub(crate) fn fails(&mut self, code: ReturnCode, kind: MisuseKind) {
        if let Some(cause) = self.cause.and_then(|cause| self.misuse.get_mut(cause)) {
            cause.code = Some(code);
            return;
        }
        let meaning = || code::meaning(code).to_owned();
        let message = self.reason.take().unwrap_or_else(meaning);
        self.note_misuse(kind, None, None, Some(code), message);
    }

    /// The mistakes since the last call.
    pub(crate) fn drain_misuse(&mut self) -> Vec<Misuse> {
        self.cause = None;
        self.orders.clear();
        std::mem::take(&mut self.misuse)
    }
}

/// A message up to its first address.
fn before_address(message: &str) -> &str {
    message.split(" at 0x").next().unwrap_or(message)
}

/// Adds the newest and drops the oldest beyond `most`.
fn push_within<T>(all: &mut VecDeque<T>, most: usize, newest: T) {
    if all.len() == most {
        all.pop_front();
    }
    all.push_back(newest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_dropped() {
        let mut recorder = Recorder::default();
        for number in 0..MAX_OPERATIONS + 2 {
            recorder.note(OperationKind::Event, Some(number), 0.0..1.0);
        }
        assert_eq!(recorder.operations.len(), MAX_OPERATIONS);
        assert_eq!(recorder.operations[0].stream, Some(2));
    }

    #[test]
    fn a_mistake_is_noted_once_per_call() {
        let mut recorder = Recorder { call: "cuMemFree_v2", ..Recorder::default() };
        let mut report = |call| {
            recorder.call = call;
            recorder.report(MisuseKind::DoubleFree, "freed twice".to_owned());
            recorder.misuse.len()
        };
        assert_eq!((report("cuMemFree_v2"), report("cuMemFree_v2")), (1, 1));
        assert_eq!(report("cuMemFreeAsync"), 2);
    }

    #[test]
    fn a_mistake_with_many_allocations_is_noted_for_the_first_of_them() {
        let mut recorder = Recorder { call: "cuMemcpyHtoDAsync_v2", ..Recorder::default() };
        let mut report = |allocation: u64| {
            let (address, label) = (allocation << 12, String::new());
            let allocation = simt::Allocation { address, bytes: 64, label, is_mapped: false };
            let location = Some(simt::Location::Allocation { allocation, offset: 0 });
            let memory = MisusedMemory { address, location, lanes: 0, writes: false };
            let message = format!("may run before an earlier one at {address:#x}");
            recorder.report_order(memory, message);
            recorder.misuse.iter().map(|one| one.count).collect::<Vec<_>>()
        };
        assert_eq!((report(1), report(1), report(2)), (vec![1], vec![2], vec![2, 1]));
        let last = (1..=100).map(&mut report).last().unwrap();
        assert_eq!((last.len(), last.iter().sum::<u64>()), (MAX_ALLOCATIONS, 103));
    }
}
