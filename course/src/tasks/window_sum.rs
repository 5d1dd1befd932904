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
            at_most: 10750.0,
            because: "256 blocks x (8 warps x 5 sectors + 2), less one at either end",
        },
        Bound {
            count: Count::BankConflicts,
            at_most: 0.0,
            because: "neighbouring lanes read neighbouring words",
        },
        Bound { count: Count::Barriers, at_most: 2048.0, because: "one for each of 2048 warps" },
        Bound { count: Count::SharedBytes, at_most: 1056.0, because: "264 words" },
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
        launcher.launch(
            device::window_sum,
            blocks(n, 256),
            256,
            0,
            (arrays.input::<u32>(0), arrays.output::<u32>(0), n as u32),
        )
    }
}
