//! Host half of `line_or_sector`. The kernel and the task's text: `course/kernels/src/line_or_sector.rs`.

use super::prelude::*;
use course_kernels::line_or_sector as device;

pub const TASK: Task = Task {
    id: "line_or_sector",
    lesson: "bus_utilization",
    kind: Kind::Question,
    solved: SOLVED,
    pattern: pattern(
        "line_or_sector",
        SOLVED,
        Sizes { dimensions: N, verify: &[&[1], &[33], &[1021]], count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[
        Question {
            text: "Bytes moved for one load?",
            answers: Answers::Number(0.02),
            answer: |runs| Ok(32.0 * runs.count(Count::SectorsPerLoad, &[65_536])?),
            misses: &[
                (4096.0, "Only the sector of a line that is wanted moves."),
                (128.0, "That is what the lanes use."),
            ],
            why: "32 lanes x 32 B.",
        },
        Question {
            text: "What moves for a lonely word?",
            answers: Answers::Choice(&["a cache line", "a sector", "the word"]),
            answer: |runs| {
                Ok(if runs.count(Count::SectorsPerLoad, &[65_536])? < 33.0 { 2.0 } else { 1.0 })
            },
            misses: &[
                (1.0, "A line has four sectors, and each of them moves for itself."),
                (3.0, "Nothing smaller than a sector moves."),
            ],
            why: "A sector of 32 bytes.",
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

const SOLVED: &str = include_str!("../../kernels/src/line_or_sector.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target =
        (0..n).map(|i| source[(i as u32).wrapping_mul(2_654_435_761) as usize % n]).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::line_or_sector,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
