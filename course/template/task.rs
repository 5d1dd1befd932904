//! Host half of `new_task`. The kernel and the task's text: `course/kernels/src/new_task.rs`.

use super::prelude::*;
use course_kernels::new_task as device;

pub const TASK: Task = Task {
    id: "new_task",
    lesson: "coalescing",
    kind: Kind::Bug,
    solved: SOLVED,
    pattern: pattern(
        "new_task",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "n = 257 and blocks of 256: how many threads have no element?",
        answers: Answers::Number(0.0),
        answer: |runs| Ok(runs.threads(&[257])? - 257.0),
        misses: &[
            (0.0, "Two blocks are launched, because one has too few threads."),
            (1.0, "Thread 257 is only the first of them."),
        ],
        why: "Two blocks have 512 threads, for 257 elements.",
    }],
    after: &[],
    fails_as_shipped: Because::OutOfBounds,
    bounds: &[
        Bound { count: Count::LoadSectors, limits: |size| exactly(elements(size) / 8.0), because: "each number once: 4 B of a sector of 32 B" },
        Bound { count: Count::StoreSectors, limits: |size| exactly(elements(size) / 8.0), because: "each number once: 4 B of a sector of 32 B" },
    ],
    hints: [
        "Let n be 31. Which threads pass the condition?",
        "The elements are numbered from 0, so the last one has the number n - 1.",
        "Compare with `<`.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/new_task.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target = source.iter().map(|one| 1.0 - one).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32);
    Ok(unsafe { launcher.launch(device::new_task, blocks(n, 256), 256, 0, arguments) }?)
}
