//! Kernels that make an array of another, an element of an element.

use crate::prelude::*;

/// A kernel: of what, where to, how many elements.
pub type Copy<T = f32> = Kernel<fn(*const T, *mut T, u32)>;

/// Lengths around those of warps, blocks and grids.
pub const LENGTHS: &[&[usize]] =
    lengths![1, 31, 32, 33, 255, 256, 257, 1000, 1023, 4096, 4099, 100_003, 1 << 16];

/// One random array, and what a reference makes of it.
pub fn case(size: &Size, random: &mut Random, reference: fn(&[f32]) -> Vec<f32>) -> Case {
    let source = random.f32s(size.values()[0]);
    let outputs = vec![Output::exact(Data::F32(reference(&source)))];
    Case { inputs: vec![Data::F32(source)], outputs }
}

/// Each word in, and each word out; the first number of a size is that of words.
pub fn bytes(size: &Size) -> Bytes {
    let n = size.values()[0];
    Bytes { read: 4 * n, written: 4 * n }
}

/// Each word in.
pub fn read(size: &Size) -> Bytes {
    Bytes { written: 0, ..bytes(size) }
}

/// Each word out.
pub fn written(size: &Size) -> Bytes {
    Bytes { read: 0, ..bytes(size) }
}

/// Loads and stores of equally many sectors.
pub fn traffic(sectors: f64, arithmetic: &'static str) -> Expectation {
    Expectation::sectors(sectors, sectors, arithmetic)
}

/// Launches a kernel in blocks of so many threads, which work on so many elements each, on the first arrays.
pub fn launch<T: Element>(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Copy<T>,
    threads: u32,
    per_thread: u32,
) -> Result<(), GpuError> {
    let grid = (size.values()[0] as u32).div_ceil(threads * per_thread);
    launch_grid(launcher, arrays, size, kernel, (0, 0), (grid, threads))
}

/// Launches a kernel in blocks of so many threads, one per element, from one array into another.
pub fn launch_between<T: Element>(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Copy<T>,
    threads: u32,
    input: usize,
    output: usize,
) -> Result<(), GpuError> {
    let grid = (size.values()[0] as u32).div_ceil(threads);
    launch_grid(launcher, arrays, size, kernel, (input, output), (grid, threads))
}

/// Launches so many blocks of so many threads of a kernel, from one array into another.
pub fn launch_grid<T: Element>(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Copy<T>,
    (input, output): (usize, usize),
    (blocks, threads): (u32, u32),
) -> Result<(), GpuError> {
    let n = size.values()[0] as u32;
    // SAFETY:
    // - grid: covers n elements, a thread each or as many as the kernel's threads take
    // - block: the threads that the kernel's contract names
    // - lengths: the input holds at least n elements, the output those that the kernel makes of them
    // - alignment: arrays start at a multiple of 256 bytes
    // - aliasing: input and output are different allocations
    // - index width: a size has at most 2^31 elements
    unsafe {
        launcher.launch(kernel, blocks, threads, 0, (arrays.input(input), arrays.output(output), n))
    }
}
