//! The litmus tests of the memory model, and idioms that are right although they look racy.

use super::Row;
use super::kernels::{BLOCKS, GLOBAL, GR, GW, Grid, R, SHARED, W, WARPS};
use simt::Hazard::{GlobalRace, SharedRace};

/// The last block sums what all wrote; `?` is between the write and the ticket.
const LAST_BLOCK: &str = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n\
     mad.wide.u32 %rd10, %r2, 4, %rd1; st.global.u32 [%rd10], %r9; ?\n\
     setp.ne.u32 %p2, %r12, 3; @%p2 bra END;\n\
     ld.global.u32 %r8, [%rd1]; ld.global.u32 %r10, [%rd1+12]; st.global.u32 [%rd2], 0;";
const TICKET: &str = "atom.add.gpu.global.u32 %r12, [%rd2], 1;";

pub const ROWS: &[Row] = &[
    // Litmus tests.
    (
        "store buffering",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra O;\nst?.global.u32 [%rd1], 1; ld?.global.u32 %r8, [%rd2]; bra END;\nO: st?.global.u32 [%rd2], 1; ld?.global.u32 %r8, [%rd1];",
        ["", ".relaxed.gpu"],
        GLOBAL,
    ),
    (
        "load buffering",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra O;\nld?.global.u32 %r8, [%rd2]; st?.global.u32 [%rd1], 1; bra END;\nO: ld?.global.u32 %r8, [%rd1]; st?.global.u32 [%rd2], 1;",
        [".weak", ".relaxed.sys"],
        (GlobalRace, ["st.weak.global.u32", "ld.weak.global.u32"]),
    ),
    (
        "independent reads of independent writes",
        Grid(4, 32, 1),
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.gt.u32 %p2, %r2, 1; @%p2 bra O; mad.wide.u32 %rd10, %r2, 4, %rd1; st?.global.u32 [%rd10], 1; bra END;\nO: ld?.global.u32 %r8, [%rd1]; fence.sc.gpu; ld?.global.u32 %r10, [%rd1+4];",
        ["", ".relaxed.gpu"],
        GLOBAL,
    ),
    (
        "coherence of weak writes",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; st?.global.u32 [%rd1], %r2;",
        ["", ".relaxed.gpu"],
        (GlobalRace, [GW, GW]),
    ),
    (
        "release sequence by an update",
        Grid(3, 32, 1),
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.eq.u32 %p2, %r2, 1; @%p2 bra B; setp.eq.u32 %p3, %r2, 2; @%p3 bra C;\nst.global.u32 [%rd1], %r9; st.release.gpu.global.u32 [%rd2], 1; bra END;\nB: ld.relaxed.gpu.global.u32 %r8, [%rd2]; setp.ne.u32 %p4, %r8, 1; @%p4 bra B; ? st.relaxed.gpu.global.u32 [%rd2+4], 1; bra END;\nC: ld.relaxed.gpu.global.u32 %r8, [%rd2+4]; setp.ne.u32 %p4, %r8, 1; @%p4 bra C; ld.acquire.gpu.global.u32 %r8, [%rd2]; ld.global.u32 %r8, [%rd1];",
        ["st.relaxed.gpu.global.u32 [%rd2], 2;", "red.relaxed.gpu.global.add.u32 [%rd2], 1;"],
        GLOBAL,
    ),
    (
        "release sequence of the same thread",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; st.global.u32 [%rd1], %r9; ? st.relaxed.gpu.global.u32 [%rd2], 2; bra END;\nC: ld.acquire.gpu.global.u32 %r8, [%rd2]; setp.ne.u32 %p4, %r8, 2; @%p4 bra C; ld.global.u32 %r8, [%rd1];",
        ["st.relaxed.gpu.global.u32 [%rd2], 1;", "st.release.gpu.global.u32 [%rd2], 1;"],
        GLOBAL,
    ),
    (
        "transitivity through a third block",
        Grid(3, 32, 1),
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.eq.u32 %p2, %r2, 1; @%p2 bra B; setp.eq.u32 %p3, %r2, 2; @%p3 bra C;\nst.global.u32 [%rd1], %r9; st.release.gpu.global.u32 [%rd2], 1; bra END;\nB: ld?.gpu.global.u32 %r8, [%rd2]; setp.ne.u32 %p4, %r8, 1; @%p4 bra B; st.release.gpu.global.u32 [%rd2+4], 1; bra END;\nC: ld.acquire.gpu.global.u32 %r8, [%rd2+4]; setp.ne.u32 %p4, %r8, 1; @%p4 bra C; ld.global.u32 %r8, [%rd1];",
        [".relaxed", ".acquire"],
        GLOBAL,
    ),
    (
        "write after the release",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; ? bra END;\nC: ld.acquire.gpu.global.u32 %r8, [%rd2]; setp.ne.u32 %p4, %r8, 1; @%p4 bra C; ld.global.u32 %r8, [%rd1];",
        [
            "st.release.gpu.global.u32 [%rd2], 1; st.global.u32 [%rd1], %r9;",
            "st.global.u32 [%rd1], %r9; st.release.gpu.global.u32 [%rd2], 1;",
        ],
        GLOBAL,
    ),
    (
        "a flag that is written plainly",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; st?.global.u32 [%rd2], 1; bra END;\nC: ld.acquire.gpu.global.u32 %r8, [%rd2];",
        ["", ".release.gpu"],
        (GlobalRace, [GW, "ld.acquire.gpu.global.u32"]),
    ),
    (
        "accesses of different sizes",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; st.relaxed.gpu.global.u64 [%rd2], 1; bra END;\nC: ?",
        ["ld.relaxed.gpu.global.u32 %r8, [%rd2+4];", "ld.relaxed.gpu.global.u64 %rd10, [%rd2];"],
        (GlobalRace, ["st.relaxed.gpu.global.u64", "ld.relaxed.gpu.global.u32"]),
    ),
    (
        "an atomic of too narrow a scope",
        BLOCKS,
        "red?.global.add.u32 [%rd2], 1;",
        [".relaxed.cta", ".relaxed.gpu"],
        (GlobalRace, ["red.relaxed.cta.global.add.u32", "red.relaxed.cta.global.add.u32"]),
    ),
    (
        "a volatile payload is read plainly",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; st.volatile.global.u32 [%rd1], 3; ? st.volatile.global.u32 [%rd2], 1; bra END;\nC: ld.acquire.sys.global.u32 %r8, [%rd2]; setp.ne.u32 %p4, %r8, 1; @%p4 bra C; ld.global.u32 %r8, [%rd1];",
        ["", "membar.gl;"],
        (GlobalRace, ["st.volatile.global.u32", GR]),
    ),
    // Idioms.
    (
        "last block",
        Grid(4, 32, 1),
        LAST_BLOCK,
        [TICKET, "membar.gl; atom.add.gpu.global.u32 %r12, [%rd2], 1; membar.gl;"],
        GLOBAL,
    ),
    (
        "last block without a fence before the ticket",
        Grid(4, 32, 1),
        LAST_BLOCK,
        [
            "atom.add.gpu.global.u32 %r12, [%rd2], 1; membar.gl;",
            "fence.acq_rel.gpu; atom.add.gpu.global.u32 %r12, [%rd2], 1; fence.acq_rel.gpu;",
        ],
        GLOBAL,
    ),
    (
        "last block without a fence after the ticket",
        Grid(4, 32, 1),
        LAST_BLOCK,
        [
            "atom.add.release.gpu.global.u32 %r12, [%rd2], 1;",
            "atom.add.acq_rel.gpu.global.u32 %r12, [%rd2], 1;",
        ],
        GLOBAL,
    ),
    (
        "last block whose threads fence before the barrier",
        Grid(4, 64, 1),
        "setp.ne.u32 %p1, %r1, 0; mad.lo.u32 %r20, %r2, 64, %r1; mad.wide.u32 %rd10, %r20, 4, %rd1; st.global.u32 [%rd10], %r9; ? bar.sync 0; mov.u32 %r12, 0; @!%p1 atom.add.gpu.global.u32 %r12, [%rd2], 1; @!%p1 membar.gl; @!%p1 st.shared.u32 [word], %r12; bar.sync 0; ld.shared.u32 %r12, [word]; setp.ne.u32 %p2, %r12, 3; @%p2 bra END; ld.global.u32 %r8, [%rd4]; ld.global.u32 %r8, [%rd4+256]; ld.global.u32 %r8, [%rd4+512];",
        ["", "membar.gl;"],
        GLOBAL,
    ),
    (
        "look-back: value and state",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; ? bra END;\nC: ld.relaxed.gpu.global.u64 %rd10, [%rd2]; setp.eq.u64 %p4, %rd10, 0; @%p4 bra C; ld.global.u32 %r8, [%rd1];",
        [
            "st.global.u32 [%rd1], %r9; st.relaxed.gpu.global.u64 [%rd2], 77;",
            "st.relaxed.gpu.global.u64 [%rd2], 77;",
        ],
        GLOBAL,
    ),
    (
        "double-checked flag",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; ld?.gpu.global.u32 %r8, [%rd2]; setp.eq.u32 %p2, %r8, 2; @%p2 bra USE;\natom.cas.acquire.gpu.global.b32 %r8, [%rd2], 0, 1; setp.eq.u32 %p3, %r8, 0; @!%p3 bra WAIT; st.global.u32 [%rd1], %r9; st.release.gpu.global.u32 [%rd2], 2; bra USE;\nWAIT: ld?.gpu.global.u32 %r8, [%rd2]; setp.ne.u32 %p4, %r8, 2; @%p4 bra WAIT;\nUSE: ld.global.u32 %r8, [%rd1];",
        [".relaxed", ".acquire"],
        GLOBAL,
    ),
    (
        "a lock that does not acquire",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\nL: atom.cas?.gpu.global.b32 %r8, [%rd2], 0, 1; setp.ne.u32 %p2, %r8, 0; @%p2 bra L; ld.global.u32 %r10, [%rd1]; add.u32 %r10, %r10, 1; st.global.u32 [%rd1], %r10; atom.exch.release.gpu.global.b32 %r8, [%rd2], 0;",
        [".relaxed", ".acquire"],
        GLOBAL,
    ),
    (
        "a lock that is freed plainly",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\nL: atom.cas.acquire.gpu.global.b32 %r8, [%rd2], 0, 1; setp.ne.u32 %p2, %r8, 0; @%p2 bra L; ld.global.u32 %r10, [%rd1]; add.u32 %r10, %r10, 1; st.global.u32 [%rd1], %r10; ?",
        ["st.global.u32 [%rd2], 0;", "st.release.gpu.global.u32 [%rd2], 0;"],
        (GlobalRace, [GW, "atom.cas.acquire.gpu.global.b32"]),
    ),
    (
        "histogram in global memory",
        BLOCKS,
        "and.b32 %r20, %r1, 3; mad.wide.u32 %rd10, %r20, 4, %rd1; ?",
        [
            "ld.global.u32 %r8, [%rd10]; add.u32 %r8, %r8, 1; st.global.u32 [%rd10], %r8;",
            "red.global.add.u32 [%rd10], 1;",
        ],
        GLOBAL,
    ),
    (
        "histogram in shared memory",
        WARPS,
        "st.shared.u32 [%r5], 0; bar.sync 0; and.b32 %r20, %r1, 3; mov.u32 %r21, tile; mad.lo.u32 %r21, %r20, 4, %r21; atom.shared.add.u32 %r8, [%r21], 1; ? ld.shared.u32 %r8, [%r21];",
        ["bar.warp.sync -1;", "bar.sync 0;"],
        (SharedRace, ["atom.shared.add.u32", R]),
    ),
    (
        "a counter that is read plainly",
        BLOCKS,
        "red.global.add.u32 [%rd2], 1; ld?.global.u32 %r8, [%rd2];",
        ["", ".relaxed.gpu"],
        (GlobalRace, ["red.global.add.u32", GR]),
    ),
    (
        "compare and swap",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; ld.global.u32 %r10, [%rd1];\nL: mov.u32 %r11, %r10; add.u32 %r12, %r11, 1; ? setp.ne.u32 %p2, %r10, %r11; @%p2 bra L;",
        ["st.global.u32 [%rd1], %r12;", "atom.global.cas.b32 %r10, [%rd1], %r11, %r12;"],
        GLOBAL,
    ),
    (
        "bytes of one word",
        BLOCKS,
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; cvt.u64.u32 %rd10, %r2; add.u64 %rd10, %rd1, %rd10; ?",
        ["and.b64 %rd10, %rd10, -2; st.global.u8 [%rd10], %r2;", "st.global.u8 [%rd10], %r2;"],
        (GlobalRace, ["st.global.u8", "st.global.u8"]),
    ),
    (
        "halves of one word in shared memory",
        WARPS,
        "setp.ne.u32 %p1, %r3, 0; @%p1 bra END; mov.u32 %r20, tile; mad.lo.u32 %r20, %r4, ?, %r20; st.shared.u16 [%r20], %r4;",
        ["0", "2"],
        (SharedRace, ["st.shared.u16", "st.shared.u16"]),
    ),
    (
        "all blocks store",
        BLOCKS,
        "st.global.u32 [%rd1], ?;",
        ["%r2", "%r9"],
        (GlobalRace, [GW, GW]),
    ),
    (
        "all warps store",
        WARPS,
        "setp.ne.u32 %p1, %r3, 0; @!%p1 st.shared.u32 [tile], ?;",
        ["%r4", "%r9"],
        (SharedRace, [W, W]),
    ),
    (
        "kernel with barriers after early exits",
        Grid(1, 64, 1),
        "setp.gt.u32 %p1, %r1, 39; @%p1 ret; st.shared.u32 [%r5], %r1; ? xor.b32 %r10, %r5, 128; setp.gt.u32 %p2, %r1, 7; @%p2 bra END; ld.shared.u32 %r8, [%r10];",
        ["bar.warp.sync %r20;", "bar.sync 0;"],
        SHARED,
    ),
];
