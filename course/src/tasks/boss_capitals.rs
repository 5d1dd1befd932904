//! Host half of `boss_capitals`. The kernel and the task's text: `course/kernels/src/boss_capitals.rs`.

use super::prelude::*;
use course_kernels::boss_capitals as device;

pub const TASK: Task = Task {
    id: "boss_capitals",
    lesson: "coalescing",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "boss_capitals",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::LoadRequests),
    bounds: &[
        Bound {
            count: Count::LoadRequests,
            limits: |size| between(elements(size) / 512.0, elements(size) / 128.0),
            because: "4 bytes for each lane, 128 for a warp",
        },
        Bound {
            count: Count::StoreRequests,
            limits: |size| between(elements(size) / 512.0, elements(size) / 128.0),
            because: "the same",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 32.0),
            because: "each sector once",
        },
    ],
    hints: [
        "How many bytes does a lane load at once?",
        "Four neighbouring bytes per lane are one request of 128 bytes.",
        "`load` gives a `U8x4` of four neighbouring bytes, `map` changes each, `store` writes them; the last bytes of a text may be fewer than four.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/boss_capitals.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u8s(n);
    let target = source.iter().map(u8::to_ascii_uppercase).collect();
    Case { inputs: vec![Data::U8(source)], outputs: vec![Output::exact(Data::U8(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::boss_capitals,
            blocks(n, 1024),
            256,
            0,
            (arrays.input::<u8>(0), arrays.output::<u8>(0), n as u32),
        )?)
    }
}
