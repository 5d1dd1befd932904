//! Host half of `any_order`. The kernel and the task's text: `course/kernels/src/any_order.rs`.

use super::prelude::*;
use course_kernels::any_order as device;

pub const TASK: Task = Task {
    id: "any_order",
    lesson: "coalescing",
    kind: Kind::Question,
    solved: SOLVED,
    pattern: pattern(
        "any_order",
        SOLVED,
        Sizes { dimensions: N, verify: &[&[1], &[33], &[1021]], count: &[1024] },
        case,
        &[launched(launch)],
    ),
    before: &[
        Question {
            text: "Sectors per load?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::SectorsPerLoad, &[1024]),
            misses: &[(32.0, "The lanes want the same 128 bytes as in order.")],
            why: "The lanes touch the same 4 sectors, in another order.",
        },
        Question {
            text: "Does it cost more than in order?",
            answers: Answers::Choice(&["yes", "no"]),
            answer: |runs| {
                Ok(if runs.count(Count::SectorsPerLoad, &[1024])? > 4.0 { 1.0 } else { 2.0 })
            },
            misses: &[(
                1.0,
                "What is counted is how many sectors a request touches, not in which order.",
            )],
            why: "The request touches 4 sectors in any order.",
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

const SOLVED: &str = include_str!("../../kernels/src/any_order.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target = (0..n).map(|i| source[if (i ^ 31) < n { i ^ 31 } else { i }]).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::any_order,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
