//! Host half of `wrong_mask`. The kernel and the task's text: `course/kernels/src/wrong_mask.rs`.

use super::prelude::*;
use course_kernels::wrong_mask as device;

pub const TASK: Task = Task {
    id: "wrong_mask",
    lesson: "reduction",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "wrong_mask",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::MemberMask),
    bounds: &[
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::StoreRequests,
            limits: |size| between(elements(size) / 1024.0, elements(size) / 32.0),
            because: "one for each warp",
        },
    ],
    hints: [
        "Is there a branch around the shuffles?",
        "The mask must have a bit for each lane that executes the instruction.",
        "All 32 lanes do: there is a constant for it.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/wrong_mask.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let sum = |warp: &[u32]| warp.iter().fold(0_u32, |sum, one| sum.wrapping_add(*one));
    let target = source.chunks(32).map(sum).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::wrong_mask,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
