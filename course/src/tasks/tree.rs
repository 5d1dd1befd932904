//! Host half of `tree`. The kernel and the task's text: `course/kernels/src/tree.rs`.

use super::prelude::*;
use course_kernels::tree as device;

pub const TASK: Task = Task {
    id: "tree",
    lesson: "reduction",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "tree",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many bank conflicts does the whole run cause with 256 numbers, as the kernel stands?",
        answers: Answers::Number(0.5),
        answer: |runs| runs.count(Count::BankConflicts, &[256]),
        misses: &[(
            0.0,
            "In level 2 the lanes that work are 4 words apart, in level 3 they are 8 words apart.",
        )],
        why: "The distance between lanes doubles in each level, and with it the words in one bank; until the lanes become fewer.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::BankConflicts),
    bounds: &[
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "lanes that work are neighbours, and so are their words",
        },
        Bound {
            count: Count::SharedRequests,
            limits: |size| up_to(elements(size) * 45.0 / 256.0),
            because: "for each block of 256, 8 stores, 12 warps at work x 3, and the sum",
        },
        Bound {
            count: Count::Barriers,
            limits: |size| between(elements(size) / 32.0, elements(size) * 9.0 / 32.0),
            because: "9 for each warp",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Write down the words that lanes 0, 1 and 2 read in the third level.",
        "Neighbouring threads should add neighbouring words. Which half of the tile is free to be read?",
        "In each level, thread t below `half` adds word t + half to word t; then `half` is halved.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/tree.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let sum = |block: &[u32]| block.iter().fold(0_u32, |sum, one| sum.wrapping_add(*one));
    let target = source.chunks(256).map(sum).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::tree,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
