//! Host half of `matmul_tile`. The kernel and the task's text: `course/kernels/src/matmul_tile.rs`.

use super::prelude::*;
use course_kernels::matmul_tile as device;

pub const TASK: Task = Task {
    id: "matmul_tile",
    lesson: "matmul",
    kind: Kind::Kernel,
    solved: SOLVED,
    pattern: pattern(
        "matmul_tile",
        SOLVED,
        Sizes { dimensions: N, verify: &[&[1], &[15], &[16], &[20], &[33], &[61]], count: &[64] },
        case,
        &[launched(launch)],
    ),
    before: &[Question {
        text: "n = 64: by how much do tiles of 16 x 16 divide how often each element of `a` is loaded from global memory?",
        answers: Answers::Number(0.0),
        answer: |runs| runs.tile_width(&[64]),
        misses: &[
            (64.0, "A tile is 16 wide, and every pair of tiles is loaded anew."),
            (256.0, "An element of `a` serves the 16 threads of its row."),
        ],
        why: "16 threads of a block share every element of `a` that the block loads.",
    }],
    after: &[],
    fails_as_shipped: Because::Bound(Count::LoadSectors),
    bounds: &[
        Bound {
            count: Count::LoadSectors,
            limits: |size| between(elements(size).powi(2) / 4.0, elements(size).powi(3) / 64.0),
            because: "for each of the n / 16 x n / 16 blocks n / 16 pairs of tiles, a tile being 16 rows of 2 sectors",
        },
        Bound {
            count: Count::BankConflicts,
            limits: |_| up_to(0.0),
            because: "a row of a tile is half of the banks, and two rows of 16 words are all of them",
        },
        Bound {
            count: Count::Barriers,
            limits: |size| between(elements(size).powi(2) / 32.0, elements(size).powi(3) / 256.0),
            because: "two for each pair of tiles and each of the 8 warps of a block",
        },
        Bound {
            count: Count::SharedBytes,
            limits: |_| up_to(2048.0),
            because: "two tiles of 256 words",
        },
    ],
    hints: [
        "All 16 threads of a row of the block load the same row of `a`.",
        "Thread (x, y) loads one element of each tile: of `a` in column `first + x` of its own row, of `b` in row `first + y` of its own column. Outside of the matrix it stores 0.",
        "Two tiles, a loop over `first`, two stores, a barrier, a loop over 16 products, a barrier.",
    ],
};

const SOLVED: &str = include_str!("../../kernels/src/matmul_tile.rs");

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let (a, b) = (random.f32s(n * n), random.f32s(n * n));
    let mut c = vec![0.0; n * n];
    for (i, sum) in c.iter_mut().enumerate() {
        *sum = (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum();
    }
    let output = Output::near(Data::F32(c), Tolerance::sum_of_products(n));
    Case { inputs: vec![Data::F32(a), Data::F32(b)], outputs: vec![output] }
}

fn launch(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n] = size.get();
    // SAFETY: the launch contract; the arrays are those of the case.
    unsafe {
        Ok(launcher.launch(
            device::matmul_tile,
            (blocks(n, 16), blocks(n, 16)),
            (16, 16),
            0,
            (arrays.input::<f32>(0), arrays.input::<f32>(1), arrays.output::<f32>(0), n as u32),
        )?)
    }
}
