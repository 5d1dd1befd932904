use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coarsening",
    before: &[number(
        "65536 elements, 2048 threads: how many elements apart are the loads of two neighbouring lanes?",
        |runs| runs.lane_distance(&[65_536]),
        &[
            (1.0, "That is the goal. Here each thread has a run of its own."),
            (2048.0, "That is the number of threads. A run is 65536 / 2048 elements long."),
        ],
        "A run has 65536 / 2048 = 32 elements, so lane 1 begins 32 elements after lane 0.",
    )],
    after: &[number(
        "Your kernel at n = 33: how many sectors does it load in all, from both arrays?",
        |runs| runs.count(LoadSectors, &[33]),
        &[
            (8.0, "8 sectors hold 64 words; element 32 of each array is in one more."),
            (16.0, "33 words fill 4 sectors and begin a fifth, in each of the two arrays."),
        ],
        "33 words lie in 5 sectors, and there are two arrays.",
    )],
    fails_as_shipped: FailureKind::Bound(SectorsPerLoad),
    bounds: &[
        COALESCED_LOADS,
        coalesced(SectorsPerStore, "32 lanes x 4 B = 128 B = 4 sectors of 32 B"),
        EACH_RESULT_ONCE,
        bound(LoadSectors, |n| exactly(n / 4.0), "two arrays, each sector once"),
    ],
    hints: [
        "Which element does lane 1 load while lane 0 loads element 0?",
        "All threads of the grid together take the first 2048 elements, then the next 2048.",
        "A thread begins at its own number, and each turn moves it on by the number of threads.",
    ],
    ..task!(grid_stride(f32, f32) -> f32, LINE, case, |n| (8, 256))
};

fn case(size: &Size, random: &mut Random) -> Case {
    let (x, y) = (floats(size, random), floats(size, random));
    let target = x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect();
    of_two(x, y, target)
}
