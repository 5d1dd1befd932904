use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "divergence",
    fails_as_shipped: FailureKind::Bound(DivergentBranches),
    bounds: &[
        none(DivergentBranches, "the middle of the array is at a multiple of 32"),
        coalesced(SectorsPerLoad, "32 neighbouring words"),
        coalesced(SectorsPerStore, "32 neighbouring words"),
        EACH_RESULT_ONCE,
        EACH_NUMBER_ONCE,
    ],
    hints: [
        "Lanes 0 and 1 of each warp take different branches.",
        "A warp has one kind of work if its 32 threads take 32 neighbouring numbers.",
        "The number is the thread's own.",
    ],
    ..task!(half_and_half(f32) -> f32, LINE, case, |n| (blocks(n + 1, 256), 256), (n, ROUNDS))
};

fn case(size: &Size, random: &mut Random) -> Case {
    gathered(floats(size, random), |source, i| {
        let is_first = i < source.len().div_ceil(2);
        let turn = |value: f32| if is_first { value * 0.5 + 1.0 } else { (value - 3.0) * 0.25 };
        (0..ROUNDS).fold(source[i], |value, _| turn(value))
    })
}

const ROUNDS: u32 = 10;
