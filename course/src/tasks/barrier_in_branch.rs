//! Host half of `barrier_in_branch`. The kernel and the task's text: `course/kernels/src/barrier_in_branch.rs`.

use super::prelude::*;
use course_kernels::barrier_in_branch as device;

pub const TASK: Task = Task {
    id: "barrier_in_branch",
    lesson: "divergence",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "barrier_in_branch",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "At how many places do the lanes of one warp wait, as the kernel stands?",
        answers: Answers::Choice(&["one", "two", "thirty-two"]),
        answer: |runs| runs.choice(Hazard::DivergentBarrier, 2, 1),
        misses: &[(
            1.0,
            "There are two calls of sync_threads, and lanes of one warp reach each of them.",
        )],
        why: "The even lanes wait at one barrier, the odd lanes at the other.",
    }],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::DivergentBarrier),
    bounds: &[
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Lanes 0 and 1 of a warp wait at two different places.",
        "Only the value differs between the branches. The barrier is for all.",
        "Compute the value in the branch, then store it, then have one barrier after the branch.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/barrier_in_branch.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let put = |i: usize| source.get(i).copied().unwrap_or(0) ^ (i as u32 % 2);
    let other = |i: usize| i / 256 * 256 + (i + 128) % 256;
    let target = (0..n).map(|i| source[i].wrapping_add(put(other(i)))).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::barrier_in_branch,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
