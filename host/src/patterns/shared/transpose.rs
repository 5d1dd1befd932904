//! Host half of `transpose`. Device half and teaching doc: `kernels/src/shared/transpose.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Variant, fits_grid_y,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::shared::transpose as device;
use kernels::shared::transpose::{BLOCK_ROWS, TILE, VECTORIZED_THREADS, VECTORIZED_TILE};
use rayon::prelude::*;

pub const PATTERN: Pattern = Pattern {
    name: "transpose",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/transpose.rs"),
    dimensions: &[
        Dimension::extent("rows", "rows of the source", 1),
        Dimension::extent("columns", "columns of the source", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[1, 33],
        &[31, 1],
        &[32, 32],
        &[33, 31],
        &[31, 33],
        &[63, 65],
        &[64, 64],
        &[65, 63],
        &[4, 4],
        &[68, 60],
        &[60, 132],
        &[128, 4],
        &[4, 128],
        &[500, 300],
        &[1001, 517],
        &[1024, 1024],
        &[2048, 512],
    ],
    bench_size: &[16384, 16384],
    count_size: &[256, 256],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel(
            "column_write",
            "lanes follow a source row; their stores are `rows` words apart",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_column_write, SCALAR)
            },
        )
        .only_when(|size| SCALAR.fit(size))
        .expecting(|_| Expectation {
            load_sectors: Some(4.0),
            store_sectors: Some(32.0),
            arithmetic: "loads 32 x 4 B / 32 B = 4 sectors; stores one sector per lane = 32",
            ..Expectation::default()
        }),
        Variant::kernel(
            "column_read",
            "lanes follow a target row instead; their loads are `columns` words apart",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_column_read, SCALAR_DOWN)
            },
        )
        .only_when(|size| SCALAR_DOWN.fit(size))
        .expecting(|_| Expectation {
            load_sectors: Some(32.0),
            store_sectors: Some(4.0),
            arithmetic: "loads one sector per lane = 32; stores 32 x 4 B / 32 B = 4 sectors",
            ..Expectation::default()
        }),
        Variant::kernel(
            "tiled",
            "a tile in shared memory: both sides coalesced, a column in one bank",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_tiled, SCALAR)
            },
        )
        .only_when(|size| SCALAR.fit(size))
        .expecting(|_| {
            tile(
                32.0,
                "4 sectors on both sides; reading a column, bank (32 row + column) % 32 \
                is the same for all lanes: 32 wavefronts",
            )
        }),
        Variant::kernel(
            "padded",
            "tile rows of 33 words: a column is spread over 32 banks",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_padded, SCALAR)
            },
        )
        .only_when(|size| SCALAR.fit(size))
        .expecting(|_| {
            tile(
                1.0,
                "4 sectors on both sides; reading a column, banks (33 row + column) % 32 \
                are all different: 1 wavefront",
            )
        }),
        Variant::kernel(
            "swizzled",
            "tile rows of 32 words, the columns of each row permuted by the row number",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_swizzled, SCALAR)
            },
        )
        .only_when(|size| SCALAR.fit(size))
        .expecting(|_| {
            tile(
                1.0,
                "4 sectors on both sides; reading a column, banks column ^ row are all \
                different: 1 wavefront",
            )
        }),
        Variant::kernel(
            "vectorized",
            "16 bytes per lane; each thread transposes a 4 x 4 sub-tile in registers",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_vectorized, VECTORIZED)
            },
        )
        .only_when(|size| multiple_of_four(size).and(VECTORIZED.fit(size)))
        .expecting(|_| wide_tile()),
        Variant::kernel(
            "block_order",
            "concurrent blocks write adjacent parts of the same target rows",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_block_order, VECTORIZED_DOWN)
            },
        )
        .only_when(|size| multiple_of_four(size).and(VECTORIZED_DOWN.fit(size)))
        .expecting(|_| wide_tile()),
        Variant::kernel(
            "async_copy",
            "`cp.async` fills the tile, bypassing registers; the 4 x 4 transpose comes after it",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::transpose_async_copy, VECTORIZED_DOWN)
            },
        )
        .min_compute_capability(80)
        .only_when(|size| multiple_of_four(size).and(VECTORIZED_DOWN.fit(size)))
        .expecting(|_| wide_tile()),
    ],
};

fn multiple_of_four(size: &Size) -> std::result::Result<(), &'static str> {
    let [rows, columns] = size.get();
    if rows % 4 == 0 && columns % 4 == 0 { Ok(()) } else { Err("4 must divide rows and columns") }
}

fn tile(column_read: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(4.0),
        store_sectors: Some(4.0),
        shared_load_wavefronts: Some(column_read),
        shared_store_wavefronts: Some(1.0),
        arithmetic,
        ..Expectation::default()
    }
}

fn wide_tile() -> Expectation {
    Expectation {
        load_sectors: Some(16.0),
        store_sectors: Some(16.0),
        shared_load_wavefronts: Some(4.0),
        shared_store_wavefronts: Some(4.0),
        arithmetic: "32 x 16 B / 32 B = 16 sectors; shared: 512 B / 128 B = 4 wavefronts, \
                without conflicts",
        ..Expectation::default()
    }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let target = reference(&source, rows, columns);
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

fn reference(source: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut target = vec![0.0; rows * columns];
    target.par_chunks_mut(rows).enumerate().for_each(|(column, line)| {
        for (row, value) in line.iter_mut().enumerate() {
            *value = source[row * columns + column];
        }
    });
    target
}

fn bytes(size: &Size) -> Bytes {
    let [rows, columns] = size.get();
    Bytes { read: 4 * rows * columns, written: 4 * rows * columns }
}

/// Launches a kernel of this file on a grid of tiles.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32, u32)>,
    Tiles { side, block, down_first }: Tiles,
) -> Result<()> {
    let [rows, columns] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), rows, columns);
    let (x, y) = if down_first { (rows, columns) } else { (columns, rows) };
    let grid = (x.div_ceil(side), y.div_ceil(side));
    // SAFETY: one tile per block covers the matrix; both arrays hold rows * columns elements, are 256-byte aligned and
    // do not overlap; preconditions were checked.
    unsafe { Ok(launcher.launch(kernel, grid, block, 0, arguments)?) }
}

/// How a grid covers the matrix with square tiles.
#[derive(Clone, Copy)]
struct Tiles {
    /// Words of a side.
    side: u32,
    /// Threads of a block, in x and y.
    block: (u32, u32),
    /// Whether neighbouring blocks are below each other in the source.
    down_first: bool,
}

const SCALAR: Tiles = Tiles { side: TILE, block: (TILE, BLOCK_ROWS), down_first: false };
const SCALAR_DOWN: Tiles = Tiles { down_first: true, ..SCALAR };
const VECTORIZED: Tiles = Tiles {
    side: VECTORIZED_TILE,
    block: (VECTORIZED_THREADS, VECTORIZED_THREADS),
    down_first: false,
};
const VECTORIZED_DOWN: Tiles = Tiles { down_first: true, ..VECTORIZED };

impl Tiles {
    /// Whether there are no more tiles in y than a grid takes.
    fn fit(self, size: &Size) -> std::result::Result<(), &'static str> {
        let [rows, columns] = size.get();
        let along_y: usize = if self.down_first { columns } else { rows };
        fits_grid_y(along_y.div_ceil(self.side as usize))
    }
}
