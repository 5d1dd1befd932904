//! Host half of `own_element`. The kernel and the task's text: `course/kernels/src/own_element.rs`.

use super::prelude::*;
use course_kernels::own_element as device;

pub const TASK: Task = Task {
    id: "own_element",
    lesson: "coalescing",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "own_element",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "n = 1000 and blocks of 256: how many blocks does the grid have, if each element has a thread?",
        answers: Answers::Number(0.0),
        answer: |runs| Ok(runs.threads(&[1000])? / runs.block_threads(&[1000])?),
        misses: &[
            (3.0, "Three blocks have 768 threads, which is too few."),
            (3.90625, "There are whole blocks only."),
        ],
        why: "1000 / 256, rounded up: the last block has threads without an element.",
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
        "Write down `i` for the first thread of the first, the second and the third block.",
        "The second block begins behind the threads of the first. How many are these?",
        "The number of the block, times the threads of a block, and the thread's number in it.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/own_element.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target = source.iter().map(|one| 1.0 + one).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    let arguments = (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32);
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe { Ok(launcher.launch(device::own_element, blocks(n, 256), 256, 0, arguments)?) }
}
