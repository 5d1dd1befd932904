//! Finds kernels on different streams that may run at the same time as other work and race with it.
//!
//! When a kernel runs, those that are still pending and do not follow it may run at the same time on a device. Its
//! footprint is retained until the last of them has run, and each is compared with it: every pair once, in whatever order
//! they run here. A program whose kernels are all ordered pays nothing.
//!
//! A copy or a fill that runs while a kernel is pending which nothing orders is retained until that has run: parts of one
//! allocation may be used by both.

use crate::order::Access;
use simt::Footprint;
use std::collections::BTreeSet;

/// A kernel that ran.
#[derive(Debug)]
pub(crate) struct FinishedKernel {
    pub(crate) call: &'static str,
    pub(crate) kernel: String,
    pub(crate) device: usize,
    pub(crate) footprint: Footprint,
    /// Kernels that are pending and may run at the same time.
    pub(crate) beside: BTreeSet<usize>,
}

/// A copy or a fill that ran, or is pending, while a kernel is pending that nothing orders with it.
#[derive(Debug)]
pub(crate) struct EarlyCopy {
    pub(crate) call: &'static str,
    pub(crate) accesses: Vec<Access>,
    /// The kernel, which is pending.
    pub(crate) kernel: usize,
    /// True when the kernel was enqueued later.
    pub(crate) is_earlier: bool,
}

/// Work that ran, as long as kernels are pending that may run at the same time.
#[derive(Debug, Default)]
pub(crate) struct Concurrent {
    ran: Vec<FinishedKernel>,
    overtook: Vec<EarlyCopy>,
}

/// A kernel that ran earlier and races with one that ran now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) call: &'static str,
    pub(crate) kernel: String,
    pub(crate) address: u64,
}

impl Concurrent {
    /// Returns whether a kernel that ran has to be compared with kernel `id`.
    pub(crate) fn awaits(&self, id: usize) -> bool {
        self.ran.iter().any(|ran| ran.beside.contains(&id))
    }

    /// A copy or a fill ran that nothing orders with a pending kernel.
    pub(crate) fn overtook(&mut self, work: EarlyCopy) {
        self.overtook.push(work);
    }

    /// Takes what ran beside kernel `id`.
    pub(crate) fn overtakers_of(&mut self, id: usize) -> Vec<EarlyCopy> {
        self.overtook.extract_if(.., |work| work.kernel == id).collect()
    }

    /// Kernel `id` ran, unless `now` is none: then it failed, or was not observed.
    pub(crate) fn ran(&mut self, id: usize, now: Option<FinishedKernel>) -> Vec<Race> {
        let mut races = Vec::new();
        for before in self.ran.iter_mut().filter_map(|ran| ran.beside.remove(&id).then_some(ran)) {
            let race = now.as_ref().and_then(|now| {
                before.footprint.race_with(&now.footprint, before.device == now.device)
            });
            races.extend(race.map(|address| Race {
                call: before.call,
                kernel: before.kernel.clone(),
                address,
            }));
        }
        self.ran.retain(|ran| !ran.beside.is_empty());
        self.ran.extend(now.filter(|now| !now.beside.is_empty()));
        races
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_forgotten_when_all_have_run_that_may_run_beside_it() {
        let ran = |beside: &[usize]| FinishedKernel {
            call: "cuLaunchKernel",
            kernel: String::new(),
            device: 0,
            footprint: Footprint::default(),
            beside: beside.iter().copied().collect(),
        };
        let mut all = Concurrent::default();
        assert!(!all.awaits(2));
        assert_eq!(all.ran(1, Some(ran(&[2, 3]))), []);
        assert!(all.awaits(2) && all.awaits(3));
        assert_eq!(all.ran(2, Some(ran(&[3]))), []);
        assert!(!all.awaits(2));
        assert_eq!(all.ran(3, None), []);
        assert_eq!(all.ran.len(), 0);
        all.ran(4, Some(ran(&[])));
        assert_eq!(all.ran.len(), 0, "everything follows it");
    }
}
