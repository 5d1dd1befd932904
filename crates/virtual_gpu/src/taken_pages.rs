//! Pages of host memory that are taken away from the program, and the work that they were taken for.

use crate::access::Access;
use crate::host_pages::{self, HostAccess};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Pages, and whether they may be read.
pub(crate) type Pages = (Range<u64>, bool);

#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) id: usize,
    pub(crate) call: &'static str,
    /// A copy or a fill, in words; none for a kernel.
    pub(crate) what: Option<String>,
    /// Bytes of host memory that it uses, or of a kernel may use.
    pub(crate) accesses: Vec<Access>,
    pub(crate) pages: Vec<Pages>,
    /// Accesses of the host beside a kernel that has not run.
    pub(crate) kept: Vec<HostAccess>,
}

/// The work whose memory is taken away from the host.
#[derive(Debug, Default)]
pub(crate) struct HostRaces {
    pub(crate) watched: Vec<Watched>,
    /// Pages that are taken away now, by their first address: their end, and whether they may be read.
    pub(crate) taken: BTreeMap<u64, (u64, bool)>,
    /// The pages that are taken away are not those that should be.
    pub(crate) is_outdated: bool,
    /// The number of waits of the host when they were last chosen.
    pub(crate) waits: u64,
    /// Operations so far that use memory of the host.
    pub(crate) operations: u64,
    /// The operations of which a race was told.
    pub(crate) told: BTreeSet<usize>,
    /// Registered memory that can be taken away.
    pub(crate) plain: BTreeSet<u64>,
    /// Pages were taken away.
    pub(crate) has_begun: bool,
    /// Nothing is looked at any more.
    pub(crate) is_off: bool,
}

/// Adds pages to others, of which those without rights stay so.
fn add(all: &mut BTreeMap<u64, (u64, bool)>, (pages, may_be_read): &Pages) {
    let meets =
        |(start, (end, _)): &(&u64, &(u64, bool))| **start < pages.end && pages.start < *end;
    let others: Vec<(u64, u64, bool)> = {
        let before = all.range(..pages.end).rev().take_while(|it| meets(it));
        before.map(|(start, (end, read))| (*start, *end, *read)).collect()
    };
    let (mut from, mut stays) = (pages.start, Vec::new());
    for (start, end, read) in others.into_iter().rev() {
        if read == *may_be_read || !read {
            // What is between the others is new.
            if from < start {
                stays.push((from, start));
            }
            from = from.max(end);
            continue;
        }
        // What could be read no longer can, where both are.
        all.remove(&start);
        if start < pages.start {
            all.insert(start, (pages.start, true));
        }
        if pages.end < end {
            all.insert(pages.end, (end, true));
        }
    }
    if from < pages.end {
        stays.push((from, pages.end));
    }
    all.extend(stays.into_iter().map(|(start, end)| (start, (end, *may_be_read))));
}

impl HostRaces {
    /// Gives back pages that meet a range, or all, before the device uses them.
    pub(crate) fn give_back(&mut self, meets: Option<&Range<u64>>) {
        if self.taken.is_empty() {
            return;
        }
        self.taken.retain(|start, (end, _)| {
            let is_meant = meets.is_none_or(|range| *start < range.end && range.start < *end);
            if is_meant {
                host_pages::release(&(*start..*end));
                self.is_outdated = true;
            }
            !is_meant
        });
    }

    /// Registered memory becomes known, and its rights with it.
    pub(crate) fn registered(&mut self, range: &Range<u64>) {
        if host_pages::is_plain(range) {
            self.plain.insert(range.start);
        }
    }

    /// Memory goes.
    pub(crate) fn forget(&mut self, range: &Range<u64>) {
        self.give_back(Some(range));
        self.watched.retain(|watched| {
            !watched
                .pages
                .iter()
                .any(|(pages, _)| pages.start < range.end && range.start < pages.end)
        });
        self.plain.remove(&range.start);
        host_pages::forget(range);
    }

    /// Returns whether a race of the host with an operation was told.
    pub(crate) fn has_told(&self, id: usize) -> bool {
        self.told.contains(&id)
    }

    /// A race of the host with an operation is found; false where one was told.
    pub(crate) fn tells(&mut self, id: usize) -> bool {
        self.told.insert(id)
    }

    /// Returns whether pages are taken away, or will be.
    pub(crate) fn is_watching(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Takes away what should be taken away and gives back the rest.
    pub(crate) fn take_away(&mut self) {
        let mut wanted = BTreeMap::new();
        for pages in self.watched.iter().flat_map(|watched| &watched.pages) {
            add(&mut wanted, pages);
        }
        let range = |(start, (end, read)): (&u64, &(u64, bool))| (*start..*end, *read);
        for (start, pages) in &self.taken {
            if wanted.get(start) != Some(pages) {
                host_pages::release(&range((start, pages)).0);
            }
        }
        let is_new = |(start, pages): &(&u64, &(u64, bool))| self.taken.get(start) != Some(pages);
        let new: Vec<Pages> = wanted.iter().filter(is_new).map(range).collect();
        for (pages, may_be_read) in new {
            if !host_pages::protect(&pages, may_be_read) {
                wanted.remove(&pages.start);
            }
        }
        self.taken = wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_rights_stay_so_and_pages_that_may_be_read_lose_that() {
        let of = |all: &[(Range<u64>, bool)]| {
            let mut sum = BTreeMap::new();
            all.iter().for_each(|pages| add(&mut sum, pages));
            sum.into_iter().map(|(start, (end, read))| (start..end, read)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[(0..4, true), (2..6, true)]), [(0..4, true), (4..6, true)]);
        assert_eq!(of(&[(2..4, true), (6..8, true), (0..9, true)]).len(), 5);
        assert_eq!(of(&[(0..6, true), (2..4, false)]), [(0..2, true), (2..4, false), (4..6, true)]);
        assert_eq!(of(&[(2..4, false), (0..6, true)]), [(0..2, true), (2..4, false), (4..6, true)]);
        assert_eq!(of(&[(0..4, true), (0..4, false)]), [(0..4, false)]);
        assert_eq!(of(&[(0..2, false), (1..3, false)]), [(0..2, false), (2..3, false)]);
    }
}
