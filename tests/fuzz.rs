//! Code that reads files and command lines answers with one sentence, whatever is in them: mutations of files of ours,
//! always the same ones. `FILES_FUZZ_INPUTS` asks for more of them: `cargo xtask prove fuzz-files`.

use crate::kernels_source::root;
use coalesce::measure::{Axes, Plan};
use host::CATALOGUE;
use report::machine_code::MachineCode;
use results::Results;
use std::fmt::Write;
use std::time::{Duration, Instant};
use virtual_gpu::Profile;

/// Time that one input may take.
const MAX_TIME: Duration = Duration::from_secs(5);

fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn below(state: &mut u64, count: usize) -> usize {
    (mix(state) % count.max(1) as u64) as usize
}

/// Words that stand in files and on command lines, and some that should not.
const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1e308",
    "1e999",
    "18446744073709551615",
    "9223372036854775808",
    "4294967295",
    "null",
    "true",
    "\"\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "n=",
    "..",
    "^",
    "+",
    "0.25",
    "2^31",
    "\u{e9}",
    "\\ud800",
];

fn mutate(seed: &str, state: &mut u64) -> String {
    let mut bytes = seed.as_bytes().to_vec();
    for _ in 0..1 + below(state, 3) {
        let at = below(state, bytes.len() + 1);
        let end = (at + 1 + below(state, 30)).min(bytes.len()).max(at);
        let word = WORDS[below(state, WORDS.len())].bytes();
        match below(state, 10) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, word)),
            2 => {
                let number = |byte: &u8| byte.is_ascii_digit() || b".-e".contains(byte);
                let from = bytes[at..].iter().position(number).map_or(at, |first| at + first);
                let length = bytes[from..].iter().take_while(|byte| number(byte)).count();
                drop(bytes.splice(from..from + length, word));
            }
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = below(state, bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
            4 => bytes.truncate(at),
            5 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = mix(state) as u8;
                }
            }
            // A digit becomes another one: most of what is mutated so is still a file.
            _ => {
                if let Some(digit) = bytes[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                    *digit = b'0' + below(state, 10) as u8;
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A result file with a row of each kind, short enough to be mutated often.
fn result_file() -> String {
    let path = root().join("results/nvidia-h200/reference.json");
    let mut results =
        Results::load(&path, CATALOGUE.renamed).expect("the reference is a result file");
    let mut kinds = Vec::new();
    results.rows.retain(|row| {
        let kind =
            (row.peer, row.sweep.is_some(), row.timeline.is_some(), row.measured().is_some());
        let is_new = !kinds.contains(&kind);
        kinds.push(kind);
        is_new
    });
    results.counts = None;
    if let Some(timeline) = results.rows.iter_mut().find_map(|row| row.timeline.as_mut()) {
        timeline.intervals.truncate(5);
    }
    serde_json::to_string_pretty(&results).expect("plain data")
}

/// Returns what is done with a result file that was read.
fn use_results(results: &Results) {
    let _ = report::tabulate::markdown(results);
    let _ = report::tabulate::csv(results);
    let _ = results::pairs(results, results);
    let _ = results::check(results, results);
    let _ = results::differences(&results.environment, &results.environment);
}

#[test]
fn nothing_that_is_read_makes_its_reader_panic_or_take_long() {
    let inputs = std::env::var("FILES_FUZZ_INPUTS").ok().and_then(|number| number.parse().ok());
    let inputs: u64 = inputs.unwrap_or(if std::env::var_os("CI").is_some() { 5000 } else { 500 });
    let limit = std::env::var("PROOF_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let limit = limit.map_or(Duration::MAX, Duration::from_secs);
    let mut state = 20_261_122;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("input.json");
    let results = result_file();
    let machine_code = "//---- .text.k ----\n.text.k:\n//## File \"k.rs\", line 7 inlined at \"k.rs\", line 9\n/*0010*/ @!P0 LDG.E R4, [R2] ;\n.L_x_1:\n/*0020*/ LDC R1, c[0x3][R2] ;\n";
    let lines = [
        "n=2^20..2^28",
        "rows=1,2,columns=1..9+2",
        "0.25",
        "share=0..1+0.25",
        "kind=uniform",
        "-4..4",
    ];
    let start = Instant::now();
    let (mut tried, mut read) = (0, [0; 4]);
    while tried < inputs && start.elapsed() < limit {
        tried += 1;
        let (_, profile) = virtual_gpu::PROFILES[below(&mut state, virtual_gpu::PROFILES.len())];
        let texts = [&results, profile, machine_code, lines[below(&mut state, lines.len())]];
        for (kind, seed) in texts.into_iter().enumerate() {
            let text = mutate(seed, &mut state);
            let before = Instant::now();
            let one = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match kind {
                0 => {
                    std::fs::write(&path, &text).expect("a temporary file");
                    Results::load(&path, CATALOGUE.renamed).is_ok_and(|results| {
                        use_results(&results);
                        true
                    })
                }
                1 => Profile::from_json(&text).is_ok_and(|profile| {
                    let known = (0..200).filter(|number| profile.attribute(*number).is_some());
                    assert!(known.count() > 100);
                    profile.architecture() > 0
                }),
                2 => {
                    std::fs::write(&path, &text).expect("a temporary file");
                    MachineCode::load(&path).is_ok_and(|code| {
                        code.of("k").iter().filter(|one| one.memory().is_some()).count()
                            < usize::MAX
                    })
                }
                _ => text.parse::<Axes>().is_ok_and(|axes| {
                    let mut plan = Plan::new(CATALOGUE.all());
                    plan.axes = axes.0;
                    let _ = plan.row_count();
                    true
                }),
            }));
            let mut what = format!("input {tried} of kind {kind}");
            let _ = write!(what, " took {:?}:\n{text}", before.elapsed());
            read[kind] += u64::from(one.unwrap_or_else(|_| panic!("{what}")));
            assert!(before.elapsed() < MAX_TIME, "{what}");
        }
    }
    let [results, profiles, listings, lines] = read;
    println!(
        "{tried} inputs of each kind of {inputs} meant: {results} result files, {profiles} profiles, {listings} listings of \
         machine code and {lines} command lines were sound, none panicked"
    );
    let least = tried / 50;
    assert!(read.iter().all(|count| *count > least), "mutations are too wild: {read:?} of {tried}");
}

/// No kernel of the catalogue leaves it to NVIDIA's assembler whether a product and a sum are one instruction.
#[test]
fn no_kernel_of_the_catalogue_may_be_contracted() {
    for image in CATALOGUE.images {
        let module = simt::Module::parse(image.text()).expect("our own PTX parses");
        for kernel in module.kernels() {
            assert_eq!(kernel.contraction(), None, "{}", kernel.name);
        }
    }
}
