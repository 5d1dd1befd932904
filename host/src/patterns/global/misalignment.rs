use crate::cases::copy::{bytes, traffic};
use crate::prelude::*;
use kernels::global::misalignment::{self as device, LINE, THREADS_PER_BLOCK, TILE};

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
        variant!(device::misalignment_shifted, launch, THREADS_PER_BLOCK, false)
            .expecting(one_more),
        variant!(device::misalignment_shifted_cg, launch, THREADS_PER_BLOCK, false)
            .expecting(one_more),
        variant!(device::misalignment_shifted_nc, launch, THREADS_PER_BLOCK, false)
            .expecting(one_more),
        variant!(device::misalignment_padded => padded)
            .writing(&[1])
            .expecting(|_| traffic(4.0, "aligned: 32 lanes x 4 B / 32 B = 4 sectors")),
        variant!(device::misalignment_peeled, launch, THREADS_PER_BLOCK, true).expecting(|_| {
            traffic(
                4.0,
                "aligned: 32 lanes x 4 B / 32 B = 4 sectors; the first warp has fewer lanes",
            )
        }),
        variant!(device::misalignment_staged, launch, TILE, true).expecting(|_| Expectation {
            load_sectors: Some(16.0),
            shared_load_wavefronts: Some(1.0),
            shared_store_wavefronts: Some(4.0),
            ..traffic(
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
    traffic(
        sectors,
        "128 B that begin at word `offset`: 4 sectors if 8 divides the offset, \
                else 5",
    )
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
    Case::exact(
        vec![Data::F32(target.clone()), Data::F32(shift(&target, untouched()))],
        vec![Data::F32(source.clone()), Data::F32(shift(&source, 0.0))],
    )
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

/// Launches a kernel whose blocks copy so many words each, of the array as it is, or, from the start of a line on, also
/// those in front of it.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32, u32)>,
    per_block: u32,
    from_line: bool,
) -> Result<(), GpuError> {
    let [n, offset] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), offset, n);
    let front = if from_line { offset % LINE } else { 0 };
    let grid = (front + n).div_ceil(per_block);
    // SAFETY: the grid covers n words, and those in front; both arrays hold offset + n elements, 256-byte aligned,
    // without overlap.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn padded(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, offset] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(1), arrays.output(1), padding(offset as usize) as u32, offset, n);
    let (kernel, grid) = (device::misalignment_padded, n.div_ceil(THREADS_PER_BLOCK));
    // SAFETY: the grid covers n threads; arrays 1 hold `padding` + offset + n elements and do not overlap.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}
