//! Host half of `rows_to_lanes`. The kernel and the task's text: `course/kernels/src/rows_to_lanes.rs`.

use super::prelude::*;
use course_kernels::rows_to_lanes as device;

pub const TASK: Task = Task {
    id: "rows_to_lanes",
    lesson: "coalescing",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "rows_to_lanes",
        SOLVED,
        Sizes { dimensions: IMAGE, verify: PIXELS, count: &[128, 256] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many sectors of 32 bytes does one load of a warp touch, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::SectorsPerLoad, &[128, 256]),
        misses: &[
            (4.0, "4 is the goal: 32 neighbouring words. Here neighbours lie a whole row apart."),
            (1.0, "A sector has 8 words, and a warp wants 32."),
        ],
        why: "Every lane has a row of its own, so every lane touches a sector of its own.",
    }],
    after: &[Question {
        text: "Your kernel on an image of 33 columns: sectors per load, rounded up to a whole number?",
        answers: Answers::Number(0.0),
        answer: |runs| Ok(runs.count(Count::SectorsPerLoad, &[64, 33])?.ceil()),
        misses: &[(
            33.0,
            "The columns do not matter any more: pixels lie one behind the other through all rows.",
        )],
        why: "Pixels are taken one behind the other, so where a row ends makes no difference to a warp.",
    }],
    fails_as_shipped: Because::Bound(Count::SectorsPerLoad),
    bounds: &[
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "32 lanes x 4 B = 128 B = 4 sectors of 32 B",
        },
        Bound { count: Count::SectorsPerStore, limits: |_| between(1.0, 4.0), because: "the same" },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each result once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each pixel once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Write down the index `at` for lanes 0, 1 and 2 of the first warp.",
        "Neighbouring lanes have neighbouring values of `pixel`. So the column must be what changes with every step of it.",
        "Divide by the length of a row: the quotient is one of the two numbers, the remainder the other.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/rows_to_lanes.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let target = source.iter().map(|pixel| 2.0 * pixel).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [rows, columns] = size.get();
    let grid = blocks(rows * columns, 256);
    let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0), columns as u32, rows as u32);
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe { Ok(launcher.launch(device::rows_to_lanes, grid, 256, 0, arguments)?) }
}
