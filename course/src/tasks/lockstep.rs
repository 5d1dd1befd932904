use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "reduction",
    kind: Kind::Bug,
    fails_as_shipped: FailureKind::Hazard(Hazard::SharedRaceInWarp),
    bounds: &[
        bound(Barriers, |n| between(n / 32.0, n / 8.0), "four for each warp"),
        EACH_NUMBER_ONCE,
    ],
    hints: [
        "Lane 0 reads word 16, and lane 16 writes it, in the same level.",
        "Two orders are needed in each level: all have read before anyone writes, all have written before anyone reads.",
        "A warp barrier before the store, and one after it.",
    ],
    ..task!(lockstep(u32) -> u32, LINE, |size, random| chunked(words(size, random), 256, sum))
};
