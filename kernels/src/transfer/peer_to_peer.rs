use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::SystemAtomicU32;
use cuda_std::memory;
use cuda_std::prelude::*;
use cuda_std::vector::{self, U32x4};

pub const THREADS_PER_BLOCK: u32 = 256;
/// Words from one link of the chain to the next place where one may be: 4 KiB.
pub const LINK_DISTANCE: u32 = 1024;
/// Counters that the atomics update: one cache line.
pub const COUNTERS: u32 = 32;

/// Copies a word per thread, from or to the memory of another device.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`.
/// - `source` and `target` valid for `n` u32, not overlapping, in memory that this device may access, and `target`
///   used by nobody else.
#[kernel]
pub unsafe fn peer_to_peer_copy_words(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `ceil(n / 4)`.
/// - `source` and `target` as for [`peer_to_peer_copy_words`], and 16-byte aligned.
#[kernel]
pub unsafe fn peer_to_peer_copy_vectorized(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d() * 4;
    // SAFETY: every index is below n; 4 divides i, so 16-byte accesses are aligned (launch contract).
    unsafe {
        if i + 3 < n {
            let values: U32x4 = vector::load(source.add(i as usize));
            vector::store(target.add(i as usize), values);
        } else {
            for at in i..n {
                *target.add(at as usize) = *source.add(at as usize);
            }
        }
    }
}

/// Adds one array to another, four words per thread.
///
/// # Safety
/// - As for [`peer_to_peer_copy_vectorized`].
#[kernel]
pub unsafe fn peer_to_peer_add(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d() * 4;
    // SAFETY: every index is below n; 4 divides i, so 16-byte accesses are aligned (launch contract).
    unsafe {
        if i + 3 < n {
            let more: U32x4 = vector::load(source.add(i as usize));
            let sum: U32x4 = vector::load(target.add(i as usize).cast_const());
            vector::store(target.add(i as usize), add(sum, more));
        } else {
            for at in i..n {
                let target = target.add(at as usize);
                *target = (*target).wrapping_add(*source.add(at as usize));
            }
        }
    }
}

/// The sum of two vectors; sums of words wrap around.
#[inline(always)]
fn add(one: U32x4, other: U32x4) -> U32x4 {
    let ([a, b, c, d], [e, f, g, h]) = (one.to_array(), other.to_array());
    U32x4::new(a.wrapping_add(e), b.wrapping_add(f), c.wrapping_add(g), d.wrapping_add(h))
}

/// One device's part of an all-reduce: it loads words `first` to `end` of every device's source, adds them, and stores
/// the sums to every device's target.
///
/// `arrays` has the addresses of `devices` sources, and behind them those of as many targets. Each device's list begins
/// with another device, so that they do not all ask the same one at the same time. The compiler does not know that an
/// address which comes from memory is one of global memory; the functions of `memory` say so.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `ceil((end - first) / 4)`.
/// - `arrays` valid for `2 * devices` addresses of arrays that this device may access, each 16-byte aligned and valid
///   for `end` u32.
/// - 4 divides `first`.
/// - Nobody else writes the sources, and nobody else uses words `first` to `end` of the targets.
#[kernel]
pub unsafe fn peer_to_peer_all_reduce(arrays: *const u64, devices: u32, first: u32, end: u32) {
    let i = first + thread::index_1d() * 4;
    // SAFETY: there are twice as many addresses as devices (launch contract).
    let array = |at: u32| unsafe { *arrays.add(at as usize) };
    // SAFETY: every index is below `end`; 4 divides i, so 16-byte accesses are aligned (launch contract).
    unsafe {
        if i + 3 < end {
            let mut sum = U32x4::splat(0);
            for device in 0..devices {
                let source = array(device) as *const u32;
                sum = add(sum, memory::load_cs(source.add(i as usize).cast::<U32x4>()));
            }
            for device in devices..2 * devices {
                let target = array(device) as *mut u32;
                memory::store_wb(target.add(i as usize).cast::<U32x4>(), sum);
            }
        } else {
            for at in i..end {
                let mut sum = 0_u32;
                for device in 0..devices {
                    let source = array(device) as *const u32;
                    sum = sum.wrapping_add(memory::load_cs(source.add(at as usize)));
                }
                for device in devices..2 * devices {
                    let target = array(device) as *mut u32;
                    memory::store_wb(target.add(at as usize), sum);
                }
            }
        }
    }
}

/// Follows a chain: each link holds the number of the next one, `LINK_DISTANCE` words times as far from the start. The
/// result is the last number and the sum of all.
///
/// # Safety
/// - One thread.
/// - `links` valid for `LINK_DISTANCE` u32 times the largest number in it plus one, `result` for 2 u32.
#[kernel]
pub unsafe fn peer_to_peer_chase(links: *const u32, result: *mut u32, hops: u32) {
    let (mut at, mut sum) = (0_u32, 0_u32);
    for _ in 0..hops {
        // SAFETY: every link holds the number of a link (launch contract).
        at = unsafe { *links.add(at as usize * LINK_DISTANCE as usize) };
        sum = sum.wrapping_add(at);
    }
    // SAFETY: the result holds two words (launch contract).
    unsafe {
        *result = at;
        *result.add(1) = sum;
    }
}

/// Each thread adds one to a counter that all devices may update at the same time.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `additions`.
/// - `counters` valid for `COUNTERS` u32, which this device may access, with native atomics, and which are accessed
///   by atomics of the system's scope only.
#[kernel]
pub unsafe fn peer_to_peer_atomics(counters: *mut u32, additions: u32) {
    let i = thread::index_1d();
    if i < additions {
        // SAFETY: the counter is below `COUNTERS`, and all accesses are atomic (launch contract).
        unsafe {
            let counter = counters.add((i % COUNTERS) as usize);
            SystemAtomicU32::from_ptr(counter).fetch_add(1, Relaxed);
        }
    }
}
