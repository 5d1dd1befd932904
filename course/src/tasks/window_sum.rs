//! Host half of `window_sum`. The kernel and the task's text: `course/kernels/src/window_sum.rs`.

use super::prelude::*;
use course_kernels::window_sum as device;

pub const TASK: Task = Task {
    id: "window_sum",
    lesson: "stencil",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "window_sum",
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
            limits: |size| between(elements(size) / 8.0, elements(size) * 42.0 / 256.0 - 2.0),
            because: "for each block of 256, 8 warps x 5 sectors and 2, less one at either end",
        },
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "neighbouring lanes read neighbouring words",
        },
        Bound {
            count: Count::Barriers,
            limits: |size| exactly(elements(size) / 32.0),
            because: "one for each warp",
        },
        Bound { count: Count::SharedBytes, limits: |_| up_to(1056.0), because: "264 words" },
    ],
    hints: [
        "Neighbouring threads load eight numbers in common.",
        "264 words are more than 256 threads: the first 8 threads load two.",
        "Word w of the tile is number `first of the block + w - 4`, or 0 outside; after a barrier, thread t adds words t to t + 8.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/window_sum.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let at = |i: usize| i.checked_sub(4).and_then(|i| source.get(i)).copied().unwrap_or(0);
    let sum = |i: usize| (i..i + 9).fold(0_u32, |sum, i| sum.wrapping_add(at(i)));
    let target = (0..n).map(sum).collect();
    Case { inputs: vec![Data::U32(source)], outputs: vec![Output::exact(Data::U32(target))] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::window_sum,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )?)
    }
}
