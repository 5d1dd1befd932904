//! Host half of `spilled`. The kernel and the task's text: `course/kernels/src/spilled.rs`.

use super::prelude::*;
use course_kernels::spilled as device;

pub const TASK: Task = Task {
    id: "spilled",
    lesson: "local_memory",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "spilled",
        SOLVED,
        Sizes {
            dimensions: IMAGE,
            verify: &[&[1, 1], &[31, 33], &[4, 257], &[5, 1021], &[64, 256]],
            count: &[64, 1024],
        },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "64 rows, 1024 columns: does the kernel as it stands use local memory?",
        answers: Answers::Choice(&[
            "no, an array of 4 numbers fits into registers",
            "yes, registers have no index",
        ]),
        answer: |runs| {
            Ok(if runs.count(Count::LocalRequests, &[64, 1024])? > 0.0 { 2.0 } else { 1.0 })
        },
        misses: &[(
            1.0,
            "It would fit, but a register is part of an instruction: the compiler has to know which one.",
        )],
        why: "An array whose index is not known when the kernel is compiled lies in local memory.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::LocalRequests),
    bounds: &[
        Bound {
            count: Count::LocalRequests,
            limits: |_| up_to(0.0),
            because: "four numbers with known places fit into registers",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "`row % 4` is known only when the kernel runs.",
        "Let every number move by one place in each row: the oldest leaves, the new one enters.",
        "`last = [last[1], last[2], last[3], new]`: every index is a constant.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/spilled.rs");

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

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [rows, columns] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::spilled,
            blocks(columns, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), rows as u32, columns as u32),
        )?)
    }
}
