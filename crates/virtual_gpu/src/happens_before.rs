//! The order that a program gives its work, by vector clocks (Mattern 1989, Fidge 1988).
//!
//! Operations form chains: one continues the chain of an operation that it follows, if that is the chain's last, and begins
//! another chain otherwise. The clock of an operation says how much of each chain comes before it: the operations that it
//! follows, and those that the host had waited for when it enqueued this one. Two operations of which neither comes before
//! the other may run at the same time, whatever ran first here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Of each chain, the number of its last operation that the host has waited for.
#[derive(Debug, Clone, Default)]
struct HostClock(Vec<u64>);

impl HostClock {
    fn at(&self, chain: usize) -> u64 {
        self.0.get(chain).copied().unwrap_or(0)
    }
}

/// The place of an operation in the order, with its clock.
#[derive(Debug, Default)]
pub(crate) struct Stamp {
    chain: usize,
    /// Its number in the chain, from 1.
    number: u64,
    /// The clock of the host when it was enqueued.
    host: Arc<HostClock>,
    /// The chains of which its clock has more than the host's had, its own among them.
    beyond: BTreeMap<usize, u64>,
    /// Its place among the parts of the operation whose place this is, where it is one of them.
    part: Option<Arc<Stamp>>,
}

impl Stamp {
    /// Returns whether this operation is a part of another.
    pub(crate) fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// Returns whether this operation comes before `other`, or is it. A whole and its parts are never apart.
    pub(crate) fn is_before(&self, other: &Stamp) -> bool {
        if let (Some(mine), Some(theirs)) = (&self.part, &other.part)
            && (self.chain, self.number) == (other.chain, other.number)
        {
            return mine.is_before(theirs);
        }
        let known = other.beyond.get(&self.chain).copied();
        self.number <= known.unwrap_or_else(|| other.host.at(self.chain))
    }
}

#[derive(Debug)]
struct Chain {
    device: usize,
    last: Arc<Stamp>,
    /// Its operations that were not executed.
    pending: VecDeque<Arc<Stamp>>,
}

/// The order of all operations of a machine.
#[derive(Debug, Default)]
pub(crate) struct HappensBefore {
    chains: Vec<Chain>,
    /// The chains with pending operations.
    busy: BTreeSet<usize>,
    /// Chains whose last operation the host has waited for: they can go on with anything.
    past: Vec<usize>,
    /// The clock of the host, which is that of work without dependencies that it enqueues now. It only grows, so that it has
    /// what the clock of the host had when an earlier operation was enqueued.
    host: Arc<HostClock>,
    /// By the numbers of operations, as long as others may follow them.
    stamps: BTreeMap<usize, Arc<Stamp>>,
    /// The number of times that the host has learnt that operations have ended.
    waits: u64,
    /// The order of the parts of one operation, while it is executed.
    parts: Option<(usize, Box<HappensBefore>)>,
}

impl HappensBefore {
    /// An operation is enqueued on a device, and follows others.
    pub(crate) fn enqueue(&mut self, id: usize, device: usize, follows: &[usize]) {
        let (host, mut beyond) = (self.host.clone(), BTreeMap::new());
        let mut continued = None;
        for before in follows.iter().filter_map(|before| self.stamps.get(before)) {
            for (chain, number) in &before.beyond {
                if *number > host.at(*chain) {
                    let known = beyond.entry(*chain).or_insert(*number);
                    *known = (*known).max(*number);
                }
            }
            let chain = &self.chains[before.chain];
            if chain.device == device && chain.last.number == before.number {
                continued.get_or_insert(before.chain);
            }
        }
        // A fork after a join goes on with a chain that the join ended.
        let ends = |(chain, number): (&usize, &u64)| {
            let it = &self.chains[*chain];
            (it.device == device && it.last.number == *number).then_some(*chain)
        };
        let continued = continued.or_else(|| beyond.iter().find_map(ends));
        let chain = continued.or_else(|| self.past_chain()).unwrap_or(self.chains.len());
        let number = self.chains.get(chain).map_or(0, |chain| chain.last.number) + 1;
        beyond.insert(chain, number);
        let stamp = Arc::new(Stamp { chain, number, host, beyond, part: None });
        if chain == self.chains.len() {
            let pending = VecDeque::new();
            self.chains.push(Chain { device, last: stamp.clone(), pending });
        }
        let continued = &mut self.chains[chain];
        (continued.device, continued.last) = (device, stamp.clone());
        continued.pending.push_back(stamp.clone());
        self.busy.insert(chain);
        self.stamps.insert(id, stamp);
    }

    /// Enqueues and executes a part of another operation, whose place in the order it has: what it follows among the other
    /// parts decides which of them come before it.
    pub(crate) fn enqueue_part(&mut self, id: usize, of: usize, follows: &[usize]) {
        let Some(whole) = self.stamps.get(&of).cloned() else { return };
        if whole.part.is_none() && self.parts.as_ref().is_none_or(|(known, _)| *known != of) {
            self.parts = Some((of, Box::default()));
        }
        let Some((_, parts)) = &mut self.parts else { return };
        let mut follows = follows.to_vec();
        follows.push(of);
        parts.enqueue(id, 0, &follows);
        parts.execute(id);
        self.stamp_part(id, &whole);
    }

    fn stamp_part(&mut self, id: usize, whole: &Stamp) {
        let part = self.parts.as_ref().and_then(|(_, parts)| parts.stamps.get(&id)).cloned();
        let Stamp { chain, number, ref host, ref beyond, .. } = *whole;
        let (host, beyond) = (host.clone(), beyond.clone());
        self.stamps.insert(id, Arc::new(Stamp { chain, number, host, beyond, part }));
    }

    /// All parts of an operation, which is a part itself, were executed, `last` behind the others: so it comes after them.
    pub(crate) fn end_parts(&mut self, of: usize, last: usize) {
        let Some(whole) = self.stamps.get(&of).filter(|whole| whole.part.is_some()).cloned() else {
            return;
        };
        let Some((_, parts)) = &mut self.parts else { return };
        if let Some(last) = parts.stamps.get(&last).cloned() {
            parts.stamps.insert(of, last);
            self.stamp_part(of, &whole);
        }
    }

    /// Forgets parts that none will name as one it follows.
    pub(crate) fn forget_parts(&mut self, range: Range<usize>) {
        let parts = self.parts.as_mut().map(|(_, parts)| &mut parts.stamps);
        for stamps in parts.into_iter().chain([&mut self.stamps]) {
            let mut behind = stamps.split_off(&range.start);
            stamps.append(&mut behind.split_off(&range.end));
        }
    }

    /// Returns the place of an operation that others may still follow.
    pub(crate) fn stamp(&self, id: usize) -> Option<&Stamp> {
        self.stamps.get(&id).map(|stamp| &**stamp)
    }

    /// A chain whose last operation the host has waited for.
    fn past_chain(&mut self) -> Option<usize> {
        let is_past = |chain: &usize| self.chains[*chain].last.number <= self.host.at(*chain);
        std::iter::from_fn(|| self.past.pop()).find(is_past)
    }

    /// An operation is executed, after those of its chain that come before it.
    pub(crate) fn execute(&mut self, id: usize) -> Arc<Stamp> {
        let Some(stamp) = self.stamps.get(&id).cloned() else { return Arc::default() };
        let pending = &mut self.chains[stamp.chain].pending;
        if let Some(at) = pending.iter().position(|other| other.number == stamp.number) {
            pending.remove(at);
        }
        if pending.is_empty() {
            self.busy.remove(&stamp.chain);
        }
        stamp
    }

    /// The host learns that operations of chains have ended.
    fn host_learns(&mut self, ended: impl IntoIterator<Item = (usize, u64)>) {
        let mut learnt = false;
        for (chain, number) in ended {
            if number > self.host.at(chain) {
                let clock = &mut Arc::make_mut(&mut self.host).0;
                clock.resize(clock.len().max(chain + 1), 0);
                clock[chain] = number;
                learnt = true;
            }
        }
        if learnt {
            self.waits += 1;
            let chains = self.chains.iter().enumerate();
            let past = chains.filter(|(at, chain)| chain.last.number <= self.host.at(*at));
            self.past = past.map(|(at, _)| at).collect();
        }
    }

    /// The host waits for an operation.
    pub(crate) fn host_waits(&mut self, id: usize) {
        if let Some(stamp) = self.stamps.get(&id).cloned() {
            self.host_learns(stamp.beyond.iter().map(|(chain, number)| (*chain, *number)));
        }
    }

    /// The host waits until an operation has begun: for those before it, and not for itself.
    pub(crate) fn host_waits_until_begun(&mut self, id: usize) {
        if let Some(stamp) = self.stamps.get(&id).cloned() {
            let before = |(chain, number): (&usize, &u64)| {
                (*chain, *number - u64::from(*chain == stamp.chain))
            };
            self.host_learns(stamp.beyond.iter().map(before));
        }
    }

    /// The host waits for all work of a device, or of all.
    pub(crate) fn host_waits_for_all(&mut self, device: Option<usize>) {
        let meant = self.chains.iter().filter(|it| device.is_none_or(|device| it.device == device));
        let last: Vec<Arc<Stamp>> = meant.map(|chain| chain.last.clone()).collect();
        let ended = last.iter().flat_map(|stamp| &stamp.beyond);
        self.host_learns(ended.map(|(chain, number)| (*chain, *number)));
    }

    /// Returns how often the host has learnt that operations have ended.
    pub(crate) fn waits(&self) -> u64 {
        self.waits
    }

    /// Returns whether the host has waited for an operation, or it is so old that nobody can follow it.
    pub(crate) fn is_past(&self, id: usize) -> bool {
        self.stamps.get(&id).is_none_or(|stamp| stamp.number <= self.host.at(stamp.chain))
    }

    /// Returns whether everything that is pending, and everything to come, follows an operation that was executed.
    pub(crate) fn precedes_all(&self, stamp: &Stamp) -> bool {
        // Of a chain, what follows the operation is at the end.
        let follows = |chain: &usize| {
            let first = self.chains[*chain].pending.front();
            first.is_none_or(|pending| stamp.is_before(pending))
        };
        stamp.number <= self.host.at(stamp.chain) && self.busy.iter().all(follows)
    }

    /// Forgets the operations that none will name as one it follows.
    pub(crate) fn retain(&mut self, is_known: impl Fn(usize) -> bool) {
        self.stamps.retain(|id, _| is_known(*id));
        self.parts = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of operations in the order of their calls, each with what it follows: the pairs without order.
    fn unordered(order: &HappensBefore, ids: &[usize]) -> Vec<(usize, usize)> {
        let stamp = |id: &usize| &order.stamps[id];
        let pairs = ids.iter().flat_map(|one| ids.iter().map(move |other| (one, other)));
        let pairs = pairs.filter(|(one, other)| one < other);
        let apart = pairs.filter(|(one, other)| !stamp(one).is_before(stamp(other)));
        apart.map(|(one, other)| (*one, *other)).collect()
    }

    #[test]
    fn what_an_operation_follows_comes_before_it_and_nothing_else_does() {
        let mut order = HappensBefore::default();
        // Two streams; the second waits for the first's first operation.
        order.enqueue(0, 0, &[]);
        order.enqueue(1, 0, &[0]);
        order.enqueue(2, 0, &[]);
        order.enqueue(3, 0, &[2, 0]);
        assert_eq!(unordered(&order, &[0, 1, 2, 3]), [(0, 2), (1, 2), (1, 3)]);
        // A fork of both, and a join.
        order.enqueue(4, 0, &[1, 3]);
        order.enqueue(5, 0, &[3]);
        order.enqueue(6, 0, &[4, 5]);
        assert_eq!(unordered(&order, &[1, 3, 4, 5, 6]), [(1, 3), (1, 5), (4, 5)]);
    }

    #[test]
    fn what_the_host_waited_for_comes_before_what_it_enqueues_then() {
        let mut order = HappensBefore::default();
        order.enqueue(0, 0, &[]);
        order.enqueue(1, 0, &[]);
        order.enqueue(2, 1, &[]);
        order.host_waits(0);
        order.enqueue(3, 0, &[]);
        assert_eq!(unordered(&order, &[0, 1, 2, 3]), [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]);
        order.host_waits_for_all(Some(0));
        order.enqueue(4, 0, &[]);
        assert_eq!(unordered(&order, &[1, 2, 3, 4]), [(1, 2), (1, 3), (2, 3), (2, 4)]);
        order.host_waits_until_begun(2);
        order.enqueue(5, 0, &[]);
        assert_eq!(unordered(&order, &[2, 5]), [(2, 5)], "it has begun, and not ended");
        order.host_waits_for_all(None);
        order.enqueue(6, 0, &[]);
        assert_eq!(unordered(&order, &[0, 1, 2, 3, 4, 6]).iter().filter(|it| it.1 == 6).count(), 0);
    }

    #[test]
    fn an_operation_precedes_all_when_the_host_and_all_that_is_pending_know_of_it() {
        let mut order = HappensBefore::default();
        order.enqueue(0, 0, &[]);
        order.enqueue(1, 0, &[]);
        order.enqueue(2, 0, &[0]);
        let first = order.execute(0);
        assert!(!order.precedes_all(&first), "the host can enqueue more beside it");
        order.host_waits(0);
        assert!(!order.precedes_all(&first), "the other stream is pending");
        order.execute(1);
        assert!(order.precedes_all(&first), "what is pending follows it");
    }

    #[test]
    fn parts_are_ordered_by_what_they_follow_and_their_whole_with_all_others() {
        let mut order = HappensBefore::default();
        order.enqueue(0, 0, &[]);
        order.enqueue(1, 0, &[0]);
        order.enqueue(2, 0, &[1]);
        order.enqueue(3, 0, &[]);
        // A fork of two, and a join.
        order.enqueue_part(4, 1, &[0]);
        order.enqueue_part(5, 1, &[0]);
        order.enqueue_part(6, 1, &[4, 5]);
        // A part with parts, beside another.
        order.enqueue_part(7, 1, &[6]);
        order.enqueue_part(8, 7, &[6]);
        order.enqueue_part(9, 7, &[6]);
        order.enqueue_part(10, 7, &[8, 9]);
        order.end_parts(7, 10);
        order.enqueue_part(11, 1, &[6]);
        order.enqueue_part(12, 1, &[7]);
        let apart = unordered(&order, &[0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        // 8 and 9 come before 7, which ends behind them.
        let expected =
            [(4, 5), (7, 8), (7, 9), (7, 11), (8, 9), (8, 11), (9, 11), (10, 11), (11, 12)];
        assert_eq!(apart, expected);
        assert!(order.stamps[&8].is_before(&order.stamps[&7]));
        let with_whole = unordered(&order, &[2, 3, 4, 8]);
        assert_eq!(with_whole, [(2, 3), (2, 4), (2, 8), (3, 4), (3, 8)]);
        assert!(order.stamps[&8].is_before(&order.stamps[&2]), "the whole comes before it");
    }

    #[test]
    fn forks_and_joins_without_end_need_two_chains() {
        let mut order = HappensBefore::default();
        order.enqueue(0, 0, &[]);
        for turn in 0..1000 {
            let first = 4 * turn + 10;
            let parts = first..first + 3;
            order.enqueue_part(first, 0, &[first - 2]);
            order.enqueue_part(first + 1, 0, &[first - 2]);
            order.enqueue_part(first + 2, 0, &[first, first + 1]);
            let apart = unordered(&order, &parts.collect::<Vec<_>>());
            assert_eq!(apart, [(first, first + 1)]);
            order.forget_parts(first - 2..first + 2);
        }
        let (_, parts) = order.parts.as_ref().expect("there are parts");
        assert_eq!(parts.chains.len(), 2);
        assert!(order.stamps.len() < 8 && parts.stamps.len() < 8);
    }

    #[test]
    fn a_program_that_waits_needs_no_more_chains_the_longer_it_runs() {
        let mut order = HappensBefore::default();
        for id in 0..1000 {
            order.enqueue(id, 0, &[]);
            order.execute(id);
            if id % 4 == 3 {
                order.host_waits_for_all(None);
            }
        }
        assert_eq!(order.chains.len(), 4);
        order.retain(|id| id > 990);
        assert_eq!(order.stamps.len(), 9);
    }
}
