use super::prelude::*;
use virtual_gpu::MisuseKind;

pub const TASK: Task = Task {
    lesson: "stream_semantics",
    kind: Kind::Host { pinned: true },
    after: &[number(
        "How often does the host wait in your file?",
        |runs| runs.count(Waits, &[65_536]),
        &[(2.0, "An event makes a stream wait, not the host.")],
        "Only for the result.",
    )],
    fails_as_shipped: FailureKind::Misuse(MisuseKind::MissingOrder),
    bounds: &[
        bound(Waits, |_| between(0.0, 1.0), "the host waits for the result only"),
        bound(Copies, |_| exactly(2.0), "one there, one back"),
        bound(Launches, |_| exactly(1.0), "one step"),
        THERE_AND_BACK,
    ],
    hints: [
        "What does the stream of the kernel know of the other stream?",
        "An event is recorded on one stream, and another stream can be told to wait for it.",
        "Record an `Event` on `copies` after the copy; `wait_event` tells `kernels` to wait for it.",
    ],
    ..host_task!(lost_order, host_sizes(&[65_536]), one_step)
};
