use crate::cases::product::{Product, fits, grid, launch, of_f32, product};
use crate::prelude::*;
use kernels::shared::matmul::{
    self as device, COLUMN_THREADS, COLUMN_TILE, SQUARE, SQUARE_THREADS, STRIP_COLUMNS,
    STRIP_INNER, STRIP_ROWS, TILE, WARPS_COLUMNS, WARPS_ROWS, WARPS_SHARED_BYTES, WARPS_THREADS,
};
use rayon::prelude::*;

pub const PATTERN: Pattern = Pattern {
    name: "matmul",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/matmul.rs"),
    dimensions: &[
        Dimension::extent("m", "rows of A and C", 1).predicted_at(1024),
        Dimension::extent("n", "columns of B and C", 1).predicted_at(1024),
        Dimension::amount("k", "columns of A, rows of B", 1),
    ],
    verify_sizes: &[
        &[1, 1, 1],
        &[33, 31, 7],
        &[64, 128, 8],
        &[127, 129, 33],
        &[130, 260, 17],
        &[100, 100, 100],
        &[257, 65, 40],
        &[1001, 32, 9],
    ],
    bench_size: &[4096, 4096, 4096],
    count_size: &[256, 256, 64],
    sweeps: &[],
    case,
    bytes,
    minimum_time,
    variants: &[
        variant!(device::matmul_naive => |launcher, arrays, size| {
            let [m, n, _] = size.get().map(|value: usize| value as u32);
            let grid = (m.div_ceil(TILE), n.div_ceil(TILE));
            launch(launcher, arrays, size, device::matmul_naive, grid, (TILE, TILE), 0)
        })
        .only_when(|size| {
            let [_, n, _] = size.get();
            fits_grid_y(n.div_ceil(TILE as usize))
        })
        .expecting(|_| {
            Expectation::sectors(
                16.5,
                32.0,
                "A: 32 lanes in 32 rows, a sector each; B: one word for all lanes; (32 \
                + 1) / 2; C: 32 rows",
            )
        }),
        variant!(device::matmul_coalesced, launch_tiles, (TILE, TILE), (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(
                    2.5,
                    4.0,
                    "A: one word for all lanes; B: 32 neighbouring words in 4 sectors; (1 + \
                4) / 2",
                )
            }),
        variant!(
            device::matmul_strip,
            launch_tiles,
            (STRIP_ROWS, STRIP_COLUMNS),
            (STRIP_COLUMNS, STRIP_ROWS)
        )
        .only_when(|size| {
            let [_, _, k] = size.get();
            if k > STRIP_INNER as usize {
                return Err("two rows of A must fit into 48 KiB of shared memory: \
                    k is at most 6144");
            }
            fits(size, STRIP_ROWS)
        })
        .expecting(|_| {
            Expectation::sectors(
                4.0,
                4.0,
                "rows of A and of B: 32 neighbouring words, 4 sectors; in shared memory \
                all lanes read one word",
            )
            .shared(1.0, 1.0)
        }),
        variant!(device::matmul_tiled, launch_tiles, (TILE, TILE), (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(tiled),
        variant!(device::matmul_tiled_i32 => |launcher, arrays, size| {
            let [m, n, k] = size.get().map(|value: usize| value as u32);
            let arguments =
                (arrays.input(2), arrays.input(3), arrays.output(1), m, n, k);
            let grid = (n.div_ceil(TILE), m.div_ceil(TILE));
            // SAFETY: as in `launch`.
            unsafe {
                launcher.launch(device::matmul_tiled_i32, grid, (TILE, TILE), 0, arguments)
            }
        })
        .writing(&[1])
        .only_when(|size| fits(size, TILE))
        .expecting(tiled),
        variant!(
            device::matmul_register_1d,
            launch_tiles,
            (COLUMN_TILE, COLUMN_TILE),
            (COLUMN_THREADS, 1)
        )
        .only_when(|size| fits(size, COLUMN_TILE))
        .expecting(|_| {
            Expectation::sectors(
                4.0,
                4.0,
                "A: 4 rows of 8 words, a sector each; B: 32 neighbouring words; C: as \
                B; shared: a word of A for all lanes, 32 neighbouring words of B",
            )
            .shared(1.0, 1.0)
        }),
        variant!(device::matmul_register_2d, launch_tiles, (SQUARE, SQUARE), (SQUARE_THREADS, 1))
            .only_when(|size| fits(size, SQUARE))
            .expecting(|_| {
                Expectation::sectors(
                    4.0,
                    32.0,
                    "global loads: as `register_1d`; shared loads of 16 bytes per lane: A, \
                where 16 lanes read the same, 2 wavefronts each; B, every second group \
                of four words, 8 each; C: 2 rows, every second group of 4 words: a \
                sector for each of 32 lanes, half used",
                )
                .shared((2.0 * 2.0 + 2.0 * 8.0) / 4.0, 1.0)
            }),
        variant!(device::matmul_vectorized, launch_tiles, (SQUARE, SQUARE), (SQUARE_THREADS, 1))
            .only_when(|size| fits(size, SQUARE))
            .expecting(|_| {
                Expectation::sectors(
                    (32.0 + 16.0) / 2.0,
                    16.0,
                    "16 bytes per lane: A from 32 rows, a sector each, B from one row, 16 \
                sectors; shared: A read in 2 wavefronts, B, 16 x 16 bytes without \
                conflicts, in 4; stored: 4 words of A, 1 each, and 16 bytes of B, 4; \
                C: 2 rows of 256 bytes",
                )
                .shared((2.0 * 2.0 + 2.0 * 4.0) / 4.0, (4.0 * 1.0 + 4.0) / 5.0)
            }),
        variant!(
            device::matmul_double_buffered,
            launch_tiles,
            (SQUARE, SQUARE),
            (SQUARE_THREADS, 1)
        )
        .only_when(|size| fits(size, SQUARE))
        .expecting(|_| {
            Expectation::sectors(
                (4.0 * 4.0 + 16.0) / 5.0,
                16.0,
                "per tile and warp 4 copies of single words of A, 4 rows of 32 bytes \
                each, and one of 16 bytes per lane of B, 16 sectors, 4 wavefronts \
                each: the words of a copy arrive by cache lines, here 4 rows of A; the \
                rest as `vectorized`",
            )
            .shared((2.0 * 2.0 + 2.0 * 4.0) / 4.0, 4.0)
        }),
        variant!(device::matmul_warp_tiled => |launcher, arrays, size| {
            let grid = grid(size, (WARPS_ROWS, WARPS_COLUMNS));
            let (kernel, block) = (device::matmul_warp_tiled, (WARPS_THREADS, 1));
            launch(launcher, arrays, size, kernel, grid, block, WARPS_SHARED_BYTES)
        })
        .only_when(|size| fits(size, WARPS_ROWS))
        .expecting(|_| {
            Expectation::sectors(
                (8.0 * 4.0 + 4.0 * 16.0) / 12.0,
                16.0,
                "per tile and warp 8 copies of single words of A, 2 rows of 64 bytes \
                each, and 4 of 16 bytes per lane of B, 16 sectors, 4 wavefronts each: \
                words of 2 rows of A, two in each bank; a shared read of 16 bytes per \
                lane, which pairs of lanes share, takes 2 wavefronts; C: 8 rows of 64 \
                bytes",
            )
            .shared(2.0, 4.0)
        }),
    ],
};

/// Returns what both kernels with square tiles promise.
fn tiled(_: &Size) -> Expectation {
    Expectation::sectors(
        4.0,
        4.0,
        "rows of tiles: 32 neighbouring words, 4 sectors; shared: a word of A for all \
            lanes, a row of B",
    )
    .shared(1.0, 1.0)
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [m, n, k] = size.get();
    let (a, b) = (random.f32s(m * k), random.f32s(k * n));
    let (a_i32, b_i32) = (i32s(random, m * k), i32s(random, k * n));
    let (c, c_i32) = (of_f32(&a, &b, (n, k)), reference(&a_i32, &b_i32, (n, k)));
    Case {
        inputs: vec![Data::F32(a), Data::F32(b), Data::I32(a_i32), Data::I32(b_i32)],
        outputs: vec![
            Output::near(Data::F32(c), Tolerance::sum_of_products(k)),
            Output::exact(Data::I32(c_i32)),
        ],
    }
}

fn i32s(random: &mut Random, len: usize) -> Vec<i32> {
    random.u32s(len).into_par_iter().map(u32::cast_signed).collect()
}

fn reference(a: &[i32], b: &[i32], (n, k): (usize, usize)) -> Vec<i32> {
    product(a, b, (n, k), 0, |a, b, sum: i32| sum.wrapping_add(a.wrapping_mul(b)))
}

fn bytes(size: &Size) -> Bytes {
    let [m, n, k] = size.get();
    Bytes { read: 4 * k * (m + n), written: 4 * m * n }
}

/// A multiply and an add for each product. Integers have another rate, which no peak of the device is measured for.
fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    let [m, n, k] = size.get();
    (variant.name != "tiled_i32").then_some((Resource::Fp32, 2 * m * n * k))
}

/// Launches a kernel of this file, whose blocks compute a tile of so many rows and columns, and have so many threads.
fn launch_tiles(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Product<f32>,
    tile: (u32, u32),
    block: (u32, u32),
) -> Result<(), GpuError> {
    launch(launcher, arrays, size, kernel, grid(size, tile), block, 0)
}
