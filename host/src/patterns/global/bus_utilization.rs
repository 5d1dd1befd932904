//! Host half of `bus_utilization`. Device half and teaching doc: `kernels/src/global/bus_utilization.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use cuda_std::warp::WARP_SIZE;
use kernels::global::bus_utilization as device;
use kernels::global::bus_utilization::{REACH, THREADS_PER_BLOCK};

/// Lanes per warp, and words per line.
const WARP: usize = WARP_SIZE as usize;

pub const PATTERN: Pattern = Pattern {
    name: "bus_utilization",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/bus_utilization.rs"),
    // So many that L1 does not hold them.
    dimensions: &[Dimension::extent("n", "elements loaded", 1).predicted_at(1 << 20)],
    verify_sizes: &[
        &[1],
        &[31],
        &[32],
        &[33],
        &[255],
        &[256],
        &[257],
        &[1000],
        &[4099],
        &[100_003],
        &[1 << 16],
    ],
    bench_size: &[1 << 26],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel(
            "random_ca",
            "lane i loads a random word of the i-th 32nd of the array",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::bus_utilization_random_ca, 4)
            },
        )
        .writing(&[4])
        .expecting(|_| loads(32.0, "32 lanes in 32 different sectors and cache lines")),
        Variant::kernel("random_cg", "the same without L1", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::bus_utilization_random_cg, 4)
        })
        .writing(&[4])
        .expecting(|_| loads(32.0, "32 lanes in 32 different sectors and cache lines")),
        Variant::kernel(
            "misaligned_ca",
            "a warp loads 32 neighbouring words, starting one word after a cache line",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::bus_utilization_misaligned_ca, 2)
            },
        )
        .writing(&[2])
        .expecting(|_| {
            loads(
                5.0,
                "128 B that begin 4 B after the start of a sector: 5 sectors in 2 cache \
                lines",
            )
        }),
        Variant::kernel(
            "misaligned_cg",
            "without L1: the sector shared with the next warp comes from L2 twice",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::bus_utilization_misaligned_cg, 2)
            },
        )
        .writing(&[2])
        .expecting(|_| {
            loads(
                5.0,
                "128 B that begin 4 B after the start of a sector: 5 sectors in 2 cache \
                lines",
            )
        }),
        Variant::kernel(
            "one_address_ca",
            "all lanes load the first word of a cache line",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::bus_utilization_one_address_ca, 3)
            },
        )
        .writing(&[3])
        .expecting(|_| loads(1.0, "one word: 1 sector")),
        Variant::kernel("one_address_cg", "the same without L1", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::bus_utilization_one_address_cg, 3)
        })
        .writing(&[3])
        .expecting(|_| loads(1.0, "one word: 1 sector")),
        Variant::kernel(
            "permuted_ca",
            "a warp loads the 32 words of a cache line, in a scrambled order",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::bus_utilization_permuted_ca, 1)
            },
        )
        .writing(&[1])
        .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, in any order")),
        Variant::kernel("permuted_cg", "the same without L1", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::bus_utilization_permuted_cg, 1)
        })
        .writing(&[1])
        .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors, in any order")),
        Variant::kernel(
            "aligned_ca",
            "lane i loads word i of the cache line",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::bus_utilization_aligned_ca, 0)
            },
        )
        .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel("aligned_cg", "the same without L1", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::bus_utilization_aligned_cg, 0)
        })
        .expecting(|_| loads(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
    ],
};

/// Loads of so many sectors, whether L1 keeps them or not, and coalesced stores.
fn loads(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(sectors),
        store_sectors: Some(4.0),
        arithmetic,
        ..Expectation::default()
    }
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

/// The traffic of the aligned shape.
fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Launches a kernel of this file into the output of its shape.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
    output: usize,
) -> Result<()> {
    let [n] = size.get().map(|n: usize| n as u32);
    let arguments = (arrays.input(0), arrays.output(output), n);
    // SAFETY: the grid covers n threads; the input holds n + REACH elements, the output n, and they are different
    // allocations.
    unsafe {
        Ok(launcher.launch(
            kernel,
            n.div_ceil(THREADS_PER_BLOCK),
            THREADS_PER_BLOCK,
            0,
            arguments,
        )?)
    }
}
