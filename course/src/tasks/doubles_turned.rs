//! Host half of `doubles_turned`. The kernel and the task's text: `course/kernels/src/doubles_turned.rs`.

use super::prelude::*;
use course_kernels::doubles_turned as device;

pub const TASK: Task = Task {
    id: "doubles_turned",
    lesson: "transpose",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "doubles_turned",
        SOLVED,
        Sizes { dimensions: IMAGE, verify: PIXELS, count: &[128, 128] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::BankConflicts),
    bounds: &[
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "16 elements of a column in 32 banks",
        },
        Bound {
            count: Count::SharedBytes,
            limits: |_| up_to(8448.0),
            because: "32 rows of 33 doubles",
        },
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 8.0),
            because: "32 x 8 B / 32 B",
        },
        Bound {
            count: Count::SectorsPerStore,
            limits: |_| between(1.0, 8.0),
            because: "32 x 8 B / 32 B",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 4.0),
            because: "each result once: 8 B of a sector of 32 B",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 4.0),
            because: "each element once: 8 B of a sector of 32 B",
        },
    ],
    hints: [
        "Element (row, column) is in banks 2 x (PITCH x row + column) and the next, modulo 32.",
        "From row to row the banks must move on by the width of one element.",
        "33 elements are 66 words: two banks further in each row.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/doubles_turned.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let source: Vec<f64> = source.into_iter().map(f64::from).collect();
    let mut target = vec![0.0; rows * columns];
    for row in 0..rows {
        for column in 0..columns {
            target[column * rows + row] = source[row * columns + column];
        }
    }
    Case { inputs: vec![Data::F64(source)], outputs: vec![Output::exact(Data::F64(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [rows, columns] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::doubles_turned,
            (blocks(columns, 32), blocks(rows, 32)),
            (32, 32),
            0,
            (arrays.input::<f64>(0), arrays.output::<f64>(0), rows as u32, columns as u32),
        )?)
    }
}
