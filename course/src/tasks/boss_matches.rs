use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "atomics",
    fails_as_shipped: FailureKind::Bound(SharedAtomicWavefronts),
    bounds: &[
        none(SharedAtomicWavefronts, "a barrier can count, so no atomic is needed"),
        EACH_NUMBER_ONCE,
        bound(StoreRequests, |n| between(1.0, n / 256.0), "one for each block"),
        ONE_BARRIER,
    ],
    hints: [
        "How many lanes of a warp want the same word?",
        "There is a barrier that counts the threads whose condition holds.",
        "`thread::sync_threads_count` takes the condition as a number and gives every thread the count.",
    ],
    choices: &[Choice {
        replaced: &[("above 0", "below 0"), ("> 0.0", "< 0.0")],
        case: |size, random| matches(|one| one < 0.0, size, random),
    }],
    ..task!(boss_matches(f32) -> u32, LINE, |size, random| matches(|one| one > 0.0, size, random))
};

fn matches(is_match: fn(f32) -> bool, size: &Size, random: &mut Random) -> Case {
    chunked(some_zeros(size, random), 256, |block| {
        block.iter().filter(|one| is_match(**one)).count() as u32
    })
}
