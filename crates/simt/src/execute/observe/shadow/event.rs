//! Accesses as the shadow of memory remembers them, and what each instruction means for order.

use crate::operation::{MbarrierOperation, Operation, Scope, Semantics};
use crate::program::Program;

/// One remembered access: an [`Epoch`] by its number plus one (32 bits), the instruction (20), a
/// lane (5), whether other lanes of the same instruction did it, too (1), and how the lanes lie in a
/// line (3). Zero is no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event(pub u64);

const PC_SHIFT: u32 = 9;
const PC_MASK: u64 = (1 << 20) - 1;
const MANY: u64 = 1 << 3;
const LANE_SHIFT: u32 = 4;
/// The shape of an access that does not fill a line.
const POINT: u32 = 5;

impl Event {
    /// The accesses of a line by lanes from `lane` on, `1 << shape` granules apart.
    pub fn row(epoch: u32, pc: usize, lane: usize, shape: u32) -> Event {
        let pc = pc as u64 & PC_MASK;
        Event(
            (epoch as u64) << 32
                | pc << PC_SHIFT
                | ((lane & 31) as u64) << LANE_SHIFT
                | shape as u64,
        )
    }

    /// The same from its lowest bits: lane, whether others did it, too, and shape.
    #[inline(always)]
    pub fn formed(epoch: u32, pc: usize, form: u16) -> Event {
        Event(Event::row(epoch, pc, 0, 0).0 | u64::from(form))
    }

    /// The access of one lane.
    pub fn point(epoch: u32, pc: usize, lane: usize) -> Event {
        Event::row(epoch, pc, lane, POINT)
    }

    /// The same by several lanes of the instruction, of which it names one.
    pub fn of_many(self) -> Event {
        Event(self.0 | MANY)
    }

    /// The access to one granule of a line.
    pub fn at(self, granule: usize) -> Event {
        if self.is_none() {
            return self;
        }
        let lane = (self.lane() + (granule >> self.shape())) & 31;
        Event::point(self.epoch(), self.pc(), lane).with_many(self.is_many())
    }

    fn with_many(self, many: bool) -> Event {
        if many { self.of_many() } else { self }
    }

    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn pc(self) -> usize {
        (self.0 >> PC_SHIFT & PC_MASK) as usize
    }

    pub fn lane(self) -> usize {
        (self.0 >> LANE_SHIFT) as usize & 31
    }

    pub fn is_many(self) -> bool {
        self.0 & MANY != 0
    }

    fn shape(self) -> u32 {
        self.0 as u32 & 7
    }

    /// Returns whether both are of the same lanes, of whatever warp, in the same places.
    pub fn has_lanes_of(self, other: Event) -> bool {
        (self.0 ^ other.0) & ((1 << PC_SHIFT) - 1) == 0
    }

    /// Returns whether the same lanes of the same warp did both at one time.
    pub fn is_same_lanes(self, other: Event) -> bool {
        (self.0 ^ other.0) & !(PC_MASK << PC_SHIFT) == 0 && !self.is_many()
    }
}

/// A warp at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub block: u32,
    pub warp: u8,
    pub time: u32,
}

/// The meaning of an instruction for the order of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    pub semantics: Semantics,
    /// Reads and writes as one.
    pub updates: bool,
    /// Its result may be used: an `atom`, not a `red`.
    pub observes: bool,
    /// Bytes of one element.
    pub bytes: u8,
}

impl Kind {
    pub fn is_strong(self) -> bool {
        self.semantics.strong.is_some()
    }

    fn of(operation: &Operation) -> Kind {
        match operation {
            Operation::Load(access) => Kind {
                semantics: access.semantics,
                updates: false,
                observes: true,
                bytes: access.bytes as u8,
            },
            Operation::Store(access) => Kind {
                semantics: access.semantics,
                updates: false,
                observes: false,
                bytes: access.bytes as u8,
            },
            Operation::Atomic(atomic) => Kind {
                semantics: atomic.semantics,
                updates: true,
                observes: atomic.observes,
                bytes: atomic.t.bytes() as u8,
            },
            Operation::Mbarrier { operation, .. } => {
                let is_plain = matches!(
                    **operation,
                    MbarrierOperation::Initialize { .. } | MbarrierOperation::Invalidate
                );
                let strong = (!is_plain).then_some(Scope::Device);
                Kind {
                    semantics: Semantics { strong, ..Semantics::default() },
                    updates: !is_plain,
                    observes: false,
                    bytes: 8,
                }
            }
            _ => Kind { bytes: 4, ..Kind::default() },
        }
    }
}

/// Returns how far a strong access or a fence reaches; the device for all others.
pub(crate) fn scope_of(operation: &Operation) -> Scope {
    let strong = match operation {
        Operation::Load(access) | Operation::Store(access) => access.semantics.strong,
        Operation::Atomic(atomic) => atomic.semantics.strong,
        Operation::Fence { semantics, proxy: false } => semantics.strong,
        _ => None,
    };
    strong.unwrap_or_default()
}

/// The kind of every instruction of a program.
pub(crate) fn kinds(program: &Program) -> Vec<Kind> {
    let mut kinds: Vec<Kind> =
        program.instructions.iter().map(|instruction| Kind::of(&instruction.operation)).collect();
    for (pc, system) in optimistic_loads(program) {
        kinds[pc].semantics.strong = Some(Scope::Device);
        kinds[pc].semantics.system = system;
    }
    kinds
}

/// Plain loads with which a compare-and-swap loop starts: `old = *p; do { atomicCAS(p, old, ..) }`.
///
/// By the letter of the model such a load races with the swaps of others. What it reads is only a
/// guess, which the swap confirms or replaces, so that no value of it can do harm, and it stands in
/// NVIDIA's own guide. It is a load from the address of a compare-and-swap, by the same register
/// and offset, whose expected value is not a constant. With each comes whether the swap is of the system's scope.
fn optimistic_loads(program: &Program) -> Vec<(usize, bool)> {
    let constants: std::collections::HashSet<_> =
        program.constants.iter().map(|(row, _)| *row).collect();
    let swaps: Vec<_> = program
        .instructions
        .iter()
        .filter_map(|instruction| match &instruction.operation {
            Operation::Atomic(atomic)
                if atomic.second.is_some() && !constants.contains(&atomic.source) =>
            {
                let place = (atomic.base, atomic.offset, atomic.t.bytes());
                Some((place, atomic.semantics.system))
            }
            _ => None,
        })
        .collect();
    let swap_of = |operation: &Operation| match operation {
        Operation::Load(access) if !access.strong && access.rows.len() == 1 => {
            let place = (access.base, access.offset, access.bytes);
            swaps.iter().find(|(swapped, _)| *swapped == place).map(|(_, system)| *system)
        }
        _ => None,
    };
    let instructions = program.instructions.iter().enumerate();
    let loads = instructions.filter_map(|(pc, one)| Some((pc, swap_of(&one.operation)?)));
    loads.collect()
}
