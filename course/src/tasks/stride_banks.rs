//! Host half of `stride_banks`. The kernel and the task's text: `course/kernels/src/stride_banks.rs`.

use super::prelude::*;
use course_kernels::stride_banks as device;

pub const TASK: Task = Task {
    id: "stride_banks",
    lesson: "bank_conflicts",
    kind: Kind::Question,
    solved: SOLVED,
    pattern: pattern(
        "stride_banks",
        SOLVED,
        Sizes {
            dimensions: &[
                Dimension::extent("n", "elements", 1),
                Dimension::amount("stride", "words from one lane to the next", 1),
            ],
            verify: &[&[1, 1], &[33, 2], &[100, 33]],
            count: &[1024, 1],
        },
        case,
        &[launched(launch)],
    ),
    before: &[
        Question {
            text: "Wavefronts at stride 1?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[1024, 1]),
            misses: &[(32.0, "Neighbouring words are in different banks.")],
            why: "32 words in 32 banks.",
        },
        Question {
            text: "Wavefronts at stride 2?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[1024, 2]),
            misses: &[
                (
                    16.0,
                    "16 lanes want the even banks' first words, and 16 their second words: each bank gives two words.",
                ),
                (1.0, "Only the 16 even banks are used."),
            ],
            why: "Lanes l and l + 16 share a bank.",
        },
        Question {
            text: "Wavefronts at stride 3?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[1024, 3]),
            misses: &[(3.0, "3 and 32 have no common factor, so no bank is wanted twice.")],
            why: "All 32 banks, in another order.",
        },
        Question {
            text: "Wavefronts at stride 32?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[1024, 32]),
            misses: &[(1.0, "All words lie in bank 0.")],
            why: "All lanes want bank 0.",
        },
        Question {
            text: "Wavefronts at stride 33?",
            answers: Answers::Number(0.0),
            answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[1024, 33]),
            misses: &[
                (33.0, "33 l modulo 32 is l."),
                (32.0, "The extra word moves each lane one bank on."),
            ],
            why: "One more than 32: each lane has the next bank.",
        },
    ],
    after: &[],
    fails_as_shipped: Because::Unanswered,
    bounds: &[],
    hints: [
        "Write down the banks of lanes 0, 1, 2 and 16.",
        "How many lanes share a bank is the largest common factor of the stride and 32.",
        "`cargo xtask learn try stride_banks --set stride=4` shows the banks that the lanes want.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/stride_banks.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, stride] = size.get();
    let _ = random;
    let target = (0..n).map(|i| (i % 32 * stride) as u32).collect();
    Case { inputs: Vec::new(), outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n, stride] = size.get();
    let arguments = (arrays.output::<u32>(0), n as u32, stride as u32);
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe { Ok(launcher.launch(device::stride_banks, blocks(n, 32), 32, 0, arguments)?) }
}
