//! Host half of `async_copy`. Device half and teaching doc: `kernels/src/shared/async_copy.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Sweep, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::shared::async_copy as device;
use kernels::shared::async_copy::{APART, THREADS_PER_BLOCK, TILE};
use rayon::prelude::*;

/// Tiles of a block: many more than are under way at a time, few enough that blocks that come late
/// find work.
const TILES_PER_BLOCK: u32 = 16;

/// From 2 blocks to about one per multiprocessor: each has to hide its own waits.
const SIZES: &[usize] = &[1 << 16, 1 << 18, 1 << 20, 1 << 22];

pub const PATTERN: Pattern = Pattern {
    name: "async_copy",
    group: "shared",
    doc_source: include_str!("../../../../kernels/src/shared/async_copy.rs"),
    dimensions: &[Dimension::extent("n", "elements", 1)],
    verify_sizes: &[
        &[1],
        &[31],
        &[32],
        &[33],
        &[127],
        &[129],
        &[2047],
        &[2048],
        &[2049],
        &[8191],
        &[10_243],
        &[32_768],
        &[100_003],
        &[262_146],
    ],
    bench_size: &[1 << 28],
    count_size: &[1 << 18],
    sweeps: &[Sweep { dimension: 0, values: SIZES, variants: &[0, 1, 2, 3, 4, 5, 6, 7] }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel(
            "registers_4",
            "each lane copies 4 bytes at a time through a register",
            |launcher, arrays, size| launch(launcher, arrays, size, device::async_copy_registers_4),
        )
        .expecting(|_| {
            in_pieces(1.0, "in: 32 x 4 B = 4 sectors, 1 wavefront; out: 32 x 16 B = 16 sectors")
        }),
        Variant::kernel(
            "registers_8",
            "8 bytes at a time into shared memory",
            |launcher, arrays, size| launch(launcher, arrays, size, device::async_copy_registers_8),
        )
        .expecting(|_| in_pieces(2.0, "in: 32 x 8 B = 8 sectors, 256 B / 128 B = 2 wavefronts")),
        Variant::kernel("registers_16", "16 bytes at a time", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::async_copy_registers_16)
        })
        .expecting(|_| in_pieces(4.0, "in: 32 x 16 B = 16 sectors, 512 B / 128 B = 4 wavefronts")),
        Variant::kernel("async_4", "`cp.async` of 4 bytes at a time", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::async_copy_async_4)
        })
        .min_compute_capability(80)
        .expecting(|_| {
            in_pieces(1.0, "the same bytes as through registers: 4 sectors, 1 wavefront")
        }),
        Variant::kernel("async_8", "8 bytes at a time", |launcher, arrays, size| {
            launch(launcher, arrays, size, device::async_copy_async_8)
        })
        .min_compute_capability(80)
        .expecting(|_| in_pieces(2.0, "8 sectors, a wavefront for each of 2 cache lines")),
        Variant::kernel(
            "async_16",
            "16 bytes at a time, bypassing L1",
            |launcher, arrays, size| launch(launcher, arrays, size, device::async_copy_async_16),
        )
        .min_compute_capability(80)
        .expecting(|_| in_pieces(4.0, "16 sectors, a wavefront for each of 4 cache lines")),
        Variant::kernel(
            "pipelined",
            "four tiles of shared memory: three are being copied while the block works on one",
            |launcher, arrays, size| launch(launcher, arrays, size, device::async_copy_pipelined),
        )
        .min_compute_capability(80)
        .expecting(|_| in_pieces(4.0, "16 sectors, a wavefront for each of 4 cache lines")),
        Variant::kernel(
            "bulk",
            "one thread starts the copy of each whole tile",
            |launcher, arrays, size| launch(launcher, arrays, size, device::async_copy_bulk),
        )
        .min_compute_capability(90)
        .expecting(|_| Expectation {
            load_sectors: None,
            shared_store_wavefronts: None,
            ..in_pieces(0.0, "no lane loads, one bulk copy does; out: 32 x 16 B = 16 sectors")
        }),
    ],
};

/// A variant that fills its tiles with `wavefronts` of 128 bytes per request, and empties them with 16
/// bytes per lane.
fn in_pieces(wavefronts: f64, arithmetic: &'static str) -> Expectation {
    Expectation {
        load_sectors: Some(4.0 * wavefronts),
        store_sectors: Some(16.0),
        shared_load_wavefronts: Some(4.0),
        shared_store_wavefronts: Some(wavefronts),
        arithmetic,
        ..Expectation::default()
    }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    Case {
        outputs: vec![Output::exact(Data::F32(reference(&source)))],
        inputs: vec![Data::F32(source)],
    }
}

/// Each element and its partner; one beyond the end counts as 0.
fn reference(source: &[f32]) -> Vec<f32> {
    let partner = |i: usize| source.get(i ^ APART as usize).copied().unwrap_or(0.0);
    source.par_iter().enumerate().map(|(i, own)| own + partner(i)).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Launches a kernel of this file.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32)>,
) -> Result<()> {
    let [n] = size.get().map(|value: usize| value as u32);
    let grid = n.div_ceil(TILE).div_ceil(TILES_PER_BLOCK);
    // SAFETY: both arrays hold n elements, at most 2^31, start at a multiple of 256 bytes and do not overlap; the
    // kernels share the tiles out over any grid.
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
