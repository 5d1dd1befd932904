use crate::prelude::*;
use kernels::global::rgb_to_gray::{self as device, PIXELS_PER_THREAD, THREADS_PER_BLOCK, WEIGHTS};

const CHANNELS: usize = 3;
/// The inputs: pixels of 3 bytes, planes, pixels of 4 bytes.
const AOS: usize = 0;
const SOA: usize = 1;
const FOUR_BYTES: usize = 2;
/// The outputs: the gray image, the red channel.
const GRAY: usize = 0;
const RED: usize = 1;

pub const PATTERN: Pattern = Pattern {
    name: "rgb_to_gray",
    group: "global",
    doc_source: include_str!("../../../../kernels/src/global/rgb_to_gray.rs"),
    dimensions: &[Dimension::extent("n", "pixels", 1)],
    verify_sizes: lengths![1, 15, 16, 17, 31, 32, 33, 255, 257, 4095, 4096, 4097, 20_003],
    bench_size: &[1 << 26],
    count_size: &[1 << 13],
    sweeps: &[],
    case,
    bytes,
    minimum_time,
    variants: &[
        variant!(device::rgb_to_gray_aos, launch, 1, (AOS, GRAY)).expecting(|_| {
            traffic(3.0, 1.0, "32 lanes x 3 B / 32 B = 3 sectors, three times; a store of 32 B")
        }),
        variant!(device::rgb_to_gray_soa, launch, 1, (SOA, GRAY))
            .expecting(|_| traffic(1.0, 1.0, "32 lanes x 1 B / 32 B = 1 sector, three times")),
        variant!(device::rgb_to_gray_four_bytes, launch, 1, (FOUR_BYTES, GRAY))
            .moving(|size| moved(4, size))
            .expecting(|_| traffic(4.0, 1.0, "32 lanes x 4 B / 32 B = 4 sectors, once")),
        variant!(device::rgb_to_gray_aos_vectorized, launch, PIXELS_PER_THREAD, (AOS, GRAY))
            .expecting(|_| {
                traffic(
                    32.0,
                    16.0,
                    "lanes are 48 B apart: 32 sectors, half of each used; 32 x 16 B",
                )
            }),
        variant!(device::rgb_to_gray_aos_staged, launch, PIXELS_PER_THREAD, (AOS, GRAY)).expecting(
            |_| Expectation {
                shared_load_wavefronts: Some(4.0),
                shared_store_wavefronts: Some(4.0),
                ..traffic(
                    16.0,
                    16.0,
                    "32 lanes x 16 B / 32 B = 16 sectors; \
                    shared: 32 x 16 B / 128 B = 4 wavefronts, \
                    and 12 words between lanes put 8 lanes into all 32 banks",
                )
            },
        ),
        variant!(device::rgb_to_gray_soa_vectorized, launch, PIXELS_PER_THREAD, (SOA, GRAY))
            .expecting(|_| traffic(16.0, 16.0, "32 lanes x 16 B / 32 B = 16 sectors, three times")),
        variant!(device::rgb_to_gray_red_aos, launch, PIXELS_PER_THREAD, (AOS, RED))
            .writing(&[RED])
            .moving(|size| moved(1, size))
            .expecting(|_| traffic(32.0, 16.0, "lanes are 48 B apart: 32 sectors, three times")),
        variant!(device::rgb_to_gray_red_soa, launch, PIXELS_PER_THREAD, (SOA, RED))
            .writing(&[RED])
            .moving(|size| moved(1, size))
            .expecting(|_| traffic(16.0, 16.0, "32 lanes x 16 B / 32 B = 16 sectors, once")),
    ],
};

fn traffic(load_sectors: f64, store_sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(load_sectors, store_sectors, arithmetic)
}

/// The same pixels in three layouts, their gray values and their red channel.
fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let image = random.u8s(CHANNELS * n);
    let mut planes = vec![0; CHANNELS * n.next_multiple_of(16)];
    let mut four_bytes = vec![0; 4 * n];
    for (plane, channel) in planes.chunks_mut(n.next_multiple_of(16)).zip(0..CHANNELS) {
        for (value, pixel) in plane.iter_mut().zip(image.chunks(CHANNELS)) {
            *value = pixel[channel];
        }
    }
    for (target, pixel) in four_bytes.chunks_mut(4).zip(image.chunks(CHANNELS)) {
        target[..CHANNELS].copy_from_slice(pixel);
    }
    let (gray, red) = reference(&image);
    Case::exact(
        vec![Data::U8(gray), Data::U8(red)],
        vec![Data::U8(image), Data::U8(planes), Data::U8(four_bytes)],
    )
}

/// The rounded weighted sums of the channels, and the first channel.
fn reference(image: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let gray = |pixel: &[u8]| {
        let sum: u32 = pixel.iter().zip(WEIGHTS).map(|(byte, by)| u32::from(*byte) * by).sum();
        ((sum + 128) / 256) as u8
    };
    let pixels = image.chunks(CHANNELS);
    (pixels.clone().map(gray).collect(), pixels.map(|pixel| pixel[0]).collect())
}

/// The bytes of a variant that reads pixels of three bytes, all of whose sectors it needs.
fn bytes(size: &Size) -> Bytes {
    moved(CHANNELS, size)
}

/// So many bytes per pixel in, one out.
fn moved(per_pixel: usize, size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: per_pixel * n, written: n }
}

fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    Some((Resource::Copy, PATTERN.bytes_of(variant, size).total()))
}

/// Launches a kernel of this file, whose threads compute so many pixels each, from an input to an output.
fn launch(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Kernel<fn(*const u8, *mut u8, u32)>,
    per_thread: u32,
    (input, output): (usize, usize),
) -> Result<(), GpuError> {
    let [n] = size.get().map(|n: usize| n as u32);
    let arguments = (arrays.input(input), arrays.output(output), n);
    let grid = n.div_ceil(THREADS_PER_BLOCK * per_thread);
    // SAFETY: the grid covers the n pixels; the input has them in the kernel's layout, starts at a multiple of 256 bytes
    // and is another allocation than the output of n bytes.
    unsafe { launcher.launch(kernel, grid, THREADS_PER_BLOCK, 0, arguments) }
}
