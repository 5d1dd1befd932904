//! Readers of a line besides the first and the last, in kernels that can order some of them and not
//! the others.
//!
//! Where only barriers of whole blocks order anything, a write that comes after the first and the
//! last of unordered reads comes after all of them. Fences, releases, named barriers and warp barriers can
//! order it after those two alone, so there the reads between them are kept until they are overwritten.

use crate::event::{Epoch, Event};
use std::collections::HashMap;

/// Readers of a line that are kept: two of each warp of a block. Further ones are forgotten.
const MAX_OF_LINE: usize = 64;
/// Readers of all lines that a worker keeps for global memory, or a block for shared memory.
const MAX: usize = 1 << 18;

/// The readers of lines by the lines' addresses, each with the granules that it read.
#[derive(Debug, Default)]
pub struct Readers {
    lines: HashMap<u64, Vec<(u8, Event)>>,
    count: usize,
}

impl Readers {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.count = 0;
    }

    /// Keeps a read that is no longer among the two of its cell. What the same lanes read before happened before it.
    pub fn keep(
        &mut self,
        line: u64,
        granules: u8,
        read: Event,
        epochs: &[Epoch],
        oldest_live_epoch: u32,
    ) {
        let readers = self.lines.entry(line).or_default();
        let before = readers.len();
        let warp = |event: Event| {
            let Epoch { block, warp, .. } = epochs[event.epoch() as usize - 1];
            (block, warp)
        };
        readers.retain(|(others, reader)| {
            let is_replaced =
                others & !granules == 0 && reader.has_lanes_of(read) && warp(*reader) == warp(read);
            reader.epoch() >= oldest_live_epoch && !is_replaced
        });
        self.count -= before - readers.len();
        if readers.len() < MAX_OF_LINE && self.count < MAX {
            readers.push((granules, read));
            self.count += 1;
        }
    }

    /// The readers of a line.
    pub fn of(&self, line: u64) -> &[(u8, Event)] {
        self.lines.get(&line).map_or(&[], Vec::as_slice)
    }

    /// All of them: the address of the line, its granules, and the read.
    pub fn all(&self) -> impl Iterator<Item = (u64, u8, Event)> {
        let lines = self.lines.iter();
        lines.flat_map(|(line, all)| all.iter().map(|(granules, read)| (*line, *granules, *read)))
    }

    /// A weak write of granules was compared with their readers, and stands for them from now on.
    pub fn overwrite(&mut self, line: u64, granules: u8) {
        let Some(readers) = self.lines.get_mut(&line) else { return };
        let before = readers.len();
        readers.retain_mut(|(others, _)| {
            *others &= !granules;
            *others != 0
        });
        self.count -= before - readers.len();
        if readers.is_empty() {
            self.lines.remove(&line);
        }
    }
}
