//! Host half of `uninitialized_halo`. The kernel and the task's text: `course/kernels/src/uninitialized_halo.rs`.

use super::prelude::*;
use course_kernels::uninitialized_halo as device;

pub const TASK: Task = Task {
    id: "uninitialized_halo",
    lesson: "stencil",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "uninitialized_halo",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many words of the tile does nobody write in the first block, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.choice(Hazard::UninitializedShared, 1, 0),
        misses: &[
            (
                2.0,
                "The word behind the last element is written in every block, with 0 where the signal ends.",
            ),
            (0.0, "Is the condition of the store to word 0 true in the first block?"),
        ],
        why: "Only word 0: thread 0 has no element before its own and leaves the word alone.",
    }],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::UninitializedShared),
    bounds: &[
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
        Bound { count: Count::SharedBytes, limits: |_| up_to(1032.0), because: "258 words" },
        Bound {
            count: Count::LoadSectors,
            limits: |size| between(elements(size) / 8.0, elements(size) * 34.0 / 256.0 - 2.0),
            because: "each number once, and one more on either side of a block",
        },
    ],
    hints: [
        "Follow thread 0 of the first block: which words of the tile does it read?",
        "Word 0 of the tile is the element before the block's first. The first block has none, so the word must be 0.",
        "Let thread 0 store in every block: an element where there is one, else 0.0.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/uninitialized_halo.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let at = |i: Option<usize>| i.and_then(|i| source.get(i)).copied().unwrap_or(0.0);
    let target = (0..n).map(|i| at(i.checked_sub(1)) + at(Some(i + 1))).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::uninitialized_halo,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
