//! Host half of `copy_not_awaited`. The kernel and the task's text: `course/kernels/src/copy_not_awaited.rs`.

use super::prelude::*;
use course_kernels::copy_not_awaited as device;

pub const TASK: Task = Task {
    id: "copy_not_awaited",
    lesson: "async_copy",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "copy_not_awaited",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::AsyncCopyNotAwaited),
    bounds: &[
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
    ],
    hints: [
        "Each thread can wait for the copies that it started itself.",
        "First every thread waits for its own copy, then all wait for each other.",
        "`async_copy::wait_all` before the barrier.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/copy_not_awaited.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target = source.chunks(256).flat_map(|block| block.iter().rev().copied()).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::copy_not_awaited,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
