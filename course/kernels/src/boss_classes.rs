//! # Boss: four classes
//!
//! Here is what was counted: 4{given sectors per load} sectors per load, and many requests of local memory. Each thread looks at the
//! numbers of a column and counts how many have the remainder 0, 1, 2 or 3. Name the disease, then cure it.
//! No count is above 255.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per column.
/// - `source` holds `rows * columns` numbers, `rows` is below 256, `target` holds `columns`.
#[kernel]
pub unsafe fn boss_classes(source: *const u32, target: *mut u32, rows: u32, columns: u32) {
    let column = thread::index_1d();
    if column >= columns {
        return;
    }
    // learn: your code
    let mut counts = 0_u32;
    // learn: instead
    //| // TODO
    //| let mut counts = [0_u32; 4];
    // learn: end
    for row in 0..rows {
        // SAFETY: the row and the column are inside the matrix.
        let class = unsafe { *source.add((row * columns + column) as usize) } % 4;
        // learn: your code
        counts += 1 << (8 * class);
        // learn: instead
        //| counts[class as usize] += 1;
        // learn: end
    }
    // learn: your code
    let packed = counts;
    // learn: instead
    //| let packed = counts[0] | counts[1] << 8 | counts[2] << 16 | counts[3] << 24;
    // learn: end
    // SAFETY: the column is below the length of the result.
    unsafe { *target.add(column as usize) = packed };
}
