//! The proof that a launch never ends: every lane that can run repeats itself, and nothing changes meanwhile.

use crate::error::Error;
use crate::execute::issue::block::{Block, Cluster};
use crate::execute::issue::warp::{Polled, Split, State, Warp};
use crate::execute::issue::worker::Worker;
use crate::execute::memory::bytes::read_bytes;
use crate::execute::memory::mbarrier::Mbarrier;
use crate::execute::memory::request::{addresses, shared_offset, space_of};
use crate::operation::{MbarrierOperation, Operation, Space};
use crate::program::Program;
use crate::registers::Registers;
use crate::relevant::{LanesByInstruction, Relevant};
use crate::spin_loops::loops;
use crate::uninitialized::successors;
use crate::windows::CLUSTER_SHIFT;
use races::lanes;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

/// Warp-instructions of a warp in which it has to repeat a state for the proof.
const PROBE_STEPS: usize = 1 << 13;

/// The time between two looks at memory that only the host can change any more.
const HOST_PAUSE: Duration = Duration::from_micros(200);

/// Changes of a launch, as they were when it was last looked at.
#[derive(Debug)]
pub(crate) struct Endless {
    /// The instructions that change something whenever they run.
    changing: Vec<usize>,
    /// The instructions that see what others change.
    reading: Vec<usize>,
    /// By instruction: a loop begins there.
    heads: Vec<bool>,
    /// By instruction: where control may go next.
    following: Vec<Vec<u32>>,
    /// Some atomics drop what they replace, as those that count turns do.
    reduces: bool,
    changes: u64,
    /// Turns since something changed, and after how many of them the proof is tried.
    turns: u64,
    tries_after: u64,
    /// The moment since which only the host can change anything.
    awaits_host_since: Option<Instant>,
}

impl Endless {
    pub fn new(program: &Program) -> Endless {
        let changes = |operation: &Operation| match operation {
            Operation::Compute { .. }
            | Operation::Branch { .. }
            | Operation::BranchTable { .. }
            | Operation::Load(_)
            | Operation::LoadMatrix { .. }
            | Operation::Atomic(_)
            | Operation::Call { .. }
            | Operation::Return
            | Operation::Shuffle { .. }
            | Operation::Vote { .. }
            | Operation::Match { .. }
            | Operation::Reduce { .. }
            | Operation::Elect { .. }
            | Operation::ActiveMask { .. }
            | Operation::WarpBarrier { .. }
            | Operation::Fence { .. }
            | Operation::ReadClock { .. }
            | Operation::IsSpace { .. }
            | Operation::Nothing
            | Operation::Sleep { .. } => false,
            Operation::Mbarrier { operation, .. } => {
                !matches!(**operation, MbarrierOperation::Test { .. })
            }
            _ => true,
        };
        let instructions = program.instructions.iter().enumerate();
        let changing = instructions.filter(|(_, one)| changes(&one.operation)).map(|(pc, _)| pc);
        let reads = |operation: &Operation| {
            matches!(
                operation,
                Operation::Load(_) | Operation::Atomic(_) | Operation::Mbarrier { .. }
            )
        };
        let instructions = program.instructions.iter().enumerate();
        let reading = instructions.filter(|(_, one)| reads(&one.operation)).map(|(pc, _)| pc);
        let mut heads = vec![false; program.instructions.len()];
        loops(program).into_iter().for_each(|(start, _)| heads[start] = true);
        Endless {
            changing: changing.collect(),
            reading: reading.collect(),
            heads,
            following: successors(program),
            reduces: program.instructions.iter().any(|one| is_reduction(&one.operation)),
            changes: u64::MAX,
            turns: 0,
            tries_after: 0,
            awaits_host_since: None,
        }
    }
}

fn is_reduction(operation: &Operation) -> bool {
    matches!(operation, Operation::Atomic(atomic) if atomic.is_reduction)
}

/// The words that warps reach while they are looked at: in shared memory or not, and by number.
#[derive(Debug, Default)]
struct Reached {
    /// Those of which somebody uses the value.
    read: HashSet<(bool, u64)>,
    /// Those that atomics change which drop what they replace.
    reduced: HashSet<(bool, u64)>,
    /// Somebody reads memory that the host has, too.
    is_of_host: bool,
}

impl Reached {
    /// Adds the words of an instruction that is about to run.
    fn add(&mut self, program: &Program, warp: &Warp, pc: usize, mask: u32) {
        let operation = &program.instructions[pc].operation;
        let (base, offset, space, bytes) = match operation {
            Operation::Load(access) => {
                (access.base, access.offset, access.space, access.total_bytes())
            }
            Operation::LoadMatrix { access, .. } => {
                (access.base, access.offset, Space::Shared, LOAD_MATRIX_ROW)
            }
            Operation::Atomic(atomic) => {
                let elements = 1 + atomic.more_sources.len() as u32;
                (atomic.base, atomic.offset, atomic.space, atomic.t.bytes() * elements)
            }
            Operation::Mbarrier { target, .. } => (target.0, target.1, Space::Shared, 8),
            _ => return,
        };
        let words = if is_reduction(operation) { &mut self.reduced } else { &mut self.read };
        let all = addresses(warp, base, offset);
        for address in lanes(mask).map(|lane| all[lane]) {
            let is_shared = match space {
                Space::Generic => space_of(address) == Space::Shared,
                space => space == Space::Shared,
            };
            // Words of all blocks of a cluster count as one.
            let in_block = (1 << CLUSTER_SHIFT) - 1;
            let at = if is_shared { shared_offset(address) & in_block } else { address };
            words.extend((at / 4..=(at + u64::from(bytes) - 1) / 4).map(|word| (is_shared, word)));
        }
    }
}

/// Bytes that a lane's address stands for in a load of matrices.
const LOAD_MATRIX_ROW: u32 = 16;

/// A group of lanes: its position, the calls that it is in, its lanes, and why it is not running.
type Position = (u32, Vec<u32>, u32, State);

/// The search for a state of a warp that comes again: it is compared with one before, which is replaced ever more rarely
/// (R. Brent, "An improved Monte Carlo factorization algorithm", BIT 1980).
#[derive(Debug, Default)]
struct Cycle {
    /// The state before, and how many were looked at.
    start: Option<(Vec<Position>, Registers)>,
    states: u64,
    /// The instructions since then, and what decides what they do.
    ran: LanesByInstruction,
    relevant: Option<(LanesByInstruction, Relevant)>,
    /// The times that the warp was where it was in the state before.
    returns: u64,
    /// Their last loads, by instruction, each with its turn.
    loads: BTreeMap<usize, (usize, Polled)>,
}

impl Cycle {
    /// Looks at the state of a warp. Returns the load that decided last, if any does, once the warp does what it did before.
    fn closes(
        &mut self,
        program: &Program,
        following: &[Vec<u32>],
        warp: &Warp,
    ) -> Option<Option<Polled>> {
        let position = |split: &Split| (split.pc, split.frames.clone(), split.mask, split.state);
        let mut positions: Vec<Position> = warp.splits.iter().map(position).collect();
        positions.sort_by(|a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
        if let Some((start, registers)) = &self.start
            && *start == positions
            && !self.ran.is_empty()
        {
            self.returns += 1;
            // What a loop runs is known after a few turns. One that always runs something else is looked at ever more rarely.
            let is_known = self.relevant.as_ref().is_some_and(|(ran, _)| *ran == self.ran);
            if !is_known && self.returns.is_power_of_two() {
                let relevant = Relevant::new(program, following, &self.ran);
                self.relevant = Some((self.ran.clone(), relevant));
            }
            if let Some((ran, relevant)) = &self.relevant
                && *ran == self.ran
                && !relevant.reads_clock(program, ran)
                && relevant.are_same(program, registers, &warp.registers)
            {
                let decides = |(pc, _): &(&usize, _)| relevant.is_written_by(program, **pc);
                let loads = self.loads.iter().filter(decides);
                return Some(loads.max_by_key(|(_, (turn, _))| *turn).map(|(_, (_, load))| *load));
            }
        }
        self.states += 1;
        if self.states.is_power_of_two() {
            self.start = Some((positions, warp.registers.clone()));
            self.returns = 0;
            self.ran.clear();
            self.loads.clear();
        }
        None
    }
}

/// The lanes of a warp that run next, with their position.
fn next_of(warp: &mut Warp) -> Option<(usize, u32)> {
    loop {
        // To choose them joins groups, so that others may come first.
        let groups = warp.splits.len();
        let next = warp.pick()?;
        let found = (next.pc as usize, next.mask);
        warp.splits.push(next);
        if warp.splits.len() == groups {
            return Some(found);
        }
    }
}

impl Worker<'_> {
    /// A cluster has had a turn and only spins. Returns an error when all of the launch that has started does, and nothing
    /// that it does changes anything.
    pub fn check_endless(
        &mut self,
        endless: &mut Endless,
        turns: &mut VecDeque<(u64, Cluster)>,
        started: u64,
    ) -> Result<(), Error> {
        let changes = self.changes_so_far(endless) + started;
        if endless.changes != changes {
            (endless.changes, endless.turns) = (changes, 0);
            endless.awaits_host_since = None;
            endless.tries_after = 4 * turns.len() as u64;
        }
        endless.turns += 1;
        if endless.turns <= endless.tries_after {
            return Ok(());
        }
        endless.tries_after *= 2;
        let live = live_lanes(turns);
        let mut waiting: Option<(u64, Error)> = None;
        let mut reached = Reached::default();
        // Those asleep come last: to wake them changes what they count, so all others have to repeat themselves.
        for asleep in [false, true] {
            for (order, cluster) in turns.iter_mut() {
                self.cluster = std::mem::take(cluster);
                let place = (*order, started, asleep);
                let repeats = self.cluster_repeats(endless, place, &mut waiting, &mut reached);
                *cluster = std::mem::take(&mut self.cluster);
                if !repeats? {
                    return Ok(());
                }
            }
        }
        if self.changes_so_far(endless) + started != endless.changes || live_lanes(turns) != live {
            return Ok(());
        }
        // What they count must not be what one of them waits for.
        if !reached.read.is_disjoint(&reached.reduced) {
            return Ok(());
        }
        let patience = (self.run.options.patience)();
        // A page has no clock, and no host that runs beside.
        if reached.is_of_host && !patience.is_zero() {
            let since = *endless.awaits_host_since.get_or_insert_with(Instant::now);
            if since.elapsed() < patience {
                thread::sleep(HOST_PAUSE);
                (endless.turns, endless.tries_after) = (0, 0);
                return Ok(());
            }
        }
        match waiting {
            Some((_, Error::Deadlock { place, message })) if reached.is_of_host => {
                let message =
                    format!("{message}; nor has the host, which has memory that it polls");
                Err(Error::Deadlock { place, message })
            }
            other => other.map_or(Ok(()), |(_, error)| Err(error)),
        }
    }

    fn cluster_repeats(
        &mut self,
        endless: &Endless,
        (order, started, asleep): (u64, u64, bool),
        waiting: &mut Option<(u64, Error)>,
        reached: &mut Reached,
    ) -> Result<bool, Error> {
        for rank in 0..self.cluster.len() {
            let Some(mut block) = self.cluster[rank].take() else { continue };
            let mut repeats = Ok(true);
            for w in 0..block.warps.len() {
                let sleeps = |split: &Split| matches!(split.state, State::AtMbarrier(_));
                if block.warps[w].splits.iter().any(sleeps) != asleep {
                    continue;
                }
                let mut warp = std::mem::take(&mut block.warps[w]);
                repeats = self.repeats(endless, &mut block, &mut warp, reached);
                let waits = |split: &Split| matches!(split.state, State::AtBarrier(_));
                let is_first = waiting.as_ref().is_none_or(|(first, _)| order < *first);
                if is_first && !warp.splits.iter().all(waits) {
                    *waiting = Some((order, self.waits_forever(&block, &warp, started)));
                }
                block.warps[w] = warp;
                // It may have been the last to arrive at a barrier.
                self.release_barriers(&mut block);
                if !matches!(repeats, Ok(true)) {
                    break;
                }
            }
            self.cluster[rank] = Some(block);
            if !repeats? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A cluster that runs beside those of other workers only spins. Returns an error when it reads nothing, so that
    /// nobody else can end it.
    pub fn check_endless_alone(
        &mut self,
        endless: &mut Endless,
        order: u64,
        cluster: &mut Cluster,
    ) -> Result<(), Error> {
        let before = self.count_of(&endless.reading);
        let mut turns = VecDeque::from([(order, std::mem::take(cluster))]);
        let checked = self.check_endless(endless, &mut turns, self.run.clusters());
        turns.into_iter().for_each(|(_, one)| *cluster = one);
        if self.count_of(&endless.reading) == before { checked } else { Ok(()) }
    }

    fn changes_so_far(&self, endless: &Endless) -> u64 {
        self.count_of(&endless.changing) + self.changes
    }

    /// The warp-instructions so far at some places.
    fn count_of(&self, pcs: &[usize]) -> u64 {
        pcs.iter().map(|pc| self.observers.tallies[*pc].warps).sum()
    }

    /// Returns whether every lane of a runnable warp returns to an earlier state, as far as that decides what it does.
    fn repeats(
        &mut self,
        endless: &Endless,
        block: &mut Block,
        warp: &mut Warp,
        reached: &mut Reached,
    ) -> Result<bool, Error> {
        let program = self.run.program;
        let is_ready = |warp: &Warp| warp.splits.iter().filter(|s| s.state == State::Ready).count();
        for turn in 0..is_ready(warp).max(1) {
            warp.rotate = turn as u32;
            let mut cycle = Cycle::default();
            for step in 0.. {
                let next = next_of(warp);
                let sleeps = |state| matches!(state, State::AtMbarrier(_));
                if next.is_none() && !warp.splits.iter().any(|split| sleeps(split.state)) {
                    break;
                }
                if next.is_none_or(|(pc, _)| endless.heads[pc])
                    && let Some(load) = cycle.closes(program, &endless.following, warp)
                {
                    warp.polled = load.unwrap_or_default();
                    let mut loads = cycle.loads.values().filter(|(_, load)| !load.is_shared);
                    let is_of_host = |load: &Polled| {
                        let found = self.run.memory.find(load.address, 1);
                        found.is_some_and(|index| self.run.memory.region(index).is_mapped())
                    };
                    reached.is_of_host |= loads.any(|(_, load)| is_of_host(load));
                    break;
                }
                let Some((pc, mask)) = next else {
                    for split in warp.splits.iter_mut().filter(|split| sleeps(split.state)) {
                        (split.state, split.pc) = (State::Ready, split.pc + 1);
                    }
                    continue;
                };
                if step >= PROBE_STEPS {
                    return Ok(false);
                }
                if endless.reduces {
                    reached.add(program, warp, pc, mask);
                }
                *cycle.ran.entry(pc).or_default() |= mask;
                let before = std::mem::take(&mut warp.polled);
                let mut one = 1;
                self.run_splits(block, warp, &mut one)?;
                self.steps += 1;
                if warp.polled.mask == 0 {
                    warp.polled = before;
                } else {
                    cycle.loads.insert(pc, (step, warp.polled));
                }
            }
        }
        warp.rotate = 0;
        Ok(true)
    }

    /// The error of lanes that wait for what cannot come.
    #[cold]
    fn waits_forever(&mut self, block: &Block, warp: &Warp, started: u64) -> Error {
        let asleep = warp.splits.iter().find_map(|split| match split.state {
            State::AtMbarrier(address) => Some((split.pc, split.mask, address)),
            _ => None,
        });
        let polls_mbarrier = |polled: &Polled| {
            let operation = &self.run.program.instructions[polled.pc as usize].operation;
            matches!(operation, Operation::Mbarrier { .. })
        };
        let woken = Some(warp.polled).filter(polls_mbarrier);
        let woken = woken.map(|polled| (polled.pc, polled.mask & warp.live, polled.address as u32));
        let asleep = asleep.or(woken);
        let polled = (warp.polled.mask & warp.live != 0).then_some(warp.polled);
        let (pc, lanes, what) = if let Some((pc, lanes, address)) = asleep {
            (pc, lanes, self.awaited_mbarrier(block, warp, (pc, lanes), address))
        } else if let Some(polled) = polled {
            (polled.pc, polled.mask & warp.live, self.awaited(block, warp))
        } else {
            let pc = warp.splits.first().map_or(0, |split| split.pc);
            (pc, warp.live, "it loops, and loads nothing that could end the loop".to_owned())
        };
        let all = self.run.clusters();
        let others = if started < all {
            format!(
                "{} of {all} blocks or clusters have not started, as the device holds {started} at once; to fix it: launch \
                 no more than that, as a cooperative launch makes sure",
                all - started
            )
        } else {
            "all that has not ended waits, and nothing that it does changes anything; to fix it: let another thread end the \
             wait that does not itself wait for this one"
                .to_owned()
        };
        let place = Box::new(self.run.place(block.index, warp.index, lanes, pc as usize));
        Error::Deadlock { place, message: format!("{what}; {others}") }
    }

    /// Describes what lanes wait for by a test of an mbarrier's phase.
    fn awaited_mbarrier(
        &self,
        block: &Block,
        warp: &Warp,
        (pc, lanes): (u32, u32),
        address: u32,
    ) -> String {
        let word = read_bytes(&block.shared, address as usize, 8);
        let Mbarrier { pending, expected, transactions, phase } = Mbarrier::from_word(word);
        let location = self.run.locate_shared(address.into());
        let bytes = match transactions {
            0 => String::new(),
            bytes => format!(" and {bytes} bytes of copies"),
        };
        let lane = lanes.trailing_zeros() as usize & 31;
        let by_parity = match &self.run.program.instructions[pc as usize].operation {
            Operation::Mbarrier { operation, .. } => match **operation {
                MbarrierOperation::Test { parity: Some(row), .. } => {
                    Some(warp.registers.words[row as usize][lane] & 1)
                }
                _ => None,
            },
            _ => None,
        };
        let now = u32::from(phase);
        let awaited = match by_parity {
            Some(parity) if pending == expected && transactions == 0 => format!(
                "the phase of parity {parity}, which is under way and at which nobody has arrived (a wait for the phase before, of \
                 parity {}, passes)",
                1 - now
            ),
            Some(parity) => format!("the phase of parity {parity}, which is under way"),
            None => format!("the phase under way, of parity {now}"),
        };
        format!(
            "it waits for the mbarrier at shared address {address:#x}, for the end of {awaited}: it still lacks {pending} of \
             {expected} arrivals{bytes}; {location}"
        )
    }

    /// Describes what a warp waits for by its last load.
    pub fn awaited(&mut self, block: &Block, warp: &Warp) -> String {
        let Polled { address, bytes, .. } = warp.polled;
        let (value, what) = if warp.polled.is_shared {
            let value = read_bytes(&block.shared, address as usize, bytes);
            (value, self.run.locate_shared(address))
        } else {
            (self.device_load(address, bytes), self.run.memory.locate(address))
        };
        format!(
            "it waits for the {bytes} bytes at {address:#x} to change, which are {value:#x}; {what}"
        )
    }
}

fn live_lanes(turns: &VecDeque<(u64, Cluster)>) -> u32 {
    let blocks = turns.iter().flat_map(|(_, cluster)| cluster).flatten();
    blocks.flat_map(|block| &block.warps).map(|warp| warp.live.count_ones()).sum()
}
