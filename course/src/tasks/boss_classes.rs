use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "local_memory",
    fails_as_shipped: FailureKind::Bound(LocalRequests),
    bounds: &[none(LocalRequests, "four counts of 8 bits are one register"), EACH_NUMBER_ONCE],
    hints: [
        "Which element of the array is counted up is known only when the kernel runs.",
        "A register has no index, but its bits can be shifted by a number that is not known.",
        "Four counts below 256 fit into the four bytes of one number.",
    ],
    ..task!(boss_classes(u32) -> u32, SIZES, case, |rows, columns| (blocks(columns, 256), 256))
};

const SIZES: Sizes = Sizes {
    dimensions: IMAGE,
    verify: &[&[1, 1], &[31, 33], &[4, 257], &[5, 1020], &[64, 256]],
    count: &[64, 1024],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.u32s(rows * columns);
    let one = |i: usize| 1_u32 << (8 * (source[i] % 4));
    let sum = |column: usize| -> u32 { (0..rows).map(|row| one(row * columns + column)).sum() };
    let target = (0..columns).map(sum).collect();
    exact(source, target)
}
