//! The bytes of device memory that a launch read and wrote, to compare launches that may run at the same time.

use std::ops::Range;

/// The strength of an access in the PTX memory model: for which launches it counts as strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// For none: it is weak, or its scope is less than a device.
    Weak,
    /// For those on the same device.
    Device,
    /// For those on other devices, too.
    System,
}

/// The accesses to each of 64 bytes: a bit per byte, by [`Strength`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accessed {
    pub reads: [u64; 3],
    pub writes: [u64; 3],
}

/// The synchronization of a kernel that other launches can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Synchronization {
    /// It releases.
    pub releases: bool,
    /// It acquires.
    pub acquires: bool,
}

/// The footprint of a launch in device memory and mapped host memory, byte by byte (the executor's
/// `Options::footprint`).
///
/// Two launches that nothing orders race where they access the same byte, one of them writes it, and one of them does so
/// by a weak access. Two strong accesses, such as atomics, do not race; between devices only those of the system's scope
/// are strong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// By address divided by 64, ascending.
    lines: Vec<(u64, Accessed)>,
    /// For launches on the same device, and for those on others.
    synchronization: [Synchronization; 2],
}

impl Accessed {
    pub fn join(&mut self, other: Accessed) {
        for (mine, theirs) in [(&mut self.reads, other.reads), (&mut self.writes, other.writes)] {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
        }
    }

    fn all(of: [u64; 3]) -> u64 {
        of[0] | of[1] | of[2]
    }

    /// The bytes accessed weakly, where only accesses from `strong` on are strong, and those accessed strongly.
    fn parts(of: [u64; 3], strong: Strength) -> (u64, u64) {
        let device = Strength::Device as usize;
        match strong {
            Strength::System => (of[0] | of[device], of[2]),
            _ => (of[0], of[device] | of[2]),
        }
    }

    /// The bytes at which two launches race.
    fn races(self, other: Accessed, strong: Strength) -> u64 {
        let race = |one: Accessed, other: Accessed| {
            let (weak_reads, _) = Accessed::parts(one.reads, strong);
            let (weak_writes, _) = Accessed::parts(one.writes, strong);
            let written = Accessed::all(other.writes);
            (weak_reads | weak_writes) & written | weak_writes & Accessed::all(other.reads)
        };
        race(self, other) | race(other, self)
    }

    /// The bytes through which one launch can tell the other something: both access them strongly and one writes.
    fn communicates(self, other: Accessed, strong: Strength) -> u64 {
        let [mine, theirs] = [self, other].map(|one| {
            let writes = Accessed::parts(one.writes, strong).1;
            (writes, writes | Accessed::parts(one.reads, strong).1)
        });
        mine.0 & theirs.1 | theirs.0 & mine.1
    }
}

impl Footprint {
    pub(crate) fn new(
        mut lines: Vec<(u64, Accessed)>,
        synchronization: [Synchronization; 2],
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
        Footprint { lines, synchronization }
    }

    /// The first address in any of these pieces of 64 bytes, by address / 64 and ascending, that the launch accessed
    /// weakly: without saying that others may access it at the same time.
    pub fn weak_access_in(&self, pieces: &[u64]) -> Option<u64> {
        pieces.iter().find_map(|piece| {
            let at = self.lines.binary_search_by_key(piece, |(line, _)| *line).ok()?;
            let accessed = self.lines[at].1;
            let weak = accessed.reads[0] | accessed.writes[0];
            (weak != 0).then(|| piece * 64 + u64::from(weak.trailing_zeros()))
        })
    }

    /// The first address of a range that the launch accessed, or that it wrote.
    pub fn first_use(&self, range: Range<u64>, only_writes: bool) -> Option<u64> {
        let first = self.lines.partition_point(|(line, _)| line * 64 + 63 < range.start);
        let lines = self.lines[first..].iter().take_while(|(line, _)| line * 64 < range.end);
        lines
            .flat_map(|(line, accessed)| {
                let [writes, reads] = [accessed.writes, accessed.reads].map(Accessed::all);
                let used = if only_writes { writes } else { writes | reads };
                let start = line * 64;
                (0..64).filter(move |byte| used >> byte & 1 != 0).map(move |byte| start + byte)
            })
            .find(|address| range.contains(address))
    }

    /// Returns whether the launch races with an access of the host to a byte: one writes it, and the launch does not say that
    /// others of the system may access it.
    pub fn races_with_host(&self, address: u64, host_writes: bool) -> bool {
        let found = self.lines.binary_search_by_key(&(address / 64), |(line, _)| *line);
        found.is_ok_and(|at| {
            let accessed = self.lines[at].1;
            let weak = |of| Accessed::parts(of, Strength::System).0;
            let reads = if host_writes { weak(accessed.reads) } else { 0 };
            (weak(accessed.writes) | reads) >> (address % 64) & 1 != 0
        })
    }

    /// Returns whether the launch releases for the whole system: a host that reads what it wrote then need not wait for its end.
    pub fn tells_host(&self) -> bool {
        self.synchronization[1].releases
    }

    /// The first address at which two launches race that nothing orders; `None` when there is none, and when they may
    /// order themselves: both access a byte strongly, one of them writes it, and one releases where the other acquires.
    /// `one_device` says that both are on the same device.
    pub fn race_with(&self, other: &Footprint, one_device: bool) -> Option<u64> {
        let strong = if one_device { Strength::Device } else { Strength::System };
        let [mine, theirs] = [self, other].map(|one| one.synchronization[usize::from(!one_device)]);
        let can_synchronize = mine.releases && theirs.acquires || theirs.releases && mine.acquires;
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
            if can_synchronize && x.communicates(*y, strong) != 0 {
                return None;
            }
            let races = x.races(*y, strong);
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
        let both = Synchronization { releases: true, acquires: true };
        Footprint::new(lines.to_vec(), [both; 2])
    }

    #[test]
    fn one_of_two_writes_and_one_is_weak() {
        let none = Accessed::default();
        let kinds = [
            Accessed { reads: [4, 0, 0], ..none },
            Accessed { writes: [4, 0, 0], ..none },
            Accessed { reads: [0, 4, 0], ..none },
            Accessed { writes: [0, 4, 0], ..none },
            Accessed { reads: [0, 0, 4], ..none },
            Accessed { writes: [0, 0, 4], ..none },
        ];
        // Weak read and write, those strong on the device, those strong in the system: on one device, and on two.
        let on_one = [
            [0, 1, 0, 1, 0, 1],
            [1, 1, 1, 1, 1, 1],
            [0, 1, 0, 0, 0, 0],
            [1, 1, 0, 0, 0, 0],
            [0, 1, 0, 0, 0, 0],
            [1, 1, 0, 0, 0, 0],
        ];
        let on_two = [
            [0, 1, 0, 1, 0, 1],
            [1, 1, 1, 1, 1, 1],
            [0, 1, 0, 1, 0, 1],
            [1, 1, 1, 1, 1, 1],
            [0, 1, 0, 1, 0, 0],
            [1, 1, 1, 1, 0, 0],
        ];
        for (one_device, races) in [(true, on_one), (false, on_two)] {
            for (one, row) in kinds.iter().zip(races) {
                for (other, races) in kinds.iter().zip(row) {
                    let found = |line, other: Accessed| {
                        let other = footprint(&[(line, other)]);
                        footprint(&[(2, *one)]).race_with(&other, one_device)
                    };
                    assert_eq!(found(2, *other), (races == 1).then_some(130), "{one:?} {other:?}");
                    assert_eq!(found(2, Accessed { writes: [3, 0, 0], ..none }), None);
                    assert_eq!(found(3, *other), None);
                }
            }
        }
    }

    #[test]
    fn what_was_used_of_a_range_is_found_byte_by_byte() {
        let none = Accessed::default();
        let launch = footprint(&[
            (1, Accessed { reads: [0xf0, 0, 0], ..none }),
            (3, Accessed { writes: [0, 1 << 63, 0], ..none }),
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
            (Accessed { writes: [1, 0, 0], ..none }, Accessed { writes: [0, 2, 0], ..none });
        let both = Accessed { writes: [1, 2, 0], ..none };
        assert_eq!(
            footprint(&[(9, write), (7, write), (9, flag)]),
            footprint(&[(7, write), (9, both)])
        );
        let [one, other] =
            [&[(7, write), (9, flag)], &[(7, write), (8, flag)]].map(|l| footprint(l));
        assert_eq!(one.race_with(&other, true), Some(7 * 64));
        assert_eq!(one.race_with(&one, true), None);
        assert_eq!(one.race_with(&one, false), Some(7 * 64), "the flag is of the device's scope");
        let mut relaxed = one.clone();
        relaxed.synchronization[0].acquires = false;
        assert_eq!(relaxed.race_with(&relaxed, true), Some(7 * 64), "nobody acquires");
    }
}
