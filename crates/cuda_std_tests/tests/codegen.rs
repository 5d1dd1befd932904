//! The PTX of each kernel has the instruction that the documentation of its function promises.

use cuda_builder::{CudaBuilder, NvvmArch};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

/// Entries by name, for one target.
pub type Entries = BTreeMap<String, String>;

static SM_70: LazyLock<Entries> = LazyLock::new(|| build(70));
static SM_80: LazyLock<Entries> = LazyLock::new(|| build(80));
pub static SM_90: LazyLock<Entries> = LazyLock::new(|| build(90));

fn build(capability: u32) -> Entries {
    entries(&ptx(capability))
}

/// Returns the folder of intermediate files: with those of all other crates of kernels.
pub fn target_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder")
}

/// Builds the kernels of this crate for a compute capability.
///
/// Where they cannot be built, `COALESCE_FUNCTIONS_PTX` names a file that has been.
pub fn ptx(capability: u32) -> String {
    if let Some(path) = std::env::var_os("COALESCE_FUNCTIONS_PTX") {
        return std::fs::read_to_string(path).expect("COALESCE_FUNCTIONS_PTX names a file");
    }
    let arch = NvvmArch::from_capability(capability).expect("a known compute capability");
    let path = CudaBuilder::new(env!("CARGO_MANIFEST_DIR"))
        .arch(arch)
        .target_dir(target_dir())
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(path).expect("the builder has just written it")
}

/// Splits PTX into its entries: the head with the directives, and the instructions.
fn entries(ptx: &str) -> Entries {
    let mut entries = Entries::new();
    let mut name = None;
    let mut text = String::new();
    for line in ptx.lines() {
        if let Some(rest) = line.split(".entry ").nth(1) {
            name = Some(rest.trim_end_matches(['(', ')']).to_owned());
            text.clear();
        }
        if name.is_none() || line.trim_start().starts_with("//") {
            continue;
        }
        // One blank between words, whatever the backend wrote, and no comments.
        let code = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        text.push_str(&words.join(" "));
        text.push('\n');
        if line == "}" {
            entries.insert(name.take().expect("an entry has a name"), text.clone());
        }
    }
    entries
}

fn count(text: &str, pattern: &str) -> usize {
    text.matches(pattern).count()
}

/// Checks that kernels contain texts, in the order given.
#[track_caller]
fn contain(entries: &Entries, facts: &[(&str, &[&str])]) {
    for (kernel, patterns) in facts {
        let text = entries.get(*kernel).unwrap_or_else(|| panic!("there is no entry `{kernel}`"));
        let mut rest = text.as_str();
        for pattern in *patterns {
            let at = rest.find(pattern).unwrap_or_else(|| {
                panic!("`{kernel}` has no `{pattern}` (in this order):\n{text}")
            });
            rest = &rest[at + pattern.len()..];
        }
    }
}

/// Checks that kernels do not contain texts.
#[track_caller]
fn lack(entries: &Entries, kernels: &[&str], patterns: &[&str]) {
    for kernel in kernels {
        let text = entries.get(*kernel).unwrap_or_else(|| panic!("there is no entry `{kernel}`"));
        for pattern in patterns {
            assert!(!text.contains(pattern), "`{kernel}` has `{pattern}`:\n{text}");
        }
    }
}

#[test]
fn thread_indices_are_special_registers() {
    contain(
        &SM_70,
        &[
            ("thread_idx_x", &["%tid.x"]),
            ("thread_idx_y", &["%tid.y"]),
            ("thread_idx_z", &["%tid.z"]),
            ("block_idx_x", &["%ctaid.x"]),
            ("block_idx_y", &["%ctaid.y"]),
            ("block_idx_z", &["%ctaid.z"]),
            ("block_dim_x", &["%ntid.x"]),
            ("block_dim_y", &["%ntid.y"]),
            ("block_dim_z", &["%ntid.z"]),
            ("grid_dim_x", &["%nctaid.x"]),
            ("grid_dim_y", &["%nctaid.y"]),
            ("grid_dim_z", &["%nctaid.z"]),
            ("warp_size", &["st.global.b32 [%rd4], 32"]),
            ("dynamic_smem_size", &["%dynamic_smem_size"]),
            ("total_smem_size", &["%total_smem_size"]),
            ("index_1d", &["mad.lo.s32"]),
            ("index_2d", &["mad.lo.s32"]),
            ("index_3d", &["mad.lo.s32"]),
            ("index_of_launch", &["mad.lo.s32"]),
        ],
    );
    for kernel in ["index_vectors", "first"] {
        contain(&SM_70, &[(kernel, &["%tid.x"]), (kernel, &["%ctaid.z"])]);
    }
}

#[test]
fn block_barriers() {
    contain(
        &SM_70,
        &[
            ("sync_threads", &["ld.global", "bar.sync 0;", "st.global"]),
            ("sync_threads_count", &["bar.red.popc.u32", ", 0, %p"]),
            ("sync_threads_and", &["bar.red.and.pred", ", 0, %p"]),
            ("sync_threads_or", &["bar.red.or.pred", ", 0, %p"]),
            ("named_barriers", &["bar.arrive 1, 64;"]),
            ("named_barriers", &["bar.sync 1, 64;"]),
            ("nanosleep", &["nanosleep.u32 100;"]),
        ],
    );
}

/// A barrier between two branches on the same condition must stay one instruction: the lanes of a
/// warp that go through copies of it in different branches do not meet.
#[test]
fn a_barrier_is_not_copied_into_branches() {
    for kernel in ["bulk_copies", "shared_histogram", "unknown_space"] {
        let text = &SM_90[kernel];
        assert_eq!(count(text, "bar.sync"), 2, "{text}");
    }
    assert_eq!(count(&SM_90["mbarrier_phases"], "bar.sync"), 1);
}

#[test]
fn fences_have_their_scope_and_stay_between_the_stores() {
    contain(
        &SM_70,
        &[
            ("block_fence", &["st.global", "membar.cta;", "st.global"]),
            ("grid_fence", &["st.global", "membar.gl;", "st.global"]),
            ("device_fence", &["st.global", "membar.gl;", "st.global"]),
            ("system_fence", &["st.global", "membar.sys;", "st.global"]),
            ("fence_block_acq_rel", &["st.global", "fence.acq_rel.cta;", "st.global"]),
            ("fence_block_seq_cst", &["st.global", "fence.sc.cta;", "st.global"]),
            ("fence_device_release", &["st.global", "fence.acq_rel.gpu;", "st.global"]),
            ("fence_device_seq_cst", &["st.global", "fence.sc.gpu;", "st.global"]),
            ("fence_system_acquire", &["st.global", "fence.acq_rel.sys;", "st.global"]),
            ("fence_system_seq_cst", &["st.global", "fence.sc.sys;", "st.global"]),
        ],
    );
    lack(&SM_70, &["fence_relaxed"], &["fence.", "membar."]);
}

#[test]
fn warp_functions() {
    contain(
        &SM_70,
        &[
            ("lane_id", &["%laneid"]),
            ("lane_mask_eq", &["%lanemask_eq"]),
            ("lane_mask_lt", &["%lanemask_lt"]),
            ("lane_mask_le", &["%lanemask_le"]),
            ("lane_mask_gt", &["%lanemask_gt"]),
            ("lane_mask_ge", &["%lanemask_ge"]),
            ("activemask", &["activemask.b32"]),
            ("sync_warp", &["ld.global", "bar.warp.sync -1;", "st.global"]),
            ("vote_all", &["vote.sync.all.pred", "-1;"]),
            ("vote_any", &["vote.sync.any.pred", "-1;"]),
            ("vote_uniform", &["vote.sync.uni.pred", "-1;"]),
            ("vote_ballot", &["vote.sync.ballot.b32", "-1;"]),
            ("match_any_u32", &["match.any.sync.b32", "-1;"]),
            ("match_any_i64", &["match.any.sync.b64", "-1;"]),
            ("match_any_f32", &["match.any.sync.b32", "-1;"]),
            ("match_all_u32", &["match.all.sync.b32", "|%p", "-1;"]),
            ("match_all_u64", &["match.all.sync.b64", "|%p", "-1;"]),
        ],
    );
    // The votes' results are stored as they are, not inverted.
    contain(&SM_70, &[("vote_all", &["selp.b32", ", 1, 0, %p"]), ("vote_any", &["1, 0, %p"])]);
    contain(
        &SM_80,
        &[
            ("reduce_add_u32", &["redux.sync.add.s32"]),
            ("reduce_add_i32", &["redux.sync.add.s32"]),
            ("reduce_min_u32", &["redux.sync.min.u32"]),
            ("reduce_min_i32", &["redux.sync.min.s32"]),
            ("reduce_max_u32", &["redux.sync.max.u32"]),
            ("reduce_max_i32", &["redux.sync.max.s32"]),
            ("reduce_and_u32", &["redux.sync.and.b32"]),
            ("reduce_or_u32", &["redux.sync.or.b32"]),
            ("reduce_xor_u32", &["redux.sync.xor.b32"]),
        ],
    );
    contain(&SM_90, &[("elect", &["elect.sync"])]);
}

#[test]
fn tensor_cores() {
    contain(
        &SM_80,
        &[
            ("m16n8k8_f32_f16", &["mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"]),
            ("m16n8k16_f32_f16", &["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]),
            ("m16n8k8_f16_f16", &["mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"]),
            ("m16n8k16_f16_f16", &["mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"]),
            ("m16n8k8_f32_bf16", &["mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32"]),
            ("m16n8k16_f32_bf16", &["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"]),
            ("m16n8k4_f32_tf32", &["mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"]),
            ("m16n8k8_f32_tf32", &["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"]),
            ("m16n8k16_i32_i8_i8", &["mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"]),
            ("m16n8k16_i32_i8_u8", &["mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32"]),
            ("m16n8k16_i32_u8_i8", &["mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32"]),
            ("m16n8k16_i32_u8_u8", &["mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32"]),
            ("m16n8k32_i32_i8_i8", &["mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"]),
            ("m16n8k32_i32_i8_u8", &["mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"]),
            ("m16n8k32_i32_u8_i8", &["mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"]),
            ("m16n8k32_i32_u8_u8", &["mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32"]),
            ("m8n8k4_f64", &["mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"]),
            ("nearest_tf32", &["cvt.rna.tf32.f32"]),
            ("ldmatrix_x1", &["ldmatrix.sync.aligned.m8n8.x1.shared.b16"]),
            ("ldmatrix_x2", &["ldmatrix.sync.aligned.m8n8.x2.shared.b16"]),
            ("ldmatrix_x4", &["ldmatrix.sync.aligned.m8n8.x4.shared.b16"]),
            ("ldmatrix_x1_trans", &["ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16"]),
            ("ldmatrix_x2_trans", &["ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"]),
            ("ldmatrix_x4_trans", &["ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"]),
        ],
    );
    contain(
        &SM_90,
        &[
            ("stmatrix_x1", &["stmatrix.sync.aligned.m8n8.x1"]),
            ("stmatrix_x2", &["stmatrix.sync.aligned.m8n8.x2"]),
            ("stmatrix_x4", &["stmatrix.sync.aligned.m8n8.x4"]),
            ("stmatrix_x1_trans", &["stmatrix.sync.aligned.m8n8.x1.trans"]),
            ("stmatrix_x2_trans", &["stmatrix.sync.aligned.m8n8.x2.trans"]),
            ("stmatrix_x4_trans", &["stmatrix.sync.aligned.m8n8.x4.trans"]),
        ],
    );
}

/// The lanes of a warp that go through copies of it in different branches do not meet.
#[test]
fn a_product_is_not_copied_or_moved_into_branches() {
    assert_eq!(count(&SM_80["product_between_branches"], "mma.sync"), 1);
    contain(&SM_80, &[("product_of_one_lane", &["mma.sync", "bra", "st.global"])]);
    assert_eq!(count(&SM_80["product_of_one_lane"], "mma.sync"), 1);
}

/// The third operand is `(32 - width) << 8`, and 31 below it except for a shuffle up.
#[test]
fn shuffles_have_their_clamp() {
    contain(
        &SM_70,
        &[
            ("shuffle_down_u32", &["shfl.sync.down.b32", ", 3, 31, -1;"]),
            ("shuffle_down_width_8", &["shfl.sync.down.b32", ", 3, 6175, -1;"]),
            ("shuffle_up_u32", &["shfl.sync.up.b32", ", 3, 0, -1;"]),
            ("shuffle_up_width_8", &["shfl.sync.up.b32", ", 3, 6144, -1;"]),
            ("shuffle_idx_u32", &["shfl.sync.idx.b32", ", 5, 31, -1;"]),
            ("shuffle_idx_width_8", &["shfl.sync.idx.b32", ", 5, 6175, -1;"]),
            ("shuffle_xor_u32", &["shfl.sync.bfly.b32", ", 16, 31, -1;"]),
            ("shuffle_xor_width_8", &["shfl.sync.bfly.b32", ", 9, 6175, -1;"]),
        ],
    );
    let words = [
        ("u8", 1),
        ("i8", 1),
        ("u16", 1),
        ("i16", 1),
        ("i32", 1),
        ("f16", 1),
        ("bf16", 1),
        ("f32", 1),
        ("u64", 2),
        ("i64", 2),
        ("f64", 2),
        ("u128", 4),
        ("i128", 4),
    ];
    for (kind, shuffles) in words {
        let text = &SM_70[&format!("shuffle_down_{kind}")];
        assert_eq!(count(text, "shfl.sync.down.b32"), shuffles, "{text}");
    }
}

#[test]
fn vectors_move_in_one_instruction() {
    for (kind, suffix) in [
        ("f32x2", "v2.b32"),
        ("u32x2", "v2.b32"),
        ("i32x2", "v2.b32"),
        ("u16x4", "v2.b32"),
        ("u8x8", "v2.b32"),
        ("f32x4", "v4.b32"),
        ("u32x4", "v4.b32"),
        ("i32x4", "v4.b32"),
        ("u16x8", "v4.b32"),
        ("u8x16", "v4.b32"),
        ("f64x2", "v2.b64"),
        ("u64x2", "v2.b64"),
        ("i64x2", "v2.b64"),
        ("u8x4", "b32"),
    ] {
        let kernel = format!("copy_{kind}");
        let text = &SM_80[&kernel];
        assert_eq!(count(text, &format!("ld.global.{suffix}")), 1, "{text}");
        assert_eq!(count(text, "ld.global"), 1, "{text}");
        assert_eq!(count(text, &format!("st.global.{suffix}")), 1, "{text}");
        assert_eq!(count(text, "st.global"), 1, "{text}");
    }
    contain(
        &SM_80,
        &[
            ("copy_slices", &["ld.global.nc.v4.b32", "st.global.v4.b32"]),
            ("swap_vectors", &["ld.global.v4.b32", "ld.global.v4.b32", "st.global.v4.b32"]),
            ("load_store_functions", &["ld.global.v4.b32", "st.global.v4.b32"]),
            ("vector_fields", &["ld.global.v4.b32", "add.rn.f32", "st.global.v4.b32"]),
            ("vector_arithmetic", &["ld.global.v4.b32", "mul.rn.f32", "st.global.v4.b32"]),
            ("shared_vectors", &["ld.global.v4.b32", "st.shared.v4.b32"]),
            ("shared_vectors", &["bar.sync", "ld.shared.v4.b32", "st.global.v4.b32"]),
        ],
    );
    lack(
        &SM_80,
        &["swap_vectors", "vector_fields", "vector_arithmetic", "shared_vectors"],
        &[".local", "\nld.b", "\nst.b"],
    );
}

#[test]
fn cache_operators() {
    contain(
        &SM_80,
        &[
            ("ca_wb_f32", &["ld.global.ca.b32", "st.global.wb.b32"]),
            ("cg_cg_f32", &["ld.global.cg.b32", "st.global.cg.b32"]),
            ("cs_cs_f32", &["ld.global.cs.b32", "st.global.cs.b32"]),
            ("lu_wt_f32", &["ld.global.lu.b32", "st.global.wt.b32"]),
            ("cv_wt_f32", &["ld.global.cv.b32", "st.global.wt.b32"]),
            ("nc_wb_f32", &["ld.global.nc.b32", "st.global.wb.b32"]),
            (
                "nc_no_allocate_f32",
                &["ld.global.nc.L1::no_allocate.b32", "st.global.L1::no_allocate.b32"],
            ),
            ("no_allocate_f32", &["ld.global.L1::no_allocate.b32"]),
            (
                "evict_first_f32",
                &["ld.global.L1::evict_first.b32", "st.global.L1::evict_first.b32"],
            ),
            ("evict_last_f32", &["ld.global.L1::evict_last.b32", "st.global.L1::evict_last.b32"]),
            (
                "evict_unchanged_f32",
                &["ld.global.L1::evict_unchanged.b32", "st.global.L1::evict_unchanged.b32"],
            ),
            ("nc_evict_first_f32", &["ld.global.nc.L1::evict_first.b32"]),
            ("nc_evict_last_f32", &["ld.global.nc.L1::evict_last.b32"]),
            ("prefetch_64_f32", &["ld.global.L2::64B.b32"]),
            ("prefetch_128_f32", &["ld.global.L2::128B.b32"]),
            ("prefetch_256_f32", &["ld.global.L2::256B.b32"]),
            ("cs_cs_f32x4", &["ld.global.cs.v4.b32", "st.global.cs.v4.b32"]),
            ("cg_cg_f32x4", &["ld.global.cg.v4.b32", "st.global.cg.v4.b32"]),
            ("nc_wt_u32x4", &["ld.global.nc.v4.b32", "st.global.wt.v4.b32"]),
            ("nc_no_allocate_f32x4", &["ld.global.nc.L1::no_allocate.v4.b32"]),
            ("evict_last_f32x4", &["ld.global.L1::evict_last.v4.b32"]),
            ("cs_cs_u8", &["ld.global.cs.b8", "st.global.cs.b8"]),
            ("cs_cs_i16", &["ld.global.cs.b16", "st.global.cs.b16"]),
            ("cs_cs_f16", &["ld.global.cs.b16", "st.global.cs.b16"]),
            ("cs_cs_bf16", &["ld.global.cs.b16", "st.global.cs.b16"]),
            ("cs_cs_i32", &["ld.global.cs.b32", "st.global.cs.b32"]),
            ("cs_cs_u8x4", &["ld.global.cs.b32", "st.global.cs.b32"]),
            ("cs_cs_u64", &["ld.global.cs.b64", "st.global.cs.b64"]),
            ("cs_cs_f64", &["ld.global.cs.b64", "st.global.cs.b64"]),
            ("cs_cs_f32x2", &["ld.global.cs.v2.b32", "st.global.cs.v2.b32"]),
            ("cs_cs_f64x2", &["ld.global.cs.v2.b64", "st.global.cs.v2.b64"]),
            ("cs_cs_u8x16", &["ld.global.cs.v4.b32", "st.global.cs.v4.b32"]),
            ("prefetch_l1", &["prefetch.global.L1 ["]),
            ("prefetch_l2", &["prefetch.global.L2 ["]),
            ("prefetch_l2_evict_last", &["prefetch.global.L2::evict_last ["]),
            ("prefetch_l2_evict_normal", &["prefetch.global.L2::evict_normal ["]),
            ("l2_evict_normal", &["applypriority.global.L2::evict_normal [", ", 128;"]),
            ("discard_l2", &["discard.global.L2 [", ", 128;"]),
        ],
    );
    let vector_copies: Vec<&str> =
        SM_80.keys().filter(|name| name.starts_with("cs_cs")).map(String::as_str).collect();
    lack(&SM_80, &vector_copies, &[".local"]);
}

#[test]
fn cache_policies() {
    contain(
        &SM_80,
        &[
            (
                "policy_evict_first",
                &[
                    "createpolicy.fractional.L2::evict_first.b64",
                    "ld.global.L2::cache_hint.b32",
                    "st.global.L2::cache_hint.b32",
                ],
            ),
            (
                "policy_evict_last",
                &["createpolicy.fractional.L2::evict_last.b64", "ld.global.L2::cache_hint.v4.b32"],
            ),
            (
                "policy_evict_normal",
                &["createpolicy.fractional.L2::evict_normal.b64", "ld.global.L2::cache_hint.b64"],
            ),
            (
                "policy_evict_unchanged",
                &[
                    "createpolicy.fractional.L2::evict_unchanged.b64",
                    "ld.global.L2::cache_hint.v2.b32",
                ],
            ),
        ],
    );
    // One policy serves the load and the store.
    assert_eq!(count(&SM_80["policy_evict_first"], "createpolicy"), 1);
}

#[test]
fn loads_do_not_move_over_barriers() {
    contain(
        &SM_80,
        &[(
            "load_around_barrier",
            &["ld.global.cg", "bar.sync", "st.global", "bar.sync", "ld.global.cg", "st.global"],
        )],
    );
}

#[test]
fn asynchronous_copies() {
    let after = "cp.async.commit_group;";
    let wait = "cp.async.wait_group 0;";
    contain(
        &SM_80,
        &[
            ("async_copy_4", &["cp.async.ca.shared.global [", "], 4;", after, wait, "bar.sync"]),
            ("async_copy_8", &["cp.async.ca.shared.global [", "], 8;", after, wait, "bar.sync"]),
            ("async_copy_16", &["cp.async.ca.shared.global [", "], 16;", after, wait, "bar.sync"]),
            ("async_copy_16", &["bar.sync", "ld.shared.v4.b32"]),
            ("async_copy_16_bypass", &["cp.async.cg.shared.global [", "], 16;", after, wait]),
            ("async_fill_4", &["cp.async.ca.shared.global [", "], 4, %r", "cp.async.wait_all;"]),
            ("async_fill_8", &["cp.async.ca.shared.global [", "], 8, %r"]),
            ("async_fill_16", &["cp.async.ca.shared.global [", "], 16, %r"]),
            ("async_fill_16_bypass", &["cp.async.cg.shared.global [", "], 16, %r"]),
            ("async_pipeline", &["cp.async.ca", after, "cp.async.wait_group 1;", "bar.sync"]),
        ],
    );
    lack(&SM_80, &["async_copy_4", "async_pipeline"], &["\nld.b", "\nst.b"]);
}

#[test]
fn bulk_copies_and_barriers_in_memory() {
    contain(
        &SM_90,
        &[
            (
                "bulk_copies",
                &[
                    "mbarrier.init.shared.b64",
                    "fence.mbarrier_init.release.cluster;",
                    "cp.async.bulk.prefetch.L2.global [",
                    "mbarrier.arrive.expect_tx.shared.b64",
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [",
                    "mbarrier.try_wait.parity.shared.b64",
                    "ld.shared",
                    "fence.proxy.async.shared::cta;",
                    "bar.sync",
                    "mbarrier.inval.shared.b64",
                    "cp.async.bulk.global.shared::cta.bulk_group [",
                    "cp.async.bulk.commit_group;",
                    "cp.async.bulk.wait_group.read 0;",
                    "cp.async.bulk.wait_group 0;",
                ],
            ),
            (
                "mbarrier_phases",
                &["mbarrier.expect_tx.relaxed.cta.shared.b64", "mbarrier.arrive.shared.b64"],
            ),
        ],
    );
}

#[test]
fn clusters() {
    contain(
        &SM_90,
        &[
            (
                "cluster_exchange",
                &[
                    ".maxntid 64",
                    ".reqnctapercluster 2, 1, 1",
                    "barrier.cluster.arrive.aligned;",
                    "barrier.cluster.wait.aligned;",
                    "mapa.u64",
                    "barrier.cluster.arrive.aligned;",
                    "barrier.cluster.wait.aligned;",
                ],
            ),
            ("cluster_exchange", &["%cluster_ctarank"]),
            (
                "cluster_add",
                &["mapa.shared::cluster.u32", "red.relaxed.cluster.shared::cluster.add.u32"],
            ),
            ("cluster_registers", &["barrier.cluster.arrive.relaxed.aligned;"]),
        ],
    );
    for register in [
        "%cluster_ctarank",
        "%cluster_nctarank",
        "%cluster_ctaid.x",
        "%cluster_nctaid.y",
        "%clusterid.z",
        "%nclusterid.x",
    ] {
        contain(&SM_90, &[("cluster_registers", &[register])]);
    }
}

#[test]
fn atomics_have_their_scope_ordering_type_and_space() {
    for (scope, suffix) in [("block", "cta"), ("device", "gpu"), ("system", "sys")] {
        for (kind, instruction) in [
            ("f32", "f32"),
            ("f64", "f64"),
            ("u32", "u32"),
            ("i32", "u32"),
            ("u64", "u64"),
            ("i64", "u64"),
        ] {
            let pattern = format!("atom.relaxed.{suffix}.global.add.{instruction}");
            contain(&SM_70, &[(&format!("{scope}_add_{kind}"), &[&pattern])]);
        }
    }
    contain(
        &SM_70,
        &[
            ("add_acquire", &["atom.acquire.gpu.global.add.u32"]),
            ("add_release", &["atom.release.gpu.global.add.u32"]),
            ("add_acq_rel", &["atom.acq_rel.gpu.global.add.u32"]),
            ("add_seq_cst", &["fence.sc.gpu;", "atom.acq_rel.gpu.global.add.u32"]),
            ("block_add_acq_rel", &["atom.acq_rel.cta.global.add.u32"]),
            ("block_add_seq_cst", &["fence.sc.cta;", "atom.acq_rel.cta.global.add.u32"]),
            ("system_add_acq_rel", &["atom.acq_rel.sys.global.add.u32"]),
            ("system_add_seq_cst", &["fence.sc.sys;", "atom.acq_rel.sys.global.add.u32"]),
            ("sub_u32", &["atom.relaxed.gpu.global.add.u32"]),
            ("sub_i64", &["atom.relaxed.gpu.global.add.u64"]),
            ("sub_f32", &["atom.relaxed.gpu.global.add.f32"]),
            ("sub_f64", &["atom.relaxed.gpu.global.add.f64"]),
            ("and_u32", &["atom.relaxed.gpu.global.and.b32"]),
            ("and_u64", &["atom.relaxed.gpu.global.and.b64"]),
            ("and_f32", &["atom.relaxed.gpu.global.and.b32"]),
            ("or_i32", &["atom.relaxed.gpu.global.or.b32"]),
            ("or_f64", &["atom.relaxed.gpu.global.or.b64"]),
            ("xor_u32", &["atom.relaxed.gpu.global.xor.b32"]),
            ("xor_i64", &["atom.relaxed.gpu.global.xor.b64"]),
            ("min_u32", &["atom.relaxed.gpu.global.min.u32"]),
            ("min_i32", &["atom.relaxed.gpu.global.min.s32"]),
            ("min_u64", &["atom.relaxed.gpu.global.min.u64"]),
            ("min_i64", &["atom.relaxed.gpu.global.min.s64"]),
            ("max_u32", &["atom.relaxed.gpu.global.max.u32"]),
            ("max_i32", &["atom.relaxed.gpu.global.max.s32"]),
            ("max_u64", &["atom.relaxed.gpu.global.max.u64"]),
            ("max_i64", &["atom.relaxed.gpu.global.max.s64"]),
            ("table", &["atom.relaxed.gpu.global.inc.u32", "atom.relaxed.gpu.global.dec.u32"]),
            ("table", &["atom.relaxed.cta.global.inc.u32", "atom.relaxed.cta.global.dec.u32"]),
            ("table", &["atom.relaxed.sys.global.inc.u32", "atom.relaxed.sys.global.dec.u32"]),
            ("swap_u32", &["atom.relaxed.gpu.global.exch.b32"]),
            ("swap_f64", &["atom.relaxed.gpu.global.exch.b64"]),
            ("device_relaxed", &["ld.relaxed.gpu.global.b32", "st.relaxed.gpu.global.b32"]),
            ("device_acquire_release", &["ld.acquire.gpu.global.b64", "st.release.gpu.global.b64"]),
            (
                "device_seq_cst",
                &[
                    "fence.sc.gpu;",
                    "ld.acquire.gpu.global.b32",
                    "fence.sc.gpu;",
                    "st.release.gpu.global.b32",
                ],
            ),
            ("block_acquire_release", &["ld.acquire.cta.global.b64", "st.release.cta.global.b64"]),
            (
                "block_seq_cst",
                &["fence.sc.cta;", "ld.acquire.cta", "fence.sc.cta;", "st.release.cta"],
            ),
            ("system_acquire_release", &["ld.acquire.sys.global.b32", "st.release.sys.global.b32"]),
            ("system_seq_cst", &["fence.sc.sys;", "ld.acquire.sys", "fence.sc.sys;"]),
            ("compare_exchange", &["atom.acq_rel.gpu.global.cas.b32"]),
            ("compare_exchange_f64", &["atom.relaxed.cta.global.cas.b64"]),
            ("shared_histogram", &["atom.relaxed.cta.shared.add.u32"]),
            ("unknown_space", &["isspacep.global", "atom.relaxed.gpu.global.add.u32"]),
            ("unknown_space", &["isspacep.shared", "atom.relaxed.gpu.shared.add.u32"]),
            ("plain_functions", &["atom.acq_rel.gpu.global.add.u32"]),
            ("plain_functions", &["atom.relaxed.sys.global.max.s64"]),
            ("plain_functions", &["atom.release.cta.global.cas.b32"]),
            ("plain_functions", &["ld.acquire.gpu.global.b32", "st.release.sys.global.b64"]),
        ],
    );
    lack(&SM_70, &["device_add_f32", "compare_exchange", "shared_histogram"], &["isspacep"]);
}

/// Claims of `atomic`'s documentation about `core`'s types. When this fails, LLVM has become better and the
/// documentation should say so.
#[test]
fn atomics_of_core_lose_their_ordering_in_updates_alone() {
    contain(
        &SM_70,
        &[("core_atomics", &["atom.global.add.u32", "st.release.sys", "ld.acquire.sys"])],
    );
}

#[test]
fn float_functions_of_the_hardware_are_one_instruction() {
    contain(
        &SM_80,
        &[
            ("floor_f32", &["cvt.rmi.f32.f32"]),
            ("ceil_f32", &["cvt.rpi.f32.f32"]),
            ("trunc_f32", &["cvt.rzi.f32.f32"]),
            ("fract_f32", &["cvt.rzi.f32.f32", "sub.rn.f32"]),
            ("abs_f32", &["abs.f32"]),
            ("sqrt_f32", &["sqrt.rn.f32"]),
            ("copysign_f32", &["copysign.f32"]),
            ("mul_add_f32", &["fma.rn.f32"]),
            ("floor_f64", &["cvt.rmi.f64.f64"]),
            ("ceil_f64", &["cvt.rpi.f64.f64"]),
            ("trunc_f64", &["cvt.rzi.f64.f64"]),
            ("abs_f64", &["abs.f64"]),
            ("sqrt_f64", &["sqrt.rn.f64"]),
            ("mul_add_f64", &["fma.rn.f64"]),
            ("saturate_f32", &["max", "min"]),
            ("powi_f32", &["mul.rn.f32", "mul.rn.f32", "mul.rn.f32"]),
            ("approx_rsqrt", &["rsqrt.approx.f32"]),
            ("approx_rsqrt_ftz", &["rsqrt.approx.ftz.f32"]),
            ("approx_rsqrt_f64", &["rsqrt.approx.f64"]),
            ("approx_sqrt", &["sqrt.approx.f32"]),
            ("approx_rcp", &["rcp.approx.f32"]),
            ("approx_rcp_ftz", &["rcp.approx.ftz.f32"]),
            ("approx_sin", &["sin.approx.f32"]),
            ("approx_cos", &["cos.approx.f32"]),
            ("approx_ex2", &["ex2.approx.f32"]),
            ("approx_lg2", &["lg2.approx.f32"]),
            ("approx_exp", &["mul.rn.f32", "ex2.approx.f32"]),
            ("approx_ln", &["lg2.approx.f32", "mul.rn.f32"]),
            ("approx_tanh", &["tanh.approx.f32"]),
            ("approx_div", &["div.approx.f32"]),
            ("approx_div_full", &["div.full.f32"]),
            ("f16_to_f32", &["cvt.f32.f16"]),
            ("f32_to_f16", &["cvt.rn.f16.f32"]),
            ("f32_to_bf16", &["cvt.rn.bf16.f32"]),
        ],
    );
    lack(&SM_80, &["floor_f32", "sqrt_f32", "mul_add_f32", "floor_f64"], &["call"]);
    lack(&SM_80, &["bf16_to_f32"], &["cvt.f32", "call"]);
}

/// A hundred instructions each, were it the `half` crate that computes.
#[test]
fn half_precision_is_computed_by_the_hardware() {
    contain(
        &SM_80,
        &[
            ("f16_add", &["add.rn.f16 "]),
            ("f16_sub", &["sub.rn.f16 "]),
            ("f16_mul", &["mul.rn.f16 "]),
            ("f16_div", &["cvt.f32.f16", "div.rn.f32", "cvt.rn.f16.f32"]),
            ("f16_mul_add", &["fma.rn.f16 "]),
            ("f16_less", &["setp.lt.f16 "]),
            ("f16_in_f32", &["cvt.f32.f16", "add.rn.f32", "cvt.rn.f16.f32"]),
            ("bf16_add", &["fma.rn.bf16 "]),
            ("bf16_sub", &["fma.rn.bf16 "]),
            ("bf16_mul", &["fma.rn.bf16 "]),
            ("bf16_mul_add", &["fma.rn.bf16 "]),
            ("bf16_less", &["setp.lt.f32"]),
            ("f16x2_add", &["add.rn.f16x2 "]),
            ("f16x2_sub", &["sub.rn.f16x2 "]),
            ("f16x2_mul", &["mul.rn.f16x2 "]),
            ("f16x2_mul_add", &["fma.rn.f16x2 "]),
            ("bf16x2_add", &["fma.rn.bf16x2 "]),
            ("bf16x2_sub", &["fma.rn.bf16x2 "]),
            ("bf16x2_mul", &["fma.rn.bf16x2 "]),
            ("bf16x2_mul_add", &["fma.rn.bf16x2 "]),
            ("atomic_f16x2", &["atom.relaxed.gpu.global.add.noftz.f16x2"]),
            ("atomic_f16x2", &["atom.relaxed.cta.global.add.noftz.f16x2"]),
            ("atomic_f16x2", &["atom.acq_rel.sys.global.add.noftz.f16x2"]),
            ("atomic_f16", &["atom.relaxed.gpu.global.add.noftz.f16 "]),
            ("atomic_f16", &["atom.relaxed.cta.global.add.noftz.f16 "]),
            ("atomic_f16", &["atom.acq_rel.sys.global.add.noftz.f16 "]),
            ("atomic_f16", &["ld.relaxed.gpu.global.b16 ", "atom.relaxed.gpu.global.cas.b16 "]),
        ],
    );
    for scope in ["relaxed.gpu", "relaxed.cta", "acq_rel.sys"] {
        let pattern = format!("atom.{scope}.global.add.noftz.bf16x2");
        contain(&SM_90, &[("atomic_bf16x2", &[&pattern])]);
        let pattern = format!("atom.{scope}.global.add.noftz.bf16 ");
        contain(&SM_90, &[("atomic_bf16", &[&pattern])]);
    }
    let is_half = |name: &str| name.starts_with("f16") || name.starts_with("bf16x2");
    for (name, text) in SM_80.iter().filter(|(name, _)| is_half(name)) {
        let instructions =
            text.lines().filter(|line| line.ends_with(';') && !line.starts_with('.'));
        assert!(instructions.count() < 30, "`{name}` is computed in software:\n{text}");
    }
}

#[test]
fn memory_spaces() {
    contain(
        &SM_80,
        &[
            ("constant_uniform", &["ld.const.b32", "st.global.b32"]),
            ("constant_fixed", &["ld.const.b32", "st.global.b32"]),
            ("global_static", &["ld.global.b32", "st.global.b32"]),
            ("shared_array", &[".shared .align 4", "[256];"]),
            ("shared_array", &["st.shared.b32", "bar.sync", "ld.shared.b32"]),
            ("shared_dynamic", &["__dynamic_shared_memory"]),
            ("shared_dynamic", &["st.shared", "bar.sync", "ld.shared"]),
        ],
    );
    lack(&SM_80, &["shared_array", "shared_dynamic", "constant_uniform"], &["\nld.b", "\nst.b"]);
}

#[test]
fn pointers() {
    contain(
        &SM_80,
        &[
            (
                "is_in_address_space",
                &["isspacep.global", "isspacep.shared", "isspacep.const", "isspacep.local"],
            ),
            ("convert_addresses", &["cvta.to.shared.u64", "cvta.shared.u64"]),
            ("convert_other_spaces", &["cvta.to.const.u64", "cvta.const.u64"]),
            ("convert_other_spaces", &["cvta.to.local.u64", "cvta.local.u64"]),
            ("convert_other_spaces", &["cvta.global.u64"]),
        ],
    );
    // A pointer that the host chose must be asked; pointers into shared and constant memory not.
    assert_eq!(count(&SM_80["is_in_address_space"], "isspacep"), 4);
}

/// Slices are two parameters, values one each; a read-only slice is loaded as such.
#[test]
fn parameters_and_attributes() {
    let text = &SM_80["parameters"];
    let head = text.split('{').next().expect("an entry has a head");
    assert_eq!(count(head, ".param .u64"), 5, "{head}");
    assert_eq!(count(head, ".param .align 8 .b8 parameters_param_2[24]"), 1, "{head}");
    assert_eq!(count(head, ".param .b32") + count(head, ".param .f32"), 1, "{head}");
    contain(
        &SM_80,
        &[
            ("parameters", &["ld.global.nc.b32"]),
            ("launch_bounds", &[".maxntid 128", ".minnctapersm 3"]),
        ],
    );
}

#[test]
fn clocks_and_debugging() {
    contain(
        &SM_80,
        &[
            ("clock", &["%clock64", "st.global", "%clock64", "st.global"]),
            ("clock32", &["%clock;", "st.global", "%clock;", "st.global"]),
            ("globaltimer", &["%globaltimer", "%globaltimer"]),
            ("multiprocessor", &["%smid", "%nsmid"]),
            ("identifiers", &["%gridid"]),
            ("identifiers", &["%warpid"]),
            ("breakpoint", &["brkpt;"]),
            ("profiler_counter", &["pmevent 3;"]),
        ],
    );
    assert_eq!(count(&SM_80["profiler_counter"], "pmevent"), 1);
    assert_eq!(count(&SM_80["profiler_counter_dynamic"], "pmevent"), 8);
}

#[test]
fn printing() {
    contain(&SM_80, &[("print_c", &["cvt.f64.f32", "st.local", "call", "vprintf"])]);
    for kernel in ["print_rust", "print_long", "panic_bounds", "panic_assertion"] {
        contain(&SM_80, &[(kernel, &["call"])]);
    }
    // Calls through pointers would cost every kernel with a bounds check 255 registers.
    lack(&SM_80, &["panic_bounds"], &[".callprototype"]);
}

/// A kernel exists from the compute capability on that it asks for, and not before.
#[test]
fn kernels_exist_since_their_capability() {
    for launch in [cuda_std_tests::launches::all(), cuda_std_tests::launches::unmeasured()].concat()
    {
        for (capability, entries) in [(70, &*SM_70), (80, &*SM_80), (90, &*SM_90)] {
            assert_eq!(
                entries.contains_key(launch.kernel),
                launch.since <= capability,
                "`{}` on {capability}",
                launch.kernel
            );
        }
    }
}

#[test]
fn inline_ptx_reaches_the_device() {
    contain(&SM_70, &[("guide_multiprocessor", &["mov.u32", "%smid", "st.global"])]);
}
