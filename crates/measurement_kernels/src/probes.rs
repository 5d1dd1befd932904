//! Kernels that each keep one part of a multiprocessor busy, in the ways of programs that the catalogue's kernels do not know.
//!
//! All have the parameters of `Probe`. What they compute is nobody's: without the store at their end, the compiler would
//! remove the rest.
//!
//! `coalesce calibrate` launches each of them, with cold and with warm caches, and writes its times as a table:
//!
//! ```sh
//! coalesce calibrate --device gpu --probes probes.csv
//! ```

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::GpuFloat;
use cuda_std::atomic::{AtomicF32, AtomicF64, AtomicU32, AtomicU64};
use cuda_std::prelude::*;
use cuda_std::vector::{U32x2, U32x4};

/// Words of the array that probes read, and of the one that they write.
pub const PROBE_WORDS: u32 = 1 << 24;
/// The step of [`probe_compiled_step`]: as many threads as its launch has.
pub const COMPILED_STEP: u32 = 1 << 18;
/// Words of the table in constant memory.
pub const TABLE_WORDS: u32 = 8192;
/// Loads of [`probe_table`] by each warp.
pub const TABLE_LOADS: u32 = 1024;

/// A table that warps read word by word.
#[address_space(constant)]
pub static mut PROBE_TABLE: [u32; TABLE_WORDS as usize] = [0; TABLE_WORDS as usize];

/// Stores a value if it is one that no thread comes to.
///
/// # Safety
/// - `target` is valid for one u32.
#[inline(always)]
unsafe fn keep(target: *mut u32, value: u32) {
    if value == 0x9e37_79b9 {
        // SAFETY: the caller's contract.
        unsafe { *target = value };
    }
}

/// Spreads numbers without order.
#[inline(always)]
fn spread(number: u32) -> u32 {
    let number = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    (number ^ number >> 15).wrapping_mul(0x846c_a68b)
}

/// Declares kernels with one launch contract.
macro_rules! probes {
    ($($(#[$documentation:meta])* $name:ident($source:ident, $target:ident, $n:ident) $body:block)*) => { $(
        $(#[$documentation])*
        ///
        /// # Safety
        /// - 1-D grid.
        /// - `source` and `target` 16-byte aligned, valid for `PROBE_WORDS` u32, not overlapping.
        #[kernel]
        pub unsafe fn $name($source: *const u32, $target: *mut u32, $n: u32) {
            // SAFETY: indexes stay below the arrays' lengths by their masks or by `n`, which is at most `PROBE_WORDS`;
            // what several threads write is atomic, or written by none.
            unsafe { $body }
        }
    )* };
}

/// Reads the first `n` words, `step` apart.
#[inline(always)]
unsafe fn sum_in_steps(source: *const u32, target: *mut u32, n: u32, step: u32) {
    let (mut sum, mut i) = (0, thread::index_1d());
    while i < n {
        // SAFETY: `i` is below `n`, as the caller promises.
        sum ^= unsafe { *source.add(i as usize) };
        i += step;
    }
    // SAFETY: as the caller promises.
    unsafe { keep(target, sum) };
}

/// Rounds of a chain of which each needs the one before: three instructions that no select stands for.
#[inline(always)]
fn rounds<const SHIFT: u32>(mut x: u32, factors: [u32; 4]) -> u32 {
    for factor in factors {
        x = (x ^ x >> SHIFT).wrapping_mul(factor);
    }
    x
}

/// Goes `n` times one of three ways.
#[inline(always)]
unsafe fn branch(target: *mut u32, mut x: u32, n: u32) {
    for _ in 0..n {
        x = if x & 1 == 0 {
            rounds::<15>(x, [0x7feb_352d, 0x846c_a68b, 0x9e37_79b1, 0x85eb_ca6b])
        } else if x & 2 == 0 {
            rounds::<13>(x, [0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1, 0xcc9e_2d51]) + 1
        } else {
            rounds::<11>(x, [0x1b87_3593, 0xe654_6b64, 0x2545_f491, 0xd6e8_feb8]) ^ 5
        };
    }
    // SAFETY: as the caller promises.
    unsafe { keep(target, x) };
}

/// Runs eight steps of four independent chains, `n` times.
#[inline(always)]
unsafe fn chains<T: Copy>(
    target: *mut u32,
    n: u32,
    of: fn(u32) -> T,
    step: fn(T) -> T,
    to: fn(T) -> u32,
) {
    let first = 4 * thread::index_1d();
    let mut values = [of(first), of(first + 1), of(first + 2), of(first + 3)];
    for _ in 0..n {
        for _ in 0..8 {
            values = [step(values[0]), step(values[1]), step(values[2]), step(values[3])];
        }
    }
    // SAFETY: as the caller promises.
    unsafe { keep(target, to(values[0]) ^ to(values[1]) ^ to(values[2]) ^ to(values[3])) };
}

/// Runs eight steps of one chain, `n` times.
#[inline(always)]
unsafe fn chain<T: Copy>(
    target: *mut u32,
    n: u32,
    of: fn(u32) -> T,
    step: fn(T) -> T,
    to: fn(T) -> u32,
) {
    let mut value = of(thread::index_1d() + 1);
    for _ in 0..n {
        for _ in 0..8 {
            value = step(value);
        }
    }
    // SAFETY: as the caller promises.
    unsafe { keep(target, to(value)) };
}

/// Adds one to one of `n` numbers of a block in shared memory, a power of two, eight times: lanes side by side take numbers side
/// by side.
macro_rules! shared_sums {
    ($target:ident, $n:ident, $atomic:ident, $number:ty, $one:expr) => {{
        #[address_space(shared)]
        static mut NUMBERS: MaybeUninit<[$number; 1024]> = MaybeUninit::uninit();
        let numbers = (&raw mut NUMBERS).cast::<$number>();
        let own = thread::thread_idx_x();
        *numbers.add(own as usize) = $one;
        thread::sync_threads();
        for _ in 0..8 {
            $atomic::from_ptr(numbers.add((own & ($n - 1)) as usize)).fetch_add($one, Relaxed);
        }
        thread::sync_threads();
        keep($target, *numbers.add(own as usize) as u32);
    }};
}

/// Loads four vectors of a small table at an address that all lanes share, `n` times.
macro_rules! uniform {
    ($source:ident, $target:ident, $n:ident, $vector:ty, $sum:expr) => {{
        let (mut sum, mut at) = (0u32, thread::block_idx_x());
        for _ in 0..$n {
            let vectors = $source.cast::<$vector>().add((at & 255) as usize);
            let four = [*vectors, *vectors.add(256), *vectors.add(512), *vectors.add(768)];
            sum ^= four.into_iter().map($sum).fold(0, |all, one| all ^ one);
            at += 1;
        }
        keep($target, sum);
    }};
}

probes! {
    /// Copies the first `n` words, one per thread.
    probe_word_each(source, target, n) {
        let i = thread::index_1d();
        if i < n {
            *target.add(i as usize) = *source.add(i as usize);
        }
    }
    /// Reads `n` words in a loop whose step the launch decides.
    probe_launched_step(source, target, n) {
        sum_in_steps(source, target, n, thread::grid_dim_x() * thread::block_dim_x());
    }
    /// Reads `n` words in a loop whose step the compiler knows: the grid has `COMPILED_STEP` threads.
    probe_compiled_step(source, target, n) {
        sum_in_steps(source, target, n, COMPILED_STEP);
    }
    /// Goes `n` times one of three ways, the lanes of a warp the same.
    probe_branches(source, target, n) {
        branch(target, *source.add((thread::index_1d() >> 5) as usize), n);
    }
    /// Goes `n` times one of three ways, each lane its own.
    probe_diverging(source, target, n) {
        branch(target, *source.add(thread::index_1d() as usize), n);
    }
    /// Loads words that the lanes of a warp share, from L1.
    probe_uniform_words(source, target, n) {
        uniform!(source, target, n, u32, |one| one);
    }
    /// Loads 8 bytes that the lanes of a warp share, from L1.
    probe_uniform_pairs(source, target, n) {
        uniform!(source, target, n, U32x2, |one: U32x2| one.x ^ one.y);
    }
    /// Loads 16 bytes that the lanes of a warp share, from L1.
    probe_uniform_quads(source, target, n) {
        uniform!(source, target, n, U32x4, |one: U32x4| one.x ^ one.y ^ one.z ^ one.w);
    }
    /// Loads words of 32 KiB without order, from L1.
    probe_gather(source, target, n) {
        let (mut sum, mut at) = (0, spread(thread::index_1d()));
        for _ in 0..n {
            sum ^= *source.add((at >> 16 & 8191) as usize);
            at = at.wrapping_mul(0x915f_77f5).wrapping_add(1);
        }
        keep(target, sum);
    }
    /// Shifts, flips and adds numbers of 32 bits.
    probe_integers(_source, target, n) {
        chains(target, n, |x| x, |x: u32| (x ^ x >> 7).wrapping_add(0x9e37_79b9), |x| x);
    }
    /// Multiplies and adds numbers of 32 bits.
    probe_products(_source, target, n) {
        chains(target, n, |x| x, |x: u32| x.wrapping_mul(x).wrapping_add(0x9e37_79b9), |x| x);
    }
    /// Shifts, flips and adds numbers of 64 bits.
    probe_long_integers(_source, target, n) {
        chains(target, n, u64::from, |x: u64| (x ^ x >> 7).wrapping_add(0x9e37_79b9_7f4a_7c15), |x| (x >> 32) as u32 ^ x as u32);
    }
    /// Multiplies and adds numbers of 64 bits.
    probe_long_products(_source, target, n) {
        chains(target, n, u64::from, |x: u64| x.wrapping_mul(x).wrapping_add(0x9e37_79b9_7f4a_7c15), |x| (x >> 32) as u32 ^ x as u32);
    }
    /// Multiplies and adds floats of 64 bits.
    probe_doubles(_source, target, n) {
        chains(target, n, f64::from, |x: f64| GpuFloat::mul_add(x, 0.5, 1.0), |x| x as u32);
    }
    /// Multiplies and adds floats of 32 bits, each result needed by the next.
    probe_float_chain(_source, target, n) {
        chain(target, n, |x| x as f32, |x: f32| GpuFloat::mul_add(x, 0.5, 1.0), |x| x as u32);
    }
    /// Multiplies and adds floats of 64 bits, each result needed by the next.
    probe_double_chain(_source, target, n) {
        chain(target, n, f64::from, |x: f64| GpuFloat::mul_add(x, 0.5, 1.0), |x| x as u32);
    }
    /// Divides floats of 32 bits, each result needed by the next.
    probe_quotients(_source, target, n) {
        chain(target, n, |x| x as f32, |x: f32| 3.0 / x + 1.0, |x| x as u32);
    }
    /// Divides floats of 64 bits, each result needed by the next.
    probe_double_quotients(_source, target, n) {
        chain(target, n, f64::from, |x: f64| 3.0 / x + 1.0, |x| x as u32);
    }
    /// Divides numbers of 32 bits, each result needed by the next.
    probe_integer_quotients(_source, target, n) {
        chain(target, n, |x| x, |x: u32| 0x9e37_79b9 / (x | 1) + 3, |x| x);
    }
    /// Divides numbers of 64 bits, each result needed by the next.
    probe_long_quotients(_source, target, n) {
        chain(target, n, u64::from, |x: u64| 0x9e37_79b9_7f4a_7c15 / (x | 1) + 3, |x| (x >> 32) as u32 ^ x as u32);
    }
    /// Takes square roots of floats of 32 bits, each result needed by the next.
    probe_roots(_source, target, n) {
        chain(target, n, |x| x as f32, |x: f32| GpuFloat::sqrt(x) + 1.0, |x| x as u32);
    }
    /// Takes square roots of floats of 64 bits, each result needed by the next.
    probe_double_roots(_source, target, n) {
        chain(target, n, f64::from, |x: f64| GpuFloat::sqrt(x) + 1.0, |x| x as u32);
    }
    /// Adds up numbers of 32 bits in shared memory.
    probe_shared_counts(_source, target, n) {
        shared_sums!(target, n, AtomicU32, u32, 1);
    }
    /// Adds up floats of 32 bits in shared memory.
    probe_shared_sums(_source, target, n) {
        shared_sums!(target, n, AtomicF32, f32, 1.0);
    }
    /// Adds up floats of 64 bits in shared memory.
    probe_shared_double_sums(_source, target, n) {
        shared_sums!(target, n, AtomicF64, f64, 1.0);
    }
    /// Adds one to a counter of its lane, every warp to one of `n` lines of counters, a power of two.
    probe_count_lanes(_source, target, n) {
        let i = thread::index_1d();
        AtomicU32::from_ptr(target.add((i & (32 * n - 1)) as usize)).fetch_add(1, Relaxed);
    }
    /// Reads `TABLE_LOADS` / 32 words of constant memory, of a table of `n`, a power of two, every lane its own.
    probe_scattered_table(_source, target, n) {
        let (mut sum, mut at) = (0, spread(thread::index_1d()));
        let table = (&raw const PROBE_TABLE).cast::<u32>();
        for _ in 0..TABLE_LOADS / 32 {
            sum ^= *table.add((at >> 8 & (n - 1)) as usize);
            at = at.wrapping_mul(0x915f_77f5).wrapping_add(1);
        }
        keep(target, sum);
    }
    /// Adds one to one counter, every lane.
    probe_count(_source, target, n) {
        for _ in 0..n {
            AtomicU32::from_ptr(target).fetch_add(1, Relaxed);
        }
    }
    /// Adds one to one counter, every lane, and uses what was there.
    probe_tickets(_source, target, n) {
        let mut sum = 0;
        for _ in 0..n {
            sum ^= AtomicU32::from_ptr(target).fetch_add(1, Relaxed);
        }
        keep(target.add(64), sum);
    }
    /// Adds different numbers to one of `n` counters, a power of two, four times.
    probe_add(_source, target, n) {
        let mut at = spread(thread::index_1d());
        for _ in 0..4 {
            AtomicU32::from_ptr(target.add((at >> 4 & (n - 1)) as usize)).fetch_add(at | 1, Relaxed);
            at = at.wrapping_mul(0x915f_77f5).wrapping_add(1);
        }
    }
    /// As [`probe_add`], of 64 bits.
    probe_add_long(_source, target, n) {
        let mut at = spread(thread::index_1d());
        for _ in 0..4 {
            let word = target.cast::<u64>().add((at >> 4 & (n - 1)) as usize);
            AtomicU64::from_ptr(word).fetch_add(u64::from(at | 1), Relaxed);
            at = at.wrapping_mul(0x915f_77f5).wrapping_add(1);
        }
    }
    /// As [`probe_add`], by compare-and-swap, each tried once.
    probe_swap(_source, target, n) {
        let mut at = spread(thread::index_1d());
        for _ in 0..4 {
            let word = AtomicU32::from_ptr(target.add((at >> 4 & (n - 1)) as usize));
            // Whether it was zero is of no interest.
            let _ = word.compare_exchange(0, at | 1, Relaxed, Relaxed);
            at = at.wrapping_mul(0x915f_77f5).wrapping_add(1);
        }
    }
    /// Stores `n` words per thread, each in a line of its own.
    probe_lone_stores(_source, target, n) {
        let mut line = thread::index_1d();
        for _ in 0..n {
            *target.add(((32 * line) & (PROBE_WORDS - 1)) as usize) = line;
            line += thread::grid_dim_x() * thread::block_dim_x();
        }
    }
    /// Reads `TABLE_LOADS` words of constant memory, of a table of `n`, a power of two; the lanes of a warp share each.
    probe_table(_source, target, n) {
        let (mut sum, mut at) = (0, thread::index_1d() >> 5);
        let table = (&raw const PROBE_TABLE).cast::<u32>();
        for _ in 0..TABLE_LOADS {
            sum ^= *table.add((at & (n - 1)) as usize);
            at = at.wrapping_add(1);
        }
        keep(target, sum);
    }
    /// Sums up in shared memory between barriers, `n` times.
    probe_barriers(_source, target, n) {
        #[address_space(shared)]
        static mut WORDS: MaybeUninit<[u32; 1024]> = MaybeUninit::uninit();
        let words = (&raw mut WORDS).cast::<u32>();
        let own = thread::thread_idx_x();
        let mut sum = own;
        for _ in 0..n {
            *words.add(own as usize) = sum;
            thread::sync_threads();
            sum ^= *words.add((own ^ 33) as usize);
            thread::sync_threads();
        }
        keep(target, sum);
    }
}
