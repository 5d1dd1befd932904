//! # Spilled: an array that registers cannot hold
//!
//! Each thread walks down a column of a matrix and writes, in every row, the sum of the last 4 numbers
//! that it has seen. It keeps them in an array and overwrites the oldest. Registers have no index, so an
//! array whose index is not known to the compiler lives in local memory, which is device memory: a load
//! and a store more per row.
//!
//! Keep the 4 numbers where every index is known.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per column.
/// - Both arrays hold `rows * columns` numbers.
#[kernel]
pub unsafe fn spilled(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let column = thread::index_1d();
    if column >= columns {
        return;
    }
    let mut last = [0.0_f32; 4];
    for row in 0..rows {
        let at = (row * columns + column) as usize;
        // SAFETY: the row and the column are inside the matrix.
        let new = unsafe { *source.add(at) };
        // learn: your code
        last = [last[1], last[2], last[3], new];
        let sum = last[0] + last[1] + last[2] + last[3];
        // learn: instead
        //| // TODO: does the compiler know which element this is?
        //| last[row as usize % 4] = new;
        //| let oldest = row as usize + 1;
        //| let mut sum = 0.0;
        //| for age in 0..4 {
        //|     sum += last[(oldest + age) % 4];
        //| }
        // learn: end
        // SAFETY: as above.
        unsafe { *target.add(at) = sum };
    }
}
