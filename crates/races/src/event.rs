//! Accesses as the shadow of memory remembers them.

/// One remembered access: an [`Epoch`] by its number plus one (32 bits), the instruction (20), a
/// lane (5), whether other lanes of the same instruction did it, too (1), and how the lanes lie in a
/// line (3). Zero is no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event(pub(crate) u64);

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

    /// Returns whether there is no access.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of its epoch plus one.
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns the number of its instruction.
    pub fn pc(self) -> usize {
        (self.0 >> PC_SHIFT & PC_MASK) as usize
    }

    /// Returns its lane, the first of several.
    pub fn lane(self) -> usize {
        (self.0 >> LANE_SHIFT) as usize & 31
    }

    /// Returns whether other lanes of the instruction did it, too.
    pub fn is_many(self) -> bool {
        self.0 & MANY != 0
    }

    fn shape(self) -> u32 {
        self.0 as u32 & 7
    }

    /// Returns whether another lane did it, too, as far as one remembers: the same lane may do it again in a loop.
    pub fn is_beside(self, before: Event) -> bool {
        let is_same = before.epoch() == self.epoch() && before.pc() == self.pc();
        is_same && (before.lane() != self.lane() || before.is_many())
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
pub struct Epoch {
    /// The linear index of the block.
    pub block: u32,
    /// The warp of the block; from [`WARPS`](crate::WARPS) on, asynchronous copies.
    pub warp: u8,
    /// The time of the warp.
    pub time: u32,
}
