//! The order of a device's work: what is pending and what is done.
//!
//! Operations are numbered as they are enqueued, and one only ever follows earlier ones.

use crate::work::QueuedOperation;
use gpu_model::timeline::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The end of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Done {
    pub(crate) begin: f64,
    pub(crate) end: f64,
    /// On which device's engine; what takes no engine's time has that of what it waited for.
    pub(crate) engine: Option<Place>,
    /// A kernel ended then: the next of its stream begins while it empties the device.
    pub(crate) is_kernel: bool,
}

/// Ends that are remembered, beyond twice those that were needed last, until what nobody can ask for is forgotten.
const SPARE: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    next: usize,
    // Boxed because an operation is large and most of the map's work is with the numbers.
    pending: BTreeMap<usize, Box<QueuedOperation>>,
    done: BTreeMap<usize, Done>,
    /// Ends that were needed when others were last forgotten.
    needed: usize,
    /// The state of the generator that permutes what is not ordered.
    random: u64,
}

impl Scheduler {
    /// Starts the generator anew.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.random = seed;
    }

    /// Adds an operation and gives its number.
    pub(crate) fn add(&mut self, operation: QueuedOperation) -> usize {
        let id = self.next;
        self.next += 1;
        self.pending.insert(id, Box::new(operation));
        id
    }

    /// Takes a pending operation out, to be executed; [`Self::finish`] says how that ended.
    pub(crate) fn take(&mut self, id: usize) -> Option<Box<QueuedOperation>> {
        self.pending.remove(&id)
    }

    /// An operation was executed.
    pub(crate) fn finish(&mut self, id: usize, done: Done) {
        self.done.insert(id, done);
    }

    /// Returns how an operation ended, once it was executed.
    pub(crate) fn done(&self, id: usize) -> Option<Done> {
        self.done.get(&id).copied()
    }

    /// Returns the end of an operation that was executed.
    pub(crate) fn end(&self, id: usize) -> Option<f64> {
        self.done(id).map(|done| done.end)
    }

    pub(crate) fn get(&self, id: usize) -> Option<&QueuedOperation> {
        self.pending.get(&id).map(|operation| &**operation)
    }

    /// The number of the operation that is added next.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// Notes that all that was added from `first` on is of one launch of a graph.
    pub(crate) fn of_graph(&mut self, first: usize) {
        for operation in self.pending.range_mut(first..) {
            operation.1.graph_launch = Some(first);
        }
    }

    /// The operations that are pending, in the order in which they were enqueued.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &QueuedOperation> {
        self.pending.values().map(|operation| &**operation)
    }

    /// The numbers of the operations that are pending.
    pub(crate) fn all(&self) -> BTreeSet<usize> {
        self.pending.keys().copied().collect()
    }

    /// The numbers of the operations that are pending on a device.
    pub(crate) fn on(&self, device: usize) -> impl Iterator<Item = usize> {
        let on_device =
            self.pending.iter().filter(move |(_, operation)| operation.device == device);
        on_device.map(|(id, _)| *id)
    }

    /// The operations that are pending and were enqueued before `id`, with their numbers.
    pub(crate) fn before(&self, id: usize) -> impl Iterator<Item = (usize, &QueuedOperation)> {
        self.pending.range(..id).map(|(id, operation)| (*id, &**operation))
    }

    /// Returns what is pending of an operation and everything that it follows.
    pub(crate) fn follows(&self, id: usize) -> BTreeSet<usize> {
        self.follow([id])
    }

    /// Returns what is pending of operations and everything that they follow. Each is looked at once, however many follow it.
    pub(crate) fn follow(&self, ids: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut wanted = BTreeSet::new();
        let mut open: Vec<usize> = ids.into_iter().collect();
        while let Some(id) = open.pop() {
            if let Some(operation) = self.get(id)
                && wanted.insert(id)
            {
                open.extend(&operation.dependencies);
            }
        }
        wanted
    }

    /// Draws one of `wanted` whose dependencies are done; the set is not empty and holds what its members follow.
    pub(crate) fn draw(&mut self, wanted: &BTreeSet<usize>) -> usize {
        let is_ready = |id: &usize| {
            self.get(*id).is_none_or(|operation| {
                operation.dependencies.iter().all(|other| !self.pending.contains_key(other))
            })
        };
        let ready: Vec<usize> = wanted.iter().copied().filter(is_ready).collect();
        // SplitMix64's increment and one of its multipliers: any sequence that the seed decides will do.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ready[(mixed >> 33) as usize % ready.len()]
    }

    /// Forgets the ends that neither pending operations nor `referenced` need, when there are many of them; says whether it
    /// did.
    pub(crate) fn forget(&mut self, referenced: impl FnOnce() -> BTreeSet<usize>) -> bool {
        if self.done.len() <= 2 * self.needed + SPARE {
            return false;
        }
        let mut needed = referenced();
        needed.extend(self.pending.values().flat_map(|operation| &operation.dependencies));
        self.done.retain(|id, _| needed.contains(id));
        self.needed = self.done.len();
        true
    }

    /// Forgets the ends of operations that none will name as one it follows.
    pub(crate) fn forget_parts(&mut self, range: Range<usize>) {
        let mut behind = self.done.split_off(&range.start);
        self.done.append(&mut behind.split_off(&range.end));
    }

    /// Returns whether an operation is pending or its end is known.
    pub(crate) fn knows(&self, id: usize) -> bool {
        self.pending.contains_key(&id) || self.done.contains_key(&id)
    }

    /// Returns how many operations are held, pending ones and ends together.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.pending.len() + self.done.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{HostState, QueuedWork};
    use std::sync::Arc;

    fn operation(dependencies: &[usize]) -> QueuedOperation {
        QueuedOperation {
            work: QueuedWork::Join,
            dependencies: dependencies.to_vec(),
            device: 0,
            stream: 1,
            enqueued: 0.0,
            executed: 0,
            call: "",
            graph_launch: None,
            host: HostState::default(),
            host_of_nodes: Arc::default(),
        }
    }

    fn run(scheduler: &mut Scheduler, id: usize) {
        assert!(scheduler.take(id).is_some());
        scheduler.finish(id, Done { begin: 0.0, end: id as f64, engine: None, is_kernel: false });
    }

    #[test]
    fn an_operation_wants_what_it_follows_and_nothing_else() {
        let mut scheduler = Scheduler::default();
        let first = scheduler.add(operation(&[]));
        let other = scheduler.add(operation(&[]));
        let second = scheduler.add(operation(&[first]));
        let third = scheduler.add(operation(&[second]));
        assert_eq!(scheduler.follows(third), [first, second, third].into());
        assert_eq!(scheduler.follow([third, other]), [first, other, second, third].into());
        run(&mut scheduler, first);
        assert_eq!(scheduler.follows(third), [second, third].into());
        assert_eq!(scheduler.before(third).count(), 2);
        assert_eq!(scheduler.all(), [other, second, third].into());
        assert_eq!((scheduler.end(first), scheduler.end(other)), (Some(0.0), None));
    }

    #[test]
    fn what_is_drawn_is_ready_and_every_order_comes() {
        let mut orders = BTreeSet::new();
        for seed in 0..64 {
            let mut scheduler = Scheduler::default();
            scheduler.seed(seed);
            for dependencies in [&[][..], &[0], &[], &[2]] {
                scheduler.add(operation(dependencies));
            }
            let mut wanted = scheduler.all();
            let mut order = Vec::new();
            while !wanted.is_empty() {
                let drawn = scheduler.draw(&wanted);
                wanted.remove(&drawn);
                run(&mut scheduler, drawn);
                order.push(drawn);
            }
            let place = |id| order.iter().position(|drawn| *drawn == id);
            assert!(place(0) < place(1) && place(2) < place(3), "{order:?}");
            orders.insert(order);
        }
        assert_eq!(orders.len(), 6, "two chains of two can be mixed in six ways");
    }

    #[test]
    fn ends_that_nobody_can_ask_for_are_forgotten() {
        let mut scheduler = Scheduler::default();
        let kept = scheduler.add(operation(&[]));
        run(&mut scheduler, kept);
        let followed = scheduler.add(operation(&[]));
        run(&mut scheduler, followed);
        let waits = scheduler.add(operation(&[followed]));
        for _ in 0..10 * SPARE {
            let id = scheduler.add(operation(&[]));
            run(&mut scheduler, id);
            scheduler.forget(|| [kept].into());
            assert!(scheduler.held() <= SPARE + 8, "{}", scheduler.held());
        }
        assert!(scheduler.end(kept).is_some(), "somebody has its number");
        assert!(scheduler.end(followed).is_some(), "pending work follows it");
        assert!(scheduler.get(waits).is_some());
    }
}
