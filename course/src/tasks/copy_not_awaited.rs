use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "async_copy",
    kind: Kind::Bug,
    fails_as_shipped: FailureKind::Hazard(Hazard::AsyncCopyNotAwaited),
    bounds: &[EACH_NUMBER_ONCE, ONE_BARRIER],
    hints: [
        "Each thread can wait for the copies that it started itself.",
        "First every thread waits for its own copy, then all wait for each other.",
        "`async_copy::wait_all` before the barrier.",
    ],
    ..task!(copy_not_awaited(f32) -> f32, LINE, case)
};

fn case(size: &Size, random: &mut Random) -> Case {
    let source = floats(size, random);
    let target = source.chunks(256).flat_map(|block| block.iter().rev().copied()).collect();
    exact(source, target)
}
