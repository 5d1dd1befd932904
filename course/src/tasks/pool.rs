use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "allocation",
    kind: Kind::Host { pinned: true },
    before: &[number(
        "How many calls allocate device memory as the file stands?",
        |runs| runs.count(Allocations, &[4096]),
        &[
            (16.0, "The array of the values is allocated, too."),
            (1.0, "Memory that was freed is not kept by `cuMemFree`."),
        ],
        "One for each step and one for the values.",
    )],
    fails_as_shipped: FailureKind::Bound(Allocations),
    bounds: &[
        bound(Allocations, |_| between(1.0, 2.0), "the values, and one array in between"),
        bound(Waits, |_| between(0.0, 1.0), "for the result"),
        bound(Launches, |_| exactly(32.0), "two for each of 16 steps"),
        THERE_AND_BACK,
    ],
    hints: [
        "What does each step need that the step before has not?",
        "An array that lives longer than the loop can be used in each of its steps.",
        "Allocate `between` before the loop, and let only the end wait.",
    ],
    ..host_task!(pool, host_sizes(&[4096]), case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| {
        (0..16).fold(value, |value, step| stepped(value, factor, step, 2))
    })
}
