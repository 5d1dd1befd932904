//! Host half of `coalescing`. Device half and teaching doc: `kernels/src/global/coalescing.rs`.

use crate::data::{Data, Random};
use crate::gpu::{Arrays, Launcher};
use crate::pattern::{
    Bytes, Case, Dimension, Expectation, Limit, Output, Pattern, Size, Variant, Work,
};
use anyhow::Result;
use kernels::global::coalescing as device;
use kernels::global::coalescing::{BLOCK, LOADS_IN_FLIGHT};

pub const PATTERN: Pattern = Pattern {
    name: "coalescing",
    group: "global",
    shows: "neighbouring lanes should touch neighbouring words",
    doc_source: include_str!("../../../../kernels/src/global/coalescing.rs"),
    sources: &[
        "CUDA C++ Best Practices Guide, \"Coalesced Access to Global Memory\"",
        "Nsight Compute, Kernel Profiling Guide, \"L1/TEX Cache\"",
    ],
    dimensions: &[Dimension::extent("n", "elements copied", 1)],
    verify_sizes: &[
        &[1],
        &[31],
        &[32],
        &[33],
        &[255],
        &[256],
        &[257],
        &[1023],
        &[4096],
        &[4099],
        &[100_003],
        &[1 << 20],
    ],
    bench_size: &[1 << 28],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    floor: |_, size| Some((Limit::Copy, bytes(size).total())),
    variants: &[
        Variant {
            name: "strided",
            change: "the lanes of a warp lie n / 32 words apart",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(strided),
            expect: |_| copy(32.0, "32 lanes in 32 different sectors"),
        },
        Variant {
            name: "permuted",
            change: "a warp covers 32 neighbouring words in a scrambled order",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(permuted),
            expect: |_| copy(4.0, "32 lanes x 4 B / 32 B = 4 sectors, in any order"),
        },
        Variant {
            name: "scalar",
            change: "lane i touches word i",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(scalar),
            expect: |_| copy(4.0, "32 lanes x 4 B / 32 B = 4 sectors"),
        },
        Variant {
            name: "pair",
            change: "8 bytes per lane",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(pair),
            expect: |_| copy(8.0, "32 lanes x 8 B / 32 B = 8 sectors"),
        },
        Variant {
            name: "quad",
            change: "16 bytes per lane",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(quad),
            expect: |_| copy(16.0, "32 lanes x 16 B / 32 B = 16 sectors"),
        },
        Variant {
            name: "in_flight",
            change: "four 16-byte loads in flight per thread, in a grid-stride loop",
            since: 70,
            precondition: Variant::ANY_SIZE,
            outputs: Variant::FIRST_OUTPUT,
            work: Work::kernel(in_flight),
            expect: |_| copy(16.0, "32 lanes x 16 B / 32 B = 16 sectors"),
        },
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    Case {
        outputs: vec![Output::exact(Data::F32(reference(&source)))],
        inputs: vec![Data::F32(source)],
    }
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.to_vec()
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// A copy whose loads and stores touch the same sectors.
fn copy(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(sectors),
        store_sectors: Some(sectors),
        arithmetic,
        ..Expectation::default()
    }
}

/// Launches a kernel of this file's signature with `threads` threads in all.
macro_rules! launch {
    ($launcher:ident, $arrays:ident, $size:ident, $kernel:ident, |$n:ident| $threads:expr) => {{
        let [$n] = $size.get().map(|n: usize| n as u32);
        let grid = u32::div_ceil($threads, BLOCK);
        // SAFETY: the grid covers the kernel's threads; both arrays hold n elements and start at a
        // multiple of 256 bytes; input and output are different allocations.
        unsafe {
            $launcher.launch(
                device::$kernel,
                grid,
                BLOCK,
                0,
                ($arrays.input(0), $arrays.output(0), $n),
            )
        }
    }};
}

fn strided(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(launcher, arrays, size, coalescing_strided, |n| n.div_ceil(32) * 32)
}

fn permuted(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(launcher, arrays, size, coalescing_permuted, |n| n.div_ceil(32) * 32)
}

fn scalar(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(launcher, arrays, size, coalescing_scalar, |n| n)
}

fn pair(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(launcher, arrays, size, coalescing_pair, |n| n.div_ceil(2))
}

fn quad(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(launcher, arrays, size, coalescing_quad, |n| n.div_ceil(4))
}

fn in_flight(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    launch!(launcher, arrays, size, coalescing_in_flight, |n| n.div_ceil(4 * LOADS_IN_FLIGHT))
}
