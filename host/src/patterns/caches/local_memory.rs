use crate::prelude::*;
use kernels::caches::local_memory::{
    self as device, COUNTERS, SPILLED_BLOCK, THREADS_PER_BLOCK, WORDS,
};
use rayon::prelude::*;

/// Different words that a warp counts at a time.
const DISTINCT: &[usize] = &[1, 2, 4, 8, 16, 32];

pub const PATTERN: Pattern = Pattern {
    name: "local_memory",
    group: "caches",
    doc_source: include_str!("../../../../kernels/src/caches/local_memory.rs"),
    dimensions: &[
        Dimension::extent("n", "threads, each with 32 words to count", 1),
        Dimension::amount("distinct", "different words that a warp counts at a time", 1),
    ],
    verify_sizes: &[&[1, 1], &[31, 2], &[32, 32], &[33, 3], &[127, 8], &[129, 5], &[1001, 16]],
    bench_size: &[1 << 20, 8],
    count_size: &[1 << 11, 8],
    sweeps: &[Sweep { dimension: 1, values: DISTINCT, variants: &[0, 1, 2, 3, 4] }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Read, bytes(size).read)),
    variants: &[
        variant!(device::local_memory_indexed, launch, THREADS_PER_BLOCK)
            .only_when(distinct_fits)
            .expecting(|size| Expectation {
                local_load_sectors: Some(local_sectors(size)),
                local_store_sectors: Some(local_sectors(size)),
                ..traffic(
                    "4 sectors of each of min(d, 8) lines per word; all other accesses \
                alike",
                )
            }),
        variant!(device::local_memory_unrolled, launch, THREADS_PER_BLOCK)
            .only_when(distinct_fits)
            .expecting(|_| traffic("32 lanes x 4 B / 32 B = 4 sectors; registers cost nothing")),
        variant!(device::local_memory_spilled, launch, SPILLED_BLOCK)
            .only_when(distinct_fits)
            .expecting(|_| traffic("as in PTX, which has no spills: 4 sectors")),
        variant!(device::local_memory_spilled_shared, launch, SPILLED_BLOCK)
            .only_when(distinct_fits)
            .expecting(|_| traffic("as in PTX, which has no spills: 4 sectors")),
        variant!(device::local_memory_shared, launch, THREADS_PER_BLOCK)
            .only_when(distinct_fits)
            .expecting(|_| Expectation {
                shared_load_wavefronts: Some(1.0),
                shared_store_wavefronts: Some(1.0),
                ..traffic("each lane has a bank of its own: 1 wavefront")
            }),
    ],
};

fn distinct_fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, distinct] = size.get();
    let fits = distinct <= COUNTERS as usize;
    if fits { Ok(()) } else { Err("a warp has 32 lanes: distinct is 1 to 32") }
}

/// Sectors per local load or store. Clearing and reading the counters touches one word of all lanes, a line; counting
/// touches as many lines as the 8 lanes of a sector count different words, in all 4 sectors.
fn local_sectors(size: &Size) -> f64 {
    let [_, distinct] = size.get::<2>();
    let (counting, others) = (f64::from(WORDS), f64::from(COUNTERS));
    (counting * 4.0 * distinct.min(8) as f64 + others * 4.0) / (counting + others)
}

/// Coalesced loads and stores of global memory.
fn traffic(arithmetic: &'static str) -> Expectation {
    Expectation::sectors(4.0, 4.0, arithmetic)
}

/// Input: word `index` of thread `i` at `index * n + i`. Lanes that are equal modulo `distinct` have equal words.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n, distinct] = size.get();
    let starts = random.u32s(WORDS as usize);
    let source: Vec<u32> = starts
        .iter()
        .flat_map(|start| {
            (0..n).map(move |i| start.wrapping_add((i % 32 % distinct) as u32) % COUNTERS)
        })
        .collect();
    let outputs = vec![Output::exact(Data::U32(reference(&source, n)))];
    Case { outputs, inputs: vec![Data::U32(source)] }
}

fn reference(source: &[u32], n: usize) -> Vec<u32> {
    let result = |i: usize| {
        let mut counters = [0_u32; COUNTERS as usize];
        source.iter().skip(i).step_by(n).for_each(|word| counters[*word as usize] += 1);
        counters.iter().fold(0, |hash: u32, one| hash.wrapping_mul(31).wrapping_add(*one))
    };
    (0..n).into_par_iter().map(result).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * WORDS as usize * n, written: 4 * n }
}

/// Launches a kernel of this file in blocks of so many threads.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u32, *mut u32, u32)>,
    threads: u32,
) -> Result<(), GpuError> {
    let [n, _] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), n);
    // SAFETY: the grid covers n threads in blocks of the kernel's size; the input holds WORDS words below COUNTERS for
    // each thread, and the output is another allocation of n words.
    unsafe { launcher.launch(kernel, n.div_ceil(threads), threads, 0, arguments) }
}
