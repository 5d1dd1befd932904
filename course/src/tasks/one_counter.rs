use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "atomics",
    before: &[about(
        0.05,
        "65536 numbers, a seventh of them 0, half of the others above: about how many atomic additions, as the kernel stands?",
        |runs| runs.count(GlobalAtomics, &[65_536]),
        &[
            (65536.0, "Only lanes that find a number above 0 add."),
            (2048.0, "That is the goal: one for each warp."),
        ],
        "One for every number above 0: half of six sevenths.",
    )],
    fails_as_shipped: FailureKind::Bound(GlobalAtomics),
    bounds: &[
        bound(GlobalAtomics, |n| between(1.0, n / 32.0), "one for each warp"),
        bound(
            GlobalAtomicUpdates,
            |n| between(1.0, n / 32.0),
            "one lane wants the counter, so one pass each",
        ),
        EACH_NUMBER_ONCE,
    ],
    hints: [
        "About half of the lanes of a warp add 1 to the same word.",
        "The vote has a bit for each lane that would have added.",
        "`votes.count_ones()` is how many that are. One lane, say lane 0, adds this number.",
    ],
    ..task!(one_counter(f32) -> u32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    let source = some_zeros(size, random);
    let count = source.iter().filter(|one| **one > 0.0).count();
    counted(source, vec![count as u32])
}
