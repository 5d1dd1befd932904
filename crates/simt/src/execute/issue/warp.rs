use crate::execute::issue::saved_frame::SavedFrame;
use crate::execute::memory::pending::PendingCopy;
use crate::execute::observe::checks::follower::FollowedRows;
use crate::execute::observe::checks::product_state::Products;
use crate::operation::Register;
use crate::registers::{LANES, Registers};
use races::ThreadClocks;

/// Why a group of lanes is not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// Waits at a warp-level instruction for other lanes of the warp.
    AtWarp,
    /// Waits at a barrier of its block or its cluster.
    AtBarrier(u32),
    /// A `try_wait` on the mbarrier at this address of the block's shared memory has put it to sleep.
    AtMbarrier(u32),
}

/// The fate of the running lanes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// On to the next instruction.
    Next,
    /// The position was set; other lanes may have split off.
    Jumped,
    /// No lane is left in this group, or it was put aside.
    Left,
    /// On to the next instruction, when others had a turn.
    Sleeps,
}

/// Lanes that share a position.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub pc: u32,
    pub mask: u32,
    /// Return addresses, outermost first.
    pub frames: Vec<u32>,
    pub state: State,
}

impl Split {
    /// Returns whether these lanes run before others: at a lower position, where lanes in a call are at
    /// the call.
    fn is_before(&self, other: &Split) -> bool {
        fn positions(split: &Split) -> impl Iterator<Item = u32> {
            split.frames.iter().map(|back| back - 1).chain([split.pc])
        }
        if self.frames.is_empty() && other.frames.is_empty() {
            return self.pc < other.pc;
        }
        positions(self).lt(positions(other))
    }
}

/// The last load or atomic of a warp: what it waits for, if it waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Polled {
    pub pc: u32,
    pub mask: u32,
    pub address: u64,
    pub bytes: u32,
    pub is_shared: bool,
    /// Steps of the worker at the beginning of the turn.
    pub turn: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Warp {
    pub index: u32,
    pub registers: Registers,
    pub splits: Vec<Split>,
    /// Lanes that have not exited.
    pub live: u32,
    /// Lanes that ever existed; the last warp of a block may have fewer than 32.
    pub lanes: u32,
    /// Local memory: word `w` of lane `l` is at `w * 32 + l`.
    pub local: Vec<u32>,
    /// Bytes of it that each lane has.
    pub local_bytes: u32,
    /// Somebody looks what was written.
    pub is_checked: bool,
    /// Local bytes that were written: four bits per word, used when checking.
    pub local_written: Vec<u8>,
    /// Of each lane, the frames of calls under way that may have come back into their caller.
    pub saved_frames: Vec<Vec<SavedFrame>>,
    /// Copies that were started and have not landed, oldest first, with their group.
    pub copies: Vec<PendingCopy>,
    pub copy_group: u32,
    /// Groups of bulk copies that were committed.
    pub bulk_group: u32,
    /// Lanes of each register row that hold a defined value, used when checking.
    pub defined_words: Vec<u32>,
    pub defined_longs: Vec<u32>,
    pub defined_predicates: Vec<u32>,
    /// Values that are followed, in a launch that runs again for that.
    pub followed: FollowedRows,
    /// Its `wgmma` that may be under way, used when checking.
    pub products: Products,
    pub polled: Polled,
    /// The last of its turns that was over before it ended looked at memory that others write.
    pub waited: bool,
    /// The clocks of its lanes, for the check of races.
    pub order: ThreadClocks,
    /// Lanes that have arrived at the barrier of their cluster, which is not complete yet.
    pub at_cluster: u32,
    /// Lanes that have waited at the barrier of their cluster, so that all of its blocks have started.
    pub met_cluster: u32,
    /// Lets another split run first after a turn that made no progress.
    pub rotate: u32,
    /// The next warp-level instruction runs without the lanes that cannot come.
    pub forced: bool,
    /// Its number for the observer of the launch.
    pub observed: usize,
}

impl Warp {
    /// Chooses the ready lanes at the lowest position, merged with all others there.
    ///
    /// Running the lowest position first brings lanes together at the end of branches and loops,
    /// because the decoder has placed the join behind both sides.
    pub fn pick(&mut self) -> Option<Split> {
        let mut best: Option<usize> = None;
        let mut ready = 0;
        for (index, split) in self.splits.iter().enumerate() {
            if split.state != State::Ready {
                continue;
            }
            ready += 1;
            if best.is_none_or(|b| split.is_before(&self.splits[b])) {
                best = Some(index);
            }
        }
        if self.rotate > 0 && ready > 1 {
            // Lanes that spin for a lane further on must let it run.
            let turn = self.rotate as usize % ready;
            let mut all: Vec<usize> =
                (0..self.splits.len()).filter(|i| self.splits[*i].state == State::Ready).collect();
            all.sort_by_key(|i| self.splits[*i].pc);
            best = Some(all[turn]);
        }
        let mut chosen = self.splits.swap_remove(best?);
        let mut index = 0;
        while index < self.splits.len() {
            let other = &self.splits[index];
            let joins = other.pc == chosen.pc
                && matches!(other.state, State::Ready | State::AtWarp)
                && is_same(&other.frames, &chosen.frames);
            if joins {
                chosen.mask |= other.mask;
                self.splits.swap_remove(index);
            } else {
                index += 1;
            }
        }
        Some(chosen)
    }

    /// Lanes of a split wait at its instruction; the others go on.
    pub fn park(&mut self, split: &mut Split, mask: u32, state: State) -> Flow {
        self.splits.push(Split { pc: split.pc, mask, frames: split.frames.clone(), state });
        split.mask &= !mask;
        if split.mask == 0 {
            return Flow::Left;
        }
        split.pc += 1;
        Flow::Jumped
    }

    /// Returns whether lanes that are ready stand before these, and it is their turn.
    pub fn is_ahead(&self, split: &Split) -> bool {
        let is_earlier = |other: &Split| other.state == State::Ready && other.is_before(split);
        self.rotate == 0 && self.splits.iter().any(is_earlier)
    }

    /// The next position above `pc` at which other lanes wait to be joined; lanes in a call from here wait at the call.
    pub fn join_above(&self, frames: &[u32], pc: u32) -> u32 {
        self.splits
            .iter()
            .filter(|s| {
                matches!(s.state, State::Ready | State::AtWarp)
                    && (frames.is_empty() || s.frames.starts_with(frames))
            })
            .map(|s| s.frames.get(frames.len()).map_or(s.pc, |back| back - 1))
            .filter(|position| *position > pc)
            .min()
            .unwrap_or(u32::MAX)
    }

    /// All lanes of the warp that are in some split.
    pub fn is_finished(&self) -> bool {
        self.splits.is_empty()
    }

    /// Returns whether lanes of `mask` are in other splits.
    pub fn elsewhere(&self, mask: u32) -> bool {
        self.splits.iter().any(|s| s.mask & mask != 0)
    }

    /// Reads bytes of one lane's local memory.
    pub fn read_local(&self, lane: usize, offset: u32, bytes: u32) -> u64 {
        read_local(&self.local, lane, offset, bytes)
    }

    /// Writes bytes of one lane's local memory.
    pub fn write_local(&mut self, lane: usize, offset: u32, bytes: u32, value: u64) {
        write_local(&mut self.local, lane, offset, bytes, value);
    }

    /// Gives a lane a range of its local memory, of which nothing was written.
    pub fn allocate_local(&mut self, lane: usize, start: u32, end: u32) {
        let words = end.div_ceil(4) as usize * LANES;
        if self.local.len() < words {
            self.local.resize(words, u32::MAX);
            self.local_bytes = end.next_multiple_of(4);
        }
        if self.is_checked {
            self.local_written.resize(self.local.len(), 0);
            for at in start..end {
                self.local_written[(at / 4) as usize * LANES + lane] &= !(1 << (at % 4));
            }
        }
    }

    /// Remembers that bytes of one lane's local memory were written, when that is checked.
    pub fn mark_local(&mut self, lane: usize, offset: u64, bytes: u32) {
        for at in offset..offset + bytes as u64 {
            let word = (at / 4) as usize * LANES + lane;
            if let Some(bits) = self.local_written.get_mut(word) {
                *bits |= 1 << (at % 4);
            }
        }
    }
}

/// Returns whether lanes are in the same calls; mostly they are in none.
#[inline(always)]
fn is_same(one: &[u32], other: &[u32]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

/// Reads bytes of one lane from the local memory of its warp.
#[inline]
pub(crate) fn read_local(local: &[u32], lane: usize, offset: u32, bytes: u32) -> u64 {
    let index = (offset / 4) as usize * LANES + lane;
    let low = local[index] as u64;
    match bytes {
        8 => low | (local[index + LANES] as u64) << 32,
        4 => low,
        2 => low >> (8 * (offset % 4)) & 0xffff,
        _ => low >> (8 * (offset % 4)) & 0xff,
    }
}

/// Writes bytes of one lane to the local memory of its warp.
#[inline]
pub(crate) fn write_local(local: &mut [u32], lane: usize, offset: u32, bytes: u32, value: u64) {
    let index = (offset / 4) as usize * LANES + lane;
    match bytes {
        8 => {
            local[index] = value as u32;
            local[index + LANES] = (value >> 32) as u32;
        }
        4 => local[index] = value as u32,
        _ => {
            let shift = 8 * (offset % 4);
            let field = if bytes == 1 { 0xffu32 } else { 0xffff } << shift;
            local[index] = local[index] & !field | (value as u32) << shift & field;
        }
    }
}

/// One lane of a row, widened.
pub(crate) fn read_row(warp: &Warp, row: Register, lane: usize) -> u64 {
    match row {
        Register::Word(index) => warp.registers.words[index as usize][lane] as u64,
        Register::Long(index) => warp.registers.longs[index as usize][lane],
        Register::Predicate(index) => {
            (warp.registers.predicates[index as usize] >> lane & 1) as u64
        }
    }
}

pub(crate) fn write_row(warp: &mut Warp, row: Register, mask: u32, value: impl Fn(usize) -> u64) {
    for lane in 0..32 {
        if mask >> lane & 1 == 0 {
            continue;
        }
        let value = value(lane);
        match row {
            Register::Word(index) => warp.registers.words[index as usize][lane] = value as u32,
            Register::Long(index) => warp.registers.longs[index as usize][lane] = value,
            Register::Predicate(index) => {
                let row = &mut warp.registers.predicates[index as usize];
                *row = *row & !(1 << lane) | ((value != 0) as u32) << lane;
            }
        }
    }
}
