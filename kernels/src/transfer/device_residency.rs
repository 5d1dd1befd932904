use cuda_std::prelude::*;

/// Threads per block of the steps with a thread per value.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Threads per block of the step with a thread per chain: one warp, so that few chains still use several multiprocessors.
pub const CHAINS_PER_BLOCK: u32 = 32;
/// Loads that a thread starts before it goes on with its chain.
pub const LOADS_IN_FLIGHT: u32 = 16;

/// The first and the last step: each value by itself.
#[must_use]
pub const fn mix(value: u32) -> u32 {
    (value ^ value >> 15).wrapping_mul(0x2C1B_3C6D)
}

/// The step between: each value of a chain needs the one before.
#[must_use]
pub const fn link(before: u32, value: u32) -> u32 {
    before.wrapping_mul(1_664_525).wrapping_add(value)
}

/// Mixes each of `n` values.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` and `target` valid for `n` u32, the same array or not overlapping.
#[kernel]
pub unsafe fn device_residency_mix(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n.
        unsafe { *target.add(i as usize) = mix(*source.add(i as usize)) };
    }
}

/// One thread per chain; the values of neighbouring chains are neighbours.
///
/// # Safety
/// - 1-D grid of `CHAINS_PER_BLOCK` threads covering `chains` threads.
/// - `source` and `target` valid for `chains * length` u32, which fit 32 bits, not overlapping.
#[kernel]
pub unsafe fn device_residency_chain(
    source: *const u32,
    target: *mut u32,
    chains: u32,
    length: u32,
) {
    let chain = thread::index_1d();
    if chain >= chains {
        return;
    }
    let (mut before, mut place) = (0, 0);
    // SAFETY: place < length and chain < chains.
    unsafe {
        while place + LOADS_IN_FLIGHT <= length {
            let first = (place * chains + chain) as usize;
            let mut values = [0; LOADS_IN_FLIGHT as usize];
            for (value, index) in values.iter_mut().zip(0..) {
                *value = *source.add(first + index * chains as usize);
            }
            for (value, index) in values.iter().zip(0..) {
                before = link(before, *value);
                *target.add(first + index * chains as usize) = before;
            }
            place += LOADS_IN_FLIGHT;
        }
        while place < length {
            let at = (place * chains + chain) as usize;
            before = link(before, *source.add(at));
            *target.add(at) = before;
            place += 1;
        }
    }
}
