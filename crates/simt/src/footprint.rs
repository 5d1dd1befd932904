//! The bytes of device memory that a launch read and wrote, to compare launches that may run at the same time.

use std::ops::Range;

/// How each of 64 bytes was accessed: a bit per byte.
///
/// Accesses are strong as the PTX memory model says, when their scope includes the device; all others are weak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accessed {
    pub weak_read: u64,
    pub weak_write: u64,
    pub strong_read: u64,
    pub strong_write: u64,
}

/// What a launch did to device memory and mapped host memory, byte by byte, asked for with
/// [`Options::footprint`](crate::Options::footprint).
///
/// Two launches that nothing orders race where they access the same byte, one of them writes it, and one of them does so
/// by a weak access. Two strong accesses, such as atomics, do not race.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// By address divided by 64, ascending.
    lines: Vec<(u64, Accessed)>,
    /// The kernel has a release, and an acquire, that other launches can see.
    releases: bool,
    acquires: bool,
}

impl Accessed {
    pub fn join(&mut self, other: Accessed) {
        self.weak_read |= other.weak_read;
        self.weak_write |= other.weak_write;
        self.strong_read |= other.strong_read;
        self.strong_write |= other.strong_write;
    }

    /// The bytes at which two launches race.
    fn races(self, other: Accessed) -> u64 {
        let all =
            |one: Accessed| one.weak_read | one.weak_write | one.strong_read | one.strong_write;
        self.weak_write & all(other)
            | other.weak_write & all(self)
            | self.weak_read & other.strong_write
            | other.weak_read & self.strong_write
    }

    /// The bytes through which one launch can tell the other something: both access them strongly and one writes.
    fn communicates(self, other: Accessed) -> u64 {
        let strong = |one: Accessed| one.strong_read | one.strong_write;
        self.strong_write & strong(other) | other.strong_write & strong(self)
    }
}

impl Footprint {
    pub(crate) fn new(
        mut lines: Vec<(u64, Accessed)>,
        (releases, acquires): (bool, bool),
    ) -> Footprint {
        // Several workers may have reached the same lines.
        lines.sort_by_key(|(line, _)| *line);
        lines.dedup_by(|(line, accessed), (kept, sum)| {
            let is_same = line == kept;
            if is_same {
                sum.join(*accessed);
            }
            is_same
        });
        Footprint { lines, releases, acquires }
    }

    /// The first address in any of these pieces of 64 bytes, by address / 64 and ascending, that the launch accessed
    /// weakly: without saying that others may access it at the same time.
    pub fn weak_access_in(&self, pieces: &[u64]) -> Option<u64> {
        pieces.iter().find_map(|piece| {
            let at = self.lines.binary_search_by_key(piece, |(line, _)| *line).ok()?;
            let accessed = self.lines[at].1;
            let weak = accessed.weak_read | accessed.weak_write;
            (weak != 0).then(|| piece * 64 + u64::from(weak.trailing_zeros()))
        })
    }

    /// The first address of a range that the launch accessed, or that it wrote.
    pub fn first_use(&self, range: Range<u64>, only_writes: bool) -> Option<u64> {
        let first = self.lines.partition_point(|(line, _)| line * 64 + 63 < range.start);
        let lines = self.lines[first..].iter().take_while(|(line, _)| line * 64 < range.end);
        lines
            .flat_map(|(line, accessed)| {
                let writes = accessed.weak_write | accessed.strong_write;
                let reads = accessed.weak_read | accessed.strong_read;
                let used = if only_writes { writes } else { writes | reads };
                let start = line * 64;
                (0..64).filter(move |byte| used >> byte & 1 != 0).map(move |byte| start + byte)
            })
            .find(|address| range.contains(address))
    }

    /// The first address at which two launches race that nothing orders; `None` when there is none, and when they may
    /// order themselves: both access a byte strongly, one of them writes it, and one releases where the other acquires.
    pub fn race_with(&self, other: &Footprint) -> Option<u64> {
        let can_synchronize = self.releases && other.acquires || other.releases && self.acquires;
        let mut first = None;
        let (mut mine, mut theirs) = (&self.lines[..], &other.lines[..]);
        while let ([(a, x), ..], [(b, y), ..]) = (mine, theirs) {
            if a != b {
                // Most of two launches lies apart: one search skips it.
                let (behind, ahead) = if a < b { (&mut mine, b) } else { (&mut theirs, a) };
                let next = behind.partition_point(|(line, _)| line < ahead);
                *behind = &behind[next..];
                continue;
            }
            if can_synchronize && x.communicates(*y) != 0 {
                return None;
            }
            let races = x.races(*y);
            if races != 0 {
                first.get_or_insert(a * 64 + u64::from(races.trailing_zeros()));
            }
            (mine, theirs) = (&mine[1..], &theirs[1..]);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footprint(lines: &[(u64, Accessed)]) -> Footprint {
        Footprint::new(lines.to_vec(), (true, true))
    }

    #[test]
    fn one_of_two_writes_and_one_is_weak() {
        let none = Accessed::default();
        let kinds = [
            Accessed { weak_read: 4, ..none },
            Accessed { weak_write: 4, ..none },
            Accessed { strong_read: 4, ..none },
            Accessed { strong_write: 4, ..none },
        ];
        let races = [[0, 1, 0, 1], [1, 1, 1, 1], [0, 1, 0, 0], [1, 1, 0, 0]];
        for (one, row) in kinds.iter().zip(races) {
            for (other, races) in kinds.iter().zip(row) {
                let found = footprint(&[(2, *one)]).race_with(&footprint(&[(2, *other)]));
                assert_eq!(found, (races == 1).then_some(130), "{one:?} {other:?}");
                let apart = Accessed { weak_write: 3, ..none };
                assert_eq!(footprint(&[(2, *one)]).race_with(&footprint(&[(2, apart)])), None);
                assert_eq!(footprint(&[(2, *one)]).race_with(&footprint(&[(3, *other)])), None);
            }
        }
    }

    #[test]
    fn what_was_used_of_a_range_is_found_byte_by_byte() {
        let none = Accessed::default();
        let launch = footprint(&[
            (1, Accessed { weak_read: 0xf0, ..none }),
            (3, Accessed { strong_write: 1 << 63, ..none }),
        ]);
        for (range, used, written) in [
            (0..64, None, None),
            (64..68, None, None),
            (64..69, Some(68), None),
            (70..4096, Some(70), Some(255)),
            (72..255, None, None),
            (255..256, Some(255), Some(255)),
            (256..4096, None, None),
        ] {
            assert_eq!(launch.first_use(range.clone(), false), used, "{range:?}");
            assert_eq!(launch.first_use(range.clone(), true), written, "{range:?}");
        }
    }

    #[test]
    fn lines_of_several_workers_are_one_and_launches_that_can_synchronize_are_not_accused() {
        let none = Accessed::default();
        let (write, flag) =
            (Accessed { weak_write: 1, ..none }, Accessed { strong_write: 2, ..none });
        let both = Accessed { weak_write: 1, strong_write: 2, ..none };
        assert_eq!(
            footprint(&[(9, write), (7, write), (9, flag)]),
            footprint(&[(7, write), (9, both)])
        );
        let [one, other] =
            [&[(7, write), (9, flag)], &[(7, write), (8, flag)]].map(|l| footprint(l));
        assert_eq!(one.race_with(&other), Some(7 * 64));
        assert_eq!(one.race_with(&one), None);
        let relaxed = Footprint { acquires: false, ..one.clone() };
        assert_eq!(relaxed.race_with(&relaxed), Some(7 * 64), "nobody acquires");
    }
}
