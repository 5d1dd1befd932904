use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;
/// The factor by which each turn of the loop multiplies.
pub const FACTOR: u32 = 1_664_525;

/// Work whose duration grows with `turns` and which does not fill the device: `target[i]` is `source[i]` after `turns` times
/// `value = FACTOR * value + addend`, wrapping. Works with different addends give their result in one order only.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`.
/// - `source` and `target` valid for `n` u32, and either one array or not overlapping.
#[kernel]
pub unsafe fn stream_semantics_work(
    source: *const u32,
    target: *mut u32,
    n: u32,
    turns: u32,
    addend: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and the source holds n elements (launch contract).
        let mut value = unsafe { *source.add(i as usize) };
        for _ in 0..turns {
            value = value.wrapping_mul(FACTOR).wrapping_add(addend);
        }
        // SAFETY: i < n, and the target holds n elements (launch contract).
        unsafe { *target.add(i as usize) = value };
    }
}
