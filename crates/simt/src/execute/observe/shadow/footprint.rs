//! The footprint of a launch, from what the race checks remember when it ends.

use super::global::GlobalShadow;
use super::lines::{Cell, LINE};
use super::undo::CHUNK;
use crate::execute::issue::run::Run;
use crate::footprint::{Accessed, Footprint, Strength, Synchronization};
use crate::operation::{Operation, Scope, Semantics};
use crate::program::Program;

/// Bytes that a line of a footprint stands for.
const BYTES: u64 = 64;

/// The footprint of a launch from what its workers remember.
///
/// A cell forgets accesses only for others that race with at least as much: reads for the write after them.
pub(crate) fn footprint<'s>(
    run: &Run<'_>,
    shadows: impl Iterator<Item = &'s GlobalShadow>,
) -> Footprint {
    let mut lines = Vec::new();
    let shift = run.granule.trailing_zeros();
    for shadow in shadows {
        for (index, chunks) in shadow.regions.iter().enumerate() {
            let first = run.memory.region(index).base / CHUNK;
            for (number, chunk) in chunks.iter().enumerate() {
                let Some(chunk) = chunk else { continue };
                let start = (first + number as u64) * CHUNK;
                for (number, line) in chunk.lines.iter().enumerate().filter(|(_, l)| l.latest != 0)
                {
                    let address = start + (((number * LINE) as u64) << shift);
                    for granule in 0..LINE {
                        let cell = shadow.cells.get(line, granule);
                        let at = address + ((granule as u64) << shift);
                        let bits = ((1 << run.granule) - 1) << (at % BYTES);
                        add(&mut lines, at / BYTES, accessed(run, &cell, bits));
                    }
                }
            }
        }
        for (address, granules, read) in shadow.readers.all() {
            for granule in (0..LINE).filter(|granule| granules >> granule & 1 != 0) {
                let at = address + ((granule as u64) << shift);
                let bits = ((1 << run.granule) - 1) << (at % BYTES);
                let cell = Cell { reads: [read, read], ..Cell::default() };
                add(&mut lines, at / BYTES, accessed(run, &cell, bits));
            }
        }
    }
    Footprint::new(lines, synchronization(run.program))
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
fn accessed(run: &Run<'_>, cell: &Cell, bits: u64) -> Accessed {
    let mut accessed = Accessed::default();
    if cell.is_none() {
        return accessed;
    }
    let strength = |pc: usize| match run.kinds.get(pc).map(|kind| kind.semantics) {
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

/// Returns whether a program releases and acquires where other launches can see it: those on its device, and on others.
fn synchronization(program: &Program) -> [Synchronization; 2] {
    let all = program.instructions.iter().filter_map(|instruction| {
        let semantics: Semantics = match &instruction.operation {
            Operation::Load(access) | Operation::Store(access) => access.semantics,
            Operation::Atomic(atomic) => atomic.semantics,
            Operation::Fence { semantics, proxy: false } => *semantics,
            _ => return None,
        };
        (semantics.strong == Some(Scope::Device)).then_some(semantics)
    });
    let mut seen = [Synchronization::default(); 2];
    for one in all {
        for seen in &mut seen[..if one.system { 2 } else { 1 }] {
            seen.releases |= one.release;
            seen.acquires |= one.acquire;
        }
    }
    seen
}
