use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "atomics",
    kind: Kind::Bug,
    fails_as_shipped: FailureKind::Hazard(Hazard::GlobalRaceInWarp),
    bounds: &[
        bound(
            LoadSectors,
            |n| exactly(n / 8.0),
            "each number once: the counter itself is not loaded",
        ),
        bound(GlobalAtomics, |n| between(1.0, n), "at most one for each number"),
    ],
    hints: [
        "Two lanes of a warp read the counter in the same moment. What do they write?",
        "An atomic addition reads, adds and writes as one.",
        "`AtomicU32::from_ptr(count)` is the counter as an atomic; `fetch_add` adds.",
    ],
    ..task!(lost_update(u32) -> u32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    let source = words(size, random);
    let count = source.iter().filter(|one| one.is_multiple_of(2)).count();
    counted(source, vec![count as u32])
}
