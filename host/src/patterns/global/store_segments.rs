use crate::cases::copy::LENGTHS;
use crate::prelude::*;
use cuda_std::warp::WARP_SIZE;
use kernels::global::store_segments::{
    self as device, FILLED, HALF, RANGE, SECTOR, THREADS_PER_BLOCK,
};

const WARP: usize = WARP_SIZE as usize;

pub const PATTERN: Pattern = Pattern {
    name: "store_segments",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/store_segments.rs"),
    dimensions: &[Dimension::extent("n", "words stored", 1)],
    verify_sizes: LENGTHS,
    bench_size: &[1 << 27],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Write, bytes(size).total())),
    variants: &[
        variant!(device::store_segments_partial, launch, 2, THREADS_PER_BLOCK)
            .writing(&[2])
            .expecting(|_| stores(8.0, "32 lanes / 4 words in each sector = 8 sectors")),
        variant!(device::store_segments_scattered, launch, 1, THREADS_PER_BLOCK)
            .writing(&[1])
            .expecting(|_| stores(4.0, "32 lanes / 8 words in each sector = 4 sectors, 1 + 2 + 1")),
        variant!(device::store_segments_half_range, launch, 0, HALVES)
            .expecting(|_| stores(2.0, "16 lanes x 4 B / 32 B = 2 sectors")),
        variant!(device::store_segments_two_halves => |launcher, arrays, size| {
            // Two warps for each line, also for the last one.
            let [n] = size.get();
            let lanes = 2 * n.next_multiple_of(WARP);
            let grid = lanes.div_ceil(THREADS_PER_BLOCK as usize) as u32;
            launch_blocks(launcher, arrays, size, device::store_segments_two_halves, 0, grid)
        })
        .expecting(|_| stores(2.0, "16 lanes x 4 B / 32 B = 2 sectors, wherever they are")),
        variant!(device::store_segments_four_stores, launch, 0, THREADS_PER_BLOCK)
            .expecting(|_| stores(1.0, "8 lanes x 4 B / 32 B = 1 sector, four times")),
        variant!(device::store_segments_consecutive, launch, 0, THREADS_PER_BLOCK)
            .expecting(|_| stores(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
    ],
};

/// A variant that loads nothing.
fn stores(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation { store_sectors: Some(sectors), arithmetic, ..Expectation::default() }
}

/// Output 0 is packed; outputs 1 and 2 have words between that stay untouched.
fn case(size: &Size, _: &mut Random) -> Case {
    let [n] = size.get();
    let (sector, filled, range) = (SECTOR as usize, FILLED as usize, RANGE as usize);
    // The places of a warp's 32 words, in the order of lanes.
    let scattered: Vec<usize> = (0..WARP)
        .map(|lane| (lane * 5 + 3) % WARP)
        .map(|place| [0, 2, 3, 5][place / sector] * sector + place % sector)
        .collect();
    let outputs = [
        reference(n, n, &|i| i),
        reference(n, range * n.div_ceil(WARP), &|i| i / WARP * range + scattered[i % WARP]),
        reference(n, 2 * n.next_multiple_of(WARP), &|i| i / filled * sector + i % filled),
    ];
    Case {
        inputs: vec![],
        outputs: outputs.into_iter().map(|words| Output::exact(Data::U32(words))).collect(),
    }
}

/// `len` words, of which `n` hold their own number.
fn reference(n: usize, len: usize, word: &dyn Fn(usize) -> usize) -> Vec<u32> {
    let mut words = vec![u32::from_ne_bytes([POISON; 4]); len];
    for i in 0..n {
        words[word(i)] = word(i) as u32;
    }
    words
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 0, written: 4 * n }
}

/// Launches a kernel of this file, whose blocks store so many words each into an output.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*mut u32, u32)>,
    output: usize,
    per_block: u32,
) -> Result<(), GpuError> {
    let [n] = size.get().map(|n: usize| n as u32);
    launch_blocks(launcher, arrays, size, kernel, output, n.div_ceil(per_block))
}

/// Launches so many blocks of a kernel of this file.
fn launch_blocks(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*mut u32, u32)>,
    output: usize,
    blocks: u32,
) -> Result<(), GpuError> {
    let [n] = size.get().map(|n: usize| n as u32);
    let arguments = (arrays.output(output), n);
    // SAFETY: the grid covers n words; the output holds the words of n lanes in this kernel's layout.
    unsafe { launcher.launch(kernel, blocks, THREADS_PER_BLOCK, 0, arguments) }
}

/// Words that a block of `half_range` stores. (Its threads are up to 2^32, which 32 bits cannot count.)
const HALVES: u32 = THREADS_PER_BLOCK / WARP as u32 * HALF;
