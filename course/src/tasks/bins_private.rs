//! Host half of `bins_private`. The kernel and the task's text: `course/kernels/src/bins_private.rs`.

use super::prelude::*;
use course_kernels::bins_private as device;

pub const TASK: Task = Task {
    id: "bins_private",
    lesson: "histogram",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "bins_private",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "65536 bytes: how many atomics reach global memory, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::GlobalAtomics, &[65_536]),
        misses: &[
            (256.0, "That is the number of counters."),
            (4096.0, "That is the goal: 16 blocks x 256 counters."),
        ],
        why: "One for every byte.",
    }],
    after: &[Question {
        text: "Your kernel with ten times the text: how many atomics reach global memory?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::GlobalAtomics, &[655_360]),
        misses: &[(
            40960.0,
            "What a block adds at the end does not depend on how long the text was.",
        )],
        why: "16 blocks x 256 counters, however long the text is.",
    }],
    fails_as_shipped: Because::Bound(Count::GlobalAtomics),
    bounds: &[
        Bound {
            count: Count::GlobalAtomics,
            limits: |_| between(1.0, 4096.0),
            because: "16 blocks x 256 counters, however long the text is",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 32.0),
            because: "each byte once",
        },
        Bound {
            count: Count::SharedBytes,
            limits: |_| up_to(1024.0),
            because: "256 counters of 4 B",
        },
        Bound {
            count: Count::Barriers,
            limits: |_| between(128.0, 256.0),
            because: "two for each of the 128 warps of 16 blocks",
        },
    ],
    hints: [
        "The counters of a block fit into 1024 bytes of shared memory.",
        "Set the block's counters to 0, wait, count there, wait, add them to the global ones.",
        "`BlockAtomicU32::from_ptr(own.add(byte))` is the counter of a byte; at the end thread t adds counter t.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/bins_private.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let text = random.u8s(n);
    let mut bins = vec![0; 256];
    for byte in &text {
        bins[*byte as usize] += 1;
    }
    let bins = Output { before: Before::Zeros, ..Output::exact(Data::U32(bins)) };
    Case { inputs: vec![Data::U8(text)], outputs: vec![bins] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::bins_private,
            16,
            256,
            0,
            (arrays.input::<u8>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
