//! The rest of `pool`. The solved file and the task's text: `course/src/hosts/pool.rs`.

use super::prelude::*;

pub const TASK: Task = Task {
    id: "pool",
    lesson: "allocation",
    kind: Kind::Host { pinned: true },
    solved: SOLVED,
    pattern: pattern("pool", SOLVED, host_sizes(&[4096]), case, &[]),
    before: &[Question {
        text: "How many calls allocate device memory as the file stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::Allocations, &[4096]),
        misses: &[
            (16.0, "The array of the values is allocated, too."),
            (1.0, "Memory that was freed is not kept by `cuMemFree`."),
        ],
        why: "One for each step and one for the values.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::Allocations),
    bounds: &[
        Bound {
            count: Count::Allocations,
            limits: |_| between(1.0, 2.0),
            because: "the values, and one array in between",
        },
        Bound { count: Count::Waits, limits: |_| between(0.0, 1.0), because: "for the result" },
        Bound {
            count: Count::Launches,
            limits: |_| exactly(32.0),
            because: "two for each of 16 steps",
        },
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(8.0 * elements(size)),
            because: "4 B of each value in each direction",
        },
    ],
    hints: [
        "What does each step need that the step before has not?",
        "An array that lives longer than the loop can be used in each of its steps.",
        "Allocate `between` before the loop, and let only the end wait.",
    ],
};

const SOLVED: &str = include_str!("../hosts/pool.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| {
        (0..16).fold(value, |value, step| stepped(value, factor, step, 2))
    })
}
