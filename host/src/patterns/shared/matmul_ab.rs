//! Host half of `matmul_ab`. Device half and teaching doc: `kernels/src/shared/matmul_ab.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random, Tolerance};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Variant, fits_grid_y,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::shared::matmul_ab as device;
use kernels::shared::matmul_ab::{
    BLOCK_TILE_COLUMNS, BLOCK_TILE_ROWS, INNER, REGISTERS_BLOCK, TILE,
};
use rayon::prelude::*;

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
        Variant::kernel(
            "naive",
            "one thread per element, both operands from global memory",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::matmul_ab_naive, (TILE, TILE), (TILE, TILE))
            },
        )
        .only_when(|size| fits_grid(size, TILE))
        .expecting(|_| Expectation {
            load_sectors: Some(2.5),
            store_sectors: Some(4.0),
            arithmetic: "per step 1 sector of A (all lanes read one word) and 4 of B: 5 sectors \
                in 2 requests",
            ..Expectation::default()
        }),
        Variant::kernel(
            "shared_a",
            "each warp stages its row of A in shared memory",
            |launcher, arrays, size| {
                launch(
                    launcher,
                    arrays,
                    size,
                    device::matmul_ab_shared_a,
                    (TILE, TILE),
                    (TILE, TILE),
                )
            },
        )
        .only_when(|size| fits_grid(size, TILE))
        .expecting(|_| Expectation {
            load_sectors: Some(4.0),
            store_sectors: Some(4.0),
            shared_load_wavefronts: Some(1.0),
            shared_store_wavefronts: Some(1.0),
            arithmetic: "1 request for the row of A and 32 for B, 4 sectors each; in shared \
                memory all lanes read one word",
            ..Expectation::default()
        }),
        Variant::kernel(
            "shared_ab",
            "the block stages its tile of B in shared memory too",
            |launcher, arrays, size| {
                launch(
                    launcher,
                    arrays,
                    size,
                    device::matmul_ab_shared_ab,
                    (TILE, TILE),
                    (TILE, TILE),
                )
            },
        )
        .only_when(|size| fits_grid(size, TILE))
        .expecting(|_| Expectation {
            load_sectors: Some(4.0),
            store_sectors: Some(4.0),
            shared_load_wavefronts: Some(1.0),
            shared_store_wavefronts: Some(1.0),
            arithmetic: "4 sectors for each row of a tile; shared: 32 words of A, each read by \
                all lanes, and 32 rows of B",
            ..Expectation::default()
        }),
        Variant::kernel(
            "register_tiled",
            "each thread computes 8 x 8 results and reuses the operands from registers",
            |launcher, arrays, size| {
                launch(
                    launcher,
                    arrays,
                    size,
                    device::matmul_ab_register_tiled,
                    (BLOCK_TILE_ROWS, BLOCK_TILE_COLUMNS),
                    (REGISTERS_BLOCK, 1),
                )
            },
        )
        .only_when(|size| fits_grid(size, BLOCK_TILE_ROWS))
        .expecting(|_| Expectation {
            load_sectors: Some((4.0 * 32.0 + 8.0 * 16.0) / 12.0),
            store_sectors: Some(16.0),
            shared_load_wavefronts: Some((2.0 + 4.0) / 2.0),
            shared_store_wavefronts: Some((16.0 * 1.0 + 8.0 * 4.0) / 24.0),
            arithmetic: "per warp 4 loads of A (32 rows: 32 sectors) and 8 of B (16 sectors), 16 \
                sectors per store; shared loads: rows of A in 2 wavefronts, columns of B \
                in 4; shared stores: 16 words of A in 1, 8 16-byte words of B in 4",
            ..Expectation::default()
        }),
    ],
};

/// Whether the rows of tiles fit a grid.
fn fits_grid(size: &Size, tile_rows: u32) -> std::result::Result<(), &'static str> {
    let [m, _] = size.get();
    fits_grid_y(m.div_ceil(tile_rows as usize))
}

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

/// Sums in double precision.
fn reference(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    let inner = INNER as usize;
    let rows = a.par_chunks(inner).flat_map_iter(|row| {
        let mut sums = vec![0.0_f64; n];
        for (left, line) in row.iter().zip(b.chunks(n)) {
            for (sum, right) in sums.iter_mut().zip(line) {
                *sum += f64::from(*left) * f64::from(*right);
            }
        }
        sums.into_iter().map(|sum| sum as f32)
    });
    rows.collect()
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
    (rows, columns): (u32, u32),
    block: (u32, u32),
) -> Result<()> {
    let [m, n] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.input(1), arrays.output(0), m, n);
    let grid = (n.div_ceil(columns), m.div_ceil(rows));
    // SAFETY: one tile per block covers C; the arrays have the sizes of A, B and C, are 256-byte aligned and do not
    // overlap.
    unsafe { Ok(launcher.launch(kernel, grid, block, 0, arguments)?) }
}
