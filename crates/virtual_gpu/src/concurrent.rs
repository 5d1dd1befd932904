//! The accesses of operations that others may run beside, as long as one can.
//!
//! Each operation is compared, when it was executed, with those that were executed before and that nothing orders with it:
//! every pair once, whatever the host awaited first. A program whose work is all ordered pays nothing.

use crate::access::{self, Access};
use crate::happens_before::Stamp;
use simt::Footprint;
use std::sync::Arc;

/// The accesses of an operation.
#[derive(Debug)]
pub(crate) enum Effect {
    /// A copy, a fill, an allocation or a free.
    Accesses(Vec<Access>),
    /// A kernel.
    Kernel { name: String, footprint: Footprint },
}

/// An operation that was executed.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) id: usize,
    pub(crate) stamp: Arc<Stamp>,
    pub(crate) call: &'static str,
    pub(crate) stream: usize,
    pub(crate) device: usize,
    pub(crate) graph_launch: Option<usize>,
    pub(crate) effect: Effect,
    /// Pending operations that it was compared with already.
    pub(crate) compared: Vec<usize>,
}

impl Executed {
    /// The first address at which two operations conflict that may run at the same time.
    pub(crate) fn conflict(&self, other: &Executed) -> Option<u64> {
        match (&self.effect, &other.effect) {
            (Effect::Accesses(mine), Effect::Accesses(theirs)) => access::conflict(mine, theirs),
            (Effect::Accesses(accesses), Effect::Kernel { footprint, .. })
            | (Effect::Kernel { footprint, .. }, Effect::Accesses(accesses)) => {
                access::conflict_with(accesses, footprint)
            }
            (Effect::Kernel { footprint: mine, .. }, Effect::Kernel { footprint: theirs, .. }) => {
                mine.race_with(theirs, self.device == other.device)
            }
        }
    }

    /// The first address at which it conflicts with a kernel of its device that did `footprint`.
    pub(crate) fn conflict_with(&self, footprint: &Footprint) -> Option<u64> {
        match &self.effect {
            Effect::Accesses(accesses) => access::conflict_with(accesses, footprint),
            Effect::Kernel { footprint: mine, .. } => mine.race_with(footprint, true),
        }
    }

    pub(crate) fn kernel(&self) -> Option<&str> {
        match &self.effect {
            Effect::Kernel { name, .. } => Some(name),
            Effect::Accesses(_) => None,
        }
    }
}

/// So many operations are kept: of a program that never waits, the latest.
const MOST: usize = 2048;

/// So many conflicts of one operation are told.
const TOLD: usize = 8;

/// Operations that were executed and that others may run beside.
#[derive(Debug, Default)]
pub(crate) struct Concurrent {
    kept: Vec<Executed>,
}

impl Concurrent {
    /// Those that may run at the same time as an operation which is executed after them.
    pub(crate) fn beside(&self, stamp: &Stamp) -> impl Iterator<Item = &Executed> {
        self.kept.iter().filter(|executed| !executed.stamp.is_before(stamp))
    }

    /// Those that conflict with an operation, each with the first address.
    pub(crate) fn conflicts(&self, now: &Executed) -> Vec<(&Executed, u64)> {
        let beside = self.beside(&now.stamp).filter(|it| !it.compared.contains(&now.id));
        beside.filter_map(|before| Some((before, before.conflict(now)?))).take(TOLD).collect()
    }

    /// Returns the name and the accesses of a kernel that was executed and is kept.
    pub(crate) fn kernel(&self, id: usize) -> Option<(&str, &Footprint)> {
        let executed = self.kept.iter().find(|executed| executed.id == id)?;
        match &executed.effect {
            Effect::Kernel { name, footprint } => Some((name, footprint)),
            Effect::Accesses(_) => None,
        }
    }

    /// Keeps an operation for those to come.
    pub(crate) fn keep(&mut self, executed: Executed) {
        if self.kept.len() == MOST {
            self.kept.drain(..MOST / 2);
        }
        self.kept.push(executed);
    }

    /// Forgets operations that nothing can run beside any more.
    pub(crate) fn forget(&mut self, precedes_all: impl Fn(&Stamp) -> bool) {
        self.kept.retain(|executed| !precedes_all(&executed.stamp));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::How;

    #[test]
    fn of_very_many_the_latest_are_kept() {
        let mut all = Concurrent::default();
        let executed = |id| Executed {
            id,
            stamp: Arc::default(),
            call: "cuMemsetD8Async",
            stream: 1,
            device: 0,
            graph_launch: None,
            effect: Effect::Accesses(vec![Access::linear(64 * id as u64, 64, How::Writes)]),
            compared: Vec::new(),
        };
        (0..3 * MOST).for_each(|id| all.keep(executed(id)));
        assert!((MOST / 2..=MOST).contains(&all.kept.len()));
        assert!(all.kept.iter().all(|one| one.id >= 2 * MOST - MOST / 2));
        all.forget(|_| true);
        assert_eq!(all.kept.len(), 0);
    }
}
