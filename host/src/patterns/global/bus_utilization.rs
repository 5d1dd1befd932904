use crate::cases::copy::{self, LENGTHS, bytes};
use crate::prelude::*;
use cuda_std::warp::WARP_SIZE;
use kernels::global::bus_utilization::{self as device, REACH, THREADS_PER_BLOCK};

/// Lanes per warp, and words per line.
const WARP: usize = WARP_SIZE as usize;

pub const PATTERN: Pattern = Pattern {
    name: "bus_utilization",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/bus_utilization.rs"),
    // So many that L1 does not hold them.
    dimensions: &[Dimension::extent("n", "elements loaded", 1).predicted_at(1 << 20)],
    verify_sizes: LENGTHS,
    bench_size: &[1 << 26],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::bus_utilization_random_ca, launch, 4).writing(&[4]).expecting(RANDOM),
        variant!(device::bus_utilization_random_cg, launch, 4).writing(&[4]).expecting(RANDOM),
        variant!(device::bus_utilization_misaligned_ca, launch, 2).writing(&[2]).expecting(OFFSET),
        variant!(device::bus_utilization_misaligned_cg, launch, 2).writing(&[2]).expecting(OFFSET),
        variant!(device::bus_utilization_one_address_ca, launch, 3).writing(&[3]).expecting(WORD),
        variant!(device::bus_utilization_one_address_cg, launch, 3).writing(&[3]).expecting(WORD),
        variant!(device::bus_utilization_permuted_ca, launch, 1).writing(&[1]).expecting(PERMUTED),
        variant!(device::bus_utilization_permuted_cg, launch, 1).writing(&[1]).expecting(PERMUTED),
        variant!(device::bus_utilization_aligned_ca, launch, 0).writing(&[0]).expecting(ALIGNED),
        variant!(device::bus_utilization_aligned_cg, launch, 0).writing(&[0]).expecting(ALIGNED),
    ],
};

const RANDOM: fn(&Size) -> Expectation =
    |_| loads(32.0, "32 lanes in 32 different sectors and cache lines");
const OFFSET: fn(&Size) -> Expectation =
    |_| loads(5.0, "128 B that begin 4 B after the start of a sector: 5 sectors in 2 cache lines");
const WORD: fn(&Size) -> Expectation = |_| loads(1.0, "one word: 1 sector");
const PERMUTED: fn(&Size) -> Expectation =
    |_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, in any order");
const ALIGNED: fn(&Size) -> Expectation = |_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors");

/// Launches a kernel into the output of its shape.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: copy::Copy,
    output: usize,
) -> Result<(), GpuError> {
    copy::launch_between(launcher, arrays, size, kernel, THREADS_PER_BLOCK, 0, output)
}

/// Loads of so many sectors, whether L1 keeps them or not, and coalesced stores.
fn loads(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(sectors, 4.0, arithmetic)
}

/// One output per shape: aligned, permuted, misaligned, one address, random.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n + REACH as usize);
    let shapes: [&dyn Fn(usize) -> usize; 5] = [
        &|i| i,
        &|i| (i - i % WARP + (i % WARP * 5 + 3) % WARP).min(n - 1),
        &|i| i + 1,
        &|i| i - i % WARP,
        &|i| (i % WARP * n.div_ceil(WARP) + scrambled(i) % n.div_ceil(WARP)) % n,
    ];
    let outputs = shapes.map(|shape| Output::exact(Data::F32(reference(&source, n, shape))));
    Case { outputs: outputs.into(), inputs: vec![Data::F32(source)] }
}

/// A hash of 32 bits: two rounds of multiplying and folding.
fn scrambled(i: usize) -> usize {
    let first = i as u64 * 0x9E37_79B9 % (1 << 32);
    let second = (first ^ (first >> 16)) * 0x85EB_CA6B % (1 << 32);
    (second ^ (second >> 13)) as usize
}

fn reference(source: &[f32], n: usize, word: &dyn Fn(usize) -> usize) -> Vec<f32> {
    (0..n).map(|i| source[word(i)]).collect()
}
