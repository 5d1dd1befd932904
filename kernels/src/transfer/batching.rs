use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;

/// Copies `count` rows of `width` words between arrays whose rows begin a pitch apart.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `width * count` threads, which fit 32 bits, as do both arrays.
/// - `source` valid for `(count - 1) * source_pitch + width` u32, `target` with its pitch likewise, not overlapping.
#[kernel]
pub unsafe fn batching_rows(
    source: *const u32,
    source_pitch: u32,
    target: *mut u32,
    target_pitch: u32,
    width: u32,
    count: u32,
) {
    let i = thread::index_1d();
    if i < width * count {
        let (row, col) = (i / width, i % width);
        let (from, to) = (row * source_pitch + col, row * target_pitch + col);
        // SAFETY: row < count and col < width, so both arrays hold the element (launch contract).
        unsafe { *target.add(to as usize) = *source.add(from as usize) };
    }
}
