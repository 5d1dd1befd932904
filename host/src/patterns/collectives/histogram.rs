use crate::prelude::*;
use coalesce::pattern::Before;
use cuda_std::warp::WARP_SIZE;
use kernels::collectives::histogram::{
    self as device, BINS, BYTES_IN_FLIGHT, LARGE_BINS, LARGE_THREADS_PER_BLOCK, LOADS_IN_FLIGHT,
    MAX_BLOCKS, THREADS_PER_BLOCK,
};
use rayon::prelude::*;
use std::collections::HashMap;

const WARP: usize = WARP_SIZE as usize;
const LINE: u32 = 128;
const PACK: u32 = 16;
/// The inputs are the same in every case, so that their conflicts can be promised.
const SEED: u64 = 256;
/// The parts into which the bins of `large_histogram` are split on an H200: 512 KiB in 227 KiB each.
const H200_PARTS: u32 = 3;
const H200_MULTIPROCESSORS: u32 = 132;

pub const PATTERN: Pattern = Pattern {
    name: "histogram",
    group: "collectives",
    doc_source: include_str!("../../../../kernels/src/collectives/histogram.rs"),
    dimensions: &[
        Dimension::extent("n", "bytes of the input", 1),
        Dimension::choice("distribution", "of the values", &["uniform", "skewed", "constant"]),
    ],
    verify_sizes: &[
        &[1, 0],
        &[31, 1],
        &[32, 2],
        &[33, 0],
        &[511, 1],
        &[512, 0],
        &[513, 2],
        &[8191, 0],
        &[32_769, 1],
        &[100_003, 0],
        &[100_003, 2],
        &[3_000_001, 1],
    ],
    bench_size: &[1 << 30, 0],
    count_size: &[1 << 18, 0],
    sweeps: &[Sweep {
        dimension: 1,
        values: &[0, 1, 2],
        variants: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Read, bytes(size).total())),
    variants: &[
        variant!(device::histogram_global_atomic, launch, 0, all_blocks).expecting(|size| {
            Expectation {
                load_sectors: Some(1.0),
                global_atomics: Some(length(size) as f64),
                global_atomic_updates: Some(average(&byte_requests(size), sector_updates)),
                arithmetic: "32 lanes x 1 B / 32 B = 1 sector; n atomics, each sector as often as \
                its most frequent bin",
                ..Expectation::default()
            }
        }),
        variant!(device::histogram_block_private, launch, 0, scalar_blocks).expecting(|size| {
            let wavefronts = average(&byte_requests(size), word_wavefronts);
            copies(
                scalar_blocks(size),
                wavefronts,
                "1 sector; wavefronts = the most different words in one bank, about 3.2; \
                256 atomics per block",
            )
        }),
        variant!(device::histogram_warp_private, launch, 0, scalar_blocks).expecting(|size| {
            let wavefronts = average(&byte_requests(size), word_wavefronts);
            copies(scalar_blocks(size), wavefronts, "as before: the lanes of a warp share its copy")
        }),
        variant!(device::histogram_padded, launch, 0, scalar_blocks).expecting(|size| {
            let words = |lane: usize, bin: u32| lane as u32 * (BINS + 1) + bin;
            let wavefronts = average(&byte_requests(size), |bins| {
                let words = bins.iter().enumerate().map(|(lane, bin)| words(lane, *bin));
                word_wavefronts(&words.collect::<Vec<_>>())
            });
            copies(
                scalar_blocks(size),
                wavefronts,
                "bank (lane + bin) % 32 is random for random bins: about 3.53 wavefronts",
            )
        }),
        variant!(device::histogram_lane_private, launch, 0, scalar_blocks).expecting(|size| {
            copies(
                scalar_blocks(size),
                1.0,
                "bank (32 bin + lane) % 32 = lane, \
                all different: 1 wavefront",
            )
        }),
        variant!(device::histogram_coarsened, launch, 0, wide_blocks).expecting(|size| {
            Expectation {
                load_sectors: Some(16.0),
                ..copies(
                    wide_blocks(size),
                    1.0,
                    "32 x 16 B / 32 B = 16 sectors; \
                bank = lane: 1 wavefront",
                )
            }
        }),
        variant!(device::histogram_aggregated, launch, 0, wide_blocks).expecting(|size| {
            Expectation {
                load_sectors: Some(16.0),
                ..copies(
                    wide_blocks(size),
                    1.0,
                    "as before, with a quarter of the requests if all bytes are equal",
                )
            }
        }),
        variant!(device::histogram_large_histogram_global, launch, 1, wide_blocks)
            .writing(&[1])
            .expecting(|size| Expectation {
                load_sectors: Some(16.0),
                global_atomics: Some(keys(size) as f64),
                global_atomic_updates: Some(average(&key_requests(size), sector_updates)),
                arithmetic: "16 sectors; one atomic per key, \
                    about 32 different sectors for 32 lanes",
                ..Expectation::default()
            }),
        variant!(device::histogram_large_histogram, many_bins).writing(&[1]).expecting(|size| {
            let blocks = many_blocks(size, H200_MULTIPROCESSORS, H200_PARTS);
            Expectation {
                shared_load_wavefronts: Some(1.0),
                global_atomics: Some(f64::from(blocks * LARGE_BINS)),
                global_atomic_updates: Some(4.0),
                arithmetic: "16 sectors; a third of the lanes in random banks: about 1.9 \
                wavefronts; blocks / 3 x 2^17 atomics",
                ..in_parts(size)
            }
        }),
        variant!(device::histogram_large_histogram_bulk, many_bins)
            .writing(&[1])
            .expecting(in_parts),
    ],
};

/// The traffic of counting a part of the bins in shared memory.
fn in_parts(size: &Size) -> Expectation {
    Expectation {
        load_sectors: Some(16.0),
        shared_store_wavefronts: Some(1.0),
        shared_atomic_wavefronts: Some(average(&part_requests(size), word_wavefronts)),
        arithmetic: "as before, and one bulk copy per block adds all of its counters",
        ..Expectation::default()
    }
}

fn length(size: &Size) -> usize {
    let [n, _] = size.get();
    n
}

/// The keys of a size: as many bytes as its bytes.
fn keys(size: &Size) -> usize {
    length(size).div_ceil(4)
}

/// As many blocks as have bytes to load, `per_block` each, up to what the device holds at once.
fn blocks_for(size: &Size, per_block: u32) -> u32 {
    length(size).div_ceil(per_block as usize).min(MAX_BLOCKS as usize) as u32
}

/// A block per byte and thread.
fn all_blocks(size: &Size) -> u32 {
    length(size).div_ceil(THREADS_PER_BLOCK as usize) as u32
}

fn scalar_blocks(size: &Size) -> u32 {
    blocks_for(size, THREADS_PER_BLOCK * BYTES_IN_FLIGHT)
}

fn wide_blocks(size: &Size) -> u32 {
    blocks_for(size, THREADS_PER_BLOCK * LOADS_IN_FLIGHT * PACK)
}

/// The columns of blocks of `large_histogram`: one block for each multiprocessor.
fn many_blocks(size: &Size, multiprocessors: u32, parts: u32) -> u32 {
    let full = length(size).div_ceil((LARGE_THREADS_PER_BLOCK * LOADS_IN_FLIGHT * PACK) as usize);
    (full as u32).min(multiprocessors / parts).max(1)
}

/// The bins of one of `parts` parts: whole lines of counters.
fn part(parts: u32) -> u32 {
    LARGE_BINS.div_ceil(parts).next_multiple_of(LINE / 4)
}

/// The traffic of counting bytes in shared memory: one wavefront to clear and to merge, `wavefronts` per request that
/// counts.
fn copies(blocks: u32, wavefronts: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(1.0),
        shared_load_wavefronts: Some(1.0),
        shared_store_wavefronts: Some(1.0),
        shared_atomic_wavefronts: Some(wavefronts),
        global_atomics: Some(f64::from(blocks * BINS)),
        global_atomic_updates: Some(4.0),
        arithmetic,
        ..Expectation::default()
    }
}

/// The bins of each request that counts one byte per lane.
fn byte_requests(size: &Size) -> Vec<Vec<u32>> {
    let bins: Vec<u32> = inputs(size).0.into_iter().map(u32::from).collect();
    bins.chunks(WARP).map(<[u32]>::to_vec).collect()
}

/// The bins of each request that counts one key per lane: every fourth key, from packs side by side.
fn key_requests(size: &Size) -> Vec<Vec<u32>> {
    let bins: Vec<u32> = inputs(size).1.into_iter().map(bin_of).collect();
    let of_packs = |packs: &[u32]| -> [Vec<u32>; 4] {
        std::array::from_fn(|key| packs.iter().copied().skip(key).step_by(4).collect())
    };
    bins.chunks(4 * WARP).flat_map(of_packs).collect()
}

/// The words of each request of `large_histogram`: for each part, the lanes whose bin is in it.
fn part_requests(size: &Size) -> Vec<Vec<u32>> {
    let part = part(H200_PARTS);
    let split = |bins: Vec<u32>| {
        (0..H200_PARTS).map(move |index| {
            let words = bins.iter().filter(|bin| **bin / part == index).map(|bin| bin % part);
            words.collect::<Vec<_>>()
        })
    };
    let requests = key_requests(size).into_iter().flat_map(split);
    requests.filter(|words| !words.is_empty()).collect()
}

fn average(requests: &[Vec<u32>], wavefronts: impl Fn(&[u32]) -> usize) -> f64 {
    requests.iter().map(|lanes| wavefronts(lanes)).sum::<usize>() as f64 / requests.len() as f64
}

/// Returns how often each of the values occurs.
fn occurrences(values: impl Iterator<Item = u32>) -> HashMap<u32, usize> {
    let mut counts = HashMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// Wavefronts of additions of 1 in shared memory: the largest number of different words in one bank.
fn word_wavefronts(words: &[u32]) -> usize {
    let distinct = occurrences(words.iter().copied()).into_keys();
    occurrences(distinct.map(|word| word % WARP as u32)).into_values().max().unwrap_or(0)
}

/// Returns how often atomics in device memory access a sector of 8 words: as often as the word that most lanes add to.
fn sector_updates(words: &[u32]) -> usize {
    let mut sectors: HashMap<u32, usize> = HashMap::new();
    for (word, lanes) in occurrences(words.iter().copied()) {
        let sector = sectors.entry(word / 8).or_default();
        *sector = lanes.max(*sector);
    }
    sectors.into_values().sum()
}

/// The bytes and the keys: uniform, the fourth power of uniform, or one value.
fn inputs(size: &Size) -> (Vec<u8>, Vec<u32>) {
    let [n, distribution] = size.get();
    let mut random = Random::new(SEED);
    let (mut bytes, mut keys) = (random.u8s(n), random.u32s(keys(size)));
    match distribution {
        0 => {}
        1 => {
            bytes.par_iter_mut().for_each(|byte| *byte = (u32::from(*byte).pow(4) >> 24) as u8);
            keys.par_iter_mut().for_each(|key| *key = (u128::from(*key).pow(4) >> 96) as u32);
        }
        _ => {
            let (byte, key) = (bytes[0], keys[0]);
            bytes.fill(byte);
            keys.fill(key);
        }
    }
    (bytes, keys)
}

/// The bin of a key: its upper bits.
fn bin_of(key: u32) -> u32 {
    key / (u32::MAX / LARGE_BINS + 1)
}

fn case(size: &Size, _random: &mut Random) -> Case {
    let (bytes, keys) = inputs(size);
    let of_bytes = reference(BINS, bytes.par_iter().map(|byte| u32::from(*byte)));
    let of_keys = reference(LARGE_BINS, keys.par_iter().map(|key| bin_of(*key)));
    let counts = |reference| Output {
        reference: Data::U32(reference),
        tolerance: Tolerance::Exact,
        before: Before::Zeros,
    };
    Case {
        inputs: vec![Data::U8(bytes), Data::U32(keys)],
        outputs: vec![counts(of_bytes), counts(of_keys)],
    }
}

/// Returns how often each bin occurs; every chunk counts for itself.
fn reference(len: u32, bins: impl IndexedParallelIterator<Item = u32>) -> Vec<u32> {
    const CHUNK: usize = 1 << 22;
    let none = || vec![0; len as usize];
    let counts = bins.with_min_len(CHUNK).fold(none, |mut counts, bin| {
        counts[bin as usize] += 1;
        counts
    });
    counts.reduce(none, |mut sum, counts| {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        sum
    })
}

fn bytes(size: &Size) -> Bytes {
    Bytes { read: length(size), written: 4 * BINS as usize }
}

/// Launches a kernel that takes one input and the counts in the output of the same number.
fn launch<T: Element>(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const T, *mut u32, u32)>,
    array: usize,
    blocks: fn(&Size) -> u32,
) -> Result<(), GpuError> {
    let n = length(size).div_ceil(size_of::<T>()) as u32;
    let arguments = (arrays.input(array), arrays.output(array), n);
    // SAFETY: one thread per byte, or a grid of its own choice for the others; the input has that many elements and is
    // 256-byte aligned; the output is a zero for each bin.
    unsafe { launcher.launch(kernel, blocks(size), THREADS_PER_BLOCK, 0, arguments) }
}

fn many_bins(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u32, *mut u32, u32, u32)>,
) -> Result<(), GpuError> {
    let gpu = launcher.gpu();
    let parts = LARGE_BINS.div_ceil(gpu.shared_bytes_per_block()? / LINE * LINE / 4);
    let part = part(parts);
    let grid = (many_blocks(size, gpu.multiprocessors()?, parts), parts);
    let arguments = (arrays.input(1), arrays.output(1), keys(size) as u32, part);
    // SAFETY: the parts cover the bins, and the shared memory holds a part; the input has that many keys
    // and is 256-byte aligned; the output is a zero for each bin.
    unsafe { launcher.launch(kernel, grid, LARGE_THREADS_PER_BLOCK, 4 * part, arguments) }
}
