//! Host half of `boss_classes`. The kernel and the task's text: `course/kernels/src/boss_classes.rs`.

use super::prelude::*;
use course_kernels::boss_classes as device;

pub const TASK: Task = Task {
    id: "boss_classes",
    lesson: "local_memory",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "boss_classes",
        SOLVED,
        Sizes {
            dimensions: IMAGE,
            verify: &[&[1, 1], &[31, 33], &[4, 257], &[5, 1020], &[64, 256]],
            count: &[64, 1024],
        },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::LocalRequests),
    bounds: &[
        Bound {
            count: Count::LocalRequests,
            limits: |_| up_to(0.0),
            because: "four counts of 8 bits are one register",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Which element of the array is counted up is known only when the kernel runs.",
        "A register has no index, but its bits can be shifted by a number that is not known.",
        "Four counts below 256 fit into the four bytes of one number.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/boss_classes.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.u32s(rows * columns);
    let one = |i: usize| 1_u32 << (8 * (source[i] % 4));
    let sum = |column: usize| (0..rows).map(|row| one(row * columns + column)).sum();
    let target = (0..columns).map(sum).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [rows, columns] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::boss_classes,
            blocks(columns, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), rows as u32, columns as u32),
        )?)
    }
}
