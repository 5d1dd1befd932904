//! The clock of a warp, when a time is estimated.

use crate::operation::{Operation, Register, Space};
use crate::program::BlockPlace;
use crate::unroll::TURNS;

/// Returns whether ptxas may schedule it as soon as its operands are ready.
fn is_moved(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Compute { .. }
            | Operation::Load(_)
            | Operation::Store(_)
            | Operation::Shuffle { .. }
            | Operation::Vote { .. }
            | Operation::Mma(_)
            | Operation::LoadMatrix { .. }
            | Operation::Branch { .. }
            | Operation::Nothing
    )
}

/// When the values of a warp's registers are there, in cycles since its start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    pub now: u32,
    pub words: Vec<u32>,
    pub longs: Vec<u32>,
    pub predicates: Vec<u32>,
    /// When the asynchronous copies so far have landed.
    pub copies: u32,
    /// The warp came to a barrier, and goes on when the last has come.
    pub at_barrier: bool,
    /// Barriers that it has come to.
    pub barriers: usize,
    /// It has loaded global memory since its start or its last barrier.
    pub has_loaded: bool,
    /// When it came to its last barrier.
    pub since: u32,
    /// The instructions that ran since then, a bit per instruction.
    pub ran: Vec<u64>,
    /// The unrolled loop that it runs, and the turns of it since those that became one began.
    unrolled: (u32, u32),
    /// When the basic block began, or the last instruction that others may notice ran.
    begin: u32,
    /// When the last store to shared memory and to other memory ran: no load of the same moves in front of it.
    stored: [u32; 2],
    /// When it last stored anything that leaves the multiprocessor.
    sent: Option<u32>,
    /// When the last instruction ran of those since `begin`.
    latest: u32,
}

impl Clocks {
    /// Starts anew for a program with so many rows.
    pub fn reset(&mut self, words: u32, longs: u32, predicates: u32) {
        let rows = [
            (&mut self.words, words),
            (&mut self.longs, longs + 1),
            (&mut self.predicates, predicates),
        ];
        for (row, count) in rows {
            row.clear();
            row.resize(count as usize, 0);
        }
        (self.now, self.copies, self.at_barrier) = (0, 0, false);
        (self.barriers, self.has_loaded, self.since) = (0, false, 0);
        self.ran.clear();
        (self.unrolled, self.begin, self.stored, self.latest) = ((0, 0), 0, [0; 2], 0);
        self.sent = None;
    }

    /// Comes to an instruction.
    #[inline(always)]
    pub fn enter(&mut self, place: BlockPlace) {
        if !place.is_first {
            return;
        }
        let (unrolled, turns) = self.unrolled;
        let is_next = place.unrolled != 0 && place.unrolled == unrolled && turns + 1 < TURNS;
        self.unrolled = (place.unrolled, if is_next { turns + 1 } else { 0 });
        if !is_next {
            self.fence();
        }
    }

    /// When an instruction runs whose operands are there at `there`.
    pub fn start(&self, operation: &Operation, there: u32) -> u32 {
        let [shared, other] = self.stored;
        let order = match operation {
            Operation::Load(access) => match access.space {
                _ if access.strong => self.now.max(self.latest),
                Space::Parameter | Space::Constant => self.begin,
                _ if access.read_only => self.begin,
                Space::Shared => self.begin.max(shared),
                Space::Generic => self.begin.max(shared).max(other),
                _ => self.begin.max(other),
            },
            _ if is_moved(operation) => self.begin,
            _ => self.now.max(self.latest),
        };
        there.max(order)
    }

    /// An instruction has run.
    pub fn has_run(&mut self, operation: &Operation, start: u32) {
        self.now += 1;
        self.latest = self.latest.max(start + 1);
        if let Operation::Store(access) = operation {
            let [shared, other] = &mut self.stored;
            if access.space != Space::Global {
                *shared = start.max(*shared);
            }
            if access.space != Space::Shared {
                *other = start.max(*other);
                self.sent = Some(*other);
            }
        } else if !is_moved(operation) {
            self.fence();
        }
    }

    /// Nothing moves in front of what comes next.
    pub fn fence(&mut self) {
        self.now = self.now.max(self.latest);
        (self.begin, self.stored, self.latest) = (self.now, [self.now; 2], self.now);
    }

    /// When all that the warp did is done: its last store needs so many cycles to L2, and no launch ends before.
    pub fn end(&self, to_l2: u32) -> u32 {
        self.now.max(self.sent.map_or(0, |at| at.saturating_add(to_l2)))
    }

    pub fn ready(&mut self, row: Register) -> &mut u32 {
        match row {
            Register::Word(index) => &mut self.words[index as usize],
            Register::Long(index) => &mut self.longs[index as usize],
            Register::Predicate(index) => &mut self.predicates[index as usize],
        }
    }
}
