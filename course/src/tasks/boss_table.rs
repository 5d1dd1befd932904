//! Host half of `boss_table`. The kernel and the task's text: `course/kernels/src/boss_table.rs`.

use super::prelude::*;
use course_kernels::boss_table as device;

pub const TASK: Task = Task {
    id: "boss_table",
    lesson: "bus_utilization",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "boss_table",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::LoadSectors),
    bounds: &[
        Bound {
            count: Count::LoadSectors,
            limits: |size| between(elements(size) / 8.0, elements(size) / 4.0),
            because: "each number once, and for each block of 256 the 32 sectors of the table",
        },
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
        Bound { count: Count::SharedBytes, limits: |_| up_to(1024.0), because: "256 words" },
    ],
    hints: [
        "How large is the table, and how often is it loaded?",
        "Shared memory has no sectors.",
        "Each thread of the block brings one word of the table.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/boss_table.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let (source, table) = (random.u32s(n), random.u32s(256));
    let target = source.iter().map(|one| table[(one % 256) as usize]).collect();
    let inputs = vec![Data::U32(source), Data::U32(table)];
    Case { inputs, outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::boss_table,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.input::<u32>(1), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
