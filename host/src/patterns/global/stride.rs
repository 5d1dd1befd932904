use crate::cases::copy::bytes;
use crate::prelude::*;
use kernels::global::stride::{
    self as device, MAX_STAGED_STRIDE, STAGED_RESULTS, THREADS_PER_BLOCK,
};
use rayon::prelude::*;

const STRIDES: &[usize] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40,
    44, 48, 52, 56, 60, 64,
];

pub const PATTERN: Pattern = Pattern {
    name: "stride",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/stride.rs"),
    dimensions: &[
        Dimension::extent("n", "elements used", 1),
        Dimension::extent("stride", "words from one used element to the next", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[1, 64],
        &[31, 2],
        &[32, 3],
        &[33, 5],
        &[127, 7],
        &[128, 8],
        &[129, 9],
        &[255, 16],
        &[256, 31],
        &[257, 33],
        &[1000, 6],
        &[4096, 4],
        &[20_011, 13],
        &[65_536, 2],
    ],
    bench_size: &[1 << 23, 8],
    count_size: &[1 << 15, 8],
    sweeps: &[Sweep { dimension: 1, values: STRIDES, variants: &[0, 1, 2] }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Copy, bytes(size).total())),
    variants: &[
        variant!(device::stride_copy, launch, 1).writing(&[1]).expecting(|size| {
            Expectation::sectors(
                sectors(size),
                sectors(size),
                "32 lanes span 32 s words: min(4 s, 32) sectors on both sides",
            )
        }),
        variant!(device::stride_gather, launch, 0).expecting(|size| {
            Expectation::sectors(
                sectors(size),
                4.0,
                "loads min(4 s, 32) sectors; stores 32 x 4 B / 32 B = 4",
            )
        }),
        variant!(device::stride_staged => staged)
            .only_when(|size| {
                let [_, stride] = size.get();
                if stride <= MAX_STAGED_STRIDE as usize {
                    Ok(())
                } else {
                    Err("its tile holds strides up to 64")
                }
            })
            .expecting(|size| {
                Expectation::sectors(
                    16.0,
                    4.0,
                    "loads 32 x 16 B / 32 B = 16 sectors, stores 4; shared: 512 B / 128 B = 4 \
                wavefronts in, gcd(s, 32) out",
                )
                .shared(greatest_common_divisor(size) as f64, 4.0)
            }),
    ],
};

fn sectors(size: &Size) -> f64 {
    let [_, stride] = size.get();
    (4 * stride).min(32) as f64
}

/// Returns how many lanes of a warp meet in one bank when they read `stride` words apart.
fn greatest_common_divisor(size: &Size) -> usize {
    let [_, stride] = size.get();
    let (mut a, mut b) = (stride, 32);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Output 0 is packed; output 1 keeps the stride, and the words between stay untouched.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n, stride] = size.get();
    let source = random.f32s(n * stride);
    let untouched = f32::from_ne_bytes([POISON; 4]);
    let mut spread = vec![untouched; n * stride];
    let pairs = spread.par_chunks_mut(stride).zip(source.par_chunks(stride));
    pairs.for_each(|(to, from)| to[0] = from[0]);
    let outputs = vec![
        Output::exact(Data::F32(reference(&source, stride))),
        Output::exact(Data::F32(spread)),
    ];
    Case { inputs: vec![Data::F32(source)], outputs }
}

fn reference(source: &[f32], stride: usize) -> Vec<f32> {
    source.iter().step_by(stride).copied().collect()
}

/// Launches a kernel of this file, a thread per element that is used, into an output.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const f32, *mut f32, u32, u32)>,
    output: usize,
) -> Result<(), GpuError> {
    let [n, stride] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(output), stride, n);
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the grid covers n threads; the input holds n * stride elements, output 0 n, output 1 n * stride, without
    // overlap.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}

fn staged(launcher: &Launcher<'_>, arrays: &Arrays, size: &Size) -> Result<(), GpuError> {
    let [n, stride] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.output(0), stride, n);
    let shared_bytes = STAGED_RESULTS * stride * 4;
    let (kernel, grid) = (device::stride_staged, n.div_ceil(STAGED_RESULTS));
    // SAFETY: the grid covers n results; the stride was checked by the precondition, and the shared
    // memory holds its tile; arrays are 256-byte aligned.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, shared_bytes, arguments) }
}
