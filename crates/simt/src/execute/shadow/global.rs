//! Hazards in global memory: bytes that nobody wrote, and blocks that reach the same bytes.
//!
//! Each worker remembers what its own blocks did. Blocks run in parallel on the assumption that
//! none disturbs another. When the workers' memories show that one did, what was written is undone
//! and the launch runs again, block after block, to say exactly where; so what is found does not
//! depend on the number of threads.

use crate::execute::access::Request;
use crate::execute::block::Block;
use crate::execute::shadow::lanes;
use crate::execute::warp::Warp;
use crate::execute::{Machine, Run};
use crate::findings::{Finding, Hazard};
use crate::memory::{Memory, Region, Saved};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Bytes of device memory that one chunk of the shadow stands for.
const CHUNK: u64 = 1 << 16;

/// How a request touches global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GlobalAccess {
    Read,
    Write,
    Atomic,
}

/// What the blocks of one worker did to the granules of a chunk.
///
/// An entry holds the last writer's block plus one (28 bits), the first reader's block plus one
/// (28 bits), and the flags below. Zero is an untouched granule.
struct Chunk {
    entries: Vec<u64>,
    /// The bytes were saved before the first write.
    saved: bool,
}

const BLOCK_FIELD: u64 = (1 << 28) - 1;
const READER_SHIFT: u32 = 28;
/// The writer wrote plainly, not only by atomics.
const PLAIN: u64 = 1 << 56;
/// Several blocks have read.
const MANY_READERS: u64 = 1 << 57;
/// Several blocks have written, all by atomics.
const MANY_WRITERS: u64 = 1 << 58;

/// The entry after an access of block `me`, and the other block when the two conflict (zero when
/// it is one of several).
fn touch(value: u64, me: u64, kind: GlobalAccess) -> (u64, Option<u64>) {
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
fn settle(entries: &mut [u64], settled: u64, kind: GlobalAccess) -> bool {
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
    regions: Vec<Vec<Option<Box<Chunk>>>>,
    /// Blocks that handed on what they did.
    released: HashSet<u64>,
    /// Other workers run blocks at the same time.
    parallel: bool,
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
fn chunk<'c>(
    chunks: &'c mut Vec<Option<Box<Chunk>>>,
    run: &Run<'_>,
    region: &Region,
    number: usize,
) -> &'c mut Chunk {
    if chunks.is_empty() {
        chunks.resize_with((region.bytes / CHUNK) as usize + 2, || None);
    }
    chunks[number].get_or_insert_with(|| {
        let entries = vec![0; (CHUNK / run.granule as u64) as usize];
        Box::new(Chunk { entries, saved: false })
    })
}

/// What the chunks of device memory held before a parallel launch first wrote to them.
pub(crate) struct Undo {
    regions: Vec<OnceLock<Vec<OnceLock<Saved>>>>,
}

impl Undo {
    pub fn new(memory: &Memory) -> Undo {
        Undo { regions: (0..memory.region_count()).map(|_| OnceLock::new()).collect() }
    }

    fn save(&self, memory: &Memory, region_index: usize, number: usize) {
        let region = memory.region(region_index);
        let chunks = self.regions[region_index]
            .get_or_init(|| (0..region.bytes / CHUNK + 2).map(|_| OnceLock::new()).collect());
        chunks[number].get_or_init(|| {
            let start = (region.base / CHUNK + number as u64) * CHUNK;
            region.save(start.max(region.base), (start + CHUNK).min(region.base + region.bytes))
        });
    }

    /// Gives all chunks back what they held; no worker may be running.
    pub fn restore(&self, memory: &Memory) {
        for (index, chunks) in self.regions.iter().enumerate() {
            for saved in chunks.get().into_iter().flatten().filter_map(OnceLock::get) {
                memory.region(index).restore(saved);
            }
        }
    }
}

impl Machine<'_> {
    pub fn check_global_read(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        request: Request<'_>,
        (strong, read_only): (bool, bool),
    ) {
        if let (true, Some(shadow)) = (strong, &mut block.shadow) {
            shadow.acquired = true;
        }
        if self.run.options.checks.uninitialised {
            self.check_initialised(block, warp, request);
        }
        self.global_event(block, warp, request, GlobalAccess::Read, read_only);
    }

    pub fn check_global_write(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        request: Request<'_>,
        strong: bool,
    ) {
        let kind = if strong { GlobalAccess::Atomic } else { GlobalAccess::Write };
        self.global_event(block, warp, request, kind, false);
        self.mark_initialised(request);
        if strong {
            self.release_block(block);
        }
    }

    pub fn check_global_atomic(&mut self, block: &mut Block, warp: &Warp, request: Request<'_>) {
        if let Some(shadow) = &mut block.shadow {
            shadow.acquired = true;
        }
        self.release_block(block);
        self.global_event(block, warp, request, GlobalAccess::Atomic, false);
        self.mark_initialised(request);
    }

    fn release_block(&mut self, block: &Block) {
        let fenced = block.shadow.as_ref().is_some_and(|s| s.fenced);
        if let (true, Some(shadow)) = (fenced, &mut self.global) {
            shadow.released.insert(block.leader);
        }
    }

    fn global_event(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        kind: GlobalAccess,
        read_only: bool,
    ) {
        let Some(mut shadow) = self.global.take() else { return };
        let run = self.run;
        // The blocks of a cluster may wait for each other: they count as one.
        let me = (block.leader + 1) & BLOCK_FIELD;
        // The entry of a granule that only this block accesses, all in this way.
        let settled = match kind {
            GlobalAccess::Read => me << READER_SHIFT,
            GlobalAccess::Write => me | PLAIN,
            GlobalAccess::Atomic => me,
        };
        let shift = run.granule.trailing_zeros();
        let granules = (request.bytes.div_ceil(run.granule)).max(1) as usize;
        let row = request.row_bytes();
        let mut rest = request.mask;
        while rest != 0 {
            let first = request.all[rest.trailing_zeros() as usize];
            let Some(index) = self.region_of(request.pc, first, request.bytes as u64) else {
                break;
            };
            let region = run.memory.region(index);
            let chunk_start = first / CHUNK * CHUNK;
            let number = (first / CHUNK - region.base / CHUNK) as usize;
            let end = (chunk_start + CHUNK).min(region.base + region.bytes);
            let start = chunk_start.max(region.base);
            let GlobalShadow { regions, released, parallel, .. } = &mut *shadow;
            let chunk = chunk(&mut regions[index], run, region, number);
            let mut disturbs = false;
            if let (false, Some(undo)) = (chunk.saved || kind == GlobalAccess::Read, &run.undo) {
                // Mapped memory belongs to others, too: it must not be written back.
                disturbs = region.is_mapped();
                undo.save(run.memory, index, number);
                chunk.saved = true;
            }
            // A row that reaches into the next chunk goes lane by lane, in both.
            if let Some(bytes) = row
                && rest == u32::MAX
                && first + bytes <= end
            {
                let at = ((first - chunk_start) >> shift) as usize;
                let entries = &mut chunk.entries[at..at + (bytes >> shift) as usize];
                if settle(entries, settled, kind) {
                    shadow.disturbed |= disturbs;
                    break;
                }
            }
            for lane in lanes(rest) {
                let address = request.all[lane];
                if address.wrapping_sub(start) >= end - start {
                    continue;
                }
                rest &= !(1 << lane);
                let at = ((address - chunk_start) >> shift) as usize;
                for entry in chunk.entries.get_mut(at..at + granules).unwrap_or_default() {
                    let value = *entry;
                    if value == settled {
                        continue;
                    }
                    if value == 0 {
                        *entry = settled;
                        continue;
                    }
                    let (new, conflict) = touch(value, me, kind);
                    *entry = new;
                    let place = (block, warp.index, request.pc, lane, address);
                    if *parallel {
                        let unordered = kind == GlobalAccess::Write && value & MANY_WRITERS != 0;
                        disturbs |= conflict.is_some() || unordered;
                    } else if let Some(other) = conflict {
                        self.report_global_race(released, place, other);
                    }
                    if read_only && value & BLOCK_FIELD != 0 {
                        self.report_read_only(place);
                    }
                }
            }
            shadow.disturbed |= disturbs;
        }
        self.global = Some(shadow);
    }

    #[cold]
    fn report_global_race(
        &mut self,
        released: &HashSet<u64>,
        (block, w, pc, lane, address): (&Block, u32, usize, usize, u64),
        other: u64,
    ) {
        let acquired = block.shadow.as_ref().is_some_and(|s| s.acquired);
        let has_released = match other.checked_sub(1) {
            Some(other) => released.contains(&other),
            None => !released.is_empty(),
        };
        if acquired && has_released {
            return;
        }
        let index = block.index;
        let who = match other.checked_sub(1) {
            Some(other) => format!("block {other} (linear index)"),
            None => "another block".into(),
        };
        self.find(Hazard::GlobalRace, pc, |run| Finding {
            hazard: Hazard::GlobalRace,
            place: run.place(index, w, 1 << lane, pc),
            other: None,
            address: Some(address),
            message: format!(
                "{who} accessed {address:#x} in the same launch, without order; {}",
                run.memory.describe(address)
            ),
        });
    }

    #[cold]
    fn report_read_only(
        &mut self,
        (block, w, pc, lane, address): (&Block, u32, usize, usize, u64),
    ) {
        let index = block.index;
        self.find(Hazard::ReadOnlyWritten, pc, |run| Finding {
            hazard: Hazard::ReadOnlyWritten,
            place: run.place(index, w, 1 << lane, pc),
            other: None,
            address: Some(address),
            message: format!("{address:#x} is read as read-only but written in this launch"),
        });
    }

    /// The region of an address, trying first where this instruction looked last.
    #[inline(always)]
    fn region_of(&self, pc: usize, address: u64, bytes: u64) -> Option<usize> {
        let memory = self.run.memory;
        let last = self.regions[pc] as usize;
        match memory.region_or_none(last) {
            Some(region) if region.contains(address, bytes) => Some(last),
            _ => memory.find(address, bytes),
        }
    }

    fn check_initialised(&mut self, block: &Block, warp: &Warp, request: Request<'_>) {
        let memory = self.run.memory;
        if let Some(bytes) = request.row_bytes()
            && let Some(index) = self.region_of(request.pc, request.all[0], bytes)
        {
            let region = memory.region(index);
            if region.is_initialised(request.all[0] - region.base, bytes) {
                return;
            }
        }
        for lane in lanes(request.mask) {
            let address = request.all[lane];
            let Some(index) = self.region_of(request.pc, address, request.bytes as u64) else {
                continue;
            };
            let region = memory.region(index);
            if region.is_initialised(address - region.base, request.bytes as u64) {
                continue;
            }
            let (index, w) = (block.index, warp.index);
            self.find(Hazard::UninitialisedGlobal, request.pc, |run| Finding {
                hazard: Hazard::UninitialisedGlobal,
                place: run.place(index, w, 1 << lane, request.pc),
                other: None,
                address: Some(address),
                message: format!(
                    "{address:#x} is read but was never written; {}",
                    run.memory.describe(address)
                ),
            });
        }
    }

    fn mark_initialised(&mut self, request: Request<'_>) {
        let memory = self.run.memory;
        if let Some(bytes) = request.row_bytes()
            && let Some(index) = self.region_of(request.pc, request.all[0], bytes)
        {
            let region = memory.region(index);
            return region.mark(request.all[0] - region.base, bytes);
        }
        for lane in lanes(request.mask) {
            let (address, bytes) = (request.all[lane], request.bytes as u64);
            if let Some(index) = self.region_of(request.pc, address, bytes) {
                let region = memory.region(index);
                region.mark(address - region.base, bytes);
            }
        }
    }
}
