//! Kernels of `overlap`. Host half and teaching doc: `host/src/patterns/overlap.rs`.

use cuda_std::prelude::*;

/// Threads per block.
pub const BLOCK: u32 = 256;
/// Words of the table, as a power of two: 4 MiB, too many for L1 and few enough for L2.
pub const TABLE_SHIFT: u32 = 20;

/// Walks from each word through a table: each step adds the entry that the word's upper bits choose.
///
/// The steps of a word follow from each other, so their number sets the kernel's duration.
///
/// # Safety
/// Launch contract: 1-D grid of `BLOCK` threads covering `n` threads; `source` and `target` valid for `n` u32,
/// `table` for
/// `1 << TABLE_SHIFT` u32; `target` overlaps neither.
#[kernel]
pub unsafe fn overlap_walk(
    source: *const u32,
    table: *const u32,
    target: *mut u32,
    n: u32,
    steps: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and the array holds n elements (launch contract).
        let mut word = unsafe { *source.add(i as usize) };
        for _ in 0..steps {
            let entry = word >> (32 - TABLE_SHIFT);
            // SAFETY: TABLE_SHIFT bits stay below the table's length.
            word = word.wrapping_add(unsafe { *table.add(entry as usize) });
        }
        // SAFETY: as for the source.
        unsafe { *target.add(i as usize) = word };
    }
}
