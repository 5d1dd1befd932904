//! The shadow of memory: the last accesses of every word, of a whole line at once where a warp's lanes are adjacent.
//!
//! A line is 8 granules, mostly a sector of 32 bytes, so that rows of 8 lanes and more fill lines. As
//! long as the same granules of a line were accessed, by lanes that follow each other at one distance,
//! one [`Cell`] stands for all of them; the first access that differs splits the line into a cell for
//! each. What a barrier of the block has settled is forgotten, and the line is whole again.

use crate::event::Event;

/// Granules of a line.
pub const LINE: usize = 8;
/// All granules of a line.
pub const FULL: u8 = u8::MAX;

/// The accesses that later ones are compared with.
///
/// `write` is the last one. Those before it need not be remembered, since they happened before it,
/// with one exception: what happens after a strong write need not be ordered after it, so that a
/// weaker access before it stays of interest: that is `earlier` for writes, and `reads` are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub write: Event,
    pub earlier: Event,
    /// The first and the last of reads that are not ordered among themselves.
    pub reads: [Event; 2],
}

impl Cell {
    /// Returns whether a write is all that is remembered.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.earlier.is_none() && self.reads[0].is_none() && self.reads[1].is_none()
    }

    /// Returns whether nothing is remembered.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.write.0 | self.earlier.0 | self.reads[0].0 | self.reads[1].0 == 0
    }

    /// The cell of one granule of the line that this one stands for.
    pub fn at(&self, granule: usize) -> Cell {
        Cell {
            write: self.write.at(granule),
            earlier: self.earlier.at(granule),
            reads: self.reads.map(|read| read.at(granule)),
        }
    }
}

/// See the module. 32 bytes, so that a row of 32 words takes two cache lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShadowLine {
    /// While the line is whole, what its cell has; there is no `earlier`. Of a split line, the number of its cells.
    write: Event,
    reads: [Event; 2],
    /// The number of the last epoch in which it was accessed.
    pub latest: u32,
    pub is_split: bool,
    /// The granules that its cell stands for.
    pub mask: u8,
    /// Granules that were written, in shared memory.
    pub written: u8,
    /// Granules that an asynchronous copy is about to write.
    pub pending: u8,
}

impl ShadowLine {
    /// Returns what stands for all granules of `mask`, while the line is whole.
    #[inline(always)]
    pub fn whole(&self) -> Cell {
        Cell { write: self.write, reads: self.reads, earlier: Event::default() }
    }

    /// Remembers the last write and the reads after it for all granules of `mask`; the line is whole.
    #[inline(always)]
    pub fn set_whole(&mut self, write: Event, reads: [Event; 2]) {
        (self.write, self.reads) = (write, reads);
    }

    /// Returns whether somebody may have written.
    pub fn is_written(&self) -> bool {
        self.is_split || !self.write.is_none()
    }

    fn number(&self) -> Option<usize> {
        self.is_split.then_some(self.write.0 as usize)
    }

    /// The cell of a granule while the line is whole.
    fn whole_at(&self, granule: usize) -> Cell {
        if self.mask >> granule & 1 == 0 { Cell::default() } else { self.whole().at(granule) }
    }
}

/// The cells of split lines.
#[derive(Debug, Default)]
pub struct Cells {
    all: Vec<[Cell; LINE]>,
    /// The number of them that have been handed out.
    used: usize,
    free: Vec<u32>,
}

impl Cells {
    /// The cells of a line, which is split if it was not.
    #[inline(always)]
    pub fn of(&mut self, line: &mut ShadowLine) -> &mut [Cell; LINE] {
        if !line.is_split {
            self.split_up(line);
        }
        &mut self.all[line.write.0 as usize]
    }

    #[inline(never)]
    fn split_up(&mut self, line: &mut ShadowLine) {
        let cells = if line.whole().is_none() {
            [Cell::default(); LINE]
        } else {
            std::array::from_fn(|granule| line.whole_at(granule))
        };
        let number = match self.free.pop() {
            Some(number) => number as usize,
            None => {
                self.used += 1;
                self.used - 1
            }
        };
        match self.all.get_mut(number) {
            Some(place) => *place = cells,
            None => self.all.push(cells),
        }
        line.is_split = true;
        line.set_whole(Event(number as u64), [Event::default(); 2]);
    }

    /// Makes a line whole again, with its last write.
    pub fn unite(&mut self, line: &mut ShadowLine, write: Event, mask: u8) {
        if let Some(number) = line.number() {
            self.free.push(number as u32);
            line.is_split = false;
        }
        line.set_whole(write, [Event::default(); 2]);
        line.mask = mask;
    }

    /// Gives the cells of lines back that nobody needs any more.
    pub fn reset(&mut self) {
        self.used = 0;
        self.free.clear();
    }

    /// The cell of one granule.
    pub fn get(&self, line: &ShadowLine, granule: usize) -> Cell {
        match line.number() {
            Some(number) => self.all[number][granule],
            None => line.whole_at(granule),
        }
    }
}
