//! What is remembered of global memory: which blocks reached which bytes, and what they held.

use crate::memory::Memory;
use crate::region::{Region, Saved};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Bytes of device memory that one chunk of the shadow stands for.
pub(super) const CHUNK: u64 = 1 << 16;

/// How a request touches global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobalAccess {
    Read,
    Write,
    Atomic,
}

/// What the blocks of one worker did to the granules of a chunk.
///
/// An entry holds the last writer's block plus one (28 bits), the first reader's block plus one
/// (28 bits), and the flags below. Zero is an untouched granule.
pub(crate) struct Chunk {
    pub entries: Vec<u64>,
    /// The bytes were saved before the first write.
    pub saved: bool,
}

pub(super) const BLOCK_FIELD: u64 = (1 << 28) - 1;
pub(super) const READER_SHIFT: u32 = 28;
/// The writer wrote plainly, not only by atomics.
pub(super) const PLAIN: u64 = 1 << 56;
/// Several blocks have read.
pub(super) const MANY_READERS: u64 = 1 << 57;
/// Several blocks have written, all by atomics.
pub(super) const MANY_WRITERS: u64 = 1 << 58;

/// The entry after an access of block `me`, and the other block when the two conflict (zero when
/// it is one of several).
pub(super) fn touch(value: u64, me: u64, kind: GlobalAccess) -> (u64, Option<u64>) {
    let (writer, reader) = (value & BLOCK_FIELD, value >> READER_SHIFT & BLOCK_FIELD);
    let foreign = |other: u64| (other != 0 && other != me).then_some(other);
    // A plain read of what others update atomically sees some value of theirs, which is how
    // compare-and-swap loops start; only plain writes conflict with reads.
    let plain_writer = if value & PLAIN != 0 { foreign(writer) } else { None };
    match kind {
        GlobalAccess::Read => {
            let new = match reader {
                0 => value | me << READER_SHIFT,
                _ if reader != me => value | MANY_READERS,
                _ => value,
            };
            (new, plain_writer)
        }
        GlobalAccess::Write => {
            let many = (value & MANY_READERS != 0).then_some(0);
            (me | PLAIN, foreign(writer).or(foreign(reader)).or(many))
        }
        GlobalAccess::Atomic => {
            let new = match writer {
                0 => value | me,
                _ if writer != me => value & !(BLOCK_FIELD | PLAIN) | me | MANY_WRITERS,
                _ => value,
            };
            (new, plain_writer)
        }
    }
}

/// Brings untouched entries to what an access makes of them; whether that is all there was to do.
pub(super) fn settle(entries: &mut [u64], settled: u64, kind: GlobalAccess) -> bool {
    let (mut any, mut every, mut differs) = (0, u64::MAX, 0);
    for entry in entries.iter() {
        any |= *entry;
        every &= *entry;
        differs |= *entry ^ settled;
    }
    if any == 0 {
        entries.fill(settled);
        return true;
    }
    let only_read = any & BLOCK_FIELD == 0 && every & MANY_READERS != 0;
    differs == 0 || (kind == GlobalAccess::Read && only_read)
}

/// Whether entries of two workers, whose blocks differ, show that the order mattered.
fn disturbed(a: u64, b: u64) -> bool {
    let wrote = |entry: u64| entry & BLOCK_FIELD != 0;
    let only_atomics = |entry: u64| entry & PLAIN == 0 && entry >> READER_SHIFT & BLOCK_FIELD == 0;
    (wrote(a) && b != 0 || wrote(b) && a != 0) && !(only_atomics(a) && only_atomics(b))
}

/// What one worker's blocks did to global memory.
pub(crate) struct GlobalShadow {
    pub regions: Vec<Vec<Option<Box<Chunk>>>>,
    /// Blocks that handed on what they did.
    pub released: HashSet<u64>,
    /// Other workers run blocks at the same time.
    pub parallel: bool,
    /// The order of blocks may have mattered.
    pub disturbed: bool,
}

impl GlobalShadow {
    pub fn new(memory: &Memory, parallel: bool) -> GlobalShadow {
        let regions = (0..memory.region_count()).map(|_| Vec::new()).collect();
        GlobalShadow { regions, released: HashSet::new(), parallel, disturbed: false }
    }

    /// Whether blocks of one worker touched what blocks of another did.
    pub fn disturbs(&self, other: &GlobalShadow) -> bool {
        self.regions.iter().zip(&other.regions).any(|(mine, theirs)| {
            mine.iter().zip(theirs).any(|pair| match pair {
                (Some(a), Some(b)) => {
                    a.entries.iter().zip(&b.entries).any(|(a, b)| disturbed(*a, *b))
                }
                _ => false,
            })
        })
    }
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
        let entries = vec![0; (CHUNK / granule as u64) as usize];
        Box::new(Chunk { entries, saved: false })
    })
}

/// What the chunks of device memory held before a parallel launch first wrote to them.
pub(crate) struct Undo {
    pub regions: Vec<OnceLock<Vec<OnceLock<Saved>>>>,
}

impl Undo {
    pub fn new(memory: &Memory) -> Undo {
        Undo { regions: (0..memory.region_count()).map(|_| OnceLock::new()).collect() }
    }

    /// Saves a chunk, unless it has been saved.
    ///
    /// # Safety
    /// Every worker calls this before it first writes to the chunk.
    pub unsafe fn save(&self, memory: &Memory, region_index: usize, number: usize) {
        let region = memory.region(region_index);
        let chunks = self.regions[region_index]
            .get_or_init(|| (0..region.bytes / CHUNK + 2).map(|_| OnceLock::new()).collect());
        chunks[number].get_or_init(|| {
            let start = (region.base / CHUNK + number as u64) * CHUNK;
            let (start, end) =
                (start.max(region.base), (start + CHUNK).min(region.base + region.bytes));
            // SAFETY: both ends are clamped to the region. No worker has written to the chunk yet: each first calls
            // this function (the contract), which for all but one of them waits here until it has been saved.
            unsafe { region.save(start, end) }
        });
    }

    /// Gives all chunks back what they held.
    ///
    /// # Safety
    /// The chunks were saved from this memory, and no worker is running.
    pub unsafe fn restore(&self, memory: &Memory) {
        for (index, chunks) in self.regions.iter().enumerate() {
            for saved in chunks.get().into_iter().flatten().filter_map(OnceLock::get) {
                // SAFETY: by the contract it was saved from this region, and nobody else accesses memory.
                unsafe { memory.region(index).restore(saved) };
            }
        }
    }
}
