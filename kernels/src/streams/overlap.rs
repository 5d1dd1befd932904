use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Rounds of a step. A round is a multiplication and an addition.
pub const ROUNDS: u32 = 16;
/// The number that a round subtracts from the square. Values stay between -2 and 2 and do not converge, because it is
/// between 0 and 2.
pub const LESS: f32 = 1.9;

/// Replaces each word x by x^2 - `LESS`, `ROUNDS` times per step.
///
/// Each round of a word needs the result of the round before, and no round accesses memory. So the number of rounds
/// decides the kernel's duration, and copies do not change it.
///
/// # Safety
/// - grid: 1-D, covering `n` threads
/// - block: `THREADS_PER_BLOCK` threads
/// - lengths: `source` and `target` valid for `n` f32
/// - aliasing: they do not overlap
#[kernel]
pub unsafe fn overlap_iterate(source: *const f32, target: *mut f32, n: u32, steps: u32) {
    let i = thread::index_1d() as usize;
    if i < n as usize {
        // SAFETY: i < n, and the array holds n elements (launch contract).
        let mut word = unsafe { *source.add(i) };
        for _ in 0..steps {
            for _ in 0..ROUNDS {
                word = word * word - LESS;
            }
        }
        // SAFETY: i < n, the length of the target, and the word is this thread's.
        unsafe { *target.add(i) = word };
    }
}
