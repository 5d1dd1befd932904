use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    before: &[number(
        "n = 1000 and blocks of 256: how many blocks does the grid have, if each element has a thread?",
        |runs| Ok(runs.threads(&[1000])? / runs.block_threads(&[1000])?),
        &[
            (3.0, "Three blocks have 768 threads, which is too few."),
            (3.90625, "There are whole blocks only."),
        ],
        "1000 / 256, rounded up: the last block has threads without an element.",
    )],
    fails_as_shipped: FailureKind::Wrong,
    bounds: &[EACH_NUMBER_ONCE, EACH_RESULT_ONCE],
    hints: [
        "Write down `i` for the first thread of the first, the second and the third block.",
        "The second block begins behind the threads of the first. How many are these?",
        "The number of the block, times the threads of a block, and the thread's number in it.",
    ],
    ..task!(own_element(f32) -> f32, LINE, |size, random| each(floats(size, random), |one| 1.0 + one))
};
