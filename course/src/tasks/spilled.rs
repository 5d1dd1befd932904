use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "local_memory",
    before: &[choice(
        "64 rows, 1024 columns: does the kernel as it stands use local memory?",
        &["no, an array of 4 numbers fits into registers", "yes, registers have no index"],
        |runs| Ok(if runs.count(LocalRequests, &[64, 1024])? > 0.0 { 2.0 } else { 1.0 }),
        &[(
            1.0,
            "It would fit, but a register is part of an instruction: the compiler has to know which one.",
        )],
        "An array whose index is not known when the kernel is compiled lies in local memory.",
    )],
    fails_as_shipped: FailureKind::Bound(LocalRequests),
    bounds: &[
        none(LocalRequests, "four numbers with known places fit into registers"),
        EACH_NUMBER_ONCE,
    ],
    hints: [
        "`row % 4` is known only when the kernel runs.",
        "Let every number move by one place in each row: the oldest leaves, the new one enters.",
        "`last = [last[1], last[2], last[3], new]`: every index is a constant.",
    ],
    ..task!(spilled(f32) -> f32, SIZES, case, |rows, columns| (blocks(columns, 256), 256))
};

const SIZES: Sizes = Sizes {
    dimensions: IMAGE,
    verify: &[&[1, 1], &[31, 33], &[4, 257], &[5, 1021], &[64, 256]],
    count: &[64, 1024],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let at = |row: Option<usize>, column| row.map_or(0.0, |row| source[row * columns + column]);
    let sum = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let ages = [3, 2, 1, 0].map(|age| at(row.checked_sub(age), column));
        ages[0] + ages[1] + ages[2] + ages[3]
    };
    let target = (0..rows * columns).map(sum).collect();
    let output = Output::near(Data::F32(target), Tolerance::sum_of_products(4));
    Case { inputs: vec![Data::F32(source)], outputs: vec![output] }
}
