//! Host half of `read_only_lie`. The kernel and the task's text: `course/kernels/src/read_only_lie.rs`.

use super::prelude::*;
use course_kernels::read_only_lie as device;

pub const TASK: Task = Task {
    id: "read_only_lie",
    lesson: "cache_operators",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "read_only_lie",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::ReadOnlyWritten),
    bounds: &[Bound {
        count: Count::StoreSectors,
        limits: |size| exactly(elements(size) / 8.0),
        because: "each number once: what is known need not be stored twice",
    }],
    hints: [
        "Which arrays does the kernel write?",
        "The read-only path is for memory that no thread of the launch writes.",
        "A plain load makes no promise.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/read_only_lie.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let _ = random;
    let data = (0..n as u32).map(|i| 3 * i + 1).collect();
    let data = Output { before: Before::Zeros, ..Output::exact(Data::U32(data)) };
    Case { inputs: Vec::new(), outputs: vec![data] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::read_only_lie,
            blocks(n, 256),
            256,
            0,
            (arrays.output::<u32>(0), n as u32),
        )?)
    }
}
