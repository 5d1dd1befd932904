//! Machine code of our kernels beside that of the same algorithm by nvcc: registers and instructions, in `results/code.csv`.

use cuda_builder::ptxas::{self, Resources};
use cuda_builder::{CudaBuilder, NvvmArch, PanicStrategy};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Part by which a kernel may have more instructions without a reason.
const MORE: f64 = 1.05;

/// Kernels of the catalogue and their twins of `peers`, by a part of the mangled name.
const TWINS: &[(&str, &str)] = &[
    ("aos_soa_particle_aos", "22energies_of_structuresE"),
    ("aos_soa_particle_soa", "18energies_of_fieldsE"),
    ("async_copy_bulk", "17add_partners_bulkE"),
    ("async_copy_pipelined", "22add_partners_pipelinedE"),
    ("atomics_global", "20add_in_device_memoryE"),
    ("atomics_sum_last_block", "17sum_by_last_blockE"),
    ("bank_conflicts_padded", "11walk_paddedE"),
    ("bank_conflicts_swizzled", "13walk_swizzledE"),
    ("bus_utilization_random_ca", "17copy_random_wordsILb1E"),
    ("bus_utilization_random_cg", "17copy_random_wordsILb0E"),
    ("cache_operators_plain", "7look_upINS_9LoadPlainES1_E"),
    ("cache_operators_stream_cs", "7look_upINS_13LoadStreamingENS_9LoadPlainE"),
    ("cache_operators_table_nc", "7look_upINS_9LoadPlainENS_12LoadReadOnlyE"),
    ("coalescing_scalar", "10copy_wordsE"),
    ("coalescing_vectorized_16", "10copy_quadsE"),
    ("coarsening_consecutive_8", "11scale_itemsILi8ELb1E"),
    ("coarsening_strided_8", "11scale_itemsILi8ELb0E"),
    ("coarsening_vectorized_16", "13scale_vectorsE"),
    ("constant_memory_constant", "16walk_in_constantE"),
    ("constant_memory_shared", "14walk_in_sharedE"),
    ("distributed_shared_cluster", "15bins_in_clusterE"),
    ("distributed_shared_global", "21bins_in_device_memoryE"),
    ("divergence_branched", "10take_pathsE"),
    ("histogram_coarsened", "14count_in_banksE"),
    ("local_memory_indexed", "14count_in_localE"),
    ("local_memory_shared", "15count_in_sharedE"),
    ("matmul_aat_padded", "16times_transposedE"),
    ("matmul_ab_shared_ab", "16matmul_in_sharedE"),
    ("matmul_tensor_mma_pipelined", "20tensor_mma_pipelinedE"),
    ("matmul_tensor_wgmma", "19tensor_wgmma_kernelE"),
    ("matmul_tiled", "12matmul_tilesE"),
    ("matmul_warp_tiled", "12matmul_warpsE"),
    ("memory_hierarchy_chase_shared", "12follow_chainE"),
    ("memory_hierarchy_read_global", "10read_roundE"),
    ("misalignment_shifted", "12copy_shiftedE"),
    ("occupancy_vectorized_16", "11copy_roundsILi1E"),
    ("occupancy_vectorized_64", "11copy_roundsILi4E"),
    ("reduction_vectorized", "9sum_quadsE"),
    ("rgb_to_gray_aos", "14gray_of_pixelsE"),
    ("rgb_to_gray_aos_staged", "19gray_through_sharedE"),
    ("rgb_to_gray_soa", "14gray_of_planesE"),
    ("scan_look_back", "17scan_looking_backE"),
    ("scan_look_back_async", "19scan_past_registersE"),
    ("scan_specialized_warps", "14scan_in_stagesE"),
    ("stencil_plane_global", "13star_of_planeE"),
    ("stencil_plane_rolling", "15roll_down_planeE"),
    ("store_segments_consecutive", "10fill_linesE"),
    ("store_segments_partial", "17fill_half_sectorsE"),
    ("stride_gather", "6gatherE"),
    ("texture_array", "14resample_arrayILb0E"),
    ("texture_array_tile", "14resample_arrayILb1E"),
    ("texture_bilinear_plain", "17resample_bilinearE"),
    ("texture_plain", "14resample_plainILb0E"),
    ("texture_plain_tile", "14resample_plainILb1E"),
    ("transpose_padded", "18transpose_in_tilesE"),
];

/// Reasons why kernels have more instructions than their twins.
const REASONS: &[(&str, &str)] = &[
    ("aos_soa_particle_aos", "no contraction of a * b + c"),
    ("aos_soa_particle_soa", "no contraction of a * b + c"),
    ("coalescing_vectorized_16", "the loop of the last elements is unrolled more often"),
    ("coarsening_consecutive_8", "the loop of the last elements is unrolled more often"),
    ("coarsening_vectorized_16", "the loop of the last elements is unrolled more often"),
    ("local_memory_indexed", "the loop over the array is unrolled six times and not five"),
    ("local_memory_shared", "addresses are computed for each access: 64-bit indices are shortened"),
    ("matmul_tiled", "more moves and multiplications for addresses before the loop"),
    (
        "memory_hierarchy_chase_shared",
        "the chase is unrolled eight times as often; each step is one load and one address",
    ),
    ("occupancy_vectorized_16", "a loop for the last elements, which the twin does not have"),
    ("occupancy_vectorized_64", "a loop for the last elements, which the twin does not have"),
    ("rgb_to_gray_aos", "the sum of two products of bytes is not found to be a dot product (IDP)"),
    ("rgb_to_gray_soa", "the sum of two products of bytes is not found to be a dot product (IDP)"),
    (
        "texture_array",
        "each of four texels is under its own condition, with its parameters loaded anew",
    ),
    (
        "texture_array_tile",
        "each of four texels is under its own condition, with its parameters loaded anew",
    ),
    ("peer_scan_f32", "the total of the block is stored, too"),
    (
        "peer_scan_u32",
        "a sum under a condition is a select and an addition, not one predicated addition",
    ),
    (
        "peer_scan_items_u32",
        "a sum under a condition is a select and an addition, not one predicated addition",
    ),
];

/// Instructions of each kernel by its name in a listing, without what fills up the last lines.
fn lengths(listing: &str) -> BTreeMap<String, usize> {
    let mut lengths = BTreeMap::new();
    let mut kernel = String::new();
    let mut found = 0;
    for line in listing.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix(".section\t.text.") {
            kernel = section.split(',').next().unwrap_or_default().to_owned();
            found = 0;
        }
        let Some((_, code)) = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) else {
            continue;
        };
        if !code.trim_end().ends_with(';') && !code.contains(" ;") {
            continue;
        }
        found += 1;
        let opcode = code.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("");
        if !opcode.starts_with("NOP") && !opcode.starts_with("BRA") {
            lengths.insert(kernel.clone(), found);
        }
    }
    lengths
}

/// Machine code: registers and instructions of each kernel.
fn of_cubin(cubin: &Path, resources: &[Resources]) -> BTreeMap<String, (u32, usize)> {
    let tool = ptxas::find_tool("nvdisasm", target()).expect("nvdisasm: cargo xtask setup --sass");
    let listing = ptxas::disassemble_all(&tool, cubin).expect("it is machine code");
    let lengths = lengths(&listing);
    let of = |one: &Resources| {
        let length = lengths.get(&one.kernel).unwrap_or_else(|| panic!("no {}", one.kernel));
        (one.kernel.clone(), (one.registers, *length))
    };
    resources.iter().map(of).collect()
}

fn target() -> &'static Path {
    crate::codegen::target_dir()
}

fn ours(krate: &str, kernels: &str) -> BTreeMap<String, (u32, usize)> {
    let builder = CudaBuilder::new(Path::new(ROOT).join(krate)).arch(NvvmArch::Compute90a);
    let builder = if kernels.is_empty() { builder } else { builder.only_kernels(kernels) };
    let ptx = builder.panic(PanicStrategy::Trap).target_dir(crate::codegen::target_dir()).build();
    of_ptx(&ptx.expect("the kernels compile"))
}

fn of_ptx(ptx: &Path) -> BTreeMap<String, (u32, usize)> {
    let tool = ptxas::find_tool("ptxas", target()).expect("ptxas: cargo xtask setup --sass");
    let cubin = ptx.with_extension("code.cubin");
    let resources = ptxas::assemble(&tool, ptx, "sm_90a", Some(&cubin)).expect("it is PTX");
    of_cubin(&cubin, &resources)
}

/// The twins by nvcc, as PTX that the same assembler takes.
fn twins(source: &str) -> BTreeMap<String, (u32, usize)> {
    let nvcc = std::env::var_os("COALESCE_NVCC").map_or("nvcc".into(), PathBuf::from);
    let flags = std::env::var("COALESCE_NVCC_FLAGS").unwrap_or_default();
    let source = Path::new(ROOT).join(source);
    let ptx = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(source.file_name().expect("a file"))
        .with_extension("ptx");
    let done = Command::new(&nvcc)
        .args(["-O3", "-std=c++17", "-arch=sm_90a", "-ptx", "-DKERNELS_ONLY", "-o"])
        .arg(&ptx)
        .arg(&source)
        .args(flags.split_whitespace())
        .output()
        .expect("COALESCE_NVCC names nvcc");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    of_ptx(&ptx)
}

/// Writes the table: `COALESCE_NVCC=FILE COALESCE_NVCC_FLAGS="-I FOLDER" COALESCE_BLESS=1 cargo test --release
/// -p cuda_std_tests --test it -- code::beside_nvcc --ignored`.
#[test]
#[ignore = "needs nvcc with the headers of CUB and cuBLAS, and NVIDIA's assembler"]
fn beside_nvcc() {
    let (catalogue, theirs) = (ours("kernels", ""), twins("peers/peers.cu"));
    let (library, cub) =
        (ours("crates/cuda_std_tests", "peer_"), twins("crates/cuda_std_tests/peers/blocks.cu"));
    let of_catalogue = TWINS.iter().map(|&(kernel, twin)| {
        let mut found = theirs.iter().filter(|(name, _)| name.contains(twin));
        let (_, code) = found.next().unwrap_or_else(|| panic!("there is no twin `{twin}`"));
        assert!(found.next().is_none(), "there are several twins `{twin}`");
        (kernel, catalogue[kernel], *code)
    });
    let of_library =
        library.iter().map(|(kernel, code)| (kernel.as_str(), *code, cub[kernel.as_str()]));
    let mut table = String::from(
        "kernel,our_registers,nvcc_registers,our_instructions,nvcc_instructions,ratio,reason\n",
    );
    for (kernel, ours, theirs) in of_catalogue.chain(of_library) {
        let ratio = ours.1 as f64 / theirs.1 as f64;
        let reason = REASONS.iter().find(|(name, _)| *name == kernel && ratio > MORE);
        let reason = reason.map_or("", |(_, reason)| reason);
        let _ = writeln!(
            table,
            "{kernel},{},{},{},{},{ratio:.2},\"{reason}\"",
            ours.0, theirs.0, ours.1, theirs.1
        );
    }
    let path = Path::new(ROOT).join("results/code.csv");
    if std::env::var_os("COALESCE_BLESS").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the table is committed");
    assert!(committed == table, "results/code.csv is not what both compilers make:\n{table}");
}

#[test]
fn each_kernel_with_more_instructions_than_its_twin_has_a_reason() {
    let path = Path::new(ROOT).join("results/code.csv");
    let table = std::fs::read_to_string(path).expect("the table is committed");
    let rows: Vec<Vec<&str>> =
        table.lines().skip(1).map(|line| line.splitn(7, ',').collect()).collect();
    assert!(rows.len() > 70, "{} rows", rows.len());
    for row in rows {
        let ratio: f64 = row[5].parse().expect("a ratio");
        assert!(ratio <= MORE || row[6].len() > 2, "`{}` has no reason for {ratio}", row[0]);
    }
}
