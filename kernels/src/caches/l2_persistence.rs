use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU32;
use cuda_std::memory::{load_cs, store_cs};
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Elements per thread: 16 bytes of each array.
pub const ELEMENTS: u32 = 4;

/// Adds a table to a stream, again and again from its beginning: `target[i] = source[i] + table[i % table_len]`.
///
/// # Safety
/// - grid: 1-D, covering `ceil(n / ELEMENTS)` threads
/// - block: `THREADS_PER_BLOCK` threads
/// - lengths: `source` and `target` valid for `n` f32, `table` for `table_len`
/// - alignment: all 16 bytes
/// - aliasing: `target` overlaps neither
/// - index width: `n` and `table_len` from 1 to 2^31
#[kernel]
pub unsafe fn l2_persistence_add(
    source: *const f32,
    table: *const f32,
    target: *mut f32,
    n: u32,
    table_len: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { add::<false>(source, table, target, n, table_len) };
}

/// The same, but loads from `source` and stores to `target` are marked to be evicted from L2 first.
///
/// # Safety
/// - As for [`l2_persistence_add`].
#[kernel]
pub unsafe fn l2_persistence_add_evict_first(
    source: *const f32,
    table: *const f32,
    target: *mut f32,
    n: u32,
    table_len: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { add::<true>(source, table, target, n, table_len) };
}

/// The double of a word's lower half, in its upper half: doing it again changes nothing.
#[must_use]
pub const fn doubled(word: u32) -> u32 {
    let half = word & 0xffff;
    half | half << 17
}

/// Doubles a stream in place, and beside it a table, again and again from its beginning: `streaming[i]` and
/// `persistent[i % table_len]`. Several threads have the same word of the table. They access it atomically and all store
/// the same, so that there is no race, and the traffic is that of plain accesses without L1.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`.
/// - `streaming` valid for `n` u32 and `persistent` for `table_len`, not overlapping.
/// - `n` and `table_len` from 1 to 2^31.
#[kernel]
pub unsafe fn l2_persistence_double(
    streaming: *mut u32,
    persistent: *mut u32,
    n: u32,
    table_len: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and a remainder is below its divisor (launch contract); threads that share a word access it
        // atomically, and each has its own of the stream.
        unsafe {
            let shared = AtomicU32::from_ptr(persistent.add((i % table_len) as usize));
            shared.store(doubled(shared.load(Relaxed)), Relaxed);
            let own = streaming.add(i as usize);
            *own = doubled(*own);
        }
    }
}

/// Computes a thread's elements: one vector of each array, or element by element where the last vector is not whole or
/// the table starts over within a vector.
///
/// # Safety
/// - As for [`l2_persistence_add`].
#[inline(always)]
unsafe fn add<const EVICT_FIRST: bool>(
    source: *const f32,
    table: *const f32,
    target: *mut f32,
    n: u32,
    table_len: u32,
) {
    let thread = thread::index_1d();
    let first = thread * ELEMENTS;
    if first >= n {
        return;
    }
    let left = n - first;
    if left >= ELEMENTS && table_len.is_multiple_of(ELEMENTS) {
        let vector = thread % (table_len / ELEMENTS);
        // SAFETY: ELEMENTS elements from `first` are below n; `vector` is below the table's vectors; ELEMENTS divides
        // the first index of each, so that the vectors are aligned.
        unsafe {
            let source = source.add(first as usize).cast::<F32x4>();
            let target = target.add(first as usize).cast::<F32x4>();
            let addend = *table.cast::<F32x4>().add(vector as usize);
            if EVICT_FIRST {
                store_cs(target, load_cs(source) + addend);
            } else {
                *target = *source + addend;
            }
        }
    } else {
        for i in first..first + left.min(ELEMENTS) {
            // SAFETY: i < n, and a remainder is below its divisor, the table's length.
            unsafe {
                let addend = *table.add((i % table_len) as usize);
                let (source, target) = (source.add(i as usize), target.add(i as usize));
                if EVICT_FIRST {
                    store_cs(target, load_cs(source) + addend);
                } else {
                    *target = *source + addend;
                }
            }
        }
    }
}
