//! Finds work that overtakes earlier work on the same memory because nothing orders the two.
//!
//! Work runs late here, so that an operation which the program forgot to order is still pending when a later one on
//! another stream runs. What the later one touches is compared with what the pending ones touch. A kernel may touch every
//! allocation that an argument points into; what it did touch shows when it has run, and only then is it accused. Two
//! kernels are compared by what they did (`concurrent.rs`).

use crate::work::{CopySide, QueuedWork};
use simt::{Footprint, Memory};
use std::ops::Range;

/// Device or page-locked memory that an operation touches: rows of `width` bytes that begin `pitch` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    start: u64,
    width: u64,
    pitch: u64,
    height: u64,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Reads,
    Writes,
    /// A kernel was given the address.
    Touches,
}

impl Access {
    fn linear(start: u64, bytes: u64, how: How) -> Access {
        Access { start, width: bytes, pitch: bytes, height: 1, how }
    }

    fn rows(self) -> impl Iterator<Item = Range<u64>> {
        let start = move |row| self.start + row * self.pitch;
        (0..self.height).map(move |row| start(row)..start(row) + self.width)
    }

    /// Returns whether a row begins before `range` ends and ends after it begins.
    fn overlaps(self, range: &Range<u64>) -> bool {
        let behind = (range.start + 1).saturating_sub(self.start + self.width);
        let row = behind.div_ceil(self.pitch.max(1));
        row < self.height && self.start + row * self.pitch < range.end
    }

    /// The first address that both use, if one of them writes, or if one is a kernel that may write and `suspects` asks
    /// for it.
    fn conflict(self, other: Access, candidates: bool) -> Option<u64> {
        match (self.how, other.how) {
            (How::Writes, _) | (_, How::Writes) => {}
            (How::Touches, How::Reads) | (How::Reads, How::Touches) if candidates => {}
            _ => return None,
        }
        let row = self.rows().find(|row| other.overlaps(row))?;
        Some(row.start.max(other.start))
    }

    /// The first address at which a kernel that did `footprint` conflicts.
    fn conflict_with(self, footprint: &Footprint) -> Option<u64> {
        let writes = self.how == How::Writes;
        self.rows().find_map(|row| footprint.first_use(row, !writes))
    }
}

/// The first address at which work conflicts that does `mine` and `theirs`. With `suspects` that is also what a copy reads
/// and a kernel may write.
pub(crate) fn conflict(mine: &[Access], theirs: &[Access], candidates: bool) -> Option<u64> {
    mine.iter().find_map(|one| theirs.iter().find_map(|other| one.conflict(*other, candidates)))
}

/// The first address at which copies or fills that do `accesses` conflict with a kernel.
pub(crate) fn conflict_with(accesses: &[Access], footprint: &Footprint) -> Option<u64> {
    accesses.iter().find_map(|access| access.conflict_with(footprint))
}

/// Returns what an operation touches.
pub(crate) fn accesses(memory: &Memory, work: &QueuedWork) -> Vec<Access> {
    match work {
        QueuedWork::Copy(copy) | QueuedWork::Arrival(copy) => {
            let (width, height) = (copy.width as u64, copy.height as u64);
            let side = |side: CopySide, how| Access {
                start: side.address,
                width,
                pitch: side.pitch as u64,
                height,
                how,
            };
            let mut accesses = vec![side(copy.target, How::Writes)];
            if copy.staged.is_none() {
                accesses.push(side(copy.source, How::Reads));
            }
            accesses
        }
        QueuedWork::Fill(fill) => vec![Access {
            start: fill.address,
            width: (fill.width * fill.size) as u64,
            pitch: fill.pitch as u64,
            height: fill.height as u64,
            how: How::Writes,
        }],
        QueuedWork::Kernel(kernel) => {
            let words =
                kernel.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
            let found = words.filter_map(|word| memory.allocation(u64::from_le_bytes(*word)));
            found.map(|one| Access::linear(one.address, one.bytes, How::Touches)).collect()
        }
        QueuedWork::Release(address) => {
            let found = memory.allocation(*address);
            let found = found.map(|one| Access::linear(one.address, one.bytes, How::Writes));
            found.into_iter().collect()
        }
        QueuedWork::Event
        | QueuedWork::Wait
        | QueuedWork::Join
        | QueuedWork::Host(_)
        | QueuedWork::Prefetch { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{Copy, Fill};

    #[test]
    fn work_on_the_same_memory_conflicts_when_one_writes_it() {
        let memory = Memory::new(1 << 20);
        let copy = |target, source| QueuedWork::Copy(Copy::linear(target, source, 16));
        let rows = |address, height| {
            QueuedWork::Fill(Fill { address, pitch: 16, value: 0, size: 1, width: 4, height })
        };
        let finds = |earlier: QueuedWork, now: QueuedWork| {
            conflict(&accesses(&memory, &now), &accesses(&memory, &earlier), false)
        };
        let fill = |address| {
            QueuedWork::Fill(Fill { address, pitch: 16, value: 0, size: 1, width: 16, height: 1 })
        };
        assert_eq!(finds(fill(1000), copy(2000, 1008)), Some(1008));
        assert_eq!(finds(fill(1000), copy(2000, 1016)), None, "one begins where the other ends");
        assert_eq!(finds(fill(1016), copy(2000, 1000)), None, "one ends where the other begins");
        assert_eq!(finds(copy(2000, 1000), copy(3000, 1000)), None, "both read");
        assert_eq!(finds(copy(2000, 1000), fill(1000)), Some(1000));
        assert_eq!(finds(fill(1000), QueuedWork::Wait), None);
        assert_eq!(finds(rows(1000, 8), rows(1004, 8)), None, "columns of one array");
        assert_eq!(finds(rows(1000, 8), rows(1034, 8)), Some(1034), "two bytes of each row");
        assert_eq!(finds(rows(1000, 8), rows(1000 + 8 * 16, 1)), None, "the row behind the last");
        assert_eq!(finds(rows(1000, 0), rows(1000, 8)), None, "no rows");
    }
}
