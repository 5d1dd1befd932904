//! The loads whose values are followed in a launch, and the findings that wait for a use of them.

use crate::findings::{Finding, Hazard};
use crate::operation::Register;
use crate::program::Program;
use crate::registers::{ALWAYS, LANES};
use crate::uninitialized::successors;
use races::lanes;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Values that are followed at most, and findings that wait for them; of more, each counts as used.
const VALUES_MAX: usize = 1 << 20;

/// Loads of which a value is known to be made at most.
const LOADS_MAX: usize = 256;

/// A followed value in a lane of a register.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    /// The numbers of the loads that it was made of.
    pub loads: Vec<u32>,
    /// The bits that are undefined.
    pub bits: u64,
    /// It was computed, not only moved.
    pub is_computed: bool,
    /// The bits that hold something: the others are left from a load or a mask that made it shorter.
    pub own: u64,
    /// It is a part that was taken out of a value.
    pub is_taken: bool,
}

impl Followed {
    /// A value that is only moved, with its undefined bits.
    pub const fn new(bits: u64) -> Followed {
        Followed { loads: Vec::new(), bits, is_computed: false, own: u64::MAX, is_taken: false }
    }

    /// A value that was computed of loads.
    pub fn computed(loads: Vec<u32>, bits: u64) -> Followed {
        Followed { loads, is_computed: true, ..Followed::new(bits) }
    }

    /// Returns whether so many bytes hold nothing that is defined.
    fn is_all_undefined(&self, bytes: u32) -> bool {
        let own = self.own & u64::MAX >> (64 - 8 * bytes);
        own & !self.bits == 0 && own != 0
    }
}

/// A byte of memory: its space, its block, warp and lane where they have their own, and its address.
pub(crate) type ByteKey = (Hazard, u32, u8, u8, u64);

/// A byte that was written with undefined bits.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub defined: u8,
    pub own: u8,
    /// The value that was written, if a load of the byte follows it on.
    pub value: Option<Arc<Followed>>,
}

/// Returns the key of a byte in the space that a hazard names.
pub(crate) fn byte_key(hazard: Hazard, site: LoadSite, address: u64) -> ByteKey {
    match hazard {
        Hazard::UninitializedLocal => (hazard, site.block, site.warp, site.lane, address),
        Hazard::UninitializedShared => (hazard, site.block, 0, 0, address),
        _ => (hazard, 0, 0, 0, address),
    }
}

/// The followed values of a warp. They cost nothing while there are none, as mostly.
#[derive(Clone, Debug, Default)]
pub(crate) struct FollowedRows {
    /// By row, then by lane; a value without undefined bits is none.
    rows: Vec<Option<Box<[Followed; LANES]>>>,
}

impl FollowedRows {
    pub fn get(&self, row: usize, lane: usize) -> Option<&Followed> {
        let value = &self.rows.get(row)?.as_ref()?[lane];
        (value.bits != 0).then_some(value)
    }

    pub fn insert(&mut self, row: usize, lane: usize, value: Followed) {
        if row >= self.rows.len() {
            self.rows.resize(row + 1, None);
        }
        let none = || Box::new([const { Followed::new(0) }; LANES]);
        self.rows[row].get_or_insert_with(none)[lane] = value;
    }

    /// Forgets the values of a row in the lanes of a mask.
    pub fn remove(&mut self, row: usize, mask: u32) {
        if let Some(Some(values)) = self.rows.get_mut(row) {
            lanes(mask).for_each(|lane| values[lane].bits = 0);
        }
    }

    pub fn clear(&mut self) {
        self.rows.clear();
    }
}

/// An instruction's lane at a time, by what tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoadSite {
    pub block: u32,
    pub warp: u8,
    pub lane: u8,
    pub pc: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowedLoad {
    pub address: u64,
    pub bytes: u32,
    /// A copy of the whole value is a use, too, as none of its bits were written.
    pub is_whole: bool,
    /// Any copy is a use.
    pub races: bool,
    /// The instruction that first used it.
    pub used_by: Option<u32>,
}

/// A finding that holds if one of some loads is used.
#[derive(Debug)]
struct Waiting {
    pc: usize,
    /// Findings before it.
    place: usize,
    loads: Vec<u32>,
    finding: Finding,
}

/// The loads that are followed in a launch, and the findings that wait for them.
#[derive(Debug)]
pub(crate) struct Follower<'r> {
    /// By instruction: a load that races.
    racing: &'r [bool],
    loads: Vec<FollowedLoad>,
    places: HashMap<LoadSite, Vec<u32>>,
    waiting: Vec<Waiting>,
    /// By hazard and instruction: the first finding that waits.
    first: HashMap<(Hazard, usize), usize>,
    /// Bytes that were written with undefined bits, and so count as not written elsewhere.
    pub parts: HashMap<ByteKey, Part>,
    /// By instruction: where lanes may go next.
    following: Vec<Vec<u32>>,
    /// Loads that no instruction reads the value of, as nobody but a test writes them: they count as used.
    dead: HashMap<usize, bool>,
}

impl<'r> Follower<'r> {
    /// Follows the loads of instructions that race, and all loads of undefined bytes.
    pub fn new(program: &Program, racing: &'r [bool]) -> Follower<'r> {
        Follower {
            racing,
            loads: Vec::new(),
            places: HashMap::new(),
            waiting: Vec::new(),
            first: HashMap::new(),
            parts: HashMap::new(),
            following: successors(program),
            dead: HashMap::new(),
        }
    }

    /// Returns whether no instruction can read what a load writes.
    pub fn is_dead(&mut self, program: &Program, pc: usize) -> bool {
        let following = &self.following;
        *self.dead.entry(pc).or_insert_with(|| {
            let targets = &program.details[pc].writes;
            !targets.iter().any(|row| is_read(program, following, pc, *row))
        })
    }

    /// Returns the number of a lane's load, new unless the lane has done the same before; nothing when there are too
    /// many.
    pub fn load(&mut self, site: LoadSite, load: FollowedLoad) -> Option<u32> {
        let known = self.places.entry(site).or_default();
        let same = |number: &&u32| {
            let other = &self.loads[**number as usize];
            (other.address, other.is_whole, other.races)
                == (load.address, load.is_whole, load.races)
        };
        if let Some(number) = known.iter().find(same) {
            return Some(*number);
        }
        if self.loads.len() >= VALUES_MAX {
            return None;
        }
        let number = self.loads.len() as u32;
        known.push(number);
        self.loads.push(load);
        Some(number)
    }

    /// Remembers that an instruction uses a value.
    pub fn used(&mut self, value: &Followed, pc: usize) {
        for number in &value.loads {
            self.loads[*number as usize].used_by.get_or_insert(pc as u32);
        }
    }

    /// Remembers what of a value an instruction uses by storing so many bytes of it, as an output or where other threads
    /// may take it up; returns whether that is a use.
    pub fn stored(&mut self, value: &Followed, pc: usize, (bytes, is_output): (u32, bool)) -> bool {
        let mut is_used = is_output && value.is_computed;
        for number in &value.loads {
            let load = &mut self.loads[*number as usize];
            let may_be_whole = load.is_whole || value.is_taken;
            let is_harm = value.is_computed || may_be_whole && value.is_all_undefined(bytes);
            if load.races || is_output && is_harm {
                load.used_by.get_or_insert(pc as u32);
                is_used = true;
            }
        }
        is_used
    }

    /// Brings the loads of a value in order; of too many, the others count as used.
    pub fn limit(&mut self, value: &mut Followed, pc: usize) {
        if value.loads.len() > 1 {
            value.loads.sort_unstable();
            value.loads.dedup();
        }
        if value.loads.len() > LOADS_MAX {
            for number in value.loads.split_off(LOADS_MAX) {
                self.loads[number as usize].used_by.get_or_insert(pc as u32);
            }
        }
    }

    /// Returns whether a value was made of a load that races.
    pub fn is_racing(&self, value: &Followed) -> bool {
        value.loads.iter().any(|number| self.loads[*number as usize].races)
    }

    /// Returns whether a load of an instruction races.
    pub fn races(&self, pc: usize) -> bool {
        self.racing.get(pc) == Some(&true)
    }

    /// Returns the loads at these sites that race, and that reach an address.
    pub fn reaching(&self, sites: impl Iterator<Item = LoadSite>, address: u64) -> Vec<u32> {
        let numbers = sites.filter_map(|site| self.places.get(&site)).flatten().copied();
        let reaches = |number: &u32| {
            let load = &self.loads[*number as usize];
            let range = load.address..load.address + u64::from(load.bytes);
            load.races && range.contains(&address)
        };
        numbers.filter(reaches).collect()
    }

    /// Keeps a finding, before which there are so many others, until one of some loads is used; gives it back when there
    /// are none, or too many wait. One that comes after the same that is used already is dropped: it would be told once.
    pub fn wait(
        &mut self,
        (hazard, pc): (Hazard, usize),
        place: usize,
        loads: Vec<u32>,
        finding: impl FnOnce() -> Finding,
    ) -> Option<Finding> {
        if loads.is_empty() || self.waiting.len() >= VALUES_MAX {
            return Some(finding());
        }
        let first = *self.first.entry((hazard, pc)).or_insert(self.waiting.len());
        let is_used = |load: &u32| self.loads[*load as usize].used_by.is_some();
        if self.waiting.get(first).is_some_and(|first| first.loads.iter().any(is_used)) {
            return None;
        }
        self.waiting.push(Waiting { pc, place, loads, finding: finding() });
        None
    }

    /// The bytes of global memory of which some bits were written.
    pub fn written_in_part(&self) -> impl Iterator<Item = u64> {
        let parts = self.parts.iter().filter(|(_, part)| part.defined != 0);
        parts.filter(|(key, _)| key.0 == Hazard::UninitializedGlobal).map(|(key, _)| key.4)
    }

    /// Puts the findings whose loads were used among the others, each where it was found.
    pub fn settle(self, program: &Program, findings: &mut Vec<Finding>) {
        let mut seen = HashSet::new();
        let mut settled = Vec::new();
        for mut waiting in self.waiting {
            let used = waiting.loads.iter().find_map(|load| self.loads[*load as usize].used_by);
            let Some(used) = used.map(|pc| pc as usize) else { continue };
            if !seen.insert((waiting.finding.hazard, waiting.pc)) {
                continue;
            }
            if used != waiting.pc {
                let detail = &program.details[used];
                let text = &program.texts[detail.text as usize];
                let line = detail.position.line;
                // Of a race, either access may be the load.
                let what =
                    if waiting.finding.other.is_some() { "the loaded value" } else { "its value" };
                waiting.finding.message +=
                    &format!("; {what} is used by `{text}` at PTX line {line}");
            }
            settled.push((waiting.place, waiting.finding));
        }
        // From behind, so that places stay right; those of one place in their order.
        for (place, finding) in settled.into_iter().rev() {
            findings.insert(place, finding);
        }
    }
}

/// Returns whether some way from behind an instruction reads a register before it is written.
fn is_read(program: &Program, following: &[Vec<u32>], pc: usize, row: Register) -> bool {
    let mut work = following[pc].clone();
    let mut seen = vec![false; following.len()];
    while let Some(at) = work.pop().map(|at| at as usize) {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if let (Some(detail), Some(instruction)) =
            (program.details.get(at), program.instructions.get(at))
        {
            if detail.reads.contains(&row) || row == Register::Predicate(instruction.guard) {
                return true;
            }
            if detail.writes.contains(&row) && instruction.guard == ALWAYS {
                continue;
            }
        }
        work.extend(&following[at]);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;
    use std::collections::BTreeMap;

    /// A map by row and lane is what the rows have to be, however many of them hold something.
    #[test]
    fn followed_rows_are_a_map() {
        let (mut rows, mut map) = (FollowedRows::default(), BTreeMap::new());
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for step in 0..20_000_u64 {
            // Rows far apart, and rows of which every lane holds something.
            let row = if draw(2) == 0 { draw(4) } else { 1000 * draw(4) } as usize;
            match draw(8) {
                0..=4 => {
                    let lane = draw(LANES as u64) as usize;
                    rows.insert(row, lane, Followed::new(step + 1));
                    map.insert((row, lane), step + 1);
                }
                5 => {
                    rows.remove(row, u32::MAX);
                    map.retain(|(known, _), _| *known != row);
                }
                6 => {
                    let mask = draw(1 << 32) as u32;
                    rows.remove(row, mask);
                    map.retain(|(known, lane), _| *known != row || mask >> lane & 1 == 0);
                }
                _ if draw(500) == 0 => {
                    rows.clear();
                    map.clear();
                }
                _ => {}
            }
            let (row, lane) = (1000 * draw(5) as usize, draw(LANES as u64) as usize);
            for row in [row, row / 1000] {
                let held = rows.get(row, lane).map(|value| value.bits);
                assert_eq!(
                    held,
                    map.get(&(row, lane)).copied(),
                    "step {step}, row {row}, lane {lane}"
                );
            }
        }
    }

    /// Of many races at one instruction the first that is used is worded, and those after it are not.
    #[test]
    fn a_race_that_is_known_to_be_used_is_worded_once() {
        let (program, racing) = (Program::default(), [true; 4]);
        let mut follower = Follower::new(&program, &racing);
        let site = |lane| LoadSite { block: 0, warp: 0, lane, pc: 1 };
        let load = |address| FollowedLoad {
            address,
            bytes: 4,
            is_whole: false,
            races: true,
            used_by: None,
        };
        let numbers: Vec<u32> = (0..3)
            .filter_map(|lane| follower.load(site(lane), load(4 * u64::from(lane))))
            .collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(follower.load(site(1), load(4)), Some(1), "the same load again");
        let mut worded = Vec::new();
        let mut wait = |follower: &mut Follower<'_>, number: u32| {
            let key = (Hazard::GlobalRace, 1);
            let kept = follower.wait(key, 0, vec![number], || {
                worded.push(number);
                Finding::new(Hazard::GlobalRace, Place::default(), String::new())
            });
            assert_eq!(kept, None);
        };
        wait(&mut follower, 0);
        wait(&mut follower, 1);
        follower.used(&Followed::computed(vec![0], 1), 2);
        wait(&mut follower, 2);
        assert_eq!(worded, [0, 1], "before its first is used, each may be the one that is told");
    }
}
