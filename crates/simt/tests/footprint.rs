//! Launches that may run at the same time: which pairs race is told from their footprints, on one thread and on four.

use simt::{Checks, Footprint, Launch, Memory, Module, Options, run};

const BLOCKS: u32 = 40;
const THREADS: u32 = 64;
/// Bytes of the array: two words for each thread.
const BYTES: u64 = (BLOCKS * THREADS) as u64 * 8;

/// A kernel of one argument, whose body finds twice its thread's number times four in `%rd2`, after the array's start.
fn kernel(body: &str) -> Module {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array)\n{{
    .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [array];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 8;
    add.u64 %rd2, %rd1, %rd2;
    mov.u32 %r5, 1; mov.u16 %h1, 1; mov.u64 %rd3, 1;
    {body}
    ret;\n}}"
    );
    Module::parse(&text).unwrap()
}

fn footprints(bodies: [&str; 2], threads: usize) -> [Footprint; 2] {
    let mut memory = Memory::default();
    let array = memory.allocate(BYTES).unwrap();
    let checks = Checks { global_races: true, ..Checks::none() };
    let options = Options { checks, threads, footprint: true, ..Options::default() };
    bodies.map(|body| {
        let launch = Launch::new("k", [BLOCKS, 1, 1], [THREADS, 1, 1]).address(array);
        let report = run(&kernel(body), &mut memory, &launch, &options).unwrap();
        assert_eq!(report.findings, [], "{body}");
        report.footprint.unwrap()
    })
}

/// The offset at which two kernels race, which neither the order nor the threads decide.
fn race(one: &str, other: &str) -> Option<u64> {
    let start = Memory::default().allocate(BYTES).unwrap();
    let found = [1, 4].map(|threads| {
        let [one, other] = footprints([one, other], threads);
        let race = one.race_with(&other, true);
        assert_eq!(other.race_with(&one, true), race);
        race.map(|address| address - start)
    });
    assert_eq!(found[0], found[1], "{one} and {other}");
    found[0]
}

const STORE: &str = "st.global.u32 [%rd2], %r5;";
const STORE_ODD: &str = "st.global.u32 [%rd2+4], %r5;";
const LOAD: &str = "ld.global.u32 %r6, [%rd2];";
const ADD: &str = "red.global.add.u32 [%rd2], %r5;";
const ADD_IN_BLOCK: &str = "red.relaxed.cta.global.add.u32 [%rd2], %r5;";
/// Only the last thread stores.
const STORE_LAST: &str = "setp.eq.u32 %p1, %r4, 2559; @%p1 st.global.u32 [%rd2+4], %r5;";

#[test]
fn a_race_needs_a_write_a_weak_access_and_a_common_byte() {
    let last = format!(".reg .pred %p<2>; {STORE_LAST}");
    for (one, other, expected) in [
        (STORE, STORE, Some(0)),
        (STORE, LOAD, Some(0)),
        (STORE, ADD, Some(0)),
        (LOAD, ADD, Some(0)),
        (LOAD, LOAD, None),
        (ADD, ADD, None),
        (ADD_IN_BLOCK, ADD, Some(0)),
        (STORE, STORE_ODD, None),
        (LOAD, STORE_ODD, None),
        ("st.global.u64 [%rd2], %rd3;", STORE_ODD, Some(4)),
        (last.as_str(), "ld.global.u64 %rd4, [%rd2];", Some(BYTES - 4)),
        (last.as_str(), LOAD, None),
        ("st.global.u8 [%rd2+1], %h1;", "st.global.u8 [%rd2+2], %h1;", None),
        ("st.global.u8 [%rd2+1], %h1;", "st.global.u16 [%rd2], %h1;", Some(1)),
        ("st.global.u8 [%rd2+1], %h1;", "ld.global.v2.u32 {%r6, %r7}, [%rd2];", Some(1)),
        // What one launch does to a byte more than once: what races is not forgotten.
        ("ld.global.u32 %r6, [%rd2]; red.global.add.u32 [%rd2], %r5;", ADD, Some(0)),
        ("st.global.u32 [%rd2], %r5; red.global.add.u32 [%rd2], %r5;", ADD, Some(0)),
        ("ld.relaxed.gpu.global.u32 %r6, [%rd2];", ADD, None),
        ("ld.volatile.global.u32 %r6, [%rd2];", "st.volatile.global.u32 [%rd2], %r5;", None),
    ] {
        assert_eq!(race(one, other), expected, "{one} and {other}");
    }
}

#[test]
fn kernels_that_can_order_themselves_are_not_accused() {
    let publish = "st.global.u32 [%rd2], %r5; st.release.gpu.global.u32 [%rd2+4], %r5;";
    let take = "ld.acquire.gpu.global.u32 %r6, [%rd2+4]; ld.global.u32 %r7, [%rd2];";
    assert_eq!(race(publish, take), None);
    let relaxed = take.replace("acquire", "relaxed");
    assert_eq!(race(publish, &relaxed), Some(0), "nobody acquires");
    let elsewhere =
        take.replace("acquire.gpu.global.u32 %r6, [%rd2+4]", "acquire.gpu.global.u32 %r6, [%rd2]");
    assert_eq!(race(publish, &elsewhere), Some(0), "another word");
}

#[test]
fn it_is_reported_when_it_is_asked_for_and_races_are_checked() {
    let mut memory = Memory::default();
    let array = memory.allocate(BYTES).unwrap();
    let launch = Launch::new("k", [BLOCKS, 1, 1], [THREADS, 1, 1]).address(array);
    for (checks, footprint) in [(Checks::none(), true), (Checks::all(), false)] {
        let options = Options { checks, footprint, ..Options::default() };
        let report = run(&kernel(STORE), &mut memory, &launch, &options).unwrap();
        assert_eq!(report.footprint, None);
    }
}
