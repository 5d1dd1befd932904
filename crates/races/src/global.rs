//! The shadow of global memory: who reached which bytes.

use crate::check::{Check, Found, Race};
use crate::event::{Epoch, Event};
use crate::footprint::{Accessed, Footprint, Strength};
use crate::lines::{Cell, Cells, FULL, LINE, ShadowLine};
use crate::model::{AccessKind, LaunchModel, Scope, Semantics};
use crate::readers::Readers;
use crate::request::{Request, lanes};
use crate::shadow_footprint::ShadowFootprint;
use crate::thread_clocks::ThreadClocks;
use crate::vector_clock::{Thread, VectorClock};
use crate::words::{Words, strong};
use std::sync::Mutex;

/// Bytes of device memory that one chunk of the shadow stands for.
pub const CHUNK: u64 = 1 << 16;

/// The accesses of one worker's blocks to the granules of a chunk.
struct Chunk {
    lines: Vec<ShadowLine>,
    is_written: bool,
}

/// The memory of chunks that launches no longer need, for the next ones: getting it from the operating system anew takes
/// longer than clearing it.
static SPARE: Mutex<Vec<Vec<ShadowLine>>> = Mutex::new(Vec::new());
/// Lines that are kept in it at most: 256 MiB, as each worker has a shadow of every chunk in which one of its blocks was.
const SPARE_MAX: usize = (256 << 20) / size_of::<ShadowLine>();

/// A range of device memory that was allocated at once.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its number.
    pub index: usize,
    /// Its first address.
    pub base: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// An access of a warp to global memory, and what is found about it chunk by chunk.
pub struct GlobalAccess<'a> {
    /// The lanes and their addresses.
    pub request: Request<'a>,
    /// It writes, or reads and writes as one.
    pub writes: bool,
    /// It promises that nobody writes what it reads during the launch.
    pub read_only: bool,
    /// The queue and the number of the asynchronous copy that does it later, for a lane that asks for it.
    pub by: Option<(u8, u32)>,
    /// The lanes that were not looked at yet.
    pub rest: u32,
    /// The races that it has with accesses before.
    pub races: Vec<Race>,
    /// A lane, and the address, for which the promise of a read-only load does not hold.
    pub stale: Option<(usize, u64)>,
    /// The number of the last chunk, when it is about to be written for the first time.
    pub first_write: Option<usize>,
}

impl<'a> GlobalAccess<'a> {
    /// Makes an access of which nothing was looked at yet.
    #[inline(always)]
    pub fn new(request: Request<'a>, writes: bool, read_only: bool) -> GlobalAccess<'a> {
        let (rest, races) = (request.mask, Vec::new());
        let by = None;
        GlobalAccess { request, writes, read_only, by, rest, races, stale: None, first_write: None }
    }

    /// Returns the address of the first lane that was not looked at.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.request.all[self.rest.trailing_zeros() as usize & 31]
    }
}

/// The accesses of one worker's blocks to global memory.
pub struct GlobalShadow {
    regions: Vec<Vec<Option<Box<Chunk>>>>,
    cells: Cells,
    /// The epochs that accesses are named by.
    epochs: Vec<Epoch>,
    words: Words,
    readers: Readers,
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
    /// Makes the shadow of so many regions, to which nobody has been yet.
    pub fn new(regions: usize, parallel: bool) -> GlobalShadow {
        GlobalShadow {
            regions: (0..regions).map(|_| Vec::new()).collect(),
            cells: Cells::default(),
            epochs: Vec::new(),
            words: Words::default(),
            readers: Readers::default(),
            parallel,
            disturbed: false,
        }
    }

    fn number_of(&mut self, epoch: Epoch) -> u32 {
        if self.epochs.last() != Some(&epoch) {
            self.epochs.push(epoch);
        }
        self.epochs.len() as u32
    }

    /// Compares and remembers the part of an access that lies in one chunk of a region, with the next of its lanes.
    #[inline]
    pub fn access(
        &mut self,
        model: &LaunchModel,
        order: &mut ThreadClocks,
        access: &mut GlobalAccess<'_>,
        region: Region,
        parts: &mut ShadowFootprint,
    ) {
        let GlobalAccess { ref request, writes, read_only, by, rest, .. } = *access;
        let copy = by.map(|(warp, time)| self.number_of(Epoch { block: order.block, warp, time }));
        if order.global_epoch == 0 {
            order.global_epoch = self.number_of(order.epoch());
        }
        let epoch = order.global_epoch;
        let kind = model.kinds[request.pc];
        let shift = model.granule.trailing_zeros();
        let first = access.next();
        let chunk_start = first / CHUNK * CHUNK;
        let number = (first / CHUNK - region.base / CHUNK) as usize;
        let end = (chunk_start + CHUNK).min(region.base + region.bytes);
        let start = chunk_start.max(region.base);
        let GlobalShadow { regions, epochs, cells, words, readers, .. } = self;
        let chunk = chunk(&mut regions[region.index], model.granule, region.bytes, number);
        access.first_write = (writes && !chunk.is_written).then_some(number);
        chunk.is_written |= writes;
        let mut check = Check {
            model,
            epochs,
            order,
            words,
            readers,
            pc: request.pc,
            kind,
            writes,
            epoch,
            oldest_live_epoch: 0,
            reaches: kind.semantics.strong == Some(Scope::Device),
            shift,
            is_shared: false,
            read_only,
            found: Found { races: std::mem::take(&mut access.races), ..Found::default() },
        };
        let at = ((first - chunk_start) >> shift) as usize;
        // A row that reaches into the next chunk goes lane by lane, in both.
        if rest == u32::MAX
            && let Some(bytes) = request.row_bytes()
            && first + bytes <= end
            && at.is_multiple_of(LINE)
        {
            check.rows(request, &mut chunk.lines, cells, chunk_start, 0);
            access.rest = 0;
        } else {
            let mut here = 0;
            if rest == request.mask && request.inside(start, end - start - 1).0 {
                here = rest;
            } else {
                for lane in lanes(rest) {
                    if request.all[lane].wrapping_sub(start) < end - start {
                        here |= 1 << lane;
                    }
                }
            }
            access.rest &= !here;
            match copy {
                Some(number) => {
                    for lane in lanes(here) {
                        let from = request.all[lane] - chunk_start;
                        let to = (from + u64::from(request.bytes)).min(end - chunk_start);
                        let granules = (from >> shift) as usize..(to.div_ceil(1 << shift)) as usize;
                        let lines = &mut chunk.lines;
                        check.copy(lines, cells, chunk_start, (granules, lane), number);
                    }
                }
                None => {
                    let part = request.part(here);
                    check.scattered(&part, &mut chunk.lines, cells, chunk_start, (parts, 0))
                }
            }
        }
        let Found { races, breaks, stale, .. } = check.found;
        if breaks && !words.is_empty() {
            lanes(request.mask).for_each(|lane| words.forget(request.all[lane]));
        }
        (access.races, access.stale) = (races, stale);
    }

    /// Forgets who accessed a range of whole lines, whose memory belongs to nobody now.
    pub fn forget(&mut self, model: &LaunchModel, region: Region, (start, bytes): (u64, u64)) {
        let line_bytes = model.granule as u64 * LINE as u64;
        for address in (start..start + bytes).step_by(line_bytes as usize) {
            let number = (address / CHUNK - region.base / CHUNK) as usize;
            let chunk = self.regions[region.index].get_mut(number).and_then(Option::as_mut);
            let Some(chunk) = chunk else { continue };
            let line = &mut chunk.lines[(address % CHUNK / line_bytes) as usize];
            self.cells.unite(line, Event::default(), 0);
            self.readers.overwrite(address, FULL);
        }
        self.words.forget_range(start, bytes);
    }

    /// Hands on and learns what a strong access does, after all of its parts were compared.
    pub fn synchronize(
        &mut self,
        model: &LaunchModel,
        order: &mut ThreadClocks,
        live: u32,
        request: Request<'_>,
        writes: bool,
    ) {
        strong(model, order, &mut self.words, live, &request, writes);
    }

    /// Adds those accesses that are meant to lines of a footprint; `base` gives a region's first address by its number.
    ///
    /// A cell forgets accesses only for others that race with at least as much: reads for the write after them.
    fn accessed(
        &self,
        model: &LaunchModel,
        base: &impl Fn(usize) -> u64,
        is_meant: &impl Fn(Epoch, Event) -> bool,
        lines: &mut Vec<(u64, Accessed)>,
    ) {
        let shift = model.granule.trailing_zeros();
        let keep = |event: Event| {
            let is_kept =
                !event.is_none() && is_meant(self.epochs[event.epoch() as usize - 1], event);
            if is_kept { event } else { Event::default() }
        };
        let mut add_cell = |line: u64, granule: usize, cell: &Cell| {
            let at = line + ((granule as u64) << shift);
            let bits = ((1 << model.granule) - 1) << (at % FOOTPRINT_LINE);
            let cell = Cell {
                write: keep(cell.write),
                earlier: keep(cell.earlier),
                reads: cell.reads.map(keep),
            };
            add(lines, at / FOOTPRINT_LINE, accessed(&model.kinds, &cell, bits));
        };
        for (index, chunks) in self.regions.iter().enumerate() {
            for (number, chunk) in chunks.iter().enumerate() {
                let Some(chunk) = chunk else { continue };
                let start = (base(index) / CHUNK + number as u64) * CHUNK;
                for (number, line) in chunk.lines.iter().enumerate().filter(|(_, l)| l.latest != 0)
                {
                    let address = start + (((number * LINE) as u64) << shift);
                    for granule in 0..LINE {
                        add_cell(address, granule, &self.cells.get(line, granule));
                    }
                }
            }
        }
        for (address, granules, read) in self.readers.all() {
            for granule in (0..LINE).filter(|granule| granules >> granule & 1 != 0) {
                add_cell(address, granule, &Cell { reads: [read, read], ..Cell::default() });
            }
        }
    }
}

/// Bytes that a line of a footprint stands for.
const FOOTPRINT_LINE: u64 = 64;

/// Returns the footprint of a launch from its workers' shadows; `base` gives a region's first address by its number.
pub fn footprint<'s>(
    model: &LaunchModel,
    base: impl Fn(usize) -> u64,
    shadows: impl Iterator<Item = &'s GlobalShadow>,
) -> Footprint {
    footprint_of(model, base, shadows, |_, _| true)
}

/// Returns the footprint of all that nothing puts before work which a thread enqueued when it had this clock.
pub fn footprint_beside<'s>(
    model: &LaunchModel,
    base: impl Fn(usize) -> u64,
    shadows: impl Iterator<Item = &'s GlobalShadow>,
    clock: &VectorClock,
) -> Footprint {
    footprint_of(model, base, shadows, |epoch, event| {
        let Epoch { block, warp, time } = epoch;
        let is_before = if event.is_many() {
            clock.covers_warp(block, warp, time)
        } else {
            clock.covers(Thread { block, warp, lane: event.lane() as u8 }, time)
        };
        !is_before
    })
}

fn footprint_of<'s>(
    model: &LaunchModel,
    base: impl Fn(usize) -> u64,
    shadows: impl Iterator<Item = &'s GlobalShadow>,
    is_meant: impl Fn(Epoch, Event) -> bool,
) -> Footprint {
    let mut lines = Vec::new();
    for shadow in shadows {
        shadow.accessed(model, &base, &is_meant, &mut lines);
    }
    Footprint::new(lines, model.synchronization)
}

fn add(lines: &mut Vec<(u64, Accessed)>, line: u64, accessed: Accessed) {
    if accessed == Accessed::default() {
        return;
    }
    match lines.last_mut() {
        Some((last, sum)) if *last == line => sum.join(accessed),
        _ => lines.push((line, accessed)),
    }
}

/// The accesses of a cell, which stands for the bytes of `bits`.
fn accessed(kinds: &[AccessKind], cell: &Cell, bits: u64) -> Accessed {
    let mut accessed = Accessed::default();
    if cell.is_none() {
        return accessed;
    }
    let strength = |pc: usize| match kinds.get(pc).map(|kind| kind.semantics) {
        Some(Semantics { strong: Some(Scope::Device), system: true, .. }) => Strength::System,
        Some(Semantics { strong: Some(Scope::Device), .. }) => Strength::Device,
        _ => Strength::Weak,
    };
    for write in [cell.write, cell.earlier].into_iter().filter(|event| !event.is_none()) {
        accessed.writes[strength(write.pc()) as usize] |= bits;
    }
    for read in cell.reads.into_iter().filter(|event| !event.is_none()) {
        accessed.reads[strength(read.pc()) as usize] |= bits;
    }
    accessed
}

/// Returns whether blocks of one worker touched what blocks of another wrote. As many threads look as there are workers.
pub fn disturb_each_other(shadows: &[&GlobalShadow], kinds: &[AccessKind]) -> bool {
    let mut places = Vec::new();
    for region in 0..shadows.first().map_or(0, |shadow| shadow.regions.len()) {
        let chunks = shadows.iter().map(|shadow| shadow.regions[region].len()).max().unwrap_or(0);
        places.extend((0..chunks).map(|number| (region, number)));
    }
    let part = places.len().div_ceil(shadows.len().max(1)).max(1);
    std::thread::scope(|scope| {
        let look = |part: &[(usize, usize)]| part.iter().any(|at| in_chunk(shadows, *at, kinds));
        let parts: Vec<_> =
            places.chunks(part).map(|part| scope.spawn(move || look(part))).collect();
        // All of them are joined before the scope ends.
        parts.into_iter().any(|part| part.join().unwrap_or(true))
    })
}

/// Returns whether workers disturbed each other in one chunk of a region.
fn in_chunk(
    shadows: &[&GlobalShadow],
    (region, number): (usize, usize),
    kinds: &[AccessKind],
) -> bool {
    let mut chunks: Vec<(&Cells, &Chunk)> = Vec::new();
    for shadow in shadows {
        let chunk = shadow.regions[region].get(number).and_then(Option::as_deref);
        chunks.extend(chunk.map(|chunk| (&shadow.cells, chunk)));
    }
    if chunks.len() < 2 || !chunks.iter().any(|(_, chunk)| chunk.is_written) {
        return false;
    }
    let mut touched = Vec::new();
    (0..chunks[0].1.lines.len()).any(|at| {
        touched.clear();
        let lines = chunks.iter().map(|(cells, chunk)| (*cells, &chunk.lines[at]));
        touched.extend(lines.filter(|(_, line)| line.latest != 0));
        let pairs = touched.iter().enumerate();
        pairs.into_iter().any(|(i, a)| touched[i + 1..].iter().any(|b| in_line(*a, *b, kinds)))
    })
}

/// Returns whether lines of two workers, whose blocks differ, show that the order mattered.
fn in_line(
    (a_cells, a): (&Cells, &ShadowLine),
    (b_cells, b): (&Cells, &ShadowLine),
    kinds: &[AccessKind],
) -> bool {
    if !a.is_split && !b.is_split {
        return a.mask & b.mask != 0 && disturbed(&a.whole(), &b.whole(), kinds);
    }
    (0..LINE).any(|granule| disturbed(&a_cells.get(a, granule), &b_cells.get(b, granule), kinds))
}

/// Returns whether cells of two workers, whose blocks differ, show that the order mattered.
fn disturbed(a: &Cell, b: &Cell, kinds: &[AccessKind]) -> bool {
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
fn chunk(
    chunks: &mut Vec<Option<Box<Chunk>>>,
    granule: u32,
    region_bytes: u64,
    number: usize,
) -> &mut Chunk {
    if chunks.is_empty() {
        chunks.resize_with((region_bytes / CHUNK) as usize + 2, || None);
    }
    chunks[number].get_or_insert_with(|| {
        let mut lines = SPARE.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        lines.clear();
        lines.resize((CHUNK / granule as u64) as usize / LINE, ShadowLine::default());
        Box::new(Chunk { lines, is_written: false })
    })
}
