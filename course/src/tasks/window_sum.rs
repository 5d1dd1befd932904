use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "stencil",
    fails_as_shipped: FailureKind::Bound(LoadSectors),
    bounds: &[
        bound(
            LoadSectors,
            |n| between(n / 8.0, n * 42.0 / 256.0 - 2.0),
            "for each block of 256, 8 warps x 5 sectors and 2, less one at either end",
        ),
        none(BankConflicts, "neighbouring lanes read neighbouring words"),
        bound(
            SharedRequests,
            |n| up_to(n * 81.0 / 256.0),
            "for each block of 256, 9 stores and 72 loads",
        ),
        ONE_BARRIER,
        bound(SharedBytes, |_| up_to(1056.0), "264 words"),
    ],
    hints: [
        "Neighbouring threads load eight numbers in common.",
        "264 words are more than 256 threads: the first 8 threads load two.",
        "Word w of the tile is number `first of the block + w - 4`, or 0 outside; after a barrier, thread t adds words t to t + 8.",
    ],
    ..task!(window_sum(u32) -> u32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(words(size, random), |source, i| {
        let at = |i: usize| i.checked_sub(4).and_then(|i| source.get(i)).copied().unwrap_or(0);
        (i..i + 9).fold(0_u32, |sum, i| sum.wrapping_add(at(i)))
    })
}
