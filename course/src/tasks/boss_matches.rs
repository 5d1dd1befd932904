//! Host half of `boss_matches`. The kernel and the task's text: `course/kernels/src/boss_matches.rs`.

use super::prelude::*;
use course_kernels::boss_matches as device;

pub const TASK: Task = Task {
    id: "boss_matches",
    lesson: "atomics",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "boss_matches",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::SharedAtomicWavefronts),
    bounds: &[
        Bound {
            count: Count::SharedAtomicWavefronts,
            limits: |_| up_to(0.0),
            because: "a barrier can count, so no atomic is needed",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::StoreRequests,
            limits: |size| between(1.0, elements(size) / 256.0),
            because: "one for each block",
        },
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
    ],
    hints: [
        "How many lanes of a warp want the same word?",
        "There is a barrier that counts the threads whose condition holds.",
        "`thread::sync_threads_count` takes the condition as a number and gives every thread the count.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/boss_matches.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let mut source = random.f32s(n);
    source.iter_mut().step_by(7).for_each(|one| *one = 0.0);
    let count = |block: &[f32]| block.iter().filter(|one| **one > 0.0).count() as u32;
    let target = source.chunks(256).map(count).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::boss_matches,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
