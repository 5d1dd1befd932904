//! The clock of a warp, when a time is estimated.

use crate::operation::Row;

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
    /// What it ran since then, a bit per instruction.
    pub ran: Vec<u64>,
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
    }

    pub fn ready(&mut self, row: Row) -> &mut u32 {
        match row {
            Row::Word(index) => &mut self.words[index as usize],
            Row::Long(index) => &mut self.longs[index as usize],
            Row::Predicate(index) => &mut self.predicates[index as usize],
        }
    }
}
