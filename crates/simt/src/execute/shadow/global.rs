//! What is remembered of global memory: who reached which bytes.

use super::event::{Epoch, Kind};
use super::lines::{Cell, Cells, LINE, Line};
use super::sync::Words;
use super::undo::CHUNK;
use crate::memory::Memory;
use crate::operation::Scope;
use crate::region::Region;

/// What the blocks of one worker did to the granules of a chunk.
pub(crate) struct Chunk {
    pub lines: Vec<Line>,
    /// The bytes were saved before the first write.
    pub saved: bool,
}

/// What one worker's blocks did to global memory.
pub(crate) struct GlobalShadow {
    pub regions: Vec<Vec<Option<Box<Chunk>>>>,
    pub cells: Cells,
    /// The epochs that accesses are named by.
    pub epochs: Vec<Epoch>,
    pub words: Words,
    /// Other workers run blocks at the same time.
    pub parallel: bool,
    /// The order of blocks may have mattered.
    pub disturbed: bool,
}

impl GlobalShadow {
    pub fn new(memory: &Memory, parallel: bool) -> GlobalShadow {
        GlobalShadow {
            regions: (0..memory.region_count()).map(|_| Vec::new()).collect(),
            cells: Cells::default(),
            epochs: Vec::new(),
            words: Words::default(),
            parallel,
            disturbed: false,
        }
    }

    pub fn number_of(&mut self, epoch: Epoch) -> u32 {
        if self.epochs.last() != Some(&epoch) {
            self.epochs.push(epoch);
        }
        self.epochs.len() as u32
    }

    /// Whether blocks of one worker touched what blocks of another did.
    pub fn disturbs(&self, other: &GlobalShadow, kinds: &[Kind]) -> bool {
        let lines = |pair: (&Line, &Line)| {
            let (a, b) = pair;
            if a.split == 0 && b.split == 0 {
                return a.mask & b.mask != 0 && disturbed(&a.cell, &b.cell, kinds);
            }
            (0..LINE).any(|granule| {
                disturbed(&self.cells.get(a, granule), &other.cells.get(b, granule), kinds)
            })
        };
        self.regions.iter().zip(&other.regions).any(|(mine, theirs)| {
            mine.iter().zip(theirs).any(|pair| match pair {
                (Some(a), Some(b)) => a.lines.iter().zip(&b.lines).any(lines),
                _ => false,
            })
        })
    }
}

/// Whether cells of two workers, whose blocks differ, show that the order mattered.
fn disturbed(a: &Cell, b: &Cell, kinds: &[Kind]) -> bool {
    let wrote = |cell: &Cell| !cell.write.is_none() || !cell.earlier.is_none();
    let touched = |cell: &Cell| *cell != Cell::default();
    if !(wrote(a) && touched(b) || wrote(b) && touched(a)) {
        return false;
    }
    let size = kinds.get(a.write.pc()).map(|kind| kind.bytes);
    let only_updates = |cell: &Cell| {
        [cell.write, cell.earlier, cell.reads[0], cell.reads[1]].iter().all(|event| {
            event.is_none()
                || kinds.get(event.pc()).is_some_and(|kind| {
                    kind.updates
                        && kind.semantics.strong == Some(Scope::Device)
                        && Some(kind.bytes) == size
                })
        })
    };
    !(only_updates(a) && only_updates(b))
}

/// The chunk of a region with a number, made when it is first touched.
pub(super) fn chunk<'c>(
    chunks: &'c mut Vec<Option<Box<Chunk>>>,
    granule: u32,
    region: &Region,
    number: usize,
) -> &'c mut Chunk {
    if chunks.is_empty() {
        chunks.resize_with((region.bytes / CHUNK) as usize + 2, || None);
    }
    chunks[number].get_or_insert_with(|| {
        let lines = vec![Line::default(); (CHUNK / granule as u64) as usize / LINE];
        Box::new(Chunk { lines, saved: false })
    })
}
