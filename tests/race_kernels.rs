//! Races in Rust kernels (`crates/race_kernels`): the broken kernel of each pair is found by its source lines, the repaired
//! one is silent; in every schedule, on one thread and on four.

use crate::kernels_source::root;
use cuda_builder::{CudaBuilder, NvvmArch, PanicStrategy};
use simt::{
    Checks, Error, Finding, Hazard, Launch, Memory, Module, Options, Report, Schedule, run,
};
use std::collections::BTreeSet;

const SOURCE: &str = include_str!("../crates/race_kernels/src/lib.rs");

/// A pair, its blocks, threads of a block and blocks of a cluster, and what is wrong.
const PAIRS: &[(&str, [u32; 3], Hazard)] = &[
    ("flag_without_fences", [2, 32, 1], Hazard::GlobalRace),
    ("relaxed_flag", [2, 32, 1], Hazard::GlobalRace),
    ("narrow_scope", [2, 32, 1], Hazard::GlobalRace),
    ("last_block", [4, 32, 1], Hazard::GlobalRace),
    ("tile_without_barrier", [1, 128, 1], Hazard::SharedRace),
    ("tile_filled_again", [1, 128, 1], Hazard::SharedRace),
    ("warp_synchronous", [1, 32, 1], Hazard::SharedRaceInWarp),
    ("shuffle_is_no_barrier", [1, 32, 1], Hazard::SharedRaceInWarp),
    ("global_histogram", [2, 32, 1], Hazard::GlobalRace),
    ("lock_without_order", [4, 32, 1], Hazard::GlobalRace),
    ("stencil_in_place", [4, 32, 1], Hazard::GlobalRace),
    ("cluster_without_barrier", [2, 32, 2], Hazard::SharedRace),
    ("copy_without_barrier", [1, 64, 1], Hazard::SharedRace),
    ("sum_of_all_blocks", [4, 32, 1], Hazard::GlobalRace),
];

fn module() -> Module {
    let target =
        root().join("target").join(if cfg!(debug_assertions) { "debug" } else { "release" });
    let path = CudaBuilder::new(root().join("crates/race_kernels"))
        .arch(NvvmArch::Compute90)
        .panic(PanicStrategy::Trap)
        .target_dir(target)
        .build()
        .expect("the kernels compile");
    Module::parse(&std::fs::read_to_string(path).expect("the builder wrote it"))
        .expect("our own PTX parses")
}

fn outcome(
    module: &Module,
    kernel: &str,
    grid: [u32; 3],
    way: (Schedule, usize),
) -> Result<Report, Error> {
    let mut memory = Memory::default();
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
    let begin = format!("{pair}, {pair}_broken,");
    let lines = SOURCE.lines().enumerate().skip_while(|(_, line)| !line.starts_with(&begin));
    let own = lines.take_while(|(_, line)| *line != "}}");
    own.filter(|(_, line)| line.ends_with("// race")).map(|(index, _)| index + 1).collect()
}

/// Whether a finding is the pair's, with both accesses at marked lines.
fn is_expected(found: &Finding, pair: &str, hazard: Hazard) -> bool {
    let marked = marked(pair);
    let is_marked = |source: &Option<String>| {
        let places =
            source.iter().flat_map(|source| source.split("race_kernels/src/lib.rs:").skip(1));
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
fn every_race_is_found_by_its_lines_and_no_twin_is_accused() {
    let module = module();
    let ways = [Schedule::Forward, Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];
    let ways = ways.into_iter().flat_map(|schedule| [(schedule, 1), (schedule, 4)]);
    let (mut missed, mut accused) = (Vec::new(), Vec::new());
    for ((pair, grid, hazard), way) in
        PAIRS.iter().flat_map(|pair| ways.clone().map(move |way| (pair, way)))
    {
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
    assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
    assert!(accused.is_empty(), "accused:\n{}", accused.join("\n"));
    assert_eq!(
        SOURCE.matches("\npair! {").count(),
        PAIRS.len(),
        "every pair of the source is in the table"
    );
}
