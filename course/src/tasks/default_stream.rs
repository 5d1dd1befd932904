use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "stream_semantics",
    kind: Kind::Host { pinned: true },
    before: &[number(
        "In how many groups, one after the other, do the five kernels run as the file stands?",
        |runs| runs.count(KernelChain, &[1280]),
        &[
            (
                2.0,
                "The kernel on the default stream waits for those before it, and those behind wait for it.",
            ),
            (5.0, "The two before it are on streams of their own: they run at the same time."),
        ],
        "Two kernels, then the one on the default stream, then two.",
    )],
    fails_as_shipped: FailureKind::Bound(KernelChain),
    bounds: &[
        bound(Launches, |_| exactly(5.0), "one for each part"),
        THERE_AND_BACK,
        bound(KernelChain, |_| exactly(1.0), "nothing orders the five"),
    ],
    hints: [
        "Which of the five kernels is not on a stream that the file made?",
        "The legacy default stream waits for all blocking streams, and they for it.",
        "Give the kernel in the middle the stream that was made for it.",
    ],
    ..host_task!(default_stream, host_sizes(&[1280]), case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    each_stepped(size, random, |value, factor| stepped(value, factor, 1, 20_000))
}
