//! Loads that harm only who uses their value: each body is silent with one word, and accused with the other.

use super::kernels::{BLOCKS, Grid, WARPS, outcome, ways};
use simt::Hazard::{
    self, GlobalRace, SharedRace, UninitializedGlobal, UninitializedRegister, UninitializedShared,
};

const ONE: Grid = Grid(1, 1, 1);
/// Thread 0 of each block; block 0 writes the word that both read.
const RACE: &str = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.eq.u32 %p2, %r2, 0;\n\
                    @%p2 st.global.u32 [%rd1], 1;\nld.global.u32 %r8, [%rd1]; setp.eq.u32 %p4, %r2, ";
/// A structure of a byte and a word, with padding between.
const PADDED: &str = "st.shared.u8 [tile], 5; st.shared.u32 [tile+4], 6; ld.shared.u64 %rd10, [tile];\n\
                      ld.shared.u32 %r15, [tile+4]; ";

/// The name, who takes part, the beginning and the end of a body, the word between them that is right and the one that is
/// wrong, and the hazard.
type Case = (&'static str, Grid, [&'static str; 2], [&'static str; 2], Hazard);

const CASES: &[Case] = &[
    (
        "a conjunction drops a load that races",
        BLOCKS,
        [RACE, "; setp.eq.u32 %p3, %r8, 1; and.pred %p3, %p3, %p4; @%p3 st.global.u32 [%rd2], 1;"],
        ["0", "1"],
        GlobalRace,
    ),
    (
        "a disjunction drops it",
        BLOCKS,
        [
            RACE,
            "; not.pred %p4, %p4; setp.eq.u32 %p3, %r8, 1; or.pred %p3, %p3, %p4; @%p3 st.shared.u32 [tile], 1;",
        ],
        ["0", "1"],
        GlobalRace,
    ),
    (
        "a selection drops it",
        BLOCKS,
        [RACE, "; add.u32 %r8, %r8, 1; selp.b32 %r8, %r8, 0, %p4; st.shared.u32 [tile], %r8;"],
        ["0", "1"],
        GlobalRace,
    ),
    (
        "nobody uses it",
        BLOCKS,
        [RACE, "0; add.u32 %r8, %r8, 1; mul.lo.u32 %r8, %r8, %r8; ?"],
        ["", "st.shared.u32 [tile], %r8;"],
        GlobalRace,
    ),
    (
        "another lane uses it",
        WARPS,
        [
            "mov.u32 %r10, word; mad.lo.u32 %r11, %r4, 4, %r10; setp.ne.u32 %p1, %r3, 0; @!%p1 st.shared.u32 [%r11], %r1;\n?\n\
             setp.gt.u32 %p2, %r1, 1; @%p2 bra END; mad.lo.u32 %r11, %r1, 4, %r10; ld.shared.u32 %r12, [%r11];\n\
             shfl.sync.down.b32 %r13, %r12, 1, 7711, 3; add.u32 %r12, %r12, %r13; @!%p1 st.global.u32 [%rd1], %r12;",
            "",
        ],
        ["bar.sync 0;", ""],
        SharedRace,
    ),
    (
        "a write comes after the load",
        BLOCKS,
        [
            "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; ld.global.u32 %r8, [%rd1]; add.u32 %r8, %r8, 1; setp.ne.u32 %p2, %r2, 0;\n\
             @%p2 st.global.u32 [%rd1], 1; ",
            "",
        ],
        ["", "st.shared.u32 [tile], %r8;"],
        GlobalRace,
    ),
    (
        "a selection drops what nobody wrote",
        ONE,
        [
            "ld.shared.u32 %r8, [tile]; setp.ne.u32 %p1, %r1, ",
            "; selp.b32 %r8, %r8, 0, %p1; st.global.u32 [%rd1], %r8;",
        ],
        ["0", "7"],
        UninitializedShared,
    ),
    (
        "a structure is copied with its padding",
        ONE,
        [
            PADDED,
            "st.shared.u64 [tile+8], %rd10; ld.shared.u8 %h1, [tile+?]; st.global.u8 [%rd1], %h1;",
        ],
        ["8", "9"],
        UninitializedShared,
    ),
    (
        "it is copied through global memory",
        ONE,
        [
            PADDED,
            "st.global.u64 [%rd1], %rd10; ld.global.u8 %h1, [%rd1+?]; st.global.u8 [%rd2], %h1;",
        ],
        ["0", "2"],
        UninitializedGlobal,
    ),
    (
        "its word is taken by a shift",
        ONE,
        [
            PADDED,
            "shr.u64 %rd11, %rd10, ?; cvt.u32.u64 %r16, %rd11; add.u32 %r16, %r16, %r15; st.global.u32 [%rd1], %r16;",
        ],
        ["32", "16"],
        UninitializedShared,
    ),
    (
        "its double is stored",
        ONE,
        [PADDED, "shl.b64 %rd11, %rd10, ?; st.global.u64 [%rd1], %rd11;"],
        ["8", "1"],
        UninitializedShared,
    ),
    (
        "its word is a half",
        ONE,
        [PADDED, "mov.b64 {%r16, %r17}, %rd10; add.u32 %r18, %r15, ?; st.global.u32 [%rd1], %r18;"],
        ["%r17", "%r16"],
        UninitializedShared,
    ),
    (
        "its byte is taken by a mask",
        ONE,
        [PADDED, "and.b64 %rd11, %rd10, ?; add.u64 %rd11, %rd11, 1; st.global.u64 [%rd1], %rd11;"],
        ["255", "65535"],
        UninitializedShared,
    ),
    (
        "an accumulator starts unwritten",
        ONE,
        ["setp.eq.u32 %p1, %r1, 0; ", " add.u32 %r30, %r30, %r1; st.global.u32 [%rd1], %r30;"],
        ["@%p1 mov.u32 %r30, 0;", "@!%p1 mov.u32 %r30, 0;"],
        UninitializedRegister,
    ),
];

#[test]
fn a_value_that_nothing_uses_does_no_harm() {
    for (name, grid, [begin, end], [right, wrong], hazard) in CASES {
        let body = |word: &str| {
            let has_place = begin.contains('?') || end.contains('?');
            let between = if has_place { "" } else { word };
            format!("{begin}{between}{end}").replace('?', word)
        };
        for way in ways() {
            let report = outcome(&body(right), *grid, way).unwrap();
            assert_eq!(report.findings, [], "{name}, {way:?}: {}", body(right));
            let report = outcome(&body(wrong), *grid, way).unwrap();
            let found = report.findings.iter().any(|finding| finding.hazard == *hazard);
            assert!(found, "{name}, {way:?}: {:?}", report.findings);
        }
    }
}
