//! The inner loop: one instruction for all lanes that are together.

use crate::cpu::widest;
use crate::error::Error;
use crate::execute::issue::block::{Block, Stop};
use crate::execute::issue::warp::{Flow, Split, State, Warp, read_row, write_row};
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::pending::Awaited;
use crate::execute::memory::request::space_of;
use crate::findings::{Finding, Hazard};
use crate::hash::mix;
use crate::operation::{BarrierKind, Clock, MbarrierOperation, Operation, Register};
use crate::options::Schedule;
use crate::program::ClockWait;
use crate::spin_loops::loops;
use races::BarrierName;

/// Warp-instructions that a warp may run before another gets its turn.
const QUANTUM: u64 = 1 << 14;
/// The same of a warp that waited for other blocks to the end of its last turn, in a launch whose blocks all run at once.
const QUANTUM_OF_WAITING: u64 = 1 << 8;

impl Worker<'_> {
    /// Runs one warp until nothing of it can run or its turn is over.
    pub fn run_warp(&mut self, block: &mut Block, warp: &mut Warp) -> Result<Stop, Error> {
        let quantum = match self.run.options.schedule {
            Schedule::Seeded(seed) => {
                1 + mix(seed ^ mix(block.turn ^ (warp.index as u64) << 32)) % 64
            }
            _ if warp.waited && self.run.launch.cooperative => QUANTUM_OF_WAITING,
            _ => QUANTUM,
        };
        let watched = self.run.options.watched;
        self.observers.watching =
            watched.is_some_and(|w| w.block == block.linear && w.warp == warp.index);
        let mut left = quantum;
        let trace = self.run.options.trace.as_deref();
        let result = self.run_traced(trace, block, warp, &mut left);
        let used = quantum - left;
        self.steps += used;
        if !self.burn(used) {
            return Err(self.out_of_fuel(block, warp, self.steps - used));
        }
        let run = self.run;
        run.progress.tell(|| {
            let polled = Some(warp.polled).filter(|polled| polled.turn == self.steps - used);
            let first = || warp.splits.first().map_or((0, warp.live), |one| (one.pc, one.mask));
            let (pc, mask) = polled.map_or_else(first, |polled| (polled.pc, polled.mask));
            run.place(block.index, warp.index, mask, pc as usize)
        });
        let stop = result?;
        if stop == Stop::Turn {
            let polled = warp.polled.turn == self.steps - used && warp.polled.mask != 0;
            warp.waited = polled && self.is_strong(warp.polled.pc as usize);
        }
        // Lanes of this warp may wait for each other without a common instruction.
        let several = warp.splits.iter().filter(|s| s.state == State::Ready).count() > 1;
        warp.rotate = if stop == Stop::Turn && several && self.run.program.polls {
            warp.rotate + 1
        } else {
            0
        };
        Ok(stop)
    }

    /// Returns whether an instruction sees what others write meanwhile.
    fn is_strong(&self, pc: usize) -> bool {
        match &self.run.program.instructions[pc].operation {
            Operation::Load(access) => access.strong,
            operation => matches!(operation, Operation::Atomic(_)),
        }
    }

    /// Takes warp-instructions from this worker's fuel; false when there is none, or the launch is to end.
    pub fn burn(&mut self, steps: u64) -> bool {
        if steps > self.fuel {
            let Some(taken) = self.run.take_fuel(steps - self.fuel) else { return false };
            self.fuel += taken;
        }
        self.fuel -= steps;
        !self.run.is_stopped()
    }

    /// The error of a launch that does not end: the last load or atomic of the turn is what it waits for.
    #[cold]
    fn out_of_fuel(&mut self, block: &Block, warp: &Warp, turn: u64) -> Error {
        let fuel = self.run.burnt(self.fuel);
        let polled = warp.polled;
        let lanes = polled.mask & warp.live;
        if polled.turn != turn || polled.mask == 0 || lanes == 0 {
            let pc = warp.splits.first().map_or(0, |s| s.pc as usize);
            let place = Box::new(self.run.place(block.index, warp.index, warp.live, pc));
            let program = self.run.program;
            let mut operations = program.instructions.iter().map(|one| &one.operation);
            let calls = operations.any(|one| matches!(one, Operation::Call { .. }));
            let is_straight = !calls && loops(program).is_empty();
            let message = if is_straight {
                "the kernel has no loop, so it ends; to fix it: raise the limit"
            } else {
                "it loads nothing that another thread could change; to fix it: check the loop's condition, or raise the \
                 limit where the loop takes longer"
            };
            let message = message.into();
            return Error::OutOfFuel { place, fuel, message };
        }
        let place = self.run.place(block.index, warp.index, lanes, polled.pc as usize);
        let message = format!(
            "{}; to fix it: let another thread write them that does not itself wait for this one, nor for a block that \
             cannot start before this one ends",
            self.awaited(block, warp)
        );
        Error::OutOfFuel { place: Box::new(place), fuel, message }
    }

    /// The inner loop with the widest instructions that the CPU has.
    pub fn run_splits(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        left: &mut u64,
    ) -> Result<Stop, Error> {
        widest!(
            self.wide,
            self.run_splits_wide(block, warp, left),
            self.run_splits_any(block, warp, left)
        )
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt")]
    fn run_splits_wide(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        left: &mut u64,
    ) -> Result<Stop, Error> {
        self.run_splits_any(block, warp, left)
    }

    #[inline(always)]
    fn run_splits_any(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        left: &mut u64,
    ) -> Result<Stop, Error> {
        let program = self.run.program;
        while let Some(mut split) = warp.pick() {
            let mut join = warp.join_above(&split.frames, split.pc);
            loop {
                if *left == 0 {
                    warp.splits.push(split);
                    return Ok(Stop::Turn);
                }
                *left -= 1;
                let pc = split.pc as usize;
                let instruction = &program.instructions[pc];
                let guard = warp.registers.predicates[instruction.guard as usize];
                let mask = split.mask & (guard ^ instruction.negate);
                let tally = &mut self.observers.tallies[pc];
                tally.warps += 1;
                tally.threads += split.mask.count_ones() as u64;
                tally.predicated_on += mask.count_ones() as u64;
                if self.observers.doubted.get(pc) == Some(&true) {
                    self.check_registers(Issue { block, warp, pc, mask }, split.mask);
                }
                match &instruction.operation {
                    Operation::Compute { function, operands } => {
                        if mask != 0 {
                            // SAFETY: `choose` picked this function for this CPU when the kernel
                            // was decoded.
                            unsafe { function(&mut warp.registers, operands, mask) };
                        }
                        split.pc += 1;
                    }
                    Operation::Branch { target } => {
                        if mask == split.mask {
                            split.pc = *target;
                        } else if mask == 0 {
                            split.pc += 1;
                        } else {
                            self.observers.tallies[pc].divergent += 1;
                            warp.splits.push(Split {
                                pc: *target,
                                mask,
                                frames: split.frames.clone(),
                                state: State::Ready,
                            });
                            split.mask &= !mask;
                            split.pc += 1;
                            if *target <= pc as u32 {
                                warp.splits.push(split);
                                break;
                            }
                        }
                        if !warp.splits.is_empty() {
                            if warp.is_ahead(&split) {
                                warp.splits.push(split);
                                break;
                            }
                            join = warp.join_above(&split.frames, split.pc.saturating_sub(1));
                        }
                    }
                    // The most frequent of the others, without their detour.
                    Operation::Load(access) => {
                        let mut issue = Issue { block, warp, pc, mask };
                        if !self.access_again::<false>(&mut issue, access) && mask != 0 {
                            self.access::<false>(issue, access)?;
                        }
                        split.pc += 1;
                    }
                    Operation::Store(access) => {
                        let mut issue = Issue { block, warp, pc, mask };
                        if !self.access_again::<true>(&mut issue, access) && mask != 0 {
                            self.access::<true>(issue, access)?;
                        }
                        split.pc += 1;
                    }
                    operation => match self.other(block, warp, &mut split, mask, operation)? {
                        Flow::Sleeps if program.polls => {
                            split.pc += 1;
                            self.issued(warp, pc);
                            warp.splits.push(split);
                            return Ok(Stop::Turn);
                        }
                        Flow::Next | Flow::Sleeps => split.pc += 1,
                        Flow::Jumped => {
                            self.issued(warp, pc);
                            warp.splits.push(split);
                            break;
                        }
                        Flow::Left => break,
                    },
                }
                self.issued(warp, pc);
                if split.pc >= join {
                    warp.splits.push(split);
                    break;
                }
            }
        }
        Ok(Stop::Blocked)
    }

    /// Tells the observer that a warp has executed the instruction at `pc`.
    #[inline(always)]
    fn issued(&mut self, warp: &Warp, pc: usize) {
        if let Some(observer) = &mut self.observers.observer {
            observer.issue(warp.observed, pc);
        }
    }

    /// Instructions that do more than compute or branch.
    fn other(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        split: &mut Split,
        mask: u32,
        operation: &Operation,
    ) -> Result<Flow, Error> {
        let pc = split.pc as usize;
        if mask == 0 {
            return Ok(Flow::Next);
        }
        let issue = Issue { block, warp, pc, mask };
        match operation {
            Operation::Atomic(atomic) => self.atomic(issue, atomic)?,
            Operation::BranchTable { table, index } => {
                return self.branch_table(warp, split, mask, (*table, *index), block);
            }
            Operation::Call { target } => return self.call(warp, split, mask, *target),
            Operation::Return => return Ok(leave(warp, split, mask, true)),
            Operation::Exit => return Ok(leave(warp, split, mask, false)),
            Operation::Sleep { nanoseconds } => {
                if let Some(observer) = &mut self.observers.observer {
                    let lanes = (0..32_usize).filter(|lane| mask >> lane & 1 != 0);
                    let longest = lanes.map(|lane| read_row(issue.warp, *nanoseconds, lane)).max();
                    observer.amount(longest.unwrap_or(0));
                }
                return Ok(Flow::Sleeps);
            }
            Operation::Trap => {
                let mut place = Box::new(self.run.place(block.index, warp.index, mask, pc));
                // The trap of a panic is the library's; its author looks for the line that panicked.
                if let (Some(caller), Some(own)) = (self.run.caller(&split.frames), &place.source) {
                    place.source = Some(format!("{caller}, which calls {own}"));
                }
                return Err(Error::Trap { place, message: self.panic_message(block) });
            }
            Operation::LostCall { address } => {
                let called =
                    warp.registers.longs[*address as usize][mask.trailing_zeros() as usize];
                let place = Box::new(self.run.place(block.index, warp.index, mask, pc));
                let message = format!(
                    "it calls {called:#x}, which is the address of no function with these parameters; to fix it: pass the \
                     address of a device function, taken on the device"
                );
                return Err(Error::IllegalInstruction { place, message });
            }
            Operation::Builtin { which, parameters, result } => {
                self.builtin(issue, *which, parameters, *result)?;
            }
            Operation::SaveFrame { .. }
            | Operation::RestoreFrame { .. }
            | Operation::Alloca { .. } => {
                let program = self.run.program;
                let done = warp.recursion(program, operation, mask, split.frames.len());
                done.map_err(|message| {
                    let place = Box::new(self.run.place(block.index, warp.index, mask, pc));
                    Error::IllegalInstruction { place, message }
                })?;
            }
            Operation::CopyLocal { from, to, bytes } => {
                copy_local(warp, mask, *from, *to, *bytes);
                self.observers.copy_parts(
                    (block.linear as u32, warp.index),
                    mask,
                    (*from, *to, *bytes),
                );
            }
            Operation::Barrier { id, count, kind, .. } => {
                // The warp leaves from here, so that nobody else does.
                self.issued(warp, pc);
                return self.barrier(block, warp, split, mask, (*id, *count, *kind));
            }
            Operation::WarpBarrier { members } => {
                if !self.together(block, warp, split, mask, *members) {
                    return Ok(Flow::Left);
                }
                self.warp_barrier(warp, mask, *members);
            }
            Operation::Shuffle { operands, .. }
            | Operation::Vote { operands, .. }
            | Operation::Match { operands, .. }
            | Operation::Reduce { operands, .. }
            | Operation::Elect { operands } => {
                if !self.together(block, warp, split, mask, operands.members) {
                    return Ok(Flow::Left);
                }
                if self.run.doubt.instructions.get(pc) == Some(&true) {
                    self.check_definedness(Issue { block, warp, pc, mask }, split.mask);
                }
                self.exchange(Issue { block, warp, pc, mask }, operation);
            }
            Operation::ActiveMask { destination } => {
                warp.registers.words[*destination as usize]
                    .iter_mut()
                    .enumerate()
                    .filter(|(lane, _)| mask >> lane & 1 != 0)
                    .for_each(|(_, word)| *word = mask);
            }
            Operation::Fence { proxy, semantics } => {
                self.fence(block, warp, mask, *proxy, *semantics);
            }
            Operation::ReadClock { clock, destination } => {
                let value = match clock {
                    Clock::Cycles => self.steps * 4,
                    Clock::GlobalTime => self.steps * 2,
                };
                self.steps += 1;
                if let Some(observer) = &mut self.observers.observer {
                    observer.amount(value);
                    let waits = &self.run.program.clock_waits;
                    if let Ok(place) = waits.binary_search_by_key(&(pc as u32), |(at, _)| *at) {
                        let lanes = (0..32_usize).filter(|lane| mask >> lane & 1 != 0);
                        let deadlines =
                            lanes.map(|lane| deadline(warp, &waits[place].1, value, lane));
                        observer.deadline(deadlines.max().unwrap_or(value));
                    }
                }
                write_row(warp, *destination, mask, |_| value);
            }
            Operation::IsSpace { destination, address, space } => {
                let mut bits = 0;
                for lane in 0..32 {
                    let address = read_row(warp, *address, lane);
                    bits |= u32::from(space_of(address) == *space) << lane;
                }
                let row = &mut warp.registers.predicates[*destination as usize];
                *row = (*row & !mask) | (bits & mask);
            }
            Operation::AsyncCopy(copy) => self.async_copy(issue, copy)?,
            Operation::AsyncCommit => warp.copy_group += 1,
            Operation::AsyncWait { pending } => self.async_wait(block, warp, *pending)?,
            Operation::Mbarrier { target, operation } => {
                self.mbarrier(issue, *target, operation)?;
                if let MbarrierOperation::Test { sleeps: true, result, .. } = **operation {
                    return Ok(self.sleep(warp, split, mask, *target, result));
                }
            }
            Operation::BulkCopy(copy) => self.bulk_copy(issue, copy)?,
            Operation::BulkCommit => {
                warp.bulk_group += 1;
                self.bulk_committed(block, warp);
            }
            Operation::BulkWait { pending, reads } => {
                let before = warp.bulk_group.saturating_sub(*pending);
                if *reads {
                    self.read_bulk(block, warp.index, before);
                } else {
                    self.deliver_bulk(block, Awaited::Groups { warp: warp.index, before })?;
                }
                self.bulk_awaited(block, warp, mask, (*pending, *reads));
            }
            Operation::LoadMatrix { access, transpose } => {
                self.load_matrix(issue, access, *transpose)?;
            }
            Operation::StoreMatrix { access, transpose } => {
                self.store_matrix(issue, access, *transpose)?;
            }
            Operation::Image(image) => self.image(issue, image)?,
            Operation::Mma(mma) => self.multiply_tiles(issue, mma)?,
            Operation::BlockScaled(mma) => self.multiply_scaled(issue, mma)?,
            Operation::Wgmma(wgmma) => self.multiply_by_warps(issue, wgmma)?,
            Operation::WgmmaCommit => self.products_committed(block, warp),
            Operation::WgmmaWait { pending } => self.products_awaited(block, warp, *pending),
            Operation::Wmma(mma) => self.multiply_fragments(issue, mma)?,
            Operation::WmmaMove(fragment) => self.move_fragment(issue, fragment)?,
            Operation::TensorCopy(copy) => self.tensor_copy(issue, copy)?,
            Operation::AsyncStore(store) => self.async_store(issue, store)?,
            Operation::ClusterBarrier { arrives: true, relaxed } => {
                self.arrive_at_cluster(issue, *relaxed)?;
            }
            Operation::ClusterBarrier { arrives: false, .. } => {
                return Ok(self.wait_for_cluster(block, warp, split, mask));
            }
            // `run_splits_any` does the others.
            Operation::Nothing
            | Operation::WgmmaFence
            | Operation::Compute { .. }
            | Operation::Branch { .. }
            | Operation::Load(_)
            | Operation::Store(_) => {}
        }
        Ok(Flow::Next)
    }

    fn branch_table(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        mask: u32,
        (table, index): (u32, u32),
        block: &Block,
    ) -> Result<Flow, Error> {
        let targets = &self.run.program.branch_tables[table as usize];
        let indices = warp.registers.words[index as usize];
        let mut left = mask;
        let mut groups = 0;
        while left != 0 {
            let index = indices[left.trailing_zeros() as usize];
            let group = (0..32)
                .filter(|lane| left >> lane & 1 != 0 && indices[*lane] == index)
                .fold(0u32, |m, lane| m | 1 << lane);
            let Some(target) = targets.get(index as usize) else {
                let pc = split.pc as usize;
                return Err(Error::IllegalInstruction {
                    place: Box::new(self.run.place(block.index, warp.index, group, pc)),
                    message: format!(
                        "index {index} is past the end of a table of {} labels",
                        targets.len()
                    ),
                });
            };
            warp.splits.push(Split {
                pc: *target,
                mask: group,
                frames: split.frames.clone(),
                state: State::Ready,
            });
            left &= !group;
            groups += 1;
        }
        if groups > 1 {
            self.observers.tallies[split.pc as usize].divergent += 1;
        }
        split.mask &= !mask;
        if split.mask == 0 {
            return Ok(Flow::Left);
        }
        split.pc += 1;
        Ok(Flow::Jumped)
    }

    fn call(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        mask: u32,
        target: u32,
    ) -> Result<Flow, Error> {
        let pc = split.pc;
        let mut frames = split.frames.clone();
        frames.push(pc + 1);
        warp.splits.push(Split { pc: target, mask, frames, state: State::Ready });
        split.mask &= !mask;
        if split.mask == 0 {
            return Ok(Flow::Left);
        }
        split.pc += 1;
        Ok(Flow::Jumped)
    }

    fn barrier(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        split: &mut Split,
        mask: u32,
        (id, count, kind): (u32, Option<u32>, BarrierKind),
    ) -> Result<Flow, Error> {
        let lane = mask.trailing_zeros() as usize;
        let number = warp.registers.words[id as usize][lane];
        let count = count.map(|row| warp.registers.words[row as usize][lane]);
        let illegal = |worker: &Self, message: String| Error::IllegalInstruction {
            place: Box::new(worker.run.place(block.index, warp.index, mask, split.pc as usize)),
            message,
        };
        if number > 15 {
            return Err(illegal(self, format!("barrier {number}, there are 0 to 15")));
        }
        if let Some(count) = count {
            let threads = self.run.launch.threads() as u32;
            if count == 0 || count % 32 != 0 || count > threads.next_multiple_of(32) {
                let message =
                    format!("barrier count {count} must be a multiple of 32, at most {threads}");
                return Err(illegal(self, message));
            }
        }
        let barrier = &mut block.barriers[number as usize];
        if let (Some(expected), Some(count)) = (barrier.expected, count)
            && expected != count
            && self.run.options.checks.barriers
        {
            let (index, w, pc) = (block.index, warp.index, split.pc as usize);
            self.observers.find(Hazard::BarrierCounts, pc, |run| {
                let message = format!(
                    "barrier {number} is for {count} threads here, and others wait there for {expected}"
                );
                Finding::new(Hazard::BarrierCounts, run.place(index, w, mask, pc), message)
            });
        }
        barrier.expected = barrier.expected.or(count);
        // Arrivals with a count are by whole warps, whatever lanes exist.
        let whole = mask == warp.live && count.is_some();
        barrier.arrived += if whole { 32 } else { mask.count_ones() };
        if let BarrierKind::Reduce { predicate, .. } = kind {
            let held = warp.registers.predicates[predicate as usize] & mask;
            barrier.held += held.count_ones();
            barrier.voted += mask.count_ones();
        }
        if self.observers.checking {
            let issue = Issue { block, warp, pc: split.pc as usize, mask };
            self.check_phase(issue, BarrierName::Number(number));
        }
        if kind == BarrierKind::Arrive {
            self.barrier_arrived(block, warp, mask, number);
            return Ok(Flow::Next);
        }
        Ok(warp.park(split, mask, State::AtBarrier(number)))
    }
}

/// Lanes leave a function or the kernel.
fn leave(warp: &mut Warp, split: &mut Split, mask: u32, is_return: bool) -> Flow {
    match split.frames.split_last() {
        Some((back, outer)) if is_return => {
            warp.splits.push(Split {
                pc: *back,
                mask,
                frames: outer.to_vec(),
                state: State::Ready,
            });
        }
        _ => {
            warp.live &= !mask;
            // Lanes that wait for the ones that left look again.
            for other in &mut warp.splits {
                if other.state == State::AtWarp {
                    other.state = State::Ready;
                }
            }
        }
    }
    split.mask &= !mask;
    if split.mask == 0 {
        return Flow::Left;
    }
    split.pc += 1;
    Flow::Jumped
}

fn copy_local(warp: &mut Warp, mask: u32, from: u32, to: u32, bytes: u32) {
    for lane in 0..32 {
        if mask >> lane & 1 == 0 {
            continue;
        }
        let mut at = 0;
        while at < bytes {
            let whole =
                bytes - at >= 4 && (from + at).is_multiple_of(4) && (to + at).is_multiple_of(4);
            let step = if whole { 4 } else { 1 };
            let value = warp.read_local(lane, from + at, step);
            warp.write_local(lane, to + at, step, value);
            copy_written(warp, lane, from + at, to + at, step);
            at += step;
        }
    }
}

/// Definedness goes with the bytes, when it is tracked.
fn copy_written(warp: &mut Warp, lane: usize, from: u32, to: u32, bytes: u32) {
    if warp.local_written.is_empty() {
        return;
    }
    for at in 0..bytes {
        let index = |offset: u32| (offset / 4) as usize * 32 + lane;
        let bit = warp.local_written[index(from + at)] >> ((from + at) % 4) & 1;
        let target = &mut warp.local_written[index(to + at)];
        *target = *target & !(1 << ((to + at) % 4)) | bit << ((to + at) % 4);
    }
}

/// Returns what a clock, which says `now`, says when a lane's wait for it ends.
fn deadline(warp: &Warp, wait: &ClockWait, now: u64, lane: usize) -> u64 {
    let read = |register: Option<Register>| register.map_or(0, |it| read_row(warp, it, lane));
    let end = read(Some(wait.compared)).wrapping_add(read(wait.less)).wrapping_sub(read(wait.more));
    let left = end.wrapping_sub(now);
    let left = if matches!(wait.compared, Register::Long(_)) { left } else { left as i32 as u64 };
    now.wrapping_add(left)
}
