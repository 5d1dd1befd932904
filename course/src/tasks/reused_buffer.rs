//! The rest of `reused_buffer`. The solved file and the task's text: `course/src/hosts/reused_buffer.rs`.

use super::prelude::*;
use virtual_gpu::MisuseKind;

pub const TASK: Task = Task {
    id: "reused_buffer",
    lesson: "pinned_memory",
    kind: Kind::Host { pinned: false },
    solved: SOLVED,
    pattern: pattern("reused_buffer", SOLVED, host_sizes(&[65_536]), case, &[]),
    before: &[],
    after: &[Question {
        text: "How often does the host wait in your file?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::Waits, &[65_536]),
        misses: &[(8.0, "The first two parts find a buffer that nobody uses.")],
        why: "Parts 2 to 7, and once at the end.",
    }],
    fails_as_shipped: Because::Misuse(MisuseKind::HostMemoryChanged),
    bounds: &[
        Bound { count: Count::Pins, limits: |_| exactly(2.0), because: "two buffers" },
        Bound {
            count: Count::Waits,
            limits: |_| between(1.0, 7.0),
            because: "six of the eight parts find their buffer in use, and the end",
        },
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(8.0 * elements(size)),
            because: "4 B of each value in each direction",
        },
        Bound {
            count: Count::PageableCopies,
            limits: |_| up_to(0.0),
            because: "every asynchronous copy is of pinned memory",
        },
        Bound { count: Count::Launches, limits: |_| exactly(1.0), because: "one step" },
    ],
    hints: [
        "When does the device read the buffer, and when does the host write it again?",
        "With two buffers, part 2 has to wait for the copy of part 0, not for that of part 1.",
        "An `Event` for each buffer: record it after the copy, and `synchronize` it before the buffer is filled again.",
    ],
};

const SOLVED: &str = include_str!("../hosts/reused_buffer.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| stepped(value, factor, 1, 1))
}
