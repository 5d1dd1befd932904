use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "overlap",
    kind: Kind::Host { pinned: true },
    before: &[number(
        "How many copies does the file ask for as it stands?",
        |runs| runs.count(Copies, &[1_048_576]),
        &[(8.0, "Each piece is copied there and back.")],
        "Eight pieces, there and back.",
    )],
    fails_as_shipped: FailureKind::Bound(IdlePercent),
    bounds: &[
        THERE_AND_BACK,
        bound(Launches, |_| exactly(8.0), "a step for each piece"),
        bound(
            IdlePercent,
            |_| between(0.0, 20.0),
            "of 10 steps, the first fills the engines and the last empties them",
        ),
        bound(Waits, |_| between(0.0, 8.0), "one for each stream"),
    ],
    hints: [
        "Draw the timeline of two pieces on one stream. Which engine waits for which?",
        "Work on different streams may run at the same time.",
        "As many streams as pieces, made before the loop.",
    ],
    ..host_task!(overlap, host_sizes(&[1_048_576]), one_step)
};
