//! Host half of `one_field`. The kernel and the task's text: `course/kernels/src/one_field.rs`.

use super::prelude::*;
use course_kernels::one_field as device;

pub const TASK: Task = Task {
    id: "one_field",
    lesson: "aos_soa",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "one_field",
        SOLVED,
        Sizes { dimensions: N, verify: ODD, count: &[65_536] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "How many sectors does one load of a warp touch, as the kernel stands?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.count(Count::SectorsPerLoad, &[65_536]),
        misses: &[
            (
                32.0,
                "Lanes are 28 bytes apart, a little less than a sector: some sectors have the words of two lanes.",
            ),
            (7.0, "A particle has 7 words. 32 of them are 896 bytes."),
        ],
        why: "32 particles are 896 B = 28 sectors, and each of them has a wanted word.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::SectorsPerLoad),
    bounds: &[
        Bound {
            count: Count::SectorsPerLoad,
            limits: |_| between(1.0, 4.0),
            because: "32 neighbouring words are 4 sectors",
        },
        Bound {
            count: Count::LoadSectors,
            limits: |size| exactly(elements(size) / 8.0),
            because: "one word of each particle, and no byte that is not wanted",
        },
    ],
    hints: [
        "In `together`, the fourth fields of two neighbouring particles are 28 bytes apart.",
        "In `apart`, all fourth fields lie side by side.",
        "The fourth field has the number 3: three whole fields of n words lie before it.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/one_field.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let apart = random.f32s(7 * n);
    let together = (0..7 * n).map(|word| apart[word % 7 * n + word / 7]).collect();
    let target = apart[3 * n..4 * n].iter().map(|value| value * value).collect();
    let inputs = vec![Data::F32(together), Data::F32(apart)];
    Case { inputs, outputs: vec![Output::exact(Data::F32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::one_field,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<f32>(0), arrays.input::<f32>(1), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
