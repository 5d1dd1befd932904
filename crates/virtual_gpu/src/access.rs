//! The memory that an operation uses, and where two of them meet.

use simt::Footprint;
use std::ops::Range;

/// Device or page-locked memory that an operation touches: rows of `width` bytes that begin `pitch` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) start: u64,
    pub(crate) width: u64,
    pub(crate) pitch: u64,
    pub(crate) height: u64,
    pub(crate) how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Reads,
    Writes,
}

impl Access {
    pub(crate) fn linear(start: u64, bytes: u64, how: How) -> Access {
        Access { start, width: bytes, pitch: bytes, height: 1, how }
    }

    pub(crate) fn plane(
        start: u64,
        (width, pitch, height): (usize, usize, usize),
        how: How,
    ) -> Access {
        Access { start, width: width as u64, pitch: pitch as u64, height: height as u64, how }
    }

    pub(crate) fn rows(self) -> impl Iterator<Item = Range<u64>> {
        let start = move |row| self.start + row * self.pitch;
        (0..self.height).map(move |row| start(row)..start(row) + self.width)
    }

    /// Returns whether a row begins before `range` ends and ends after it begins.
    pub(crate) fn overlaps(self, range: &Range<u64>) -> bool {
        let behind = (range.start + 1).saturating_sub(self.start + self.width);
        let row = behind.div_ceil(self.pitch.max(1));
        row < self.height && self.start + row * self.pitch < range.end
    }

    /// The first address that both use, if one of them writes.
    fn conflict(self, other: Access) -> Option<u64> {
        if self.how == How::Reads && other.how == How::Reads {
            return None;
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

/// The first address at which operations conflict that do `mine` and `theirs`.
pub(crate) fn conflict(mine: &[Access], theirs: &[Access]) -> Option<u64> {
    mine.iter().find_map(|one| theirs.iter().find_map(|other| one.conflict(*other)))
}

/// The first address at which copies or fills that do `accesses` conflict with a kernel.
pub(crate) fn conflict_with(accesses: &[Access], footprint: &Footprint) -> Option<u64> {
    accesses.iter().find_map(|access| access.conflict_with(footprint))
}
