//! z = a x + y: inputs, reference, launches, expected traffic.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Resource, Output, Pattern, Size, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use saxpy_kernels::saxpy::{Parameters, THREADS_PER_BLOCK, saxpy_coalesced, saxpy_strided};

const A: f32 = 2.5;

pub const PATTERN: Pattern = Pattern {
    name: "saxpy",
    group: "linear_algebra",
    doc_source: include_str!("../../kernels/src/saxpy.rs"),
    dimensions: &[Dimension::extent("n", "elements of each vector", 1)],
    verify_sizes: &[&[1], &[31], &[1000], &[1 << 16]],
    bench_size: &[1 << 24],
    count_size: &[1 << 16],
    sweeps: &[],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel(
            "strided",
            "the lanes of a warp are n / 32 elements apart",
            |launcher, arrays, size| launch(launcher, arrays, size, saxpy_strided),
        )
        .expecting(|_| traffic(32.0, "32 lanes in 32 different sectors")),
        Variant::kernel("coalesced", "lane i touches element i", |launcher, arrays, size| {
            launch(launcher, arrays, size, saxpy_coalesced)
        })
        .expecting(|_| traffic(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let (x, y) = (random.f32s(n), random.f32s(n));
    let z = x.iter().zip(&y).map(|(x, y)| A * x + y).collect();
    Case { inputs: vec![Data::F32(x), Data::F32(y)], outputs: vec![Output::exact(Data::F32(z))] }
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 8 * n, written: 4 * n }
}

fn traffic(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(sectors),
        store_sectors: Some(sectors),
        arithmetic,
        ..Expectation::default()
    }
}

fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *const f32, *mut f32, Parameters)>,
) -> Result<()> {
    let [n] = size.get().map(|n: usize| n as u32);
    let arguments = (arrays.input(0), arrays.input(1), arrays.output(0), Parameters { a: A, n });
    // SAFETY: the grid covers the kernel's threads, the arrays have n elements and are different allocations.
    unsafe {
        launcher.launch(kernel, n.div_ceil(THREADS_PER_BLOCK), THREADS_PER_BLOCK, 0, arguments)
    }
}
