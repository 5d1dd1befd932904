//! Products of matrices: C of m x n is that of A, m x k, and B, k x n.

use crate::prelude::*;
use rayon::prelude::*;

/// The product by its definition, a row of C at a time.
pub fn product<T: Copy + Sync, S: Copy + Send + Sync>(
    a: &[T],
    b: &[T],
    (n, k): (usize, usize),
    zero: S,
    multiply_add: impl Fn(T, T, S) -> S + Sync,
) -> Vec<S> {
    let rows = a.par_chunks(k).flat_map_iter(|row| {
        let mut sums = vec![zero; n];
        for (left, line) in row.iter().zip(b.chunks(n)) {
            for (sum, right) in sums.iter_mut().zip(line) {
                *sum = multiply_add(*left, *right, *sum);
            }
        }
        sums
    });
    rows.collect()
}

/// The product of matrices of f32, its sums in double precision.
pub fn of_f32(a: &[f32], b: &[f32], (n, k): (usize, usize)) -> Vec<f32> {
    let sums = product(a, b, (n, k), 0.0, |a, b, sum| sum + f64::from(a) * f64::from(b));
    sums.into_iter().map(|sum: f64| sum as f32).collect()
}

/// Returns whether the rows of tiles of C fit a grid; the first number of a size is that of rows.
pub fn fits(size: &Size, tile_rows: u32) -> std::result::Result<(), &'static str> {
    fits_grid_y(size.values()[0].div_ceil(tile_rows as usize))
}

/// The blocks that cover C with tiles of so many rows and columns.
pub fn grid(size: &Size, (rows, columns): (u32, u32)) -> (u32, u32) {
    let [m, n] = [0, 1].map(|number| size.values()[number] as u32);
    (n.div_ceil(columns), m.div_ceil(rows))
}

/// A kernel: of what, where to, and rows, columns and inner dimension of the product.
pub type Product<T> = Kernel<fn(*const T, *const T, *mut f32, u32, u32, u32)>;

/// Launches a kernel on the first arrays.
pub fn launch<T: Element>(
    launcher: &Launcher<'_>,
    arrays: &Arrays,
    size: &Size,
    kernel: Product<T>,
    grid: (u32, u32),
    block: (u32, u32),
    shared_bytes: u32,
) -> Result<(), GpuError> {
    let [m, n, k] = size.get().map(|value: usize| value as u32);
    let arguments = (arrays.input(0), arrays.input(1), arrays.output(0), m, n, k);
    // SAFETY:
    // - grid: covers C with the kernel's tiles
    // - block: the threads that the kernel's contract names, and the shared memory
    // - lengths: the arrays hold A, B and C
    // - alignment: arrays start at a multiple of 256 bytes
    // - aliasing: three different allocations
    // - index width: no array has more than 2^31 elements
    unsafe { launcher.launch(kernel, grid, block, shared_bytes, arguments) }
}
