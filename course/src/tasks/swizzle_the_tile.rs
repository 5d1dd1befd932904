use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "transpose",
    before: &[number(
        "How many different banks do the 32 words of column 5 lie in, as the kernel stands?",
        |runs| Ok(32.0 / runs.count(WavefrontsPerSharedLoad, &[256, 256])?),
        &[(32.0, "That is the goal."), (5.0, "They lie in bank 5, all of them.")],
        "The bank of (row, column) is (32 row + column) modulo 32, which is the column.",
    )],
    fails_as_shipped: FailureKind::Bound(BankConflicts),
    bounds: &[
        none(BankConflicts, "a column of 32 words in 32 banks"),
        bound(SharedRequests, |n| up_to(n / 16.0), "a store and a load for each warp"),
        bound(SharedBytes, |_| up_to(4096.0), "32 x 32 words"),
        coalesced(SectorsPerLoad, "a row of the image per warp"),
        coalesced(
            SectorsPerStore,
            "a row of the result per warp, shifted by no more than the edge of the image",
        ),
        EACH_RESULT_ONCE,
        EACH_NUMBER_ONCE,
    ],
    hints: [
        "For a fixed column, the bank must be another one in each row.",
        "Each row may be permuted in its own way, as long as two columns of one row never meet.",
        "An exclusive or of the column with something that differs from row to row.",
    ],
    ..task!(
        swizzle_the_tile(u32) -> u32, images(&[256, 256]), case,
        |rows, columns| ((blocks(columns, 32), blocks(rows, 32)), (32, 32))
    )
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, _] = size.get();
    transposed(words(size, random), size, |row, column| (rows - 1 - row, column))
}
