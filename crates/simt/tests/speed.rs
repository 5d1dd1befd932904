//! The executor stays fast enough for CI. The limits are far below what any recent CPU does, so
//! that a busy machine passes; `cargo xtask executor-speed` says how fast it is.
#![cfg(not(debug_assertions))]

#[path = "support/spent.rs"]
mod spent;
#[path = "support/workloads.rs"]
mod workloads;

use simt::{Checks, Options};
use spent::spent;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use workloads::{Prepared, TENSOR, WORKLOADS, Workload};

/// Least million warp-instructions per second of one thread, with counters.
const MIN_COUNTERS: f64 = 2.0;
/// Least million warp-instructions per second of one thread, with counters and all checks.
const MIN_CHECKS: f64 = 0.7;
/// Largest slowdown of a workload by the checks. They are meant to make it 3 times slower at most; a busy machine
/// disturbs one of the two measurements more than the other.
const MAX_RATIO: f64 = 4.5;

/// A rate is that of runs which together take so long: a thread's time may be known to a few milliseconds only.
const LEAST: Duration = Duration::from_millis(100);

/// Million warp-instructions, or multiply-adds of the tensor cores, per second. One thread counts its own time.
fn rate(workload: &Workload, prepared: &mut Prepared, checks: Checks, threads: usize) -> f64 {
    let options = Options { checks, threads, ..Options::default() };
    let start = Instant::now();
    let before = spent(start);
    let mut work = 0;
    loop {
        let report = prepared.run(&options);
        assert!(report.findings.is_empty(), "{workload}: {}", report.findings[0]);
        work += workload.multiply_adds.unwrap_or(report.counters.warp_instructions);
        let took = if threads == 1 { spent(start) - before } else { start.elapsed() };
        if took >= LEAST {
            return work as f64 / took.as_secs_f64() / 1e6;
        }
    }
}

#[test]
fn workloads_run_fast_enough() {
    for workload in WORKLOADS {
        let mut prepared = workload.prepare();
        let mut best = |checks| {
            let rates = (0..4).map(|_| rate(workload, &mut prepared, checks, 1));
            rates.fold(0.0, f64::max)
        };
        let (off, on) = (best(Checks::none()), best(Checks::all()));
        for (best, least) in [(off, MIN_COUNTERS), (on, MIN_CHECKS)] {
            assert!(best >= least, "{workload}: {best:.1} million per second, at least {least}");
        }
        let ratio = off / on;
        assert!(ratio <= MAX_RATIO, "{workload}: {ratio:.1} times slower, at most {MAX_RATIO}");
    }
}

/// A sample of each workload with one thread, two and one for each processor, without and with checks, as lines for
/// `cargo xtask executor-speed`.
#[test]
#[expect(clippy::print_stdout, reason = "its output is what it is for")]
#[ignore = "says how fast it is, and fails for nothing: `cargo xtask executor-speed` runs it"]
fn sample() {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    for workload in WORKLOADS.iter().chain(TENSOR) {
        let mut prepared = workload.prepare();
        for threads in BTreeSet::from([1, 2, processors]) {
            // Without and with by turns, so that both meet the same machine.
            let mut rates = [(); 5].map(|()| {
                [Checks::none(), Checks::all()]
                    .map(|checks| rate(workload, &mut prepared, checks, threads))
            });
            let [off, on] = [0, 1].map(|kind| {
                rates.sort_by(|a, b| a[kind].total_cmp(&b[kind]));
                rates[rates.len() / 2][kind]
            });
            println!("sample,{workload},{threads},{off:.2},{on:.2}");
        }
    }
}
