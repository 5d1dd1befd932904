//! Host half of `offset_load`. The kernel and the task's text: `course/kernels/src/offset_load.rs`.

use super::prelude::*;
use course_kernels::offset_load as device;

pub const TASK: Task = Task {
    id: "offset_load",
    lesson: "misalignment",
    kind: Kind::Question,
    solved: SOLVED,
    pattern: pattern(
        "offset_load",
        SOLVED,
        Sizes {
            dimensions: &[
                Dimension::extent("n", "elements", 1),
                Dimension::amount("offset", "words by which the source is shifted", 0),
            ],
            verify: &[&[1, 0], &[33, 1], &[1021, 3]],
            count: &[1024, 0],
        },
        case,
        &[launched(launch)],
    ),
    before: &[
        Question {
            text: "Sectors at offset 0?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024, 0]),
            misses: &[(5.0, "128 bytes from a multiple of 32 are exactly 4 sectors.")],
            why: "128 B from a multiple of 32.",
        },
        Question {
            text: "Sectors at offset 1?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024, 1]),
            misses: &[
                (8.0, "Only one more sector is touched: the one with the last word."),
                (4.0, "The last word lies in the next sector."),
            ],
            why: "The last lane's word lies in a fifth sector. That is a quarter more, and not twice as much.",
        },
        Question {
            text: "Sectors at offset 8?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024, 8]),
            misses: &[(5.0, "8 words are 32 bytes: the load begins with a sector again.")],
            why: "8 words are a whole sector.",
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

const SOLVED: &str = include_str!("../../kernels/src/offset_load.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, offset] = size.get();
    let source = random.f32s(n + offset);
    let target = (0..n).map(|i| source[i + offset]).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n, offset] = size.get();
    let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32, offset as u32);
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe { Ok(launcher.launch(device::offset_load, blocks(n, 256), 256, 0, arguments)?) }
}
