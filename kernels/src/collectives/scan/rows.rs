//! Tiles whose elements are in registers: rows of 16-byte vectors of a warp.

use super::warps::{of_lane, warp_scans};
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_up};

/// Threads per block of the variants with 16-byte loads.
pub const VECTORIZED_THREADS: u32 = 256;
/// 16-byte loads per thread: rows of 128 elements per warp.
pub const ROWS: u32 = 8;
/// Elements of a tile of the variants with 16-byte loads.
pub const VECTORIZED_TILE: u32 = VECTORIZED_THREADS * ROWS * 4;
/// Elements of a row.
pub const ROW: u32 = WARP_SIZE * 4;

/// The elements of a thread in a tile of the vectorized variants: four neighbours from each row of its
/// warp.
pub type TileRows = [[f32; 4]; ROWS as usize];

/// The index of this thread's first element in such a tile; its elements in the next row are `ROW` further.
#[inline(always)]
pub fn first_element() -> u32 {
    let tid = thread::thread_idx_x();
    tid / WARP_SIZE * (ROWS * ROW) + tid % WARP_SIZE * 4
}

/// Loads this thread's elements of such a tile, and zeros beyond the last element.
///
/// # Safety
/// - `source` 16-byte aligned and valid for `n` f32.
#[inline(always)]
pub unsafe fn load_rows(source: *const f32, tile: u32, n: u32) -> TileRows {
    let mut rows = [[0.0; 4]; ROWS as usize];
    let first = tile * VECTORIZED_TILE + first_element();
    // SAFETY: a whole tile ends at or before n, and 4 divides `first`; elsewhere each element is checked.
    unsafe {
        if n - tile * VECTORIZED_TILE >= VECTORIZED_TILE {
            for (row, index) in rows.iter_mut().zip(0..) {
                let four = source.add((first + index * ROW) as usize).cast::<F32x4>();
                *row = (*four).to_array();
            }
        } else {
            // Not `i < n` as in `store_rows`: the compiler would keep 32 answers in registers until then.
            let left = n.saturating_sub(first);
            for (row, index) in rows.iter_mut().zip(0..) {
                for (element, next) in row.iter_mut().zip(0..) {
                    let further = index * ROW + next;
                    if further < left {
                        *element = *source.add((first + further) as usize);
                    }
                }
            }
        }
    }
    rows
}

/// Stores this thread's elements of such a tile, the first at `own`, each plus `before`.
///
/// # Safety
/// - `target` 16-byte aligned and valid for `n` f32.
#[inline(always)]
pub unsafe fn store_rows(
    target: *mut f32,
    tile: u32,
    n: u32,
    own: u32,
    rows: TileRows,
    before: f32,
) {
    let first = tile * VECTORIZED_TILE + own;
    // SAFETY: as in `load_rows`.
    unsafe {
        if n - tile * VECTORIZED_TILE >= VECTORIZED_TILE {
            for (row, index) in rows.iter().zip(0..) {
                let four = target.add((first + index * ROW) as usize).cast::<F32x4>();
                *four = F32x4::from_array(row.map(|sum| before + sum));
            }
        } else {
            for (row, index) in rows.iter().zip(0..) {
                for (sum, next) in row.iter().zip(0..) {
                    let i = first + index * ROW + next;
                    if i < n {
                        *target.add(i as usize) = before + *sum;
                    }
                }
            }
        }
    }
}

/// Scans the elements of a warp in registers, and returns their sum.
///
/// # Safety
/// - All lanes of the warp call.
#[inline(always)]
pub unsafe fn scan_rows(rows: &mut TileRows) -> f32 {
    // Several short loops: the compiler unrolls each of them, and only so are the rows in registers.
    let mut sums = [0.0; ROWS as usize];
    for (row, sum) in rows.iter_mut().zip(&mut sums) {
        row[1] += row[0];
        row[2] += row[1];
        row[3] += row[2];
        *sum = row[3];
    }
    // SAFETY: all lanes call.
    let (before, sum) = unsafe { scan_sums_of_rows(sums) };
    for (row, before) in rows.iter_mut().zip(&before) {
        for element in row {
            *element += before;
        }
    }
    sum
}

/// Takes the sum of this lane's elements in each row. Returns, for each row, the sum of all elements of
/// the warp before this lane's, and the sum of the whole warp.
///
/// # Safety
/// - All lanes of the warp call.
#[inline(always)]
pub unsafe fn scan_sums_of_rows(sums: [f32; ROWS as usize]) -> ([f32; ROWS as usize], f32) {
    // SAFETY: all lanes call.
    let sums = unsafe { warp_scans(sums) };
    let (mut before, mut before_row) = ([0.0; ROWS as usize], 0.0);
    for (before, sum) in before.iter_mut().zip(&sums) {
        // SAFETY: all lanes call.
        let (lower, is_inside) = unsafe { warp_shuffle_up(FULL_MASK, *sum, 1, WARP_SIZE) };
        *before = if is_inside { before_row + lower } else { before_row };
        // SAFETY: all lanes call.
        before_row += unsafe { of_lane(*sum, WARP_SIZE - 1) };
    }
    (before, before_row)
}
