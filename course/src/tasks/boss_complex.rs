//! Host half of `boss_complex`. The kernel and the task's text: `course/kernels/src/boss_complex.rs`.

use super::prelude::*;
use course_kernels::boss_complex as device;

pub const TASK: Task = Task {
    id: "boss_complex",
    lesson: "aos_soa",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "boss_complex",
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
            limits: |size| exactly(elements(size) / 4.0),
            because: "each number once: 8 B of a sector of 32 B",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 4.0),
            because: "the same",
        },
        Bound {
            count: Count::LoadRequests,
            limits: |size| between(elements(size) / 64.0, elements(size) / 32.0),
            because: "one for each warp",
        },
    ],
    hints: [
        "How many requests does a warp make for its 32 numbers?",
        "Both parts of a number are one piece of 8 bytes.",
        "`load` gives an `F32x2`, whose parts are `x` and `y`; `store` writes one.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/boss_complex.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(2 * n);
    let square = |number: &[f32]| {
        let (re, im) = (number[0], number[1]);
        [re * re - im * im, 2.0 * re * im]
    };
    let target = source.chunks(2).flat_map(square).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::boss_complex,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
