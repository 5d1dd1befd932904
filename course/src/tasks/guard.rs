use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    kind: Kind::Bug,
    before: &[number(
        "n = 257 and blocks of 256: how many threads have no element?",
        |runs| Ok(runs.threads(&[257])? - 257.0),
        &[
            (0.0, "Two blocks are launched, because one has too few threads."),
            (1.0, "Thread 257 is only the first of them."),
        ],
        "Two blocks have 512 threads, for 257 elements.",
    )],
    fails_as_shipped: FailureKind::OutOfBounds,
    bounds: &[EACH_NUMBER_ONCE, EACH_RESULT_ONCE],
    hints: [
        "Let n be 31. Which threads pass the condition?",
        "The elements are numbered from 0, so the last one has the number n - 1.",
        "Compare with `<`.",
    ],
    ..task!(guard(f32) -> f32, LINE, |size, random| each(floats(size, random), |one| 1.0 - one))
};
