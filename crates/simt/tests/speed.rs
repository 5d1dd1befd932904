//! The executor stays fast enough for CI. The limits are far below what any recent CPU does, so
//! that a busy machine passes; `cargo bench -p simt` says how fast it is.
#![cfg(not(debug_assertions))]

#[path = "support/workloads.rs"]
mod workloads;

use simt::{Checks, Options};
use std::time::Instant;
use workloads::WORKLOADS;

/// Least million warp-instructions per second of one thread, with counters.
const MIN_COUNTERS: f64 = 2.0;
/// Least million warp-instructions per second of one thread, with counters and all checks.
const MIN_CHECKS: f64 = 0.7;

#[test]
fn workloads_run_fast_enough() {
    for workload in WORKLOADS {
        for (checks, least) in [(Checks::none(), MIN_COUNTERS), (Checks::all(), MIN_CHECKS)] {
            let options = Options { checks, threads: 1, ..Options::default() };
            let mut prepared = workload.prepare();
            let rate = (0..4).map(|_| {
                let start = Instant::now();
                let report = prepared.run(&options);
                assert!(report.findings.is_empty(), "{workload}: {}", report.findings[0]);
                report.counters.warp_instructions as f64 / start.elapsed().as_secs_f64() / 1e6
            });
            let best = rate.fold(0.0, f64::max);
            assert!(best >= least, "{workload}: {best:.1} million per second, at least {least}");
        }
    }
}
