//! Host half of `lockstep`. The kernel and the task's text: `course/kernels/src/lockstep.rs`.

use super::prelude::*;
use course_kernels::lockstep as device;

pub const TASK: Task = Task {
    id: "lockstep",
    lesson: "reduction",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "lockstep",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::SharedRaceInWarp),
    bounds: &[
        Bound {
            count: Count::Barriers,
            limits: |size| between(elements(size) / 32.0, elements(size) / 8.0),
            because: "four for each warp",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Lane 0 reads word 16, and lane 16 writes it, in the same level.",
        "Two orders are needed in each level: all have read before anyone writes, all have written before anyone reads.",
        "A warp barrier before the store, and one after it.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/lockstep.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let sum = |warp: &[u32]| warp.iter().fold(0_u32, |sum, one| sum.wrapping_add(*one));
    let target = source.chunks(256).map(sum).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::lockstep,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
