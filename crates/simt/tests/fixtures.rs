//! The cases of `fixtures/cases.txt`: the executor against what a GPU measured.
//!
//! Without a measurement (`fixtures/measured.json`) the cases still run, clean ones without a
//! finding and planted bugs with the one they are named for.

use simt::{Checks, Counters, Error, Hazard, Launch, Memory, Module, Options, Report, run};
use std::collections::HashMap;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

struct Case {
    name: String,
    file: String,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    what: String,
    arguments: Vec<String>,
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(format!("{FOLDER}/cases.txt")).unwrap();
    let extent = |s: &str| {
        let all: Vec<u32> = s.split(',').map(|n| n.trim().parse().unwrap()).collect();
        [all[0], all[1], all[2]]
    };
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let f: Vec<&str> = line.split('|').map(str::trim).collect();
            Case {
                name: f[0].into(),
                file: f[1].into(),
                kernel: f[2].into(),
                grid: extent(f[3]),
                block: extent(f[4]),
                shared: f[5].parse().unwrap(),
                what: f[6].into(),
                arguments: f[7].split(';').map(|a| a.trim().into()).collect(),
            }
        })
        .collect()
}

fn mix(i: u64) -> u64 {
    let z = (i.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Keep in step with `input` of fixtures/run.cu.
fn input(t: &str, count: u64, seed: u64) -> Vec<u8> {
    (0..count)
        .flat_map(|i| {
            let m = mix(i + 1000 * seed);
            let f = ((m % (1 << 23)) as f32 - (1 << 22) as f32) / 65536.0;
            match t {
                "i32" => (m as u32).to_le_bytes().to_vec(),
                "i64" => (m as i64 / 1000).to_le_bytes().to_vec(),
                "f32" => f.to_le_bytes().to_vec(),
                "f64" => (f as f64 * 1.0000001).to_le_bytes().to_vec(),
                _ => (0x3000 | (m & 0x8fff) as u16).to_le_bytes().to_vec(),
            }
        })
        .collect()
}

fn indices(words: &[&str]) -> Vec<u8> {
    let (x, y): (u64, u64) = (words[2].parse().unwrap(), words[3].parse().unwrap());
    (0..1024u64)
        .flat_map(|i| {
            let value = match words[1] {
                "stride" => i * x + y,
                "random" => mix(i) % x * y,
                "permuted" => (i * 37 + 11) % x * y,
                "group" => i / x * y,
                _ => i % x * y,
            };
            (value as u32).to_le_bytes()
        })
        .collect()
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ *b as u64).wrapping_mul(0x100_0000_01b3))
}

/// Runs a case; the hashes are those of its output arguments.
fn execute(case: &Case, checks: Checks) -> (Result<Report, Error>, Vec<String>) {
    let module =
        Module::parse(&std::fs::read_to_string(format!("{FOLDER}/{}", case.file)).unwrap())
            .unwrap();
    let mut memory = Memory::default();
    memory.track_initialisation();
    let mut launch = Launch::new(&case.kernel, case.grid, case.block).shared(case.shared);
    let mut outputs = Vec::new();
    for argument in &case.arguments {
        let words: Vec<&str> = argument.split_whitespace().collect();
        let initial = match words[0] {
            "u32" => {
                launch = launch.u32(words[1].parse().unwrap());
                continue;
            }
            "in" => input(words[1], words[2].parse().unwrap(), words[3].parse().unwrap()),
            "index" => indices(&words),
            "out" => vec![0xcd; words[1].parse().unwrap()],
            _ => vec![0; words[1].parse().unwrap()],
        };
        let address = memory.allocate(initial.len() as u64).unwrap();
        if words[0] != "raw" {
            memory.write(address, &initial).unwrap();
        }
        if matches!(words[0], "out" | "zero") {
            outputs.push((address, initial.len()));
        }
        launch = launch.address(address);
    }
    let options = Options { checks, fuel: 10_000_000, ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options);
    let hashes = outputs
        .into_iter()
        .map(|(address, bytes)| {
            let mut out = vec![0; bytes];
            memory.read(address, &mut out).unwrap();
            format!("{:016x}", fnv(&out))
        })
        .collect();
    (report, hashes)
}

/// Counter, Nsight Compute's name, and whether equality is demanded.
type Link = (fn(&Counters) -> u64, &'static str);

const EXACT: &[Link] = &[
    (|c| c.global_load.requests, "smsp__sass_inst_executed_op_global_ld.sum"),
    (|c| c.global_store.requests, "smsp__sass_inst_executed_op_global_st.sum"),
    (|c| c.global_load.sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    (|c| c.global_store.sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    (
        |c| c.shared_load.wavefronts,
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    ),
    (
        |c| c.shared_store.wavefronts,
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    ),
];

/// Cases whose SASS differs from the PTX, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    ("ldgsts", "LDGSTS requests count among the loads of the hardware"),
    (
        "predicated_off",
        "a request without active lanes is counted by the hardware's instruction counter",
    ),
    ("bulk_load", "polling takes as many turns as the copy takes time"),
];

#[test]
fn executor_equals_measurement() {
    let measured: serde_json::Value = std::fs::read_to_string(format!("{FOLDER}/measured.json"))
        .map_or(serde_json::Value::Null, |text| serde_json::from_str(&text).unwrap());
    let mut problems = Vec::new();
    let mut compared = HashMap::new();
    for case in cases().iter().filter(|c| c.what == "ncu" || c.what == "plain") {
        let (report, hashes) = execute(case, Checks::none());
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let on_gpu = &measured["cases"][&case.name];
        if let Some(outputs) = on_gpu["outputs"].as_array() {
            for (output, hash) in outputs.iter().zip(&hashes) {
                *compared.entry("outputs").or_insert(0) += 1;
                if output["fnv1a"].as_str() != Some(hash) {
                    problems.push(format!("{}: the output differs from the GPU's", case.name));
                }
            }
        }
        if DIFFERENT.iter().any(|(prefix, _)| case.name.starts_with(prefix)) {
            continue;
        }
        for (counter, metric) in EXACT {
            let Some(theirs) = on_gpu["ncu"][*metric].as_f64() else { continue };
            *compared.entry(metric).or_insert(0) += 1;
            let ours = counter(&report.counters);
            if ours as f64 != theirs {
                problems
                    .push(format!("{}: {metric} is {theirs}, the executor says {ours}", case.name));
            }
        }
    }
    assert!(problems.is_empty(), "{compared:?}\n{}", problems.join("\n"));
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
        "shared_uninitialised" => Some(Hazard::UninitialisedShared),
        "global_uninitialised" => Some(Hazard::UninitialisedGlobal),
        "race_read_after_write" | "race_write_after_read" | "race_write_after_write" => {
            Some(Hazard::SharedRace)
        }
        "race_within_warp" => Some(Hazard::SharedRaceInWarp),
        "barrier_divergent" => Some(Hazard::DivergentBarrier),
        "async_not_awaited" => Some(Hazard::AsyncCopyNotAwaited),
        "block_race" => Some(Hazard::GlobalRace),
        "shuffle_inactive" => Some(Hazard::InactiveSource),
        "register_uninitialised" => Some(Hazard::UninitialisedRegister),
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
