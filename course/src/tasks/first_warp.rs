//! Host half of `first_warp`. The kernel and the task's text: `course/kernels/src/first_warp.rs`.

use super::prelude::*;
use course_kernels::first_warp as device;

pub const TASK: Task = Task {
    id: "first_warp",
    lesson: "coalescing",
    kind: Kind::Question,
    solved: SOLVED,
    pattern: pattern(
        "first_warp",
        SOLVED,
        Sizes {
            dimensions: &[
                Dimension::extent("n", "elements", 1),
                Dimension::amount("stride", "words from one lane to the next", 1),
            ],
            verify: &[&[1, 1], &[33, 2], &[1021, 3]],
            count: &[1024, 1],
        },
        case,
        &[launched(launch)],
    ),
    before: &[
        Question {
            text: "Sectors at stride 1?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024, 1]),
            misses: &[
                (32.0, "8 words share a sector."),
                (1.0, "A sector has 8 words, and there are 32 lanes."),
            ],
            why: "32 x 4 B = 128 B = 4 sectors.",
        },
        Question {
            text: "Sectors at stride 2?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024, 2]),
            misses: &[
                (4.0, "The lanes span 256 bytes now."),
                (16.0, "A sector still has the words of 4 lanes."),
            ],
            why: "32 x 8 B = 256 B = 8 sectors.",
        },
        Question {
            text: "Sectors at stride 8?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024, 8]),
            misses: &[(8.0, "8 words are 32 bytes: the next lane is in the next sector.")],
            why: "Every lane has a sector of its own.",
        },
        Question {
            text: "Sectors at stride 16?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024, 16]),
            misses: &[(64.0, "A lane touches one sector, however far apart they are.")],
            why: "Every lane has a sector of its own, and there are 32 lanes.",
        },
    ],
    after: &[],
    fails_as_shipped: Because::Unanswered,
    bounds: &[],
    hints: [
        "Write down the byte address of lanes 0, 1 and 31.",
        "A sector is 32 bytes and begins at a multiple of 32. Count how many different ones the lanes touch.",
        "`cargo xtask learn try` executes the kernel at any size and prints the first request of each line.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/first_warp.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, stride] = size.get();
    let source = random.f32s(n * stride);
    let target = (0..n).map(|i| source[i * stride]).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n, stride] = size.get();
    let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32, stride as u32);
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe { Ok(launcher.launch(device::first_warp, blocks(n, 256), 256, 0, arguments)?) }
}
