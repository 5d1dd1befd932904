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

/// Kernels of the catalogue and their twins of `peers.cu`, by a part of the mangled name; those of `twins.cu` have our names.
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
    ("matmul_tensor_wgmma_multicast", "24tensor_persistent_kernelILj2E"),
    ("matmul_tensor_wgmma_persistent", "24tensor_persistent_kernelILj1E"),
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

/// Reasons why kernels have more instructions than their twins, and those kernels.
const REASONS: &[(&str, &str)] = &[
    ("no contraction of a * b + c", "aos_soa_particle_aos aos_soa_particle_soa"),
    (
        "the loop of the last elements is unrolled more often",
        "coalescing_in_flight coalescing_vectorized_16 coarsening_consecutive_16 \
         coarsening_consecutive_4 coarsening_consecutive_8 coarsening_vectorized_16 \
         coarsening_vectorized_4 l2_persistence_add l2_persistence_add_evict_first peer_to_peer_add \
         peer_to_peer_copy_vectorized rgb_to_gray_red_aos rgb_to_gray_red_soa",
    ),
    (
        "the loop is unrolled more often",
        "distributed_shared_rows_global histogram_padded matmul_coalesced matmul_naive matmul_strip \
         matmul_tensor_mma_global memory_hierarchy_chase_constant memory_hierarchy_chase_global \
         memory_hierarchy_chase_texture stream_semantics_work",
    ),
    (
        "the loop is unrolled more often, and a division by zero is tested",
        "constant_memory_parameter constant_memory_read_only",
    ),
    ("a division by zero is tested", "batching_rows l2_persistence_double"),
    ("the loop over the array is unrolled six times and not five", "local_memory_indexed"),
    ("addresses are computed for each access: 64-bit indices are shortened", "local_memory_shared"),
    (
        "addresses are computed for each access",
        "atomics_shared coalescing_strided coalescing_vectorized_8 device_residency_chain \
         occupancy_vectorized_32 occupancy_words_2 zero_copy_strided",
    ),
    (
        "more moves and multiplications for addresses before the loop",
        "matmul_tiled matmul_tiled_i32",
    ),
    (
        "the chase is unrolled eight times as often; each step is one load and one address",
        "memory_hierarchy_chase_shared",
    ),
    (
        "a loop for the last elements, which the twin does not have",
        "occupancy_vectorized_16 occupancy_vectorized_64",
    ),
    (
        "the sum of two products of bytes is not found to be a dot product (IDP)",
        "rgb_to_gray_aos rgb_to_gray_four_bytes rgb_to_gray_soa",
    ),
    (
        "each of four texels is under its own condition, with its parameters loaded anew",
        "texture_array texture_array_tile texture_bilinear_array",
    ),
    ("the constant of each step is moved to a register first", "bank_conflicts_strided_write"),
    (
        "whole tiles have loops of their own for each form of copy",
        "async_copy_async_4 async_copy_async_8",
    ),
    ("the lowest lane of a mask is found by a population count", "atomics_warp_aggregated"),
    (
        "each sum is multiplied by one, or by zero where there is nothing to add up",
        "matmul_register_2d",
    ),
    (
        "what is not under a predicate is under a branch",
        "matmul_tensor_mma_swizzled matmul_tensor_naive scan_blelloch_padded stencil_line_vectorized",
    ),
    (
        "the registers of the sums are cleared one by one for each tile",
        "matmul_tensor_wgmma_multicast matmul_tensor_wgmma_persistent",
    ),
    ("addresses and constants are moved to registers", "stencil_plane_boxes"),
    ("addresses of each row are computed in uniform registers", "stencil_plane_r1_rolling"),
    ("the total of the block is stored, too", "peer_scan_f32"),
    (
        "a sum under a condition is a select and an addition, not one predicated addition",
        "peer_scan_items_u32 peer_scan_u32",
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

/// The PTX that nvcc makes of a file.
fn by_nvcc(source: &str) -> PathBuf {
    let nvcc = std::env::var_os("COALESCE_NVCC").map_or("nvcc".into(), PathBuf::from);
    let flags = std::env::var("COALESCE_NVCC_FLAGS").unwrap_or_default();
    let source = Path::new(ROOT).join(source);
    let ptx = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(source.file_name().expect("a file"))
        .with_extension("ptx");
    let done = Command::new(&nvcc)
        .args(["-O3", "-std=c++17", "-arch=sm_90a", "-ptx", "-o"])
        .arg(&ptx)
        .arg(&source)
        .args(flags.split_whitespace())
        .output()
        .expect("COALESCE_NVCC names nvcc");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    ptx
}

/// Writes the table: `COALESCE_NVCC=FILE COALESCE_NVCC_FLAGS="-I FOLDER" COALESCE_BLESS=1 cargo test --release
/// -p cuda_std_tests --test it -- code::beside_nvcc --ignored`.
#[test]
#[ignore = "needs nvcc with the headers of CUB and cuBLAS, and NVIDIA's assembler"]
fn beside_nvcc() {
    let twins = |source| of_ptx(&by_nvcc(source));
    let (catalogue, peers, same) = (
        ours("kernels", ""),
        twins("peers/peers.cu"),
        twins("crates/cuda_std_tests/peers/twins.cu"),
    );
    let (library, cub) =
        (ours("crates/cuda_std_tests", "peer_"), twins("crates/cuda_std_tests/peers/blocks.cu"));
    let of_catalogue = catalogue.iter().map(|(kernel, code)| {
        let twin = TWINS.iter().find(|(name, _)| name == kernel).map(|(_, twin)| *twin);
        let is_twin = |name: &str| twin.map_or(name == kernel, |twin| name.contains(twin));
        let mut found = peers.iter().chain(&same).filter(|(name, _)| is_twin(name));
        let (_, theirs) = found.next().unwrap_or_else(|| panic!("`{kernel}` has no twin"));
        assert!(found.next().is_none(), "`{kernel}` has several twins");
        (kernel.as_str(), *code, *theirs)
    });
    let of_library =
        library.iter().map(|(kernel, code)| (kernel.as_str(), *code, cub[kernel.as_str()]));
    let mut table = String::from(
        "kernel,our_registers,nvcc_registers,our_instructions,nvcc_instructions,ratio,reason\n",
    );
    for (kernel, ours, theirs) in of_catalogue.chain(of_library) {
        let ratio = ours.1 as f64 / theirs.1 as f64;
        let is_of =
            |kernels: &str| ratio > MORE && kernels.split_whitespace().any(|one| one == kernel);
        let reason =
            REASONS.iter().find(|(_, kernels)| is_of(kernels)).map_or("", |(reason, _)| reason);
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
    assert!(rows.len() > 280, "{} rows", rows.len());
    for row in rows {
        let ratio: f64 = row[5].parse().expect("a ratio");
        assert!(ratio <= MORE || row[6].len() > 2, "`{}` has no reason for {ratio}", row[0]);
    }
}

/// Writes our PTX with the kernels of `twins.cu` in place of ours to the file that `COALESCE_TWINS_PTX` names:
/// `COALESCE_PTX=FILE coalesce verify` then verifies those as it does ours, and `bench` measures them.
#[test]
#[ignore = "needs nvcc, and writes a file"]
fn twins_in_place_of_ours() {
    let path = std::env::var_os("COALESCE_TWINS_PTX").expect("COALESCE_TWINS_PTX names a file");
    let builder = CudaBuilder::new(Path::new(ROOT).join("kernels")).arch(NvvmArch::Compute90a);
    let ours = builder.target_dir(target()).build().expect("the kernels compile");
    let read = |path: &Path| std::fs::read_to_string(path).expect("it was written");
    let (ours, theirs) = (read(&ours), read(&by_nvcc("crates/cuda_std_tests/peers/twins.cu")));
    let (head, statements) = theirs.split_once(".address_size 64").expect("PTX has a head");
    let (_, kept) = ours.split_once(".address_size 64").expect("PTX has a head");
    // Theirs come first: what ours use of them is declared before.
    let mut text = format!("{head}.address_size 64{statements}\n");
    // What is at the first column begins a statement, and each of a kernel ends with a brace there.
    let mut keeps = true;
    for line in kept.lines() {
        let name = line.split(".entry ").nth(1).map(|rest| rest.trim_end_matches(['(', ')']));
        keeps &= !name.is_some_and(|name| theirs.contains(&format!(".entry {name}(")));
        let word = line.split(['[', ';']).next().and_then(|line| line.split(' ').next_back());
        let is_theirs = line.starts_with(".visible .")
            && name.is_none()
            && word.is_some_and(|word| statements.contains(&format!(" {word}[")));
        if keeps && !is_theirs {
            text.push_str(line);
            text.push('\n');
        }
        keeps |= line == "}";
    }
    std::fs::write(path, text).expect("the file can be written");
}
