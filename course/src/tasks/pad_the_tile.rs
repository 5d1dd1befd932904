//! Host half of `pad_the_tile`. The kernel and the task's text: `course/kernels/src/pad_the_tile.rs`.

use super::prelude::*;
use course_kernels::pad_the_tile as device;

pub const TASK: Task = Task {
    id: "pad_the_tile",
    lesson: "transpose",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "pad_the_tile",
        SOLVED,
        Sizes { dimensions: IMAGE, verify: PIXELS, count: &[256, 256] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many wavefronts does the load of a column take, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[256, 256]),
        misses: &[
            (1.0, "That is the goal: 32 words in 32 banks."),
            (16.0, "Rows of 32 words leave the bank as it is, so it is one bank for all lanes."),
        ],
        why: "All 32 words of a column are in one bank, which gives one word at a time.",
    }],
    after: &[Question {
        text: "Your kernel: wavefronts per shared store, when rows are written?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::WavefrontsPerSharedStore, &[256, 256]),
        misses: &[(
            2.0,
            "Words that lie side by side are in different banks, wherever the row begins.",
        )],
        why: "A row has 32 words in 32 banks.",
    }],
    fails_as_shipped: Because::Bound(Count::BankConflicts),
    bounds: &[
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "a column of 32 words in 32 banks",
        },
        Bound {
            count: Count::SharedBytes,
            limits: |_| up_to(4224.0),
            because: "32 rows of 33 words",
        },
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "a row of the image per warp",
        },
        Bound {
            count: Count::SectorsPerStore,
            limits: |_| between(1.0, 4.0),
            because: "a row of the result per warp",
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
        "The words of a column are one row apart. How many banks is that?",
        "A row of 32 words brings the next row to the same banks. What if a row were a little longer?",
        "A row of 33 words, of which the last is not used.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/pad_the_tile.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let mut target = vec![0.0; rows * columns];
    for row in 0..rows {
        for column in 0..columns {
            target[(columns - 1 - column) * rows + row] = source[row * columns + column];
        }
    }
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [rows, columns] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::pad_the_tile,
            (blocks(columns, 32), blocks(rows, 32)),
            (32, 32),
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), rows as u32, columns as u32),
        )?)
    }
}
