//! Rules for global memory: sectors that are moved and not used, requests that begin in the middle of a sector, and
//! neighbouring accesses that could be one.

use super::piece::{MEMORY, gain_us, number, on_instruction, promise, ratio};
use super::requests::{lanes, stride, two_lanes};
use results::{
    Advice, AdviceKind, Counters, ProfiledInstruction, ProfiledKernel, RequestCounts, RequestKind,
    RequestRecord,
};

/// Sectors over the fewest possible from which waste is worth a word.
const WASTE: f64 = 1.2;
/// The widest access of a lane, in bytes.
const WIDEST: u64 = 16;

pub fn advice(kernel: &ProfiledKernel) -> Vec<Advice> {
    let (mut found, merged) = narrow(kernel);
    for instruction in &kernel.instructions {
        let line = instruction.counts.ptx_line;
        if !merged.contains(&line) {
            found.extend(waste(kernel, instruction));
        }
    }
    found
}

/// Returns what an instruction asked of global memory, if it did, with its first request.
fn accesses(
    instruction: &ProfiledInstruction,
) -> Option<(RequestCounts, &'static str, Option<&RequestRecord>)> {
    let counters = &instruction.counts.counters;
    let kinds = [
        (counters.global_load, "load", RequestKind::GlobalLoad),
        (counters.global_store, "store", RequestKind::GlobalStore),
        (counters.async_copy_global, "copy", RequestKind::AsyncCopySource),
    ];
    let (counts, name, kind) = kinds.into_iter().find(|(counts, ..)| counts.requests > 0)?;
    let requests = &instruction.counts.requests;
    Some((counts, name, requests.iter().find(|record| record.kind == kind)))
}

/// Sectors of global memory that a kernel moves in all.
fn all_sectors(counters: &Counters) -> u64 {
    let Counters { global_load, global_store, async_copy_global, .. } = counters;
    global_load.sectors + global_store.sectors + async_copy_global.sectors
}

/// An instruction that moves more sectors than its bytes need.
fn waste(kernel: &ProfiledKernel, instruction: &ProfiledInstruction) -> Option<Advice> {
    let (counts, name, record) = accesses(instruction)?;
    let (sectors, ideal) =
        (ratio(counts.sectors, counts.requests), ratio(counts.sectors_ideal, counts.requests));
    let stride = record.and_then(stride);
    let bytes = record.map_or(0, |record| i64::from(record.bytes));
    let is_contiguous = stride.is_some_and(|stride| stride.abs() == bytes);
    if counts.sectors <= counts.sectors_ideal || !is_contiguous && sectors < WASTE * ideal {
        return None;
    }
    let of = format!("a {name} request touches {} sectors", number(sectors));
    let used = 100.0 * ratio(counts.bytes_distinct, 32 * counts.sectors);
    let (kind, seen, cure) = match stride {
        Some(_) if is_contiguous => (
            AdviceKind::MisalignedAccess,
            format!("{of} where {} would do, because it begins in the middle of a sector", number(ideal)),
            "let each warp begin at a multiple of 32 bytes: pad the rows, or shift the index and let a few lanes idle"
                .to_owned(),
        ),
        Some(stride) if stride != 0 => (
            AdviceKind::StridedAccess,
            format!("{of} and uses {used:.0} % of their bytes: its lanes are {stride} bytes apart"),
            "let neighbouring lanes access neighbouring elements: exchange the roles of the indices, split an array of \
             structures into arrays, or stage a tile in shared memory"
                .to_owned(),
        ),
        _ => (
            AdviceKind::ScatteredAccess,
            format!("{of} and uses {used:.0} % of their bytes"),
            "sort the indices or gather the elements once, so that the lanes of a warp want neighbouring elements, or \
             stage the table in shared memory"
                .to_owned(),
        ),
    };
    let saved = counts.sectors - counts.sectors_ideal;
    let gain_us = gain_us(kernel, MEMORY, ratio(saved, all_sectors(&kernel.counters)));
    let lanes = record.map_or_else(String::new, two_lanes);
    let promise = promise("sectors per request", sectors, ideal);
    Some(Advice {
        lanes,
        promise,
        gain_us,
        ..on_instruction(kind, kernel, instruction, seen, cure)
    })
}

/// An instruction whose lanes are at one distance, with the address of its first lane.
struct Regular<'a> {
    instruction: &'a ProfiledInstruction,
    name: &'static str,
    bytes: u64,
    stride: i64,
    first: u64,
}

/// Groups of instructions each of whose lanes reads neighbouring elements, which one wide access could bring; and the
/// PTX lines of all of them.
fn narrow(kernel: &ProfiledKernel) -> (Vec<Advice>, Vec<u32>) {
    let regular = |instruction| {
        let (_, name, record) = accesses(instruction)?;
        let record = record?;
        let (_, first) = *lanes(record).first()?;
        let stride = stride(record)?;
        Some(Regular { instruction, name, bytes: u64::from(record.bytes), stride, first })
    };
    let mut open: Vec<Regular<'_>> = kernel.instructions.iter().filter_map(regular).collect();
    open.sort_by_key(|one| (one.name, one.bytes, one.stride, one.first));
    let (mut found, mut merged) = (Vec::new(), Vec::new());
    let follows = |one: &Regular<'_>, other: &Regular<'_>| {
        let requests =
            |one: &Regular<'_>| accesses(one.instruction).map(|(counts, ..)| counts.requests);
        (one.name, one.bytes, one.stride, one.first + one.bytes)
            == (other.name, other.bytes, other.stride, other.first)
            && requests(one) == requests(other)
    };
    for run in open.chunk_by(follows) {
        let (first, parts) = (&run[0], run.len() as u64);
        let wide = (parts * first.bytes).min(WIDEST);
        let is_whole = first.stride.unsigned_abs() % wide == 0 && first.first % wide == 0;
        // A structure that is larger than an access is an array of structures, which is another matter.
        let fills = first.stride.unsigned_abs() == parts * first.bytes;
        if parts < 2 || wide <= first.bytes || !wide.is_power_of_two() || !is_whole || !fills {
            continue;
        }
        merged.extend(run.iter().map(|one| one.instruction.counts.ptx_line));
        let after = (parts * first.bytes).div_ceil(wide);
        let seen = format!(
            "each lane {}s {parts} neighbouring elements of {} bytes by {parts} instructions",
            first.name, first.bytes
        );
        let cure = format!(
            "{} them by one access of {wide} bytes per lane, such as a vector of {} elements",
            first.name,
            wide / first.bytes
        );
        let sectors: u64 =
            run.iter().filter_map(|one| Some(accesses(one.instruction)?.0.sectors)).sum();
        let share = ratio(sectors, all_sectors(&kernel.counters)) * (1.0 - ratio(after, parts));
        found.push(Advice {
            lanes: format!("lane 0 wants bytes 0 to {} of its piece", parts * first.bytes - 1),
            promise: promise("requests of the group", parts as f64, after as f64),
            gain_us: gain_us(kernel, &["L2", "requests to L2", "L1 and shared memory"], share),
            ..on_instruction(AdviceKind::NarrowAccess, kernel, first.instruction, seen, cure)
        });
    }
    (found, merged)
}
