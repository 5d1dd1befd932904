use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "stencil",
    kind: Kind::Bug,
    before: &[number(
        "How many words of the tile does nobody write in the first block, as the kernel stands?",
        |runs| runs.choice(Hazard::UninitializedShared, 1, 0),
        &[
            (
                2.0,
                "The word behind the last element is written in every block, with 0 where the signal ends.",
            ),
            (0.0, "Is the condition of the store to word 0 true in the first block?"),
        ],
        "Only word 0: thread 0 has no element before its own and leaves the word alone.",
    )],
    fails_as_shipped: FailureKind::Hazard(Hazard::UninitializedShared),
    bounds: &[
        ONE_BARRIER,
        bound(SharedBytes, |_| up_to(1032.0), "258 words"),
        bound(
            LoadSectors,
            |n| between(n / 8.0, n * 34.0 / 256.0 - 2.0),
            "each number once, and one more on either side of a block",
        ),
    ],
    hints: [
        "Follow thread 0 of the first block: which words of the tile does it read?",
        "Word 0 of the tile is the element before the block's first. The first block has none, so the word must be 0.",
        "Let thread 0 store in every block: an element where there is one, else 0.0.",
    ],
    ..task!(uninitialized_halo(f32) -> f32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(floats(size, random), |source, i| {
        let at = |i: Option<usize>| i.and_then(|i| source.get(i)).copied().unwrap_or(0.0);
        at(i.checked_sub(1)) + at(Some(i + 1))
    })
}
