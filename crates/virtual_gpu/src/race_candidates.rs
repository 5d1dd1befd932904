//! Races between work of different streams, and host memory that changed, noticed while the work is done.

use crate::access::{self, Access};
use crate::concurrent::{Effect, Executed};
use crate::driver::Driver;
use crate::happens_before::Stamp;
use crate::misuse::{MisuseKind, MisusedMemory};
use crate::objects::Objects;
use crate::order;
use crate::work::{Copy, KernelLaunch, QueuedOperation, QueuedWork};
use simt::Footprint;
use std::sync::Arc;

impl Driver {
    /// Returns whether what a kernel accesses has to be known: it may run beside something that uses the same memory.
    pub(crate) fn compares(&self, id: usize, stamp: &Stamp, kernel: &KernelLaunch) -> bool {
        if self.options.checks.global_races {
            return self.concurrent.beside(stamp).next().is_some() || self.has_beside(stamp);
        }
        // Without the checks kernels are observed only where copies or fills that they overtook, or that overtook them, use
        // an allocation that they were given.
        let given = order::given(&self.memory, kernel);
        let meets = |accesses: &[Access]| access::conflict(accesses, &given).is_some();
        let executed = self.concurrent.beside(stamp);
        let mut executed = executed.filter_map(|executed| match &executed.effect {
            Effect::Accesses(accesses) => Some(accesses),
            Effect::Kernel { .. } => None,
        });
        let mut pending = self.scheduler.before(id);
        executed.any(|accesses| meets(accesses))
            || pending
                .any(|(_, earlier)| meets(&order::possible_accesses(&self.memory, &earlier.work)))
    }

    /// Returns whether something that is still to be executed may run beside an operation: other parts of its whole, too.
    fn has_beside(&self, stamp: &Stamp) -> bool {
        stamp.is_part() || !self.order.precedes_all(stamp)
    }

    /// Compares an operation that was executed with all that may run beside it, and keeps it for what is still to come.
    pub(crate) fn notice_order(&mut self, mut executed: Executed) {
        self.notice_parents(&executed);
        let overtaken = self.overtaken(&executed);
        executed.compared.extend(overtaken.iter().map(|(pending, _)| pending.id));
        let mut found = self.concurrent.conflicts(&executed);
        found.extend(overtaken.iter().map(|(pending, at)| (pending, *at)));
        let found: Vec<_> =
            found.into_iter().map(|(before, at)| self.missing(before, &executed, at)).collect();
        for (call, memory, message) in found {
            let executing = std::mem::replace(&mut self.recorder.call, call);
            self.recorder.report_order(memory, message);
            self.recorder.call = executing;
        }
        if self.has_beside(&executed.stamp) {
            self.concurrent.keep(executed);
        }
    }

    /// Compares what a kernel enqueued with what that kernel does beside it, and those that launched the kernel.
    fn notice_parents(&mut self, executed: &Executed) {
        let meets = |(parent, footprint): &(String, Footprint)| {
            Some((parent.clone(), executed.conflict_with(footprint)?))
        };
        let found: Vec<(String, u64)> = self.launching.iter().filter_map(meets).collect();
        for (parent, address) in found {
            let location = Some(self.memory.device.locate(address));
            let memory = MisusedMemory { address, location, lanes: 0, writes: false };
            let kernel = executed.kernel().map(|name| format!("kernel `{name}`"));
            let what = kernel.unwrap_or_else(|| "a copy or fill".to_owned());
            let message = format!(
                "{what} may run at the same time as the rest of kernel `{parent}`, which enqueued it, and one of them writes \
                 what the other uses at {memory}, because nothing orders the two; access it before, with a barrier where \
                 other threads do, or in a kernel behind it: one in the same stream, or in cudaStreamTailLaunch"
            );
            let executing = std::mem::replace(&mut self.recorder.call, executed.call);
            self.recorder.report_order(memory, message);
            self.recorder.call = executing;
        }
    }

    /// The earlier operations that are pending, nothing orders with one that was executed, and conflict with it.
    fn overtaken(&self, executed: &Executed) -> Vec<(Executed, u64)> {
        let conflict = |(id, pending): (usize, &QueuedOperation)| {
            // What follows a graph is pending while a part of the graph is executed.
            let is_ordered =
                |stamp: &Stamp| stamp.is_before(&executed.stamp) || executed.stamp.is_before(stamp);
            if self.order.stamp(id).is_some_and(is_ordered) {
                return None;
            }
            let accesses = order::accesses(&self.memory, &pending.work);
            let &QueuedOperation { call, stream, device, graph_launch, .. } = pending;
            let (stamp, effect) = (Arc::default(), Effect::Accesses(accesses));
            let compared = Vec::new();
            let other =
                Executed { id, stamp, call, stream, device, graph_launch, effect, compared };
            let address = executed.conflict(&other)?;
            Some((other, address))
        };
        self.scheduler.before(executed.id).filter_map(conflict).collect()
    }

    /// Describes two operations that nothing orders: the later call, the memory, and the sentence.
    fn missing(
        &self,
        one: &Executed,
        other: &Executed,
        address: u64,
    ) -> (&'static str, MisusedMemory, String) {
        let (earlier, later) = if one.id < other.id { (one, other) } else { (other, one) };
        let location = Some(self.memory.device.locate(address));
        let memory = MisusedMemory { address, location, lanes: 0, writes: false };
        let is_default = |executed: &Executed| Objects::is_legacy(executed.stream);
        let is_one_graph =
            later.graph_launch.is_some() && earlier.graph_launch == later.graph_launch;
        let (what, cause, cure) = if is_one_graph {
            let cause = "because no edge of the graph orders the two";
            ("node of the same graph", cause, "add a dependency between them")
        } else {
            let cause = if is_default(earlier) != is_default(later) {
                "because the default stream and a non-blocking stream do not wait for each other"
            } else {
                "because nothing orders the two streams"
            };
            let cure = "put both on one stream, wait for an event, or synchronize between them";
            (earlier.call, cause, cure)
        };
        let message = match (earlier.kernel(), later.kernel()) {
            (Some(before), Some(kernel)) => {
                let cause = if is_one_graph { cause } else { "because nothing orders the two" };
                format!(
                    "kernel `{kernel}` may run at the same time as kernel `{before}` of another {what}, and one of them \
                     writes what the other uses at {memory}, {cause}; {cure}"
                )
            }
            (before, kernel) => {
                let subject =
                    kernel.map_or("this".to_owned(), |kernel| format!("kernel `{kernel}`"));
                let of = if is_one_graph { "with" } else { "of" };
                let of = before.map_or(String::new(), |kernel| format!(" {of} kernel `{kernel}`"));
                format!(
                    "{subject} may run before an earlier {what}{of} that uses the same memory at {memory}, {cause}; {cure}"
                )
            }
        };
        (later.call, memory, message)
    }

    /// Reports mapped memory that a kernel used and the host changed while the kernel was pending.
    pub(crate) fn notice_changed(
        &mut self,
        id: usize,
        changed: &[u64],
        kernel: &str,
        footprint: &Footprint,
    ) {
        let Some(address) = footprint.weak_access_in(changed) else { return };
        let message = format!(
            "the host changed mapped memory at {address:#x} while kernel `{kernel}`, which uses it, was pending; \
             synchronize the stream before touching the buffer"
        );
        if self.host_races.tells(id) {
            self.report(MisuseKind::HostMemoryChanged, message);
        }
    }

    /// The pieces of 64 bytes of mapped memory that are not what they were when a kernel was enqueued, unless the
    /// device's own work since then may have written them.
    pub(crate) fn changed_under(&self, operation: &QueuedOperation) -> Vec<u64> {
        if operation.host.lines.is_empty() {
            return Vec::new();
        }
        let now = self.memory.host_lines(&operation.work);
        let changed = operation.host.lines.iter().zip(&now).filter(|(before, now)| before != now);
        let by_host = |line: &u64| {
            // The first piece of an allocation may begin before it does.
            let address = line * 64 + 63;
            !self.memory.device_wrote_since(address, operation.executed)
        };
        changed.map(|((line, _), _)| *line).filter(by_host).collect()
    }

    /// Reports a copy to the host of device memory that nobody has written, once for each allocation.
    pub(crate) fn notice_unwritten(&mut self, copy: &Copy) {
        let device = &self.memory.device;
        let row = |row: usize| copy.source.address + (row * copy.source.pitch) as u64;
        let unwritten = |at: usize| device.unwritten_bytes(row(at), copy.width);
        let unwritten: u64 = (0..copy.height).map(unwritten).sum();
        let base = device.allocation(copy.source.address).map(|found| found.address);
        if unwritten == 0
            || !self.options.checks.uninitialized
            || !base.is_some_and(|base| self.recorder.unwritten.insert(base))
        {
            return;
        }
        let (bytes, place) = (copy.bytes(), device.locate(copy.source.address));
        let (kind, which) = if unwritten == bytes {
            (MisuseKind::UnwrittenMemory, "any".to_owned())
        } else {
            (MisuseKind::PartlyUnwritten, unwritten.to_string())
        };
        let message = format!(
            "this copies {bytes} bytes of device memory to the host, and nobody has written {which} of them ({place}); write \
             the memory first, or copy less"
        );
        self.report(kind, message);
    }

    /// Reports a copy whose host memory is not what it was when the copy was enqueued, unless the device's own work
    /// since then may have written it.
    pub(crate) fn notice_changes(&mut self, id: usize, operation: &QueuedOperation) {
        let QueuedWork::Copy(copy) = &operation.work else { return };
        let (Some(before), Some(now)) =
            (operation.host.fingerprint, self.memory.fingerprint(&operation.work))
        else {
            return;
        };
        let sides = [copy.source, copy.target];
        let device_wrote = sides
            .iter()
            .any(|side| self.memory.device_wrote_since(side.address, operation.executed));
        if before != now && !device_wrote && self.host_races.tells(id) {
            let bytes = copy.bytes();
            self.report(
                MisuseKind::HostMemoryChanged,
                format!(
                    "the host changed memory while a copy of {bytes} bytes that uses it was pending; synchronize the \
                     stream before touching the buffer"
                ),
            );
        }
    }
}
