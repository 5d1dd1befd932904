use crate::cases::product::{Product, fits, grid, launch};
use crate::prelude::*;
use cuda_std::bf16;
use cuda_std::tensor_copy::TensorMap;
use cust_ext::tensor_map::{Element, Swizzle, Tiled};
use kernels::shared::matmul_tensor::{
    self as device, CLUSTER, COLUMNS, GLOBAL_COLUMNS, GLOBAL_ROWS, PERSISTENT_BYTES, RING_BYTES,
    ROWS, STAGE_BYTES, STEPS, STORED_COLUMNS, STORED_ROWS, THREADS, TILE, WGMMA_BYTES,
    WGMMA_THREADS,
};
use rayon::prelude::*;

pub const PATTERN: Pattern = Pattern {
    name: "matmul_tensor",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/matmul_tensor.rs"),
    dimensions: &[
        Dimension::extent("m", "rows of A and C", 1),
        Dimension::extent("n", "rows of B, columns of C", 1),
        Dimension::amount("k", "columns of A and of B", 1),
    ],
    verify_sizes: &[
        &[1, 1, 8],
        &[33, 31, 24],
        &[32, 8, 16],
        &[129, 257, 72],
        &[130, 300, 264],
        &[65, 9, 512],
        &[1001, 9, 8],
    ],
    bench_size: &[8192, 8192, 8192],
    count_size: &[128, 256, 128],
    sweeps: &[],
    case,
    bytes,
    minimum_time,
    variants: &[
        variant!(device::matmul_tensor_naive => |launcher, arrays, size| {
            let grid = grid(size, (TILE, TILE));
            launch(launcher, arrays, size, device::matmul_tensor_naive, grid, (TILE, TILE), 0)
        })
        .only_when(|size| fits(size, TILE))
        .expecting(|_| {
            Expectation::sectors(
                2.0,
                4.0,
                "32 neighbouring elements of 2 bytes, 2 sectors; C: 32 neighbouring \
                words; shared: a word of A for all lanes, words of B that are 33 words \
                apart",
            )
            .shared(1.0, 1.0)
        }),
        variant!(device::matmul_tensor_mma_global => |launcher, arrays, size| {
            let grid = grid(size, (GLOBAL_ROWS, GLOBAL_COLUMNS));
            launch(launcher, arrays, size, device::matmul_tensor_mma_global, grid, (THREADS, 1), 0)
        })
        .only_when(|size| {
            rows_are_aligned(size)?;
            fits(size, GLOBAL_ROWS)
        })
        .expecting(|_| {
            Expectation::sectors(
                8.0,
                8.0,
                "a fragment: 8 rows, 16 bytes of each, a sector of which half is used; \
                C: 8 rows of 32 bytes",
            )
        }),
        variant!(device::matmul_tensor_mma_tiled, launch_tiles, STAGE_BYTES)
            .only_when(rows_are_aligned)
            .expecting(|_| tiles(32.0)),
        variant!(device::matmul_tensor_mma_swizzled, launch_tiles, STAGE_BYTES)
            .only_when(rows_are_aligned)
            .expecting(|_| tiles(4.0)),
        variant!(device::matmul_tensor_mma_pipelined, launch_tiles, RING_BYTES)
            .only_when(rows_are_aligned)
            .expecting(|_| tiles(4.0)),
        variant!(device::matmul_tensor_wgmma => launch_wgmma)
            .only_when(rows_are_aligned)
            .expecting(|_| Expectation {
                store_sectors: Some(8.0),
                arithmetic: "tiles come by bulk copies, and `wgmma` reads them without loads; C: 8 \
                rows of 32 bytes",
                ..Expectation::default()
            }),
        variant!(device::matmul_tensor_wgmma_persistent => |launcher, arrays, size| {
            launch_persistent(launcher, arrays, size, device::matmul_tensor_wgmma_persistent, 1)
        })
        .only_when(rows_of_all_are_aligned)
        .expecting(|_| stored_by_copies()),
        variant!(device::matmul_tensor_wgmma_multicast => |launcher, arrays, size| {
            launch_persistent(launcher, arrays, size, device::matmul_tensor_wgmma_multicast, CLUSTER)
        })
        .only_when(rows_of_all_are_aligned)
        .expecting(|_| stored_by_copies()),
    ],
};

/// Returns the promises of variants whose loads and stores are copies of boxes.
fn stored_by_copies() -> Expectation {
    Expectation {
        shared_store_wavefronts: Some(4.0),
        arithmetic: "A, B and C go by bulk copies; 32 lanes store 8 bytes each in shared memory, 256 bytes in 2 \
                     wavefronts, and the swizzle puts two rows of 32 bytes into the same banks",
        ..Expectation::default()
    }
}

/// Returns whether rows of A, B and C begin at multiples of 16 bytes, as tensor maps need.
fn rows_of_all_are_aligned(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, n, _] = size.get();
    rows_are_aligned(size)?;
    if !n.is_multiple_of(4) {
        return Err("rows of C must be multiples of 16 bytes: n must be a multiple of 4");
    }
    Ok(())
}

/// Returns the promises of staged tiles; variants differ in the wavefronts of an `ldmatrix` of four matrices.
fn tiles(wavefronts_of_ldmatrix: f64) -> Expectation {
    Expectation::sectors(
        16.0,
        8.0,
        "a copy of 16 bytes per lane: 4 rows of 128 bytes, 16 sectors, 4 \
                wavefronts; C: 8 rows of 32 bytes; `ldmatrix` reads 4 matrices of 8 \
                rows of 16 bytes: a wavefront each if the rows are in different banks, \
                8 if all are in the same",
    )
    .shared(wavefronts_of_ldmatrix, 4.0)
}

/// Returns whether rows of A and B begin at multiples of 16 bytes, as copies of 16 bytes need.
fn rows_are_aligned(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, _, k] = size.get();
    if !k.is_multiple_of(8) {
        return Err("rows of A and B must be multiples of 16 bytes: k must be a multiple of 8");
    }
    Ok(())
}

/// The elements are whole numbers of 128ths: their products and sums are whole numbers of 16384ths, which an f32 holds
/// exactly, so that every order of summation gives the same bits.
fn case(size: &Size, random: &mut Random) -> Case {
    let [m, n, k] = size.get();
    let (a, b) = (random.u8s(m * k), random.u8s(n * k));
    let element = |byte: &u8| bf16::from_f32(f32::from(byte.cast_signed()) / 128.0);
    let elements = |bytes: &[u8]| Data::Bf16(bytes.par_iter().map(element).collect());
    Case::exact(vec![Data::F32(reference(&a, &b, k))], vec![elements(&a), elements(&b)])
}

/// The product by its definition: each element is the product of a row of A and a row of B.
fn reference(a: &[u8], b: &[u8], k: usize) -> Vec<f32> {
    let rows = a.par_chunks(k).flat_map_iter(|row| {
        b.chunks(k).map(|column| {
            let products = row.iter().zip(column).map(|(left, right)| {
                i32::from(left.cast_signed()) * i32::from(right.cast_signed())
            });
            products.sum::<i32>() as f32 / 16384.0
        })
    });
    rows.collect()
}

fn bytes(size: &Size) -> Bytes {
    let [m, n, k] = size.get();
    Bytes { read: 2 * k * (m + n), written: 4 * m * n }
}

/// A multiply and an add for each product. `naive` uses no tensor cores; no peak of its arithmetic is measured.
fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    let [m, n, k] = size.get();
    (variant.name != "naive").then_some((Resource::TensorBf16, 2 * m * n * k))
}

/// Launches a kernel whose blocks compute `ROWS` x `COLUMNS` results.
fn launch_tiles(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Product<bf16>,
    shared_bytes: u32,
) -> Result<(), GpuError> {
    let [m, n, _] = size.get().map(|value: usize| value as u32);
    let grid = (m.div_ceil(ROWS) * n.div_ceil(COLUMNS), 1);
    launch(launcher, arrays, size, kernel, grid, (THREADS, 1), shared_bytes)
}

/// A kernel of maps of A, B and C, and the sizes.
type Persistent = Kernel<fn(TensorMap, TensorMap, TensorMap, u32, u32, u32)>;

/// Encodes a map of A or B, in boxes of so many rows.
fn factor(
    arrays: &Arrays,
    input: usize,
    (rows, k): (u32, u32),
    box_rows: u32,
) -> Result<TensorMap, GpuError> {
    let matrix = arrays.input::<bf16>(input).address();
    let (sizes, extents) = ([u64::from(k), u64::from(rows)], [STEPS, box_rows]);
    let map = Tiled::new(Element::Bf16, matrix, &sizes, &extents);
    Ok(TensorMap(map.swizzle(Swizzle::Bytes128).encode()?))
}

/// Launches as many clusters as the device runs at a time, or half as many as there are tiles.
fn launch_persistent(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Persistent,
    cluster: u32,
) -> Result<(), GpuError> {
    let [m, n, k] = size.get().map(|value: usize| value as u32);
    let (a, b) = (factor(arrays, 0, (m, k), ROWS)?, factor(arrays, 1, (n, k), COLUMNS / cluster)?);
    let (sizes, extents) = ([u64::from(n), u64::from(m)], [STORED_COLUMNS, STORED_ROWS]);
    let c = Tiled::new(Element::F32, arrays.output::<f32>(0).address(), &sizes, &extents);
    let c = TensorMap(c.swizzle(Swizzle::Bytes128).encode()?);
    let tiles = m.div_ceil(ROWS * cluster) * n.div_ceil(COLUMNS);
    let resident = launcher.gpu().multiprocessors()? / cluster;
    let grid = (tiles.div_ceil(2).min(resident.max(1)) * cluster, 1);
    // SAFETY: whole clusters; the maps are those of A, B and C, in boxes of the tiles that the kernel copies.
    unsafe {
        launcher.launch(kernel, grid, (WGMMA_THREADS, 1), PERSISTENT_BYTES, (a, b, c, m, n, k))
    }
}

/// Launches `wgmma`, whose factors are tensor maps.
fn launch_wgmma(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [m, n, k] = size.get().map(|value: usize| value as u32);
    let (a, b) = (factor(arrays, 0, (m, k), ROWS)?, factor(arrays, 1, (n, k), COLUMNS)?);
    let grid = (m.div_ceil(ROWS) * n.div_ceil(COLUMNS), 1);
    let arguments = (a, b, arrays.output(0), m, n, k);
    let (kernel, block) = (device::matmul_tensor_wgmma, (WGMMA_THREADS, 1));
    // SAFETY: as in `launch`; the maps are those of A and B, in boxes of the tiles that the kernel copies.
    unsafe { launcher.launch(kernel, grid, block, WGMMA_BYTES, arguments) }
}
