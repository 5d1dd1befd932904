//! # Cache operators: a stream should not push out the table that is used again
//!
//! Shows: an operator changes neither the bytes nor the [sectors][sector] of a [request], only what
//! the caches retain; it gains little, and most where a stream would evict data that is used again.
//!
//! The surprise is in the machine code. NVIDIA documents `.ca` as what a plain load does, and it is
//! another instruction: a plain load is `LDG`, `.ca` is `LDG.STRONG.SM`, and `.cg` is `LDG.STRONG.GPU`, a
//! load that the whole device must agree on. Whoever writes `.ca` "to be sure" asks for more than a
//! plain load, even if it takes the same time here: `stream_ca` (144.0 us), `plain` (144.0 us).
//!
//! A kernel looks up keys in a table: `results[i] = table[keys[i] % words]`. The keys and the results
//! are streams, each byte is used once. The table is used again and again, at random words. All of it goes
//! through the same caches, and a cache that is full evicts something for each new
//! [cache line]:
//!
//! ```text
//! 128 keys of a warp    1 load of 16 bytes per lane            16 sectors   used once
//! 128 words             4 loads at random words, up to 32 sectors each      used again by other warps
//! 128 results           1 store of 16 bytes per lane           16 sectors   used once
//! table of 128 KiB: fits in L1 (256 KiB), if the streams leave it there
//! table of  32 MiB: fits in L2 (60 MiB), if the streams leave it there
//! ```
//!
//! A random word that is in L1 costs a lookup there. One that is not costs a sector of 32 B from L2, of
//! which 4 B are used: 128 words x 32 B = 4 KiB for 1 KiB of streams. So the hit rate of the table
//! decides.
//!
//! 1. `plain` names no operator.
//! 2. `stream_ca` loads the keys by `.ca`, cache at all levels.
//! 3. `stream_cg` loads the keys by `.cg`: cache in the [L2 cache], and not in the [L1 cache]. The idea:
//!    the keys do not push the table out of L1.
//! 4. `stream_cs` loads them by `.cs`, cache streaming: both caches evict these lines first. The machine
//!    code has `LDG.EF`, evict first.
//! 5. `stream_nc` loads them by `.nc`, the read-only path, which is `__ldg` in CUDA C++. The machine code
//!    has `LDG.CONSTANT`. It promises the compiler that nobody writes the data during the kernel. It is
//!    no other cache: since compute capability 7.0 the path is through L1.
//! 6. `stream_no_allocate` loads them by `.L1::no_allocate`, `LDG.NA`: L1 makes no room for them.
//! 7. `stream_evict_first` says the same to L2 by a policy, which is a 64-bit number that travels with
//!    the load. It matters for a table of the size of L2.
//! 8. `stream_prefetch_l2` asks L2 for the keys that a thread of a later [block] loads, `CCTL.PF2`.
//!    It costs a request. Prefetches help where too few [bytes in flight] are the limit. That is so
//!    here, which no counter of sectors shows: it is the fastest variant with this table.
//! 9. `table_cg` is the wrong way round: it keeps the table, which is used again, out of L1.
//! 10. `table_nc` is a read-only gather: `.nc` for the table.
//! 11. `table_evict_last` gives the table the policy to be evicted last from L2.
//! 12. `store_wb`, `store_cg`, `store_cs` and `store_wt` store the results by `.wb` (write back, what a
//!     plain store is said to be), `.cg`, `.cs` and `.wt` (write through). L1 writes through anyway, so
//!     the difference is what L2 retains. In machine code they are `STG.STRONG.SM`, `STG.STRONG.GPU`,
//!     `STG.EF` and `STG.STRONG.SYS`.
//! 13. `both_cs` loads the keys and stores the results by `.cs`.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | machine code | limited by |
//! |---|---|---|---|---|---|
//! | `plain` | plain loads and stores | 28.6 | 16 | `LDG` | the table in L1, as far as the streams leave it there |
//! | `stream_ca` | the keys by `.ca` | 28.6 | 16 | `LDG.STRONG.SM` | the same |
//! | `stream_cg` | the keys by `.cg`: L2 only | 28.6 | 16 | `LDG.STRONG.GPU` | device memory |
//! | `stream_cs` | the keys by `.cs`: evicted first | 28.6 | 16 | `LDG.EF` | device memory |
//! | `stream_nc` | the keys by `.nc`: the read-only path | 28.6 | 16 | `LDG.CONSTANT` | the table in L1 |
//! | `stream_no_allocate` | the keys by `.L1::no_allocate` | 28.6 | 16 | `LDG.NA` | device memory |
//! | `stream_evict_first` | the keys by an L2 policy: evicted first (sm_80) | 28.6 | 16 | `LDG` with a descriptor | the table in L1 |
//! | `stream_prefetch_l2` | plain, and each thread prefetches later keys into L2 | 28.6 | 16 | `CCTL.PF2` | the table in L1 |
//! | `table_cg` | the table by `.cg`: never from L1 | 28.6 | 16 | `LDG.STRONG.GPU` | L2: a sector per key |
//! | `table_nc` | the table by `.nc`: a read-only gather | 28.6 | 16 | `LDG.CONSTANT` | the table in L1 |
//! | `table_evict_last` | the table by an L2 policy: evicted last (sm_80) | 28.6 | 16 | `LDG` with a descriptor | the table in L1 |
//! | `store_wb` | the results by `.wb` | 28.6 | 16 | `STG.STRONG.SM` | the table in L1 |
//! | `store_cg` | the results by `.cg`: past L1 | 28.6 | 16 | `STG.STRONG.GPU` | the table in L1 |
//! | `store_cs` | the results by `.cs`: evicted first | 28.6 | 16 | `STG.EF` | the table in L1 |
//! | `store_wt` | the results by `.wt`: through L2 | 28.6 | 16 | `STG.STRONG.SYS` | the table in L1 |
//! | `both_cs` | keys and results by `.cs` | 28.6 | 16 | `LDG.EF`, `STG.EF` | device memory |
//!
//! Every counter of these variants is the same: at most (16 + 4 x 32) / 5 = 28.8 sectors per load, a little less
//! where two [lanes][lane] meet in a sector. An operator is a hint to the caches, and shows in the hit
//! rates and in the time only.
//!
//! Expected: with a table of 128 KiB, those that keep the streams out of L1 or have them evicted
//! first, `stream_cs` (140.4 us) and `stream_no_allocate` (143.7 us), gain little over `plain`
//! (144.0 us), and `stream_cg` (146.8 us) nothing, because the table stays in L1 beside the
//! streams. The fastest is `stream_prefetch_l2` (130.9 us), 1.10 times (`plain` /
//! `stream_prefetch_l2`) as fast as `plain`. `table_cg` (727.6 us) takes 5.1 times (`table_cg` /
//! `plain`) as long, because it moves 4 KiB + 1 KiB instead of 1 KiB between L2 and L1 for 128
//! keys. `table_nc` (144.0 us) equals `plain` (144.0 us). With a table of 32 MiB, `plain` takes 630
//! us (`plain` at words=8388608). A stream that is evicted first leaves more of the table in L2:
//! 604 us by a policy (`stream_evict_first` at words=8388608) and 593 us (`both_cs` at
//! words=8388608) by `.cs` for keys and results. Giving the table a policy gains next to nothing,
//! 627 us (`table_evict_last` at words=8388608), and prefetches of the stream lose, 666 us
//! (`stream_prefetch_l2` at words=8388608). The curve over the size of the table shows where each
//! helps.
//!
//! The operators in CUDA C++, and in Rust:
//!
//! ```cuda
//! uint4 key = __ldcs((const uint4 *)keys + i);        // memory::load_cs(keys.cast::<U32x4>().add(i))
//! uint32_t word = __ldg(&table[key.x & mask]);        // memory::load_nc(table.add(..))
//! __stcs((uint4 *)results + i, words);                // memory::store_cs(results.cast::<U32x4>().add(i), words)
//! ```
//!
//! Common misconception: "`__ldg` uses another cache, so it is free". The texture and the L1 cache have
//! been one since compute capability 7.0. What `.nc` still gives is freedom for the compiler, which may
//! move such loads across barriers and stores.
//!
//! Common misconception: "`.ca` is the default, so it changes nothing". The default is a weak load. An
//! operator makes it a strong one in machine code, which the compiler may not combine or move.
//!
//! Common misconception: "`.nc` loads whole cache lines". It loads sectors of 32 bytes like every other
//! load: the misaligned load by `.nc` in the pattern `misalignment` counts 5 sectors, not 2 lines of 4.
//!
//! Questions:
//! - Why is the count the same for all? Sectors per request follow from the addresses of the lanes. An
//!   operator does not change addresses.
//! - When does `.cs` lose? When the stream is read again soon, by another kernel for example: its lines
//!   are evicted first even if they would be needed.
//! - Why does `table_cg` suffer more than `stream_cg` gains? Each word of the table is used many times
//!   per multiprocessor, each key once. What L1 loses with `.cg` is proportional to reuse.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `plain` | 0.144 | 3730 | 87 | 1.00 |
//! | `stream_ca` | 0.144 | 3730 | 87 | 1.00 |
//! | `stream_cg` | 0.147 | 3658 | 85 | 0.98 |
//! | `stream_cs` | 0.140 | 3823 | 89 | 1.03 |
//! | `stream_nc` | 0.144 | 3729 | 87 | 1.00 |
//! | `stream_no_allocate` | 0.144 | 3737 | 87 | 1.00 |
//! | `stream_evict_first` | 0.143 | 3762 | 88 | 1.01 |
//! | `stream_prefetch_l2` | 0.131 | 4104 | 96 | 1.10 |
//! | `table_cg` | 0.728 | 738 | 17 | 0.20 |
//! | `table_nc` | 0.144 | 3729 | 87 | 1.00 |
//! | `table_evict_last` | 0.144 | 3717 | 87 | 1.00 |
//! | `store_wb` | 0.144 | 3730 | 87 | 1.00 |
//! | `store_cg` | 0.144 | 3729 | 87 | 1.00 |
//! | `store_cs` | 0.140 | 3845 | 90 | 1.03 |
//! | `store_wt` | 0.144 | 3728 | 87 | 1.00 |
//! | `both_cs` | 0.139 | 3864 | 90 | 1.04 |
//! | *nvcc plain* | 0.146 | 3683 | 86 | 0.99 |
//! | *nvcc stream_cs* | 0.142 | 3771 | 88 | 1.01 |
//! | *nvcc table_nc* | 0.146 | 3682 | 86 | 0.99 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 16 bytes; the number of words is a power of two. L2 policies need
//! compute capability 8.0.
//!
//! Source: PTX ISA, "Cache Operators", "Cache Eviction Priority Hints", `createpolicy`; CUDA C++
//! Programming Guide, "Read-Only Data Cache Load Function", "Load Functions Using Cache Hints".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::memory::{self, CachePolicy, Word};
use cuda_std::prelude::*;
use cuda_std::vector::U32x4;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Keys of a thread: one 16-byte load, and one 16-byte store of results.
pub const KEYS_PER_THREAD: u32 = 4;
/// The vectors that `stream_prefetch_l2` is ahead: those of 2048 threads on each of the 132 multiprocessors of an H200.
pub const AHEAD: u32 = 132 * 2048;

/// A way to load: one operator.
trait Load {
    /// # Safety
    /// - As for [`memory::load_ca`].
    unsafe fn load<T: Word>(&self, source: *const T) -> T;
}

/// A way to store: one operator.
trait Store {
    /// # Safety
    /// - As for [`memory::store_wb`].
    unsafe fn store<T: Word>(&self, target: *mut T, value: T);
}

struct Plain;
struct Policy(CachePolicy);

impl Load for Plain {
    #[inline(always)]
    unsafe fn load<T: Word>(&self, source: *const T) -> T {
        // SAFETY: the caller's contract.
        unsafe { *source }
    }
}

impl Load for Policy {
    #[inline(always)]
    unsafe fn load<T: Word>(&self, source: *const T) -> T {
        // SAFETY: the caller's contract.
        unsafe { memory::load_with_policy(source, self.0) }
    }
}

impl Store for Plain {
    #[inline(always)]
    unsafe fn store<T: Word>(&self, target: *mut T, value: T) {
        // SAFETY: the caller's contract.
        unsafe { *target = value };
    }
}

/// Declares the operators that are one function of [`memory`].
macro_rules! operators {
    (loads { $($load:ident $load_by:ident;)* } stores { $($store:ident $store_by:ident;)* }) => {
        $(
            struct $load;
            impl Load for $load {
                #[inline(always)]
                unsafe fn load<T: Word>(&self, source: *const T) -> T {
                    // SAFETY: the caller's contract.
                    unsafe { memory::$load_by(source) }
                }
            }
        )*
        $(
            struct $store;
            impl Store for $store {
                #[inline(always)]
                unsafe fn store<T: Word>(&self, target: *mut T, value: T) {
                    // SAFETY: the caller's contract.
                    unsafe { memory::$store_by(target, value) };
                }
            }
        )*
    };
}

operators! {
    loads {
        LoadCa load_ca;
        LoadCg load_cg;
        LoadCs load_cs;
        LoadNc load_nc;
        LoadNoAllocate load_no_allocate;
    }
    stores {
        StoreWb store_wb;
        StoreCg store_cg;
        StoreCs store_cs;
        StoreWt store_wt;
    }
}

/// The arrays of a launch: `n` keys, a table of `words` words, `n` results.
#[derive(Clone, Copy)]
struct Task {
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
}

/// Looks up the keys of this thread: keys by one operator, words of the table by another, results by a third.
///
/// # Safety
/// - As for [`cache_operators_plain`].
#[inline(always)]
unsafe fn look_up(task: Task, stream: &impl Load, of_table: &impl Load, results: &impl Store) {
    let Task { keys, table, target, words, n } = task;
    let i = thread::index_1d() * KEYS_PER_THREAD;
    // SAFETY: every key and result is below n; a masked key is below `words`, a power of two; 4 divides i, so that the
    // 16-byte accesses are aligned.
    unsafe {
        let word = |key: u32| of_table.load(table.add((key & (words - 1)) as usize));
        let (keys, target) = (keys.add(i as usize), target.add(i as usize));
        if i + KEYS_PER_THREAD <= n {
            let key: U32x4 = stream.load(keys.cast());
            let values = U32x4::new(word(key.x), word(key.y), word(key.z), word(key.w));
            results.store(target.cast(), values);
        } else {
            for k in 0..KEYS_PER_THREAD - 1 {
                if i + k < n {
                    let key = *keys.add(k as usize);
                    *target.add(k as usize) = *table.add((key & (words - 1)) as usize);
                }
            }
        }
    }
}

/// # Safety
/// - grid: 1-D, covering `ceil(n / KEYS_PER_THREAD)` threads
/// - block: `THREADS_PER_BLOCK` threads
/// - lengths: `keys` and `target` valid for `n` u32, `table` for `words`, a power of two
/// - alignment: `keys` and `target` 16 bytes
/// - aliasing: `target` overlaps neither, and nobody else writes any of them
#[kernel]
pub unsafe fn cache_operators_plain(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &Plain, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_stream_ca(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &LoadCa, &Plain, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_stream_cg(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &LoadCg, &Plain, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_stream_cs(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &LoadCs, &Plain, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_stream_nc(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &LoadNc, &Plain, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_stream_no_allocate(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &LoadNoAllocate, &Plain, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel(min_compute_capability = 80)]
pub unsafe fn cache_operators_stream_evict_first(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe {
        look_up(
            Task { keys, table, target, words, n },
            &Policy(CachePolicy::evict_first(1.0)),
            &Plain,
            &Plain,
        )
    };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_stream_prefetch_l2(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    let ahead = thread::index_1d() + AHEAD;
    if ahead < n / KEYS_PER_THREAD {
        // SAFETY: the vector is among the keys.
        unsafe { memory::prefetch_l2(keys.cast::<U32x4>().add(ahead as usize)) };
    }
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &Plain, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_table_cg(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &LoadCg, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_table_nc(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &LoadNc, &Plain) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel(min_compute_capability = 80)]
pub unsafe fn cache_operators_table_evict_last(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe {
        look_up(
            Task { keys, table, target, words, n },
            &Plain,
            &Policy(CachePolicy::evict_last(1.0)),
            &Plain,
        )
    };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_store_wb(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &Plain, &StoreWb) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_store_cg(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &Plain, &StoreCg) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_store_cs(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &Plain, &StoreCs) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_store_wt(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &Plain, &Plain, &StoreWt) };
}

/// # Safety
/// - As for [`cache_operators_plain`].
#[kernel]
pub unsafe fn cache_operators_both_cs(
    keys: *const u32,
    table: *const u32,
    target: *mut u32,
    words: u32,
    n: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { look_up(Task { keys, table, target, words, n }, &LoadCs, &Plain, &StoreCs) };
}
