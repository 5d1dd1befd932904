use crate::prelude::*;
use kernels::caches::constant_memory::{
    self as device, COEFFICIENTS, ROW, STEPS, TABLE, THREADS_PER_BLOCK,
};
use rayon::prelude::*;

/// Rows that the walk goes through.
const WALK_ROWS: u32 = 7;
/// Different words that a warp asks for at a time.
const DISTINCT: &[usize] = &[1, 2, 4, 8, 16, 32];

pub const PATTERN: Pattern = Pattern {
    name: "constant_memory",
    group: "caches",
    doc_source: include_str!("../../../../kernels/src/caches/constant_memory.rs"),
    dimensions: &[
        Dimension::extent("n", "threads, each with its walk", 1),
        Dimension::extent("distinct", "different words per warp and step", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[32, 32],
        &[33, 4],
        &[255, 8],
        &[256, 16],
        &[257, 32],
        &[1000, 5],
        &[4096, 31],
        &[10_007, 32],
    ],
    bench_size: &[1 << 22, 1],
    count_size: &[1 << 12, 32],
    sweeps: &[Sweep { dimension: 1, values: DISTINCT, variants: &[0, 1, 2, 3, 4, 5, 6] }],
    case,
    bytes,
    minimum_time: |_, _| None,
    variants: &[
        variant!(device::constant_memory_global, walk).only_when(distinct_fits).expecting(|size| {
            Expectation {
                load_sectors: Some(sectors(size)),
                ..stores("neighbouring words: ceil(distinct x 4 B / 32 B) sectors")
            }
        }),
        variant!(device::constant_memory_read_only, walk).only_when(distinct_fits).expecting(
            |size| Expectation {
                load_sectors: Some(sectors(size)),
                ..stores("neighbouring words: ceil(distinct x 4 B / 32 B) sectors")
            },
        ),
        variant!(device::constant_memory_shared, walk).only_when(distinct_fits).expecting(|_| {
            Expectation {
                load_sectors: Some(4.0),
                shared_load_wavefronts: Some(1.0),
                shared_store_wavefronts: Some(1.0),
                ..stores(
                    "neighbouring words are in different banks: 1 wavefront; the copy has 4 \
                sectors",
                )
            }
        }),
        variant!(device::constant_memory_parameter => parameter)
            .only_when(distinct_fits)
            .expecting(|size| Expectation {
                constant_wavefronts: Some(distinct(size)),
                ..stores("parameters are in constant memory: one wavefront per different word")
            }),
        variant!(device::constant_memory_constant => constant)
            .only_when(distinct_fits)
            .prepared(write_table)
            .expecting(|size| Expectation {
                constant_wavefronts: Some(distinct(size)),
                ..stores("one wavefront per different word")
            }),
        variant!(device::constant_memory_register => register).writing(&[1]).expecting(|_| {
            Expectation { load_sectors: Some(1.0), ..stores("8 words of one sector, loaded once") }
        }),
        variant!(device::constant_memory_operand => operand)
            .writing(&[1])
            .prepared(write_table)
            .expecting(|_| Expectation {
                constant_wavefronts: Some(1.0),
                ..stores(
                    "one word for all lanes: 1 wavefront; a load in PTX, none in machine \
                code",
                )
            }),
    ],
};

fn distinct_fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, distinct] = size.get();
    if distinct <= ROW as usize { Ok(()) } else { Err("a warp has 32 lanes: distinct is 1 to 32") }
}

fn distinct(size: &Size) -> f64 {
    let [_, distinct] = size.get();
    distinct as f64
}

/// The sectors of so many neighbouring words.
fn sectors(size: &Size) -> f64 {
    let [_, distinct] = size.get::<2>();
    distinct.div_ceil(8) as f64
}

/// A variant that writes neighbouring words.
fn stores(arithmetic: &'static str) -> Expectation {
    Expectation { store_sectors: Some(4.0), arithmetic, ..Expectation::default() }
}

/// Returns the successor of each word: three rows on, through the first `WALK_ROWS` rows.
fn table() -> [u32; TABLE as usize] {
    std::array::from_fn(|word| {
        let (row, column) = (word as u32 / ROW, word as u32 % ROW);
        (row + 3) % WALK_ROWS * ROW + column
    })
}

/// Output 0: where each walk ends. Output 1: each thread's polynomial.
fn case(size: &Size, _: &mut Random) -> Case {
    let [n, distinct] = size.get();
    let table = table();
    Case::exact(
        vec![Data::U32(reference(&table, n, distinct)), Data::U32(polynomials(&table, n))],
        vec![Data::U32(table.to_vec())],
    )
}

/// The lanes of every warp walk alike.
fn reference(table: &[u32], n: usize, distinct: usize) -> Vec<u32> {
    let end = |lane: usize| (0..STEPS).fold((lane % distinct) as u32, |at, _| table[at as usize]);
    let ends: Vec<u32> = (0..ROW as usize).map(end).collect();
    (0..n).into_par_iter().map(|i| ends[i % ROW as usize]).collect()
}

/// The polynomial of each thread's index.
fn polynomials(table: &[u32], n: usize) -> Vec<u32> {
    let coefficients = &table[..COEFFICIENTS as usize];
    let value = |x: u32| {
        let terms = coefficients.iter().cycle().take(STEPS as usize);
        terms.fold(1_u32, |value, term| value.wrapping_mul(x).wrapping_add(*term))
    };
    (0..n as u32).into_par_iter().map(value).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * TABLE as usize, written: 4 * n }
}

fn write_table(with: &Preparation<'_>) -> Result<()> {
    Ok(with.launcher.write::<device::CONSTANT_MEMORY_TABLE>(&table())?)
}

/// Launches a walk through the table in input 0.
fn walk(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u32, *mut u32, u32, u32)>,
) -> Result<(), GpuError> {
    let [n, distinct] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), distinct, n);
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; `distinct` was checked by the precondition; input 0 is a table of TABLE words
    // that leads nowhere else; the output holds n elements and is another allocation.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn parameter(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, distinct] = size.get().map(|value: usize| value as u32);
    let arguments = (table(), arrays.output(0), distinct, n);
    let kernel = device::constant_memory_parameter;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; `distinct` was checked by the precondition; the output holds n elements.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn constant(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, distinct] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.output(0), distinct, n);
    let kernel = device::constant_memory_constant;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; `distinct` was checked by the precondition; `write_table` wrote the table; the
    // output holds n elements.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn register(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, _] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(1), n);
    let kernel = device::constant_memory_register;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; input 0 holds the table; the output holds n elements.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn operand(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, _] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.output(1), n);
    let kernel = device::constant_memory_operand;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; `write_table` wrote the table; the output holds n elements.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}
