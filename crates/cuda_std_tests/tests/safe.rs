//! A kernel without `unsafe` costs nothing: its PTX beside that of the same kernel with pointers. `docs/safe_kernels.md`
//! shows both; `COALESCE_BLESS=1` writes it anew.

use crate::codegen::{SM_90, ptx};
use simt::{Launch, Memory, Module, Options, run};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Each pair, and what only the safe one has or lacks, with the reason.
const PAIRS: [(&str, &str); 2] = [
    (
        "saxpy",
        "they differ in order and in one branch; NVIDIA's assembler makes 40 machine instructions of either",
    ),
    (
        "transpose",
        "the barrier is the one that needs no whole warps, because a type cannot say that they come together; \
         NVIDIA's assembler (13.0, sm_90) makes 56 machine instructions of either, with the same barrier",
    ),
];

/// The instructions of an entry, without labels, declarations and directives.
fn instructions(name: &str) -> Vec<String> {
    let body = SM_90[name].split_once("{\n").expect("an entry has a body").1;
    let is_code = |line: &&str| line.ends_with(';') && !line.starts_with(['.', '$', '{', '}']);
    body.lines().filter(is_code).map(|line| plain(line, name)).collect()
}

/// An instruction without what a module numbers and mangles.
fn plain(line: &str, name: &str) -> String {
    let words = line.split(' ').map(|word| {
        if let Some(label) = word.strip_prefix("$L__BB") {
            return format!("label{}", label.split_once('_').map_or("", |(_, number)| number));
        }
        if word.starts_with("_RN") {
            "CELLS;".to_owned()
        } else {
            word.replace(&format!("{name}_"), "")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn opcodes(name: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in instructions(name) {
        let mut words = line.split([' ', ';']);
        let opcode = words.find(|word| !word.starts_with('@')).unwrap_or_default();
        *counts.entry(opcode.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn a_safe_kernel_accesses_memory_as_the_raw_one_and_does_no_more() {
    let memory = ["ld.global", "st.global", "ld.shared", "st.shared", "ld.local", "shfl", "call"];
    for (name, _) in PAIRS {
        let [safe, raw] = ["safe", "raw"].map(|side| opcodes(&format!("{side}_{name}")));
        let of_memory = |counts: &BTreeMap<String, usize>| -> Vec<String> {
            let counts = counts.iter().map(|(opcode, count)| format!("{count} {opcode}"));
            counts.filter(|text| memory.iter().any(|kind| text.contains(kind))).collect()
        };
        assert_eq!(of_memory(&safe), of_memory(&raw), "{name}");
        assert!(!safe.contains_key("call.uni"), "{name}: no check of bounds is left");
        let total = |counts: &BTreeMap<String, usize>| counts.values().sum::<usize>();
        assert!(total(&safe) <= total(&raw) + 2, "{name}: {safe:?}\n{raw:?}");
    }
}

/// Warp-instructions, and requests to global and shared memory, of one launch of a sum over some blocks.
fn executed(kernel: &str) -> [u64; 4] {
    const BLOCKS: u32 = 4;
    const THREADS: u32 = 256;
    let module = Module::parse(&ptx(90)).expect("our own PTX parses");
    let mut memory = Memory::default();
    let n = u64::from(2 * BLOCKS * THREADS);
    let x = memory.allocate(4 * n).expect("there is memory");
    memory.write(x, &1.0_f32.to_le_bytes().repeat(n as usize)).expect("it is allocated");
    let sums = memory.allocate(4 * u64::from(BLOCKS)).expect("there is memory");
    let launch = Launch::new(kernel, [BLOCKS, 1, 1], [THREADS, 1, 1]).address(x).u64(n);
    let launch = launch.address(sums).u64(u64::from(BLOCKS));
    let report = run(&module, &mut memory, &launch, &Options::default()).expect("it runs");
    let mut found = [0; 4 * BLOCKS as usize];
    memory.read(sums, &mut found).expect("it is allocated");
    let expected = (2.0 * THREADS as f32).to_le_bytes().repeat(BLOCKS as usize);
    assert_eq!(found[..], expected, "{kernel}");
    let counters = &report.counters;
    let global = counters.global_load.requests + counters.global_store.requests;
    let shared = counters.shared_load.requests + counters.shared_store.requests;
    [report.warps, counters.warp_instructions, global, shared]
}

/// The PTX of the safe sum has a second way, for threads that have returned; what runs is compared.
#[test]
fn a_safe_sum_executes_what_the_raw_one_does_and_little_more() {
    let [safe, raw] = ["safe_sum", "raw_sum"].map(executed);
    assert_eq!(safe[2..], raw[2..], "requests to global and shared memory");
    let more = (safe[1] - raw[1]) as f64 / safe[0] as f64;
    assert!(more <= 16.0, "{more} instructions of a warp more");
}

#[test]
fn the_page_shows_both() {
    let mut page = String::from(
        "# A kernel without `unsafe`, and the same with pointers\n\n\
         The PTX of both for compute capability 9.0, as this compiler makes it; a test compares them. Source: \
         `crates/cuda_std_tests/src/kernels/safe.rs`.\n",
    );
    for (name, difference) in PAIRS {
        let sides = ["safe", "raw"].map(|side| instructions(&format!("{side}_{name}")));
        let rows = sides[0].len().max(sides[1].len());
        let width = sides[0].iter().map(|line| line.len()).max().unwrap_or(0);
        let _ = write!(
            page,
            "\n## {name}\n\n{} instructions against {}: {difference}.\n\n```text\n",
            sides[0].len(),
            sides[1].len()
        );
        let _ = writeln!(page, "{:width$}  | with pointers", "safe");
        for row in 0..rows {
            let [safe, raw] = [0, 1].map(|side| sides[side].get(row).map_or("", String::as_str));
            let _ = writeln!(page, "{}", format!("{safe:width$}  | {raw}").trim_end());
        }
        page += "```\n";
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/safe_kernels.md");
    if std::env::var_os("COALESCE_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the page is there");
    assert!(
        committed == page,
        "docs/safe_kernels.md is not what the compiler makes: COALESCE_BLESS=1 cargo test -p cuda_std_tests safe"
    );
}
