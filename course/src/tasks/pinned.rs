//! The rest of `pinned`. The solved file and the task's text: `course/src/hosts/pinned.rs`.

use super::prelude::*;

pub const TASK: Task = Task {
    id: "pinned",
    lesson: "pinned_memory",
    kind: Kind::Host { pinned: false },
    solved: SOLVED,
    pattern: pattern("pinned", SOLVED, host_sizes(&[65_536]), case, &[]),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::PageableCopies),
    bounds: &[
        Bound {
            count: Count::PageableCopies,
            limits: |_| up_to(0.0),
            because: "every copy is of pinned memory",
        },
        Bound { count: Count::Pins, limits: |_| exactly(1.0), because: "one array" },
        Bound {
            count: Count::BusBytes,
            limits: |size| exactly(8.0 * elements(size)),
            because: "4 B of each value in each direction",
        },
        Bound {
            count: Count::Launches,
            limits: |_| between(1.0, 32.0),
            because: "at least one step",
        },
    ],
    hints: [
        "Which memory does `source` lie in?",
        "`HostBuffer::from_slice` with `HostFlags::PINNED` is a pinned copy of an array.",
        "One pinned copy of all of `source`, made before the loop, under the name `source`.",
    ],
};

const SOLVED: &str = include_str!("../hosts/pinned.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| stepped(value, factor, 1, 1))
}
