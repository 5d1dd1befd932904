//! Host half of `wide_loads`. The kernel and the task's text: `course/kernels/src/wide_loads.rs`.

use super::prelude::*;
use course_kernels::wide_loads as device;

pub const TASK: Task = Task {
    id: "wide_loads",
    lesson: "coalescing",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "wide_loads",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many sectors will one 16-byte load of a warp touch?",
        answers: Answers::Number(0.0),
        answer: |runs| Ok(4.0 * runs.count(Count::SectorsPerLoad, &[65_536])?),
        misses: &[
            (4.0, "It brings four times the bytes of a 4-byte load."),
            (32.0, "Two lanes share a sector: 2 x 16 B = 32 B."),
        ],
        why: "32 lanes x 16 B = 512 B = 16 sectors. All of them are used, so that is no waste.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::LoadRequests),
    bounds: &[
        Bound {
            count: Count::LoadRequests,
            limits: |size| exactly(elements(size) / 128.0),
            because: "4 words for each lane, 128 for a warp",
        },
        Bound {
            count: Count::StoreRequests,
            limits: |size| exactly(elements(size) / 128.0),
            because: "the same",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each number once, and not a byte more",
        },
    ],
    hints: [
        "Four neighbouring elements of one thread, instead of four elements far apart.",
        "Thread t takes elements 4 t to 4 t + 3: `load(source.add(..))` gives an `F32x4`, `map` changes its elements, `store` writes it.",
        "If 4 t + 4 is more than n, the thread takes its elements one by one, as long as they are below n.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/wide_loads.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target = source.iter().map(|one| one + 1.0).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::wide_loads,
            blocks(n, 1024),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
