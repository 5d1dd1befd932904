//! Host half of `one_counter`. The kernel and the task's text: `course/kernels/src/one_counter.rs`.

use super::prelude::*;
use course_kernels::one_counter as device;

pub const TASK: Task = Task {
    id: "one_counter",
    lesson: "atomics",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "one_counter",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "65536 numbers, a seventh of them 0, half of the others above: about how many atomic additions, as the kernel stands?",
        answers: Answers::Number(0.05),
        answer: |runs| runs.count(Count::GlobalAtomics, &[65_536]),
        misses: &[
            (65536.0, "Only lanes that find a number above 0 add."),
            (2048.0, "That is the goal: one for each warp."),
        ],
        why: "One for every number above 0: half of six sevenths.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::GlobalAtomics),
    bounds: &[
        Bound {
            count: Count::GlobalAtomics,
            limits: |size| between(1.0, elements(size) / 32.0),
            because: "one for each warp",
        },
        Bound {
            count: Count::GlobalAtomicPasses,
            limits: |size| between(1.0, elements(size) / 32.0),
            because: "one lane wants the counter, so one pass each",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "About half of the lanes of a warp add 1 to the same word.",
        "The vote has a bit for each lane that would have added.",
        "`votes.count_ones()` is how many that are. One lane, say lane 0, adds this number.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/one_counter.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let mut source = random.f32s(n);
    source.iter_mut().step_by(7).for_each(|one| *one = 0.0);
    let count = source.iter().filter(|one| **one > 0.0).count() as u32;
    let count = Output { before: Before::Zeros, ..Output::exact(Data::U32(vec![count])) };
    Case { inputs: vec![Data::F32(source)], outputs: vec![count] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::one_counter,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
