//! Races in Rust kernels (`crates/race_kernels`).

#[path = "../crates/simt/tests/races/marked.rs"]
mod marked;

use crate::kernels_source::builder;
use cuda_builder::{NvvmArch, PanicStrategy};
use marked::{Corpus, Pair};
use simt::{Hazard, Module};

const SOURCE: &str = include_str!("../crates/race_kernels/src/lib.rs");

const PAIRS: &[Pair] = &[
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
    let path = builder("crates/race_kernels", NvvmArch::Compute90)
        .panic(PanicStrategy::Trap)
        .build()
        .expect("the kernels compile");
    Module::parse(&std::fs::read_to_string(path).expect("the builder wrote it"))
        .expect("our own PTX parses")
}

#[test]
fn every_race_is_found_by_its_lines_and_no_twin_is_accused() {
    let begin = |pair: &str| format!("{pair}, {pair}_broken,");
    let corpus = Corpus { source: SOURCE, file: "race_kernels/src/lib.rs", begin, end: "}}" };
    corpus.check(&module(), PAIRS);
    assert_eq!(SOURCE.matches("\npair! {").count(), PAIRS.len(), "every pair is in the table");
}
