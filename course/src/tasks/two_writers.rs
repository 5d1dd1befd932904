//! Host half of `two_writers`. The kernel and the task's text: `course/kernels/src/two_writers.rs`.

use super::prelude::*;
use course_kernels::two_writers as device;

pub const TASK: Task = Task {
    id: "two_writers",
    lesson: "store_segments",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "two_writers",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::ConflictingStore),
    bounds: &[
        Bound {
            count: Count::StoreSectors,
            limits: |size| between(elements(size) / 64.0, elements(size) / 32.0),
            because: "one word for each group of 8, four of them in a request",
        },
        Bound {
            count: Count::StoreRequests,
            limits: |size| between(elements(size) / 1024.0, elements(size) / 32.0),
            because: "one for each warp",
        },
    ],
    hints: [
        "8 lanes store 8 different values to one word, and the hardware takes any of them.",
        "The last number of a group is in its last lane, except in the last group.",
        "Lanes 7, 15, 23 and 31 store; in the last group it is the thread whose next one has no number.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/two_writers.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let target = source.chunks(8).filter_map(|group| group.last().copied()).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::two_writers,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
