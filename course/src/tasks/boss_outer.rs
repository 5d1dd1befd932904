//! Host half of `boss_outer`. The kernel and the task's text: `course/kernels/src/boss_outer.rs`.

use super::prelude::*;
use course_kernels::boss_outer as device;

pub const TASK: Task = Task {
    id: "boss_outer",
    lesson: "store_segments",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "boss_outer",
        SOLVED,
        Sizes { dimensions: IMAGE, verify: PIXELS, count: &[128, 256] },
        case,
        &[launched(launch)],
    ),
    before: &[],
    after: &[],
    fails_as_shipped: Because::Bound(Count::SectorsPerStore),
    bounds: &[
        Bound {
            count: Count::SectorsPerStore,
            limits: |_| between(1.0, 4.0),
            because: "32 neighbouring products",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each result once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Where do lanes 0 and 1 store?",
        "The products of one row lie side by side.",
        "Divide the thread's number by the length of a row.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/boss_outer.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let (a, b) = (random.f32s(rows), random.f32s(columns));
    let target = (0..rows * columns).map(|i| a[i / columns] * b[i % columns]).collect();
    let inputs = vec![Data::F32(a), Data::F32(b)];
    Case { inputs, outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [rows, columns] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::boss_outer,
            blocks(rows * columns, 256),
            256,
            0,
            (
                arrays.input::<f32>(0),
                arrays.input::<f32>(1),
                arrays.output::<f32>(0),
                rows as u32,
                columns as u32,
            ),
        )?)
    }
}
