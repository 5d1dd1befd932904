//! The cases of `fixtures/cases.txt`: the executor against what a GPU measured.
//!
//! Clean cases run without a finding, planted bugs with the one they are named for; that needs no
//! measurement (`fixtures/measured.json`).

#[path = "support/cases.rs"]
mod cases;

use crate::chosen::chosen;
use cases::{FOLDER, cases, execute, execute_text};
use counters::{METRICS, Metric, constant_cache_requests};
use simt::{
    Checks, Counters, Error, Hazard, Module, Options, RequestCounts, RequestKind, Schedule, Watched,
};
use std::collections::{BTreeMap, HashMap};

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ *b as u64).wrapping_mul(0x100_0000_01b3))
}

/// Cases, metrics by their first name, and why the two differ there. These and no others do.
const DIFFERENT: &[(&[&str], &[&str], &str)] = &[
    (
        &["ldgsts_cg_shifted_unit", "ldgsts_cg_offset"],
        &[
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "memory_l1_wavefronts_shared",
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
        ],
        "copies past L1 between different halves of a sector take more passes, and fewer sectors of L1 than of L2, by a rule that is not known",
    ),
    (
        &[
            "red_shared_f32_distinct",
            "red_shared_f32_pairs",
            "red_shared_f32_same",
            "red_shared_f32_strided",
        ],
        &[
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            "memory_l1_wavefronts_shared",
            "memory_l1_wavefronts_shared_ideal",
            "smsp__sass_inst_executed_op_shared_ld.sum",
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        ],
        LOOP,
    ),
    (
        &["red_shared_f32_strided"],
        &["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
        LOOP,
    ),
    (
        &["bulk_load"],
        &[
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "memory_l1_tag_requests_global",
            "memory_l2_theoretical_sectors_global",
            "memory_l2_theoretical_sectors_global_ideal",
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
            "smsp__sass_inst_executed_op_global_ld.sum",
        ],
        "ptxas removes the load of an index that nothing uses",
    ),
    (
        &["red_global_u64_strided"],
        &["lts__t_sectors_op_atom.sum"],
        "L2 splits requests of 8-byte reductions in an undocumented way",
    ),
];

const LOOP: &str = "ptxas makes a loop of LDS and compare-and-swap";

/// Kernels of the corpus that no case runs on a GPU: their signatures are others than a case can
/// say. `tests/corpus.rs` compares them with the host.
const NOT_MEASURED: &[&str] =
    &["by_value", "checked_sum", "gemm", "mandelbrot", "print", "saxpy_loop", "transpose"];

/// ptxas contracts `mul` and `add` without a rounding modifier to one fused multiply-add; these
/// edits of the PTX say what its SASS does.
const CONTRACTED: &[(&str, &[(&str, &str)])] = &[
    (
        "corpus_struct_calls",
        &[
            ("sub.f32 \t%f8, %f7, %f4;", "neg.f32 %f8, %f4; fma.rn.f32 %f8, %f1, %f2, %f8;"),
            (
                "sub.f32 \t%f10, %f5, %f6;",
                "neg.f32 %f10, %f6; fma.rn.f32 %f10, %f4, 0fC0400000, %f10;",
            ),
        ],
    ),
    ("corpus_halves", &[("add.f16 %rs10,%rs1,%rs6;", "fma.rn.f16 %rs10,%rs2,%rs3,%rs6;")]),
    ("corpus_brain", &[("add.bf16 %rs8,%rs1,%rs4;", "fma.rn.bf16 %rs8,%rs2,%rs3,%rs4;")]),
];

/// Both blocks of the `store_` cases store to the same places; here the requests of two warps
/// arrived in pieces, so the result is that of no order of warps.
const INTERLEAVED: &[&str] = &[
    "store_16_stride_1",
    "store_1_stride_33",
    "store_2_stride_33",
    "store_4_stride_17",
    "store_4_stride_3",
    "store_4_stride_7",
];

fn measured() -> serde_json::Value {
    let text = std::fs::read_to_string(format!("{FOLDER}/measured.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The kernels of PTX files, sorted.
fn kernels_of<'f>(files: impl Iterator<Item = &'f str>) -> Vec<String> {
    let mut names: Vec<String> = files
        .flat_map(|file| {
            let text = std::fs::read_to_string(format!("{FOLDER}/{file}")).unwrap();
            let module = Module::parse(&text).unwrap();
            module.kernels().iter().map(|kernel| kernel.name.clone()).collect::<Vec<_>>()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_kernel_is_measured_or_named() {
    let cases = cases();
    let mut files: Vec<&str> = cases.iter().map(|case| case.file.as_str()).collect();
    files.push("../tests/corpus/rustc.ptx");
    files.sort();
    files.dedup();
    let (of_corpus, of_fixtures) =
        files.into_iter().partition::<Vec<_>, _>(|file| file.contains("corpus"));
    for (files, not_run) in [(of_corpus, NOT_MEASURED), (of_fixtures, &[])] {
        let mut names = kernels_of(files.into_iter());
        names.retain(|name| !cases.iter().any(|case| case.kernel == *name));
        assert_eq!(names, not_run);
    }
    let measured = measured();
    let mut known: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let mut theirs: Vec<&String> = measured["cases"].as_object().unwrap().keys().collect();
    known.sort();
    theirs.sort();
    assert_eq!(known, theirs);
}

#[test]
fn counters_equal_the_measured_ones() {
    let measured = measured();
    let mut differing = BTreeMap::new();
    let mut compared = 0;
    for case in cases().iter().filter(|c| c.what == "ncu") {
        let report = execute(case, Checks::none()).0.unwrap();
        let metrics = &measured["cases"][&case.name]["ncu"];
        for metric in METRICS {
            let Metric { counted, names } = metric;
            let theirs: Option<f64> = names.iter().map(|name| metrics[*name].as_f64()).sum();
            let theirs = theirs.unwrap_or_else(|| panic!("{}: {names:?} is missing", case.name));
            if !metric.agrees(&report.counters, theirs) {
                let message = format!("{theirs}, the executor says {}", counted(&report.counters));
                differing.insert((case.name.clone(), names[0]), message);
            }
            compared += 1;
        }
        // SASS instructions are others than those of PTX, but about as many.
        let theirs = metrics["smsp__inst_executed.sum"].as_f64().unwrap();
        if !case.name.starts_with("red_shared_f32") {
            let ratio = theirs / report.counters.warp_instructions as f64;
            assert!((0.6..1.2).contains(&ratio), "{}: {ratio}", case.name);
        }
    }
    let mut expected: Vec<(String, &str)> = Vec::new();
    for (cases, metrics, _) in DIFFERENT {
        let pairs = cases.iter().flat_map(|case| metrics.iter().map(|m| (case.to_string(), *m)));
        expected.extend(pairs);
    }
    expected.sort();
    assert!(differing.keys().eq(&expected), "{differing:#?}");
    assert_eq!(compared, 211 * METRICS.len());
}

/// Loads of parameters, and of the stack pointer, per warp: ptxas loads them once each, two at a time or as operands.
const LOADS_BY_PTXAS: std::ops::RangeInclusive<f64> = 2.0..=4.0;

#[test]
fn requests_to_the_constant_cache_equal_the_measured_ones() {
    let measured = measured();
    let (mut indexed, mut others) = (0, 0);
    for case in cases() {
        let metrics = &measured["cases"][&case.name]["ncu"];
        let Some(theirs) = metrics["idc__requests.sum"].as_f64() else {
            assert_ne!(case.what, "ncu", "{}", case.name);
            continue;
        };
        let ldc = metrics["smsp__inst_executed_op_ldc.sum"].as_f64().unwrap();
        let report = execute(&case, Checks::none()).0.unwrap();
        let ours = constant_cache_requests(&report.counters, ldc);
        assert_eq!(ours, theirs, "{}", case.name);
        let by_ptxas = ldc - report.counters.constant_load.requests as f64;
        let per_warp = by_ptxas / report.warps as f64;
        assert!(LOADS_BY_PTXAS.contains(&per_warp), "{}: {per_warp}", case.name);
        let is_indexed = report.counters.constant_load.requests > 0;
        *(if is_indexed { &mut indexed } else { &mut others }) += 1;
    }
    assert_eq!((indexed, others), (3, 209));
}

/// The counts of the accesses that are of a kind.
fn counts_of(kind: RequestKind, counters: &Counters) -> RequestCounts {
    let mut atomics = counters.global_atomic;
    atomics += counters.global_reduction;
    match kind {
        RequestKind::GlobalLoad => counters.global_load,
        RequestKind::GlobalStore => counters.global_store,
        RequestKind::GlobalAtomic => atomics,
        RequestKind::AsyncCopySource => counters.async_copy_global,
        RequestKind::BulkCopy => counters.bulk_copy,
        RequestKind::AsyncCopyTarget => counters.async_copy_shared,
        RequestKind::SharedLoad => counters.shared_load,
        RequestKind::SharedStore => counters.shared_store,
        RequestKind::SharedAtomic => counters.shared_atomic,
        RequestKind::ConstantLoad => counters.constant_load,
    }
}

/// Recorded requests of each warp are those counted, and recording changes no count.
#[test]
fn recorded_requests_are_those_that_were_counted() {
    let (mut kinds, mut sums) = (HashMap::new(), 0);
    for case in cases().iter().filter(|c| c.what == "ncu") {
        let text = std::fs::read_to_string(format!("{FOLDER}/{}", case.file)).unwrap();
        let plain = execute(case, Checks::none()).0.unwrap();
        assert!(plain.instructions.iter().all(|i| i.requests.is_empty()), "{}", case.name);
        let warps = case.block.iter().product::<u32>().div_ceil(32);
        let blocks = case.grid.iter().map(|n| u64::from(*n)).product::<u64>();
        let mut recorded = vec![Vec::new(); plain.instructions.len()];
        let each = (0..blocks).flat_map(|block| (0..warps).map(move |warp| (block, warp)));
        let is_large = blocks * u64::from(warps) > 16;
        for (block, warp) in if is_large { chosen(each) } else { each.collect() } {
            let watched = Some(Watched { block, warp });
            let options = Options { fuel: 10_000_000, watched, ..Options::default() };
            let report = execute_text(case, &text, options).0.unwrap();
            assert_eq!(report.counters, plain.counters, "{}", case.name);
            for (sum, instruction) in recorded.iter_mut().zip(report.instructions) {
                sum.extend(instruction.requests);
            }
        }
        for (instruction, requests) in plain.instructions.iter().zip(recorded) {
            let place = format!("{}: line {}", case.name, instruction.ptx_line);
            for request in &requests {
                let traffic = &request.traffic;
                assert_eq!(request.lanes.iter().flatten().count() as u64, traffic.lanes, "{place}");
                match request.kind {
                    RequestKind::GlobalLoad
                    | RequestKind::GlobalStore
                    | RequestKind::GlobalAtomic
                    | RequestKind::BulkCopy => {
                        assert_eq!(request.sectors().len() as u64, traffic.sectors, "{place}");
                    }
                    // A sector between two halves of targets is fetched for both.
                    RequestKind::AsyncCopySource => {
                        assert!(request.sectors().len() as u64 <= traffic.sectors, "{place}");
                    }
                    _ => {
                        assert_eq!(request.wavefronts.len() as u64, traffic.wavefronts, "{place}");
                        let lanes = request.wavefronts.iter().flatten().fold(0, |m, w| m | w.lanes);
                        assert_eq!(u64::from(lanes.count_ones()), traffic.lanes, "{place}");
                    }
                }
                *kinds.entry(request.kind).or_insert(0) += 1;
            }
            // Where every warp makes one request, the records are the whole count.
            let mut each: Vec<RequestKind> = requests.iter().map(|r| r.kind).collect();
            each.sort();
            each.dedup();
            for kind in each {
                let whole = counts_of(kind, &instruction.counters);
                let mut sum = RequestCounts::default();
                requests.iter().filter(|r| r.kind == kind).for_each(|r| sum += r.traffic);
                assert!(sum.requests <= whole.requests, "{place}");
                if sum.requests == whole.requests {
                    assert_eq!(sum, whole, "{place}");
                    sums += 1;
                }
            }
        }
    }
    assert!(kinds.len() == 10 && sums > 400, "{kinds:?}, {sums} sums");
}

#[test]
fn outputs_equal_the_measured_ones() {
    let measured = measured();
    let (mut differing, mut edited, mut compared) = (Vec::new(), Vec::new(), 0);
    for case in cases().iter().filter(|c| c.what == "ncu" || c.what == "plain") {
        let outputs = measured["cases"][&case.name]["outputs"].as_array().unwrap();
        assert!(!outputs.is_empty(), "{}", case.name);
        let theirs: Vec<&str> = outputs.iter().map(|o| o["fnv1a"].as_str().unwrap()).collect();
        let mut text = std::fs::read_to_string(format!("{FOLDER}/{}", case.file)).unwrap();
        let edits = CONTRACTED.iter().find(|(name, _)| *name == case.name);
        edited.extend(edits.map(|(name, _)| *name));
        for (from, to) in edits.map_or(&[][..], |(_, edits)| edits) {
            assert_eq!(text.matches(from).count(), 1, "{from}");
            text = text.replace(from, to);
        }
        let run = |schedule| {
            // One thread: where blocks race for a place, the order of blocks is the schedule's.
            let options = Options { fuel: 10_000_000, schedule, threads: 1, ..Options::default() };
            execute_text(case, &text, options).1
        };
        let ours = run(Schedule::Forward);
        let hash = |bytes: &[u8]| format!("{:016x}", fnv(bytes));
        let equal = if case.name == "store_4_same" {
            // Any of the 256 lanes may have come last.
            (0..256u32).any(|last| {
                let mut bytes = ours[0].clone();
                bytes[..4].copy_from_slice(&last.to_le_bytes());
                hash(&bytes) == theirs[0]
            })
        } else if case.name.starts_with("store_") {
            // The same warp of either block may have come last at the places of that warp.
            let other = &run(Schedule::Reverse)[0];
            let step: usize = case.arguments[2].split_whitespace().nth(2).unwrap().parse().unwrap();
            (0..16u32).any(|winners| {
                let mut bytes = ours[0].clone();
                for warp in (0..4usize).filter(|warp| winners >> warp & 1 != 0) {
                    let places = 32 * step * warp..32 * step * (warp + 1);
                    bytes[places.clone()].copy_from_slice(&other[places]);
                }
                hash(&bytes) == theirs[0]
            })
        } else {
            ours.iter().map(|bytes| hash(bytes)).eq(theirs)
        };
        if !equal {
            differing.push(case.name.clone());
        }
        compared += 1;
    }
    differing.sort();
    assert_eq!(differing, INTERLEAVED, "the cases whose outputs differ from the GPU's");
    assert!(CONTRACTED.iter().map(|(name, _)| *name).eq(edited));
    assert_eq!(compared, 211 + 51);
}

#[test]
fn clean_cases_have_no_finding() {
    for case in cases().iter().filter(|c| c.what == "ncu" || c.what == "plain") {
        // Stores of many lanes to one place are what these cases are about.
        let expected = case.name.starts_with("store_") || case.name.starts_with("sts_");
        let (report, _) = execute(case, Checks::all());
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        for finding in &report.findings {
            let by_design = matches!(
                finding.hazard,
                Hazard::ConflictingStore
                    | Hazard::GlobalRace
                    | Hazard::SharedRace
                    | Hazard::SharedRaceInWarp
            );
            assert!(expected && by_design, "{}: {finding}", case.name);
        }
    }
}

#[test]
fn planted_bugs_are_found() {
    let hazard = |name: &str| match name {
        "shared_uninitialised" => Some(Hazard::UninitializedShared),
        "global_uninitialised" => Some(Hazard::UninitializedGlobal),
        "race_read_after_write" | "race_write_after_read" | "race_write_after_write" => {
            Some(Hazard::SharedRace)
        }
        "race_within_warp" => Some(Hazard::SharedRaceInWarp),
        "barrier_divergent" => Some(Hazard::DivergentBarrier),
        "async_not_awaited" => Some(Hazard::AsyncCopyNotAwaited),
        "block_race" => Some(Hazard::GlobalRace),
        "shuffle_inactive" => Some(Hazard::InactiveSource),
        "register_uninitialised" => Some(Hazard::UninitializedRegister),
        _ => None,
    };
    let mut bugs = 0;
    for case in cases().iter().filter(|c| c.name.starts_with("bug_")) {
        let (report, _) = execute(case, Checks::all());
        let name = case.name.trim_start_matches("bug_");
        match (name, &report) {
            ("clean", Ok(report)) => assert!(report.findings.is_empty(), "{:?}", report.findings),
            ("global_misaligned", Err(Error::MisalignedAddress { .. }))
            | (
                "global_out_of_bounds" | "shared_out_of_bounds",
                Err(Error::IllegalAddress { .. }),
            )
            | ("traps", Err(Error::Trap { .. })) => {}
            (_, Ok(report)) => {
                let wanted = hazard(name);
                let found = report.findings.iter().any(|f| Some(f.hazard) == wanted);
                assert!(found, "{name}: wanted {wanted:?}, found {:#?}", report.findings);
                let finding = report.findings.iter().find(|f| Some(f.hazard) == wanted).unwrap();
                assert!(finding.place.ptx_line > 0 && finding.place.lanes != 0);
            }
            (_, Err(error)) => panic!("{name}: {error}"),
        }
        bugs += 1;
    }
    assert_eq!(bugs, 16);
}

/// Verdicts of compute-sanitizer, so that the README's table stays true.
#[test]
fn verdicts_of_compute_sanitizer() {
    let measured = measured();
    let all = measured["cases"].as_object().unwrap();
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    for (name, case) in all {
        for (tool, verdict) in case["sanitizer"].as_object().into_iter().flatten() {
            let name = name.trim_start_matches("bug_");
            if verdict["found"] == true {
                errors.push(format!("{tool} {name}"));
            } else if verdict["first"].as_str().unwrap().contains("Warning: Race") {
                warnings.push(format!("{tool} {name}"));
            }
        }
    }
    errors.sort();
    warnings.sort();
    assert_eq!(
        errors,
        [
            "initcheck global_uninitialised",
            "memcheck global_misaligned",
            "memcheck global_out_of_bounds",
            "memcheck shared_out_of_bounds",
            "memcheck traps",
            "racecheck race_read_after_write",
            "racecheck race_write_after_read",
            "racecheck race_write_after_write",
            "synccheck barrier_divergent",
        ]
    );
    assert_eq!(warnings, ["racecheck async_not_awaited", "racecheck race_within_warp"]);
}

#[test]
fn counters_of_the_stride_ladder() {
    // 32 lanes x stride x 4 B / 32 B sectors, at most one sector per lane; 8 warps, and the table
    // of indices adds 4 sectors for each.
    for (stride, sectors) in [(1u64, 4u64), (2, 8), (3, 12), (4, 16), (8, 32), (33, 32)] {
        let name = format!("load_4_stride_{stride}");
        let all = cases();
        let case = all.iter().find(|c| c.name == name).unwrap();
        let report = execute(case, Checks::none()).0.unwrap();
        assert_eq!(report.counters.global_load.sectors, 8 * (sectors + 4), "{name}");
    }
    for (name, wavefronts) in [
        ("lds_4_stride_1", 1u64),
        ("lds_4_stride_2", 2),
        ("lds_4_stride_32", 32),
        ("lds_8_stride_1", 2),
        ("lds_16_stride_1", 4),
        ("lds_16_broadcast", 2),
    ] {
        let all = cases();
        let case = all.iter().find(|c| c.name == name).unwrap();
        let report = execute(case, Checks::none()).0.unwrap();
        assert_eq!(report.counters.shared_load.wavefronts, 8 * wavefronts, "{name}");
    }
}
