use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "bus_utilization",
    fails_as_shipped: FailureKind::Bound(LoadSectors),
    bounds: &[
        bound(
            LoadSectors,
            |n| between(n / 8.0, n / 4.0),
            "each number once, and for each block of 256 the 32 sectors of the table",
        ),
        ONE_BARRIER,
        bound(SharedBytes, |_| up_to(1024.0), "256 words"),
    ],
    hints: [
        "How large is the table, and how often is it loaded?",
        "Shared memory has no sectors.",
        "Each thread of the block brings one word of the table.",
    ],
    ..task!(boss_table(u32, u32) -> u32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    let (source, table) = (words(size, random), random.u32s(256));
    let target = source.iter().map(|one| table[(one % 256) as usize]).collect();
    of_two(source, table, target)
}
