//! Host half of `half_and_half`. The kernel and the task's text: `course/kernels/src/half_and_half.rs`.

use super::prelude::*;
use course_kernels::half_and_half as device;

pub const TASK: Task = Task {
    id: "half_and_half",
    lesson: "divergence",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "half_and_half",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::DivergentBranches),
    bounds: &[
        Bound {
            count: Count::DivergentBranches,
            limits: |_| up_to(0.0),
            because: "the middle of the array is at a multiple of 32",
        },
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "32 neighbouring words",
        },
        Bound {
            count: Count::SectorsPerStore,
            limits: |_| between(1.0, 4.0),
            because: "32 neighbouring words",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each result once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Lanes 0 and 1 of each warp take different branches.",
        "A warp has one kind of work if its 32 threads take 32 neighbouring numbers.",
        "The number is the thread's own.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/half_and_half.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let first = |value: f32| (0..ROUNDS).fold(value, |value, _| value * 0.5 + 1.0);
    let second = |value: f32| (0..ROUNDS).fold(value, |value, _| (value - 3.0) * 0.25);
    let half = n.div_ceil(2);
    let target = source.iter().enumerate();
    let target = target.map(|(i, value)| if i < half { first(*value) } else { second(*value) });
    let target = Output::exact(Data::F32(target.collect()));
    Case { inputs: vec![Data::F32(source)], outputs: vec![target] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32, ROUNDS);
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe { Ok(launcher.launch(device::half_and_half, blocks(n + 1, 256), 256, 0, arguments)?) }
}

/// Rounds of the computation.
const ROUNDS: u32 = 10;
