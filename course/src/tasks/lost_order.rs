//! The rest of `lost_order`. The solved file and the task's text: `course/src/hosts/lost_order.rs`.

use super::prelude::*;
use virtual_gpu::MisuseKind;

pub const TASK: Task = Task {
    id: "lost_order",
    lesson: "stream_semantics",
    kind: Kind::Host { pinned: true },
    solved: SOLVED,
    pattern: pattern("lost_order", SOLVED, host_sizes(&[65_536]), case, &[]),
    before: &[],
    after: &[Question {
        text: "How often does the host wait in your file?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::Waits, &[65_536]),
        misses: &[(2.0, "An event makes a stream wait, not the host.")],
        why: "Only for the result.",
    }],
    fails_as_shipped: Because::Misuse(MisuseKind::MissingOrder),
    bounds: &[
        Bound {
            count: Count::Waits,
            limits: |_| between(0.0, 1.0),
            because: "the host waits for the result only",
        },
        Bound { count: Count::Copies, limits: |_| exactly(2.0), because: "one there, one back" },
        Bound { count: Count::Launches, limits: |_| exactly(1.0), because: "one step" },
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(8.0 * elements(size)),
            because: "4 B of each value in each direction",
        },
    ],
    hints: [
        "What does the stream of the kernel know of the other stream?",
        "An event is recorded on one stream, and another stream can be told to wait for it.",
        "Record an `Event` on `copies` after the copy; `wait_event` tells `kernels` to wait for it.",
    ],
};

const SOLVED: &str = include_str!("../hosts/lost_order.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| stepped(value, factor, 1, 1))
}
