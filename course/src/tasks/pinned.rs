use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "pinned_memory",
    kind: Kind::Host { pinned: false },
    fails_as_shipped: FailureKind::Bound(PageableCopies),
    bounds: &[
        none(PageableCopies, "every copy is of pinned memory"),
        bound(Pins, |_| exactly(1.0), "one array"),
        THERE_AND_BACK,
        bound(Launches, |_| between(1.0, 32.0), "at least one step"),
    ],
    hints: [
        "Which memory does `source` lie in?",
        "`HostBuffer::from_slice` with `HostFlags::PINNED` is a pinned copy of an array.",
        "One pinned copy of all of `source`, made before the loop, under the name `source`.",
    ],
    ..host_task!(pinned, host_sizes(&[65_536]), one_step)
};
