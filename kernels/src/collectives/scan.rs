//! # Scan: every prefix sum, and where a block learns the sum of all elements before its own
//!
//! Shows: threads scan in registers first, warps by shuffles, and blocks in one pass by looking back.
//!
//! `target[i] = source[0] + .. + source[i]`: an inclusive scan. Each element needs the sum of all before it, so
//! blocks cannot work alone. All variants but the last two scan in two passes: a first kernel, `scan_sums`, writes the
//! sum of each tile; the sums are scanned by the variant's own kernel, with sums of sums where they are more than one
//! tile; and that kernel scans the array with what the scanned sums say lies before each tile. The last two variants ask
//! their neighbours instead:
//!
//! ```text
//!                kernels                      words moved
//!   two passes   3, and 2 more per level      3 n: read for the sums, read and written by the scan
//!   look_back    1                            2 n: what any scan must move
//!
//! a tile of 512 words       shared requests, load + store  their passes        barriers
//!   hillis_steele           129 + 144                      129 + 144 = 273      9
//!   blelloch                 94 +  76                      394 + 301 = 695     19
//!   blelloch_padded          94 +  76                       94 +  76 = 170     19
//!   shuffle                  16 +  17                       16 +  17 =  33      2
//! ```
//!
//! Hillis and Steele add at every distance 1, 2, 4 .. 256 for all words: 9 levels of 16 warps, 4097 additions where
//! 511 would do. Blelloch's tree takes 510 up, 511 down and 512 at the end, but the words of neighbouring lanes lie
//! 2 s apart at level s = 1, 2 .. 256:
//!
//! ```text
//! level s                     1   2   4   8  16  32  64 128 256
//!   warps at work             8   4   2   1   1   1   1   1   1   up 19 without the root, down 20
//!   passes per access, i      2   4   8  16  16   8   4   2   1   all warps: up 94, down 95
//!   passes, i + i / 32        1   1   1   1   1   1   1   1   1   all warps: up 19, down 20
//!
//! blelloch   loads   2 x 19 + 2 x 20 + 16 = 94 requests, 2 x 94 + 2 x 95 + 16 = 394 passes: 4.19 each
//!            stores  16 + 19 + 1 + 2 x 20 = 76 requests, 16 + 94 + 1 + 2 x 95 = 301 passes: 3.96 each
//! ```
//!
//! With a word of padding after every 32, word i lies in bank (i + i / 32) % 32: words 2 s apart meet no more,
//! whatever the level. The tree with conflicts takes more passes than the wasteful scan without them.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | words moved | limited by |
//! |---|---|---|---|---|---|---|
//! | `hillis_steele` | every word adds the word 1, 2, 4 .. before it | 3.0 | 3.8 | 1 / 1 | 3 n | shared requests, barriers |
//! | `blelloch` | a tree up and down: fewer additions, more barriers | 3.4 | 3.8 | 4.19 / 3.96 | 3 n | bank conflicts, barriers |
//! | `blelloch_padded` | a word of padding after every 32 | 3.4 | 3.8 | 1 / 1 | 3 n | barriers |
//! | `shuffle` | warps scan by shuffles, one shared word per warp | 3.0 | 3.8 | 1 / 1 | 3 n | bytes in flight |
//! | `vectorized` | 16-byte loads, 32 elements per thread | 6.3 | 15.7 | 1 / 1 | 3 n | device memory |
//! | `look_back` | one pass: a tile asks those before it | 15.8 | 15.6 | 1 / 1 | 2 n | bytes in flight |
//! | `look_back_async` | the tile goes past the registers into shared memory (sm_80) | 15.8 | 15.6 | 3.5 / 7.1 | 2 n | bytes in flight |
//!
//! The loads are those of all kernels together: a request of `scan_sums` and one of the scan have 4 sectors each (16
//! in `vectorized`), and one more per warp has the 1 sector of what lies before its tile.
//!
//! A look back. A block takes the next tile by a ticket, not by its own number, so all tiles before its own have
//! blocks that are running or done: nobody waits for a block that has not begun. It publishes the sum of its tile at
//! once. Then its first warp looks at the 32 tiles before, a lane each, until each of them has published, as far as
//! the nearest that knows the sum of everything up to its end; adds up; and looks further back if there was none.
//! At the end the block publishes that sum for its own tile. State and value are one word of 64 bits, written and
//! read whole by relaxed atomics: nothing else is handed over, so nothing else has to be ordered.
//!
//! ```text
//! tile            .. 38        39    40    41    42 (ours)
//! published       .. prefix    sum   sum   sum   sum
//! the warp adds      prefix  + sum + sum + sum                    then 42 publishes its prefix
//! ```
//!
//! The words must be fresh in each launch. CUB starts a small kernel before that clears them, and the last block could
//! clear them at the end: a launch, or a tail that one block works on alone. Here each state carries the number of
//! its launch, so the words of the launch before count as not yet written, and nobody clears anything. The tickets
//! count launches in their upper half: who takes the last one sets the lower half back to 0.
//!
//! Expected: the floor is the time to copy the array, 8 n bytes over the bandwidth of a copy in device memory. Two
//! passes move 12 n bytes and reach 2/3 of it at most, once the array is larger than L2. The variants with one or two
//! elements per thread have no more in flight than the scalar copy of `coalescing`; the trees wait for barriers
//! besides. A block of `look_back` has no load in flight while it waits for its neighbours and while it stores, so it
//! takes more bytes per multiprocessor to keep the memory busy than a copy does: 4 blocks x 256 threads x 128 B = 128
//! KiB, which is all that the registers hold. `look_back_async` has 6 blocks, 192 KiB, in shared memory. Wide tiles make
//! few looks: 32768 tiles of 8192 elements at 2^28.
//!
//! Exactness: the inputs are odd multiples of 1/64 in (-1, 1). An addition rounds only when its result needs more
//! than 24 bits, that is from 2^24 / 64 = 2^18 on. A sum of n random signs grows like sqrt(n / 3), about 2^13.2 for n =
//! 2^28, and every partial sum of a scan is a difference of two prefixes; 2^18 would be 27 deviations. So no addition
//! rounds, whatever the order, and the tolerance is exact. With arbitrary inputs a prefix differs by the order of its
//! additions, and `look_back` differs from run to run: how far back a tile looks is a matter of time.
//!
//! Taught but wrong: the scan with the fewest additions is the fastest.
//!
//! Preconditions: arrays aligned to 16 bytes; the words of `look_back` zero before their first launch.
//!
//! Source: Hillis, Steele, "Data Parallel Algorithms"; Blelloch, "Prefix Sums and Their Applications"; Harris, Sengupta,
//! Owens, "Parallel Prefix Sum (Scan) with CUDA"; Merrill, Garland, "Single-pass Parallel Prefix Scan with Decoupled
//! Look-back"; CUB, `DeviceScan`.

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::async_copy;
use cuda_std::atomic::AtomicU64;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;
use cuda_std::warp::WARP_SIZE;
use cuda_std::warp::{
    FULL_MASK, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor, warp_vote_ballot,
};

/// Elements of a tile, and threads of a block that has one element per thread.
pub const TILE: u32 = 512;
/// Threads of a block whose tree has two elements per thread.
pub const TREE_BLOCK: u32 = TILE / 2;
/// Threads per block of the variants with 16-byte loads.
pub const VECTORIZED_THREADS: u32 = 256;
/// 16-byte loads per thread: rows of 128 elements per warp.
pub const ROWS: u32 = 8;
/// Elements of a tile of the variants with 16-byte loads.
pub const VECTORIZED_TILE: u32 = VECTORIZED_THREADS * ROWS * 4;
/// Threads per block of `scan_sums`, a warp per tile.
pub const SUMS_THREADS_PER_BLOCK: u32 = 256;
/// A state of `look_back`: the tile's own sum is known.
pub const SUM: u32 = 1;
/// A state of `look_back`: the sum of everything up to the tile's end is known.
pub const PREFIX: u32 = 2;
/// Warps of a block with one element per thread.
const WARPS: u32 = TILE / WARP_SIZE;
/// Warps of a block of the variants with 16-byte loads.
const VECTORIZED_WARPS: u32 = VECTORIZED_THREADS / WARP_SIZE;
/// Elements of a row.
const ROW: u32 = WARP_SIZE * 4;
/// Loads that a lane of `scan_sums` starts before it adds.
const LOADS_IN_FLIGHT: u32 = 16;

/// What lies before this block's tile: the scanned sum of the tile before it.
///
/// # Safety
/// `before` valid for a number per block, except the last.
#[inline(always)]
unsafe fn before_tile(before: *const f32) -> f32 {
    let block = thread::block_idx_x();
    // SAFETY: block - 1 is a block, and not the last.
    if block == 0 { 0.0 } else { unsafe { *before.add(block as usize - 1) } }
}

/// Naive: each word adds the word 1, 2, 4 .. 256 before it, in two halves of shared memory by turns.
///
/// # Safety
/// Launch contract: 1-D grid of `TILE` threads covering `n` threads; `source` and `target` valid for `n` f32, the
/// same array or not overlapping; `before` valid for the scanned sum of each tile of `source` but the last.
#[kernel]
pub unsafe fn scan_hillis_steele(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; 2 * TILE as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let (i, tid) = (thread::index_1d(), thread::thread_idx_x());
    // SAFETY: i < n; each thread stores to its word of a half, and tid - step is another thread's; a barrier lies
    // between the two, and the next one before the half is written again.
    unsafe {
        let mut sum = if i < n { *source.add(i as usize) } else { 0.0 };
        let (mut half, mut step) = (0, 1);
        while step < TILE {
            *words.add((half + tid) as usize) = sum;
            thread::sync_threads();
            if tid >= step {
                sum += *words.add((half + tid - step) as usize);
            }
            half = TILE - half;
            step *= 2;
        }
        if i < n {
            *target.add(i as usize) = before_tile(before) + sum;
        }
    }
}

/// Scans a block's tile by a tree, up and down; word `i` lies at `place(i)`.
///
/// # Safety
/// As for [`scan_blelloch`]; `words` is shared memory for every place of 0 .. `TILE`, which are distinct.
#[inline(always)]
unsafe fn tree(
    source: *const f32,
    before: *const f32,
    target: *mut f32,
    n: u32,
    words: *mut f32,
    place: impl Fn(u32) -> usize,
) {
    let (first, tid) = (thread::block_idx_x() * TILE, thread::thread_idx_x());
    let halves = [tid, tid + TREE_BLOCK];
    // SAFETY: elements are checked against n. 2 step divides TILE, so `right` is below TILE where `left` is; the
    // pairs of a level are disjoint, and barriers lie between the levels.
    unsafe {
        let elements = halves.map(|word| {
            let i = first + word;
            let element = if i < n { *source.add(i as usize) } else { 0.0 };
            *words.add(place(word)) = element;
            element
        });
        // Up: the last word of each pair becomes the pair's sum.
        let mut step = 1;
        while step < TILE / 2 {
            thread::sync_threads();
            let left = 2 * step * tid + step - 1;
            if left < TILE {
                *words.add(place(left + step)) += *words.add(place(left));
            }
            step *= 2;
        }
        // Nothing lies before the whole.
        thread::sync_threads();
        if tid == 0 {
            *words.add(place(TILE - 1)) = 0.0;
        }
        // Down: the left one gets what lies before the pair, the right one that and the left one's sum.
        step = TILE / 2;
        while step > 0 {
            thread::sync_threads();
            let left = 2 * step * tid + step - 1;
            if left < TILE {
                let sum = *words.add(place(left));
                let before_pair = *words.add(place(left + step));
                *words.add(place(left)) = before_pair;
                *words.add(place(left + step)) = before_pair + sum;
            }
            step /= 2;
        }
        thread::sync_threads();
        let before_tile = before_tile(before);
        for (word, element) in halves.into_iter().zip(elements) {
            let i = first + word;
            if i < n {
                *target.add(i as usize) = before_tile + (*words.add(place(word)) + element);
            }
        }
    }
}

/// Change from `hillis_steele`: pairs are added up to a tree's root, and what lies before each pair comes down again,
/// in place. Only threads with a pair work; their words lie `2 step` apart, and their banks coincide.
///
/// # Safety
/// Launch contract: as for [`scan_hillis_steele`], but `TREE_BLOCK` threads per tile of `TILE`.
#[kernel]
pub unsafe fn scan_blelloch(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; TILE as usize]> = MaybeUninit::uninit();
    // SAFETY: the launch contract; there are TILE words.
    unsafe { tree(source, before, target, n, (&raw mut WORDS).cast(), |i| i as usize) };
}

/// Change from `blelloch`: a word of padding after every 32, so that words a power of two apart lie in different banks.
///
/// # Safety
/// Launch contract: as for [`scan_blelloch`].
#[kernel]
pub unsafe fn scan_blelloch_padded(
    source: *const f32,
    before: *const f32,
    target: *mut f32,
    n: u32,
) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; (TILE + TILE / WARP_SIZE) as usize]> =
        MaybeUninit::uninit();
    let place = |i: u32| (i + i / WARP_SIZE) as usize;
    // SAFETY: the launch contract; i + i / 32 is below TILE + TILE / 32, and grows with i.
    unsafe { tree(source, before, target, n, (&raw mut WORDS).cast(), place) };
}

/// Inclusive scans over a warp, side by side: none waits for another.
///
/// # Safety
/// All lanes of the warp call.
#[inline(always)]
unsafe fn warp_scans<const N: usize>(values: [f32; N]) -> [f32; N] {
    let mut sums = values;
    for delta in [1, 2, 4, 8, 16] {
        for sum in &mut sums {
            // SAFETY: all lanes call.
            let (lower, is_inside) = unsafe { warp_shuffle_up(FULL_MASK, *sum, delta, WARP_SIZE) };
            if is_inside {
                *sum += lower;
            }
        }
    }
    sums
}

/// One of them.
///
/// # Safety
/// All lanes of the warp call.
#[inline(always)]
unsafe fn warp_scan(value: f32) -> f32 {
    // SAFETY: all lanes call.
    let [sum] = unsafe { warp_scans([value]) };
    sum
}

/// The value of another lane.
///
/// # Safety
/// All lanes of the warp call.
#[inline(always)]
unsafe fn of_lane<T: cuda_std::warp::WarpShuffleValue>(value: T, lane: u32) -> T {
    // SAFETY: all lanes call.
    unsafe { warp_shuffle_idx(FULL_MASK, value, lane, WARP_SIZE) }.0
}

/// Change from `blelloch_padded`: warps scan by shuffles from register to register; shared memory carries one word per
/// warp, and two barriers are left of 19.
///
/// # Safety
/// Launch contract: as for [`scan_hillis_steele`].
#[kernel]
pub unsafe fn scan_shuffle(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; WARPS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let (i, tid) = (thread::index_1d(), thread::thread_idx_x());
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    // SAFETY: i < n; each warp has its word, which the first warp, and it alone, replaces between the barriers.
    unsafe {
        let mut sum = warp_scan(if i < n { *source.add(i as usize) } else { 0.0 });
        if lane == WARP_SIZE - 1 {
            *words.add(warp as usize) = sum;
        }
        thread::sync_threads();
        if warp == 0 {
            let scanned = warp_scan(if lane < WARPS { *words.add(lane as usize) } else { 0.0 });
            if lane < WARPS {
                *words.add(lane as usize) = scanned;
            }
        }
        thread::sync_threads();
        if warp > 0 {
            sum += *words.add(warp as usize - 1);
        }
        if i < n {
            *target.add(i as usize) = before_tile(before) + sum;
        }
    }
}

/// What a thread has of a wide tile: four neighbours of each of its warp's rows.
type Rows = [[f32; 4]; ROWS as usize];

/// The first element of this thread in a wide tile; its next row is `ROW` further.
#[inline(always)]
fn first_element() -> u32 {
    let tid = thread::thread_idx_x();
    tid / WARP_SIZE * (ROWS * ROW) + tid % WARP_SIZE * 4
}

/// Loads this thread's elements of a wide tile, and zeros beyond the last.
///
/// # Safety
/// `source` 16-byte aligned and valid for `n` f32.
#[inline(always)]
unsafe fn load_rows(source: *const f32, tile: u32, n: u32) -> Rows {
    let mut rows = [[0.0; 4]; ROWS as usize];
    let first = tile * VECTORIZED_TILE + first_element();
    // SAFETY: a whole tile ends at or before n, and 4 divides `first`; elsewhere each element is checked.
    unsafe {
        if n - tile * VECTORIZED_TILE >= VECTORIZED_TILE {
            for (row, index) in rows.iter_mut().zip(0..) {
                let four = source.add((first + index * ROW) as usize).cast::<F32x4>();
                *row = (*four).to_array();
            }
        } else {
            // Not `i < n` as in `store_rows`: the compiler would keep 32 answers in registers until then.
            let left = n.saturating_sub(first);
            for (row, index) in rows.iter_mut().zip(0..) {
                for (element, next) in row.iter_mut().zip(0..) {
                    let further = index * ROW + next;
                    if further < left {
                        *element = *source.add((first + further) as usize);
                    }
                }
            }
        }
    }
    rows
}

/// Stores this thread's elements of a wide tile, each plus `before`.
///
/// # Safety
/// `target` 16-byte aligned and valid for `n` f32.
#[inline(always)]
unsafe fn store_rows(target: *mut f32, tile: u32, n: u32, rows: Rows, before: f32) {
    let first = tile * VECTORIZED_TILE + first_element();
    // SAFETY: as in `load_rows`.
    unsafe {
        if n - tile * VECTORIZED_TILE >= VECTORIZED_TILE {
            for (row, index) in rows.iter().zip(0..) {
                let four = target.add((first + index * ROW) as usize).cast::<F32x4>();
                *four = F32x4::from_array(row.map(|sum| before + sum));
            }
        } else {
            for (row, index) in rows.iter().zip(0..) {
                for (sum, next) in row.iter().zip(0..) {
                    let i = first + index * ROW + next;
                    if i < n {
                        *target.add(i as usize) = before + *sum;
                    }
                }
            }
        }
    }
}

/// Scans the elements of a warp in registers, and returns their sum.
///
/// # Safety
/// All lanes of the warp call.
#[inline(always)]
unsafe fn scan_rows(rows: &mut Rows) -> f32 {
    // Several short loops: the compiler unrolls each of them, and only so are the rows in registers.
    let mut sums = [0.0; ROWS as usize];
    for (row, sum) in rows.iter_mut().zip(&mut sums) {
        row[1] += row[0];
        row[2] += row[1];
        row[3] += row[2];
        *sum = row[3];
    }
    // SAFETY: all lanes call.
    let (before, sum) = unsafe { scan_sums_of_rows(sums) };
    for (row, before) in rows.iter_mut().zip(&before) {
        for element in row {
            *element += before;
        }
    }
    sum
}

/// From the sum of this lane's elements of each row: the sum of the warp's elements before them, and of all.
///
/// # Safety
/// All lanes of the warp call.
#[inline(always)]
unsafe fn scan_sums_of_rows(sums: [f32; ROWS as usize]) -> ([f32; ROWS as usize], f32) {
    // SAFETY: all lanes call.
    let sums = unsafe { warp_scans(sums) };
    let (mut before, mut before_row) = ([0.0; ROWS as usize], 0.0);
    for (before, sum) in before.iter_mut().zip(&sums) {
        // SAFETY: all lanes call.
        let (lower, is_inside) = unsafe { warp_shuffle_up(FULL_MASK, *sum, 1, WARP_SIZE) };
        *before = if is_inside { before_row + lower } else { before_row };
        // SAFETY: all lanes call.
        before_row += unsafe { of_lane(*sum, WARP_SIZE - 1) };
    }
    (before, before_row)
}

/// From the sum of each warp: the sum of the warps before this one, and that of the block.
///
/// # Safety
/// `words` is shared memory for `VECTORIZED_WARPS` f32, used once; all threads of the block call.
#[inline(always)]
unsafe fn scan_warps(words: *mut f32, sum: f32) -> (f32, f32) {
    let tid = thread::thread_idx_x();
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    // SAFETY: each warp has its word; readers come after the barrier; all lanes shuffle.
    unsafe {
        if lane == 0 {
            *words.add(warp as usize) = sum;
        }
        thread::sync_threads();
        let scanned =
            warp_scan(if lane < VECTORIZED_WARPS { *words.add(lane as usize) } else { 0.0 });
        // Lane 31 has the block's sum, too: it stands for the warp before the first, which is then left out.
        let lower = of_lane(scanned, warp.wrapping_sub(1) % WARP_SIZE);
        (if warp == 0 { 0.0 } else { lower }, of_lane(scanned, WARP_SIZE - 1))
    }
}

/// Change from `shuffle`: 16-byte loads, eight in flight per thread; a warp's word in shared memory stands for 1024
/// elements.
///
/// # Safety
/// Launch contract: 1-D grid of a block of `VECTORIZED_THREADS` threads per `VECTORIZED_TILE` elements; `source` and `target` 16-byte
/// aligned and valid for `n` f32, `n` at most 2^31, the same array or not overlapping; `before` valid for the scanned
/// sum of each tile of `source` but the last.
#[kernel(launch_bounds(VECTORIZED_THREADS, 4))]
pub unsafe fn scan_vectorized(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; VECTORIZED_WARPS as usize]> = MaybeUninit::uninit();
    let tile = thread::block_idx_x();
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe {
        let mut rows = load_rows(source, tile, n);
        let (before_warp, _) = scan_warps((&raw mut WORDS).cast(), scan_rows(&mut rows));
        store_rows(target, tile, n, rows, before_tile(before) + before_warp);
    }
}

/// A wide tile in shared memory, aligned to lines as the source is: copies from one line to parts of two take longer.
/// Of devices with asynchronous copies.
#[allow(dead_code)]
#[repr(align(128))]
struct Lines([f32; VECTORIZED_TILE as usize]);

/// Shared memory of a block that looks back.
struct Shared {
    words: [f32; VECTORIZED_WARPS as usize],
    ticket: u64,
    before: f32,
}

/// The tile of this block, and the number of this launch.
///
/// # Safety
/// `shared` is shared memory; `state` as for [`scan_look_back`]; all threads of the block call, once.
#[inline(always)]
unsafe fn next_tile(shared: *mut Shared, state: *mut u64) -> (u32, u32) {
    // SAFETY: one thread writes the ticket, and all read it after a barrier.
    unsafe {
        if thread::thread_idx_x() == 0 {
            (*shared).ticket = take_ticket(state);
        }
        thread::sync_threads();
        ((*shared).ticket as u32, ((*shared).ticket >> 32) as u32)
    }
}

/// The sum of all elements before this warp's, from the sum of the warp's: publishes that of the tile, and what is learnt
/// of those before.
///
/// # Safety
/// As for [`next_tile`], which gave `tile` and `launch`; all threads of the block call, once.
#[inline(always)]
unsafe fn before_warp(
    shared: *mut Shared,
    state: *mut u64,
    (tile, launch): (u32, u32),
    sum: f32,
) -> f32 {
    let tid = thread::thread_idx_x();
    // SAFETY: `state` begins with the tickets, and has a word for each tile behind them. Tickets are handed out in order,
    // so the blocks of all tiles before have begun. One thread writes `before`, and all read it after a barrier.
    unsafe {
        let (before, sum) = scan_warps((&raw mut (*shared).words).cast(), sum);
        if tid < WARP_SIZE {
            let tiles = state.add(1);
            let own = AtomicU64::from_ptr(tiles.add(tile as usize));
            if tid == 0 && tile > 0 {
                own.store(word(launch, SUM, sum), Relaxed);
            }
            let before_tile = look_back(tiles, tile, launch);
            if tid == 0 {
                own.store(word(launch, PREFIX, before_tile + sum), Relaxed);
                (*shared).before = before_tile;
            }
        }
        thread::sync_threads();
        (*shared).before + before
    }
}

/// A ticket: the next tile in its lower half, and the number of this launch in its upper half.
///
/// # Safety
/// `tickets` is accessed by this function only; one thread of each block calls, once.
#[inline(always)]
unsafe fn take_ticket(tickets: *mut u64) -> u64 {
    // SAFETY: the caller's contract.
    let tickets = unsafe { AtomicU64::from_ptr(tickets) };
    let ticket = tickets.fetch_add(1, Relaxed);
    let tiles = thread::grid_dim_x();
    if ticket as u32 == tiles - 1 {
        // Nobody is left to take one in this launch.
        tickets.fetch_add((1 << 32) - u64::from(tiles), Relaxed);
    }
    ticket
}

/// A tile's word: its state in this launch, and the value that belongs to it.
#[inline(always)]
fn word(launch: u32, state: u32, value: f32) -> u64 {
    u64::from(launch.wrapping_mul(2).wrapping_add(state)) << 32 | u64::from(value.to_bits())
}

/// The sum of all tiles before one, in each lane.
///
/// # Safety
/// `tiles` valid for a word per tile up to this one, accessed by atomics only; blocks that run or have ended publish
/// those before; all lanes of a warp call.
#[inline(always)]
unsafe fn look_back(tiles: *mut u64, tile: u32, launch: u32) -> f32 {
    let lane = thread::thread_idx_x() % WARP_SIZE;
    let mut sum = 0.0;
    // The tiles from here on are in `sum`.
    let mut end = tile;
    while end > 0 {
        // Lane 0 has the nearest one. Before the first tile there is nothing.
        let found = if lane < end {
            // SAFETY: end - 1 - lane < tile.
            unsafe { AtomicU64::from_ptr(tiles.add((end - 1 - lane) as usize)) }.load(Relaxed)
        } else {
            word(launch, PREFIX, 0.0)
        };
        // That of an earlier launch is neither: its number is smaller.
        let state = ((found >> 32) as u32).wrapping_sub(launch.wrapping_mul(2));
        // SAFETY: all lanes vote.
        let (prefixes, known) = unsafe {
            (
                warp_vote_ballot(FULL_MASK, state == PREFIX),
                warp_vote_ballot(FULL_MASK, state == PREFIX || state == SUM),
            )
        };
        // The lanes up to the first with a prefix, or all.
        let needed = prefixes ^ prefixes.wrapping_sub(1);
        if known & needed != needed {
            continue;
        }
        if needed >> lane & 1 == 1 {
            sum += f32::from_bits(found as u32);
        }
        if prefixes != 0 {
            break;
        }
        end -= WARP_SIZE;
    }
    for lanes in [16, 8, 4, 2, 1] {
        // SAFETY: all lanes call.
        sum += unsafe { warp_shuffle_xor(FULL_MASK, sum, lanes, WARP_SIZE) }.0;
    }
    sum
}

/// Change from `vectorized`: one pass. A block learns what lies before its tile from the blocks of the tiles before.
///
/// # Safety
/// Launch contract: 1-D grid of a block of `VECTORIZED_THREADS` threads per `VECTORIZED_TILE` elements; `source` and `target` 16-byte
/// aligned and valid for `n` f32, `n` at most 2^31, not overlapping; `state` valid for a word and one more per tile,
/// which are zero before the first launch and only touched by launches of this kernel and of `look_back_async`, one at a
/// time.
#[kernel(launch_bounds(VECTORIZED_THREADS, 4))]
pub unsafe fn scan_look_back(source: *const f32, target: *mut f32, state: *mut u64, n: u32) {
    #[address_space(shared)]
    static mut SHARED: MaybeUninit<Shared> = MaybeUninit::uninit();
    let shared = (&raw mut SHARED).cast::<Shared>();
    // SAFETY: the launch contract.
    unsafe {
        let ticket = next_tile(shared, state);
        let mut rows = load_rows(source, ticket.0, n);
        let sum = scan_rows(&mut rows);
        let before = before_warp(shared, state, ticket, sum);
        store_rows(target, ticket.0, n, rows, before);
    }
}

/// Change from `look_back`: the tile goes into shared memory by asynchronous copies, past the registers. A thread then
/// needs a third fewer registers, and 6 blocks instead of 4 have their tiles under way.
///
/// # Safety
/// Launch contract: as for [`scan_look_back`]; `source` readable up to a multiple of 16 bytes.
#[kernel(launch_bounds(VECTORIZED_THREADS, 6), since = 80)]
pub unsafe fn scan_look_back_async(source: *const f32, target: *mut f32, state: *mut u64, n: u32) {
    #[address_space(shared)]
    static mut ELEMENTS: MaybeUninit<Lines> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut SHARED: MaybeUninit<Shared> = MaybeUninit::uninit();
    let shared = (&raw mut SHARED).cast::<Shared>();
    // This thread's elements, of which only it copies, reads and writes any.
    let own = first_element();
    // SAFETY: own + index * ROW + 3 < VECTORIZED_TILE, and 4 divides it.
    let place = |index: u32| unsafe {
        (&raw mut ELEMENTS).cast::<f32>().add((own + index * ROW) as usize).cast::<F32x4>()
    };
    // SAFETY: the launch contract; copies read no more elements than are left, and are waited for.
    unsafe {
        let ticket = next_tile(shared, state);
        let first = ticket.0 * VECTORIZED_TILE + own;
        for index in 0..ROWS {
            let i = first + index * ROW;
            let bytes = n.saturating_sub(i).min(4) * 4;
            let from = source.wrapping_add(i as usize).cast::<F32x4>();
            async_copy::copy_16_bypass_zero_fill(place(index), from, bytes);
        }
        async_copy::wait_all();
        let mut sums = [0.0; ROWS as usize];
        for (sum, index) in sums.iter_mut().zip(0..) {
            let [a, b, c, d] = (*place(index)).to_array();
            *sum = (a + b) + (c + d);
        }
        let (before_rows, sum) = scan_sums_of_rows(sums);
        let before = before_warp(shared, state, ticket, sum);
        let scanned = |index: u32, before_row: &f32| {
            let [a, b, c, d] = (*place(index)).to_array();
            let before = before + before_row;
            [before + a, before + (a + b), before + ((a + b) + c), before + ((a + b) + (c + d))]
        };
        let target = target.wrapping_add(first as usize);
        if n - ticket.0 * VECTORIZED_TILE >= VECTORIZED_TILE {
            for (before_row, index) in before_rows.iter().zip(0..) {
                let four = F32x4::from_array(scanned(index, before_row));
                *target.add((index * ROW) as usize).cast() = four;
            }
        } else {
            let left = n.saturating_sub(first);
            for (before_row, index) in before_rows.iter().zip(0..) {
                for (element, next) in scanned(index, before_row).iter().zip(0..) {
                    let further = index * ROW + next;
                    if further < left {
                        *target.add(further as usize) = *element;
                    }
                }
            }
        }
    }
}

/// The first pass of all variants that do not look back: a warp adds the elements of each tile, 16 loads in flight per lane.
///
/// # Safety
/// Launch contract: 1-D grid of `SUMS_THREADS_PER_BLOCK` threads with a warp per `tile` elements; 512 divides `tile`; `source` valid
/// for `n` f32, `sums` for one per tile; `n` at most 2^31.
#[kernel]
pub unsafe fn scan_sums(source: *const f32, sums: *mut f32, n: u32, tile: u32) {
    let (warp, lane) = (thread::index_1d() / WARP_SIZE, thread::thread_idx_x() % WARP_SIZE);
    if warp * tile >= n {
        return;
    }
    let mut sum = 0.0;
    let end = (warp * tile + tile).min(n);
    let mut first = warp * tile + lane;
    // SAFETY: every index is below `end`; the warp is here as a whole, and has its word.
    unsafe {
        while first - lane + LOADS_IN_FLIGHT * WARP_SIZE <= end {
            let mut values = [0.0; LOADS_IN_FLIGHT as usize];
            for (value, index) in values.iter_mut().zip(0..) {
                *value = *source.add((first + index * WARP_SIZE) as usize);
            }
            for value in values {
                sum += value;
            }
            first += LOADS_IN_FLIGHT * WARP_SIZE;
        }
        while first < end {
            sum += *source.add(first as usize);
            first += WARP_SIZE;
        }
        for lanes in [16, 8, 4, 2, 1] {
            sum += warp_shuffle_xor(FULL_MASK, sum, lanes, WARP_SIZE).0;
        }
        if lane == 0 {
            *sums.add(warp as usize) = sum;
        }
    }
}
