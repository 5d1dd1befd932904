//! Launches that never end are proved not to, long before their fuel is used up; those that end late are let.

use simt::{Error, Launch, Memory, Module, Options, Report, Schedule, run};

/// Runs a body on zeroed memory, `%rd1`, with the block in `%r2` and the thread in `%r1`; four blocks fit the device.
fn outcome(body: &str, grid: u32, block: u32) -> Result<Report, Error> {
    outcome_in(Schedule::Forward, body, grid, block)
}

fn outcome_in(schedule: Schedule, body: &str, grid: u32, block: u32) -> Result<Report, Error> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 array)\n{{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
    .shared .align 8 .b8 gate[8];
    ld.param.u64 %rd1, [array];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r9, 0;
    {body}
DONE:
    ret;\n}}"
    );
    let mut memory = Memory::default();
    let array = memory.allocate_named(4096, "flags").unwrap();
    let launch = Launch::new("k", [grid, 1, 1], [block, 1, 1]).address(array);
    let options =
        Options { fuel: 1 << 40, resident_blocks: Some(4), schedule, ..Options::default() };
    run(&Module::parse(&text).unwrap(), &mut memory, &launch, &options)
}

const GRID_BARRIER: &str =
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT; membar.gl; red.global.add.u32 [%rd1], 1;
    AGAIN: atom.global.add.u32 %r4, [%rd1], 0; setp.lt.u32 %p2, %r4, %r3; @%p2 bra AGAIN; membar.gl;
    WAIT: bar.sync 0;";

#[test]
fn what_nobody_can_end_is_proved() {
    let cases = [
        ("AGAIN: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;", 1, "which are 0x0"),
        ("AGAIN: atom.global.cas.b32 %r4, [%rd1], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra AGAIN;", 1, "which are 0x1"),
        ("AGAIN: atom.global.exch.b32 %r4, [%rd1+4], 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra AGAIN;", 4, "the flags"),
        ("AGAIN: bra AGAIN;", 2, "loads nothing that could end the loop"),
        (GRID_BARRIER, 5, "have not started"),
        (
            "setp.ne.u32 %p1, %r1, 0; @%p1 bra SET; mbarrier.init.shared.b64 [gate], 2; mbarrier.arrive.shared.b64 %rd5, [gate];
             SET: bar.sync 0; mov.u64 %rd5, 0;
             AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0; @!%p2 bra AGAIN;",
            1,
            "lacks 1 of 2 arrivals",
        ),
        // The phase of parity 0 has ended, and nobody has arrived in the next one, of whose parity the wait speaks.
        (
            "setp.ne.u32 %p1, %r1, 0; @%p1 bra SET; mbarrier.init.shared.b64 [gate], 64; SET: bar.sync 0; mov.u64 %rd5, 0;
             mbarrier.arrive.shared.b64 %rd5, [gate]; FIRST: mbarrier.test_wait.parity.shared.b64 %p2, [gate], 0; @!%p2 bra FIRST;
             bar.sync 0; AGAIN: mbarrier.test_wait.parity.shared.b64 %p2, [gate], 1; @!%p2 bra AGAIN;",
            1,
            "for the end of the phase of parity 1, which is under way and at which nobody has arrived (a wait for the phase before, \
             of parity 0, passes): it still lacks 64 of 64 arrivals",
        ),
        // Counters and clocks that decide nothing, as whoever waits may keep them.
        (
            "AGAIN: ld.volatile.global.u32 %r4, [%rd1+16]; add.u32 %r9, %r9, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;
             st.global.u32 [%rd1], %r9;",
            1,
            "byte 16 of the flags",
        ),
        (
            "mov.u64 %rd2, 0; AGAIN: ld.volatile.global.u32 %r4, [%rd1+16]; mov.u64 %rd3, %clock64; add.u64 %rd2, %rd2, %rd3;
             setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN; st.global.u64 [%rd1], %rd2;",
            2,
            "byte 16 of the flags",
        ),
        (
            "AGAIN: atom.global.add.u32 %r4, [%rd1+16], 0; red.global.add.u32 [%rd1+32], 1; setp.eq.u32 %p1, %r4, 0;
             @%p1 bra AGAIN;",
            4,
            "byte 16 of the flags",
        ),
        // It sleeps for longer and longer, as the C++ library does.
        (
            "mov.u64 %rd2, %globaltimer; bra AGAIN; SPIN: add.u32 %r9, %r9, 1;
             AGAIN: ld.acquire.gpu.global.u32 %r4, [%rd1+16]; setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
             setp.lt.u32 %p2, %r9, 16; @%p2 bra SPIN; mov.u64 %rd3, %globaltimer; sub.u64 %rd3, %rd3, %rd2;
             setp.gt.u64 %p3, %rd3, 4000; @%p3 bra LONG; cvt.u32.u64 %r5, %rd3; nanosleep.u32 %r5; bra AGAIN;
             LONG: mov.u32 %r5, 1000; nanosleep.u32 %r5; bra AGAIN;",
            2,
            "byte 16 of the flags",
        ),
        (
            "mov.u32 %r5, 8; AGAIN: nanosleep.u32 %r5; shl.b32 %r5, %r5, 1; add.u32 %r5, %r5, 1; ld.volatile.global.u32 %r4, [%rd1];
             setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;",
            1,
            "which are 0x0",
        ),
        // A delay that the clock ends lies in a loop that nothing ends.
        (
            "AGAIN: mov.u64 %rd2, %clock64; PAUSE: mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2; setp.lt.u64 %p2, %rd3, 100;
             @%p2 bra PAUSE; ld.volatile.global.u32 %r4, [%rd1+16]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;",
            1,
            "byte 16 of the flags",
        ),
        // Other lanes in each of three turns, and the same ones again.
        (
            "AGAIN: ld.volatile.global.u32 %r4, [%rd1]; rem.u32 %r5, %r1, 3; setp.ne.u32 %p2, %r5, %r9; @%p2 bra ON; add.u32 %r6, %r6, 0;
             ON: add.u32 %r9, %r9, 1; setp.eq.u32 %p2, %r9, 3; @%p2 mov.u32 %r9, 0; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;",
            1,
            "which are 0x0",
        ),
        // One warp waits at the barrier for another, which waits for a flag.
        (
            "setp.lt.u32 %p1, %r1, 32; @%p1 bra MEET; AGAIN: ld.relaxed.gpu.global.u32 %r4, [%rd1];
             setp.eq.u32 %p2, %r4, 0; @%p2 bra AGAIN; MEET: bar.sync 0; st.global.u32 [%rd1], 1;",
            1,
            "which are 0x0",
        ),
    ];
    for (body, grid, part) in cases {
        let error = outcome(body, grid, 64).unwrap_err();
        assert!(matches!(error, Error::Deadlock { .. }), "{body}: {error}");
        assert!(error.to_string().contains(part), "{body}: {error}");
    }
}

#[test]
fn what_ends_late_is_let() {
    let cases = [
        (GRID_BARRIER, 4),
        // Gives up after a while.
        (
            "AGAIN: ld.volatile.global.u32 %r4, [%rd1]; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 400000; @%p1 bra AGAIN;",
            1,
        ),
        // Block 0 computes for long, and the others wait for it.
        (
            "setp.eq.u32 %p1, %r2, 0; @%p1 bra WORK; AGAIN: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p2, %r4, 0;
             @%p2 bra AGAIN; bra DONE; WORK: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 900000; @%p1 bra WORK;
             st.volatile.global.u32 [%rd1], 1;",
            4,
        ),
        // Waits for time to pass.
        (
            "mov.u64 %rd4, %globaltimer; AGAIN: mov.u64 %rd5, %globaltimer; sub.u64 %rd6, %rd5, %rd4;
             setp.lt.u64 %p1, %rd6, 1000000; @%p1 bra AGAIN;",
            1,
        ),
        // Gives up when the clock says so, in the same branch or in another.
        (
            "mov.u64 %rd2, %clock64; AGAIN: ld.volatile.global.u32 %r4, [%rd1]; mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2;
             setp.eq.u32 %p1, %r4, 0; setp.lt.u64 %p2, %rd3, 9000000; and.pred %p1, %p1, %p2; @%p1 bra AGAIN;",
            1,
        ),
        (
            "mov.u64 %rd2, %clock64; AGAIN: mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2; setp.gt.u64 %p2, %rd3, 9000000;
             @%p2 bra DONE; ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;",
            1,
        ),
        // The counter is the address, in which another thread has to find something at last.
        (
            "mov.u64 %rd2, %rd1; st.global.u32 [%rd1+4092], 1; membar.gl; AGAIN: ld.volatile.global.u32 %r4, [%rd2]; add.u64 %rd2, %rd2, 4;
             setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;",
            1,
        ),
        // What each thread counts is what another waits for.
        (
            "and.b32 %r4, %r1, 32; setp.ne.u32 %p1, %r4, 0; @%p1 bra WAIT;
             COUNT: red.global.add.u32 [%rd1], 1; ld.volatile.global.u32 %r5, [%rd1+16]; setp.eq.u32 %p2, %r5, 0; @%p2 bra COUNT; bra DONE;
             WAIT: ld.volatile.global.u32 %r6, [%rd1]; setp.lt.u32 %p2, %r6, 3000000; @%p2 bra WAIT; st.volatile.global.u32 [%rd1+16], 1;",
            1,
        ),
        // The choice of a pause that the counter makes changes what ends the loop.
        (
            "AGAIN: ld.volatile.global.u32 %r4, [%rd1]; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 400000; @%p2 bra ON;
             mov.u32 %r4, 1; ON: setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;",
            1,
        ),
        // A lock that lanes of one warp take one after the other.
        (
            "AGAIN: atom.global.cas.b32 %r4, [%rd1], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra AGAIN;
             membar.gl; atom.global.exch.b32 %r5, [%rd1], 0;",
            4,
        ),
        // Block 0 meets at its barrier again and again until block 1 has written.
        (
            "setp.eq.u32 %p1, %r2, 1; @%p1 bra WORK; AGAIN: bar.sync 0; ld.volatile.global.u32 %r4, [%rd1];
             setp.eq.u32 %p2, %r4, 0; @%p2 bra AGAIN; bra DONE; WORK: st.volatile.global.u32 [%rd1], 1;",
            2,
        ),
    ];
    for (body, grid) in cases {
        outcome(body, grid, 64).unwrap_or_else(|error| panic!("{body}: {error}"));
    }
}

/// Warps whose lanes reach a barrier one after the other are not stuck, in whatever order they take turns.
#[test]
fn lanes_that_arrive_late_are_let() {
    let body = "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 bra MEET; mov.u32 %r5, 0;
        AGAIN: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 320; @%p2 bra AGAIN; MEET: bar.sync 0;
        ld.volatile.global.u32 %r6, [%rd1];";
    for schedule in
        [Schedule::Forward, Schedule::Reverse].into_iter().chain((1..9).map(Schedule::Seeded))
    {
        outcome_in(schedule, body, 2, 64).unwrap_or_else(|error| panic!("{schedule:?}: {error}"));
    }
}

/// A loop without memory that runs other lanes in each turn: that it may be endless is looked at ever more rarely, so that it
/// takes about as long as one whose lanes stay.
#[test]
fn a_loop_whose_lanes_change_costs_no_more_than_its_turns() {
    let body = |lanes: &str| {
        format!(
            "mov.u32 %r5, %r1; AGAIN: mul.lo.u32 %r5, %r5, 1664525; add.u32 %r5, %r5, 1013904223; shr.u32 %r6, %r5, 31;
             setp.ne.u32 %p2, %r6, {lanes}; @%p2 bra ON; add.u32 %r7, %r7, 1;
             ON: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 60000; @%p1 bra AGAIN; st.global.u32 [%rd1], 1;"
        )
    };
    let seconds = |lanes: &str| {
        let start = std::time::Instant::now();
        outcome(&body(lanes), 4, 64).unwrap();
        start.elapsed().as_secs_f64()
    };
    let shortest = |lanes: &str| (0..3).map(|_| seconds(lanes)).fold(f64::INFINITY, f64::min);
    let (stay, change) = (shortest("2"), shortest("0"));
    assert!(change < 20.0 * stay + 0.5, "{change} s, and {stay} s where the lanes stay");
}
