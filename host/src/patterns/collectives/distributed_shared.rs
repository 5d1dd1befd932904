use crate::prelude::*;
use coalesce::pattern::Before;
use kernels::collectives::distributed_shared::{
    self as device, CLUSTER, MAX_GROUPS, MAX_PART, ROW_THREADS, THREADS_PER_BLOCK,
};

/// Lanes of a warp, keys of a vector load, and counters of a sector.
const WARP: usize = 32;
const KEYS: usize = 4;
const SECTOR: u32 = 8;
/// The inputs are the same in every case, so that their conflicts can be promised.
const SEED: u64 = 8;
/// The largest grids: one block with 128 KiB of shared memory per multiprocessor of an H200, or two with 64 KiB.
const MAX_BLOCKS: usize = 132;
const MAX_CLUSTERS: usize = 2 * 132 / CLUSTER as usize;
/// The outputs: counts of the bins, the rows with their sums added, and these sums.
const COUNTS: usize = 0;
const ROWS: usize = 1;
const SUMS: usize = 2;
/// Blocks of `rows_l2` that fit on a multiprocessor: 227 KiB / 65 KiB.
const MAX_ROW_BLOCKS: u32 = 3;
/// Bytes of shared memory of a block beside its part of a row: static ones, and those of the system.
const ROW_OVERHEAD: u32 = 2048;

pub const PATTERN: Pattern = Pattern {
    name: "distributed_shared",
    group: "collectives",
    doc_source: include_str!("../../../../kernels/src/collectives/distributed_shared.rs"),
    dimensions: &[
        Dimension::extent("n", "keys", 1),
        Dimension::amount("bins", "of the histogram, a power of two", CLUSTER as usize),
    ],
    verify_sizes: &[
        &[1, 8],
        &[31, 32],
        &[32, 64],
        &[33, 8],
        &[1001, 256],
        &[5003, 4096],
        &[20_000, 1 << 16],
        &[64, 32],
        &[1024, 128],
        &[3 * 4096, 4096],
        &[1 << 17, 1 << 16],
    ],
    bench_size: &[1 << 26, 1 << 17],
    count_size: &[1 << 16, 1 << 16],
    sweeps: &[Sweep {
        dimension: 1,
        values: &[1 << 10, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18],
        variants: &[0, 1, 2, 3, 4, 5],
    }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Read, bytes(size).total())),
    variants: &[
        variant!(device::distributed_shared_global => global).writing(&[COUNTS]).only_when(is_power).expecting(
            |size| Expectation {
                load_sectors: Some(16.0),
                global_atomics: Some(keys(size) as f64),
                global_atomic_updates: Some(average(&requests(size), sector_updates)),
                arithmetic: "32 x 16 B / 32 B = 16 sectors; an atomic per key, nearly 32 different \
                sectors for 32 lanes",
                ..Expectation::default()
            },
        ),
        variant!(device::distributed_shared_parts => parts).writing(&[COUNTS]).only_when(is_power).expecting(|size| {
            let (part, _) = split(size);
            let of_parts = by_part(size, part);
            let blocks = part_blocks(size);
            Expectation {
                shared_atomic_wavefronts: Some(average(&of_parts, word_wavefronts)),
                ..copies(
                    size,
                    blocks as usize,
                    "a part of the lanes, in random banks; one atomic \
                    per block and bin of its part",
                )
            }
        }),
        variant!(device::distributed_shared_cluster => cluster).writing(&[COUNTS]).only_when(fits_cluster).expecting(
            |size| {
                let (clusters, part) = (clusters(size) as usize, bins(size) / CLUSTER);
                Expectation {
                    shared_atomic_wavefronts: Some(average(&by_part(size, part), word_wavefronts)),
                    ..copies(
                        size,
                        clusters,
                        "each block gets the lanes whose bins it holds; one atomic per cluster \
                and bin",
                    )
                }
            },
        ),
        variant!(device::distributed_shared_rows_global => rows_global)
            .with_helper_kernels(&["sums_of_rows"])
            .only_when(has_rows)
            .writing(&[ROWS, SUMS])
            .moving(row_bytes)
            .expecting(|size| Expectation {
                load_sectors: Some(mean_load(size)),
                store_sectors: Some(16.0),
                global_atomics: Some((blocks_of_rows(size) * ROW_THREADS / WARP as u32) as f64),
                global_atomic_updates: Some(1.0),
                arithmetic: "16 sectors for each vector of keys, twice, and 1 for the sum of the row; an atomic per warp",
                ..Expectation::default()
            }),
        variant!(device::distributed_shared_rows_l2 => rows_l2)
            .only_when(has_rows)
            .writing(&[ROWS])
            .moving(row_bytes)
            .expecting(|size| {
                let (vectors, blocks) = (row_vectors(size), f64::from(blocks_of_rows(size)));
                Expectation {
                    load_sectors: Some(1.0),
                    store_sectors: Some((16.0 * vectors + blocks) / (vectors + blocks)),
                    shared_load_wavefronts: Some(row_wavefronts(size, 1)),
                    shared_store_wavefronts: Some(1.0),
                    shared_atomic_wavefronts: Some(1.0),
                    global_atomics: Some(blocks),
                    global_atomic_updates: Some(1.0),
                    arithmetic: "keys come by bulk copies; 16 sectors per store of a vector, and a word per block; 4 wavefronts \
                        for each vector, twice, and 1 for each look at the sum",
                    ..Expectation::default()
                }
            }),
        variant!(device::distributed_shared_rows_cluster => rows_cluster)
            .only_when(has_rows)
            .writing(&[ROWS])
            .moving(row_bytes)
            .expecting(|size| Expectation {
                store_sectors: Some(16.0),
                shared_load_wavefronts: Some(row_wavefronts(size, 0)),
                shared_store_wavefronts: Some(1.0),
                arithmetic: "keys come by bulk copies; 32 x 16 B / 32 B = 16 sectors per store; 4 wavefronts for each vector, \
                    twice, and 1 for each look at the sum",
                ..Expectation::default()
            }),
    ],
};

/// Returns whether the keys are rows of whole parts, each of whole vectors.
fn has_rows(size: &Size) -> std::result::Result<(), &'static str> {
    fits_cluster(size)?;
    let bins = bins(size) as usize;
    let are_whole = keys(size).is_multiple_of(bins) && bins >= CLUSTER as usize * KEYS;
    if are_whole { Ok(()) } else { Err("the keys must be whole rows of at least 32") }
}

/// Blocks of which each has a part of a row.
fn blocks_of_rows(size: &Size) -> u32 {
    keys(size) as u32 / bins(size) * CLUSTER
}

/// Keys in, keys out.
fn row_bytes(size: &Size) -> Bytes {
    Bytes { read: 4 * keys(size), written: 4 * keys(size) }
}

/// Requests of a warp for all vectors of keys.
fn row_vectors(size: &Size) -> f64 {
    (keys(size) / KEYS).div_ceil(WARP) as f64
}

/// Wavefronts per shared load: of vectors to add them up and to store them, and of the sum by each warp, and so many more
/// times by each block.
fn row_wavefronts(size: &Size, looks: u32) -> f64 {
    let vectors = 2.0 * row_vectors(size);
    let sums = f64::from(blocks_of_rows(size) * (ROW_THREADS / WARP as u32 + looks));
    (4.0 * vectors + sums) / (vectors + sums)
}

/// Sectors per load of `rows_global`, where all threads of a block load the sum of their row.
fn mean_load(size: &Size) -> f64 {
    let vectors = 2 * keys(size) / KEYS;
    let requests = vectors.div_ceil(WARP);
    let of_sums = (blocks_of_rows(size) * ROW_THREADS) as usize / WARP;
    (vectors / 2 + of_sums) as f64 / (requests + of_sums) as f64
}

fn keys(size: &Size) -> usize {
    let [n, _] = size.get();
    n
}

fn bins(size: &Size) -> u32 {
    let [_, bins] = size.get();
    bins as u32
}

fn is_power(size: &Size) -> std::result::Result<(), &'static str> {
    if bins(size).is_power_of_two() { Ok(()) } else { Err("bins must be a power of two") }
}

fn fits_cluster(size: &Size) -> std::result::Result<(), &'static str> {
    is_power(size)?;
    let fits = bins(size) / CLUSTER <= MAX_PART;
    if fits { Ok(()) } else { Err("more than 2^18 bins do not fit into the memory of a cluster") }
}

/// The bins that a block of `parts` counts, and how many such blocks count all of them.
fn split(size: &Size) -> (u32, u32) {
    let part = bins(size).min(MAX_PART);
    (part, bins(size) / part)
}

/// As many blocks as have a vector of keys for each thread, up to so many.
fn blocks(size: &Size, most: usize) -> u32 {
    keys(size).div_ceil(THREADS_PER_BLOCK as usize * KEYS).clamp(1, most) as u32
}

/// Blocks of `parts` for each part.
fn part_blocks(size: &Size) -> u32 {
    let (_, parts) = split(size);
    blocks(size, (MAX_BLOCKS / parts as usize).max(1))
}

fn clusters(size: &Size) -> u32 {
    blocks(size, MAX_CLUSTERS * CLUSTER as usize).div_ceil(CLUSTER)
}

/// The traffic of counters in shared memory, of which there are so many copies.
fn copies(size: &Size, copies: usize, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(16.0),
        shared_load_wavefronts: Some(1.0),
        shared_store_wavefronts: Some(1.0),
        global_atomics: Some((copies * bins(size) as usize) as f64),
        global_atomic_updates: Some(4.0),
        arithmetic,
        ..Expectation::default()
    }
}

/// The bins of each request that counts one key per lane: every fourth key, from vectors side by side.
fn requests(size: &Size) -> Vec<Vec<u32>> {
    let bins: Vec<u32> = input(size).into_iter().map(|key| key % bins(size)).collect();
    let of_warp = |vectors: &[u32]| -> [Vec<u32>; KEYS] {
        std::array::from_fn(|key| vectors.iter().copied().skip(key).step_by(KEYS).collect())
    };
    bins.chunks(KEYS * WARP).flat_map(of_warp).collect()
}

/// The same requests as the blocks get them that hold so many bins each.
fn by_part(size: &Size, part: u32) -> Vec<Vec<u32>> {
    let split = |bins: Vec<u32>| {
        let of_part = |index| bins.iter().filter(|bin| **bin / part == index).copied().collect();
        (0..self::bins(size) / part).map(of_part).collect::<Vec<_>>()
    };
    let parts = requests(size).into_iter().flat_map(split);
    parts.filter(|bins: &Vec<u32>| !bins.is_empty()).collect()
}

fn average(requests: &[Vec<u32>], wavefronts: impl Fn(&[u32]) -> usize) -> f64 {
    requests.iter().map(|lanes| wavefronts(lanes)).sum::<usize>() as f64 / requests.len() as f64
}

/// Wavefronts of additions of 1 in shared memory: the largest number of different words in one bank.
fn word_wavefronts(words: &[u32]) -> usize {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.dedup();
    let mut banks = [0; WARP];
    words.iter().for_each(|word| banks[*word as usize % WARP] += 1);
    banks.into_iter().max().unwrap_or(0)
}

/// Returns how often atomics in device memory access a sector: as often as the word that most lanes add to.
fn sector_updates(words: &[u32]) -> usize {
    let mut words = words.to_vec();
    words.sort_unstable();
    let sectors = words.chunk_by(|a, b| a / SECTOR == b / SECTOR);
    sectors.map(|sector| sector.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0)).sum()
}

fn input(size: &Size) -> Vec<u32> {
    Random::new(SEED).u32s(keys(size))
}

fn case(size: &Size, _random: &mut Random) -> Case {
    let keys = input(size);
    let zeros = |reference| Output {
        reference: Data::U32(reference),
        tolerance: Tolerance::Exact,
        before: Before::Zeros,
    };
    let (rows, sums) = rows_and_sums(&keys, bins(size) as usize);
    let rows = Output::exact(Data::U32(rows));
    let outputs = vec![zeros(reference(&keys, bins(size))), rows, zeros(sums)];
    Case { inputs: vec![Data::U32(keys)], outputs }
}

/// Each key with the sum of its row added, and the sums.
fn rows_and_sums(keys: &[u32], len: usize) -> (Vec<u32>, Vec<u32>) {
    let sums = keys.chunks(len).map(|row| row.iter().copied().fold(0, u32::wrapping_add));
    let sums: Vec<u32> = sums.collect();
    let added = |(row, sum): (&[u32], &u32)| row.iter().map(|key| key.wrapping_add(*sum)).collect();
    let rows = keys.chunks(len).zip(&sums).flat_map::<Vec<u32>, _>(added).collect();
    (rows, sums)
}

/// Returns how often each bin occurs: the key, modulo the number of bins.
fn reference(keys: &[u32], bins: u32) -> Vec<u32> {
    let mut counts = vec![0; bins as usize];
    for key in keys {
        counts[(key % bins) as usize] += 1;
    }
    counts
}

fn bytes(size: &Size) -> Bytes {
    Bytes { read: 4 * keys(size), written: 4 * bins(size) as usize }
}

fn global(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let arguments = (arrays.input(0), arrays.output(0), bins(size), keys(size) as u32);
    let grid = blocks(size, 2 * MAX_BLOCKS);
    let kernel = device::distributed_shared_global;
    // SAFETY: any grid; the input has n keys and is 256-byte aligned, the output a zero for each bin.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn parts(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let (part, parts) = split(size);
    let arguments = (arrays.input(0), arrays.output(0), bins(size), part, keys(size) as u32);
    let grid = (part_blocks(size), parts);
    let kernel = device::distributed_shared_parts;
    // SAFETY: the parts cover the bins, and the shared memory holds a part; the arrays are those of `global`.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 4 * part, arguments) }
}

fn cluster(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let part = bins(size) / CLUSTER;
    let arguments = (arrays.input(0), arrays.output(0), bins(size), part, keys(size) as u32);
    let grid = clusters(size) * CLUSTER;
    let kernel = device::distributed_shared_cluster;
    // SAFETY: whole clusters, whose shared memory holds all bins; the arrays are those of `global`.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 4 * part, arguments) }
}

fn rows_global(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let (part, grid) = (bins(size) / CLUSTER, blocks_of_rows(size));
    let (source, target) = (arrays.input::<u32>(0), arrays.output::<u32>(ROWS));
    let sums = arrays.output::<u32>(SUMS);
    let (first, second) =
        (device::distributed_shared_sums_of_rows, device::distributed_shared_rows_global);
    // SAFETY: the blocks cover whole rows of whole vectors (precondition), whose arrays are 256-byte aligned; the second
    // launch follows the first on the stream.
    unsafe {
        launcher.launch(first, grid, ROW_THREADS, 0, (source, sums, part))?;
        launcher.launch(second, grid, ROW_THREADS, 0, (source, target, sums, part))
    }
}

fn rows_l2(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let (gpu, part) = (launcher.gpu(), bins(size) / CLUSTER);
    let fitting = gpu.shared_bytes_per_block()? / (4 * part + ROW_OVERHEAD);
    let groups = gpu.multiprocessors()? * fitting.clamp(1, MAX_ROW_BLOCKS) / CLUSTER;
    let rows = keys(size) as u32 / bins(size);
    let grid = groups.clamp(1, MAX_GROUPS).min(rows) * CLUSTER;
    let arguments = (arrays.input(0), arrays.output(ROWS), part, rows);
    let kernel = device::distributed_shared_rows_l2;
    // SAFETY: whole groups, which the device holds at once; the shared memory holds a part; the rows are as for
    // `rows_global`.
    unsafe { launcher.launch_cooperative(kernel, grid, ROW_THREADS, 4 * part, arguments) }
}

fn rows_cluster(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let part = bins(size) / CLUSTER;
    let arguments = (arrays.input(0), arrays.output(ROWS), part);
    let kernel = device::distributed_shared_rows_cluster;
    // SAFETY: a cluster for each row, whose shared memory holds it; the rows are as for `rows_global`.
    unsafe { launcher.launch(kernel, blocks_of_rows(size), ROW_THREADS, 4 * part, arguments) }
}
