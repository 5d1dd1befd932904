//! Host half of `small_grid`. The kernel and the task's text: `course/kernels/src/small_grid.rs`.

use super::prelude::*;
use course_kernels::small_grid as device;

pub const TASK: Task = Task {
    id: "small_grid",
    lesson: "coalescing",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "small_grid",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "n = 1024: how many threads does the grid have?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.threads(&[1024]),
        misses: &[(1024.0, "There is a thread for every second element only.")],
        why: "Half of 1024, which is two blocks of 256.",
    }],
    after: &[],
    fails_as_shipped: Because::Wrong,
    bounds: &[
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each result once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Which element is the last that a thread takes as it stands?",
        "Thread 0 takes element 0. If the grid has 512 threads, the next that nobody takes is element 512.",
        "Do the same again for i + threads, as long as i is below n: a loop.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/small_grid.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target = source.iter().map(|one| 2.0 * one).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32);
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(device::small_grid, blocks(n.div_ceil(2), 256), 256, 0, arguments)?)
    }
}
