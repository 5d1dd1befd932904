//! # Boss: every number with every other
//!
//! Here is what was counted: 32{given sectors per store} sectors per store, and few sectors per load. The kernel multiplies each number of
//! one list with each number of another. Name the disease, then cure it.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per product.
/// - `a` holds `rows` numbers, `b` holds `columns`, `target` holds `rows * columns`.
#[kernel]
pub unsafe fn boss_outer(a: *const f32, b: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let i = thread::index_1d();
    if i >= rows * columns {
        return;
    }
    // learn: your code
    let (row, column) = (i / columns, i % columns);
    // learn: instead
    //| // TODO
    //| let (row, column) = (i % rows, i / rows);
    // learn: end
    // SAFETY: the row and the column are below the lengths of the lists.
    unsafe {
        *target.add((row * columns + column) as usize) =
            *a.add(row as usize) * *b.add(column as usize);
    }
}
