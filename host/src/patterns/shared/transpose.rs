use crate::prelude::*;
use cuda_std::tensor_copy::TensorMap;
use cust_ext::tensor_map::{Element, Swizzle, Tiled};
use kernels::shared::transpose::{
    self as device, BLOCK_ROWS, BOX_COLUMNS, TENSOR_BYTES, TENSOR_THREADS, TILE,
    VECTORIZED_THREADS, VECTORIZED_TILE,
};
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
        variant!(device::transpose_column_write, launch, SCALAR)
            .only_when(|size| SCALAR.fit(size))
            .expecting(|_| {
                Expectation::sectors(
                    4.0,
                    32.0,
                    "loads 32 x 4 B / 32 B = 4 sectors; stores one sector per lane = 32",
                )
            }),
        variant!(device::transpose_column_read, launch, SCALAR_DOWN)
            .only_when(|size| SCALAR_DOWN.fit(size))
            .expecting(|_| {
                Expectation::sectors(
                    32.0,
                    4.0,
                    "loads one sector per lane = 32; stores 32 x 4 B / 32 B = 4 sectors",
                )
            }),
        variant!(device::transpose_tiled, launch, SCALAR)
            .only_when(|size| SCALAR.fit(size))
            .expecting(|_| {
                tile(
                    32.0,
                    "4 sectors on both sides; reading a column, bank (32 row + column) % 32 \
                is the same for all lanes: 32 wavefronts",
                )
            }),
        variant!(device::transpose_padded, launch, SCALAR)
            .only_when(|size| SCALAR.fit(size))
            .expecting(|_| {
                tile(
                    1.0,
                    "4 sectors on both sides; reading a column, banks (33 row + column) % 32 \
                are all different: 1 wavefront",
                )
            }),
        variant!(device::transpose_swizzled, launch, SCALAR)
            .only_when(|size| SCALAR.fit(size))
            .expecting(|_| {
                tile(
                    1.0,
                    "4 sectors on both sides; reading a column, banks column ^ row are all \
                different: 1 wavefront",
                )
            }),
        variant!(device::transpose_vectorized, launch, VECTORIZED)
            .only_when(|size| multiple_of_four(size).and(VECTORIZED.fit(size)))
            .expecting(|_| wide_tile()),
        variant!(device::transpose_block_order, launch, VECTORIZED_DOWN)
            .only_when(|size| multiple_of_four(size).and(VECTORIZED_DOWN.fit(size)))
            .expecting(|_| wide_tile()),
        variant!(device::transpose_async_copy, launch, VECTORIZED_DOWN)
            .only_when(|size| multiple_of_four(size).and(VECTORIZED_DOWN.fit(size)))
            .expecting(|_| wide_tile()),
        variant!(device::transpose_tensor_copy => tensor_copy)
            .only_when(|size| multiple_of_four(size).and(VECTORIZED_DOWN.fit(size)))
            .expecting(|_| Expectation {
                shared_load_wavefronts: Some(4.0),
                shared_store_wavefronts: Some(8.0),
                arithmetic: "tiles come and go by bulk copies; shared: 512 B / 128 B = 4 wavefronts, \
                stores twice as many, because 8 lanes store in 4 rows with two different swizzles",
                ..Expectation::default()
            }),
    ],
};

/// Launches `tensor_copy`, whose matrices are tensor maps.
fn tensor_copy(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [rows, columns] = size.get().map(|value: usize| value as u32);
    let map = |matrix: u64, rows: u32, columns: u32| -> Result<TensorMap, GpuError> {
        let (sizes, extents) =
            ([u64::from(columns), u64::from(rows)], [BOX_COLUMNS, VECTORIZED_TILE]);
        let map = Tiled::new(Element::F32, matrix, &sizes, &extents);
        Ok(TensorMap(map.swizzle(Swizzle::Bytes128).encode()?))
    };
    let source = map(arrays.input::<f32>(0).address(), rows, columns)?;
    let target = map(arrays.output::<f32>(0).address(), columns, rows)?;
    let grid = (rows.div_ceil(VECTORIZED_TILE), columns.div_ceil(VECTORIZED_TILE));
    let kernel = device::transpose_tensor_copy;
    // SAFETY: one tile per block covers the matrix; the maps are those of both matrices, in boxes of half a tile.
    unsafe { launcher.launch(kernel, grid, TENSOR_THREADS, TENSOR_BYTES, (source, target)) }
}

fn multiple_of_four(size: &Size) -> std::result::Result<(), &'static str> {
    let [rows, columns] = size.get();
    if rows % 4 == 0 && columns % 4 == 0 { Ok(()) } else { Err("4 must divide rows and columns") }
}

fn tile(column_read: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(4.0, 4.0, arithmetic).shared(column_read, 1.0)
}

fn wide_tile() -> Expectation {
    Expectation::sectors(
        16.0,
        16.0,
        "32 x 16 B / 32 B = 16 sectors; shared: 512 B / 128 B = 4 wavefronts, \
                without conflicts",
    )
    .shared(4.0, 4.0)
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [rows, columns] = size.get();
    let source = random.f32s(rows * columns);
    let target = reference(&source, rows, columns);
    Case::exact(vec![Data::F32(target)], vec![Data::F32(source)])
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
) -> Result<(), GpuError> {
    let [rows, columns] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), rows, columns);
    let (x, y) = if down_first { (rows, columns) } else { (columns, rows) };
    let grid = (x.div_ceil(side), y.div_ceil(side));
    // SAFETY: one tile per block covers the matrix; both arrays hold rows * columns elements, are 256-byte aligned and
    // do not overlap; preconditions were checked.
    unsafe { launcher.launch(kernel, grid, block, 0, arguments) }
}

/// A cover of the matrix with square tiles.
#[derive(Clone, Copy)]
struct Tiles {
    side: u32,
    /// Threads of a block, in x and y.
    block: (u32, u32),
    /// True when neighbouring blocks are below each other in the source.
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
    /// Returns whether there are no more tiles in y than a grid takes.
    fn fit(self, size: &Size) -> std::result::Result<(), &'static str> {
        let [rows, columns] = size.get();
        let along_y: usize = if self.down_first { columns } else { rows };
        fits_grid_y(along_y.div_ceil(self.side as usize))
    }
}
