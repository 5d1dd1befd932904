use super::prelude::*;
use virtual_gpu::MisuseKind;

pub const TASK: Task = Task {
    lesson: "pinned_memory",
    kind: Kind::Host { pinned: false },
    after: &[number(
        "How often does the host wait in your file?",
        |runs| runs.count(Waits, &[65_536]),
        &[(8.0, "The first two parts find a buffer that nobody uses.")],
        "Parts 2 to 7, and once at the end.",
    )],
    fails_as_shipped: FailureKind::Misuse(MisuseKind::HostMemoryChanged),
    bounds: &[
        bound(Pins, |_| exactly(2.0), "two buffers"),
        bound(
            Waits,
            |_| between(1.0, 7.0),
            "six of the eight parts find their buffer in use, and the end",
        ),
        THERE_AND_BACK,
        none(PageableCopies, "every asynchronous copy is of pinned memory"),
        bound(Launches, |_| exactly(1.0), "one step"),
    ],
    hints: [
        "When does the device read the buffer, and when does the host write it again?",
        "With two buffers, part 2 has to wait for the copy of part 0, not for that of part 1.",
        "An `Event` for each buffer: record it after the copy, and `synchronize` it before the buffer is filled again.",
    ],
    ..host_task!(reused_buffer, host_sizes(&[65_536]), one_step)
};
