use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "reduction",
    kind: Kind::Bug,
    fails_as_shipped: FailureKind::Hazard(Hazard::MemberMask),
    bounds: &[
        EACH_NUMBER_ONCE,
        bound(StoreRequests, |n| between(n / 1024.0, n / 32.0), "one for each warp"),
    ],
    hints: [
        "Is there a branch around the shuffles?",
        "The mask must have a bit for each lane that executes the instruction.",
        "All 32 lanes do: there is a constant for it.",
    ],
    ..task!(wrong_mask(u32) -> u32, LINE, |size, random| chunked(words(size, random), 32, sum))
};
