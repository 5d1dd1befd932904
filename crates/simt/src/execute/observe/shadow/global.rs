//! The shadow of global memory: who reached which bytes.

use super::event::{Epoch, Kind};
use super::lines::{Cell, Cells, LINE, Line};
use super::readers::Readers;
use super::sync::Words;
use super::undo::CHUNK;
use crate::memory::Memory;
use crate::operation::Scope;
use crate::region::Region;
use std::sync::Mutex;

/// The accesses of one worker's blocks to the granules of a chunk.
pub(crate) struct Chunk {
    pub lines: Vec<Line>,
    /// Something in it was written; before, its bytes were saved, if need be.
    pub is_written: bool,
}

/// The memory of chunks that launches no longer need, for the next ones: getting it from the operating system anew takes
/// longer than clearing it.
static SPARE: Mutex<Vec<Vec<Line>>> = Mutex::new(Vec::new());
/// Lines that are kept in it at most: 32 MiB.
const SPARE_MAX: usize = (32 << 20) / size_of::<Line>();

/// The accesses of one worker's blocks to global memory.
pub(crate) struct GlobalShadow {
    pub regions: Vec<Vec<Option<Box<Chunk>>>>,
    pub cells: Cells,
    /// The epochs that accesses are named by.
    pub epochs: Vec<Epoch>,
    pub words: Words,
    pub readers: Readers,
    /// Other workers run blocks at the same time.
    pub parallel: bool,
    /// The order of blocks may have mattered.
    pub disturbed: bool,
}

impl Drop for GlobalShadow {
    fn drop(&mut self) {
        let Ok(mut spare) = SPARE.lock() else { return };
        let mut kept: usize = spare.iter().map(Vec::capacity).sum();
        for chunk in self.regions.drain(..).flatten().flatten() {
            kept += chunk.lines.capacity();
            if kept > SPARE_MAX {
                return;
            }
            spare.push(chunk.lines);
        }
    }
}

impl GlobalShadow {
    pub fn new(memory: &Memory, parallel: bool) -> GlobalShadow {
        GlobalShadow {
            regions: (0..memory.region_count()).map(|_| Vec::new()).collect(),
            cells: Cells::default(),
            epochs: Vec::new(),
            words: Words::default(),
            readers: Readers::default(),
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

    /// Returns whether blocks of one worker touched what blocks of another did.
    pub fn disturbs(&self, other: &GlobalShadow, kinds: &[Kind]) -> bool {
        let lines = |pair: (&Line, &Line)| {
            let (a, b) = pair;
            if !a.is_split && !b.is_split {
                return a.mask & b.mask != 0 && disturbed(&a.whole(), &b.whole(), kinds);
            }
            (0..LINE).any(|granule| {
                disturbed(&self.cells.get(a, granule), &other.cells.get(b, granule), kinds)
            })
        };
        self.regions.iter().zip(&other.regions).any(|(mine, theirs)| {
            mine.iter().zip(theirs).any(|pair| match pair {
                (Some(a), Some(b)) if a.is_written || b.is_written => {
                    a.lines.iter().zip(&b.lines).any(lines)
                }
                _ => false,
            })
        })
    }
}

/// Returns whether cells of two workers, whose blocks differ, show that the order mattered.
fn disturbed(a: &Cell, b: &Cell, kinds: &[Kind]) -> bool {
    let wrote = |cell: &Cell| !cell.write.is_none() || !cell.earlier.is_none();
    let touched = |cell: &Cell| !cell.is_none();
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
        let mut lines = SPARE.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        lines.clear();
        lines.resize((CHUNK / granule as u64) as usize / LINE, Line::default());
        Box::new(Chunk { lines, is_written: false })
    })
}
