//! Loads that harm only who uses their value: each body is silent with one word, and accused with the other.

use super::kernels::{BLOCKS, Grid, HEAD, WARP, WARPS, entry, outcome, ways};
use simt::Hazard::{
    self, GlobalRace, SharedRace, UninitializedGlobal, UninitializedRegister, UninitializedShared,
};
use simt::{Checks, Launch, Memory, Module, Options, run};

const ONE: Grid = Grid(1, 1, 1);
/// Thread 0 of each block; block 0 writes the word that both read.
const RACE: &str = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.eq.u32 %p2, %r2, 0;\n\
                    @%p2 st.global.u32 [%rd1], 1;\nld.global.u32 %r8, [%rd1]; setp.eq.u32 %p4, %r2, ";
/// A structure of a byte and a word, with padding between.
const PADDED: &str = "st.shared.u8 [tile], 5; st.shared.u32 [tile+4], 6; ld.shared.u64 %rd10, [tile];\n\
                      ld.shared.u32 %r15, [tile+4]; ";

/// Lanes below 8 write their word, and all load theirs.
const EIGHT: &str = "setp.lt.u32 %p1, %r3, 8; @%p1 st.shared.u32 [%r5], %r3; ld.shared.u32 %r30, [%r5];\n\
                     setp.gt.u32 %p2, %r30, 3; ";
/// Stores what is computed of a word.
const USE: &str = "add.u32 %r31, %r31, 1; st.global.u32 [%rd2], %r31;";

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
        "the element of a vector that races is used by nobody",
        BLOCKS,
        [
            "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; setp.eq.u32 %p2, %r2, 0; @%p2 st.global.u32 [%rd1+4], 1;\n\
             ld.global.v4.u32 {%r8, %r10, %r11, %r12}, [%rd1]; add.u32 %r8, %r8, %r11; add.u32 %r8, %r8, %r12;",
            " st.shared.u32 [tile], %r8;",
        ],
        ["", "add.u32 %r8, %r8, %r10;"],
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
    (
        "a leader's value is handed to all",
        WARP,
        [
            "setp.eq.u32 %p1, %r3, 0; @%p1 mov.u32 %r30, 5; shfl.sync.idx.b32 %r30, %r30, ?, 31, -1;\n\
             add.u32 %r31, %r30, 1; st.global.u32 [%rd4], %r31;",
            "",
        ],
        ["0", "1"],
        UninitializedRegister,
    ),
    (
        "a leader of each segment hands its value on",
        WARP,
        [
            "and.b32 %r29, %r3, 7; setp.eq.u32 %p1, %r29, 0; @%p1 mov.u32 %r30, 5;\n\
             shfl.sync.idx.b32 %r31|%p2, %r30, ?, 6175, -1; @%p2 add.u32 %r31, %r31, 1; @%p2 st.global.u32 [%rd4], %r31;",
            "",
        ],
        ["0", "1"],
        UninitializedRegister,
    ),
    (
        "a sum has lanes that nobody wrote",
        WARP,
        [
            "setp.lt.u32 %p1, %r3, 16; @%p1 mov.u32 %r30, 1; shfl.sync.down.b32 %r31, %r30, ?, 31, -1;\n\
             add.u32 %r30, %r30, %r31; setp.eq.u32 %p2, %r3, 0; @%p2 st.global.u32 [%rd1], %r30;",
            "",
        ],
        ["8", "16"],
        UninitializedRegister,
    ),
    (
        "a butterfly reaches lanes whose word nobody wrote",
        WARP,
        [
            "setp.lt.u32 %p1, %r3, 16; @%p1 st.shared.u32 [%r5], 1; ld.shared.u32 %r30, [%r5];\n\
             shfl.sync.bfly.b32 %r31, %r30, ?, 31, -1; add.u32 %r30, %r30, %r31; @%p1 st.global.u32 [%rd4], %r30;",
            "",
        ],
        ["8", "16"],
        UninitializedShared,
    ),
    (
        "a scan takes what lies outside of its segment from no lane",
        WARP,
        [
            "setp.gt.u32 %p1, %r3, 7; @%p1 mov.u32 %r30, 1; shfl.sync.up.b32 %r31, %r30, 1, ?, -1;\n\
             add.u32 %r31, %r31, 1; @%p1 st.global.u32 [%rd4], %r31;",
            "",
        ],
        ["6144", "0"],
        UninitializedRegister,
    ),
    (
        "other lanes of a ballot are masked",
        WARP,
        [
            EIGHT,
            "vote.sync.ballot.b32 %r31, %p2, -1; and.b32 %r31, %r31, ?; st.global.u32 [%rd4], %r31;",
        ],
        ["255", "511"],
        UninitializedShared,
    ),
    (
        "one lane decides a vote",
        WARP,
        [
            EIGHT,
            "setp.eq.u32 %p2, %r30, ?; vote.sync.any.pred %p3, %p2, -1; @%p3 st.global.u32 [%rd1], 1;",
        ],
        ["3", "33"],
        UninitializedShared,
    ),
    (
        "other lanes of a match are masked",
        WARP,
        [
            EIGHT,
            "match.any.sync.b32 %r31, %r30, -1; and.b32 %r31, %r31, ?; @%p1 st.global.u32 [%rd4], %r31;",
        ],
        ["255", "511"],
        UninitializedShared,
    ),
    (
        "one lane decides all bits of a reduction",
        WARP,
        [EIGHT, "redux.sync.?.b32 %r31, %r30, -1; st.global.u32 [%rd4], %r31;"],
        ["and", "or"],
        UninitializedShared,
    ),
    (
        "a field is written into a word that nobody wrote",
        ONE,
        [
            "ld.shared.u32 %r30, [tile]; and.b32 %r30, %r30, -32; or.b32 %r30, %r30, 5; st.shared.u32 [tile], %r30;\n\
             ld.shared.u32 %r31, [tile]; and.b32 %r31, %r31, ?;",
            USE,
        ],
        ["31", "63"],
        UninitializedShared,
    ),
    (
        "it goes through global memory",
        ONE,
        [
            "ld.shared.u32 %r30, [tile]; and.b32 %r30, %r30, -32; or.b32 %r30, %r30, 5; st.global.u32 [%rd1], %r30;\n\
             ld.global.u32 %r31, [%rd1]; and.b32 %r31, %r31, ?;",
            USE,
        ],
        ["31", "63"],
        UninitializedGlobal,
    ),
    (
        "it goes through local memory",
        ONE,
        [
            ".local .b8 own[8]; ld.shared.u32 %r30, [tile]; and.b32 %r30, %r30, -32; or.b32 %r30, %r30, 5;\n\
             st.local.u32 [own], %r30; ld.local.u32 %r31, [own]; and.b32 %r31, %r31, ?;",
            USE,
        ],
        ["31", "63"],
        UninitializedShared,
    ),
    (
        "two fields are written into one byte",
        ONE,
        [
            "ld.shared.u8 %h1, [tile]; and.b16 %h1, %h1, 248; or.b16 %h1, %h1, 5; st.shared.u8 [tile], %h1;\n\
             ld.shared.u8 %h1, [tile]; and.b16 %h1, %h1, 199; or.b16 %h1, %h1, 16; st.shared.u8 [tile], %h1;\n\
             ld.shared.u8 %h2, [tile]; and.b16 %h2, %h2, ?; cvt.u32.u16 %r31, %h2;",
            USE,
        ],
        ["63", "127"],
        UninitializedShared,
    ),
    (
        "a field is inserted",
        ONE,
        ["ld.shared.u32 %r30, [tile]; bfi.b32 %r30, 5, %r30, 3, 4; bfe.u32 %r31, %r30, ?, 4;", USE],
        ["3", "4"],
        UninitializedShared,
    ),
    (
        "a field is inserted by a table",
        ONE,
        [
            "ld.shared.u32 %r30, [tile]; lop3.b32 %r30, %r30, 4080, 7, 0xea; and.b32 %r31, %r30, ?;",
            USE,
        ],
        ["61455", "16"],
        UninitializedShared,
    ),
    (
        "bytes are permuted",
        ONE,
        ["ld.shared.u32 %r30, [tile]; prmt.b32 %r30, %r30, 7, 0x3254; and.b32 %r31, %r30, ?;", USE],
        ["65535", "65536"],
        UninitializedShared,
    ),
    (
        "a shift brings bits that are known",
        ONE,
        ["ld.shared.u32 %r30, [tile]; shl.b32 %r30, %r30, 5; and.b32 %r31, %r30, ?;", USE],
        ["31", "32"],
        UninitializedShared,
    ),
    (
        "a part is taken of which no bit was written",
        ONE,
        [
            "st.shared.u8 [tile+1], 5; ld.shared.u32 %r30, [tile]; shr.u32 %r31, %r30, ?; st.global.u32 [%rd1], %r31;",
            "",
        ],
        ["8", "16"],
        UninitializedShared,
    ),
    (
        "a bit is taken that nobody wrote",
        ONE,
        [
            "st.shared.u8 [tile], 5; ld.shared.u32 %r30, [tile]; and.b32 %r31, %r30, ?; st.global.u32 [%rd1], %r31;",
            "",
        ],
        ["128", "256"],
        UninitializedShared,
    ),
    (
        "the highest byte decides a comparison",
        ONE,
        [
            "st.shared.u8 [tile+3], 200; ld.shared.u32 %r30, [tile]; setp.lt.s32 %p1, %r30, ?; @%p1 st.global.u32 [%rd1], 1;",
            "",
        ],
        ["0", "-939524000"],
        UninitializedShared,
    ),
    (
        "the highest byte tells two words apart",
        ONE,
        [
            "st.shared.u8 [tile+3], 200; ld.shared.u32 %r30, [tile]; setp.eq.u32 %p1, %r30, ?; @%p1 st.global.u32 [%rd1], 1;",
            "",
        ],
        ["7", "3355443207"],
        UninitializedShared,
    ),
    (
        "a sum waits in shared memory, and is dropped",
        ONE,
        [
            "add.u32 %r30, %r30, 1; st.shared.u32 [tile], %r30; ld.shared.u32 %r31, [tile]; setp.eq.u32 %p1, %r1, ?;\n\
             @%p1 st.global.u32 [%rd1], %r31;",
            "",
        ],
        ["1", "0"],
        UninitializedRegister,
    ),
    (
        "what was computed in shared memory is told where it came from",
        ONE,
        [
            "ld.shared.u32 %r30, [tile]; add.u32 %r30, %r30, 1; st.shared.u32 [tile+4], %r30;\n\
             ld.shared.u32 %r31, [tile+4]; setp.eq.u32 %p1, %r1, ?; @%p1 st.global.u32 [%rd1], %r31;",
            "",
        ],
        ["1", "0"],
        UninitializedShared,
    ),
    (
        "an accumulator of bits starts unwritten",
        ONE,
        ["setp.eq.u32 %p1, %r1, 0; ", " or.b32 %r30, %r30, 1; st.global.u32 [%rd1], %r30;"],
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

/// A read that comes before the write that nothing orders with it is told as the race that it is.
#[test]
fn one_cause_is_told_once() {
    let words = "mov.u32 %r10, tile; sub.u32 %r11, 63, %r1; mad.lo.u32 %r10, %r11, 4, %r10;\n";
    let load = "ld.shared.u32 %r12, [%r10];\nst.global.u32 [%rd4], %r12;";
    let hazards = |body: &str, way| {
        let report = outcome(&format!("{words}{body}"), WARPS, way).unwrap();
        let mut hazards: Vec<_> = report.findings.iter().map(|finding| finding.hazard).collect();
        hazards.dedup();
        hazards
    };
    for way in ways() {
        let write = "st.shared.u32 [%r5], %r1;\n";
        assert_eq!(hazards(&format!("{write}{load}"), way), [SharedRace], "{way:?}");
        assert_eq!(hazards(&format!("{write}bar.sync 0;\n{load}"), way), [], "{way:?}");
        assert_eq!(hazards(load, way), [UninitializedShared], "{way:?}");
    }
}

/// Between launches a byte of which a field was written counts as written.
#[test]
fn fields_stay_written_until_the_next_launch() {
    let text = |name: &str, body: &str| entry(name, &format!("ld.global.u32 %r30, [%rd1]; {body}"));
    let write =
        text("write", "and.b32 %r30, %r30, -32; or.b32 %r30, %r30, 5; st.global.u32 [%rd1], %r30;");
    for (mask, found) in [("31", vec![]), ("256", vec![UninitializedGlobal])] {
        let read = text("read", &format!("and.b32 %r31, %r30, {mask}; {USE}"));
        let module = Module::parse(&format!("{HEAD}{write}{read}")).unwrap();
        let mut memory = Memory::default();
        memory.track_initialization();
        let [data, flag] = [(); 2].map(|()| memory.allocate(64).unwrap());
        let options = Options { checks: Checks::all(), ..Options::default() };
        let mut hazards = |name: &str| {
            let launch = Launch::new(name, [1, 1, 1], [1, 1, 1]);
            let launch = launch.address(data).address(flag).address(flag);
            let report = run(&module, &mut memory, &launch, &options).unwrap();
            report.findings.iter().map(|finding| finding.hazard).collect::<Vec<_>>()
        };
        assert_eq!(hazards("write"), []);
        assert_eq!(hazards("read"), found);
    }
}
