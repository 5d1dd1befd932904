#[path = "races/marked.rs"]
mod marked;

use marked::{Corpus, Pair};
use simt::{Hazard, Module};

const SOURCE: &str = include_str!("races/cuda.cu");
const PTX: &str = include_str!("races/cuda.ptx");

const PAIRS: &[Pair] = &[
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
    ("one_word_by_all", [1, 64, 1], Hazard::GlobalRace),
    ("maximum_of_warps", [1, 64, 1], Hazard::GlobalRace),
    ("first_value_by_a_block", [2, 32, 1], Hazard::GlobalRace),
    ("two_pairs_share_a_barrier", [1, 128, 1], Hazard::OtherOrder),
];

#[test]
fn every_race_of_the_cuda_corpus_is_found_by_its_lines_and_no_twin_is_accused() {
    let begin = |pair: &str| format!("PAIR({pair}) {{");
    let corpus = Corpus { source: SOURCE, file: "cuda.cu", begin, end: "}" };
    corpus.check(&Module::parse(PTX).expect("nvcc wrote it"), PAIRS);
    assert_eq!(SOURCE.matches("\nPAIR(").count(), PAIRS.len(), "every pair is in the table");
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
