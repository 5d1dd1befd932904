//! Enqueues work on streams and waits for it: which operations run when, and how far the host's clock moves.
//!
//! Work runs as late as its order allows: when the host waits for it.

use crate::code::{CAPTURE_IMPLICIT, CAPTURE_UNSUPPORTED, CuResult};
use crate::driver::Driver;
use crate::executor::{HOST_FUNCTION_NS, operation_kind};
use crate::idle;
use crate::launching::launch_of_kernel;
use crate::misuse::MisuseKind;
use crate::objects::StreamCapture;
use crate::options::Order;
use crate::recorder::OrderRecord;
use crate::scheduler::Done;
use crate::work::{
    Condition, Copy, Fill, GraphNode, GraphState, HostState, KernelLaunch, QueuedOperation,
    QueuedWork, Subgraphs,
};
use cuda_driver::{OperationKind, ReturnCode};
use gpu_model::copy_time::Direction;
use gpu_model::timeline::Engine;
use simt::{DeviceWork, DeviceWorkKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Warp-instructions that are counted for a node of a graph beside its kernel's, of which a while node has the limit of a
/// kernel: about what the virtual device executes in the time that a node takes.
const OF_A_NODE: u64 = 2000;

/// `cudaStreamTailLaunch` and `cudaStreamFireAndForget`.
const LAST_WORK: u64 = 3;
const UNORDERED: u64 = 4;
/// Kernels that may be under way here, each launched by the one before. An H100 runs 40, more than the 24 of CUDA's
/// programming guide ("Dynamic Parallelism").
const MOST_DEPTH: u32 = 64;

impl Driver {
    /// Enqueues work on a stream, or records it when the stream is being captured.
    pub(crate) fn submit(
        &mut self,
        stream: usize,
        mut work: QueuedWork,
    ) -> CuResult<Option<usize>> {
        if let Some(capturing) = self.objects.stream(stream)?.capture.clone() {
            if let QueuedWork::Kernel(kernel) = &mut work {
                kernel.in_graph = true;
            }
            // Nothing is handed to the device.
            self.clock.own_call_ns = Some(self.device().profile.api_call_ns);
            let handle = self.objects.new_node();
            let graph = self.objects.captures.get(capturing.capture)?.graph;
            let node = self.objects.graphs.get_mut(graph)?.add(handle, work, capturing.tails);
            self.objects.stream(stream)?.capture =
                Some(StreamCapture { capture: capturing.capture, tails: vec![node] });
            return Ok(None);
        }
        if self.objects.key(stream) == self.objects.legacy()
            && self.objects.legacy_follows_a_capture()
        {
            return Err(CAPTURE_IMPLICIT);
        }
        let dependencies = self.objects.dependencies(stream)?;
        self.enqueue(stream, work, dependencies).map(Some)
    }

    /// Enqueues all work of an executable graph, whose nodes are in order.
    pub(crate) fn submit_graph(&mut self, stream: usize, graph: &GraphState) -> CuResult<usize> {
        let mut before = self.objects.dependencies(stream)?;
        before.extend(graph.last_launch);
        let first = self.scheduler.next();
        if let Some(assign) = graph.assignment() {
            before = vec![self.add(stream, assign, before)];
        }
        let mut ids = self.add_nodes(stream, graph, &before);
        self.scheduler.of_graph(first);
        ids.extend(before);
        self.enqueue(stream, QueuedWork::Join, ids)
    }

    /// Adds the nodes of a graph, and of the graphs in it that no condition chooses; returns their operations.
    fn add_nodes(&mut self, stream: usize, graph: &GraphState, before: &[usize]) -> Vec<usize> {
        let mut ids = Vec::with_capacity(graph.nodes.len());
        for GraphNode { work, follows, .. } in &graph.nodes {
            let dependencies = if follows.is_empty() {
                before.to_vec()
            } else {
                follows.iter().map(|node| ids[*node]).collect()
            };
            ids.push(match work {
                QueuedWork::Subgraphs(Subgraphs { ready, condition: None, .. }) => {
                    let mut ends = dependencies.clone();
                    for graph in ready {
                        ends.extend(self.add_nodes(stream, graph, &dependencies));
                    }
                    self.add(stream, QueuedWork::Join, ends)
                }
                work => self.add(stream, work.clone(), dependencies),
            });
        }
        ids
    }

    /// Executes the graphs that a condition chooses; returns the operation with which the last of them ended.
    pub(crate) fn run_chosen(&mut self, of: usize, operation: &QueuedOperation) -> Option<usize> {
        let QueuedWork::Subgraphs(Subgraphs { ready, condition: Some(condition), .. }) =
            &operation.work
        else {
            return None;
        };
        let (spent, mut last) = (self.spent, None);
        for turn in 0u64.. {
            let mut word = [0; 4];
            if self.device().fault.is_some()
                || self.memory.device.read(condition.address(), &mut word).is_err()
            {
                break;
            }
            let value = u32::from_le_bytes(word);
            let chosen = match condition {
                Condition::If(_) => usize::from(value == 0),
                Condition::While(_) if value == 0 => break,
                Condition::While(_) => 0,
                Condition::Switch(_) => value as usize,
            };
            let Some(graph) = ready.get(chosen) else { break };
            // Kernels that are not executed set nothing.
            let is_over = turn > 0
                && (self.skips_kernels
                    || self.is_endless(graph, (turn, self.spent - spent, value)));
            if is_over {
                break;
            }
            let before = last.map_or_else(|| operation.dependencies.clone(), |last| vec![last]);
            let first = last.unwrap_or(self.scheduler.next());
            let end = self.run_part((of, operation), graph, &before);
            self.order.forget_parts(first..end);
            self.scheduler.forget_parts(first..end);
            last = Some(end);
            if !matches!(condition, Condition::While(_)) {
                break;
            }
        }
        if let Some(last) = last {
            self.order.end_parts(of, last);
        }
        last
    }

    /// Ends a while node that is proved never to end by itself, or has used up the limit of a kernel, and says why.
    fn is_endless(&mut self, graph: &GraphState, (turns, spent, value): (u64, u64, u32)) -> bool {
        let limit = self.limit.unwrap_or(self.options.fuel);
        let what = if !graph.sets_conditions() {
            format!("no kernel of the body of a while node sets its condition, which is {value}")
        } else if spent > limit {
            format!(
                "the body of a while node ran {turns} times, for which {spent} warp-instructions are counted, and its \
                 condition is still {value}"
            )
        } else {
            return false;
        };
        let message = format!(
            "{what}, so it does not end; let a kernel of the body set it to 0 by cudaGraphSetConditional"
        );
        self.fail(MisuseKind::CallFailed, ReturnCode(702), message);
        true
    }

    /// Executes a graph as a part of an operation; returns the operation with which it ended.
    fn run_part(
        &mut self,
        (of, operation): (usize, &QueuedOperation),
        graph: &GraphState,
        before: &[usize],
    ) -> usize {
        let assigned = graph.assignment().map(|assign| {
            vec![self.run_one((of, operation), assign, HostState::default(), before.to_vec())]
        });
        let before = assigned.as_deref().unwrap_or(before);
        let mut ids: Vec<usize> = Vec::with_capacity(graph.nodes.len());
        for GraphNode { work, follows, handle, .. } in &graph.nodes {
            let dependencies = if follows.is_empty() {
                before.to_vec()
            } else {
                follows.iter().map(|node| ids[*node]).collect()
            };
            let id = match work {
                QueuedWork::Subgraphs(Subgraphs { ready, condition: None, .. }) => {
                    let mut ends = dependencies.clone();
                    for graph in ready {
                        ends.push(self.run_part((of, operation), graph, &dependencies));
                    }
                    self.run_one((of, operation), QueuedWork::Join, HostState::default(), ends)
                }
                work => {
                    let host = operation.host_of_nodes.get(handle).cloned().unwrap_or_default();
                    self.run_one((of, operation), work.clone(), host, dependencies)
                }
            };
            ids.push(id);
        }
        ids.extend(before);
        self.run_one((of, operation), QueuedWork::Join, HostState::default(), ids)
    }

    /// Runs what the threads of a kernel have enqueued, which the kernel's end waits for; returns the end of the last.
    ///
    /// Work of a block in one of the streams that all kernels have follows its earlier work there, work in a stream that a
    /// thread made follows all work there, and work in the stream for last work comes after all other.
    pub(crate) fn run_enqueued(&mut self, of: usize, operation: &QueuedOperation) -> f64 {
        let enqueued = std::mem::take(&mut self.enqueued);
        let (tails, others): (Vec<_>, Vec<_>) =
            enqueued.into_iter().partition(|work| work.stream == LAST_WORK);
        let (mut last, mut end, mut all) = (BTreeMap::new(), 0.0f64, Vec::new());
        // A device begins launches in the order in which they were made.
        let mut begin = operation.enqueued;
        if self.depth == 0 {
            self.most_spent = self.spent.saturating_add(self.limit.unwrap_or(self.options.fuel));
        }
        let QueuedWork::Kernel(parent) = &operation.work else { return end };
        self.note_pending(parent, tails.len() + others.len());
        let mut tails: VecDeque<DeviceWork> = tails.into();
        if let Some(last_work) = &mut self.last_work {
            last_work.extend(tails.drain(..));
        }
        self.depth += 1;
        // A kernel in the stream for last work leaves its own last work to the kernel that launched it.
        let around = self.last_work.take();
        let mut open: VecDeque<DeviceWork> = others.into();
        while let Some(mut made) = open.pop_front().or_else(|| tails.pop_front()) {
            let is_last = made.stream == LAST_WORK;
            let beside = made.beside.take().filter(|_| !is_last);
            let stream = (made.stream, if made.stream > UNORDERED { 0 } else { made.by_block });
            let mut before = match made.stream {
                LAST_WORK => all.clone(),
                UNORDERED => Vec::new(),
                _ => last.get(&stream).copied().into_iter().collect(),
            };
            before.push(of);
            if self.device().fault.is_some() {
                break;
            }
            let Some(work) = self.work_of_kernel(parent, made) else { continue };
            let enqueued = begin - self.device().profile.launch_latency_ns;
            let enqueued = operation.enqueued.max(enqueued);
            self.last_work = is_last.then(Vec::new);
            let launching = self.launching.len();
            let by = |footprint| (parent.launch.kernel.clone(), footprint);
            self.launching.extend(beside.map(by));
            let id =
                self.run_one_of((of, operation), work, before, (HostState::default(), enqueued));
            self.launching.truncate(launching);
            tails.extend(self.last_work.take().into_iter().flatten());
            if let Some(done) = self.scheduler.done(id) {
                begin = done.begin.max(begin);
                end = done.end.max(end);
            }
            if is_last {
                all.clear();
            }
            all.push(id);
            last.insert(stream, id);
        }
        self.depth -= 1;
        self.last_work = around;
        if !all.is_empty() {
            let last = self.run_one((of, operation), QueuedWork::Join, HostState::default(), all);
            self.order.end_parts(of, last);
        }
        end
    }

    /// Says that a kernel makes more launches than may be pending, of which a device drops the rest.
    fn note_pending(&mut self, parent: &KernelLaunch, launches: usize) {
        let most = self.device().limits.pending_launches;
        if launches > most {
            let message = format!(
                "kernel `{}` enqueues {launches} launches, copies and fills, and {most} may be pending: a GPU refuses those for \
                 which it has no room, and the kernel must ask for errors; raise cudaLimitDevRuntimePendingLaunchCount",
                parent.launch.kernel
            );
            self.report(MisuseKind::CallFailed, message);
        }
    }

    /// Makes work of what a thread of a kernel has enqueued; nothing where it cannot be, which is told.
    fn work_of_kernel(&mut self, parent: &KernelLaunch, made: DeviceWork) -> Option<QueuedWork> {
        let by = &parent.launch.kernel;
        let (code, stream) = (made.code, made.stream);
        let (work, what) = match made.kind {
            DeviceWorkKind::Kernel(launch) => {
                let name = launch.kernel.clone();
                let too_much = if self.depth > MOST_DEPTH {
                    Some(format!(
                        "more than {MOST_DEPTH} deep, which is as far as this device goes"
                    ))
                } else if self.spent > self.most_spent {
                    Some("that together reach the limit of a kernel: raise the limit".to_owned())
                } else {
                    None
                };
                if let Some(why) = too_much {
                    let message = format!("kernel `{name}` is launched by kernels {why}");
                    self.fail(MisuseKind::KernelFault, ReturnCode(702), message);
                    return None;
                }
                let planned = if code == 1 {
                    Err(ReturnCode::INVALID_VALUE)
                } else {
                    launch_of_kernel(self, parent, launch)
                };
                let place = if code == 1 {
                    format!(" into {stream:#x}, which is no stream")
                } else {
                    String::new()
                };
                (planned.map(QueuedWork::Kernel), format!("launches kernel `{name}`{place}"))
            }
            DeviceWorkKind::Copy { target, source, bytes } => {
                let what = format!("copies {bytes} bytes from {source:#x} to {target:#x}");
                let is_there = self.check_range(target, bytes as usize);
                let is_there = is_there.and_then(|()| self.check_range(source, bytes as usize));
                let copy = Copy::linear(target, source, bytes as usize);
                (is_there.map(|()| QueuedWork::Copy(copy)), what)
            }
            DeviceWorkKind::Fill { target, value, bytes } => {
                let what = format!("fills {bytes} bytes at {target:#x}");
                let is_there = self.check_range(target, bytes as usize);
                let width = bytes as usize;
                let (value, size, height) = (value.into(), 1, 1);
                let fill = Fill { address: target, pitch: width, value, size, width, height };
                (is_there.map(|()| QueuedWork::Fill(fill)), what)
            }
        };
        let why = |code| {
            format!(
                "kernel `{by}` {what}, which fails: {code}; the kernel goes on, and must ask for errors"
            )
        };
        work.map_err(|code| self.report(MisuseKind::CallFailed, why(code))).ok()
    }

    fn run_one(
        &mut self,
        (of, operation): (usize, &QueuedOperation),
        work: QueuedWork,
        host: HostState,
        dependencies: Vec<usize>,
    ) -> usize {
        self.run_one_of((of, operation), work, dependencies, (host, operation.enqueued))
    }

    /// Executes one part of an operation, which was enqueued at a time.
    fn run_one_of(
        &mut self,
        (of, operation): (usize, &QueuedOperation),
        work: QueuedWork,
        dependencies: Vec<usize>,
        (host, enqueued): (HostState, f64),
    ) -> usize {
        let mut kind = None;
        if let QueuedWork::Kernel(kernel) = &work {
            self.recorder.enqueued(&kernel.launch.kernel);
            kind = Some(OperationKind::Kernel(kernel.launch.kernel.clone()));
        }
        if let QueuedWork::Copy(copy) = &work {
            kind = Some(operation_kind(self.memory.direction(copy), copy.bytes()));
        }
        self.spent += OF_A_NODE;
        let after = dependencies.clone();
        let id = self.scheduler.add(QueuedOperation {
            work,
            dependencies,
            stream: operation.stream,
            device: operation.device,
            enqueued,
            executed: operation.executed,
            call: operation.call,
            graph_launch: operation.graph_launch,
            host,
            host_of_nodes: operation.host_of_nodes.clone(),
        });
        self.order.enqueue_part(id, of, &after);
        self.recorder.ordered(|| OrderRecord::Enqueued { id, kind, after });
        self.execute(id);
        id
    }

    /// Makes later work on the stream follow `operation`.
    pub(crate) fn follow(&mut self, stream: usize, operation: usize) -> CuResult {
        let mut dependencies = self.objects.dependencies(stream)?;
        dependencies.push(operation);
        let id = self.add(stream, QueuedWork::Wait, dependencies);
        self.objects.stream(stream)?.tail = Some(id);
        Ok(())
    }

    /// Adds the operation that later work on the stream follows.
    fn enqueue(
        &mut self,
        stream: usize,
        work: QueuedWork,
        dependencies: Vec<usize>,
    ) -> CuResult<usize> {
        let id = self.add(stream, work, dependencies);
        self.objects.stream(stream)?.tail = Some(id);
        if self.options.order == Order::Immediate {
            self.run_until(id);
        }
        Ok(id)
    }

    fn add(&mut self, stream: usize, work: QueuedWork, mut dependencies: Vec<usize>) -> usize {
        // A graph's kernels run where they were captured, whatever stream launches it.
        let device = match &work {
            QueuedWork::Kernel(kernel) => kernel.device,
            _ => self.objects.stream(stream).map_or(0, |stream| stream.device),
        };
        if let QueuedWork::Kernel(kernel) = &work {
            self.recorder.enqueued(&kernel.launch.kernel);
        }
        let kind = match &work {
            QueuedWork::Copy(copy) => {
                Some(operation_kind(self.memory.direction(copy), copy.bytes()))
            }
            QueuedWork::Kernel(kernel) => Some(OperationKind::Kernel(kernel.launch.kernel.clone())),
            _ => None,
        };
        let follows = dependencies.clone();
        // A device with one copy engine does its copies, in whatever direction, in the order of the calls.
        let engine = self.engine(&work, device);
        let is_copy = matches!(engine, Some((_, Engine::HostToDevice | Engine::DeviceToHost)));
        let takes_turns = is_copy && self.devices[device].profile.copy_engines == 1;
        if takes_turns {
            dependencies.extend(self.last_copies.get(&device));
        }
        if self.memory.is_seen_outside(&work) {
            idle::awaits_work();
        }
        self.give_back_to(&work);
        let (host, mut host_of_nodes) = (self.host_state(&work), BTreeMap::new());
        self.add_host_of_nodes(&work, &mut host_of_nodes);
        let id = self.scheduler.add(QueuedOperation {
            work,
            dependencies,
            stream: self.objects.key(stream),
            device,
            enqueued: self.clock.now,
            executed: self.memory.executed,
            call: self.recorder.call,
            graph_launch: None,
            host,
            host_of_nodes: Arc::new(host_of_nodes),
        });
        self.order.enqueue(id, device, &follows);
        self.watch_host(id);
        self.recorder.ordered(|| OrderRecord::Enqueued { id, kind, after: follows });
        if takes_turns {
            self.last_copies.insert(device, id);
        }
        id
    }

    /// Frees the conditions that belong to no graph any more, unless work that is pending may use them.
    pub(crate) fn free_conditions(&mut self) {
        if self.scheduler.pending().next().is_some() {
            return;
        }
        for word in self.objects.conditions_without_graph() {
            // It is gone already where its device was reset.
            let _is_gone = self.memory.device.free(word);
        }
    }

    /// Returns the state of the host memory that work is about to wait with.
    fn host_state(&self, work: &QueuedWork) -> HostState {
        let watches = self.options.watch_host_memory;
        let races = watches && self.options.checks.global_races;
        HostState {
            fingerprint: if watches { self.memory.fingerprint(work) } else { None },
            lines: if races { self.memory.host_lines(work) } else { Vec::new() },
        }
    }

    fn add_host_of_nodes(&self, work: &QueuedWork, all: &mut BTreeMap<usize, HostState>) {
        let QueuedWork::Subgraphs(inner) = work else { return };
        for node in inner.nodes() {
            let state = self.host_state(&node.work);
            if state.fingerprint.is_some() || !state.lines.is_empty() {
                all.insert(node.handle, state);
            }
            self.add_host_of_nodes(&node.work, all);
        }
    }

    /// Executes operations, each after those of them that it follows.
    fn run(&mut self, mut wanted: BTreeSet<usize>) {
        if !wanted.is_empty() {
            // The device uses what was taken away from the host.
            self.host_races.give_back(None);
        }
        if let Order::Seeded(_) = self.options.order {
            while !wanted.is_empty() {
                let drawn = self.scheduler.draw(&wanted);
                wanted.remove(&drawn);
                self.execute(drawn);
            }
        } else {
            // An operation only ever follows earlier ones.
            wanted.into_iter().for_each(|id| self.execute(id));
        }
    }

    /// Executes an operation and everything that it follows, and nothing else; says when it ended.
    pub(crate) fn run_until(&mut self, id: usize) -> f64 {
        self.run(self.scheduler.follows(id));
        self.scheduler.end(id).unwrap_or(self.clock.now)
    }

    /// Executes everything that is pending, for which nobody waits.
    pub(crate) fn run_pending(&mut self) {
        self.run(self.scheduler.all());
    }

    /// Executes everything that is pending, as a call does that waits for the device.
    pub(crate) fn run_all(&mut self) {
        self.order.host_waits_for_all(None);
        self.execute_all();
    }

    /// Executes all that is pending, of which the program's host has not waited for anything.
    pub(crate) fn execute_all(&mut self) {
        let pending = self.scheduler.all();
        self.run(pending.clone());
        self.wait_for_all(pending.into_iter().chain(self.objects.tails()).collect());
    }

    /// Executes what is pending on a device and everything that this follows, as a call does that waits for the device.
    pub(crate) fn run_device(&mut self, device: usize) {
        self.order.host_waits_for_all(Some(device));
        let wanted = self.scheduler.follow(self.scheduler.on(device));
        self.run(wanted.clone());
        self.wait_for_all(wanted.into_iter().chain(self.objects.tails_on(device)).collect());
    }

    /// Returns whether a kernel ran or is enqueued.
    pub(crate) fn has_launched(&self) -> bool {
        let is_kernel =
            |operation: &QueuedOperation| matches!(operation.work, QueuedWork::Kernel(_));
        self.recorder.has_launched || self.scheduler.pending().any(is_kernel)
    }

    /// The program has ended: executes what it left pending, but for what needs the program, and tells of copies to the host
    /// that nobody awaited.
    pub(crate) fn finish(&mut self) {
        self.finish_host();
        for id in self.scheduler.all() {
            let Some(operation) = self.scheduler.get(id) else { continue };
            let (call, work) = (operation.call, &operation.work);
            let awaited_copy = self.copied_out(work).filter(|_| !self.host_races.has_told(id));
            let needs_program = self.memory.needs_program(work);
            if let Some(bytes) = awaited_copy {
                self.recorder.call = call;
                let message = format!(
                    "nobody has waited for this copy of {bytes} bytes to the host: what the host reads there may be from \
                     before it; synchronize the stream first"
                );
                self.report(MisuseKind::MissingOrder, message);
            }
            if needs_program {
                self.order.execute(id);
                self.scheduler.take(id);
                let now = self.clock.now;
                self.scheduler
                    .finish(id, Done { begin: now, end: now, engine: None, is_kernel: false });
            } else {
                self.execute(id);
            }
        }
    }

    /// Returns the bytes that work copies to the host, in its first such copy.
    fn copied_out(&self, work: &QueuedWork) -> Option<u64> {
        match work {
            QueuedWork::Copy(copy) => {
                let is_out = matches!(self.memory.direction(copy), Direction::DeviceToHost(_));
                is_out.then(|| copy.bytes())
            }
            QueuedWork::Subgraphs(inner) => inner.works().find_map(|work| self.copied_out(work)),
            _ => None,
        }
    }

    /// The host waits for what was executed: its clock moves to the last end.
    fn wait_for_all(&mut self, ids: Vec<usize>) {
        let ends = ids.iter().filter_map(|id| self.scheduler.end(*id));
        self.clock.wait_until(ends.fold(self.clock.now, f64::max));
        self.recorder.ordered(|| OrderRecord::Waited(ids));
        self.waited();
    }

    /// Waits for an operation: the host's clock moves to its end.
    pub(crate) fn wait(&mut self, id: usize) -> CuResult {
        self.order.host_waits(id);
        self.wait_for_end(id)
    }

    /// Waits for a copy whose call may return before it has arrived: other streams are not ordered after it. Here it has
    /// arrived.
    pub(crate) fn wait_until_begun(&mut self, id: usize) -> CuResult {
        self.order.host_waits_until_begun(id);
        self.wait_for_end(id)
    }

    fn wait_for_end(&mut self, id: usize) -> CuResult {
        let end = self.run_until(id);
        self.clock.wait_until(end);
        self.recorder.ordered(|| OrderRecord::Waited(vec![id]));
        self.waited();
        self.device().fault.map_or(Ok(()), Err)
    }

    /// The host has waited: what is past is dropped, and pools settle, which takes the host's time.
    fn waited(&mut self) {
        // Work that is pending may still have been ready earlier than now.
        let earliest = self.scheduler.pending().next().map(|operation| operation.enqueued);
        let now = self.clock.now;
        self.timeline.forget_before(earliest.map_or(now, |enqueued| enqueued.min(now)));
        self.concurrent.forget(|stamp| self.order.precedes_all(stamp));
        self.objects.ended.retain(|(_, tail)| !self.order.is_past(*tail));
        let forgot = self.scheduler.forget(|| {
            self.objects
                .referenced()
                .into_iter()
                .chain(self.last_copies.values().copied())
                .collect()
        });
        if forgot {
            self.order.retain(|id| self.scheduler.knows(id));
        }
        for _ in 0..self.objects.settle_pools() {
            self.clock.advance(self.device().profile.pool_memory_ns());
        }
    }

    pub(crate) fn synchronize(&mut self, stream: usize) -> CuResult {
        if let Some(capturing) = self.objects.stream(stream)?.capture.clone() {
            self.objects.captures.get_mut(capturing.capture)?.invalid = true;
            return Err(CAPTURE_UNSUPPORTED);
        }
        let dependencies = self.objects.dependencies(stream)?;
        dependencies.into_iter().try_for_each(|id| self.wait(id))
    }

    /// Returns whether an operation has ended by the host's clock.
    pub(crate) fn poll(&mut self, id: usize) -> CuResult {
        // A host function may wait for what the host does after this call, so it runs no earlier than it must.
        let now = self.clock.now;
        let is_too_early = |operation: &QueuedOperation| {
            matches!(operation.work, QueuedWork::Host(_))
                && operation.enqueued + HOST_FUNCTION_NS > now
        };
        let follows = self.scheduler.follows(id);
        if follows.into_iter().filter_map(|id| self.scheduler.get(id)).any(is_too_early) {
            return Err(ReturnCode::NOT_READY);
        }
        let end = self.run_until(id);
        match self.device().fault {
            Some(code) => Err(code),
            None if end <= self.clock.now => {
                self.order.host_waits(id);
                self.recorder.ordered(|| OrderRecord::Waited(vec![id]));
                Ok(())
            }
            None => Err(ReturnCode::NOT_READY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{EventState, LEGACY, StreamState};
    use crate::options::Options;
    use crate::work::Fill;
    use gpu_model::Profile;
    use simt::Checks;

    fn driver(order: Order) -> Driver {
        let options = Options { order, ..Options::default() };
        Driver::new(Profile::named("h200").unwrap(), options)
    }

    fn fill(driver: &mut Driver) -> QueuedWork {
        let address = driver.memory.device.allocate(1 << 16).expect("there is room");
        QueuedWork::Fill(Fill {
            address,
            pitch: 1 << 16,
            value: 7,
            size: 1,
            width: 1 << 16,
            height: 1,
        })
    }

    #[test]
    fn work_runs_when_the_host_waits_for_it_or_at_once() {
        for (order, runs) in [(Order::Late, 0), (Order::Immediate, 1), (Order::Seeded(3), 0)] {
            let mut driver = driver(order);
            let work = fill(&mut driver);
            let id = driver.submit(LEGACY, work).unwrap().expect("nothing is captured");
            assert_eq!(driver.memory.executed, runs, "{order:?}");
            let now = driver.clock.now;
            driver.wait(id).unwrap();
            assert_eq!(driver.memory.executed, 1);
            assert!(driver.clock.now > now, "the host waited");
        }
    }

    #[test]
    fn a_stream_that_nobody_waits_for_stays_pending() {
        let mut driver = driver(Order::Late);
        let [one, other] = [(); 2].map(|()| {
            driver.objects.streams.add(StreamState { flags: 1, ..StreamState::default() })
        });
        for stream in [one, other] {
            let work = fill(&mut driver);
            driver.submit(stream, work).unwrap();
        }
        driver.synchronize(other).unwrap();
        assert_eq!(driver.scheduler.pending().count(), 1);
        driver.run_all();
        assert_eq!(driver.scheduler.pending().count(), 0);
    }

    #[test]
    fn waiting_for_many_pending_operations_takes_as_long_as_they_do() {
        for checks in [Checks::default(), Checks::all()] {
            let options = Options { checks, ..Options::default() };
            let mut driver = Driver::new(Profile::named("h200").unwrap(), options);
            let work = fill(&mut driver);
            let mut seconds = |count: usize| {
                for _ in 0..count {
                    driver.submit(LEGACY, QueuedWork::Event).unwrap();
                    driver.submit(LEGACY, work.clone()).unwrap();
                }
                let begin = std::time::Instant::now();
                driver.run_device(0);
                assert_eq!(driver.scheduler.pending().count(), 0);
                begin.elapsed().as_secs_f64()
            };
            seconds(100);
            // By the square it would be 256 times as long.
            let (few, many) = (seconds(1000), seconds(16_000));
            let found = format!("{few} s for 2000 operations, {many} s for 32000, {checks:?}");
            assert!(many < 80.0 * few.max(1e-3), "{found}");
        }
    }

    #[test]
    fn what_orders_work_is_recorded_when_it_is_asked_for() {
        let mut driver = driver(Order::Late);
        let work = fill(&mut driver);
        driver.submit(LEGACY, work.clone()).unwrap();
        assert_eq!(driver.recorder.order, None);
        driver.recorder.order = Some(Vec::new());
        let first = driver.submit(LEGACY, work.clone()).unwrap().expect("nothing is captured");
        let second = driver.submit(LEGACY, work).unwrap().expect("nothing is captured");
        driver.wait(second).unwrap();
        let enqueued = |id, after| OrderRecord::Enqueued { id, kind: None, after: vec![after] };
        let expected = vec![
            enqueued(first, first - 1),
            enqueued(second, first),
            OrderRecord::Waited(vec![second]),
        ];
        assert_eq!(driver.recorder.order, Some(expected));
    }

    #[test]
    fn a_program_that_runs_for_long_holds_no_more_than_one_that_does_not() {
        let mut driver = driver(Order::Late);
        let event = driver.objects.events.add(EventState::default());
        let work = fill(&mut driver);
        let mut most = 0;
        for _ in 0..20_000 {
            driver.submit(LEGACY, work.clone()).unwrap();
            let recorded = driver.submit(LEGACY, QueuedWork::Event).unwrap();
            driver.objects.events.get_mut(event).unwrap().recorded = recorded;
            driver.synchronize(LEGACY).unwrap();
            most = most.max(driver.scheduler.held());
        }
        assert!(most < 2000, "{most} operations are held");
        let recorded = driver.objects.events.get(event).unwrap().recorded.unwrap();
        assert!(driver.scheduler.end(recorded).is_some());
    }
}
