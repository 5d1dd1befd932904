//! Host half of `matmul`. Device half and teaching doc: `kernels/src/shared/matmul.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random, Tolerance};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Variant, fits_grid_y,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::shared::matmul as device;
use kernels::shared::matmul::{
    COLUMN_THREADS, COLUMN_TILE, SQUARE, SQUARE_THREADS, STRIP_COLUMNS, STRIP_INNER, STRIP_ROWS,
    TILE, WARPS_COLUMNS, WARPS_ROWS, WARPS_SHARED_BYTES, WARPS_THREADS,
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
        Variant::kernel(
            "naive",
            "one thread per element; neighbouring threads compute neighbouring rows",
            |launcher, arrays, size| {
                let [m, n, _] = size.get().map(|value: usize| value as u32);
                let grid = (m.div_ceil(TILE), n.div_ceil(TILE));
                launch(launcher, arrays, size, device::matmul_naive, grid, (TILE, TILE), 0)
            },
        )
        .only_when(|size| {
            let [_, n, _] = size.get();
            fits_grid_y(n.div_ceil(TILE as usize))
        })
        .expecting(|_| Expectation {
            load_sectors: Some(16.5),
            store_sectors: Some(32.0),
            arithmetic: "A: 32 lanes in 32 rows, a sector each; B: one word for all lanes; \
                (32 + 1) / 2; C: 32 rows",
            ..Expectation::default()
        }),
        Variant::kernel(
            "coalesced",
            "neighbouring threads compute neighbouring columns",
            |launcher, arrays, size| {
                launch_tiles(launcher, arrays, size, device::matmul_coalesced, (TILE, TILE), (TILE, TILE))
            },
        )
        .only_when(|size| fits(size, TILE))
        .expecting(|_| Expectation {
            load_sectors: Some(2.5),
            store_sectors: Some(4.0),
            arithmetic: "A: one word for all lanes; B: 32 neighbouring words in 4 sectors; \
                (1 + 4) / 2",
            ..Expectation::default()
        }),
        Variant::kernel(
            "strip",
            "the block stages its whole rows of A in shared memory",
            |launcher, arrays, size| {
                let block = (STRIP_COLUMNS, STRIP_ROWS);
                launch_tiles(launcher, arrays, size, device::matmul_strip, (STRIP_ROWS, STRIP_COLUMNS), block)
            },
        )
        .only_when(|size| {
            let [_, _, k] = size.get();
            if k > STRIP_INNER as usize {
                return Err("two rows of A must fit into 48 KiB of shared memory: k is at most 6144");
            }
            fits(size, STRIP_ROWS)
        })
        .expecting(|_| Expectation {
            load_sectors: Some(4.0),
            store_sectors: Some(4.0),
            shared_load_wavefronts: Some(1.0),
            shared_store_wavefronts: Some(1.0),
            arithmetic: "rows of A and of B: 32 neighbouring words, 4 sectors; in shared memory all \
                lanes read one word",
            ..Expectation::default()
        }),
        Variant::kernel(
            "tiled",
            "square tiles of A and B in shared memory, one after the other",
            |launcher, arrays, size| {
                launch_tiles(launcher, arrays, size, device::matmul_tiled, (TILE, TILE), (TILE, TILE))
            },
        )
        .only_when(|size| fits(size, TILE))
        .expecting(tiled),
        Variant::kernel(
            "tiled_i32",
            "`tiled` for integers",
            |launcher, arrays, size| {
                let [m, n, k] = size.get().map(|value: usize| value as u32);
                let arguments =
                    (arrays.input(2), arrays.input(3), arrays.output(1), m, n, k);
                let grid = (n.div_ceil(TILE), m.div_ceil(TILE));
                // SAFETY: as in `launch`.
                unsafe {
                    Ok(launcher.launch(device::matmul_tiled_i32, grid, (TILE, TILE), 0, arguments)?)
                }
            },
        )
        .writing(&[1])
        .only_when(|size| fits(size, TILE))
        .expecting(tiled),
        Variant::kernel(
            "register_1d",
            "each thread computes eight rows of a column from registers",
            |launcher, arrays, size| {
                let tile = (COLUMN_TILE, COLUMN_TILE);
                launch_tiles(launcher, arrays, size, device::matmul_register_1d, tile, (COLUMN_THREADS, 1))
            },
        )
        .only_when(|size| fits(size, COLUMN_TILE))
        .expecting(|_| Expectation {
            load_sectors: Some(4.0),
            store_sectors: Some(4.0),
            shared_load_wavefronts: Some(1.0),
            shared_store_wavefronts: Some(1.0),
            arithmetic: "A: 4 rows of 8 words, a sector each; B: 32 neighbouring words; C: as B; shared: a \
                word of A for all lanes, 32 neighbouring words of B",
            ..Expectation::default()
        }),
        Variant::kernel(
            "register_2d",
            "each thread computes 8 x 8 results",
            |launcher, arrays, size| {
                launch_tiles(launcher, arrays, size, device::matmul_register_2d, (SQUARE, SQUARE), (SQUARE_THREADS, 1))
            },
        )
        .only_when(|size| fits(size, SQUARE))
        .expecting(|_| Expectation {
            load_sectors: Some(4.0),
            store_sectors: Some(32.0),
            shared_load_wavefronts: Some((2.0 * 2.0 + 2.0 * 8.0) / 4.0),
            shared_store_wavefronts: Some(1.0),
            arithmetic: "global loads: as `register_1d`; shared loads of 16 bytes per lane: A, where 16 \
                lanes read the same, 2 wavefronts each; B, every second group of four words, 8 each; \
                C: 2 rows, every second group of 4 words: a sector for each of 32 lanes, half used",
            ..Expectation::default()
        }),
        Variant::kernel(
            "vectorized",
            "16-byte loads; a thread's rows and columns are groups of four, half a tile apart",
            |launcher, arrays, size| {
                launch_tiles(launcher, arrays, size, device::matmul_vectorized, (SQUARE, SQUARE), (SQUARE_THREADS, 1))
            },
        )
        .only_when(|size| fits(size, SQUARE))
        .expecting(|_| Expectation {
            load_sectors: Some((32.0 + 16.0) / 2.0),
            store_sectors: Some(16.0),
            shared_load_wavefronts: Some((2.0 * 2.0 + 2.0 * 4.0) / 4.0),
            shared_store_wavefronts: Some((4.0 * 1.0 + 4.0) / 5.0),
            arithmetic: "16 bytes per lane: A from 32 rows, a sector each, B from one row, 16 sectors; \
                shared: A read in 2 wavefronts, B, 16 x 16 bytes without conflicts, in 4; stored: 4 \
                words of A, 1 each, and 16 bytes of B, 4; C: 2 rows of 256 bytes",
            ..Expectation::default()
        }),
        Variant::kernel(
            "double_buffered",
            "`cp.async` brings the next tile while the block multiplies this one",
            |launcher, arrays, size| {
                launch_tiles(launcher, arrays, size, device::matmul_double_buffered, (SQUARE, SQUARE), (SQUARE_THREADS, 1))
            },
        )
        .min_compute_capability(80)
        .only_when(|size| fits(size, SQUARE))
        .expecting(|_| Expectation {
            load_sectors: Some((4.0 * 4.0 + 16.0) / 5.0),
            store_sectors: Some(16.0),
            shared_load_wavefronts: Some((2.0 * 2.0 + 2.0 * 4.0) / 4.0),
            shared_store_wavefronts: Some(4.0),
            arithmetic: "per tile and warp 4 copies of single words of A, 4 rows of 32 bytes each, and \
                one of 16 bytes per lane of B, 16 sectors, 4 wavefronts each: the words of a copy \
                arrive by cache lines, here 4 rows of A; the rest as `vectorized`",
            ..Expectation::default()
        }),
        Variant::kernel(
            "warp_tiled",
            "64 x 64 results per warp, 8 x 16 per thread; lanes share what they read; four tiles in flight",
            |launcher, arrays, size| {
                let [m, n, _] = size.get().map(|value: usize| value as u32);
                let grid = (n.div_ceil(WARPS_COLUMNS), m.div_ceil(WARPS_ROWS));
                let block = (WARPS_THREADS, 1);
                launch(launcher, arrays, size, device::matmul_warp_tiled, grid, block, WARPS_SHARED_BYTES)
            },
        )
        .min_compute_capability(80)
        .only_when(|size| fits(size, WARPS_ROWS))
        .expecting(|_| Expectation {
            load_sectors: Some((8.0 * 4.0 + 4.0 * 16.0) / 12.0),
            store_sectors: Some(16.0),
            shared_load_wavefronts: Some(2.0),
            shared_store_wavefronts: Some(4.0),
            arithmetic: "per tile and warp 8 copies of single words of A, 2 rows of 64 bytes each, and \
                4 of 16 bytes per lane of B, 16 sectors, 4 wavefronts each: words of 2 rows of A, two \
                in each bank; a shared read of 16 bytes per lane, which \
                pairs of lanes share, takes 2 wavefronts; C: 8 rows of 64 bytes",
            ..Expectation::default()
        }),
    ],
};

/// What both kernels with square tiles promise.
fn tiled(_: &Size) -> Expectation {
    Expectation {
        load_sectors: Some(4.0),
        store_sectors: Some(4.0),
        shared_load_wavefronts: Some(1.0),
        shared_store_wavefronts: Some(1.0),
        arithmetic: "rows of tiles: 32 neighbouring words, 4 sectors; shared: a word of A for all \
            lanes, a row of B",
        ..Expectation::default()
    }
}

/// Whether the rows of tiles fit a grid.
fn fits(size: &Size, tile_rows: u32) -> std::result::Result<(), &'static str> {
    let [m, _, _] = size.get();
    fits_grid_y(m.div_ceil(tile_rows as usize))
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [m, n, k] = size.get();
    let (a, b) = (random.f32s(m * k), random.f32s(k * n));
    let (a_i32, b_i32) = (i32s(random, m * k), i32s(random, k * n));
    let c = reference(&a, &b, (n, k), 0.0_f64, |a, b, sum| sum + f64::from(a) * f64::from(b));
    let c_i32 = reference(&a_i32, &b_i32, (n, k), 0_i32, |a: i32, b, sum: i32| {
        sum.wrapping_add(a.wrapping_mul(b))
    });
    let c = c.into_iter().map(|sum| sum as f32).collect();
    Case {
        inputs: vec![Data::F32(a), Data::F32(b), Data::I32(a_i32), Data::I32(b_i32)],
        outputs: vec![
            Output::near(Data::F32(c), Tolerance::sum_of_products(k)),
            Output::exact(Data::I32(c_i32)),
        ],
    }
}

/// Random integers.
fn i32s(random: &mut Random, len: usize) -> Vec<i32> {
    random.u32s(len).into_par_iter().map(u32::cast_signed).collect()
}

/// The product by its definition, a row of C at a time.
fn reference<T: Copy + Sync, S: Copy + Send + Sync>(
    a: &[T],
    b: &[T],
    (n, k): (usize, usize),
    zero: S,
    multiply_add: impl Fn(T, T, S) -> S + Sync,
) -> Vec<S> {
    let rows = a.par_chunks(k).flat_map_iter(|row| {
        let mut sums = vec![zero; n];
        for (left, line) in row.iter().zip(b.chunks(n)) {
            for (sum, right) in sums.iter_mut().zip(line) {
                *sum = multiply_add(*left, *right, *sum);
            }
        }
        sums
    });
    rows.collect()
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

/// A kernel of this file: of what, where to, and rows, columns and inner dimension of the product.
type Product = Kernel<fn(*const f32, *const f32, *mut f32, u32, u32, u32)>;

/// Launches a kernel of this file, whose blocks compute a tile of so many rows and columns, and have so many threads.
fn launch_tiles(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Product,
    (rows, columns): (u32, u32),
    block: (u32, u32),
) -> Result<()> {
    let [m, n, _] = size.get().map(|value: usize| value as u32);
    launch(launcher, arrays, size, kernel, (n.div_ceil(columns), m.div_ceil(rows)), block, 0)
}

/// Launches a kernel of this file.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Product,
    grid: (u32, u32),
    block: (u32, u32),
    shared_bytes: u32,
) -> Result<()> {
    let [m, n, k] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.input(1), arrays.output(0), m, n, k);
    // SAFETY: the grid covers C with tiles; the arrays have the sizes of A, B and C, are 256-byte aligned and do not
    // overlap.
    unsafe { Ok(launcher.launch(kernel, grid, block, shared_bytes, arguments)?) }
}
