//! Races between work of different streams, and host memory that changed, noticed while the work is done.

use crate::concurrent::{EarlyCopy, FinishedKernel, Race};
use crate::driver::Driver;
use crate::misuse::{MisuseKind, MisusedMemory};
use crate::order;
use crate::work::{QueuedOperation, QueuedWork};
use simt::Footprint;
use std::collections::BTreeSet;

/// The earlier work that a kernel is compared with.
#[derive(Debug, Default)]
pub(crate) struct RaceCandidates {
    /// DramAtoms of 64 bytes of mapped memory that the host changed while it was pending.
    changed: Vec<u64>,
    /// Copies and fills that were enqueued earlier.
    overtaken: Vec<EarlyCopy>,
    /// Copies and fills that were enqueued later.
    overtakers: Vec<EarlyCopy>,
    /// Kernels that are pending and may run at the same time.
    beside: BTreeSet<usize>,
    /// True when kernels that ran have to be compared with it.
    awaited: bool,
}

impl RaceCandidates {
    /// Returns whether there is anything to compare the kernel with.
    pub(crate) fn any(&self) -> bool {
        let RaceCandidates { changed, overtaken, overtakers, beside, awaited } = self;
        *awaited || [changed.len(), overtaken.len(), overtakers.len(), beside.len()] != [0; 4]
    }
}

impl Driver {
    /// Compares operation `id`, which runs now, with what is pending; what a kernel's accesses decide is returned.
    pub(crate) fn notice_before(
        &mut self,
        id: usize,
        operation: &QueuedOperation,
    ) -> RaceCandidates {
        let mut overtaken = self.notice_overtaking(id, operation);
        let observes = self.options.checks.global_races && !self.skips_kernels;
        match operation.work {
            QueuedWork::Kernel(_) => {}
            QueuedWork::Copy(_) | QueuedWork::Arrival(_) | QueuedWork::Fill(_) if observes => {
                self.notice_later(id, operation);
                return RaceCandidates::default();
            }
            _ => return RaceCandidates::default(),
        }
        let (earlier, overtakers) =
            self.concurrent.overtakers_of(id).into_iter().partition(|work| work.is_earlier);
        overtaken.extend::<Vec<_>>(earlier);
        let is_kernel = |work: &QueuedWork| matches!(work, QueuedWork::Kernel(_));
        RaceCandidates {
            changed: self.changed_under(operation),
            overtaken,
            overtakers,
            beside: if observes { self.scheduler.beside(id, is_kernel) } else { BTreeSet::new() },
            awaited: self.concurrent.awaits(id),
        }
    }

    /// Compares a copy or a fill, which runs now, with later work that is pending and does not follow it: a wait for the
    /// whole device runs both in the order of their calls.
    fn notice_later(&mut self, id: usize, operation: &QueuedOperation) {
        let mine = order::accesses(&self.memory.device, &operation.work);
        for other in self.scheduler.beside(id, |_| true).into_iter().filter(|other| *other > id) {
            let Some(later) = self.scheduler.get(other) else { continue };
            let theirs = order::accesses(&self.memory.device, &later.work);
            let Some(address) = order::conflict(&mine, &theirs, true) else { continue };
            if let QueuedWork::Kernel(_) = later.work {
                let (call, accesses) = (operation.call, mine.clone());
                self.concurrent.overtook(EarlyCopy {
                    call,
                    accesses,
                    kernel: other,
                    is_earlier: true,
                });
            } else {
                self.recorder.call = later.call;
                self.report_overtaking(operation.call, address);
                self.recorder.call = operation.call;
            }
        }
    }

    /// Compares what kernel `id` did with its suspects; there is no footprint when there are none.
    pub(crate) fn notice_after(
        &mut self,
        id: usize,
        call: &'static str,
        kernel: &str,
        footprint: Option<Footprint>,
        candidates: RaceCandidates,
    ) {
        let Some(footprint) = footprint else {
            self.concurrent.ran(id, None);
            return;
        };
        if let Some(address) = footprint.weak_access_in(&candidates.changed) {
            let message = format!(
                "the host changed mapped memory at {address:#x} while kernel `{kernel}`, which uses it, was pending; \
                 synchronize the stream before touching the buffer"
            );
            self.report(MisuseKind::HostMemoryChanged, message);
        }
        let conflict = |work: &EarlyCopy| order::conflict_with(&work.accesses, &footprint);
        let earlier =
            candidates.overtaken.iter().find_map(|work| Some((work.call, conflict(work)?)));
        if let Some((earlier, address)) = earlier {
            self.report_overtaking(earlier, address);
        }
        for work in &candidates.overtakers {
            if let Some(address) = conflict(work) {
                self.recorder.call = work.call;
                self.report_overtaking(call, address);
                self.recorder.call = call;
            }
        }
        let (kernel_name, device, beside) = (kernel.to_owned(), self.current(), candidates.beside);
        let ran = FinishedKernel { call, kernel: kernel_name, device, footprint, beside };
        for race in self.concurrent.ran(id, Some(ran)) {
            self.report_concurrent(kernel, &race);
        }
    }

    /// The pieces of 64 bytes of mapped memory that are not what they were when a kernel was enqueued, unless the
    /// device's own work since then may have written them.
    fn changed_under(&self, operation: &QueuedOperation) -> Vec<u64> {
        if operation.host_lines.is_empty() {
            return Vec::new();
        }
        let now = self.memory.host_lines(&operation.work);
        let changed = operation.host_lines.iter().zip(&now).filter(|(before, now)| before != now);
        let by_host = |line: &u64| {
            // The first piece of an allocation may begin before it does.
            let address = line * 64 + 63;
            !self.memory.device_wrote_since(address, operation.executed)
        };
        changed.map(|((line, _), _)| *line).filter(by_host).collect()
    }

    /// Compares operation `id`, whose work runs now, with earlier work that is still pending: reports the first that
    /// conflicts, and retains what a kernel decides, by what it does: copies and fills that overtake one (in
    /// `concurrent`), and those that this one overtakes, which are returned.
    fn notice_overtaking(&mut self, id: usize, operation: &QueuedOperation) -> Vec<EarlyCopy> {
        let mine = order::accesses(&self.memory.device, &operation.work);
        // Its copy was compared with what came before.
        if mine.is_empty() || matches!(operation.work, QueuedWork::Arrival(_)) {
            return Vec::new();
        }
        let candidates = self.options.checks.global_races;
        let (mut overtaken, mut found) = (Vec::new(), None);
        for (other, earlier) in self.scheduler.before(id) {
            let theirs = order::accesses(&self.memory.device, &earlier.work);
            let Some(address) = order::conflict(&mine, &theirs, candidates) else { continue };
            match (&operation.work, &earlier.work) {
                (
                    QueuedWork::Kernel(_),
                    QueuedWork::Copy(_) | QueuedWork::Arrival(_) | QueuedWork::Fill(_),
                ) => {
                    let call = earlier.call;
                    overtaken.push(EarlyCopy {
                        call,
                        accesses: theirs,
                        kernel: id,
                        is_earlier: true,
                    });
                }
                (QueuedWork::Copy(_) | QueuedWork::Fill(_), QueuedWork::Kernel(_)) => {
                    let (call, accesses) = (operation.call, mine.clone());
                    let work = EarlyCopy { call, accesses, kernel: other, is_earlier: false };
                    self.concurrent.overtook(work);
                }
                _ => {
                    found = Some((earlier.call, address));
                    break;
                }
            }
        }
        if let Some((earlier, address)) = found {
            self.report_overtaking(earlier, address);
        }
        overtaken
    }

    /// Reports that the call that is executed now may run before an earlier one.
    fn report_overtaking(&mut self, earlier: &str, address: u64) {
        self.report_missing_order(address, |place| {
            format!(
                "this may run before an earlier {earlier} that uses the same memory at {place}, because nothing orders the \
                 two streams; wait for an event, or synchronize between them"
            )
        });
    }

    /// Reports two kernels that may run at the same time, one of which writes what the other uses.
    fn report_concurrent(&mut self, kernel: &str, Race { call, kernel: other, address }: &Race) {
        self.report_missing_order(*address, |place| {
            format!(
                "kernel `{kernel}` may run at the same time as kernel `{other}` of another {call}, and one of them writes \
                 what the other uses at {place}, because nothing orders the two; wait for an event, or synchronize \
                 between them"
            )
        });
    }

    fn report_missing_order(&mut self, address: u64, message: impl FnOnce(&str) -> String) {
        let memory = MisusedMemory {
            address,
            location: Some(self.memory.device.locate(address)),
            lanes: 0,
            writes: false,
        };
        let message = message(&memory.to_string());
        self.recorder.report_order(memory, message);
    }

    /// Reports a copy whose host memory is not what it was when the copy was enqueued, unless the device's own work
    /// since then may have written it.
    pub(crate) fn notice_changes(&mut self, operation: &QueuedOperation) {
        let QueuedWork::Copy(copy) = &operation.work else { return };
        let (Some(before), Some(now)) =
            (operation.fingerprint, self.memory.fingerprint(&operation.work))
        else {
            return;
        };
        let sides = [copy.source, copy.target];
        let device_wrote = sides
            .iter()
            .any(|side| self.memory.device_wrote_since(side.address, operation.executed));
        if before != now && !device_wrote {
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
