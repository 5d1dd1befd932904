//! Warp-instructions per second of the executor, on all cores: `cargo bench -p coalesce-simt`.

#[path = "../tests/support/workloads.rs"]
mod workloads;

use divan::Bencher;
use divan::counter::ItemsCount;
use simt::{Checks, Options};
use workloads::{TENSOR, WORKLOADS, Workload};

fn main() {
    divan::main();
}

/// With the counters of memory traffic, which is the default.
#[divan::bench(args = WORKLOADS, sample_count = 20, max_time = 2)]
fn counters(bencher: Bencher<'_, '_>, workload: &Workload) {
    measure(bencher, workload, Options::default());
}

/// With counters and every check.
#[divan::bench(args = WORKLOADS, sample_count = 20, max_time = 2)]
fn checks(bencher: Bencher<'_, '_>, workload: &Workload) {
    measure(bencher, workload, Options { checks: Checks::all(), ..Options::default() });
}

/// Execution alone.
#[divan::bench(args = WORKLOADS, sample_count = 20, max_time = 2)]
fn bare(bencher: Bencher<'_, '_>, workload: &Workload) {
    measure(bencher, workload, Options { counters: false, ..Options::default() });
}

/// Multiply-adds of the tensor cores, with the counters.
#[divan::bench(args = TENSOR, sample_count = 20, max_time = 2)]
fn tensor(bencher: Bencher<'_, '_>, workload: &Workload) {
    measure(bencher, workload, Options::default());
}

fn measure(bencher: Bencher<'_, '_>, workload: &Workload, options: Options) {
    let mut prepared = workload.prepare();
    let warp_instructions = prepared.run(&options).counters.warp_instructions;
    let work = workload.multiply_adds.unwrap_or(warp_instructions);
    bencher.counter(ItemsCount::new(work)).bench_local(|| prepared.run(&options));
}
