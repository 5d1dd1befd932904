use crate::cases::product::fits;
use crate::prelude::*;
use kernels::shared::matmul_aat::{self as device, INNER, SQUARE, SQUARE_THREADS, TILE};
use rayon::prelude::*;

pub const PATTERN: Pattern = Pattern {
    name: "matmul_aat",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/matmul_aat.rs"),
    dimensions: &[Dimension::extent("m", "rows of A, rows and columns of C", 1)],
    verify_sizes: &[&[1], &[31], &[32], &[33], &[100], &[128], &[129], &[258], &[300], &[1000]],
    bench_size: &[16384],
    count_size: &[256],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Write, bytes(size).total())),
    variants: &[
        variant!(device::matmul_aat_naive, launch, TILE, (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(
                    (1.0 + 32.0) / 2.0,
                    4.0,
                    "per step one word for all lanes, 1 sector, and one word of 32 rows, 32",
                )
            }),
        variant!(device::matmul_aat_tiled, launch, TILE, (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(
                    4.0,
                    4.0,
                    "rows of tiles: 4 sectors; shared: a row stored in 1 wavefront, a column in \
                32; read: a word for all lanes, a row",
                )
                .shared(1.0, (1.0 + 32.0) / 2.0)
            }),
        variant!(device::matmul_aat_padded, launch, TILE, (TILE, TILE))
            .only_when(|size| fits(size, TILE))
            .expecting(|_| {
                Expectation::sectors(4.0, 4.0, "as `tiled`, but a column is in 32 banks")
                    .shared(1.0, 1.0)
            }),
        variant!(device::matmul_aat_register_tiled, launch, SQUARE, (SQUARE_THREADS, 1))
            .only_when(|size| fits(size, SQUARE))
            .expecting(by_registers),
        variant!(device::matmul_aat_symmetric, launch, SQUARE, (SQUARE_THREADS, 1))
            .only_when(|size| fits(size, SQUARE))
            .expecting(by_registers),
    ],
};

/// Returns what both variants with results in registers promise.
fn by_registers(_: &Size) -> Expectation {
    Expectation::sectors(
        32.0,
        16.0,
        "16 bytes per lane from 32 rows of A: a sector each; stores: 2 rows of 256 bytes, or, \
            transposed, 16 rows of 32; shared: 16 lanes read the same words of the first tile, 2 \
            wavefronts, and 16 x 16 bytes of the second, 4; stored: neighbouring words",
    )
    .shared((2.0 * 2.0 + 2.0 * 4.0) / 4.0, 1.0)
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [m] = size.get();
    let inner = INNER as usize;
    let a = random.f32s(m * inner);
    let c = reference(&a, inner);
    Case {
        inputs: vec![Data::F32(a)],
        outputs: vec![Output::near(Data::F32(c), Tolerance::sum_of_products(inner))],
    }
}

fn reference(a: &[f32], inner: usize) -> Vec<f32> {
    let rows = a.par_chunks(inner).flat_map_iter(|row| {
        a.chunks(inner).map(|other| {
            let products = row.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b));
            products.sum::<f64>() as f32
        })
    });
    rows.collect()
}

fn bytes(size: &Size) -> Bytes {
    let [m] = size.get();
    Bytes { read: 4 * INNER as usize * m, written: 4 * m * m }
}

/// Launches a kernel of this file, whose blocks compute a square tile of so many rows.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
    tile: u32,
    block: (u32, u32),
) -> Result<(), GpuError> {
    let [m] = size.get().map(|value: usize| value as u32);
    let grid = (m.div_ceil(tile), m.div_ceil(tile));
    // SAFETY: one tile per block covers C; the arrays have the sizes of A and C, are 256-byte aligned and do not overlap.
    unsafe { launcher.launch(kernel, grid, block, 0, (arrays.input(0), arrays.output(0), m)) }
}
