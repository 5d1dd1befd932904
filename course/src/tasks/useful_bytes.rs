//! Host half of `useful_bytes`. The kernel and the task's text: `course/kernels/src/useful_bytes.rs`.

use super::prelude::*;
use course_kernels::useful_bytes as device;

pub const TASK: Task = Task {
    id: "useful_bytes",
    lesson: "bus_utilization",
    kind: Kind::Question,
    solved: SOLVED,
    pattern: pattern(
        "useful_bytes",
        SOLVED,
        Sizes { dimensions: N, verify: &[&[1], &[33], &[1021]], count: &[1024] },
        case,
        &[launched(launch)],
    ),
    before: &[
        Question {
            text: "Sectors loaded for 1024 elements?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::LoadSectors, &[1024]),
            misses: &[(128.0, "That would be 1024 neighbouring words.")],
            why: "Each element has a sector of its own.",
        },
        Question {
            text: "Percent of the loaded bytes that are used?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.load_efficiency(&[1024]),
            misses: &[(100.0, "Of each 32 bytes, 4 are used."), (25.0, "A sector has 8 words.")],
            why: "4 of 32 bytes.",
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

const SOLVED: &str = include_str!("../../kernels/src/useful_bytes.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(8 * n);
    let target = (0..n).map(|i| source[8 * i]).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::useful_bytes,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
