//! Host half of `constant_walk`. The kernel and the task's text: `course/kernels/src/constant_walk.rs`.

use super::prelude::*;
use course_kernels::constant_walk as device;

pub const TASK: Task = Task {
    id: "constant_walk",
    lesson: "constant_memory",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "constant_walk",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many wavefronts does the load of the factors take, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::WavefrontsPerConstantLoad, &[65_536]),
        misses: &[
            (1.0, "That is so when all lanes want the same word."),
            (
                8.0,
                "There are 8 different values, but 32 different words: what counts is the address.",
            ),
        ],
        why: "32 lanes want 32 words, one after the other.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::WavefrontsPerConstantLoad),
    bounds: &[
        Bound {
            count: Count::WavefrontsPerConstantLoad,
            limits: |_| up_to(1.0),
            because: "one word for all lanes at once, or no load of constant memory at all",
        },
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "32 lanes x 4 B = 128 B = 4 sectors of 32 B",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| between(elements(size) / 8.0, elements(size) / 4.0),
            because: "each number once, and the factors of each warp",
        },
        Bound {
            count: Count::StoreSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "each result once: 4 B of a sector of 32 B",
        },
    ],
    hints: [
        "Constant memory gives one word per step. How many do 32 lanes want?",
        "A static without an attribute lies in global memory, where 32 neighbouring words are 4 sectors.",
        "Take the attribute away.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/constant_walk.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let target = (0..n).map(|i| (1 << (i % 8)) as f32 * source[i]).collect();
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::constant_walk,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
