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
pub fn entries(ptx: &str) -> Entries {
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

/// Checks that kernels contain texts, in the order given: a line `kernel: text | text` each. A line with groups, such as
/// `{x y}`, is a line for each of their words.
#[track_caller]
pub fn contain(entries: &Entries, table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()).flat_map(lines_of) {
        let (kernel, patterns) = line.split_once(": ").expect("a kernel and its texts");
        let text = entries.get(kernel).unwrap_or_else(|| panic!("there is no entry `{kernel}`"));
        let mut rest = text.as_str();
        for pattern in patterns.split(" | ") {
            let at = rest.find(pattern).unwrap_or_else(|| {
                panic!("`{kernel}` has no `{pattern}` (in this order):\n{text}")
            });
            rest = &rest[at + pattern.len()..];
        }
    }
}

fn lines_of(line: &str) -> Vec<String> {
    let parts: Vec<Vec<&str>> =
        line.split(['{', '}']).map(|part| part.split(' ').collect()).collect();
    let groups = parts.iter().skip(1).step_by(2);
    let count = groups.map(Vec::len).max().unwrap_or(1);
    let part = |(number, words): (usize, &Vec<&str>), at: usize| match number % 2 {
        0 => words.join(" "),
        _ => words[at].to_owned(),
    };
    (0..count).map(|at| parts.iter().enumerate().map(|it| part(it, at)).collect()).collect()
}

/// Checks that kernels do not contain texts.
#[track_caller]
pub fn lack(entries: &Entries, kernels: &[&str], patterns: &[&str]) {
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
        "
        thread_idx_{x y z}: %tid.{x y z}
        block_idx_{x y z}: %ctaid.{x y z}
        block_dim_{x y z}: %ntid.{x y z}
        grid_dim_{x y z}: %nctaid.{x y z}
        warp_size: st.global.b32 [%rd4], 32
        dynamic_smem_size: %dynamic_smem_size
        total_smem_size: %total_smem_size
        index_{1d 2d 3d of_launch}: mad.lo.s32
        {index_vectors first}: %tid.x
        {index_vectors first}: %ctaid.z
        ",
    );
}

#[test]
fn block_barriers() {
    contain(
        &SM_70,
        "
        sync_threads: ld.global | bar.sync 0; | st.global
        sync_threads_count: bar.red.popc.u32 | , 0, %p
        sync_threads_{and or}: bar.red.{and or}.pred | , 0, %p
        named_barriers: bar.arrive 1, 64;
        named_barriers: bar.sync 1, 64;
        nanosleep: nanosleep.u32 100;
        ",
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
        "
        {block grid device system}_fence: st.global | membar.{cta gl gl sys}; | st.global
        fence_{block_acq_rel device_release system_acquire}: st.global | fence.acq_rel.{cta gpu sys}; | st.global
        fence_{block device system}_seq_cst: st.global | fence.sc.{cta gpu sys}; | st.global
        ",
    );
    lack(&SM_70, &["fence_relaxed"], &["fence.", "membar."]);
}

#[test]
fn warp_functions() {
    contain(
        &SM_70,
        "
        lane_id: %laneid
        lane_mask_{eq lt le gt ge}: %lanemask_{eq lt le gt ge}
        activemask: activemask.b32
        sync_warp: ld.global | bar.warp.sync -1; | st.global
        vote_{all any uniform}: vote.sync.{all any uni}.pred | -1;
        vote_ballot: vote.sync.ballot.b32 | -1;
        match_any_{u32 i64 f32}: match.any.sync.{b32 b64 b32} | -1;
        match_all_{u32 u64}: match.all.sync.{b32 b64} | |%p | -1;
        ",
    );
    // The votes' results are stored as they are, not inverted.
    contain(
        &SM_70,
        "
        vote_all: selp.b32 | , 1, 0, %p
        vote_any: 1, 0, %p
        ",
    );
    contain(
        &SM_80,
        "
        reduce_add_{u32 i32}: redux.sync.add.s32
        reduce_min_{u32 i32}: redux.sync.min.{u32 s32}
        reduce_max_{u32 i32}: redux.sync.max.{u32 s32}
        reduce_{and or xor}_u32: redux.sync.{and or xor}.b32
        ",
    );
    contain(&SM_90, "elect: elect.sync");
}

#[test]
fn tensor_cores() {
    contain(
        &SM_80,
        "
        {m16n8k8 m16n8k16}_f32_f16: mma.sync.aligned.{m16n8k8 m16n8k16}.row.col.f32.f16.f16.f32
        {m16n8k8 m16n8k16}_f16_f16: mma.sync.aligned.{m16n8k8 m16n8k16}.row.col.f16.f16.f16.f16
        {m16n8k8 m16n8k16}_f32_bf16: mma.sync.aligned.{m16n8k8 m16n8k16}.row.col.f32.bf16.bf16.f32
        {m16n8k4 m16n8k8}_f32_tf32: mma.sync.aligned.{m16n8k4 m16n8k8}.row.col.f32.tf32.tf32.f32
        m16n8k16_i32_{i8_i8 i8_u8 u8_i8 u8_u8}: mma.sync.aligned.m16n8k16.row.col.s32.{s8.s8 s8.u8 u8.s8 u8.u8}.s32
        m16n8k32_i32_{i8_i8 i8_u8 u8_i8 u8_u8}: mma.sync.aligned.m16n8k32.row.col.s32.{s8.s8 s8.u8 u8.s8 u8.u8}.s32
        m8n8k4_f64: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
        nearest_tf32: cvt.rna.tf32.f32
        ldmatrix_{x1 x2 x4}: ldmatrix.sync.aligned.m8n8.{x1 x2 x4}.shared.b16
        ldmatrix_{x1 x2 x4}_trans: ldmatrix.sync.aligned.m8n8.{x1 x2 x4}.trans.shared.b16
        ",
    );
    contain(
        &SM_90,
        "
        stmatrix_{x1 x2 x4}: stmatrix.sync.aligned.m8n8.{x1 x2 x4}
        stmatrix_{x1 x2 x4}_trans: stmatrix.sync.aligned.m8n8.{x1 x2 x4}.trans
        ",
    );
}

/// The lanes of a warp that go through copies of it in different branches do not meet.
#[test]
fn a_product_is_not_copied_or_moved_into_branches() {
    assert_eq!(count(&SM_80["product_between_branches"], "mma.sync"), 1);
    contain(&SM_80, "product_of_one_lane: mma.sync | bra | st.global");
    assert_eq!(count(&SM_80["product_of_one_lane"], "mma.sync"), 1);
}

/// The third operand is `(32 - width) << 8`, and 31 below it except for a shuffle up.
#[test]
fn shuffles_have_their_clamp() {
    contain(
        &SM_70,
        "
        shuffle_down_{u32 width_8}: shfl.sync.down.b32 | , 3, {31 6175}, -1;
        shuffle_up_{u32 width_8}: shfl.sync.up.b32 | , 3, {0 6144}, -1;
        shuffle_idx_{u32 width_8}: shfl.sync.idx.b32 | , 5, {31 6175}, -1;
        shuffle_xor_u32: shfl.sync.bfly.b32 | , 16, 31, -1;
        shuffle_xor_width_8: shfl.sync.bfly.b32 | , 9, 6175, -1;
        ",
    );
    let words = [
        (1, &["u8", "i8", "u16", "i16", "i32", "f16", "bf16", "f32"][..]),
        (2, &["u64", "i64", "f64"]),
        (4, &["u128", "i128"]),
    ];
    for (shuffles, kind) in words.iter().flat_map(|(n, kinds)| kinds.iter().map(move |it| (*n, it)))
    {
        let text = &SM_70[&format!("shuffle_down_{kind}")];
        assert_eq!(count(text, "shfl.sync.down.b32"), shuffles, "{text}");
    }
}

#[test]
fn vectors_move_in_one_instruction() {
    let moves = [
        ("v2.b32", &["f32x2", "u32x2", "i32x2", "u16x4", "u8x8"][..]),
        ("v4.b32", &["f32x4", "u32x4", "i32x4", "u16x8", "u8x16"]),
        ("v2.b64", &["f64x2", "u64x2", "i64x2"]),
        ("b32", &["u8x4"]),
    ];
    for (suffix, kind) in moves.iter().flat_map(|(of, kinds)| kinds.iter().map(move |it| (of, it)))
    {
        let text = &SM_80[&format!("copy_{kind}")];
        for way in ["ld.global", "st.global"] {
            assert_eq!(count(text, &format!("{way}.{suffix}")), 1, "{text}");
            assert_eq!(count(text, way), 1, "{text}");
        }
    }
    contain(
        &SM_80,
        "
        copy_slices: ld.global.nc.v4.b32 | st.global.v4.b32
        swap_vectors: ld.global.v4.b32 | ld.global.v4.b32 | st.global.v4.b32
        load_store_functions: ld.global.v4.b32 | st.global.v4.b32
        vector_{fields arithmetic}: ld.global.v4.b32 | {add mul}.rn.f32 | st.global.v4.b32
        shared_vectors: ld.global.v4.b32 | st.shared.v4.b32
        shared_vectors: bar.sync | ld.shared.v4.b32 | st.global.v4.b32
        ",
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
        "
        {ca nc}_wb_f32: ld.global.{ca nc}.b32 | st.global.wb.b32
        {cg_cg cs_cs}_f32: ld.global.{cg cs}.b32 | st.global.{cg cs}.b32
        {lu cv}_wt_f32: ld.global.{lu cv}.b32 | st.global.wt.b32
        nc_no_allocate_f32: ld.global.nc.L1::no_allocate.b32 | st.global.L1::no_allocate.b32
        no_allocate_f32: ld.global.L1::no_allocate.b32
        evict_{first last unchanged}_f32: ld.global.L1::evict_{first last unchanged}.b32 | st.global.L1::evict_{first last unchanged}.b32
        nc_evict_{first last}_f32: ld.global.nc.L1::evict_{first last}.b32
        prefetch_{64 128 256}_f32: ld.global.L2::{64B 128B 256B}.b32
        {cs_cs cg_cg}_f32x4: ld.global.{cs cg}.v4.b32 | st.global.{cs cg}.v4.b32
        nc_wt_u32x4: ld.global.nc.v4.b32 | st.global.wt.v4.b32
        nc_no_allocate_f32x4: ld.global.nc.L1::no_allocate.v4.b32
        evict_last_f32x4: ld.global.L1::evict_last.v4.b32
        cs_cs_{u8 i16 f16 bf16}: ld.global.cs.{b8 b16 b16 b16} | st.global.cs.{b8 b16 b16 b16}
        cs_cs_{i32 u8x4 u64 f64}: ld.global.cs.{b32 b32 b64 b64} | st.global.cs.{b32 b32 b64 b64}
        cs_cs_{f32x2 f64x2 u8x16}: ld.global.cs.{v2.b32 v2.b64 v4.b32} | st.global.cs.{v2.b32 v2.b64 v4.b32}
        prefetch_{l1 l2}: prefetch.global.{L1 L2} [
        prefetch_l2_evict_{last normal}: prefetch.global.L2::evict_{last normal} [
        l2_evict_normal: applypriority.global.L2::evict_normal [ | , 128;
        discard_l2: discard.global.L2 [ | , 128;
        ",
    );
    let vector_copies: Vec<&str> =
        SM_80.keys().filter(|name| name.starts_with("cs_cs")).map(String::as_str).collect();
    lack(&SM_80, &vector_copies, &[".local"]);
}

#[test]
fn cache_policies() {
    contain(
        &SM_80,
        "
        policy_evict_{first last normal unchanged}: createpolicy.fractional.L2::evict_{first last normal unchanged}.b64
        policy_evict_first: createpolicy | ld.global.L2::cache_hint.b32 | st.global.L2::cache_hint.b32
        policy_evict_{last normal unchanged}: createpolicy | ld.global.L2::cache_hint.{v4.b32 b64 v2.b32}
        ",
    );
    // One policy serves the load and the store.
    assert_eq!(count(&SM_80["policy_evict_first"], "createpolicy"), 1);
}

#[test]
fn loads_do_not_move_over_barriers() {
    let texts = "ld.global.cg | bar.sync | st.global | bar.sync | ld.global.cg | st.global";
    contain(&SM_80, &format!("load_around_barrier: {texts}"));
}

#[test]
fn asynchronous_copies() {
    contain(
        &SM_80,
        "
        async_copy_{4 8 16}: cp.async.ca.shared.global [ | ], {4 8 16}; | cp.async.commit_group; | cp.async.wait_group 0; | bar.sync
        async_copy_16: bar.sync | ld.shared.v4.b32
        async_copy_16_bypass: cp.async.cg.shared.global [ | ], 16; | cp.async.commit_group; | cp.async.wait_group 0;
        async_fill_{4 8 16}: cp.async.ca.shared.global [ | ], {4 8 16}, %r
        async_fill_4: cp.async.wait_all;
        async_fill_16_bypass: cp.async.cg.shared.global [ | ], 16, %r
        async_pipeline: cp.async.ca | cp.async.commit_group; | cp.async.wait_group 1; | bar.sync
        ",
    );
    lack(&SM_80, &["async_copy_4", "async_pipeline"], &["\nld.b", "\nst.b"]);
}

#[test]
fn bulk_copies_and_barriers_in_memory() {
    contain(
        &SM_90,
        "
        bulk_copies: mbarrier.init.shared.b64 | fence.mbarrier_init.release.cluster; | \
            cp.async.bulk.prefetch.L2.global [ | mbarrier.arrive.expect_tx.shared.b64 | \
            cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [ | \
            mbarrier.try_wait.parity.shared.b64 | ld.shared | fence.proxy.async.shared::cta; | bar.sync | \
            mbarrier.inval.shared.b64 | cp.async.bulk.global.shared::cta.bulk_group [ | cp.async.bulk.commit_group; | \
            cp.async.bulk.wait_group.read 0; | cp.async.bulk.wait_group 0;
        mbarrier_phases: mbarrier.expect_tx.relaxed.cta.shared.b64 | mbarrier.arrive.shared.b64
        ",
    );
}

#[test]
fn clusters() {
    contain(
        &SM_90,
        "
        cluster_exchange: .maxntid 64 | .reqnctapercluster 2, 1, 1
        cluster_exchange: .maxntid 64 | arrive.aligned; | wait.aligned; | mapa.u64 | arrive.aligned; | wait.aligned;
        cluster_exchange: barrier.cluster.arrive.aligned; | barrier.cluster.wait.aligned; | mapa.u64
        cluster_exchange: %cluster_ctarank
        cluster_add: mapa.shared::cluster.u32 | red.relaxed.cluster.shared::cluster.add.u32
        cluster_asynchronous: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32
        cluster_asynchronous: red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
        cluster_asynchronous: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64
        add_vectors: griddepcontrol.launch_dependents; | griddepcontrol.wait; | red.relaxed.gpu.global.add.v4.f32 [
        add_vectors: red.relaxed.gpu.global.add.v2.f32 [
        cluster_asynchronous: cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
        cluster_asynchronous: mbarrier.arrive.shared::cluster.b64
        cluster_asynchronous: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32
        cluster_registers: barrier.cluster.arrive.relaxed.aligned;
        cluster_registers: %cluster_{ctarank nctarank ctaid.x nctaid.y}
        cluster_registers: %{clusterid.z nclusterid.x}
        ",
    );
}

#[test]
fn atomics_have_their_scope_ordering_type_and_space() {
    for (scope, suffix) in [("block", "cta"), ("device", "gpu"), ("system", "sys")] {
        let kinds = "{f32 f64 u32 u64 i32 i64}";
        let pattern = format!("atom.relaxed.{suffix}.global.add.{{f32 f64 u32 u64 u32 u64}}");
        contain(&SM_70, &format!("{scope}_add_{kinds}: {pattern}"));
    }
    contain(
        &SM_70,
        "
        add_{acquire release acq_rel}: atom.{acquire release acq_rel}.gpu.global.add.u32
        {block system}_add_acq_rel: atom.acq_rel.{cta sys}.global.add.u32
        {add block_add system_add}_seq_cst: fence.sc.{gpu cta sys}; | atom.acq_rel.{gpu cta sys}.global.add.u32
        sub_{u32 i64 f32 f64}: atom.relaxed.gpu.global.add.{u32 u64 f32 f64}
        and_{u32 u64 f32}: atom.relaxed.gpu.global.and.{b32 b64 b32}
        or_{i32 f64}: atom.relaxed.gpu.global.or.{b32 b64}
        xor_{u32 i64}: atom.relaxed.gpu.global.xor.{b32 b64}
        min_{u32 i32 u64 i64}: atom.relaxed.gpu.global.min.{u32 s32 u64 s64}
        max_{u32 i32 u64 i64}: atom.relaxed.gpu.global.max.{u32 s32 u64 s64}
        table: atom.relaxed.{gpu cta sys}.global.inc.u32 | atom.relaxed.{gpu cta sys}.global.dec.u32
        swap_{u32 f64}: atom.relaxed.gpu.global.exch.{b32 b64}
        device_relaxed: ld.relaxed.gpu.global.b32 | st.relaxed.gpu.global.b32
        {device block}_acquire_release: ld.acquire.{gpu cta}.global.b64 | st.release.{gpu cta}.global.b64
        system_acquire_release: ld.acquire.sys.global.b32 | st.release.sys.global.b32
        device_seq_cst: fence.sc.gpu; | ld.acquire.gpu.global.b32 | fence.sc.gpu; | st.release.gpu.global.b32
        block_seq_cst: fence.sc.cta; | ld.acquire.cta | fence.sc.cta; | st.release.cta
        system_seq_cst: fence.sc.sys; | ld.acquire.sys | fence.sc.sys;
        compare_exchange: atom.acq_rel.gpu.global.cas.b32
        compare_exchange_f64: atom.relaxed.cta.global.cas.b64
        shared_histogram: atom.relaxed.cta.shared.add.u32
        unknown_space: isspacep.{global shared} | atom.relaxed.gpu.{global shared}.add.u32
        plain_functions: atom.acq_rel.gpu.global.add.u32
        plain_functions: atom.relaxed.sys.global.max.s64
        plain_functions: atom.release.cta.global.cas.b32
        plain_functions: ld.acquire.gpu.global.b32 | st.release.sys.global.b64
        ",
    );
    lack(&SM_70, &["device_add_f32", "compare_exchange", "shared_histogram"], &["isspacep"]);
}

/// Claims of `atomic`'s documentation about `core`'s types. When this fails, LLVM has become better and the
/// documentation should say so.
#[test]
fn atomics_of_core_lose_their_ordering_in_updates_alone() {
    contain(&SM_70, "core_atomics: atom.global.add.u32 | st.release.sys | ld.acquire.sys");
}

#[test]
fn float_functions_of_the_hardware_are_one_instruction() {
    contain(
        &SM_80,
        "
        {floor ceil trunc}_f32: cvt.{rmi rpi rzi}.f32.f32
        {floor ceil trunc}_f64: cvt.{rmi rpi rzi}.f64.f64
        fract_f32: cvt.rzi.f32.f32 | sub.rn.f32
        {abs sqrt copysign mul_add}_f32: {abs sqrt.rn copysign fma.rn}.f32
        {abs sqrt mul_add}_f64: {abs sqrt.rn fma.rn}.f64
        saturate_f32: max | min
        powi_f32: mul.rn.f32 | mul.rn.f32 | mul.rn.f32
        approx_{rsqrt_ftz rcp_ftz rsqrt_f64}: {rsqrt rcp rsqrt}.approx.{ftz.f32 ftz.f32 f64}
        approx_{rsqrt sqrt rcp sin cos ex2 lg2}: {rsqrt sqrt rcp sin cos ex2 lg2}.approx.f32
        approx_exp: mul.rn.f32 | ex2.approx.f32
        approx_ln: lg2.approx.f32 | mul.rn.f32
        approx_{tanh div}: {tanh div}.approx.f32
        approx_div_full: div.full.f32
        f16_to_f32: cvt.f32.f16
        f32_to_{f16 bf16}: cvt.rn.{f16 bf16}.f32
        ",
    );
    lack(&SM_80, &["floor_f32", "sqrt_f32", "mul_add_f32", "floor_f64"], &["call"]);
    lack(&SM_80, &["bf16_to_f32"], &["cvt.f32", "call"]);
}

/// A hundred instructions each, were it the `half` crate that computes.
#[test]
fn half_precision_is_computed_by_the_hardware() {
    contain(
        &SM_80,
        "
        f16_{add sub mul mul_add}: {add sub mul fma}.rn.f16 %
        f16_div: cvt.f32.f16 | div.rn.f32 | cvt.rn.f16.f32
        f16_less: setp.lt.f16 %
        f16_in_f32: cvt.f32.f16 | add.rn.f32 | cvt.rn.f16.f32
        bf16_{add sub mul mul_add}: fma.rn.bf16 %
        bf16_less: setp.lt.f32
        f16x2_{add sub mul mul_add}: {add sub mul fma}.rn.f16x2 %
        bf16x2_{add sub mul mul_add}: fma.rn.bf16x2 %
        atomic_f16x2: atom.{relaxed.gpu relaxed.cta acq_rel.sys}.global.add.noftz.f16x2
        atomic_f16: atom.{relaxed.gpu relaxed.cta acq_rel.sys}.global.add.noftz.f16 %
        atomic_f16: ld.relaxed.gpu.global.b16 % | atom.relaxed.gpu.global.cas.b16 %
        ",
    );
    contain(
        &SM_90,
        "
        atomic_bf16x2: atom.{relaxed.gpu relaxed.cta acq_rel.sys}.global.add.noftz.bf16x2
        atomic_bf16: atom.{relaxed.gpu relaxed.cta acq_rel.sys}.global.add.noftz.bf16 %
        ",
    );
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
        "
        {constant_uniform constant_fixed global_static}: ld.{const const global}.b32 | st.global.b32
        shared_array: .shared .align 4 | [256];
        shared_array: st.shared.b32 | bar.sync | ld.shared.b32
        shared_dynamic: __dynamic_shared_memory
        shared_dynamic: st.shared | bar.sync | ld.shared
        ",
    );
    lack(&SM_80, &["shared_array", "shared_dynamic", "constant_uniform"], &["\nld.b", "\nst.b"]);
}

#[test]
fn pointers() {
    contain(
        &SM_80,
        "
        is_in_address_space: isspacep.global | isspacep.shared | isspacep.const | isspacep.local
        convert_addresses: cvta.to.shared.u64 | cvta.shared.u64
        convert_other_spaces: cvta.to.{const local}.u64 | cvta.{const local}.u64
        convert_other_spaces: cvta.global.u64
        ",
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
        "
        parameters: ld.global.nc.b32
        launch_bounds: .maxntid 128 | .minnctapersm 3
        ",
    );
}

#[test]
fn clocks_and_debugging() {
    contain(
        &SM_80,
        "
        clock: %clock64 | st.global | %clock64 | st.global
        clock32: %clock; | st.global | %clock; | st.global
        globaltimer: %globaltimer | %globaltimer
        multiprocessor: %smid | %nsmid
        identifiers: %gridid
        identifiers: %warpid
        breakpoint: brkpt;
        profiler_counter: pmevent 3;
        ",
    );
    assert_eq!(count(&SM_80["profiler_counter"], "pmevent"), 1);
    assert_eq!(count(&SM_80["profiler_counter_dynamic"], "pmevent"), 8);
}

#[test]
fn printing() {
    contain(&SM_80, "print_c: cvt.f64.f32 | st.local | call | vprintf");
    contain(&SM_80, "{print_rust print_long panic_bounds panic_assertion}: call");
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
    contain(&SM_70, "guide_multiprocessor: mov.u32 | %smid | st.global");
}
