//! The order that a program gives its work, by vector clocks (Mattern 1989, Fidge 1988).
//!
//! Operations form chains: one continues the chain of an operation that it follows, if that is the chain's last, and begins
//! another chain otherwise. The clock of an operation says how much of each chain comes before it: the operations that it
//! follows, and those that the host had waited for when it enqueued this one. Two operations of which neither comes before
//! the other may run at the same time, whatever ran first here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Of each chain, the number of its last operation that comes before something.
#[derive(Debug, Clone, Default)]
struct Clock(Vec<u64>);

impl Clock {
    fn at(&self, chain: usize) -> u64 {
        self.0.get(chain).copied().unwrap_or(0)
    }

    fn set(&mut self, chain: usize, number: u64) {
        if self.0.len() <= chain {
            self.0.resize(chain + 1, 0);
        }
        self.0[chain] = number;
    }

    fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }
}

/// The place of an operation in the order.
#[derive(Debug, Default)]
pub(crate) struct Stamp {
    chain: usize,
    /// Its number in the chain, from 1.
    number: u64,
    /// Its clock, with itself.
    clock: Clock,
}

impl Stamp {
    /// Returns whether this operation comes before `other`, or is it.
    pub(crate) fn is_before(&self, other: &Stamp) -> bool {
        self.number <= other.clock.at(self.chain)
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
    /// The clock of the host, which is that of work without dependencies that it enqueues now.
    host: Clock,
    /// By the numbers of operations, as long as others may follow them.
    stamps: BTreeMap<usize, Arc<Stamp>>,
}

impl HappensBefore {
    /// An operation is enqueued on a device, and follows others.
    pub(crate) fn enqueue(&mut self, id: usize, device: usize, follows: &[usize]) {
        let (mut clock, mut continued) = (self.host.clone(), None);
        for before in follows.iter().filter_map(|before| self.stamps.get(before)) {
            clock.join(&before.clock);
            let chain = &self.chains[before.chain];
            if chain.device == device && chain.last.number == before.number {
                continued.get_or_insert(before.chain);
            }
        }
        // What the host has waited for comes before everything from here on: its chain can go on with anything.
        let is_past = |(at, chain): (usize, &Chain)| chain.last.number <= self.host.at(at);
        let place = continued
            .or_else(|| (0..self.chains.len()).find(|at| is_past((*at, &self.chains[*at]))));
        let chain = place.unwrap_or(self.chains.len());
        let number = self.chains.get(chain).map_or(0, |chain| chain.last.number) + 1;
        clock.set(chain, number);
        let stamp = Arc::new(Stamp { chain, number, clock });
        if chain == self.chains.len() {
            let pending = VecDeque::new();
            self.chains.push(Chain { device, last: stamp.clone(), pending });
        }
        let continued = &mut self.chains[chain];
        (continued.device, continued.last) = (device, stamp.clone());
        continued.pending.push_back(stamp.clone());
        self.stamps.insert(id, stamp);
    }

    /// An operation is executed, after those of its chain that come before it.
    pub(crate) fn execute(&mut self, id: usize) -> Arc<Stamp> {
        let Some(stamp) = self.stamps.get(&id).cloned() else { return Arc::default() };
        let pending = &mut self.chains[stamp.chain].pending;
        if let Some(at) = pending.iter().position(|other| other.number == stamp.number) {
            pending.remove(at);
        }
        stamp
    }

    /// The host waits for an operation.
    pub(crate) fn host_waits(&mut self, id: usize) {
        if let Some(stamp) = self.stamps.get(&id) {
            self.host.join(&stamp.clock);
        }
    }

    /// The host waits until an operation has begun: for those before it, and not for itself.
    pub(crate) fn host_waits_until_begun(&mut self, id: usize) {
        if let Some(stamp) = self.stamps.get(&id) {
            let mut before = stamp.clock.clone();
            before.set(stamp.chain, stamp.number - 1);
            self.host.join(&before);
        }
    }

    /// The host waits for all work of a device, or of all.
    pub(crate) fn host_waits_for_all(&mut self, device: Option<usize>) {
        let meant = self.chains.iter().filter(|it| device.is_none_or(|device| it.device == device));
        meant.for_each(|chain| self.host.join(&chain.last.clock));
    }

    /// Returns whether the host has waited for an operation, or it is so old that nobody can follow it.
    pub(crate) fn is_past(&self, id: usize) -> bool {
        self.stamps.get(&id).is_none_or(|stamp| stamp.number <= self.host.at(stamp.chain))
    }

    /// Returns whether everything that is pending, and everything to come, follows an operation that was executed.
    pub(crate) fn precedes_all(&self, stamp: &Stamp) -> bool {
        // Of a chain, what follows the operation is at the end.
        let follows = |pending: Option<&Arc<Stamp>>| pending.is_none_or(|it| stamp.is_before(it));
        stamp.number <= self.host.at(stamp.chain)
            && self.chains.iter().all(|chain| follows(chain.pending.front()))
    }

    /// Forgets the operations that none will name as one it follows.
    pub(crate) fn retain(&mut self, is_known: impl Fn(usize) -> bool) {
        self.stamps.retain(|id, _| is_known(*id));
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
