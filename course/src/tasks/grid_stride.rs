//! Host half of `grid_stride`. The kernel and the task's text: `course/kernels/src/grid_stride.rs`.

use super::prelude::*;
use course_kernels::grid_stride as device;

pub const TASK: Task = Task {
    id: "grid_stride",
    lesson: "coarsening",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "grid_stride",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "65536 elements, 2048 threads: how many elements apart are the loads of two neighbouring lanes?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.lane_distance(&[65_536]),
        misses: &[
            (1.0, "That is the goal. Here each thread has a run of its own."),
            (2048.0, "That is the number of threads. A run is 65536 / 2048 elements long."),
        ],
        why: "A run has 65536 / 2048 = 32 elements, so lane 1 begins 32 elements after lane 0.",
    }],
    after: &[Question {
        text: "Your kernel at n = 33: how many sectors does it load in all, from both arrays?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::LoadSectors, &[33]),
        misses: &[
            (8.0, "8 sectors hold 64 words; element 32 of each array is in one more."),
            (16.0, "33 words fill 4 sectors and begin a fifth, in each of the two arrays."),
        ],
        why: "33 words lie in 5 sectors, and there are two arrays.",
    }],
    fails_as_shipped: Because::Bound(Count::SectorsPerLoad),
    bounds: &[
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "32 lanes x 4 B = 128 B = 4 sectors of 32 B",
        },
        Bound {
            count: Count::SectorsPerStore,
            limits: |_| between(1.0, 4.0),
            because: "32 lanes x 4 B = 128 B = 4 sectors of 32 B",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each result once: 4 B of a sector of 32 B",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 4.0),
            because: "two arrays, each sector once",
        },
    ],
    hints: [
        "Which element does lane 1 load while lane 0 loads element 0?",
        "All threads of the grid together take the first 2048 elements, then the next 2048.",
        "A thread begins at its own number, and each turn moves it on by the number of threads.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/grid_stride.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let (x, y) = (random.f32s(n), random.f32s(n));
    let target = x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect();
    let inputs = vec![Data::F32(x), Data::F32(y)];
    Case { inputs, outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::grid_stride,
            8,
            256,
            0,
            (arrays.input::<f32>(0), arrays.input::<f32>(1), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
