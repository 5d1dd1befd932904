//! The rest of `graph`. The solved file and the task's text: `course/src/hosts/graph.rs`.

use super::prelude::*;

pub const TASK: Task = Task {
    id: "graph",
    lesson: "graphs",
    kind: Kind::Host { pinned: true },
    solved: SOLVED,
    pattern: pattern("graph", SOLVED, host_sizes(&[4096]), case, &[]),
    before: &[Question {
        text: "How many launches does the file ask for as it stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::Launches, &[4096]),
        misses: &[(16.0, "That is one round.")],
        why: "16 rounds of 16.",
    }],
    after: &[Question {
        text: "Your file: how many graphs does it instantiate?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::Instantiations, &[4096]),
        misses: &[(16.0, "A graph can be launched again.")],
        why: "It is launched 16 times.",
    }],
    fails_as_shipped: Because::Bound(Count::Launches),
    bounds: &[
        Bound {
            count: Count::Launches,
            limits: |_| exactly(32.0),
            because: "16 that are recorded, and 16 of the graph",
        },
        Bound {
            count: Count::Instantiations,
            limits: |_| exactly(1.0),
            because: "the same graph each time",
        },
        Bound { count: Count::Waits, limits: |_| between(0.0, 1.0), because: "for the result" },
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(8.0 * elements(size)),
            because: "4 B of each value in each direction",
        },
    ],
    hints: [
        "How much of each round is the same as in the round before?",
        "`gpu.record` takes a closure and gives a graph that can be launched.",
        "Record `round` once before the loop, and `launch` the graph in the loop.",
    ],
};

const SOLVED: &str = include_str!("../hosts/graph.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| {
        (0..256).fold(value, |value, step| stepped(value, factor, step % 16, 1))
    })
}
