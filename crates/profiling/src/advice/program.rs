//! Rules for a program as a whole: its copies, and what could overlap.

use super::piece::{number, promise};
use results::{Advice, AdviceKind, Engine, Interval, MisuseKind, OperationKind, ProgramProfile};

/// Copies of fewer bytes than this take as long as their latency.
const SMALL_BYTES: u64 = 64 << 10;
/// So many of them are worth a word.
const MANY: usize = 16;
/// Copies and kernels shorter than this part of the timeline are not worth overlapping.
const WORTHWHILE: f64 = 0.2;

pub fn advice(profile: &ProgramProfile) -> Vec<Advice> {
    [pageable(profile), small(profile), overlap(profile)].into_iter().flatten().collect()
}

fn on_program(kind: AdviceKind, seen: String, cure: &str, gain_us: f64) -> Advice {
    Advice {
        kind,
        kernel: None,
        ptx_line: None,
        source: None,
        seen,
        lanes: String::new(),
        cure: cure.to_owned(),
        promise: None,
        gain_us,
    }
}

/// The bytes of a copy between host and device.
fn bytes(interval: &Interval) -> Option<u64> {
    match interval.kind {
        OperationKind::HostToDevice(bytes) | OperationKind::DeviceToHost(bytes) => Some(bytes),
        _ => None,
    }
}

fn length(interval: &Interval) -> f64 {
    interval.end_us - interval.start_us
}

fn pageable(profile: &ProgramProfile) -> Option<Advice> {
    let is_pageable = |mistake: &&results::Mistake| mistake.kind == MisuseKind::PageableAsyncCopy;
    let found = profile.misuse.iter().filter(is_pageable).count();
    if found == 0 {
        return None;
    }
    let copies = profile.timeline.intervals.iter().filter(|one| bytes(one).is_some());
    let time: f64 = copies.map(length).sum();
    Some(on_program(
        AdviceKind::PageableCopy,
        format!(
            "{found} kinds of asynchronous copies use pageable memory, so that the host waits for them"
        ),
        "allocate the host's buffers page-locked (`cuMemHostAlloc`), or register them once (`cuMemHostRegister`)",
        time / 2.0,
    ))
}

fn small(profile: &ProgramProfile) -> Option<Advice> {
    let is_small = |one: &&Interval| bytes(one).is_some_and(|bytes| bytes < SMALL_BYTES);
    let copies: Vec<&Interval> = profile.timeline.intervals.iter().filter(is_small).collect();
    if copies.len() < MANY {
        return None;
    }
    let all: u64 = copies.iter().filter_map(|one| bytes(one)).sum();
    let time: f64 = copies.iter().map(|one| length(one)).sum();
    let shortest = copies.iter().map(|one| length(one)).fold(f64::INFINITY, f64::min);
    let advice = on_program(
        AdviceKind::SmallCopies,
        format!(
            "{} copies of {} bytes on average take {} µs, most of it latency",
            copies.len(),
            all / copies.len() as u64,
            number(time)
        ),
        "pack what belongs together into one buffer and copy that once",
        time - shortest,
    );
    Some(Advice { promise: promise("copies", copies.len() as f64, 1.0), ..advice })
}

/// Copies and kernels of a program that never run at the same time.
fn overlap(profile: &ProgramProfile) -> Option<Advice> {
    let of = |engines: &[Engine]| -> Vec<(f64, f64)> {
        let intervals = profile.timeline.intervals.iter();
        let meant =
            intervals.filter(|one| one.kind.engine().is_some_and(|one| engines.contains(&one)));
        meant.map(|one| (one.start_us, one.end_us)).collect()
    };
    let (copies, kernels) =
        (of(&[Engine::HostToDevice, Engine::DeviceToHost]), of(&[Engine::Kernel]));
    let sum = |all: &[(f64, f64)]| all.iter().map(|(start, end)| end - start).sum::<f64>();
    let (copying, computing) = (sum(&copies), sum(&kernels));
    let least = WORTHWHILE * profile.timeline.length_us;
    // One copy in, one kernel and one copy out have to be cut into pieces first, which pays for large copies only.
    let moved: u64 = profile.timeline.intervals.iter().filter_map(bytes).sum();
    if copying < least || computing < least || least <= 0.0 || moved < SMALL_BYTES * MANY as u64 {
        return None;
    }
    let together = together(&copies, &kernels);
    let possible = copying.min(computing);
    if together > possible / 10.0 {
        return None;
    }
    Some(on_program(
        AdviceKind::MissingOverlap,
        format!(
            "copies take {} µs and kernels {} µs, one after the other",
            number(copying),
            number(computing)
        ),
        "cut the work into pieces and give each piece a stream of its own, with page-locked buffers, so that one piece is \
         copied while another is computed",
        possible - together,
    ))
}

/// Returns how long intervals of both kinds run at the same time.
fn together(copies: &[(f64, f64)], kernels: &[(f64, f64)]) -> f64 {
    let changes = |all: &[(f64, f64)], kind: usize| -> Vec<(f64, usize, i32)> {
        all.iter().flat_map(|(start, end)| [(*start, kind, 1), (*end, kind, -1)]).collect()
    };
    let mut all = [changes(copies, 0), changes(kernels, 1)].concat();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut running, mut before, mut sum) = ([0; 2], 0.0, 0.0);
    for (time, kind, change) in all {
        if running.iter().all(|count| *count > 0) {
            sum += time - before;
        }
        running[kind] += change;
        before = time;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::together;

    #[test]
    fn what_runs_together_is_counted_once() {
        let (copies, kernels) = ([(0.0, 4.0), (6.0, 8.0)], [(2.0, 3.0), (2.5, 7.0)]);
        assert_eq!(together(&copies, &kernels), 3.0);
        assert_eq!(together(&copies, &[(4.0, 6.0)]), 0.0);
    }
}
