use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "coalescing",
    before: &[number(
        "n = 1024: how many threads does the grid have?",
        |runs| runs.threads(&[1024]),
        &[(1024.0, "There is a thread for every second element only.")],
        "Half of 1024, which is two blocks of 256.",
    )],
    fails_as_shipped: FailureKind::Wrong,
    bounds: &[EACH_NUMBER_ONCE, EACH_RESULT_ONCE],
    hints: [
        "Which element is the last that a thread takes as it stands?",
        "Thread 0 takes element 0. If the grid has 512 threads, the next that nobody takes is element 512.",
        "Do the same again for i + threads, as long as i is below n: a loop.",
    ],
    ..task!(small_grid(f32) -> f32, LINE, case, |n| (blocks(n.div_ceil(2), 256), 256))
};

fn case(size: &Size, random: &mut Random) -> Case {
    each(floats(size, random), |one| 2.0 * one)
}
