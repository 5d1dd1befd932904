use super::prelude::*;

pub const TASK: Task = Task {
    lesson: "matmul",
    before: &[number(
        "n = 64: by how much do tiles of 16 x 16 divide how often each element of `a` is loaded from global memory?",
        |runs| runs.tile_width(&[64]),
        &[
            (64.0, "A tile is 16 wide, and every pair of tiles is loaded anew."),
            (256.0, "An element of `a` serves the 16 threads of its row."),
        ],
        "16 threads of a block share every element of `a` that the block loads.",
    )],
    fails_as_shipped: FailureKind::Bound(LoadSectors),
    bounds: &[
        bound(
            LoadSectors,
            |n| between(n.powi(2) / 4.0, n.powi(3) / 64.0),
            "for each of the n / 16 x n / 16 blocks n / 16 pairs of tiles, a tile being 16 rows of 2 sectors",
        ),
        none(
            BankConflicts,
            "a row of a tile is half of the banks, and two rows of 16 words are all of them",
        ),
        bound(
            SharedRequests,
            |n| up_to(n.powi(3) * 34.0 / 512.0),
            "2 stores and 32 loads for each pair of tiles and each of the 8 warps of a block",
        ),
        bound(
            Barriers,
            |n| between(n.powi(2) / 32.0, n.powi(3) / 256.0),
            "two for each pair of tiles and each of the 8 warps of a block",
        ),
        bound(SharedBytes, |_| up_to(2048.0), "two tiles of 256 words"),
    ],
    hints: [
        "All 16 threads of a row of the block load the same row of `a`.",
        "Thread (x, y) loads one element of each tile: of `a` in column `first + x` of its own row, of `b` in row `first + y` of its own column. Outside of the matrix it stores 0.",
        "Two tiles, a loop over `first`, two stores, a barrier, a loop over 16 products, a barrier.",
    ],
    ..task!(
        matmul_tile(f32, f32) -> f32, line(&[&[1], &[15], &[16], &[20], &[33], &[61]], &[64]), case,
        |n| ((blocks(n, 16), blocks(n, 16)), (16, 16))
    )
};

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
