//! Host half of `swizzle_the_tile`. The kernel and the task's text: `course/kernels/src/swizzle_the_tile.rs`.

use super::prelude::*;
use course_kernels::swizzle_the_tile as device;

pub const TASK: Task = Task {
    id: "swizzle_the_tile",
    lesson: "transpose",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "swizzle_the_tile",
        SOLVED,
        Sizes { dimensions: IMAGE, verify: PIXELS, count: &[256, 256] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many different banks do the 32 words of column 5 lie in, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| Ok(32.0 / runs.count(Count::WavefrontsPerSharedLoad, &[256, 256])?),
        misses: &[(32.0, "That is the goal."), (5.0, "They lie in bank 5, all of them.")],
        why: "The bank of (row, column) is (32 row + column) modulo 32, which is the column.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::BankConflicts),
    bounds: &[
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "a column of 32 words in 32 banks",
        },
        Bound { count: Count::SharedBytes, limits: |_| up_to(4096.0), because: "32 x 32 words" },
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "a row of the image per warp",
        },
        Bound {
            count: Count::SectorsPerStore,
            limits: |_| between(1.0, 4.0),
            because: "a row of the result per warp, shifted by no more than the edge of the image",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each result once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "For a fixed column, the bank must be another one in each row.",
        "Each row may be permuted in its own way, as long as two columns of one row never meet.",
        "An exclusive or of the column with something that differs from row to row.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/swizzle_the_tile.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.u32s(rows * columns);
    let mut target = vec![0; rows * columns];
    for row in 0..rows {
        for column in 0..columns {
            target[column * rows + (rows - 1 - row)] = source[row * columns + column];
        }
    }
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [rows, columns] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::swizzle_the_tile,
            (blocks(columns, 32), blocks(rows, 32)),
            (32, 32),
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), rows as u32, columns as u32),
        )?)
    }
}
