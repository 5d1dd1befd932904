//! The mbarrier objects that say when copies have landed (PTX ISA, "mbarrier").

use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Flow, Split, State, Warp};
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::bytes::{read_bytes, write_bytes};
use crate::execute::memory::pending::Awaited;
use crate::execute::memory::request::{addresses, shared_offset};
use crate::operation::{Base, MbarrierOperation};
use races::Request;
use races::lanes;

/// The state of an mbarrier in its 64-bit word: expected arrivals (20 bits), pending arrivals
/// (20), outstanding transaction bytes (22, signed), unused (1), phase (1).
#[derive(Clone, Copy)]
pub(crate) struct Mbarrier {
    pub expected: u32,
    pub pending: u32,
    pub transactions: i64,
    pub phase: bool,
}

impl Mbarrier {
    pub fn from_word(word: u64) -> Mbarrier {
        Mbarrier {
            expected: (word & 0xf_ffff) as u32,
            pending: (word >> 20 & 0xf_ffff) as u32,
            transactions: (word << 2) as i64 >> 42,
            phase: word >> 63 != 0,
        }
    }

    pub fn word(self) -> u64 {
        (self.expected & 0xf_ffff) as u64
            | ((self.pending & 0xf_ffff) as u64) << 20
            | ((self.transactions as u64) & 0x3f_ffff) << 40
            | (self.phase as u64) << 63
    }

    pub fn advance(&mut self) {
        if self.pending == 0 && self.transactions == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
    }
}

/// Fuel charged per mbarrier sleep, so that a launch waiting forever stops soon.
const SLEEP: u64 = 1 << 8;

impl Worker<'_> {
    /// After a `try_wait`: lanes that all wait for one phase sleep until it is complete, or nothing else can run.
    pub fn sleep(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        mask: u32,
        (base, offset): (Base, i64),
        passed: u32,
    ) -> Flow {
        let all = addresses(warp, base, offset);
        let address = all[mask.trailing_zeros() as usize];
        let together = lanes(mask).all(|lane| all[lane] == address);
        if !together || warp.registers.predicates[passed as usize] & mask != 0 {
            return Flow::Next;
        }
        self.burn(SLEEP);
        warp.park(split, mask, State::AtMbarrier(shared_offset(address) as u32))
    }

    pub fn mbarrier(
        &mut self,
        issue: Issue<'_>,
        target: (Base, i64),
        operation: &MbarrierOperation,
    ) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        if let MbarrierOperation::PendingCount { result, state } = operation {
            let states = warp.registers.longs[*state as usize];
            for lane in lanes(mask) {
                warp.registers.words[*result as usize][lane] =
                    Mbarrier::from_word(states[lane]).pending;
            }
            return Ok(());
        }
        let all = addresses(warp, target.0, target.1).map(shared_offset);
        let request = Request::new(pc, mask, &all, 8);
        let arrives = matches!(
            operation,
            MbarrierOperation::Arrive { .. }
                | MbarrierOperation::ExpectTransaction { .. }
                | MbarrierOperation::CompleteTransaction { .. }
        );
        if arrives && self.reaches_blocks(request) {
            return self.in_blocks(block, warp, request, |worker, block, warp, request| {
                worker.mbarrier_in(block, warp, request, operation)
            });
        }
        self.mbarrier_in(block, warp, request, operation)
    }

    fn mbarrier_in(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        operation: &MbarrierOperation,
    ) -> Result<(), Error> {
        let Request { pc, mask, all, .. } = request;
        self.shared_bounds(block, warp, request)?;
        if matches!(operation, MbarrierOperation::AsyncArrive { .. }) {
            // The lanes' copies land before the arrival that announces them.
            warp.copy_group += 1;
            self.async_wait(block, warp, 0)?;
        }
        if self.observers.checking && !matches!(operation, MbarrierOperation::Invalidate) {
            if let (MbarrierOperation::Initialize { .. }, Some(shadow)) =
                (operation, &mut block.shadow)
            {
                for lane in lanes(mask) {
                    shadow.mark_written(all[lane], 8);
                    shadow.begin_phases(all[lane]);
                }
            }
            self.check_shared_write(block, warp, request, None);
        }
        self.polls(warp, request, 8, true);
        let mut passed = 0;
        for lane in lanes(mask) {
            let at = all[lane] as usize;
            let mut barrier = Mbarrier::from_word(read_bytes(&block.shared, at, 8));
            let word = |row: u32| warp.registers.words[row as usize][lane];
            let (mut arrive, mut releases) = (None, true);
            let phase = barrier.phase;
            match *operation {
                MbarrierOperation::Initialize { count } => {
                    let count = word(count);
                    barrier =
                        Mbarrier { expected: count, pending: count, transactions: 0, phase: false };
                }
                MbarrierOperation::Invalidate => {
                    write_bytes(&mut block.shared, at, 8, u64::MAX);
                    continue;
                }
                MbarrierOperation::Arrive { state, count, drop, expect, semantics } => {
                    releases = semantics.release;
                    let before = barrier.word();
                    barrier.transactions += expect.map_or(0, |row| word(row) as i64);
                    let count = count.map_or(1, word);
                    if drop {
                        barrier.expected = barrier.expected.saturating_sub(count);
                    }
                    arrive = Some(count);
                    if let Some(row) = state {
                        warp.registers.longs[row as usize][lane] = before;
                    }
                }
                MbarrierOperation::AsyncArrive { no_increment } => {
                    if !no_increment {
                        barrier.pending += 1;
                    }
                    arrive = Some(1);
                }
                MbarrierOperation::ExpectTransaction { bytes } => {
                    barrier.transactions += word(bytes) as i64;
                }
                MbarrierOperation::CompleteTransaction { bytes } => {
                    barrier.transactions -= word(bytes) as i64;
                    barrier.advance();
                }
                MbarrierOperation::Test { result, state, parity, .. } => {
                    let old_phase = match (state, parity) {
                        (Some(row), _) => warp.registers.longs[row as usize][lane] >> 63 != 0,
                        (_, Some(row)) => word(row) & 1 != 0,
                        _ => false,
                    };
                    if barrier.phase == old_phase
                        && self.deliver_bulk(block, Awaited::Phase(at as u32))?
                    {
                        barrier = Mbarrier::from_word(read_bytes(&block.shared, at, 8));
                    }
                    let done = barrier.phase != old_phase;
                    let row = &mut warp.registers.predicates[result as usize];
                    *row = *row & !(1 << lane) | (done as u32) << lane;
                    passed |= u32::from(done) << lane;
                    continue;
                }
                MbarrierOperation::PendingCount { .. } => continue,
            }
            if let Some(count) = arrive {
                if barrier.pending < count {
                    return Err(Error::IllegalInstruction {
                        place: Box::new(self.run.place(block.index, warp.index, 1 << lane, pc)),
                        message: format!(
                            "{count} arrival(s) at an mbarrier that expects {} more",
                            barrier.pending
                        ),
                    });
                }
                barrier.pending -= count;
                barrier.advance();
            }
            let completes = barrier.phase != phase;
            if completes {
                block.completed.push(at as u32);
            }
            if let Some(shadow) = &mut block.shadow {
                shadow.hold_phase(at as u64, &warp.order, lane);
            }
            if self.observers.checking && (arrive.is_some() || completes) {
                let releases = releases && arrive.is_some();
                let at = (pc, at as u64, lane);
                self.mbarrier_arrived(block, warp, at, releases, completes);
            }
            write_bytes(&mut block.shared, at, 8, barrier.word());
        }
        if self.observers.checking && !matches!(operation, MbarrierOperation::Test { .. }) {
            warp.order.tick();
        }
        if let (true, MbarrierOperation::Test { semantics, .. }) =
            (self.observers.checking, operation)
        {
            while passed != 0 {
                let at = all[passed.trailing_zeros() as usize];
                let same = lanes(passed).filter(|lane| all[*lane] == at);
                let same = same.fold(0u32, |mask, lane| mask | 1 << lane);
                passed &= !same;
                self.mbarrier_passed(block, warp, (pc, same, at), *semantics);
            }
        }
        Ok(())
    }
}
