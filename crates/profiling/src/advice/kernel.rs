//! Rules for atomics, constant memory, local memory, divergence and occupancy.

use super::piece::{
    ATOMICS, CONSTANT, ISSUE, MEMORY, WAITING, gain_us, number, on_instruction, on_kernel, promise,
    ratio,
};
use super::requests::lanes;
use results::{
    Advice, AdviceKind, ProfiledInstruction, ProfiledKernel, RequestCounts, RequestKind,
    RequestRecord,
};

/// Lanes that update one address from which it is worth a word.
const CONTENTION: f64 = 4.0;
/// Different words of constant memory per request from which it is.
const CONSTANT_WORDS: f64 = 1.5;
/// Active lanes per instruction below which a kernel diverges.
const FULL_WARP: f64 = 26.0;
/// Occupancy in percent below which more warps would hide more latency.
const LOW_OCCUPANCY: f64 = 50.0;

pub fn advice(kernel: &ProfiledKernel) -> Vec<Advice> {
    let mut found: Vec<Advice> = Vec::new();
    for instruction in &kernel.instructions {
        found.extend(contended_atomic(kernel, instruction));
        found.extend(divergent_constant(kernel, instruction));
    }
    found.extend(local_memory(kernel));
    found.extend(divergence(kernel));
    found.extend(low_occupancy(kernel));
    found
}

fn contended_atomic(kernel: &ProfiledKernel, instruction: &ProfiledInstruction) -> Option<Advice> {
    let counters = &instruction.counts.counters;
    let is_global = |counts: &RequestCounts| counts.requests > 0;
    let global = [counters.global_atomic, counters.global_reduction].into_iter().find(is_global);
    let shared = Some(counters.shared_atomic).filter(|counts| counts.requests > 0);
    let (counts, wavefronts, kind, space) = match (global, shared) {
        (Some(counts), _) => (counts, counts.sector_updates, RequestKind::GlobalAtomic, "global"),
        (None, Some(counts)) => (counts, counts.wavefronts, RequestKind::SharedAtomic, "shared"),
        (None, None) => return None,
    };
    let record = instruction.counts.requests.iter().find(|record| record.kind == kind);
    let meeting = record.map_or(1, meeting);
    let wavefronts_each = ratio(wavefronts, counts.requests);
    if wavefronts_each < CONTENTION || meeting < 2 {
        return None;
    }
    let seen = format!(
        "an atomic of {space} memory takes {} passes per request: {meeting} lanes of a warp update one address",
        number(wavefronts_each)
    );
    let all_meet = record.is_some_and(|record| meeting == lanes(record).len());
    let (cure, to) = if all_meet {
        let cure = "let the lanes of a warp add up first, by shuffles or `redux.sync`, and one lane update: one pass per \
             request"
            .to_owned();
        (cure, promise("passes per request", wavefronts_each, 1.0))
    } else {
        let cure =
            "give each block a copy of its own in shared memory and add the copies up at the end"
                .to_owned();
        (cure, None)
    };
    let saved = ratio(wavefronts.saturating_sub(counts.requests), wavefronts);
    Some(Advice {
        lanes: record.map_or_else(String::new, |record| {
            format!("{meeting} of {} lanes want the same address", lanes(record).len())
        }),
        promise: to,
        gain_us: gain_us(kernel, ATOMICS, saved),
        ..on_instruction(AdviceKind::ContendedAtomic, kernel, instruction, seen, cure)
    })
}

/// The most lanes that want one address.
fn meeting(record: &RequestRecord) -> usize {
    let mut wanted: Vec<u64> = lanes(record).iter().map(|(_, address)| *address).collect();
    wanted.sort_unstable();
    wanted.chunk_by(|one, other| one == other).map(<[u64]>::len).max().unwrap_or(0)
}

fn divergent_constant(
    kernel: &ProfiledKernel,
    instruction: &ProfiledInstruction,
) -> Option<Advice> {
    let counts = instruction.counts.counters.constant_load;
    let words = ratio(counts.wavefronts, counts.requests);
    if words < CONSTANT_WORDS {
        return None;
    }
    let seen = format!(
        "the lanes of a request read {} different words of constant memory, one after the other",
        number(words)
    );
    let cure = "let all lanes of a warp read the same constant, or put the table into global or shared memory, where \
                different words are read at once"
        .to_owned();
    let saved =
        ratio(counts.wavefronts - counts.requests, kernel.counters.constant_load.wavefronts);
    Some(Advice {
        promise: promise("words per request", words, 1.0),
        gain_us: gain_us(kernel, CONSTANT, saved),
        ..on_instruction(AdviceKind::DivergentConstant, kernel, instruction, seen, cure)
    })
}

fn local_memory(kernel: &ProfiledKernel) -> Option<Advice> {
    let of = |one: &ProfiledInstruction| {
        let counters = &one.counts.counters;
        counters.local_load.requests + counters.local_store.requests
    };
    let requests: u64 = kernel.instructions.iter().map(of).sum();
    if requests == 0 {
        return None;
    }
    let most = kernel.instructions.iter().max_by_key(|one| of(one))?;
    let sectors = kernel.counters.local_load.sectors + kernel.counters.local_store.sectors;
    let global = kernel.counters.global_load.sectors + kernel.counters.global_store.sectors;
    let seen = format!(
        "{requests} requests go to local memory: {} bytes per thread that are not in registers",
        kernel.local_bytes
    );
    let cure = "index arrays of a thread by numbers that the compiler knows, in loops that are unrolled, so that they stay \
                in registers; a table that all threads share belongs in shared or constant memory"
        .to_owned();
    Some(Advice {
        promise: promise("local requests", requests as f64, 0.0),
        gain_us: gain_us(kernel, MEMORY, ratio(sectors, sectors + global)),
        ..on_instruction(AdviceKind::LocalMemory, kernel, most, seen, cure)
    })
}

fn divergence(kernel: &ProfiledKernel) -> Option<Advice> {
    let counters = &kernel.counters;
    let active = counters.lanes_per_instruction()?;
    let divergent = |one: &&ProfiledInstruction| one.counts.counters.divergent_branches;
    let worst = kernel.instructions.iter().max_by_key(divergent)?;
    let full = f64::from(kernel.block.iter().product::<u32>().min(32));
    if active >= FULL_WARP * full / 32.0 || divergent(&worst) * 20 < counters.branches {
        return None;
    }
    let seen = format!(
        "{} of {full} lanes are active per instruction: {} of {} branches send the lanes of a warp both ways",
        number(active),
        counters.divergent_branches,
        counters.branches
    );
    let cure = "let whole warps go one way: decide by the number of the warp instead of the lane's, sort the work by what \
                it takes, or compute both sides and select"
        .to_owned();
    Some(Advice {
        promise: promise("active lanes per instruction", active, full),
        gain_us: gain_us(kernel, ISSUE, 1.0 - active / full),
        ..on_instruction(AdviceKind::Divergence, kernel, worst, seen, cure)
    })
}

fn low_occupancy(kernel: &ProfiledKernel) -> Option<Advice> {
    let (busiest, _) = kernel.busy_us.first()?;
    // Fewer blocks than fill the device are another matter: more blocks, not more warps per multiprocessor.
    let blocks: u64 = kernel.grid.iter().map(|blocks| u64::from(*blocks)).product();
    let waits = WAITING.contains(&busiest.as_str());
    if kernel.occupancy_percent >= LOW_OCCUPANCY || !waits || blocks < 128 {
        return None;
    }
    let seen = format!(
        "{:.0} % occupancy, and the time is spent waiting for results: too few bytes are in flight",
        kernel.occupancy_percent
    );
    let threads: u32 = kernel.block.iter().product();
    let cure = if kernel.shared_bytes > 16 << 10 {
        format!(
            "use less shared memory than {} bytes per block, so that more blocks fit on a multiprocessor, or let each \
             thread load several elements before it uses the first",
            kernel.shared_bytes
        )
    } else if threads < 128 {
        format!(
            "use blocks of more than {threads} threads, so that more warps fit on a multiprocessor, or let each thread \
             load several elements before it uses the first"
        )
    } else {
        "let each thread load several elements before it uses the first, or use fewer registers"
            .to_owned()
    };
    let gain = gain_us(kernel, WAITING, 1.0 - kernel.occupancy_percent / 100.0);
    let advice = on_kernel(AdviceKind::LowOccupancy, kernel, seen, cure);
    Some(Advice { gain_us: gain, ..advice })
}
