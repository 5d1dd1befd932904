//! The rest of `default_stream`. The solved file and the task's text: `course/src/hosts/default_stream.rs`.

use super::prelude::*;

pub const TASK: Task = Task {
    id: "default_stream",
    lesson: "stream_semantics",
    kind: Kind::Host { pinned: true },
    solved: SOLVED,
    pattern: pattern("default_stream", SOLVED, host_sizes(&[1280]), case, &[]),
    before: &[Question {
        text: "In how many groups, one after the other, do the five kernels run as the file stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::KernelChain, &[1280]),
        misses: &[
            (
                2.0,
                "The kernel on the default stream waits for those before it, and those behind wait for it.",
            ),
            (5.0, "The two before it are on streams of their own: they run at the same time."),
        ],
        why: "Two kernels, then the one on the default stream, then two.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::KernelChain),
    bounds: &[
        Bound { count: Count::Launches, limits: |_| exactly(5.0), because: "one for each part" },
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(8.0 * elements(size)),
            because: "4 B of each value in each direction",
        },
        Bound {
            count: Count::KernelChain,
            limits: |_| exactly(1.0),
            because: "nothing orders the five",
        },
    ],
    hints: [
        "Which of the five kernels is not on a stream that the file made?",
        "The legacy default stream waits for all blocking streams, and they for it.",
        "Give the kernel in the middle the stream that was made for it.",
    ],
};

const SOLVED: &str = include_str!("../hosts/default_stream.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| stepped(value, factor, 1, 20_000))
}
