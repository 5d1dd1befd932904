//! Host half of `transpose`. Device half and teaching doc: `kernels/src/shared/transpose.rs`.

use crate::data::{Data, Random};
use crate::gpu::{Arrays, Launcher};
use crate::pattern::{
    Bytes, Case, Dimension, Expectation, Limit, Output, Pattern, Size, Variant, Work, fits_grid_y,
};
use anyhow::Result;
use kernels::shared::transpose as device;
use kernels::shared::transpose::{BLOCK_ROWS, TILE, WIDE_BLOCK, WIDE_TILE};
use rayon::prelude::*;

pub const PATTERN: Pattern = Pattern {
    name: "transpose",
    group: "shared",
    shows: "shared memory is a place to change the order of data, and its banks have a price too",
    doc_source: include_str!("../../../../kernels/src/shared/transpose.rs"),
    sources: &[
        "CUDA C++ Best Practices Guide, \"Shared Memory in Matrix Multiplication (C=AA^T)\"",
        "NVIDIA developer blog, \"An Efficient Matrix Transpose in CUDA C/C++\"",
    ],
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
    floor: |_, size| Some((Limit::Copy, bytes(size).total())),
    variants: &[
        Variant {
            name: "column_write",
            change: "lanes run along a source row; their stores lie `rows` words apart",
            since: 70,
            precondition: |size| fits_grid(size, 0, TILE),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(column_write),
            expect: |_| Expectation {
                load_sectors: Some(4.0),
                store_sectors: Some(32.0),
                arithmetic: "loads 32 x 4 B / 32 B = 4 sectors; stores one sector per lane = 32",
                ..Expectation::default()
            },
        },
        Variant {
            name: "column_read",
            change: "lanes run along a target row; their loads lie `columns` words apart",
            since: 70,
            precondition: |size| fits_grid(size, 1, TILE),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(column_read),
            expect: |_| Expectation {
                load_sectors: Some(32.0),
                store_sectors: Some(4.0),
                arithmetic: "loads one sector per lane = 32; stores 32 x 4 B / 32 B = 4 sectors",
                ..Expectation::default()
            },
        },
        Variant {
            name: "tiled",
            change: "a tile in shared memory: both sides coalesced, the column in one bank",
            since: 70,
            precondition: |size| fits_grid(size, 0, TILE),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(tiled),
            expect: |_| {
                tile(
                    32.0,
                    "4 sectors on both sides; column reads: bank (32 row + column) % 32, one for all: 32",
                )
            },
        },
        Variant {
            name: "padded",
            change: "rows of 33 words: a column lies in 32 banks",
            since: 70,
            precondition: |size| fits_grid(size, 0, TILE),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(padded),
            expect: |_| {
                tile(
                    1.0,
                    "4 sectors on both sides; column reads: bank (33 row + column) % 32, all different: 1",
                )
            },
        },
        Variant {
            name: "swizzled",
            change: "rows of 32 words, columns permuted by the row",
            since: 70,
            precondition: |size| fits_grid(size, 0, TILE),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(swizzled),
            expect: |_| {
                tile(
                    1.0,
                    "4 sectors on both sides; column reads: bank column ^ row, all different: 1",
                )
            },
        },
        Variant {
            name: "wide",
            change: "16 bytes per lane, 4 x 4 words turned in registers",
            since: 70,
            precondition: |size| multiple_of_four(size).and(fits_grid(size, 0, WIDE_TILE)),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(wide),
            expect: |_| wide_tile(),
        },
        Variant {
            name: "ordered",
            change: "neighbouring blocks write neighbouring parts of the target's rows",
            since: 70,
            precondition: |size| multiple_of_four(size).and(fits_grid(size, 1, WIDE_TILE)),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(ordered),
            expect: |_| wide_tile(),
        },
        Variant {
            name: "asynchronous",
            change: "the tile is filled by cp.async, and turned on the way out",
            since: 80,
            precondition: |size| multiple_of_four(size).and(fits_grid(size, 1, WIDE_TILE)),
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(asynchronous),
            expect: |_| wide_tile(),
        },
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
        arithmetic: "32 x 16 B / 32 B = 16 sectors; shared 512 B / 128 B = 4 passes without conflicts",
        ..Expectation::default()
    }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let target = reference(&source, rows, columns);
    Case { inputs: vec![Data::F32(source)], outputs: vec![Output::exact(Data::F32(target))] }
}

/// Whether the tiles along a dimension fit a grid's y.
fn fits_grid(size: &Size, dimension: usize, tile: u32) -> std::result::Result<(), &'static str> {
    fits_grid_y(size.values()[dimension].div_ceil(tile as usize))
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

/// Launches a scalar kernel: one `TILE` x `TILE` tile per block, `$x` tiles in x.
macro_rules! launch {
    ($launcher:ident, $arrays:ident, $size:ident, $kernel:ident, |$rows:ident, $columns:ident| $grid:expr, $block:expr) => {{
        let [$rows, $columns] = $size.get().map(|value: usize| value as u32);
        let arguments = ($arrays.input(0), $arrays.output(0), $rows, $columns);
        // SAFETY: one tile per block covers the matrix; both arrays hold rows * columns elements,
        // are 256-byte aligned and do not overlap; preconditions were checked.
        unsafe { $launcher.launch(device::$kernel, $grid, $block, 0, arguments) }
    }};
}

const SCALAR_BLOCK: (u32, u32) = (TILE, BLOCK_ROWS);
const WIDE: (u32, u32) = (WIDE_BLOCK, WIDE_BLOCK);

fn column_write(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_column_write,
        |rows, columns| tiles(columns, rows, TILE),
        SCALAR_BLOCK
    )
}

fn column_read(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_column_read,
        |rows, columns| tiles(rows, columns, TILE),
        SCALAR_BLOCK
    )
}

fn tiled(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_tiled,
        |rows, columns| tiles(columns, rows, TILE),
        SCALAR_BLOCK
    )
}

fn padded(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_padded,
        |rows, columns| tiles(columns, rows, TILE),
        SCALAR_BLOCK
    )
}

fn swizzled(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_swizzled,
        |rows, columns| tiles(columns, rows, TILE),
        SCALAR_BLOCK
    )
}

fn wide(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_wide,
        |rows, columns| tiles(columns, rows, WIDE_TILE),
        WIDE
    )
}

fn ordered(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_ordered,
        |rows, columns| tiles(rows, columns, WIDE_TILE),
        WIDE
    )
}

fn asynchronous(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(
        launcher,
        arrays,
        size,
        transpose_asynchronous,
        |rows, columns| tiles(rows, columns, WIDE_TILE),
        WIDE
    )
}

/// A grid of tiles that covers `x` by `y` words.
fn tiles(x: u32, y: u32, tile: u32) -> (u32, u32) {
    (x.div_ceil(tile), y.div_ceil(tile))
}
