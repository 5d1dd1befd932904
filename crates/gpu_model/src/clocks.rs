use crate::estimate::InsideWork;
use simt::{InstructionClass, InstructionFacts, MemorySpace};

/// Turns of a short loop that ptxas makes one.
const UNROLLED_ITERATIONS: u32 = 4;

/// Returns whether ptxas may schedule it as soon as its operands are ready.
fn is_moved(class: InstructionClass) -> bool {
    matches!(
        class,
        InstructionClass::Plain
            | InstructionClass::Branch
            | InstructionClass::Load { .. }
            | InstructionClass::Store { .. }
            | InstructionClass::Exchange { is_moved: true }
    )
}

/// A loop that waits until another thread writes what it reads.
#[derive(Clone, Copy, Debug)]
pub struct Poll {
    /// The instruction that reads.
    pub pc: u32,
    /// The first and the last instruction of the loop.
    pub turn: (u32, u32),
    /// The cycle of its first try.
    pub since: u32,
    /// It was tried again.
    pub failed: bool,
}

/// Cycles, since a warp's start, at which the values of its registers are ready.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    pub now: u32,
    /// The number of its block, among those that run at the same time.
    pub block: usize,
    /// The number of its block in the launch.
    pub number: u32,
    /// The work that it has kept its multiprocessor busy with.
    pub busy: InsideWork,
    /// The poll that it repeats, and the cycle of its first try.
    pub poll: Option<Poll>,
    /// The words that the latest poll reads.
    pub polled: Vec<u64>,
    /// The polls that have succeeded.
    pub passed: u32,
    /// The instructions that it has run.
    pub instructions: u64,
    /// The cycle at which it last read a clock outside of a loop that waits for one, what it read, and its instructions then.
    pub read_clock: Option<(u32, u64, u64)>,
    /// By the number of the register.
    registers: Vec<u32>,
    /// Cycle at which the asynchronous copies so far have landed.
    pub copies: u32,
    /// The warp came to a barrier, and goes on when the last has come.
    pub at_barrier: bool,
    /// Barriers that it has come to.
    pub barriers: usize,
    /// It has loaded global memory since its start or its last barrier.
    pub has_loaded: bool,
    /// Cycle at which it arrived at its last barrier.
    pub since: u32,
    /// The instructions that ran since then, a bit per instruction.
    pub ran: Vec<u64>,
    /// The unrolled loop that it runs, and the turns of it since those that became one began.
    unrolled: (u32, u32),
    /// Cycle at which the basic block began, or the last instruction ran that others may notice.
    begin: u32,
    /// Cycles of the last store to shared memory and to other memory: no load of the same moves in front of it.
    stored: [u32; 2],
    /// Cycle of the last store that leaves the multiprocessor.
    sent: Option<u32>,
    /// Cycle of the latest instruction since `begin`.
    latest: u32,
    /// The lines that it has printed.
    pub lines: u64,
    /// The branch that has just run, and its cycle.
    pub branched: Option<(u32, u32)>,
    /// Lanes whose last compare-and-swap of a loop failed.
    pub failed: u32,
}

impl Clocks {
    /// Starts anew for a program with so many registers.
    pub fn reset(&mut self, registers: usize) {
        self.registers.clear();
        self.registers.resize(registers, 0);
        (self.now, self.copies, self.at_barrier) = (0, 0, false);
        (self.barriers, self.has_loaded, self.since) = (0, false, 0);
        self.ran.clear();
        (self.unrolled, self.begin, self.stored, self.latest) = ((0, 0), 0, [0; 2], 0);
        (self.sent, self.failed, self.busy) = (None, 0, InsideWork::default());
        self.polled.clear();
        (self.poll, self.passed, self.read_clock, self.instructions) = (None, 0, None, 0);
        (self.branched, self.lines) = (None, 0);
    }

    /// Comes to an instruction.
    #[inline(always)]
    pub fn enter(&mut self, place: &InstructionFacts) {
        if !place.is_first {
            return;
        }
        let (unrolled, turns) = self.unrolled;
        let is_next =
            place.unrolled != 0 && place.unrolled == unrolled && turns + 1 < UNROLLED_ITERATIONS;
        self.unrolled = (place.unrolled, if is_next { turns + 1 } else { 0 });
        if !is_next {
            self.fence();
        }
    }

    /// Returns the cycle at which an instruction runs whose operands are ready at `there`.
    pub fn start(&self, class: InstructionClass, there: u32) -> u32 {
        let [shared, other] = self.stored;
        let order = match class {
            InstructionClass::Load { memory, is_strong, is_read_only } => match memory {
                _ if is_strong => self.now.max(self.latest),
                MemorySpace::Parameter | MemorySpace::Constant => self.begin,
                _ if is_read_only => self.begin,
                MemorySpace::Shared => self.begin.max(shared),
                MemorySpace::Generic => self.begin.max(shared).max(other),
                _ => self.begin.max(other),
            },
            _ if is_moved(class) => self.begin,
            _ => self.now.max(self.latest),
        };
        there.max(order)
    }

    /// An instruction has run, which a warp issues in so many cycles.
    pub fn has_run(&mut self, class: InstructionClass, start: u32, cycles: u32) {
        self.now = self.now.saturating_add(cycles);
        self.instructions += 1;
        self.latest = self.latest.max(start.saturating_add(1));
        if let InstructionClass::Store { memory } = class {
            let [shared, other] = &mut self.stored;
            if memory != MemorySpace::Global {
                *shared = start.max(*shared);
            }
            if memory != MemorySpace::Shared {
                *other = start.max(*other);
                self.sent = Some(*other);
            }
        } else if !is_moved(class) {
            self.fence();
        }
    }

    /// Lets what comes behind a branch begin then.
    pub fn branch(&mut self, then: u32) {
        self.latest = self.latest.max(then);
        self.fence();
    }

    /// Nothing moves in front of what comes next.
    pub fn fence(&mut self) {
        self.now = self.now.max(self.latest);
        (self.begin, self.stored, self.latest) = (self.now, [self.now; 2], self.now);
    }

    /// Comes to an instruction of this place. What a poll spends until it succeeds is not the warp's own time: each try begins when
    /// the first did.
    pub fn enter_poll(&mut self, pc: u32, turn: Option<(u32, u32)>) {
        match &mut self.poll {
            // The first try may stand before the loop.
            Some(poll)
                if poll.pc == pc
                    || turn.is_some_and(|(first, last)| last == poll.turn.1 && poll.pc < first) =>
            {
                (poll.pc, poll.failed) = (pc, true);
                let since = poll.since;
                (self.now, self.begin, self.stored, self.latest) =
                    (since, since, [since; 2], since);
            }
            Some(poll) if (poll.turn.0..=poll.turn.1).contains(&pc) => {}
            _ => {
                let since = self.now.max(self.latest);
                self.passed += u32::from(self.poll.is_some());
                self.poll = turn.map(|turn| Poll { pc, turn, since, failed: false });
                if turn.is_some() {
                    self.polled.clear();
                }
            }
        }
    }

    /// Comes to this cycle, which a clock has said.
    pub fn set(&mut self, cycle: u32) {
        (self.now, self.latest) = (cycle, cycle);
        self.fence();
    }

    /// Returns the cycle at which the warp is done: its last store needs `to_l2` cycles to L2, before a launch ends.
    pub fn end(&self, to_l2: u32) -> u32 {
        self.now.max(self.sent.map_or(0, |at| at.saturating_add(to_l2)))
    }

    /// Returns the cycle at which a register's value is ready.
    pub fn ready(&mut self, register: u32) -> &mut u32 {
        &mut self.registers[register as usize]
    }
}
