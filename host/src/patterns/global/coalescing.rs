//! Host half of `coalescing`. Device half and teaching doc: `kernels/src/global/coalescing.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::global::coalescing as device;
use kernels::global::coalescing::{LOADS_IN_FLIGHT, THREADS_PER_BLOCK};

pub const PATTERN: Pattern = Pattern {
    name: "coalescing",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/coalescing.rs"),
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
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel(
            "strided",
            "neighbouring lanes access words that are n / 32 words apart",
            |launcher, arrays, size| launch(launcher, arrays, size, device::coalescing_strided, 1),
        )
        .expecting(|_| copy(32.0, "32 lanes in 32 different sectors")),
        Variant::kernel(
            "every_other_lane",
            "neighbouring words, but only every other lane takes part",
            |launcher, arrays, size| {
                half(launcher, arrays, size, device::coalescing_every_other_lane)
            },
        )
        .expecting(|_| copy(4.0, "16 lanes, every other word of 128 B: 4 sectors, half used")),
        Variant::kernel(
            "half_warp",
            "the lower half of the lanes accesses 16 neighbouring words",
            |launcher, arrays, size| half(launcher, arrays, size, device::coalescing_half_warp),
        )
        .expecting(|_| copy(2.0, "16 lanes x 4 B / 32 B = 2 sectors")),
        Variant::kernel(
            "permuted",
            "the lanes of a warp access 32 neighbouring words, in a scrambled order",
            |launcher, arrays, size| launch(launcher, arrays, size, device::coalescing_permuted, 1),
        )
        .expecting(|_| copy(4.0, "32 lanes x 4 B / 32 B = 4 sectors, in any order")),
        Variant::kernel("scalar", "lane i accesses word i", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::coalescing_scalar, 1)
        })
        .expecting(|_| copy(4.0, "32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel(
            "vectorized_8",
            "each lane copies 8 bytes with one load and one store",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::coalescing_vectorized_8, 2)
            },
        )
        .expecting(|_| copy(8.0, "32 lanes x 8 B / 32 B = 8 sectors")),
        Variant::kernel(
            "vectorized_16",
            "each lane copies 16 bytes with one load and one store",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::coalescing_vectorized_16, 4)
            },
        )
        .expecting(|_| copy(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
        Variant::kernel(
            "in_flight",
            "every thread starts four 16-byte loads before its first store",
            |launcher, arrays, size| {
                launch(launcher, arrays, size, device::coalescing_in_flight, 4 * LOADS_IN_FLIGHT)
            },
        )
        .expecting(|_| copy(16.0, "32 lanes x 16 B / 32 B = 16 sectors")),
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

/// Launches a kernel of this file, whose threads copy so many elements each; those of `strided` and `permuted` one, in
/// whole warps.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
    per_thread: u32,
) -> Result<()> {
    let [n] = size.get().map(|n: usize| n as u32);
    let grid = n.div_ceil(THREADS_PER_BLOCK * per_thread);
    // SAFETY: the grid covers the kernel's threads; both arrays hold n elements and start at a multiple of 256 bytes;
    // input and output are different allocations.
    unsafe {
        Ok(launcher.launch(
            kernel,
            grid,
            THREADS_PER_BLOCK,
            0,
            (arrays.input(0), arrays.output(0), n),
        )?)
    }
}

/// Launches a kernel of this file in which half of the lanes copy one element each.
fn half(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
) -> Result<()> {
    let [n] = size.get();
    let grid = (2 * n.next_multiple_of(32)).div_ceil(THREADS_PER_BLOCK as usize) as u32;
    let arguments = (arrays.input(0), arrays.output(0), n as u32);
    // SAFETY: as in `launch`; there are two threads for each element of whole warps.
    unsafe { Ok(launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments)?) }
}
