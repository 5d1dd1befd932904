//! Host half of `misalignment`. Device half and teaching doc: `kernels/src/global/misalignment.rs`.

use anyhow::Result;
use coalesce::arrays::Arrays;
use coalesce::data::{Data, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Expectation, Output, Pattern, Resource, Size, Sweep, Variant,
};
use cuda_host::Launcher;
use cuda_std::kernel::Kernel;
use kernels::global::misalignment as device;
use kernels::global::misalignment::{LINE, THREADS_PER_BLOCK, TILE};

/// Offsets 0 to 32 words.
const OFFSETS: &[usize] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 32,
];

pub const PATTERN: Pattern = Pattern {
    name: "misalignment",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/misalignment.rs"),
    dimensions: &[
        Dimension::extent("n", "elements copied", 1),
        Dimension::extent("offset", "words between a line and the first element", 0),
    ],
    verify_sizes: &[
        &[1, 0],
        &[1, 31],
        &[31, 1],
        &[32, 3],
        &[33, 8],
        &[255, 5],
        &[256, 32],
        &[257, 33],
        &[1023, 7],
        &[4096, 1],
        &[100_003, 17],
        &[1 << 20, 3],
        &[1 << 20, 8],
    ],
    bench_size: &[1 << 26, 3],
    count_size: &[1 << 20, 3],
    sweeps: &[Sweep { dimension: 1, values: OFFSETS, variants: &[0, 1, 2, 3, 4, 5] }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        Variant::kernel("shifted", "lane i accesses word i + offset", |launcher, arrays, size| {
            shifted(launcher, arrays, size, device::misalignment_shifted)
        })
        .expecting(one_more),
        Variant::kernel("shifted_cg", "the load is by `.cg`, past L1", |launcher, arrays, size| {
            shifted(launcher, arrays, size, device::misalignment_shifted_cg)
        })
        .expecting(one_more),
        Variant::kernel(
            "shifted_nc",
            "the load is by `.nc`, the read-only path",
            |launcher, arrays, size| {
                shifted(launcher, arrays, size, device::misalignment_shifted_nc)
            },
        )
        .expecting(one_more),
        Variant::kernel(
            "padded",
            "unused words in front: element `offset` starts a cache line",
            padded,
        )
        .writing(&[1])
        .expecting(|_| copy(4.0, "aligned: 32 lanes x 4 B / 32 B = 4 sectors")),
        Variant::kernel(
            "peeled",
            "no padding: warps start at cache lines, and the first few threads have nothing to do",
            peeled,
        )
        .expecting(|_| {
            copy(4.0, "aligned: 32 lanes x 4 B / 32 B = 4 sectors; the first warp has fewer lanes")
        }),
        Variant::kernel(
            "staged",
            "aligned 16-byte loads into shared memory, aligned stores from there",
            staged,
        )
        .expecting(|_| Expectation {
            load_sectors: Some(16.0),
            shared_load_wavefronts: Some(1.0),
            shared_store_wavefronts: Some(4.0),
            ..copy(
                4.0,
                "loads 32 x 16 B / 32 B = 16 sectors, stores 4; shared: 512 B / 128 B = 4 \
                wavefronts in, 1 out",
            )
        }),
    ],
};

/// The traffic of a shifted copy, by whichever path: all move sectors.
fn one_more(size: &Size) -> Expectation {
    let [_, offset] = size.get();
    let sectors = if offset % 8 == 0 { 4.0 } else { 5.0 };
    copy(sectors, "128 B that begin at word `offset`: 4 sectors if 8 divides the offset, else 5")
}

/// The words in front of the array that make element `offset` start a line.
fn padding(offset: usize) -> usize {
    (LINE as usize - offset % LINE as usize) % LINE as usize
}

/// Input 0 and output 0 are plain; input 1 and output 1 hold the same data behind the padding.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n, offset] = size.get();
    let source = random.f32s(offset + n);
    let target = reference(&source, offset);
    let shift =
        |values: &[f32], front: f32| [vec![front; padding(offset)], values.to_vec()].concat();
    Case {
        inputs: vec![Data::F32(source.clone()), Data::F32(shift(&source, 0.0))],
        outputs: vec![
            Output::exact(Data::F32(target.clone())),
            Output::exact(Data::F32(shift(&target, untouched()))),
        ],
    }
}

/// A float of poison bytes: what an element that no variant writes must still hold.
fn untouched() -> f32 {
    f32::from_ne_bytes([POISON; 4])
}

fn reference(source: &[f32], offset: usize) -> Vec<f32> {
    source
        .iter()
        .enumerate()
        .map(|(i, value)| if i < offset { untouched() } else { *value })
        .collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _] = size.get();
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

/// Launches a kernel that copies the array as it is.
fn shifted(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32, u32)>,
) -> Result<()> {
    let [n, offset] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), offset, n);
    // SAFETY: the grid covers n threads; both arrays hold offset + n elements and do not overlap.
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

fn padded(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n, offset] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(1), arrays.output(1), padding(offset as usize) as u32, offset, n);
    // SAFETY: as in `shifted`; arrays 1 have `padding` more elements in front.
    unsafe {
        Ok(launcher.launch(
            device::misalignment_padded,
            n.div_ceil(THREADS_PER_BLOCK),
            THREADS_PER_BLOCK,
            0,
            arguments,
        )?)
    }
}

fn peeled(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n, offset] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), offset, n);
    let grid = (offset % LINE + n).div_ceil(THREADS_PER_BLOCK);
    // SAFETY: as in `shifted`; the grid covers offset % LINE more threads.
    unsafe {
        Ok(launcher.launch(device::misalignment_peeled, grid, THREADS_PER_BLOCK, 0, arguments)?)
    }
}

fn staged(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<()> {
    let [n, offset] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), offset, n);
    let grid = (offset % LINE + n).div_ceil(TILE);
    // SAFETY: as in `shifted`; the grid covers offset % LINE + n words, arrays are 256-byte aligned.
    unsafe {
        Ok(launcher.launch(device::misalignment_staged, grid, THREADS_PER_BLOCK, 0, arguments)?)
    }
}
