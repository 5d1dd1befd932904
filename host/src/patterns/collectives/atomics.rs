use crate::prelude::*;
use coalesce::pattern::Before;
use kernels::collectives::atomics::{
    self as device, MAX_BLOCKS, MAX_SHARED, SHARED_THREADS_PER_BLOCK, THREADS_PER_BLOCK, VALUE_BITS,
};

const WARP: usize = 32;
/// The largest grid of `shared`: two blocks of 1024 threads for each of the 132 multiprocessors of an H200.
const MAX_SHARED_BLOCKS: usize = 2 * 132;
/// From one counter for all to one for each of 2^20.
const ADDRESSES: &[usize] = &[
    1,
    2,
    4,
    8,
    16,
    32,
    64,
    128,
    256,
    1 << 10,
    1 << 12,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 18,
    1 << 20,
];
/// Those that vectors of four counters have.
const VECTOR_ADDRESSES: &[usize] = &[4, 8, 16, 32, 1 << 10, 1 << 15, 1 << 20];
/// The outputs.
const U32: usize = 0;
const U64: usize = 1;
const F32: usize = 2;
const F64: usize = 3;
const SUM: usize = 4;

pub const PATTERN: Pattern = Pattern {
    name: "atomics",
    group: "collectives",
    doc_source: include_str!("../../../../kernels/src/collectives/atomics.rs"),
    dimensions: &[
        Dimension::extent("n", "updates", 1).predicted_at(1 << 22),
        Dimension::amount("addresses", "counters, a power of two", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[32, 32],
        &[33, 8],
        &[257, 1],
        &[1000, 16],
        &[4099, 64],
        &[5000, 1 << 12],
    ],
    bench_size: &[1 << 24, 1 << 10],
    count_size: &[1 << 13, 1 << 10],
    sweeps: &[
        Sweep { dimension: 1, values: ADDRESSES, variants: &[0, 1, 3, 4, 5, 6, 9] },
        Sweep { dimension: 1, values: VECTOR_ADDRESSES, variants: &[7, 8] },
        // With fewer counters, nearly every compare-and-swap fails and is made again, for minutes.
        Sweep {
            dimension: 1,
            values: &[1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20],
            variants: &[2],
        },
    ],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Read, bytes(size).total())),
    variants: &[
        variant!(device::atomics_global, launch, U32)
            .only_when(is_power)
            .writing(&[U32])
            .expecting(|size| updates(size, 4, "n atomics")),
        variant!(device::atomics_system_scope, launch, U32)
            .only_when(is_power)
            .writing(&[U32])
            .expecting(|size| updates(size, 4, "n atomics, as before")),
        variant!(device::atomics_compare_and_swap, launch, U32)
            .only_when(is_power)
            .writing(&[U32])
            .expecting(|size| {
                let arithmetic = "a load of the counter, and one compare-and-swap \
                    where no two lanes share it";
                updates(size, 4, arithmetic)
            }),
        variant!(device::atomics_warp_aggregated, launch, U32)
            .only_when(is_power)
            .writing(&[U32])
            .expecting(|size| {
                let per_warp = addresses(size).min(WARP);
                Expectation {
                    global_atomics: Some((updates_of(size) * per_warp / WARP) as f64),
                    global_atomic_updates: Some((4 * per_warp).div_ceil(32) as f64),
                    ..updates(size, 4, "one atomic per warp and counter: n if no lanes share one")
                }
            }),
        variant!(device::atomics_shared => shared)
            .only_when(fits_shared)
            .writing(&[U32])
            .expecting(|size| {
                let addresses = addresses(size);
                Expectation {
                    load_sectors: Some(4.0),
                    shared_load_wavefronts: Some(1.0),
                    shared_store_wavefronts: Some(1.0),
                    shared_atomic_wavefronts: Some((WARP / addresses.min(WARP)) as f64),
                    global_atomics: Some((shared_blocks(size) as usize * addresses) as f64),
                    global_atomic_updates: Some(4.0),
                    arithmetic: "neighbouring lanes, neighbouring banks: 1 wavefront; \
                        one atomic per block and counter in device memory",
                    ..Expectation::default()
                }
            }),
        variant!(device::atomics_u64, launch, U64)
            .only_when(is_power)
            .writing(&[U64])
            .expecting(|size| updates(size, 8, "n atomics of 8 bytes")),
        variant!(device::atomics_f32, launch, F32)
            .only_when(is_exact)
            .writing(&[F32])
            .expecting(|size| updates(size, 4, "n atomics of 4 bytes")),
        variant!(device::atomics_f32x2, launch_vectors, 2)
            .only_when(|size| is_exact(size).and(has_vectors(size)))
            .writing(&[F32])
            .expecting(|size| vectors(size, 2)),
        variant!(device::atomics_f32x4, launch_vectors, 4)
            .only_when(|size| is_exact(size).and(has_vectors(size)))
            .writing(&[F32])
            .expecting(|size| vectors(size, 4)),
        variant!(device::atomics_f64, launch, F64)
            .only_when(is_power)
            .writing(&[F64])
            .expecting(|size| updates(size, 8, "n atomics of 8 bytes")),
        variant!(device::atomics_sum_two_launches => two_launches)
            .with_helper_kernels(&["sum_of_blocks"])
            .writing(&[SUM])
            .expecting(|size| sum(size, "4 sectors per load; 4 B stores of block sums")),
        variant!(device::atomics_sum_last_block => last_block).writing(&[SUM]).expecting(|size| {
            Expectation {
                global_atomics: Some(sum_blocks(size) as f64),
                global_atomic_updates: Some(1.0),
                ..sum(size, "as before, and a ticket per block")
            }
        }),
    ],
};

fn updates_of(size: &Size) -> usize {
    let [n, _] = size.get();
    n
}

fn addresses(size: &Size) -> usize {
    let [_, addresses] = size.get();
    addresses
}

fn is_power(size: &Size) -> std::result::Result<(), &'static str> {
    if addresses(size).is_power_of_two() { Ok(()) } else { Err("addresses must be a power of two") }
}

fn fits_shared(size: &Size) -> std::result::Result<(), &'static str> {
    is_power(size)?;
    let fits = addresses(size) <= MAX_SHARED as usize;
    if fits { Ok(()) } else { Err("more than 2^15 counters do not fit into shared memory") }
}

fn is_exact(size: &Size) -> std::result::Result<(), &'static str> {
    is_power(size)?;
    let fits = updates_of(size) / addresses(size) < 1 << (24 - VALUE_BITS);
    if fits { Ok(()) } else { Err("an f32 counts exactly to 2^24 only: fewer updates per counter") }
}

fn has_vectors(size: &Size) -> std::result::Result<(), &'static str> {
    if addresses(size) >= 4 { Ok(()) } else { Err("fewer than 4 counters are no vector") }
}

/// Blocks of `shared`, which walk over the elements.
fn shared_blocks(size: &Size) -> u32 {
    updates_of(size).div_ceil(SHARED_THREADS_PER_BLOCK as usize).min(MAX_SHARED_BLOCKS) as u32
}

/// Blocks of the sums, which walk over the elements.
fn sum_blocks(size: &Size) -> u32 {
    updates_of(size).div_ceil(THREADS_PER_BLOCK as usize).min(MAX_BLOCKS as usize) as u32
}

/// The traffic of an atomic per element on counters of so many bytes.
fn updates(size: &Size, bytes: usize, arithmetic: &'static str) -> Expectation {
    let per_warp = addresses(size).min(WARP);
    let sectors = (bytes * per_warp).div_ceil(32);
    Expectation {
        load_sectors: Some(4.0),
        global_atomics: Some(updates_of(size) as f64),
        // Each sector as often as its counters have lanes.
        global_atomic_updates: Some((sectors * WARP / per_warp) as f64),
        arithmetic,
        ..Expectation::default()
    }
}

/// The traffic of a vector of additions per lane.
fn vectors(size: &Size, lanes: usize) -> Expectation {
    let per_warp = addresses(size).min(WARP * lanes);
    let of_sector = (32 / 4).min(addresses(size));
    let sectors = per_warp.div_ceil(of_sector);
    Expectation {
        load_sectors: Some((4 * lanes) as f64),
        global_atomics: Some((updates_of(size) / lanes) as f64),
        global_atomic_updates: Some((sectors * WARP * lanes / per_warp) as f64),
        arithmetic: "a request has the additions of two or four: n / 2 or n / 4 atomics, as many sectors in all as before",
        ..Expectation::default()
    }
}

/// The traffic of a sum: all elements, a word per block, and those words again in one block.
fn sum(size: &Size, arithmetic: &'static str) -> Expectation {
    let blocks = sum_blocks(size) as usize;
    let (sectors, requests) = (updates_of(size) / 8, updates_of(size) / WARP);
    let of_partials = ((4 * blocks).div_ceil(32), blocks.div_ceil(WARP));
    Expectation::sectors(
        (sectors + of_partials.0) as f64 / (requests + of_partials.1) as f64,
        1.0,
        arithmetic,
    )
    .shared(1.0, 1.0)
}

fn case(size: &Size, random: &mut Random) -> Case {
    let source = random.u32s(updates_of(size));
    let counts = reference(&source, addresses(size));
    let sum = source.iter().fold(0_u32, |sum, element| sum.wrapping_add(*element));
    let zeros =
        |reference: Data| Output { reference, tolerance: Tolerance::Exact, before: Before::Zeros };
    Case {
        outputs: vec![
            zeros(Data::U32(counts.iter().map(|count| *count as u32).collect())),
            zeros(Data::U64(counts.clone())),
            zeros(Data::F32(counts.iter().map(|count| *count as f32).collect())),
            zeros(Data::F64(counts.iter().map(|count| *count as f64).collect())),
            Output::exact(Data::U32(vec![sum])),
        ],
        inputs: vec![Data::U32(source)],
    }
}

/// The sums of the elements' values, by counter.
fn reference(source: &[u32], addresses: usize) -> Vec<u64> {
    let mut counts = vec![0; addresses];
    for (i, element) in source.iter().enumerate() {
        counts[i % addresses] += u64::from(element % (1 << VALUE_BITS));
    }
    counts
}

/// Each element once; the counters stay in the L2 cache.
fn bytes(size: &Size) -> Bytes {
    Bytes { read: 4 * updates_of(size), written: 0 }
}

/// Launches a kernel with a thread per update.
fn launch<T: Element>(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u32, *mut T, u32, u32)>,
    output: usize,
) -> Result<(), GpuError> {
    let (n, addresses) = (updates_of(size) as u32, addresses(size) as u32);
    let arguments = (arrays.input(0), arrays.output(output), addresses, n);
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n updates; the output has a number for each address, a power of two (precondition).
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn shared(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let (n, addresses) = (updates_of(size) as u32, addresses(size) as u32);
    let arguments = (arrays.input(0), arrays.output(U32), addresses, n);
    let (grid, block) = (shared_blocks(size), SHARED_THREADS_PER_BLOCK);
    // SAFETY: any grid; the shared memory and the output have a number for each address.
    unsafe { launcher.launch(device::atomics_shared, grid, block, 4 * addresses, arguments) }
}

/// Launches a kernel with a thread for each vector of so many updates.
fn launch_vectors(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u32, *mut f32, u32, u32)>,
    lanes: u32,
) -> Result<(), GpuError> {
    let (n, addresses) = (updates_of(size) as u32, addresses(size) as u32);
    let arguments = (arrays.input(0), arrays.output(F32), addresses, n);
    let grid = n.div_ceil(lanes).div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n updates; the output has a number for each address, a power of two from 4 on
    // (precondition); arrays are 256-byte aligned.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn two_launches(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let (n, blocks) = (updates_of(size) as u32, sum_blocks(size));
    let (first, second) = (device::atomics_sum_two_launches, device::atomics_sum_of_blocks);
    // SAFETY: at most MAX_BLOCKS blocks; the second launch follows the first on the stream; the output is one number.
    unsafe {
        launcher.launch(first, blocks, THREADS_PER_BLOCK, 0, (arrays.input(0), n))?;
        launcher.launch(second, 1, THREADS_PER_BLOCK, 0, (arrays.output(SUM), blocks))
    }
}

fn last_block(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let arguments = (arrays.input(0), arrays.output(SUM), updates_of(size) as u32);
    let kernel = device::atomics_sum_last_block;
    // SAFETY: at most MAX_BLOCKS blocks, one launch after the other on the stream; the output is one number.
    unsafe { launcher.launch(kernel, sum_blocks(size), THREADS_PER_BLOCK, 0, arguments) }
}
