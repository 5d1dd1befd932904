//! Host half of `lost_update`. The kernel and the task's text: `course/kernels/src/lost_update.rs`.

use super::prelude::*;
use course_kernels::lost_update as device;

pub const TASK: Task = Task {
    id: "lost_update",
    lesson: "atomics",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "lost_update",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Hazard(Hazard::GlobalRaceInWarp),
    bounds: &[
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: the counter itself is not loaded",
        },
        Bound {
            count: Count::GlobalAtomics,
            limits: |size| between(1.0, elements(size)),
            because: "at most one for each number",
        },
    ],
    hints: [
        "Two lanes of a warp read the counter in the same moment. What do they write?",
        "An atomic addition reads, adds and writes as one.",
        "`AtomicU32::from_ptr(count)` is the counter as an atomic; `fetch_add` adds.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/lost_update.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let count = source.iter().filter(|one| one.is_multiple_of(2)).count() as u32;
    let count = Output { before: Before::Zeros, ..Output::exact(Data::U32(vec![count])) };
    Case { inputs: vec![Data::U32(source)], outputs: vec![count] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::lost_update,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
