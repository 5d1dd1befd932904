use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "divergence",
    kind: Kind::Bug,
    before: &[choice(
        "At how many places do the lanes of one warp wait, as the kernel stands?",
        &["one", "two", "thirty-two"],
        |runs| runs.choice(Hazard::DivergentBarrier, 2, 1),
        &[(1.0, "There are two calls of sync_threads, and lanes of one warp reach each of them.")],
        "The even lanes wait at one barrier, the odd lanes at the other.",
    )],
    fails_as_shipped: FailureKind::Hazard(Hazard::DivergentBarrier),
    bounds: &[ONE_BARRIER, EACH_NUMBER_ONCE],
    hints: [
        "Lanes 0 and 1 of a warp wait at two different places.",
        "Only the value differs between the branches. The barrier is for all.",
        "Compute the value in the branch, then store it, then have one barrier after the branch.",
    ],
    ..task!(barrier_in_branch(u32) -> u32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(words(size, random), |source, i| {
        let put = |i: usize| source.get(i).copied().unwrap_or(0) ^ (i as u32 % 2);
        source[i].wrapping_add(put(i / 256 * 256 + (i + 128) % 256))
    })
}
