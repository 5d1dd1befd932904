use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "constant_memory",
    before: &[number(
        "How many wavefronts does the load of the factors take, as the kernel stands?",
        |runs| runs.count(WavefrontsPerConstantLoad, &[65_536]),
        &[
            (1.0, "That is so when all lanes want the same word."),
            (
                8.0,
                "There are 8 different values, but 32 different words: what counts is the address.",
            ),
        ],
        "32 lanes want 32 words, one after the other.",
    )],
    fails_as_shipped: FailureKind::Bound(WavefrontsPerConstantLoad),
    bounds: &[
        bound(
            WavefrontsPerConstantLoad,
            |_| up_to(1.0),
            "one word for all lanes at once, or no load of constant memory at all",
        ),
        bound(
            ConstantWavefronts,
            |n| up_to(n / 4.0),
            "the 8 factors for each warp, one after the other, or none",
        ),
        COALESCED_LOADS,
        bound(
            LoadSectors,
            |n| between(n / 8.0, n / 4.0),
            "each number once, and the factors of each warp",
        ),
        EACH_RESULT_ONCE,
    ],
    hints: [
        "Constant memory gives one word per step. How many do 32 lanes want?",
        "A static without an attribute lies in global memory, where 32 neighbouring words are 4 sectors.",
        "Take the attribute away.",
    ],
    ..task!(constant_walk(f32) -> f32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(floats(size, random), |source, i| (1 << (i % 8)) as f32 * source[i])
}
