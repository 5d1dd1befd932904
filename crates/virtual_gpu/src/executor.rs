//! Does the device's work: each operation when its turn comes, and says when it ran.

use crate::access::{Access, How};
use crate::code::LOST;
use crate::concurrent::{Effect, Executed};
use crate::driver::Driver;
use crate::happens_before::Stamp;
use crate::idle;
use crate::misuse::{MisuseKind, MisusedMemory};
use crate::order;
use crate::recorder::LaunchRecord;
use crate::scheduler::Done;
use crate::work::{Copy, Fill, HostFunction, KernelLaunch, QueuedOperation, QueuedWork};
use crate::{code, thread};
use cuda_driver::{OperationKind, ReturnCode};
use gpu_model::Link;
use gpu_model::copy_time::{self, Direction};
use gpu_model::kernel_time::{self, Load, Parts};
use gpu_model::timeline::{Engine, Place};
use gpu_model::{Estimate, Estimator, Ranges};
use gpu_model::{PageMoves, Side};
use simt::{Checks, Location, Report};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// From the moment at which a host function could start to its start, for the driver's thread has to wake: an estimate.
pub(crate) const HOST_FUNCTION_NS: f64 = 10_000.0;

#[derive(Default)]
struct Predicted {
    estimate: Option<Estimate>,
    parts: Parts,
    moves: PageMoves,
    model_ns: f64,
    profiled_ns: f64,
}

/// An operation while it is executed.
struct Turn<'a> {
    id: usize,
    stamp: Arc<Stamp>,
    operation: &'a QueuedOperation,
    /// It begins when a kernel has ended, or the work of another engine.
    follows_work: bool,
}

impl Turn<'_> {
    fn executed(&self, effect: Effect) -> Executed {
        let QueuedOperation { call, stream, device, graph_launch, .. } = *self.operation;
        let (id, stamp, compared) = (self.id, self.stamp.clone(), Vec::new());
        Executed { id, stamp, call, stream, device, graph_launch, effect, compared }
    }
}

impl Driver {
    /// Executes one operation whose dependencies were executed.
    pub(crate) fn execute(&mut self, id: usize) {
        let Some(mut operation) = self.scheduler.take(id) else { return };
        let selected = self.select(operation.device);
        let ended = self.run_chosen(id, &operation);
        operation.dependencies.extend(ended);
        let latency = match operation.work {
            QueuedWork::Kernel(_)
            | QueuedWork::Fill(_)
            | QueuedWork::Event
            | QueuedWork::Wait
            | QueuedWork::Subgraphs(_)
            | QueuedWork::Join => self.device().profile.launch_latency_ns,
            QueuedWork::Copy(_) | QueuedWork::Prefetch { .. } => {
                self.device().profile.copy_latency_ns
            }
            QueuedWork::Host(_) => HOST_FUNCTION_NS,
            QueuedWork::Allocation(_)
            | QueuedWork::GraphAllocation(_)
            | QueuedWork::Release(_)
            | QueuedWork::Assign(_)
            | QueuedWork::Discard(_)
            | QueuedWork::Touch(_) => 0.0,
        };
        let engine = self.engine(&operation.work, operation.device);
        let (mut ready, mut before) = (operation.enqueued + latency, None);
        let mut follows_work = false;
        for dependency in &operation.dependencies {
            let Some(Done { end, engine: on, is_kernel, .. }) = self.scheduler.done(*dependency)
            else {
                continue;
            };
            let is_copy = |place: Option<Place>| {
                matches!(place, Some((_, Engine::HostToDevice | Engine::DeviceToHost)))
            };
            let profile = &self.device().profile;
            let same = engine == on || profile.copy_engines == 1 && is_copy(engine) && is_copy(on);
            let switches = engine.is_some() && on.is_some() && !same;
            let end = if switches { end + profile.engine_switch_ns } else { end };
            if end > ready {
                (ready, before, follows_work) = (end, on, is_kernel || switches);
            }
        }
        let call = std::mem::replace(&mut self.recorder.call, operation.call);
        self.recorder.is_executing = true;
        let stamp = self.order.execute(id);
        let accesses = order::accesses(&self.memory, &operation.work);
        let Range { start: begin, end } =
            if self.device().fault.is_some() || self.needs_lost_device(&operation.work) {
                ready..ready
            } else {
                let turn = Turn { id, stamp, operation: &operation, follows_work };
                let (kind, time) = self.perform(&turn, ready);
                let booked = time.clone();
                if !accesses.is_empty() {
                    self.notice_order(turn.executed(Effect::Accesses(accesses)));
                }
                if let Some(kind) = kind {
                    self.recorder.note(kind, Some(operation.stream), time);
                }
                booked
            };
        self.recorder.is_executing = false;
        self.memory.executed += 1;
        self.memory.note_writes(&operation.work);
        self.tells_host(id, &operation.work);
        self.recorder.call = call;
        let is_kernel = matches!(operation.work, QueuedWork::Kernel(_));
        let mut done = Done { begin, end, engine: engine.or(before), is_kernel };
        self.scheduler.finish(id, done);
        if !self.enqueued.is_empty() {
            done.end = self.run_enqueued(id, &operation).max(end);
            self.scheduler.finish(id, done);
        }
        self.select(selected);
    }

    /// The engine that does the work, if it takes an engine's time.
    pub(crate) fn engine(&self, work: &QueuedWork, device: usize) -> Option<Place> {
        let engine = match work {
            QueuedWork::Kernel(_) | QueuedWork::Fill(_) => Some(Engine::Compute),
            QueuedWork::Copy(copy) => match self.memory.direction(copy) {
                Direction::HostToDevice(_) => Some(Engine::HostToDevice),
                Direction::DeviceToHost(_) => Some(Engine::DeviceToHost),
                Direction::Device => Some(Engine::Compute),
                Direction::Peer { .. } => Some(Engine::LinkOut),
                Direction::Host => None,
            },
            QueuedWork::Prefetch { to: Side::Device, .. } => Some(Engine::HostToDevice),
            QueuedWork::Prefetch { to: Side::Host, .. } => Some(Engine::DeviceToHost),
            QueuedWork::Event
            | QueuedWork::Wait
            | QueuedWork::Join
            | QueuedWork::Host(_)
            | QueuedWork::Allocation(_)
            | QueuedWork::GraphAllocation(_)
            | QueuedWork::Release(_)
            | QueuedWork::Subgraphs(_)
            | QueuedWork::Assign(_)
            | QueuedWork::Discard(_)
            | QueuedWork::Touch(_) => None,
        };
        engine.map(|engine| (device, engine))
    }

    /// Does the work and says when it starts and ends.
    fn perform(&mut self, turn: &Turn<'_>, ready: f64) -> (Option<OperationKind>, Range<f64>) {
        let operation = turn.operation;
        let at_once = |kind| (kind, ready..ready);
        let (kind, time) = match &operation.work {
            QueuedWork::Event => return at_once(Some(OperationKind::Event)),
            QueuedWork::Join | QueuedWork::Allocation(_) | QueuedWork::Subgraphs(_) => {
                return at_once(None);
            }
            QueuedWork::Assign(values) => {
                for (word, value) in values {
                    // The conditions of a graph live as long as the device.
                    let written = self.memory.device.write(*word, &value.to_le_bytes());
                    debug_assert!(written.is_ok(), "{written:?}");
                }
                return at_once(None);
            }
            QueuedWork::Wait => return self.wait_for_event(operation, ready),
            QueuedWork::Host(function) => {
                for call in call_host(*function) {
                    let message = format!(
                        "a function of the host's that a stream calls must not call the driver, and called {call}"
                    );
                    self.report(MisuseKind::Context, message);
                }
                return at_once(Some(OperationKind::HostFunction));
            }
            QueuedWork::GraphAllocation(range) => {
                self.begin_graph_allocation(range);
                return at_once(None);
            }
            QueuedWork::Release(address) => {
                self.release(*address);
                return at_once(None);
            }
            QueuedWork::Touch(_) => return at_once(None),
            QueuedWork::Discard(range) => {
                self.memory.discard(range.clone());
                return at_once(None);
            }
            QueuedWork::Copy(copy) => {
                self.notice_changes(turn.id, operation);
                let direction = self.memory.direction(copy);
                let Some(duration) = self.copy(copy) else { return at_once(None) };
                let kind = operation_kind(direction, copy.bytes());
                (kind, self.book_copy(direction, ready, duration))
            }
            QueuedWork::Fill(fill) => {
                let Some(duration) = self.fill(*fill) else { return at_once(None) };
                let bytes = (fill.width * fill.size * fill.height) as u64;
                (
                    OperationKind::Fill(bytes),
                    self.timeline.compute(self.current(), ready, duration, 1.0),
                )
            }
            QueuedWork::Kernel(kernel) => {
                let Some((duration, links)) = self.kernel(turn, kernel) else {
                    return at_once(None);
                };
                let kind = OperationKind::Kernel(kernel.launch.kernel.clone());
                let mut engines = vec![((self.current(), Engine::Compute), kernel.share)];
                engines.extend(links.into_iter().map(|(link, busy)| (link, busy / duration)));
                (kind, self.timeline.together(&engines, ready, duration))
            }
            QueuedWork::Prefetch { range, to } => {
                let direction = match to {
                    Side::Device => Direction::HostToDevice(false),
                    Side::Host => Direction::DeviceToHost(false),
                };
                let moves = self.memory.move_to(*to, range.clone());
                let duration = self.device().profile.copy_latency_ns / 4.0 + self.moves_ns(&moves);
                let kind = operation_kind(direction, range.end - range.start);
                (kind, self.book_copy(direction, ready, duration))
            }
        };
        // What a call staged was noted there.
        let is_staged = matches!(&operation.work, QueuedWork::Copy(copy) if copy.staged.is_some());
        ((!is_staged).then_some(kind), time)
    }

    /// A wait, which takes what is left of another stream's work.
    fn wait_for_event(
        &self,
        operation: &QueuedOperation,
        ready: f64,
    ) -> (Option<OperationKind>, Range<f64>) {
        // What the stream waits for is the last; what it has itself comes before.
        let own = operation.dependencies.split_last().map_or(&[][..], |(_, own)| own);
        let free = operation.enqueued + self.device().profile.launch_latency_ns;
        let start = own.iter().filter_map(|id| self.scheduler.end(*id)).fold(free, f64::max);
        ((start < ready).then_some(OperationKind::Wait), start.min(ready)..ready)
    }

    /// Books a copy on the engine of its direction, and says when it runs.
    fn book_copy(&mut self, direction: Direction, ready: f64, duration: f64) -> Range<f64> {
        if let Direction::Peer { from, to } = direction {
            // Copies without peer access use the two devices' links to the host.
            let (out, into) = if self.is_direct(from, to) {
                (Engine::LinkOut, Engine::LinkIn)
            } else {
                (Engine::DeviceToHost, Engine::HostToDevice)
            };
            return self.timeline.together(
                &[((from, out), 1.0), ((to, into), 1.0)],
                ready,
                duration,
            );
        }
        let device = self.current();
        let rate = copy_time::bus_rate(&self.device().profile, direction);
        let bus = rate / self.device().profile.both_ways_bytes_per_second;
        match direction {
            Direction::HostToDevice(_) => self.timeline.copy(device, true, ready, duration, bus),
            Direction::DeviceToHost(_) => self.timeline.copy(device, false, ready, duration, bus),
            Direction::Device | Direction::Peer { .. } => {
                self.timeline.compute(device, ready, duration, 1.0)
            }
            Direction::Host => ready..ready + duration,
        }
    }

    /// Returns whether copies between two devices go over their link: one of them may access the other's memory.
    fn is_direct(&self, from: usize, to: usize) -> bool {
        self.has_access(from, to) || self.has_access(to, from)
    }

    fn begin_graph_allocation(&mut self, range: &Range<u64>) {
        let bytes = range.end - range.start;
        if let Err(error) = self.memory.device.allocate_at(range.start, bytes) {
            let message = format!("a graph allocates {bytes} bytes: {error}");
            self.fail(MisuseKind::CallFailed, ReturnCode::OUT_OF_MEMORY, message);
        }
    }

    fn release(&mut self, address: u64) {
        if let Err(error) = self.memory.device.free(address) {
            self.fail(
                MisuseKind::DoubleFree,
                ReturnCode::INVALID_VALUE,
                format!("freeing {address:#x}: {error}"),
            );
        } else {
            self.memory.unshare(address);
        }
    }

    fn fill(&mut self, fill: Fill) -> Option<f64> {
        let row_bytes = fill.width * fill.size;
        let pattern = fill.value.to_le_bytes();
        for row in 0..fill.height {
            let address = fill.address + (row * fill.pitch) as u64;
            let done = if pattern[..fill.size].iter().all(|byte| *byte == pattern[0]) {
                self.memory.device.fill(address, pattern[0], row_bytes)
            } else {
                let values: Vec<u8> =
                    pattern[..fill.size].iter().copied().cycle().take(row_bytes).collect();
                self.memory.device.write(address, &values)
            };
            if let Err(error) = done {
                let kind = self.memory.kind_of(address);
                self.fail(kind, ReturnCode::INVALID_VALUE, format!("a fill of {error}"));
                return None;
            }
        }
        let bytes = self.larger_bytes((row_bytes * fill.height) as u64);
        let end = fill.address + ((fill.height - 1) * fill.pitch + row_bytes) as u64;
        let pages_ns = self.bring_pages(fill.address..end);
        self.pass_l2(fill.address..end);
        Some(pages_ns + copy_time::fill_ns(&self.device().profile, bytes))
    }

    /// Runs a kernel; says how long it takes, and how long of that each end of a link is busy.
    fn kernel(
        &mut self,
        turn: &Turn<'_>,
        kernel: &KernelLaunch,
    ) -> Option<(f64, Vec<(Place, f64)>)> {
        let (peers, peer_addresses): (Vec<_>, Vec<_>) = self.peers().into_iter().unzip();
        let links = |driver: &Driver| -> Vec<Link> {
            let link = |peer: &usize| driver.topology.link(kernel.device, *peer).cloned();
            peers.iter().filter_map(link).collect()
        };
        let links = links(self);
        let peer_cycles = links.iter().map(|link| link.load_latency_cycles).max().unwrap_or(0);
        // Then a block that reads what another has read does so right behind it.
        let blocks: f64 = kernel.launch.grid.iter().map(|extent| f64::from(*extent)).product();
        let room = kernel.resident * self.device().profile.multiprocessors;
        let launched = blocks * self.larger.blocks;
        let all_at_once = launched <= f64::from(room);
        // What a kernel did is known from the check for races, which reports what was asked for.
        let asked = self.options.checks;
        let compares = self.compares(turn.id, &turn.stamp, kernel);
        let changed = self.changed_under(turn.operation);
        let watches = self.host_races.is_watching();
        let footprint = compares || !changed.is_empty() || watches;
        let checks = Checks { global_races: asked.global_races || footprint, ..asked };
        let options = simt::Options {
            checks,
            fuel: self.limit.unwrap_or(self.options.fuel),
            schedule: self.options.schedule,
            schedules: if asked.any() { self.options.schedules } else { 1 },
            limits: self.device().profile.launch_limits(),
            resident_blocks: Some(u64::from(room)),
            watched: self.watched,
            trace: self.trace.clone(),
            footprint,
            patience: idle::patience(),
            ..simt::Options::default()
        };
        if self.skips_kernels {
            self.remember(kernel, Report::default(), Predicted::default(), None);
            return Some((0.0, Vec::new()));
        }
        let [host, host_small_pages] = self.memory.mapped_ranges();
        let mut estimator = self.options.times.then(|| {
            let device = self.device();
            let (profile, shared) = (&device.profile, kernel.shared_bytes);
            let latencies = profile.latencies(shared, kernel.resident, launched, peer_cycles);
            let managed = self.memory.managed.ranges();
            let ranges = Ranges { host, host_small_pages, peers: peer_addresses, managed };
            let l2 = device.l2.found_by(kernel.window, device.l2_size(), self.larger.bytes);
            let scale = if all_at_once { 1.0 } else { self.larger.bytes };
            let observed = kernel.module.kernel(&kernel.launch.kernel).ok()?;
            Some(Estimator::new(observed, latencies, ranges, l2, scale))
        });
        let begins = self.record(kernel, Report::default(), Predicted::default(), None);
        self.recorder.begins(begins);
        self.memory.note_host_writes();
        self.hide_inaccessible();
        let mut before_failure = Report::default();
        let ran = simt::run_observed(
            &kernel.module,
            &mut self.memory.device,
            &kernel.launch,
            &options,
            &mut before_failure,
            estimator.as_mut().and_then(Option::as_mut).map(|observer| observer as _),
        );
        self.memory.device.show();
        // Its share of what L2 holds, which changes now.
        drop(options);
        let (mut report, error) = match ran {
            Ok(report) => (report, None),
            Err(error) => (before_failure, Some(error)),
        };
        self.spent += report.counters.warp_instructions;
        // Where a GPU's driver prints it, too: when the host has waited for the kernel, and when the kernel has failed.
        if self.options.prints {
            print(&report.printed);
        }
        let name = &kernel.launch.kernel;
        let (printed, room) = (report.print_bytes, self.device().limits.printf_bytes);
        if asked.any() && printed > room as u64 {
            let message = format!(
                "kernel `{name}` prints at least {printed} bytes of addresses and arguments, and the buffer of printf has {room}: \
                 a GPU overwrites the oldest that the host has not fetched; raise cudaLimitPrintfFifoSize before the first launch, or print less"
            );
            self.report(MisuseKind::CallFailed, message);
        }
        if let Some(footprint) = report.footprint.take() {
            self.notice_changed(turn.id, &changed, name, &footprint);
            self.notice_host_of_kernel(turn.id, name, &footprint);
            if compares {
                self.notice_order(turn.executed(Effect::Kernel { name: name.clone(), footprint }));
            }
        }
        self.enqueued = std::mem::take(&mut report.enqueued);
        self.report_hazards(&mut report, asked);
        if let Some(error) = error {
            self.notice_freed(turn, &error);
            self.recorder.report_fault(&error);
            self.enqueued.clear();
            self.remember(kernel, report, Predicted::default(), Some(&error));
            self.keep_failure(code::of_kernel_error(&error));
            return None;
        }
        let contraction = kernel.module.kernel(name).ok().and_then(simt::Kernel::contraction);
        if let Some(contraction) = contraction
            && self.recorder.contracted.insert(name.clone())
        {
            self.report(MisuseKind::Contraction, format!("kernel `{name}`: {contraction}"));
        }
        if !self.options.times {
            let least_ns = self.device().profile.kernel_minimum_ns;
            let predicted =
                Predicted { model_ns: least_ns, profiled_ns: least_ns, ..Predicted::default() };
            self.remember(kernel, report, predicted, None);
            return Some((least_ns, Vec::new()));
        }
        let estimator = estimator.flatten();
        let mut estimate = estimator.map(|it| it.estimate(&report)).unwrap_or_default();
        // The record of the launch does without the list of what it leaves.
        let left = estimate.residual_lines.take();
        let larger = self.larger.bytes;
        let device = self.device_mut();
        let size = device.l2_size();
        device.l2.keep(&estimate.persisting_lines, size.set_aside_bytes);
        device.l2.leave(left, size, larger);
        let links: Vec<&Link> = links.iter().collect();
        let load = Load {
            counters: &report.counters,
            estimate: &estimate,
            warps: report.warps,
            blocks: report.blocks,
            resident: kernel.resident,
            larger: self.larger,
            all_set_aside: kernel.window.is_some() && self.device().sets_all_aside(),
            links: &links,
        };
        let parts = kernel_time::parts(&self.device().profile, &load);
        let minimum_ns = if kernel.in_graph {
            self.device().profile.graph_kernel_minimum_ns
        } else if turn.follows_work {
            self.device().profile.kernel_minimum_ns
        } else {
            self.device().profile.lone_kernel_ns
        };
        // A kernel that waits for pages does little else meanwhile.
        let moves = self.memory.kernel_touches(&estimate.touched_pages, self.clock.now);
        let busy = kernel_time::links_busy(&load, kernel.device, &peers);
        let busy_ns = parts.together_ns() + self.moves_ns(&moves);
        let model_ns = minimum_ns + busy_ns;
        let is_first = self.recorder.launched.insert(kernel.launch.kernel.clone());
        let ran = report.instructions.iter().filter(|it| it.counters.warp_instructions > 0);
        let first_ns = if is_first { kernel_time::first_launch_ns(ran.count()) } else { 0.0 };
        let profiled_ns = self.device().profile.profiled_kernel_ns + first_ns + busy_ns;
        let predicted = Predicted { estimate: Some(estimate), parts, moves, model_ns, profiled_ns };
        self.remember(kernel, report, predicted, None);
        Some((model_ns, busy))
    }

    /// A kernel failed at an address: what frees that memory on another stream may be why.
    fn notice_freed(&mut self, turn: &Turn<'_>, error: &simt::Error) {
        let Some(memory) = MisusedMemory::of(error) else { return };
        let access = Access::linear(memory.address, 1, How::Writes);
        self.notice_order(turn.executed(Effect::Accesses(vec![access])));
    }

    /// Reports what was found in a kernel, and keeps in its report what was asked for.
    fn report_hazards(&mut self, report: &mut Report, asked: Checks) {
        if !asked.global_races {
            report.findings.retain(|found| !found.hazard.is_by_global_races());
        }
        for finding in &mut report.findings {
            finding.message = as_written(&finding.message);
            if let Some(Location::SharedVariable { name, .. }) = &mut finding.location {
                *name = as_written(name);
            }
            self.report(MisuseKind::KernelHazard, finding.to_string());
        }
    }

    /// Returns how long pages take that moved.
    fn moves_ns(&self, moves: &PageMoves) -> f64 {
        copy_time::moves_ns(&self.device().profile, moves, self.larger.work)
    }

    /// The device's own copy or fill uses managed memory: what it needs comes first.
    fn bring_pages(&mut self, range: Range<u64>) -> f64 {
        if !self.memory.managed.holds(range.start, 1) {
            return 0.0;
        }
        let moves = self.memory.move_to(Side::Device, range);
        self.moves_ns(&moves)
    }

    /// A copy within a device, or a fill, uses these addresses, which go through its L2.
    fn pass_l2(&mut self, range: Range<u64>) {
        let Some(device) = self.memory.device.device_of(range.start) else { return };
        let larger = self.larger.bytes;
        let device = &mut self.devices[device];
        device.l2.pass(range, device.l2_size(), larger);
    }

    fn remember(
        &mut self,
        kernel: &KernelLaunch,
        report: Report,
        predicted: Predicted,
        fault: Option<&simt::Error>,
    ) {
        let record = self.record(kernel, report, predicted, fault);
        self.recorder.launched(record);
    }

    fn record(
        &self,
        kernel: &KernelLaunch,
        report: Report,
        predicted: Predicted,
        fault: Option<&simt::Error>,
    ) -> LaunchRecord {
        let Predicted { estimate, parts, moves, model_ns, profiled_ns } = predicted;
        let most = self.device().profile.threads_per_multiprocessor / 32;
        let warps = kernel.launch.threads().div_ceil(32) * u64::from(kernel.resident);
        LaunchRecord {
            kernel: kernel.launch.kernel.clone(),
            grid: kernel.launch.grid,
            block: kernel.launch.block,
            dynamic_shared_bytes: kernel.launch.dynamic_shared_bytes,
            occupancy: warps as f64 / f64::from(most),
            module: kernel.module.clone(),
            report,
            estimate,
            parts,
            moves,
            model_ns,
            profiled_ns,
            fault: fault.map(ToString::to_string),
            fault_place: fault.and_then(simt::Error::place).cloned(),
        }
    }

    /// Copies, and says for how long it takes when nothing else uses the bus.
    fn copy(&mut self, copy: &Copy) -> Option<f64> {
        let direction = self.memory.direction(copy);
        self.memory.note_host_writes();
        if matches!(direction, Direction::DeviceToHost(_)) {
            self.notice_unwritten(copy);
        }
        if let Err((bad, message)) = self.memory.copy(copy) {
            let kind = self.memory.kind_of(bad);
            self.fail(kind, ReturnCode::INVALID_VALUE, format!("a copy of {message}"));
            return None;
        }
        // What the host has staged has crossed the bus when the call returned, but for the last piece.
        let bytes = if copy.staged.is_some() { 0 } else { self.larger_bytes(copy.bytes()) };
        let mut pages_ns = 0.0;
        for side in [copy.source, copy.target] {
            let end = side.address + ((copy.height - 1) * side.pitch + copy.width) as u64;
            pages_ns += self.bring_pages(side.address..end);
            if direction == Direction::Device {
                self.pass_l2(side.address..end);
            } else if matches!(direction, Direction::HostToDevice(_)) {
                let larger = self.larger.bytes;
                if let Some(device) = self.memory.device.device_of(side.address) {
                    let device = &mut self.devices[device];
                    device.l2.copy_in(side.address..end, device.l2_size(), larger);
                }
            }
        }
        if let Direction::Peer { from, to } = direction {
            let link = self.topology.link(from, to)?;
            return Some(pages_ns + copy_time::peer_copy_ns(link, self.is_direct(from, to), bytes));
        }
        Some(pages_ns + copy_time::copy_ns(&self.device().profile, direction, bytes))
    }

    /// Returns whether work cannot be done because a device that it needs has disappeared, which is a failure then.
    fn needs_lost_device(&mut self, work: &QueuedWork) -> bool {
        let lost = match work {
            QueuedWork::Kernel(_) => self.device_mut().disappears().then_some(self.current()),
            QueuedWork::Copy(copy) => match self.memory.direction(copy) {
                Direction::Peer { from, to } => {
                    [from, to].into_iter().find(|one| self.devices[*one].lost)
                }
                _ => None,
            },
            _ => None,
        };
        let Some(device) = lost else { return false };
        let message = format!(
            "device {device} has disappeared, as the file of this driver says; a real one does when it falls off the bus: \
             start the program again without it"
        );
        self.fail(MisuseKind::DeviceLost, LOST, message);
        true
    }

    pub(crate) fn fail(&mut self, kind: MisuseKind, code: ReturnCode, message: String) {
        self.report(kind, message);
        self.keep_failure(code);
    }

    /// Keeps a failure of asynchronous work; every later call of the context returns it.
    fn keep_failure(&mut self, code: ReturnCode) {
        self.device_mut().fault.get_or_insert(code);
    }
}

/// Writes what a kernel printed to C's standard output, as CUDA does: so it stands behind what the program printed before.
fn print(text: &str) {
    // In pieces that C can count.
    for piece in text.as_bytes().chunks(1 << 20) {
        // SAFETY: the format takes a number and a text of so many bytes, and a null pointer flushes all streams.
        unsafe {
            libc::printf(c"%.*s".as_ptr(), piece.len() as libc::c_int, piece.as_ptr());
            libc::fflush(std::ptr::null_mut());
        }
    }
}

/// Calls a function of the host's; a panic in it must not leave the machine. Returns the calls of the driver that it tried.
fn call_host(function: HostFunction) -> Vec<&'static str> {
    let data = std::ptr::with_exposed_provenance_mut::<c_void>(function.data);
    // SAFETY: the program gave function and data to cuLaunchHostFunc (or a graph) to be called together, in stream
    // order, which is now.
    thread::in_host_function(|| unsafe { (function.function)(data) })
}

/// Returns what a copy is in the record of operations.
pub(crate) fn operation_kind(direction: Direction, bytes: u64) -> OperationKind {
    match direction {
        Direction::HostToDevice(_) => OperationKind::HostToDevice(bytes),
        Direction::DeviceToHost(_) => OperationKind::DeviceToHost(bytes),
        Direction::Device | Direction::Peer { .. } => OperationKind::DeviceCopy(bytes),
        Direction::Host => OperationKind::HostCopy(bytes),
    }
}

/// A message whose quoted names, such as those of shared variables, are as their authors wrote them.
fn as_written(message: &str) -> String {
    let parts = message.split('`').map(|part| match rustc_demangle::try_demangle(part) {
        Ok(name) => format!("{name:#}"),
        Err(_) => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{LEGACY, StreamState};
    use crate::options::Options;
    use gpu_model::Profile;

    fn driver() -> Driver {
        Driver::new(Profile::named("h200").unwrap(), Options::default())
    }

    fn fill(address: u64) -> QueuedWork {
        let width = 1 << 20;
        QueuedWork::Fill(Fill { address, pitch: width, value: 7, size: 1, width, height: 1 })
    }

    #[test]
    fn an_event_takes_no_time_and_a_wait_what_is_left_of_the_other_stream() {
        let mut driver = driver();
        let [one, other] = [(); 2].map(|()| {
            driver.objects.streams.add(StreamState { flags: 1, ..StreamState::default() })
        });
        let address = driver.memory.device.allocate(1 << 20).unwrap();
        driver.submit(one, fill(address)).unwrap();
        let event = driver.submit(one, QueuedWork::Event).unwrap().unwrap();
        driver.follow(other, event).unwrap();
        driver.run_all();
        let [filled, reached, waited] = driver.recorder.operations.make_contiguous() else {
            panic!("{:?}", driver.recorder.operations)
        };
        assert_eq!(filled.kind, OperationKind::Fill(1 << 20));
        assert_eq!((&reached.kind, reached.end_ns), (&OperationKind::Event, reached.start_ns));
        assert_eq!((&waited.kind, waited.end_ns), (&OperationKind::Wait, filled.end_ns));
        assert!(waited.start_ns < waited.end_ns);
        assert_eq!(driver.clock.now, filled.end_ns);
    }

    #[test]
    fn names_in_messages_are_as_they_were_written() {
        let mangled =
            "byte 4 of `_RNvNvCslM2NBSIMne8_17learn_every_third11every_third4TILE`, `tile`";
        assert_eq!(as_written(mangled), "byte 4 of `learn_every_third::every_third::TILE`, `tile`");
    }

    #[test]
    fn after_a_failure_nothing_runs() {
        let mut driver = driver();
        let address = driver.memory.device.allocate(1 << 20).unwrap();
        driver.submit(LEGACY, fill(address + 4096)).unwrap();
        driver.submit(LEGACY, fill(address)).unwrap();
        driver.run_all();
        assert_eq!(driver.device().fault, Some(ReturnCode::INVALID_VALUE));
        assert_eq!(driver.recorder.misuse[0].kind, MisuseKind::OutOfBounds);
        let mut value = [0];
        driver.memory.device.read(address, &mut value).unwrap();
        assert_eq!((value, driver.recorder.operations.len()), ([0], 0));
    }
}
