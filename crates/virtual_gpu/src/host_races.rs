//! Accesses of the host to memory that pending work uses.
//!
//! From the call that enqueues work until the host has waited for it, pages of host memory that it uses are taken away
//! (`host_pages`). Of a copy or a fill these are the pages that hold nothing else, so that whoever meets one races. Which
//! bytes a kernel uses is known when it has run: an access to the first pages at a pointer that it was given is kept until
//! then, and is a race if it meets one of them.

use crate::access::{Access, How};
use crate::driver::Driver;
use crate::host_pages::{self, HostAccess, PAGE};
use crate::memories::{HostKind, OWNED_BY_MODULE};
use crate::misuse::{MisuseKind, MisusedMemory};
use crate::order;
use crate::process::OwnMachine;
use crate::taken_pages::{Pages, Watched};
use crate::work::QueuedWork;
use simt::Footprint;
use std::ops::Range;

/// Operations whose memory is taken away at the same time: the first of those that nobody has awaited.
const MOST: usize = 64;
/// Operations of a program that are all looked at, and of those that follow one in so many: a program makes the same
/// mistake again, and each range costs two calls of the system.
const ALL_OF: u64 = 4096;
const ONE_OF: u64 = 16;
/// Bytes from a pointer on that a kernel is taken to use until it has run. What else lies there is not for calls of the system
/// meanwhile, which answer `EFAULT`.
const OF_KERNEL: u64 = 64 << 10;
/// A fill or write of so many bytes is a signal to the host, which waits for it by reading.
const SIGNAL: u64 = 8;
/// Rows of a copy that are taken away one by one.
const ROWS: u64 = 64;
/// Accesses that are kept until a kernel has run.
const KEPT: usize = 64;

impl Driver {
    /// Work is enqueued: pages of host memory that it uses are taken away when the call has ended.
    pub(crate) fn watch_host(&mut self, id: usize) {
        let options = &self.options;
        if !options.checks.global_races || !options.watch_host_memory || self.host_races.is_off {
            return;
        }
        let Some(operation) = self.scheduler.get(id) else { return };
        let (accesses, what) = match &operation.work {
            QueuedWork::Kernel(_) => (self.given_of_host(&operation.work), None),
            work => {
                let what = match work {
                    QueuedWork::Copy(copy) => format!("a copy of {} bytes", copy.bytes()),
                    QueuedWork::Fill(fill) => {
                        format!("a fill of {} bytes", fill.width * fill.size * fill.height)
                    }
                    _ => return,
                };
                let mut accesses = order::accesses(&self.memory, work);
                accesses.retain(|access| self.host_allocation(access.start).is_some());
                (accesses, Some(what))
            }
        };
        if accesses.is_empty() || self.is_signal(&operation.work) || OwnMachine::is_current() {
            return;
        }
        let call = operation.call;
        let races = &mut self.host_races;
        races.operations += 1;
        let is_drawn = races.operations <= ALL_OF || races.operations.is_multiple_of(ONE_OF);
        if !is_drawn || races.watched.len() >= MOST {
            return;
        }
        if !host_pages::is_ready() {
            self.has_no_handler();
            return;
        }
        let pages = accesses.iter().flat_map(|access| self.pages_of(access, what.is_some()));
        let pages: Vec<Pages> = pages.filter(|(pages, _)| pages.start < pages.end).collect();
        if !pages.is_empty() {
            let kept = Vec::new();
            self.host_races.watched.push(Watched { id, call, what, accesses, pages, kept });
            (self.host_races.is_outdated, self.host_races.has_begun) = (true, true);
        }
    }

    /// The program has taken the signal for itself, or this system has none.
    fn has_no_handler(&mut self) {
        if let (true, Some(name)) = (self.host_races.has_begun, &self.recorder.announced_by) {
            eprintln!(
                "{name}: the program has replaced the handler of SIGSEGV: from here on, what the host does with memory of \
                 pending work is not seen; install it before the first asynchronous call to have both"
            );
        }
        self.stop_watching_host();
    }

    /// Gives back pages of the host memory that work is about to wait with, whose content is read now.
    pub(crate) fn give_back_to(&mut self, work: &QueuedWork) {
        if self.host_races.taken.is_empty() {
            return;
        }
        let mut used = order::given_to(&self.memory, work);
        used.extend(order::possible_accesses(&self.memory, work));
        for row in used.into_iter().flat_map(Access::rows) {
            self.host_races.give_back(Some(&row));
        }
    }

    /// All pages stay with the host from here on.
    fn stop_watching_host(&mut self) {
        self.host_races.give_back(None);
        self.host_races.watched.clear();
        self.host_races.is_off = true;
    }

    /// The allocation of an address whose pages can be taken away: its first address, its end, and whether it has pages of its
    /// own.
    fn host_allocation(&self, address: u64) -> Option<(u64, u64, bool)> {
        let found = self.memory.device.allocation(address).filter(|found| found.is_mapped)?;
        let is_own = match self.memory.host.get(&found.address)?.kind {
            HostKind::Pinned | HostKind::Managed => true,
            HostKind::Registered if self.host_races.plain.contains(&found.address) => false,
            HostKind::Registered | HostKind::Mapped => return None,
        };
        Some((found.address, found.address + found.bytes, is_own))
    }

    /// The pages to take away for an access: those that hold nothing else, if all of it is used.
    fn pages_of(&self, access: &Access, is_exact: bool) -> Vec<Pages> {
        let Some((first, end, is_own)) = self.host_allocation(access.start) else {
            return Vec::new();
        };
        let inside = |address: u64, is_end: bool| {
            let (down, up) = (address / PAGE * PAGE, address.next_multiple_of(PAGE));
            let is_edge = address == if is_end { end } else { first };
            let grows = if is_edge { is_own } else { !is_exact };
            if grows == is_end { up } else { down }
        };
        let rows = if access.width == access.pitch || access.height == 1 {
            std::iter::once(access.start..access.start + access.width * access.height).collect()
        } else if access.height <= ROWS {
            access.rows().collect()
        } else {
            Vec::new()
        };
        let may_be_read = access.how == How::Reads;
        let pages =
            |row: Range<u64>| (inside(row.start, false)..inside(row.end, true), may_be_read);
        rows.into_iter().map(pages).collect()
    }

    /// Returns what a kernel may use of host memory: a part of each allocation that it was given.
    fn given_of_host(&self, work: &QueuedWork) -> Vec<Access> {
        let QueuedWork::Kernel(kernel) = work else { return Vec::new() };
        let words = kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
        let words = words.map(|word| u64::from_le_bytes(*word));
        let statics = self.memory.host.iter();
        let statics = statics.filter(|(_, region)| region.flags & OWNED_BY_MODULE != 0);
        let mut given: Vec<u64> = words.chain(statics.map(|(address, _)| *address)).collect();
        given.sort_unstable();
        given.dedup();
        let access = |address: u64| {
            let (_, end, _) = self.host_allocation(address)?;
            Some(Access::linear(address, (end - address).min(OF_KERNEL), How::Writes))
        };
        given.into_iter().filter_map(access).collect()
    }

    /// Returns whether the host waits for an operation by reading what it writes.
    fn is_signal(&self, work: &QueuedWork) -> bool {
        let QueuedWork::Fill(fill) = work else { return false };
        (fill.width * fill.size * fill.height) as u64 <= SIGNAL
            && self.host_allocation(fill.address).is_some()
    }

    /// An operation was executed that tells the host, without the driver, that all before it has ended.
    pub(crate) fn tells_host(&mut self, id: usize, work: &QueuedWork) {
        if matches!(work, QueuedWork::Host(_)) || self.is_signal(work) {
            self.host_knows(id);
        }
    }

    /// Gives back what operations use that come before one.
    fn host_knows(&mut self, id: usize) {
        let (order, races) = (&self.order, &mut self.host_races);
        let Some(stamp) = order.stamp(id) else { return };
        let is_before =
            |watched: &Watched| order.stamp(watched.id).is_none_or(|it| it.is_before(stamp));
        let count = races.watched.len();
        races.watched.retain(|watched| !is_before(watched));
        races.is_outdated |= races.watched.len() < count;
    }

    /// Tells of accesses of the host that were noted since the last call.
    pub(crate) fn notice_host(&mut self) {
        for access in host_pages::accesses() {
            let meets = |watched: &Watched| {
                let range = access.address..access.address + 1;
                let how = |one: &&Access| access.writes || one.how == How::Writes;
                watched.accesses.iter().filter(how).any(|one| one.overlaps(&range))
            };
            let met = self.host_races.watched.iter_mut().filter(|watched| meets(watched));
            let mut found = Vec::new();
            for watched in met {
                match &watched.what {
                    Some(what) => found.push((watched.id, watched.call, what.clone())),
                    None if watched.kept.len() < KEPT => watched.kept.push(access),
                    None => {}
                }
            }
            // One of those that nobody awaited says it.
            if let Some((id, call, what)) = found.into_iter().next() {
                self.tell_host(id, call, &what, access);
            }
        }
        self.notice_kernels_of_host();
    }

    /// Compares accesses beside kernels that have run by now.
    fn notice_kernels_of_host(&mut self) {
        let mut found = Vec::new();
        for watched in &mut self.host_races.watched {
            if watched.what.is_some() || watched.kept.is_empty() {
                continue;
            }
            if let Some((name, footprint)) = self.concurrent.kernel(watched.id) {
                let kept = std::mem::take(&mut watched.kept);
                let kept = kept
                    .into_iter()
                    .filter(|one| footprint.races_with_host(one.address, one.writes));
                found.extend(
                    kept.map(|one| (watched.id, watched.call, format!("kernel `{name}`"), one)),
                );
            }
        }
        for (id, call, what, access) in found {
            self.tell_host(id, call, &what, access);
        }
    }

    /// A kernel has run: the host's accesses beside it are compared with what it used.
    pub(crate) fn notice_host_of_kernel(&mut self, id: usize, name: &str, footprint: &Footprint) {
        if footprint.tells_host() {
            // What it wrote, too, is for a host that reads by what it tells.
            self.host_knows(id);
            return;
        }
        let Some(watched) = self.host_races.watched.iter_mut().find(|watched| watched.id == id)
        else {
            return;
        };
        let (call, kept) = (watched.call, std::mem::take(&mut watched.kept));
        for access in kept {
            if footprint.races_with_host(access.address, access.writes) {
                self.tell_host(id, call, &format!("kernel `{name}`"), access);
            }
        }
    }

    fn tell_host(&mut self, id: usize, call: &'static str, what: &str, access: HostAccess) {
        // The host's loop meets page after page.
        if !self.host_races.tells(id) {
            return;
        }
        let HostAccess { address, writes, code } = access;
        let memory = MisusedMemory {
            address,
            location: Some(self.memory.device.locate(address)),
            lanes: 0,
            writes,
        };
        let does = if writes { "writes" } else { "reads" };
        let message = format!(
            "the host {does} memory at {memory} before it has waited for {what} that uses it; synchronize the stream, or wait \
             for an event behind it, before touching the buffer"
        );
        let executing = std::mem::replace(&mut self.recorder.call, call);
        let is_executing = std::mem::replace(&mut self.recorder.is_executing, true);
        self.recorder.host_code = Some(code);
        let kind = if writes { MisuseKind::HostMemoryChanged } else { MisuseKind::MissingOrder };
        self.recorder.report_about(kind, memory, message);
        self.recorder.host_code = None;
        (self.recorder.call, self.recorder.is_executing) = (executing, is_executing);
    }

    /// A call has ended: pages are taken away and given back, as it left the order of the work.
    pub(crate) fn settle_host(&mut self) {
        let waits = self.order.waits();
        if self.host_races.watched.is_empty() && self.host_races.taken.is_empty()
            || !self.host_races.is_outdated && self.host_races.waits == waits
        {
            return;
        }
        self.notice_host();
        let (order, races) = (&self.order, &mut self.host_races);
        races.watched.retain(|watched| !order.is_past(watched.id));
        races.take_away();
        (races.is_outdated, races.waits) = (false, waits);
    }

    /// The program ends.
    pub(crate) fn finish_host(&mut self) {
        self.notice_host();
        self.stop_watching_host();
    }
}
