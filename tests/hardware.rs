//! The executor against a GPU: what Nsight Compute counted, and what the kernels wrote.
//!
//! The measurements are committed; comparing them needs no GPU.

use crate::executor::{Verified, device, verified};
use coalesce::pattern::Size;
use coalesce::verify::{Digests, Outcome, case, verify};
use host::patterns::ALL as PATTERNS;
use simt::{Counters, METRICS};
use std::collections::BTreeMap;
use std::path::Path;

/// Made by `crates/simt/fixtures/collect.py OUTDIR coalesce`.
const PROFILE: &str = "../crates/simt/fixtures/patterns.json";
/// Made by `coalesce verify --digests FILE --device gpu`.
const OUTPUTS: &str = "../results/nvidia-h200/outputs.json";
/// Start of a kernel's name, part of a metric's name, how many times larger the GPU's value may be than
/// the executor's (or smaller), and why they differ.
const DIFFERENT: &[(&str, &str, f64, &str)] = &[
    ("", "lts__t_sectors_op", 2.0, "a request for the far half of L2 is counted in both halves"),
    ("histogram_global_atomic", "mem_global_op", 1.06, RANDOM_MEETINGS),
    ("histogram_global_atomic", "sectors_global_ideal", 1.001, RANDOM_MEETINGS),
    ("histogram_many_bins_global", "mem_global_op", 1.001, RANDOM_MEETINGS),
    (
        "histogram_many_bins",
        "mem_shared_op",
        f64::INFINITY,
        "atomics and loads of one multiprocessor meet",
    ),
    ("matmul_ab_a", "shared_ld", 4.0, JOINED_LOADS),
    ("matmul_ab_a", "shared_op_ld", 2.0, JOINED_LOADS),
    ("matmul_ab_a", "memory_l1_wavefronts_shared", 2.0, JOINED_LOADS),
    ("scan_look_back", "global_ld", f64::INFINITY, LOOKS),
    ("scan_look_back", "global_op_ld", f64::INFINITY, LOOKS),
    ("scan_look_back", "sectors_global", f64::INFINITY, LOOKS),
    ("scan_look_back", "tag_requests_global", f64::INFINITY, LOOKS),
    ("scan_look_back_async", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st", 1.01, ARRIVALS),
    (
        "scan_look_back_async",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st",
        f64::INFINITY,
        ARRIVALS,
    ),
    ("transpose_asynchronous", "op_ldgsts", 1.01, INCOMPLETE_COPIES),
    ("transpose_asynchronous", "memory_l1_wavefronts_shared", 1.01, INCOMPLETE_COPIES),
];
const RANDOM_MEETINGS: &str = "how lanes with equal addresses are grouped is not documented";
const LOOKS: &str =
    "a tile looks at those before it until they are done, which blocks that run in turn always are";
const ARRIVALS: &str = "copies land while a store goes on: one wavefront of 321, which counters by instruction do not have";
const JOINED_LOADS: &str = "ptxas joins four loads of neighbouring words into one of 16 bytes";
const INCOMPLETE_COPIES: &str =
    "2048 copies take one wavefront each; the GPU's counters miss some, 12 in one and 4 in another";

#[derive(serde::Deserialize)]
struct Profile {
    kernels: BTreeMap<String, BTreeMap<String, f64>>,
}

fn read<T: serde::de::DeserializeOwned>(file: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&path).expect("the measurement is committed");
    serde_json::from_str(&text).expect("the file is as it was written")
}

#[test]
fn counters_of_every_variant_equal_the_profiled_ones() {
    let profile: Profile = read(PROFILE);
    let (_guard, gpu) = device();
    let (mut compared, mut missing) = (0, Vec::new());
    let mut problems = Vec::new();
    for pattern in PATTERNS {
        // A kernel that several variants launch was profiled, and is counted here, in all of them.
        let mut kernels: BTreeMap<String, Counters> = BTreeMap::new();
        let size = Size::new(pattern.count_size);
        let case = case(pattern, &size, 1);
        let arrays = pattern.arrays(&gpu, &case).expect("the arrays fit");
        for variant in pattern.variants.iter().filter(|variant| !variant.is_host_work()) {
            let outcome = verify(&gpu, &case, &arrays, variant, &size).expect("it runs");
            assert_eq!(outcome, Outcome::Correct, "{}/{}", pattern.name, variant.name);
            for launch in gpu.virtual_device().expect("it is virtual").take_launches() {
                *kernels.entry(launch.kernel).or_default() += launch.report.counters;
            }
        }
        for (kernel, counters) in kernels {
            let Some(measured) = profile.kernels.get(&kernel) else {
                missing.push(kernel);
                continue;
            };
            for metric in METRICS {
                let values = metric.names.iter().map(|name| measured.get(*name).copied());
                // Nsight Compute has no value where nothing of the kind happened.
                let Some(theirs) = values.sum::<Option<f64>>().filter(|value| !value.is_nan())
                else {
                    continue;
                };
                let ours = (metric.counted)(&counters);
                let is_excused = DIFFERENT.iter().any(|(start, part, factor, _)| {
                    let is_near =
                        factor.is_infinite() || theirs <= ours * factor && ours <= theirs * factor;
                    kernel.starts_with(start) && metric.names[0].contains(part) && is_near
                });
                compared += 1;
                if !is_excused && !metric.agrees(&counters, theirs) {
                    problems.push(format!(
                        "{kernel}: {:?} is {theirs}, the executor says {ours}",
                        metric.names
                    ));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    println!("{compared} counters equal those of the GPU");
    report_missing(&missing);
    assert!(compared > 0, "nothing was compared");
}

/// Kernels that are newer than the measurement are said, and never counted as compared.
fn report_missing(missing: &[String]) {
    if let Some(first) = missing.first() {
        println!(
            "not compared, because no GPU has run them yet: {} (such as {first})",
            missing.len()
        );
    }
}

/// Variants whose float atomics arrive in another order on the GPU.
const ORDER_DEPENDENT: &[&str] = &[];

#[test]
fn outputs_of_every_variant_equal_those_of_the_gpu() {
    let theirs: Digests = read(OUTPUTS);
    let correct = verified().iter().filter(|one| one.outcome == Outcome::Correct);
    let is_excused = |name: &str| ORDER_DEPENDENT.iter().any(|start| name.starts_with(start));
    let mut missing = Vec::new();
    let mut compared = 0;
    for Verified { launch, digests, .. } in correct {
        match theirs.get(launch) {
            None => missing.push(launch.clone()),
            Some(_) if is_excused(launch) => {}
            Some(theirs) => {
                compared += 1;
                assert_eq!(digests, theirs, "{launch}: other bits than on the GPU");
            }
        }
    }
    println!("{compared} launches wrote the bits of the GPU");
    report_missing(&missing);
    assert!(compared > 0, "nothing was compared");
}
