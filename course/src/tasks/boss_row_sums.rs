//! Host half of `boss_row_sums`. The kernel and the task's text: `course/kernels/src/boss_row_sums.rs`.

use super::prelude::*;
use course_kernels::boss_row_sums as device;

pub const TASK: Task = Task {
    id: "boss_row_sums",
    lesson: "bank_conflicts",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "boss_row_sums",
        SOLVED,
        Sizes { dimensions: N, verify: &[&[1], &[31], &[33], &[257], &[1021]], count: &[1024] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::BankConflicts),
    bounds: &[
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "32 lanes in 32 banks in every step",
        },
        Bound { count: Count::SharedBytes, limits: |_| up_to(4096.0), because: "32 x 32 words" },
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "a row per request",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(4.0 * elements(size)),
            because: "each row of 128 B once",
        },
        Bound {
            count: Count::SharedRequests,
            limits: |size| up_to(2.0 * elements(size)),
            because: "for each block of 32 rows, 32 stores and 32 loads",
        },
    ],
    hints: [
        "In step 0, which bank does lane l want?",
        "A sum does not care in which order its numbers come.",
        "Let every lane begin at another column.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/boss_row_sums.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(32 * n);
    let sum = |warp: &[u32]| warp.iter().fold(0_u32, |sum, one| sum.wrapping_add(*one));
    let target = source.chunks(32).map(sum).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::boss_row_sums,
            blocks(n, 32),
            32,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
