use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "transpose",
    before: &[number(
        "How many wavefronts does the load of a column take, as the kernel stands?",
        |runs| runs.count(WavefrontsPerSharedLoad, &[256, 256]),
        &[
            (1.0, "That is the goal: 32 words in 32 banks."),
            (16.0, "Rows of 32 words leave the bank as it is, so it is one bank for all lanes."),
        ],
        "All 32 words of a column are in one bank, which gives one word at a time.",
    )],
    after: &[number(
        "Your kernel: wavefronts per shared store, when rows are written?",
        |runs| runs.count(WavefrontsPerSharedStore, &[256, 256]),
        &[(2.0, "Words that lie side by side are in different banks, wherever the row begins.")],
        "A row has 32 words in 32 banks.",
    )],
    fails_as_shipped: FailureKind::Bound(BankConflicts),
    bounds: &[
        none(BankConflicts, "a column of 32 words in 32 banks"),
        bound(SharedRequests, |n| up_to(n / 16.0), "a store and a load for each warp"),
        bound(SharedBytes, |_| up_to(4224.0), "32 rows of 33 words"),
        coalesced(SectorsPerLoad, "a row of the image per warp"),
        coalesced(SectorsPerStore, "a row of the result per warp"),
        EACH_RESULT_ONCE,
        EACH_NUMBER_ONCE,
    ],
    hints: [
        "The words of a column are one row apart. How many banks is that?",
        "A row of 32 words brings the next row to the same banks. What if a row were a little longer?",
        "A row of 33 words, of which the last is not used.",
    ],
    ..task!(
        pad_the_tile(f32) -> f32, images(&[256, 256]), case,
        |rows, columns| ((blocks(columns, 32), blocks(rows, 32)), (32, 32))
    )
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [_, columns] = size.get();
    transposed(floats(size, random), size, |row, column| (row, columns - 1 - column))
}
