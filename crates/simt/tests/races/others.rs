//! Every other way to order two accesses, or to miss it: barriers, warp barriers, clusters, copies.

use super::Row;
use super::kernels::{BLOCKS, CLUSTER, GLOBAL, GR, GW, Grid, R, SHARED, W, WARP, WARPS};
use simt::Hazard::{GlobalRaceInWarp, SharedRace, SharedRaceInWarp};

/// The neighbour's word of `tile`, one lane or one warp on, is read.
const NEXT: &str = "st.shared.u32 [%r5], %r1; ? xor.b32 %r10, %r5, 4; ld.shared.u32 %r8, [%r10];";
const NEXT_WARP: &str =
    "st.shared.u32 [%r5], %r1; ? xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];";
const NEXT_GLOBAL: &str =
    "st.global.u32 [%rd4], %r1; ? xor.b64 %rd10, %rd4, 4; ld.global.u32 %r8, [%rd10];";
const NEXT_WARP_GLOBAL: &str =
    "st.global.u32 [%rd4], %r1; ? xor.b64 %rd10, %rd4, 128; ld.global.u32 %r8, [%rd10];";

/// Block 0 waits for one flag, writes, and sets the next; block 1 the other way round.
const GRID_SYNC: &str = "mad.wide.u32 %rd10, %r2, 128, %rd4; st.global.u32 [%rd10], %r1; ?\n\
     xor.b32 %r20, %r2, 1; mad.wide.u32 %rd11, %r20, 128, %rd4; ld.global.u32 %r8, [%rd11];";

/// Loads a row of 16 bytes per lane by a bulk copy of lane 0 of warp 0; `?` follows.
const BULK: &str = "setp.ne.u32 %p1, %r1, 0; mov.u32 %r20, word; mov.u32 %r21, tile;\n\
     @!%p1 mbarrier.init.shared.b64 [%r20], 1; bar.sync 0;\n\
     @%p1 bra WAIT;\n\
     mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;\n\
     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd1], 256, [%r20];\n\
     WAIT: ? ld.shared.u32 %r8, [%r5];";
const TRY: &str = "T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T;";

pub const ROWS: &[Row] = &[
    // Barriers.
    ("block barrier, shared", WARPS, NEXT_WARP, ["", "bar.sync 0;"], SHARED),
    ("block barrier, global", WARPS, NEXT_WARP_GLOBAL, ["", "bar.sync 0;"], GLOBAL),
    (
        "a warp barrier does not order warps",
        WARPS,
        NEXT_WARP,
        ["bar.warp.sync -1;", "barrier.sync 0;"],
        SHARED,
    ),
    (
        "a fence alone orders nothing",
        WARPS,
        NEXT_WARP_GLOBAL,
        ["membar.gl;", "bar.red.popc.u32 %r12, 0, 1;"],
        GLOBAL,
    ),
    (
        "a barrier does not order blocks",
        BLOCKS,
        GRID_SYNC,
        [
            "bar.sync 0;",
            "bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra M;\nfence.sc.gpu; atom.add.relaxed.gpu.global.u32 %r12, [%rd2], 1;\nG: ld.relaxed.gpu.global.u32 %r12, [%rd2]; setp.ne.u32 %p2, %r12, 2; @%p2 bra G; fence.sc.gpu;\nM: bar.sync 0;",
        ],
        GLOBAL,
    ),
    (
        "grid barrier without a fence",
        BLOCKS,
        GRID_SYNC,
        [
            "bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra M;\natom.add.relaxed.gpu.global.u32 %r12, [%rd2], 1;\nG: ld.relaxed.gpu.global.u32 %r12, [%rd2]; setp.ne.u32 %p2, %r12, 2; @%p2 bra G;\nM: bar.sync 0;",
            "bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra M;\natom.add.release.gpu.global.u32 %r12, [%rd2], 1;\nG: ld.acquire.gpu.global.u32 %r12, [%rd2]; setp.ne.u32 %p2, %r12, 2; @%p2 bra G;\nM: bar.sync 0;",
        ],
        GLOBAL,
    ),
    (
        "grid barrier without the block's barrier after it",
        BLOCKS,
        "mad.wide.u32 %rd10, %r2, 128, %rd4; st.global.u32 [%rd10], %r1; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra M;\natom.add.release.gpu.global.u32 %r12, [%rd2], 1;\nG: ld.acquire.gpu.global.u32 %r12, [%rd2]; setp.ne.u32 %p2, %r12, 2; @%p2 bra G;\nM: ? xor.b32 %r20, %r2, 1; mad.wide.u32 %rd11, %r20, 128, %rd4; ld.global.u32 %r8, [%rd11];",
        ["", "bar.sync 0;"],
        GLOBAL,
    ),
    (
        "named barriers of different numbers",
        Grid(1, 128, 1),
        "shr.u32 %r20, %r4, 1; add.u32 %r21, %r20, 1; st.shared.u32 [%r5], %r1; ? xor.b32 %r10, %r5, 256; ld.shared.u32 %r8, [%r10];",
        ["bar.sync %r21, 64;", "bar.sync 1, 128;"],
        SHARED,
    ),
    (
        "producer arrives before it writes",
        WARPS,
        "setp.eq.u32 %p1, %r4, 1; @%p1 bra C;\n?\nbra END;\nC: bar.sync 1, 64; xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];",
        [
            "bar.arrive 1, 64; st.shared.u32 [%r5], %r1;",
            "st.shared.u32 [%r5], %r1; bar.arrive 1, 64;",
        ],
        SHARED,
    ),
    (
        "second round without a barrier",
        WARPS,
        "mov.u32 %r20, 0;\nL: st.shared.u32 [%r5], %r20; bar.sync 0; xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];\n? add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, 3; @%p1 bra L;",
        ["", "bar.sync 0;"],
        SHARED,
    ),
    (
        "half of 16 bytes, in a kernel that also stores bytes",
        WARPS,
        "setp.gt.u32 %p1, %r1, 3; mul.lo.u32 %r20, %r1, 16; mov.u32 %r21, tile; add.u32 %r20, %r20, %r21;\n\
         @!%p1 st.shared.v4.u32 [%r20], {%r1, %r1, %r1, %r1}; st.shared.u8 [%r5+256], 1; ?\n\
         setp.ne.u32 %p2, %r1, 33; @%p2 bra END; ld.shared.u8 %h1, [tile+28];",
        ["", "bar.sync 0;"],
        (SharedRace, ["st.shared.v4.u32", "ld.shared.u8"]),
    ),
    // Inside a warp.
    (
        "warp barrier, shared",
        WARP,
        NEXT,
        ["", "bar.warp.sync 0xffffffff;"],
        (SharedRaceInWarp, [W, R]),
    ),
    (
        "warp barrier, global",
        WARP,
        NEXT_GLOBAL,
        ["", "bar.warp.sync 0xffffffff;"],
        (GlobalRaceInWarp, [GW, GR]),
    ),
    (
        "a lane that repeats a store comes after it, whatever the order of the lanes' words",
        WARP,
        "xor.b32 %r10, %r5, 4; mov.u32 %r11, 0; L: st.shared.u32 [%r10], %r1; add.u32 %r11, %r11, 1;\n\
         setp.lt.u32 %p1, %r11, 2; @%p1 bra L; ? ld.shared.u32 %r8, [%r5];",
        ["", "mov.u32 %r5, %r10;"],
        (SharedRaceInWarp, [W, R]),
    ),
    (
        "a shuffle orders no memory",
        WARP,
        NEXT,
        ["shfl.sync.idx.b32 %r12, %r1, 0, 31, -1;", "bar.warp.sync -1;"],
        (SharedRaceInWarp, [W, R]),
    ),
    (
        "a vote orders no memory",
        WARP,
        NEXT_GLOBAL,
        ["setp.ne.u32 %p4, %r1, 99; vote.sync.ballot.b32 %r12, %p4, -1;", "bar.warp.sync -1;"],
        (GlobalRaceInWarp, [GW, GR]),
    ),
    (
        "a warp barrier of other lanes",
        WARP,
        "setp.gt.u32 %p1, %r3, 7; st.shared.u32 [%r5], %r1; ? xor.b32 %r10, %r5, 32; ld.shared.u32 %r8, [%r10];",
        ["@%p1 bra X; bar.warp.sync 0xff; X:", "bar.warp.sync -1;"],
        (SharedRaceInWarp, [W, R]),
    ),
    (
        "warp-synchronous reduction",
        WARP,
        "st.shared.u32 [%r5], %r1; bar.warp.sync -1; setp.gt.u32 %p1, %r3, 15;\n@%p1 bra A; ld.shared.u32 %r10, [%r5+64]; add.u32 %r11, %r1, %r10; st.shared.u32 [%r5], %r11;\nA: ? setp.gt.u32 %p1, %r3, 7; @%p1 bra END; ld.shared.u32 %r10, [%r5+32]; add.u32 %r11, %r11, %r10; st.shared.u32 [%r5], %r11;",
        ["", "bar.warp.sync -1;"],
        (SharedRaceInWarp, [W, R]),
    ),
    (
        "lane 0 releases what its warp wrote",
        BLOCKS,
        "setp.ne.u32 %p1, %r3, 0; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; st.global.u32 [%rd4], %r1; ? @%p1 bra END; st.release.gpu.global.u32 [%rd2], 1; bra END;\nC: @%p1 bra END; S: ld.acquire.gpu.global.u32 %r8, [%rd2]; setp.eq.u32 %p3, %r8, 0; @%p3 bra S; ld.global.u32 %r8, [%rd1+64];",
        ["", "bar.warp.sync -1;"],
        GLOBAL,
    ),
    (
        "lane 0 acquires and its warp reads",
        BLOCKS,
        "setp.ne.u32 %p1, %r3, 0; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; @%p1 bra END; st.global.u32 [%rd1+64], %r1; st.release.gpu.global.u32 [%rd2], 1; bra END;\nC: @%p1 bra D; S: ld.acquire.gpu.global.u32 %r8, [%rd2]; setp.eq.u32 %p3, %r8, 0; @%p3 bra S;\nD: ? ld.global.u32 %r8, [%rd1+64];",
        ["", "bar.warp.sync -1;"],
        GLOBAL,
    ),
    (
        "fences of lanes that do not write the flag",
        BLOCKS,
        "setp.ne.u32 %p1, %r3, 0; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; st.global.u32 [%rd4], %r1; ? @%p1 bra END; st.relaxed.gpu.global.u32 [%rd2], 1; bra END;\nC: @%p1 bra END; S: ld.acquire.gpu.global.u32 %r8, [%rd2]; setp.eq.u32 %p3, %r8, 0; @%p3 bra S; ld.global.u32 %r8, [%rd1+64];",
        ["fence.acq_rel.gpu; bar.warp.sync -1;", "bar.warp.sync -1; fence.acq_rel.gpu;"],
        GLOBAL,
    ),
    // Clusters.
    (
        "cluster barrier",
        CLUSTER,
        "st.shared.u32 [%r5], %r1; xor.b32 %r20, %r2, 1; mapa.shared::cluster.u32 %r21, %r5, %r20;\n? ld.shared::cluster.u32 %r8, [%r21]; barrier.cluster.arrive; barrier.cluster.wait;",
        ["bar.sync 0;", "barrier.cluster.arrive; barrier.cluster.wait;"],
        (SharedRace, [W, "ld.shared::cluster.u32"]),
    ),
    (
        "relaxed arrival at the cluster barrier",
        CLUSTER,
        "st.shared.u32 [%r5], %r1; xor.b32 %r20, %r2, 1; mapa.shared::cluster.u32 %r21, %r5, %r20;\n? barrier.cluster.wait.acquire; ld.shared::cluster.u32 %r8, [%r21]; barrier.cluster.arrive; barrier.cluster.wait;",
        [
            "barrier.cluster.arrive.relaxed;",
            "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;",
        ],
        (SharedRace, [W, "ld.shared::cluster.u32"]),
    ),
    (
        "store into another block's tile",
        CLUSTER,
        "barrier.cluster.arrive.relaxed; barrier.cluster.wait; xor.b32 %r20, %r2, 1; mapa.shared::cluster.u32 %r21, %r5, %r20;\n\
         st.shared::cluster.u32 [%r21], %r1;\n? ld.shared.u32 %r8, [%r5]; barrier.cluster.arrive; barrier.cluster.wait;",
        ["bar.sync 0;", "barrier.cluster.arrive; barrier.cluster.wait;"],
        (SharedRace, ["st.shared::cluster.u32", R]),
    ),
    (
        "global memory between blocks of a cluster",
        CLUSTER,
        GRID_SYNC,
        ["bar.sync 0;", "barrier.cluster.arrive; barrier.cluster.wait;"],
        GLOBAL,
    ),
    // Mbarriers and copies.
    (
        "mbarrier arrival before the write",
        WARPS,
        "mov.u32 %r20, word; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r20], 64; bar.sync 0;\n? T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];",
        [
            "mbarrier.arrive.shared.b64 _, [%r20]; st.shared.u32 [%r5], %r1;",
            "st.shared.u32 [%r5], %r1; mbarrier.arrive.shared.b64 _, [%r20];",
        ],
        SHARED,
    ),
    (
        "mbarrier arrival that is relaxed",
        WARPS,
        "mov.u32 %r20, word; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r20], 64; bar.sync 0;\nst.shared.u32 [%r5], %r1; ? T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];",
        [
            "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r20];",
            "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r20];",
        ],
        SHARED,
    ),
    (
        "mbarrier arrival that is relaxed, and a fence before it",
        WARPS,
        "mov.u32 %r20, word; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r20], 64; bar.sync 0;\nst.shared.u32 [%r5], %r1; ? mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r20];\nT: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];",
        ["", "fence.acq_rel.cta;"],
        SHARED,
    ),
    (
        "wait at an mbarrier that is relaxed, and a fence after it",
        WARPS,
        "mov.u32 %r20, word; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r20], 64; bar.sync 0;\nst.shared.u32 [%r5], %r1; mbarrier.arrive.shared.b64 _, [%r20];\nT: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p3, [%r20], 0; @!%p3 bra T; ? xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];",
        ["", "fence.acq_rel.cta;"],
        SHARED,
    ),
    (
        "an mbarrier that is used before its initialization is known",
        WARPS,
        "mov.u32 %r20, word; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r20], 64; ? mbarrier.test_wait.parity.shared.b64 %p3, [%r20], 1;",
        ["bar.warp.sync -1;", "bar.sync 0;"],
        (SharedRace, ["mbarrier.init.shared.b64", "mbarrier.test_wait.parity.shared.b64"]),
    ),
    (
        "bulk copy that only one warp waits for",
        WARPS,
        BULK,
        [
            "setp.ne.u32 %p4, %r4, 0; @%p4 bra E; T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; E: bar.warp.sync -1;",
            TRY,
        ],
        (SharedRace, ["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", R]),
    ),
    (
        "source of a bulk copy that is overwritten",
        WARP,
        "st.shared.u32 [%r5], %r1; bar.warp.sync -1; fence.proxy.async.shared::cta; setp.ne.u32 %p1, %r1, 0; @%p1 bra END; mov.u32 %r21, tile;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r21], 128; cp.async.bulk.commit_group; ? st.shared.u32 [%r5], 5; cp.async.bulk.wait_group 0;",
        ["", "cp.async.bulk.wait_group.read 0;"],
        (SharedRace, ["cp.async.bulk.global.shared::cta.bulk_group", W]),
    ),
    (
        "cp.async without a barrier after the wait",
        WARPS,
        "cp.async.ca.shared.global [%r5], [%rd4], 4; cp.async.commit_group; cp.async.wait_group 0; ? xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];",
        ["", "bar.sync 0;"],
        (SharedRace, ["cp.async.ca.shared.global", R]),
    ),
];
