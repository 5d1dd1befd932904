//! Host half of `every_third`. The kernel and the task's text: `course/kernels/src/every_third.rs`.

use super::prelude::*;
use course_kernels::every_third as device;

pub const TASK: Task = Task {
    id: "every_third",
    lesson: "stride",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "every_third",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many sectors does one load of a warp touch, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::SectorsPerLoad, &[65_536]),
        misses: &[
            (4.0, "That would be 32 neighbouring words. These are 3 words apart."),
            (32.0, "Lanes are 12 bytes apart, so a sector has the words of two or three of them."),
        ],
        why: "32 lanes x 12 B = 384 B, which is 12 sectors.",
    }],
    after: &[Question {
        text: "Your kernel reads the tile with a distance of 3 words between lanes: how many wavefronts per shared load?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::WavefrontsPerSharedLoad, &[65_536]),
        misses: &[(
            3.0,
            "3 lanes would have to share a bank. 3 x lane modulo 32 is different for all 32 lanes.",
        )],
        why: "The common factor of 3 and 32 is 1, so all 32 banks are used once.",
    }],
    fails_as_shipped: Because::Bound(Count::SectorsPerLoad),
    bounds: &[
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "32 lanes x 4 B = 128 B = 4 sectors of 32 B",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| between(elements(size) * 3.0 / 8.0, elements(size) * 3.0 / 8.0),
            because: "three words for each pixel, each sector once",
        },
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "3 and 32 have no common factor, so 32 lanes want 32 banks",
        },
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
        Bound { count: Count::SharedBytes, limits: |_| up_to(3072.0), because: "768 words" },
    ],
    hints: [
        "The words that a block needs lie side by side: 768 of them.",
        "In step `part`, thread t of the block loads word `part * 256 + t` of the block's 768 into the same word of the tile.",
        "After a barrier, the green word of thread t is word 3 t + 1 of the tile.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/every_third.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let rgb = random.f32s(3 * n);
    let green = rgb.iter().skip(1).step_by(3).copied().collect();
    Case { inputs: vec![Data::F32(rgb)], outputs: vec![Output::exact(Data::F32(green))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::every_third,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
