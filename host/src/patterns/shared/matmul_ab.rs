use crate::cases::product::{fits, grid, of_f32};
use crate::prelude::*;
use kernels::shared::matmul_ab::{
    self as device, BLOCK_TILE_COLUMNS, BLOCK_TILE_ROWS, INNER, REGISTERS_BLOCK, TILE,
};

pub const PATTERN: Pattern = Pattern {
    name: "matmul_ab",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/matmul_ab.rs"),
    dimensions: &[
        Dimension::extent("m", "rows of A and C", 1).predicted_at(1024),
        Dimension::extent("n", "columns of B and C", 1).predicted_at(1024),
    ],
    verify_sizes: &[
        &[1, 1],
        &[1, 33],
        &[31, 32],
        &[32, 31],
        &[33, 33],
        &[127, 129],
        &[128, 128],
        &[129, 127],
        &[130, 132],
        &[200, 100],
        &[257, 1000],
        &[1024, 512],
    ],
    bench_size: &[16384, 16384],
    count_size: &[256, 256],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Write, bytes(size).total())),
    variants: &[
        variant!(device::matmul_ab_naive, launch, (TILE, TILE), (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(
                    2.5,
                    4.0,
                    "per step 1 sector of A (all lanes read one word) and 4 of B: 5 sectors \
                in 2 requests",
                )
            }),
        variant!(device::matmul_ab_shared_a, launch, (TILE, TILE), (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(
                    4.0,
                    4.0,
                    "1 request for the row of A and 32 for B, 4 sectors each; in shared \
                memory all lanes read one word",
                )
                .shared(1.0, 1.0)
            }),
        variant!(device::matmul_ab_shared_ab, launch, (TILE, TILE), (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(
                    4.0,
                    4.0,
                    "4 sectors for each row of a tile; shared: 32 words of A, each read by \
                all lanes, and 32 rows of B",
                )
                .shared(1.0, 1.0)
            }),
        variant!(device::matmul_ab_shared_ab_vectorized, launch, (TILE, TILE), (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(
                    4.0,
                    4.0,
                    "8 vectors of A in 2 wavefronts each, and 32 rows of B: 48 / 40",
                )
                .shared(1.2, 1.0)
            }),
        variant!(
            device::matmul_ab_register_tiled,
            launch,
            (BLOCK_TILE_ROWS, BLOCK_TILE_COLUMNS),
            (REGISTERS_BLOCK, 1)
        )
        .only_when(|size| fits(size, BLOCK_TILE_ROWS))
        .expecting(|_| {
            Expectation::sectors(
                (4.0 * 32.0 + 8.0 * 16.0) / 12.0,
                16.0,
                "per warp 4 loads of A (32 rows: 32 sectors) and 8 of B (16 sectors), 16 \
                sectors per store; shared loads: rows of A in 2 wavefronts, columns of B \
                in 4; shared stores: 16 words of A in 1, 8 16-byte words of B in 4",
            )
            .shared((2.0 + 4.0) / 2.0, (16.0 * 1.0 + 8.0 * 4.0) / 24.0)
        }),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [m, n] = size.get();
    let inner = INNER as usize;
    let (a, b) = (random.f32s(m * inner), random.f32s(inner * n));
    let c = reference(&a, &b, n);
    let tolerance = Tolerance::sum_of_products(inner);
    Case {
        inputs: vec![Data::F32(a), Data::F32(b)],
        outputs: vec![Output::near(Data::F32(c), tolerance)],
    }
}

fn reference(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    of_f32(a, b, (n, INNER as usize))
}

fn bytes(size: &Size) -> Bytes {
    let [m, n] = size.get();
    let inner = INNER as usize;
    Bytes { read: 4 * inner * (m + n), written: 4 * m * n }
}

/// A kernel of this file: of what, where to, and the rows and columns of the product.
type Product = Kernel<fn(*const f32, *const f32, *mut f32, u32, u32)>;

/// Launches a kernel of this file, whose blocks compute a tile of so many rows and columns.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Product,
    tile: (u32, u32),
    block: (u32, u32),
) -> Result<(), GpuError> {
    let [m, n] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.input(1), arrays.output(0), m, n);
    // SAFETY: one tile per block covers C; the arrays have the sizes of A, B and C, 256-byte aligned, without overlap.
    unsafe { launcher.launch(kernel, grid(size, tile), block, 0, arguments) }
}
