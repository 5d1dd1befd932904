//! Host half of `missing_barrier`. The kernel and the task's text: `course/kernels/src/missing_barrier.rs`.

use super::prelude::*;
use course_kernels::missing_barrier as device;

pub const TASK: Task = Task {
    id: "missing_barrier",
    lesson: "async_copy",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "missing_barrier",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many warps does a block of 256 threads have?",
        answers: Answers::Number(0.0),
        answer: |runs| Ok(runs.block_threads(&[65_536])? / 32.0),
        misses: &[(256.0, "A warp has 32 threads.")],
        why: "256 / 32 = 8 warps, and nothing says which of them runs first.",
    }],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::SharedRace),
    bounds: &[
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: what another thread loaded comes from the tile",
        },
    ],
    hints: [
        "Thread 32 reads the word that thread 0 wrote. They are in two warps.",
        "All threads must have written before any thread reads.",
        "`thread::sync_threads()`, between the store to the tile and the loads from it, outside of every branch.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/missing_barrier.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let above = |i: usize| if i % 256 < 32 { 0.0 } else { source[i - 32] };
    let target = (0..n).map(|i| source[i] - above(i)).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::missing_barrier,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
