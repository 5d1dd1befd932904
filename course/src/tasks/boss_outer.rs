use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "store_segments",
    fails_as_shipped: FailureKind::Bound(SectorsPerStore),
    bounds: &[coalesced(SectorsPerStore, "32 neighbouring products"), EACH_RESULT_ONCE],
    hints: [
        "Where do lanes 0 and 1 store?",
        "The products of one row lie side by side.",
        "Divide the thread's number by the length of a row.",
    ],
    ..task!(
        boss_outer(f32, f32) -> f32, images(&[128, 256]), case,
        |rows, columns| (blocks(rows * columns, 256), 256)
    )
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let (a, b) = (random.f32s(rows), random.f32s(columns));
    let target = (0..rows * columns).map(|i| a[i / columns] * b[i % columns]).collect();
    of_two(a, b, target)
}
