//! The rest of `overlap`. The solved file and the task's text: `course/src/hosts/overlap.rs`.

use super::prelude::*;

pub const TASK: Task = Task {
    id: "overlap",
    lesson: "overlap",
    kind: Kind::Host { pinned: true },
    solved: SOLVED,
    pattern: pattern("overlap", SOLVED, host_sizes(&[1_048_576]), case, &[]),
    before: &[Question {
        text: "How many copies does the file ask for as it stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::Copies, &[1_048_576]),
        misses: &[(8.0, "Each piece is copied there and back.")],
        why: "Eight pieces, there and back.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::IdlePercent),
    bounds: &[
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(8.0 * elements(size)),
            because: "4 B of each value in each direction",
        },
        Bound {
            count: Count::Launches,
            limits: |_| exactly(8.0),
            because: "a step for each piece",
        },
        Bound {
            count: Count::IdlePercent,
            limits: |_| between(0.0, 20.0),
            because: "of 10 steps, the first fills the engines and the last empties them",
        },
        Bound {
            count: Count::Waits,
            limits: |_| between(0.0, 8.0),
            because: "one for each stream",
        },
    ],
    hints: [
        "Draw the timeline of two pieces on one stream. Which engine waits for which?",
        "Work on different streams may run at the same time.",
        "As many streams as pieces, made before the loop.",
    ],
};

const SOLVED: &str = include_str!("../hosts/overlap.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| stepped(value, factor, 1, 1))
}
