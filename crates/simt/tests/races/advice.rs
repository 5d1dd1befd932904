//! The cure that a finding names fits its cause: where many threads change one word, or where blocks race, no barrier is
//! advised.

use super::kernels::{BLOCKS, CLUSTER, Grid, WARP, WARPS, outcome, ways};

/// A racing body, its grid, a part of the cure, and the body that follows the cure: it is silent.
type Case = (&'static str, Grid, &'static str, &'static str);

const BARRIER: &str = "put bar.sync";
const ONE_STORE: &str = "let one thread store it, or give each thread a word of its own";
const ONE_BLOCK: &str = "let one thread of one block store it, or give each block words of its own";
const ONE_ATOMIC: &str = "make the load, the change and the store one atomic operation";
const BY_FIRST: &str = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; ";

const CASES: &[Case] = &[
    // One word that several threads store to.
    ("st.global.u32 [%rd1], %r4;", WARPS, ONE_STORE, "FIRST st.global.u32 [%rd1], %r4;"),
    ("st.shared.u32 [word], %r4;", WARPS, ONE_STORE, "FIRST st.shared.u32 [word], %r4;"),
    (
        "st.global.u32 [%rd1], %r2;",
        BLOCKS,
        ONE_BLOCK,
        "setp.ne.u32 %p2, %r2, 0; @%p2 bra END; FIRST st.global.u32 [%rd1], %r2;",
    ),
    (
        "st.global.u32 [%rd1], %r2;",
        CLUSTER,
        ONE_BLOCK,
        "mad.wide.u32 %rd10, %r2, 4, %rd1; FIRST st.global.u32 [%rd10], %r2;",
    ),
    // In a loop, another round may be what lacks a barrier.
    (
        "mov.u32 %r20, 0; L: setp.eq.u32 %p2, %r4, %r20; @%p2 st.shared.u32 [word], %r4; ? add.u32 %r20, %r20, 1;\n\
         setp.lt.u32 %p3, %r20, 2; @%p3 bra L;",
        WARPS,
        BARRIER,
        "",
    ),
    // One word that several threads change.
    (
        "ld.global.u32 %r8, [%rd2]; add.u32 %r8, %r8, %r9; st.global.u32 [%rd2], %r8;",
        BLOCKS,
        ONE_ATOMIC,
        "red.global.add.u32 [%rd2], %r9;",
    ),
    (
        "FIRSTS ld.global.u32 %r8, [%rd2]; add.u32 %r8, %r8, %r1; st.global.u32 [%rd2], %r8;",
        WARPS,
        ONE_ATOMIC,
        "FIRSTS red.global.add.u32 [%rd2], %r1;",
    ),
    (
        "st.shared.u32 [%r5], 0; bar.sync 0; FIRSTS ld.shared.u32 %r8, [tile]; max.u32 %r8, %r8, %r1; st.shared.u32 [tile], %r8;",
        WARPS,
        ONE_ATOMIC,
        "st.shared.u32 [%r5], 0; bar.sync 0; FIRSTS red.shared.max.u32 [tile], %r1;",
    ),
    // What is stored was not made of what was loaded: a barrier is the cure.
    (
        "mov.u32 %r10, tile; mad.lo.u32 %r10, %r3, 4, %r10; setp.ne.u32 %p2, %r4, 0; @!%p2 st.shared.u32 [%r10], %r1; ?\n\
         @%p2 ld.shared.u32 %r8, [%r10];",
        WARPS,
        BARRIER,
        "",
    ),
    // Blocks, which no barrier of theirs orders.
    (
        "mad.wide.u32 %rd10, %r2, 128, %rd4; st.global.u32 [%rd10], %r2; bar.sync 0; ld.global.u32 %r8, [%rd1+128];",
        BLOCKS,
        "let each block own its bytes",
        "mad.wide.u32 %rd10, %r2, 128, %rd4; st.global.u32 [%rd10], %r2; bar.sync 0; ld.global.u32 %r8, [%rd10];",
    ),
    (
        "st.shared.u32 [%r5], %r1; xor.b32 %r20, %r2, 1; mapa.shared::cluster.u32 %r21, %r5, %r20; bar.sync 0; ?\n\
         ld.shared::cluster.u32 %r8, [%r21]; barrier.cluster.arrive; barrier.cluster.wait;",
        CLUSTER,
        "put a barrier of the cluster (barrier.cluster, cluster.sync()) between",
        "barrier.cluster.arrive; barrier.cluster.wait;",
    ),
    // A first value that one block stores, and that another counts on.
    (
        "setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r2, 0; or.pred %p3, %p1, %p2; @!%p3 st.global.u32 [%rd2], 0; bar.sync 0;\n\
         @!%p1 red.global.add.u32 [%rd2], 1;",
        BLOCKS,
        "store the first value before this launch",
        "FIRST red.global.add.u32 [%rd2], 1;",
    ),
    (
        "setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r2, 0; or.pred %p3, %p1, %p2; @!%p3 st.global.u32 [%rd2], 0; bar.sync 0;\n\
         @!%p1 atom.global.add.u32 %r8, [%rd2], 1; @!%p1 st.global.u32 [%rd1], %r9;",
        BLOCKS,
        "store the first value before this launch",
        "FIRST atom.global.add.u32 %r8, [%rd2], 1;",
    ),
    (
        "setp.ne.u32 %p1, %r1, 0; @!%p1 st.global.u32 [%rd2], 0; ? setp.ne.u32 %p2, %r3, 0; @!%p2 atom.global.add.u32 %r8, [%rd2], 1;",
        WARPS,
        BARRIER,
        "",
    ),
    // A counter that is read plainly is no flag that lacks a release.
    (
        "FIRSTS atom.global.add.u32 %r8, [%rd2], 1; ld.global.u32 %r10, [%rd2];",
        BLOCKS,
        "make both atomic",
        "FIRSTS atom.global.add.u32 %r8, [%rd2], 1; ld.relaxed.gpu.global.u32 %r10, [%rd2];",
    ),
    // Each thread has a fence, and the one that hands on does so before the others have stored.
    (
        "mad.lo.u32 %r20, %r2, 64, %r1; mad.wide.u32 %rd10, %r20, 4, %rd1; st.global.u32 [%rd10], %r9; membar.gl; ?\n\
         setp.ne.u32 %p1, %r1, 0; mov.u32 %r12, 0; @!%p1 atom.add.gpu.global.u32 %r12, [%rd2], 1; @!%p1 membar.gl;\n\
         @!%p1 st.shared.u32 [word], %r12; bar.sync 0; ld.shared.u32 %r12, [word]; setp.ne.u32 %p2, %r12, 3; @%p2 bra END;\n\
         ld.global.u32 %r8, [%rd4]; ld.global.u32 %r8, [%rd4+256]; ld.global.u32 %r8, [%rd4+512];",
        Grid(4, 64, 1),
        "let a barrier come before the release",
        "",
    ),
    // A copy that is neither awaited nor followed by a barrier needs both.
    (
        "cp.async.ca.shared.global [%r5], [%rd4], 4; cp.async.commit_group; ? xor.b32 %r10, %r5, 128; ld.shared.u32 %r8, [%r10];",
        WARPS,
        "let the threads that copy wait (cp.async.wait_group, __pipeline_wait_prior) before that barrier",
        "cp.async.wait_group 0; bar.sync 0;",
    ),
    // A warp's own word.
    (
        "st.shared.u32 [%r5], %r1; ? xor.b32 %r10, %r5, 4; ld.shared.u32 %r8, [%r10];",
        WARP,
        "put bar.warp.sync",
        "bar.warp.sync -1;",
    ),
    // Lanes that have exited.
    (
        "setp.gt.u32 %p2, %r3, 19; @%p2 bra END; shfl.sync.down.b32 %r8, %r1, 4, 31, -1; st.global.u32 [%rd4], %r8;",
        WARP,
        "let no lane of the warp return before it",
        "setp.gt.u32 %p2, %r3, 19; shfl.sync.down.b32 %r8, %r1, 4, 31, -1; @!%p2 st.global.u32 [%rd4], %r8;",
    ),
    (
        "setp.gt.u32 %p2, %r3, 15; @%p2 bra E; shfl.sync.down.b32 %r8, %r1, 8, 31, 0xffff; st.global.u32 [%rd4], %r8; E: bar.warp.sync -1;",
        WARP,
        "read only lanes that execute the same shuffle",
        "shfl.sync.down.b32 %r8, %r1, 8, 31, -1; st.global.u32 [%rd4], %r8;",
    ),
];

/// Writes out the parts that bodies share: the first thread alone, or the first lane of each warp.
fn whole(text: &str) -> String {
    let firsts = "setp.ne.u32 %p1, %r3, 0; @%p1 bra END; ";
    text.replace("FIRSTS", firsts).replace("FIRST", BY_FIRST)
}

#[test]
fn the_cure_fits_the_cause_and_cures() {
    let mut wrong = Vec::new();
    for (broken, grid, cure, repaired) in CASES {
        let repaired = match (broken.contains('?'), repaired.is_empty()) {
            (true, true) => broken.replace('?', "bar.sync 0;"),
            (true, false) => broken.replace('?', repaired),
            _ => (*repaired).to_owned(),
        };
        let [broken, repaired] = [broken.replace('?', ""), repaired].map(|body| whole(&body));
        let is_barrier_wrong =
            [ONE_STORE, ONE_BLOCK, ONE_ATOMIC].contains(cure) || cure.contains("block own");
        for way in ways() {
            let findings = |body: &str| match outcome(body, *grid, way) {
                Ok(report) => report.findings,
                Err(error) => panic!("{way:?}: {error}: {body}"),
            };
            let found = findings(&broken);
            let has = |cure: &str| found.iter().any(|found| found.remedy().contains(cure));
            if !has(cure) || is_barrier_wrong && has(BARRIER) {
                wrong.push(format!("{way:?}, `{cure}`: {broken}: {found:?}"));
            }
            let left = findings(&repaired);
            if !left.is_empty() {
                wrong.push(format!("{way:?}, after `{cure}`: {repaired}: {left:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}
