use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "store_segments",
    kind: Kind::Bug,
    fails_as_shipped: FailureKind::Hazard(Hazard::ConflictingStore),
    bounds: &[
        bound(
            StoreSectors,
            |n| between(n / 64.0, n / 32.0),
            "one word for each group of 8, four of them in a request",
        ),
        bound(StoreRequests, |n| between(n / 1024.0, n / 32.0), "one for each warp"),
    ],
    hints: [
        "8 lanes store 8 different values to one word, and the hardware takes any of them.",
        "The last number of a group is in its last lane, except in the last group.",
        "Lanes 7, 15, 23 and 31 store; in the last group it is the thread whose next one has no number.",
    ],
    ..task!(two_writers(u32) -> u32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    chunked(words(size, random), 8, |group| group[group.len() - 1])
}
