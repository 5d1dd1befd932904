use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "reduction",
    before: &[about(
        0.5,
        "How many bank conflicts does the whole run cause with 256 numbers, as the kernel stands?",
        |runs| runs.count(BankConflicts, &[256]),
        &[(
            0.0,
            "In level 2 the lanes that work are 4 words apart, in level 3 they are 8 words apart.",
        )],
        "The distance between lanes doubles in each level, and with it the words in one bank; until the lanes become fewer.",
    )],
    fails_as_shipped: FailureKind::Bound(BankConflicts),
    bounds: &[
        none(BankConflicts, "lanes that work are neighbours, and so are their words"),
        bound(
            SharedRequests,
            |n| up_to(n * 45.0 / 256.0),
            "for each block of 256, 8 stores, 12 warps at work x 3, and the sum",
        ),
        bound(Barriers, |n| between(n / 32.0, n * 9.0 / 32.0), "9 for each warp"),
        EACH_NUMBER_ONCE,
    ],
    hints: [
        "Write down the words that lanes 0, 1 and 2 read in the third level.",
        "Neighbouring threads should add neighbouring words. Which half of the tile is free to be read?",
        "In each level, thread t below `half` adds word t + half to word t; then `half` is halved.",
    ],
    ..task!(tree(u32) -> u32, LINE, |size, random| chunked(words(size, random), 256, sum))
};
