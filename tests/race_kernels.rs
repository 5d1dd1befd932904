//! Races in Rust kernels, and reads out of bounds (`crates/race_kernels`).

#[path = "../crates/simt/tests/races/marked.rs"]
mod marked;

use crate::kernels_source::builder;
use cuda_builder::{NvvmArch, PanicStrategy};
use marked::{Corpus, Pair};
use simt::{Checks, Error, Hazard, Launch, Memory, Module, Options, run};

const SOURCE: &str = include_str!("../crates/race_kernels/src/lib.rs");

/// Rows and columns of a tile of the product, and the threads of its blocks in x and y.
const TILE: u32 = 16;

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
    ("one_word_by_all", [1, 64, 1], Hazard::GlobalRace),
    ("first_value_by_a_block", [2, 32, 1], Hazard::GlobalRace),
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

/// The product of matrices of these sizes by a kernel, and by the definition. Each matrix has so many words behind it in
/// its allocation, as in memory from a pool.
fn product(
    kernel: &str,
    (m, n, k): (u32, u32, u32),
    behind: usize,
) -> Result<(Vec<u32>, Vec<u32>), Error> {
    let mut memory = Memory::default();
    memory.track_initialization();
    let mut matrix = |name: &str, rows: u32, columns: u32| -> Result<(u64, Vec<u32>), Error> {
        let words: Vec<u32> =
            (0..(rows * columns) as usize + behind).map(|word| word as u32 % 7 + 1).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let address = memory.allocate_named(bytes.len() as u64, name)?;
        memory.write(address, &bytes)?;
        Ok((address, words))
    };
    let ((a, left), (b, right), (c, _)) =
        (matrix("a", m, k)?, matrix("b", k, n)?, matrix("c", m, n)?);
    let launch = Launch::new(kernel, [n.div_ceil(TILE), m.div_ceil(TILE), 1], [TILE, TILE, 1]);
    let launch = launch.address(a).address(b).address(c).u32(m).u32(n).u32(k);
    let options = Options { checks: Checks::all(), ..Options::default() };
    let report = run(&module(), &mut memory, &launch, &options)?;
    assert!(report.findings.is_empty(), "{kernel}: {}", report.findings[0]);
    let mut bytes = vec![0; 4 * (m * n) as usize];
    memory.read(c, &mut bytes)?;
    let words = bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")));
    let entry = |at: u32| {
        let (row, column) = (at / n, at % n);
        (0..k).map(|i| left[(row * k + i) as usize] * right[(i * n + column) as usize]).sum()
    };
    Ok((words.collect(), (0..m * n).map(entry).collect()))
}

/// "The tiled matrix product is bounds-checked": in the widespread form only the store is.
#[test]
fn the_tiled_product_that_guards_only_its_store_reads_out_of_bounds() {
    let whole = (2 * TILE, 3 * TILE, 2 * TILE);
    let ragged =
        [(TILE, TILE, TILE + 4), (TILE, TILE + 4, TILE), (TILE + 4, TILE, TILE), (1, 1, 1)];
    for kernel in ["tiled_product_guarded", "tiled_product_unguarded"] {
        let (found, expected) = product(kernel, whole, 0).expect("tiles divide the sizes");
        assert_eq!(found, expected, "{kernel}");
    }
    let marked: Vec<String> = SOURCE
        .lines()
        .enumerate()
        .filter(|(_, line)| line.ends_with("// out of bounds"))
        .map(|(index, _)| format!("race_kernels/src/lib.rs:{}", index + 1))
        .collect();
    assert_eq!(marked.len(), 2, "the loads of both tiles");
    for size in ragged {
        let (found, expected) = product("tiled_product_guarded", size, 0).expect("it is guarded");
        assert_eq!(found, expected, "{size:?}");
        let error =
            product("tiled_product_unguarded", size, 0).expect_err("it reads out of bounds");
        let Error::IllegalAddress { place, .. } = &error else { panic!("{size:?}: {error}") };
        assert_eq!(place.kernel, "tiled_product_unguarded");
        let source = place.source.as_deref().unwrap_or_default();
        assert!(marked.iter().any(|line| source.ends_with(line)), "{size:?}: {error}");
    }
    // Where other memory follows the matrices, as on a GPU, nobody sees the reads: the product is wrong.
    let (found, expected) =
        product("tiled_product_unguarded", ragged[0], 1 << 10).expect("the words are there");
    assert_ne!(found, expected);
    let (found, expected) = product("tiled_product_guarded", ragged[0], 1 << 10).expect("as above");
    assert_eq!(found, expected);
}
