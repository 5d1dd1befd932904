//! The corpus of races in CUDA C++ (`races/cuda.cu`): in each pair the broken kernel is found by its source lines, which
//! the source marks with `// race`, and the repaired twin is silent; in every schedule, on one thread and on four.

use simt::{
    Checks, Error, Finding, Hazard, Launch, Memory, Module, Options, Report, Schedule, run,
};
use std::collections::BTreeSet;

const SOURCE: &str = include_str!("races/cuda.cu");
const PTX: &str = include_str!("races/cuda.ptx");

/// A pair, its blocks, threads of a block and blocks of a cluster, and what is wrong.
const PAIRS: &[(&str, [u32; 3], Hazard)] = &[
    ("flag_without_fences", [2, 32, 1], Hazard::GlobalRace),
    ("relaxed_flag", [2, 32, 1], Hazard::GlobalRace),
    ("narrow_scope", [2, 32, 1], Hazard::GlobalRace),
    ("last_block", [4, 64, 1], Hazard::GlobalRace),
    ("tile_without_barrier", [1, 128, 1], Hazard::SharedRace),
    ("tile_filled_again", [1, 128, 1], Hazard::SharedRace),
    ("warp_synchronous", [1, 32, 1], Hazard::SharedRaceInWarp),
    ("shuffle_is_no_barrier", [1, 32, 1], Hazard::SharedRaceInWarp),
    ("global_histogram", [2, 32, 1], Hazard::GlobalRace),
    ("shared_histogram", [1, 64, 1], Hazard::SharedRace),
    ("lock_without_fences", [4, 32, 1], Hazard::GlobalRace),
    ("stencil_in_place", [4, 32, 1], Hazard::GlobalRace),
    ("pipeline_without_barrier", [1, 64, 1], Hazard::SharedRace),
    ("cluster_without_barrier", [2, 32, 2], Hazard::SharedRace),
    ("look_back", [2, 32, 1], Hazard::GlobalRace),
    ("prepared_by_one_thread", [1, 64, 1], Hazard::SharedRace),
    ("plain_read_of_an_atomic", [2, 32, 1], Hazard::GlobalRace),
    ("bytes_of_a_word", [1, 64, 1], Hazard::SharedRace),
    ("sum_of_all_blocks", [4, 32, 1], Hazard::GlobalRace),
    ("producer_signals_early", [1, 64, 1], Hazard::SharedRace),
];

/// Every order that the executor offers, on one thread and on four.
fn ways() -> impl Iterator<Item = (Schedule, usize)> {
    let all = [Schedule::Forward, Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];
    all.into_iter().flat_map(|schedule| [(schedule, 1), (schedule, 4)])
}

fn outcome(
    module: &Module,
    kernel: &str,
    grid: [u32; 3],
    way: (Schedule, usize),
) -> Result<Report, Error> {
    let mut memory = Memory::default();
    memory.track_initialization();
    let [data, flag] = [memory.allocate_named(4096, "data")?, memory.allocate_named(4096, "flag")?];
    memory.fill(data, 0, 4096)?;
    memory.fill(flag, 0, 4096)?;
    let [blocks, threads, cluster] = grid;
    let launch = Launch::new(kernel, [blocks, 1, 1], [threads, 1, 1]).clusters([cluster, 1, 1]);
    let launch = launch.address(data).address(flag);
    let (schedule, threads) = way;
    let options =
        Options { checks: Checks::all(), schedule, threads, fuel: 2_000_000, ..Options::default() };
    run(module, &mut memory, &launch, &options)
}

/// The lines of a pair that its source marks.
fn marked(pair: &str) -> BTreeSet<usize> {
    let begin = format!("PAIR({pair}) {{");
    let lines = SOURCE.lines().enumerate().skip_while(|(_, line)| *line != begin);
    let own = lines.take_while(|(_, line)| *line != "}");
    own.filter(|(_, line)| line.ends_with("// race")).map(|(index, _)| index + 1).collect()
}

/// Whether a finding is the pair's, with both accesses at marked lines.
fn is_expected(found: &Finding, pair: &str, hazard: Hazard) -> bool {
    let marked = marked(pair);
    let is_marked = |source: &Option<String>| {
        let places = source.iter().flat_map(|source| source.split("cuda.cu:").skip(1));
        let mut lines = places
            .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        lines.any(|line: usize| marked.contains(&line))
    };
    let other = found.other.as_ref();
    found.hazard == hazard
        && is_marked(&found.place.source)
        && other.is_some_and(|other| is_marked(&other.source))
}

#[test]
fn every_race_of_the_cuda_corpus_is_found_by_its_lines_and_no_twin_is_accused() {
    let module = Module::parse(PTX).expect("nvcc wrote it");
    let (mut missed, mut accused) = (Vec::new(), Vec::new());
    for (pair, grid, hazard) in PAIRS {
        assert!(marked(pair).len() <= 4 && !marked(pair).is_empty(), "{pair} marks its accesses");
        for way in ways() {
            match outcome(&module, &format!("{pair}_broken"), *grid, way) {
                Ok(report) if report.findings.iter().any(|f| is_expected(f, pair, *hazard)) => {}
                Ok(report) => missed.push(format!("{pair}, {way:?}: {:?}", report.findings)),
                Err(error) => missed.push(format!("{pair}, {way:?}: {error}")),
            }
            match outcome(&module, &format!("{pair}_repaired"), *grid, way) {
                Ok(report) => {
                    accused.extend(report.findings.iter().map(|f| format!("{pair}, {way:?}: {f}")))
                }
                Err(error) => accused.push(format!("{pair}, {way:?}: {error}")),
            }
        }
    }
    assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
    assert!(accused.is_empty(), "accused:\n{}", accused.join("\n"));
    assert_eq!(
        SOURCE.matches("\nPAIR(").count(),
        PAIRS.len(),
        "every pair of the source is in the table"
    );
}

/// Writes the module and the table of its launches beside those of `tests/races.rs`.
#[test]
#[ignore = "writes files"]
fn the_corpus_is_written_as_a_module() {
    let folder = std::env::var_os("COALESCE_RACES").expect("COALESCE_RACES names a folder");
    let folder = std::path::Path::new(&folder);
    let rows = PAIRS.iter().flat_map(|(pair, [blocks, threads, cluster], _)| {
        ["broken", "repaired"].map(|kind| {
            format!("{pair}_{kind}\t{blocks}\t{threads}\t{cluster}\tCUDA C++: {pair}\n")
        })
    });
    std::fs::write(folder.join("cuda.ptx"), PTX).expect("a writable folder");
    std::fs::write(folder.join("cuda.tsv"), rows.collect::<String>()).expect("a writable folder");
}
