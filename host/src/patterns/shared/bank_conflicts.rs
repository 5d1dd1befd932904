use crate::prelude::*;
use cuda_std::warp::WARP_SIZE;
use kernels::shared::bank_conflicts::{
    self as device, MAX_STRIDE, STEPS, TABLE, THREADS_PER_BLOCK,
};
use rayon::prelude::*;

const STRIDES: &[usize] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
    27, 28, 29, 30, 31, 32, 33,
];
const WARP: usize = WARP_SIZE as usize;
/// The banks of `random` are the same in every case, so that their conflicts can be promised.
const BANKS_SEED: u64 = 32;

pub const PATTERN: Pattern = Pattern {
    name: "bank_conflicts",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/bank_conflicts.rs"),
    dimensions: &[
        Dimension::extent("n", "threads, each with its walk", 1).predicted_at(1 << 19),
        Dimension::extent("stride", "words from one lane to the next", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[32, 3],
        &[33, 32],
        &[255, 33],
        &[256, 16],
        &[257, 31],
        &[1000, 8],
        &[4096, 48],
        &[20_011, 5],
    ],
    bench_size: &[1 << 22, 32],
    count_size: &[1 << 14, 32],
    sweeps: &[Sweep { dimension: 1, values: STRIDES, variants: &[0, 1] }],
    case,
    bytes,
    minimum_time,
    variants: &[
        variant!(device::bank_conflicts_strided_read => strided_read)
            .only_when(stride_fits)
            .expecting(|size| {
                read(
                    conflicts_of_stride(size),
                    "32 words in 32 / gcd(s, 32) banks: gcd(s, 32) wavefronts",
                )
            }),
        variant!(device::bank_conflicts_strided_write => strided_write)
            .only_when(stride_fits)
            .writing(&[1])
            .expecting(|size| Expectation {
                load_sectors: None,
                shared_store_wavefronts: Some(conflicts_of_stride(size)),
                ..read(
                    conflicts_of_stride(size),
                    "writes conflict as reads do: gcd(s, 32) wavefronts",
                )
            }),
        variant!(device::bank_conflicts_broadcast, launch, 2)
            .writing(&[2])
            .expecting(|_| read(1.0, "one word for all lanes: 1")),
        variant!(device::bank_conflicts_two_lanes_per_word, launch, 3)
            .writing(&[3])
            .expecting(|_| read(1.0, "16 words in 16 banks: 1")),
        variant!(device::bank_conflicts_multicast, launch, 8)
            .writing(&[8])
            .expecting(|_| read(1.0, "17 words in 17 banks, one of them for 16 lanes: 1")),
        variant!(device::bank_conflicts_random => random).writing(&[4]).expecting(|size| {
            read(
                conflicts_of_random(size),
                "the bank with the most words of 32 random ones: about 3.53 wavefronts on \
                average",
            )
        }),
        variant!(device::bank_conflicts_eight_bytes, launch, 5).writing(&[5]).expecting(|_| {
            read(2.0, "32 x 8 B / 128 B = 2 wavefronts: the minimum, not a conflict")
        }),
        variant!(device::bank_conflicts_sixteen_bytes, launch, 6).writing(&[6]).expecting(|_| {
            read(4.0, "32 x 16 B / 128 B = 4 wavefronts: the minimum, not a conflict")
        }),
        variant!(device::bank_conflicts_column, launch, 7).writing(&[7]).expecting(|_| {
            read(32.0, "bank (32 row + column) % 32 is the same for all lanes: 32 wavefronts")
        }),
        variant!(device::bank_conflicts_padded, launch, 7)
            .writing(&[7])
            .expecting(|_| read(1.0, "bank (33 row + column) % 32, all different: 1 wavefront")),
        variant!(device::bank_conflicts_swizzled, launch, 7)
            .writing(&[7])
            .expecting(|_| read(1.0, "bank column ^ row, all different: 1 wavefront")),
    ],
};

fn stride_fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, stride] = size.get();
    if stride <= MAX_STRIDE as usize {
        Ok(())
    } else {
        Err("its shared memory holds strides up to 48")
    }
}

/// A variant that fills its table without conflicts and reads it with so many `wavefronts` per request.
fn read(wavefronts: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(4.0, 4.0, arithmetic).shared(wavefronts, 1.0)
}

/// gcd(stride, 32).
fn conflicts_of_stride(size: &Size) -> f64 {
    let [_, stride] = size.get();
    let (mut a, mut b) = (stride, WARP);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a as f64
}

/// Returns how many lanes share the fullest bank, averaged over the warps.
fn conflicts_of_random(size: &Size) -> f64 {
    let [n, _] = size.get();
    let banks = random_banks(n);
    let fullest = banks.chunks(WARP).map(|lanes| {
        let lanes_of = |bank| lanes.iter().filter(|lane| **lane as usize % WARP == bank).count();
        (0..WARP).map(lanes_of).max().unwrap_or(0)
    });
    fullest.sum::<usize>() as f64 / n.div_ceil(WARP) as f64
}

fn random_banks(n: usize) -> Vec<u32> {
    Random::new(BANKS_SEED).u32s(n)
}

/// Input 0 leads from each word to the next; input 1 is the random bank of each thread.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n, stride] = size.get();
    let way = 4 * (1 + random.u32s(1)[0] % (TABLE / 4 - 1));
    let next: Vec<u32> = (0..TABLE).map(|word| (word + way) % TABLE).collect();
    let banks = random_banks(n);
    let starts: [&(dyn Fn(usize, usize) -> usize + Sync); 7] = [
        &|warp, lane| lane * stride + warp,
        &|warp, _| warp,
        &|warp, lane| lane / 2 + warp,
        &|warp, lane| lane * WARP + banks[warp * WARP + lane] as usize % WARP,
        &|warp, lane| 2 * (lane + warp),
        &|warp, lane| 4 * (lane + warp),
        &|warp, lane| if lane < WARP / 2 { warp } else { lane + warp },
    ];
    let walks = |start: &(dyn Fn(usize, usize) -> usize + Sync)| {
        let starts: Vec<usize> =
            (0..n).map(|i| start(i / WARP, i % WARP) % TABLE as usize).collect();
        reference(&next, &starts)
    };
    let [strided, broadcast, pairs, random, eight, sixteen, multicast] = starts.map(walks);
    let columns = columns(&next, n);
    let outputs =
        [strided, written(n), broadcast, pairs, random, eight, sixteen, columns, multicast];
    Case {
        outputs: outputs.into_iter().map(|values| Output::exact(Data::U32(values))).collect(),
        inputs: vec![Data::U32(next), Data::U32(banks)],
    }
}

/// The index at which each walk ends.
fn reference(next: &[u32], starts: &[usize]) -> Vec<u32> {
    let end = |start: &usize| (0..STEPS).fold(*start as u32, |at, _| next[at as usize]);
    starts.par_iter().map(end).collect()
}

/// The last value that each thread of `strided_write` writes.
fn written(n: usize) -> Vec<u32> {
    let last = |i| (0..STEPS).fold(i, |value: u32, step| value.wrapping_mul(5).wrapping_add(step));
    (0..n as u32).into_par_iter().map(last).collect()
}

/// The last entry that each walk through the columns of a tile finds.
fn columns(next: &[u32], n: usize) -> Vec<u32> {
    let walk = |i: usize| {
        let row = &next[i % WARP * WARP..][..WARP];
        (0..STEPS).fold((i / WARP) as u32, |entry, _| row[entry as usize % WARP])
    };
    (0..n).into_par_iter().map(walk).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * TABLE as usize, written: 4 * n }
}

/// Every thread reads or writes a word of its width in each step.
fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    let [n, _] = size.get();
    let width = match variant.name {
        "eight_bytes" => 8,
        "sixteen_bytes" => 16,
        _ => 4,
    };
    Some((Resource::Shared, n * STEPS as usize * width))
}

fn strided_read(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, stride] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), stride, n);
    let kernel = device::bank_conflicts_strided_read;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; the stride was checked by the precondition; input 0 is a
    // table of TABLE words that moves on by a multiple of 4; the output holds n elements.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn strided_write(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, stride] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.output(1), stride, n);
    let shared_bytes = THREADS_PER_BLOCK * stride * 4;
    let kernel = device::bank_conflicts_strided_write;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; shared memory holds THREADS_PER_BLOCK * stride words, the output n elements.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, shared_bytes, arguments) }
}

fn random(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, _] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.input(1), arrays.output(4), n);
    let kernel = device::bank_conflicts_random;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: as in `strided_read`; input 1 holds n banks.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

/// Launches a kernel that takes the table, one output and n.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u32, *mut u32, u32)>,
    output: usize,
) -> Result<(), GpuError> {
    let [n, _] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(output), n);
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: as in `strided_read`.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}
