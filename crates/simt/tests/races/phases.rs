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

fn whole(body: &str) -> String {
    let init = "mov.u32 %r20, word; setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r20], 64; bar.sync 0;";
    body.replace("PRODUCER", PRODUCER).replace("INIT", init)
}

#[test]
fn arrivals_that_may_fall_into_another_phase_are_found_in_every_order() {
    for (name, grid, broken, repaired) in CASES {
        for way in ways() {
            let told = match outcome(&whole(broken), *grid, way) {
                Ok(report) => report.findings.iter().any(|found| {
                    found.hazard == Hazard::OtherOrder
                        && found.message.contains("may count in the phase before")
                        && found.other.is_some()
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
