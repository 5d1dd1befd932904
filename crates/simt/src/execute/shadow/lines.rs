//! The shadow of memory: the last accesses of every word, kept for whole lines at once where a
//! warp's lanes lie side by side.
//!
//! A line is 32 granules, so one access of a full warp in the plainest case. As long as all granules
//! of a line were accessed in this way, one [`Cell`] stands for all of them; the first access that
//! differs splits the line into a cell for each.

use super::event::Event;

/// Granules of a line.
pub(crate) const LINE: usize = 32;

/// The accesses that later ones are compared with.
///
/// `write` is the last one. Those before it need not be remembered, since they happened before it,
/// with one exception: what happens after a strong write need not be ordered after it, so that a
/// weaker access before it stays of interest: that is `earlier` for writes, and `reads` are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub write: Event,
    pub earlier: Event,
    /// The first and the last of reads that are not ordered among themselves.
    pub reads: [Event; 2],
}

impl Cell {
    /// The cell of one granule of the line that this one stands for.
    pub fn at(&self, granule: usize) -> Cell {
        Cell {
            write: self.write.at(granule),
            earlier: self.earlier.at(granule),
            reads: self.reads.map(|read| read.at(granule)),
        }
    }
}

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    /// Stands for all granules, unless the line is split.
    pub cell: Cell,
    /// The number of its cells plus one; 0 while it is whole.
    pub split: u32,
    /// Granules that were written, in shared memory.
    pub written: u32,
    /// Granules that an asynchronous copy is about to write.
    pub pending: u32,
}

/// The cells of split lines.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    all: Vec<[Cell; LINE]>,
    free: Vec<u32>,
}

impl Cells {
    /// The cells of a line, which is split if it was not.
    pub fn of(&mut self, line: &mut Line) -> &mut [Cell; LINE] {
        if line.split == 0 {
            let number = self.free.pop().unwrap_or_else(|| {
                self.all.push([Cell::default(); LINE]);
                self.all.len() as u32
            });
            line.split = number;
            let cells = &mut self.all[number as usize - 1];
            if line.cell == Cell::default() {
                *cells = [Cell::default(); LINE];
            } else {
                *cells = std::array::from_fn(|granule| line.cell.at(granule));
            }
        }
        &mut self.all[line.split as usize - 1]
    }

    /// The cells of a split line.
    pub fn split(&self, line: &Line) -> Option<&[Cell; LINE]> {
        self.all.get((line.split as usize).wrapping_sub(1))
    }

    /// Makes a line whole again.
    pub fn unite(&mut self, line: &mut Line, cell: Cell) {
        if line.split != 0 {
            self.free.push(line.split);
            line.split = 0;
        }
        line.cell = cell;
    }

    /// Gives the cells of lines back that nobody needs any more.
    pub fn reset(&mut self) {
        self.all.clear();
        self.free.clear();
    }

    /// The cell of one granule.
    pub fn get(&self, line: &Line, granule: usize) -> Cell {
        match self.split(line) {
            Some(cells) => cells[granule],
            None => line.cell.at(granule),
        }
    }
}
