//! Deadlocks over every order of arrivals, by one order: an arrival at a named barrier or an mbarrier that nothing puts after
//! the phase before. The kernels whose phases are the same in every order are silent, and end in every order.

use super::kernels::{Grid, WARPS, outcome, ways};
use simt::{Error, Hazard};

/// A body that relies on an order, its grid, and the same with the order made.
type Case = (&'static str, Grid, &'static str, &'static str);

const PRODUCER: &str = "setp.ne.u32 %p1, %r4, 0; @%p1 bra C; ";

const CASES: &[Case] = &[
    (
        "a producer that signals again before the consumer was there",
        WARPS,
        "PRODUCER bar.arrive 1, 64; bar.arrive 1, 64; bra END; C: bar.sync 1, 64; bar.sync 1, 64;",
        "PRODUCER bar.arrive 1, 64; bar.sync 2, 64; bar.arrive 1, 64; bra END;\n\
         C: bar.sync 1, 64; bar.arrive 2, 64; bar.sync 1, 64;",
    ),
    (
        "two pairs of warps share a number",
        Grid(1, 128, 1),
        "bar.sync 1, 64;",
        "shr.u32 %r20, %r4, 1; add.u32 %r20, %r20, 1; bar.sync %r20, 64;",
    ),
    (
        "a ring of full and empty, in a loop, whose consumers never say that it is empty",
        Grid(1, 96, 1),
        "mov.u32 %r20, 0; PRODUCER P: bar.arrive 1, 96; add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 3; @%p2 bra P; bra END;\n\
         C: bar.sync 1, 96; add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 3; @%p2 bra C;",
        "mov.u32 %r20, 0; PRODUCER P: bar.arrive 1, 96; bar.sync 2, 96; add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 3;\n\
         @%p2 bra P; bra END;\n\
         C: bar.sync 1, 96; bar.arrive 2, 96; add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 3; @%p2 bra C;",
    ),
    (
        "half of those who arrive at an mbarrier do not wait for it",
        WARPS,
        "INIT setp.ne.u32 %p2, %r4, 0; mbarrier.arrive.shared.b64 _, [%r20]; @%p2 bra A;\n\
         T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; A: bar.warp.sync -1;\n\
         @!%p2 bra S; nanosleep.u32 100; W: mbarrier.test_wait.parity.shared.b64 %p3, [%r20], 1;\n\
         S: mbarrier.arrive.shared.b64 _, [%r20];",
        "INIT mbarrier.arrive.shared.b64 _, [%r20]; T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T;\n\
         mbarrier.arrive.shared.b64 _, [%r20];",
    ),
];

/// A wait that is told a parity, which a phase later is that of another phase.
const OVERTAKEN: &[Case] = &[
    (
        "a producer that ends two phases, though nobody says that the first was waited for",
        WARPS,
        "ONE PRODUCER mbarrier.arrive.shared.b64 _, [%r20]; mbarrier.arrive.shared.b64 _, [%r20]; bra END;\n\
         C: T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T;",
        "ONE PRODUCER mbarrier.arrive.shared.b64 _, [%r20];\n\
         E: mbarrier.try_wait.parity.shared.b64 %p3, [%r21], 0; @!%p3 bra E; mbarrier.arrive.shared.b64 _, [%r20]; bra END;\n\
         C: T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; bar.warp.sync -1;\n\
         setp.ne.u32 %p2, %r1, 32; @!%p2 mbarrier.arrive.shared.b64 _, [%r21];",
    ),
    (
        "one of two warps that wait says so for both",
        Grid(1, 96, 1),
        "ONE PRODUCER mbarrier.arrive.shared.b64 _, [%r20];\n\
         E: mbarrier.try_wait.parity.shared.b64 %p3, [%r21], 0; @!%p3 bra E; mbarrier.arrive.shared.b64 _, [%r20]; bra END;\n\
         C: T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; setp.ne.u32 %p2, %r1, 32;\n\
         @!%p2 mbarrier.arrive.shared.b64 _, [%r21];",
        "ONE PRODUCER mbarrier.arrive.shared.b64 _, [%r20];\n\
         E: mbarrier.try_wait.parity.shared.b64 %p3, [%r21], 0; @!%p3 bra E; mbarrier.arrive.shared.b64 _, [%r20]; bra END;\n\
         C: T: mbarrier.try_wait.parity.shared.b64 %p3, [%r20], 0; @!%p3 bra T; bar.sync 1, 64; setp.ne.u32 %p2, %r1, 32;\n\
         @!%p2 mbarrier.arrive.shared.b64 _, [%r21];",
    ),
];

fn whole(body: &str) -> String {
    let init = "mov.u32 %r20, word; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r20], 64; bar.sync 0;";
    // Two of one arrival each: `%r20` says that it is full, `%r21` that it is empty. Of the first warp one lane is left.
    let one = "mov.u32 %r20, word; add.u32 %r21, %r20, 8; setp.ne.u32 %p1, %r1, 0;\n\
         @!%p1 mbarrier.init.shared.b64 [%r20], 1; @!%p1 mbarrier.init.shared.b64 [%r21], 1; bar.sync 0;\n\
         setp.ne.u32 %p2, %r4, 0; @%p2 bra D; @%p1 bra END; D:";
    let body = body.replace("ONE", one);
    body.replace("PRODUCER", PRODUCER).replace("INIT", init)
}

#[test]
fn arrivals_that_may_fall_into_another_phase_are_found_in_every_order() {
    found_in_every_order(CASES, "may count in the phase before", true);
}

#[test]
fn waits_that_two_phases_may_overtake_are_found_in_every_order() {
    found_in_every_order(OVERTAKEN, "may come too late: nothing puts it before", false);
}

fn found_in_every_order(cases: &[Case], message: &str, names_other: bool) {
    for (name, grid, broken, repaired) in cases {
        for way in ways() {
            let told = match outcome(&whole(broken), *grid, way) {
                Ok(report) => report.findings.iter().any(|found| {
                    found.hazard == Hazard::OtherOrder
                        && found.message.contains(message)
                        && found.other.is_some() == names_other
                }),
                // This is such an order.
                Err(Error::Deadlock { .. } | Error::IllegalInstruction { .. }) => true,
                Err(error) => panic!("{name}, {way:?}: {error}"),
            };
            assert!(told, "{name}, {way:?}");
            let report = outcome(&whole(repaired), *grid, way);
            assert_eq!(report.expect(name).findings, [], "{name}, {way:?}");
        }
    }
}
