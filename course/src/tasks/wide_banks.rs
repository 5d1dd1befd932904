//! Host half of `wide_banks`. The kernel and the task's text: `course/kernels/src/wide_banks.rs`.

use super::prelude::*;
use course_kernels::wide_banks as device;

pub const TASK: Task = Task {
    id: "wide_banks",
    lesson: "bank_conflicts",
    kind: Kind::Question,
    solved: SOLVED,
    pattern: pattern(
        "wide_banks",
        SOLVED,
        Sizes { dimensions: N, verify: &[&[1], &[33], &[100]], count: &[1024] },
        case,
        &[launched(launch)],
    ),
    before: &[
        Question {
            text: "Wavefronts per load?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[1024]),
            misses: &[(1.0, "One wavefront brings 128 bytes, and the lanes want 512.")],
            why: "512 B / 128 B.",
        },
        Question {
            text: "Bank conflicts?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::BankConflicts, &[1024]),
            misses: &[
                (3.0, "Four wavefronts are the least for 512 bytes: nothing is wasted."),
                (4.0, "Four wavefronts are the least for 512 bytes: nothing is wasted."),
            ],
            why: "512 bytes need 4 wavefronts in any order.",
        },
    ],
    after: &[],
    fails_as_shipped: Because::Unanswered,
    bounds: &[],
    hints: [
        "How many bytes do 32 lanes want together?",
        "A wavefront brings at most 32 x 4 = 128 bytes.",
        "A conflict is a wavefront more than the bytes make necessary.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/wide_banks.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let _ = random;
    let target = (0..n).map(|i| 4.0 * (31 - i % 32) as f32).collect();
    Case { inputs: Vec::new(), outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::wide_banks,
            blocks(n, 32),
            32,
            0,
            (arrays.output::<f32>(0), n as u32),
        )?)
    }
}
