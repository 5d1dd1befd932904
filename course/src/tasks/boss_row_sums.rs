use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "bank_conflicts",
    fails_as_shipped: FailureKind::Bound(BankConflicts),
    bounds: &[
        none(BankConflicts, "32 lanes in 32 banks in every step"),
        bound(SharedBytes, |_| up_to(4096.0), "32 x 32 words"),
        coalesced(SectorsPerLoad, "a row per request"),
        bound(LoadSectors, |n| exactly(4.0 * n), "each row of 128 B once"),
        bound(
            SharedRequests,
            |n| up_to(2.0 * n),
            "for each block of 32 rows, 32 stores and 32 loads",
        ),
    ],
    hints: [
        "In step 0, which bank does lane l want?",
        "A sum does not care in which order its numbers come.",
        "Let every lane begin at another column.",
    ],
    ..task!(
        boss_row_sums(u32) -> u32, line(&[&[1], &[31], &[33], &[257], &[1021]], &[1024]), case,
        |n| (blocks(n, 32), 32)
    )
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    chunked(random.u32s(32 * n), 32, sum)
}
