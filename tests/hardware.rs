//! The executor against a GPU: what Nsight Compute counted, and what the kernels wrote.
//!
//! The measurements are committed; comparing them needs no GPU.

use crate::executor::{Verified, device, verified};
use coalesce::pattern::Size;
use coalesce::verify::{Digests, VerifyOutcome, case, verify};
use counters::{Counters, METRICS, constant_cache_requests};
use host::CATALOGUE;
use host::patterns::ALL as PATTERNS;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Made by `crates/simt/fixtures/collect.py OUTDIR coalesce`.
const PROFILE: &str = "../crates/simt/fixtures/patterns.json";
/// Made by `coalesce verify --digests FILE --device gpu`.
const OUTPUTS: &str = "../results/nvidia-h200/outputs.json";
/// Start of a kernel's name, part of a metric's name, how many times larger the GPU's value may be than
/// the executor's (or smaller), and why they differ.
const DIFFERENT: &[(&str, &str, f64, &str)] = &[
    ("", "lts__t_sectors_op", 2.0, "a request for the far half of L2 is counted in both halves"),
    ("atomics_compare_and_swap", "mem_global_op", f64::INFINITY, RETRIES),
    ("atomics_compare_and_swap", "lts__t_sectors_op", f64::INFINITY, RETRIES),
    ("atomics_compare_and_swap", "sectors_global", f64::INFINITY, RETRIES),
    ("atomics_compare_and_swap", "tag_requests_global", f64::INFINITY, RETRIES),
    ("distributed_shared_cluster", "mem_shared_op_atom", f64::INFINITY, REMOTE),
    ("distributed_shared_cluster", "memory_l1_wavefronts_shared", f64::INFINITY, REMOTE),
    ("distributed_shared_global", "mem_global_op", 1.001, RANDOM_MEETINGS),
    ("distributed_shared_parts", "mem_shared_op", f64::INFINITY, MEETINGS),
    ("distributed_shared_rows_l2", "global_ld", f64::INFINITY, LOOKS),
    ("distributed_shared_rows_l2", "sectors_global", 1.01, LOOKS),
    ("distributed_shared_rows_l2", "tag_requests_global", 1.02, LOOKS),
    ("distributed_shared_rows_l2", "global_op_st", 1.02, RELEASES),
    ("divergence_regrouped", "shared_op_st", f64::INFINITY, PLACES),
    ("divergence_regrouped", "memory_l1_wavefronts_shared", 1.15, PLACES),
    ("histogram_global_atomic", "mem_global_op", 1.06, RANDOM_MEETINGS),
    ("histogram_global_atomic", "sectors_global_ideal", 1.001, RANDOM_MEETINGS),
    ("histogram_large_histogram_global", "mem_global_op", 1.001, RANDOM_MEETINGS),
    ("histogram_large_histogram", "mem_shared_op", f64::INFINITY, MEETINGS),
    ("histogram_large_histogram_bulk", "lts__t_sectors_op", f64::INFINITY, BULK_ADDITIONS),
    ("local_memory_spilled_shared", "shared", f64::INFINITY, SPILLS),
    ("matmul_ab_shared", "shared_ld", 4.0, JOINED_LOADS),
    ("matmul_ab_shared", "shared_op_ld", 2.0, JOINED_LOADS),
    ("matmul_ab_shared", "memory_l1_wavefronts_shared", 2.0, JOINED_LOADS),
    ("matmul_aat_padded", "shared_ld", 1.7, JOINED_LOADS),
    ("matmul_aat_padded", "shared_op_ld", 1.4, JOINED_LOADS),
    ("matmul_aat_padded", "memory_l1_wavefronts_shared", 1.4, JOINED_LOADS),
    ("matmul_aat_tiled", "shared_ld", 1.7, JOINED_LOADS),
    ("matmul_aat_tiled", "shared_op_ld", 1.4, JOINED_LOADS),
    ("matmul_aat_tiled", "memory_l1_wavefronts_shared", 1.4, JOINED_LOADS),
    ("matmul_register_1d", "shared_ld", 3.1, JOINED_LOADS),
    ("matmul_register_1d", "shared_op_ld", 1.9, JOINED_LOADS),
    ("matmul_register_1d", "memory_l1_wavefronts_shared", 1.9, JOINED_LOADS),
    ("matmul_tiled", "shared_ld", 1.7, JOINED_LOADS),
    ("matmul_tiled", "shared_op_ld", 1.4, JOINED_LOADS),
    ("matmul_tiled", "memory_l1_wavefronts_shared", 1.4, JOINED_LOADS),
    ("matmul_warp_tiled", "op_ldgsts", 1.21, CONFLICTING_COPIES),
    ("matmul_warp_tiled", "memory_l1_wavefronts_shared", 1.04, CONFLICTING_COPIES),
    ("texture_bilinear_plain", "sectors_global_ideal", 1.1, SHARED_WORDS),
    ("texture_plain", "sectors_global_ideal", 1.06, SHARED_WORDS),
    ("texture_wrap_plain", "sectors_global_ideal", 1.02, SHARED_WORDS),
    ("matmul_tensor_mma_pipelined", "sectors_global", 1.8, EMPTY_COPIES),
    ("matmul_tensor_mma_pipelined", "op_ldgsts", f64::INFINITY, EMPTY_COPIES),
    ("matmul_tensor_mma_pipelined", "memory_l1_wavefronts_shared", 2.9, EMPTY_COPIES),
    ("matmul_tensor_wgmma_multicast", "mem_shared_op_st", 1.04, ARRIVALS),
    ("matmul_tensor_wgmma_persistent", "mem_shared_op_st", 1.04, ARRIVALS),
    ("matmul_tensor_wgmma", "memory_l1_wavefronts_shared", f64::INFINITY, PRODUCTS),
    ("memory_hierarchy_chase_l2", "", 2.0, "the profile has the launch by work of the host, too"),
    ("scan_look_back", "global_ld", f64::INFINITY, LOOKS),
    ("scan_look_back", "global_op_ld", f64::INFINITY, LOOKS),
    ("scan_look_back", "sectors_global", f64::INFINITY, LOOKS),
    ("scan_look_back", "tag_requests_global", f64::INFINITY, LOOKS),
    ("stencil_plane_r1_rolling", "sectors_global_ideal", 1.7, NARROWED),
    ("stencil_plane_r1_rolling", "bytes_per_sector_mem_global_op_ld", 2.0, NARROWED),
    ("stencil_plane_shared", "shared_op_st", f64::INFINITY, MEETINGS),
    ("stencil_volume_r1_rolling", "sectors_global_ideal", 1.4, NARROWED),
    ("stencil_volume_r1_rolling", "bytes_per_sector_mem_global_op_ld", 1.5, NARROWED),
    ("transpose_async_copy", "op_ldgsts", 1.01, INCOMPLETE_COPIES),
    ("transpose_async_copy", "memory_l1_wavefronts_shared", 1.01, INCOMPLETE_COPIES),
    ("scan_specialized_warps", "global_ld", f64::INFINITY, LOOKS),
    ("scan_specialized_warps", "global_op_ld", f64::INFINITY, LOOKS),
    ("scan_specialized_warps", "sectors_global", 1.01, LOOKS),
    ("scan_specialized_warps", "tag_requests_global", 1.02, LOOKS),
    ("scan_specialized_warps", "mem_shared_op_st", f64::INFINITY, ARRIVALS),
];
const BULK_ADDITIONS: &str =
    "the executor counts a bulk copy that adds as a copy, not as an atomic";
const RELEASES: &str = "one request more for each atomic that releases; nobody says what it is";
const SPILLS: &str = "PTX has as many registers as it names, and no spills";
const RANDOM_MEETINGS: &str = "how lanes with equal addresses are grouped is not documented";
const MEETINGS: &str = "accesses of several warps meet in shared memory, and some wait a wavefront";
const EMPTY_COPIES: &str =
    "the tiles beyond the last are copies of no bytes, and are counted there as copies";
const PRODUCTS: &str = "what the tensor cores read by themselves is counted there";
const RETRIES: &str =
    "a compare-and-swap that fails is made again; blocks that run in turn never fail";
const REMOTE: &str =
    "the GPU counts an atomic to another block's shared memory elsewhere, the executor here";
const PLACES: &str =
    "atomics give out places in shared memory in whatever order the warps of a GPU arrive";
const NARROWED: &str =
    "ptxas loads only the word that is used of a vector: as many sectors, fewer bytes";
const CONFLICTING_COPIES: &str = "copies of single words whose lanes conflict in pairs take 3 wavefronts; a register says how many bytes, so each pass counts twice here, which makes 4";
const LOOKS: &str =
    "a tile looks at those before it until they are done, which blocks that run in turn always are";
const ARRIVALS: &str = "copies land while a store goes on: some wavefronts more, which counters by instruction do not have";
const SHARED_WORDS: &str = "lanes ask for some words together, and the profiler's least sectors are neither those of the \
     distinct words nor those of the lanes";
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

/// Kernels of the catalogue whose counters are not compared: work of the host launches them, as often as its streams,
/// graphs and repetitions ask, and the profile adds up other launches than a test makes.
const NOT_COMPARED: &str = "
    batching_rows device_residency_chain device_residency_mix graphs_step graphs_step_early l2_persistence_add
    l2_persistence_add_evict_first l2_persistence_double managed_memory_mix overlap_iterate peer_to_peer_add peer_to_peer_all_reduce peer_to_peer_atomics
    peer_to_peer_chase peer_to_peer_copy_vectorized peer_to_peer_copy_words stream_semantics_work symbols_apply
    symbols_apply_constant symbols_apply_managed unified_addressing_increment zero_copy_reread zero_copy_rewrite zero_copy_scale zero_copy_strided
";
/// Those of them that are not in the profile either.
const NOT_PROFILED: &str = "
    device_residency_chain device_residency_mix graphs_step_early
    peer_to_peer_add peer_to_peer_all_reduce peer_to_peer_atomics peer_to_peer_chase peer_to_peer_copy_vectorized
    peer_to_peer_copy_words
";
/// Kernels, and parts of metrics, for which the profile has no value though the executor counted something: a variant
/// launches these kernels more than once, and ratios cannot be added.
const WITHOUT_VALUE: [&str; 7] = [
    "memory_hierarchy_chase_l2",
    "scan_blelloch",
    "scan_blelloch_padded",
    "scan_hillis_steele",
    "scan_shuffle",
    "scan_sums",
    "scan_vectorized",
];
const RATIOS: [&str; 2] = [
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
];

/// Requests to the constant cache, and the instructions that make them.
const CONSTANTS: [&str; 2] = ["idc__requests.sum", "smsp__inst_executed_op_ldc.sum"];
/// Loads of constants at fixed places: ptxas makes them operands of other instructions, which are no requests.
const CONSTANT_OPERANDS: f64 = 1024.0;
/// `LDC` of 128 warps that no indexed load of the PTX became: ptxas loads parameters and the stack pointer with them, three
/// or four per warp; those of `global`, eleven, are known from the profile only.
const LOADS_BY_PTXAS: [(&str, f64); 7] = [
    ("constant_memory_constant", 384.0),
    ("constant_memory_global", 1408.0),
    ("constant_memory_operand", 384.0 - CONSTANT_OPERANDS),
    ("constant_memory_parameter", 384.0),
    ("constant_memory_read_only", 512.0),
    ("constant_memory_register", 512.0),
    ("constant_memory_shared", 512.0),
];

#[test]
fn counters_of_every_variant_equal_the_profiled_ones() {
    let profile: Profile = read(PROFILE);
    let (_guard, gpu) = device();
    let (mut compared, mut launched) = (0, BTreeSet::new());
    let (mut without_value, mut excuses) = (Vec::new(), BTreeSet::new());
    let (mut problems, mut loads_by_ptxas) = (Vec::new(), Vec::new());
    for pattern in PATTERNS {
        // A kernel that several variants launch was profiled, and is counted here, in all of them.
        let mut kernels: BTreeMap<String, Counters> = BTreeMap::new();
        let size = Size::new(pattern.count_size);
        let case = case(pattern, &size, 1);
        let arrays = pattern.arrays(&gpu, &case).expect("the arrays fit");
        for variant in pattern.variants.iter().filter(|variant| !variant.is_host_work()) {
            let outcome = verify(&gpu, &case, &arrays, variant, &size).expect("it runs");
            assert_eq!(outcome, VerifyOutcome::Correct, "{}/{}", pattern.name, variant.name);
            for launch in gpu.virtual_device().expect("it is virtual").drain_launches() {
                *kernels.entry(launch.kernel).or_default() += launch.report.counters;
            }
        }
        for (kernel, counters) in kernels {
            let Some(measured) = profile.kernels.get(&kernel) else { continue };
            launched.insert(kernel.clone());
            // Where only ptxas's own loads are, some are predicated off, and `idc` does not count those.
            let is_listed = LOADS_BY_PTXAS.iter().any(|(listed, _)| *listed == kernel);
            if let [Some(requests), Some(ldc)] = CONSTANTS.map(|name| measured.get(name)) {
                if is_listed || counters.constant_load.requests > 0 {
                    assert_eq!(constant_cache_requests(&counters, *ldc), *requests, "{kernel}");
                }
                if is_listed {
                    let by_ptxas = ldc - counters.constant_load.requests as f64;
                    loads_by_ptxas.push((kernel.clone(), by_ptxas));
                }
            }
            for metric in METRICS {
                let values = metric.names.iter().map(|name| measured.get(*name).copied());
                let ours = (metric.counted)(&counters);
                // Nsight Compute has no value where nothing of the kind happened.
                let Some(theirs) = values.sum::<Option<f64>>().filter(|value| !value.is_nan())
                else {
                    if ours != 0.0 {
                        without_value.push((kernel.clone(), metric.names[0]));
                    }
                    continue;
                };
                compared += 1;
                if metric.agrees(&counters, theirs) {
                    continue;
                }
                let excuse = DIFFERENT.iter().position(|(start, part, factor, _)| {
                    let is_near =
                        factor.is_infinite() || theirs <= ours * factor && ours <= theirs * factor;
                    kernel.starts_with(start) && metric.names[0].contains(part) && is_near
                });
                match excuse {
                    Some(excuse) => drop(excuses.insert(excuse)),
                    None => problems.push(format!(
                        "{kernel}: {:?} is {theirs}, the executor says {ours}",
                        metric.names
                    )),
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    for (index, (start, part, _, why)) in DIFFERENT.iter().enumerate() {
        assert!(excuses.contains(&index), "`{start}`, `{part}` ({why}) excuses nothing any more");
    }
    let listed = LOADS_BY_PTXAS.iter().map(|(kernel, loads)| (kernel.to_string(), *loads));
    assert_eq!(loads_by_ptxas, listed.collect::<Vec<_>>(), "`LDC` that no indexed load became");
    let newest = CATALOGUE.images.last().expect("the program carries PTX");
    let all: BTreeSet<&str> = newest.kernels.iter().map(|facts| facts.kernel).collect();
    let not_compared: Vec<&str> =
        all.iter().copied().filter(|kernel| !launched.contains(*kernel)).collect();
    let listed: Vec<&str> = NOT_COMPARED.split_whitespace().collect();
    assert_eq!(not_compared, listed, "the kernels that are not compared, and their list");
    let profiled = profile.kernels.keys().filter(|kernel| !launched.contains(*kernel));
    let unused: Vec<&String> = profiled.collect();
    let is_profiled = |one: &&str| !NOT_PROFILED.split_whitespace().any(|other| other == *one);
    let listed: Vec<&str> = listed.into_iter().filter(is_profiled).collect();
    assert!(unused.iter().eq(&listed), "profiled and not compared: {unused:?}, listed: {listed:?}");
    let listed = WITHOUT_VALUE.iter().flat_map(|kernel| RATIOS.map(|ratio| (*kernel, ratio)));
    let listed: Vec<(&str, &str)> = listed.collect();
    let without_value = without_value.iter().map(|(kernel, metric)| (kernel.as_str(), *metric));
    assert_eq!(without_value.collect::<Vec<_>>(), listed, "counters without a profiled value");
    println!("{compared} counters equal those of the GPU");
}

/// Launches that no GPU has run yet: what is newer than the file of its outputs.
const NOT_RUN_BY_THE_GPU: &[&str] = &[];
/// Launches of the GPU that are no more.
const ONLY_RUN_BY_THE_GPU: &[&str] = &[];

#[test]
fn outputs_of_every_variant_equal_those_of_the_gpu() {
    let mut theirs: Digests = read(OUTPUTS);
    let correct = verified().iter().filter(|one| one.outcome == VerifyOutcome::Correct);
    let mut missing = Vec::new();
    let mut compared = 0;
    for Verified { launch, digests, .. } in correct {
        let Some(theirs) = theirs.remove(launch) else {
            missing.push(launch);
            continue;
        };
        compared += 1;
        assert_eq!(*digests, theirs, "{launch}: other bits than on the GPU");
    }
    println!("{compared} launches wrote the bits of the GPU");
    assert_eq!(missing, NOT_RUN_BY_THE_GPU, "launches without the GPU's outputs");
    let left: Vec<&String> = theirs.keys().collect();
    assert_eq!(left, ONLY_RUN_BY_THE_GPU, "outputs of the GPU without a launch");
}

/// Nsight Compute's counters of one warp's stores and copies are the laws' at the same places.
#[test]
fn stores_and_copies_of_a_warp_take_what_a_gpu_counted() {
    /// The kernel reads its two lists of places, too.
    const OF_PLACES: u32 = 8;
    let file = std::fs::File::open("../results/nvidia-h100/shared-accesses.csv.gz");
    let mut text = String::new();
    std::io::Read::read_to_string(
        &mut flate2::read::GzDecoder::new(file.expect("it is committed")),
        &mut text,
    )
    .expect("it is text");
    let (mut stores, mut copies, mut other) = (0, 0, Vec::new());
    for line in text.lines().skip(2) {
        let columns: Vec<&str> = line.split(',').collect();
        let [kernel, mask, places, passes, .., l2_sectors] = columns[..] else {
            panic!("a row has all columns: {line}")
        };
        let mask = u32::from_str_radix(mask, 16).expect("lanes");
        let places: Vec<u64> = places.split(' ').map(|it| it.parse().expect("a place")).collect();
        let addresses = |from: usize, bytes: u64| -> [u64; 32] {
            std::array::from_fn(|lane| places[from + lane] * bytes)
        };
        let counted = |figure: &str| figure.parse::<u32>().expect("a count");
        match kernel {
            "s_store8" | "s_store16" => {
                let bytes = if kernel == "s_store8" { 8 } else { 16 };
                let at = addresses(0, bytes);
                let (law, _) = counters::shared_store_wavefronts(mask, &at, bytes as u32);
                assert_eq!(law, counted(passes), "{line}");
                stores += 1;
            }
            "a_cg" => {
                let (source, target) = (addresses(0, 1), addresses(32, 1));
                if counters::copy_sectors(mask, &target, &source) + OF_PLACES != counted(l2_sectors)
                {
                    other.push(line);
                }
                copies += 1;
            }
            _ => {}
        }
    }
    assert_eq!((stores, copies), (451, 156));
    assert!(other.len() <= 3, "{} copies differ, such as {}", other.len(), other[0]);
}
