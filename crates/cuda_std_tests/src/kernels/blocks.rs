use core::mem::MaybeUninit;
use core::ops::Range;
use cuda_std::block::{Block, Exchange, Key, Partials, Scan, Sort};
use cuda_std::operator::{Add, Max, Min, Operator, Segmented};
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::warp::{Tile, WarpShuffleValue};
use cuda_std::{address_space, kernel, thread};

/// Items of a thread where it has several.
pub const ITEMS: usize = 4;
/// Values that `collectives` stores for each thread.
pub const STORED: usize = 9 + 4 * ITEMS;
/// The thread whose value is broadcast.
pub const FROM: usize = 21;

/// Stores for each thread what the block finds: see the rows in the body. The source has `ITEMS` elements for each thread
/// in blocked order, of which the first one counts where a thread has one.
///
/// The launch contract of these kernels: as many threads in x as the name says; dynamic shared memory for what the
/// functions need; buffers for the whole grid.
#[inline(always)]
unsafe fn collectives<T, const N: usize>(source: *const T, target: *mut T, valid: usize)
where
    T: WarpShuffleValue + Default,
    Add: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    let block = Block::<N>::new();
    let shared = dynamic_shared_mem::<Partials<T>>();
    let scan = dynamic_shared_mem::<Scan<T, N>>();
    let exchange = dynamic_shared_mem::<Exchange<T, N, ITEMS>>();
    let grid = thread::block_idx_x() as usize;
    // SAFETY: the launch contract; a barrier stands between two uses of the shared memory.
    unsafe {
        let source = source.add(grid * N * ITEMS);
        let target = target.add(grid * N * STORED + block.rank());
        let items: [T; ITEMS] = core::array::from_fn(|nth| *source.add(block.rank() * ITEMS + nth));
        let value = items[0];
        let mut row = 0;
        let mut store = |value: T| {
            *target.add(row * N) = value;
            row += 1;
        };
        store(block.all_reduce(shared, value, Add));
        block.sync();
        store(block.all_reduce(shared, value, Min));
        block.sync();
        store(block.reduce(shared, value, Max).unwrap_or_default());
        block.sync();
        store(block.reduce_first(shared, value, valid, Max).unwrap_or_default());
        block.sync();
        let (prefix, total) = block.inclusive_scan(scan, value, Add);
        store(prefix);
        store(total);
        block.sync();
        let (prefix, total) = block.exclusive_scan(scan, value, T::default(), Max);
        store(prefix);
        store(total);
        block.sync();
        store(block.broadcast(shared, value, FROM));
        block.sync();
        let mut scanned = items;
        block.inclusive_scan_items(scan, &mut scanned, Add);
        scanned.into_iter().for_each(&mut store);
        block.sync();
        let mut scanned = items;
        block.exclusive_scan_items(scan, &mut scanned, *source, Add);
        scanned.into_iter().for_each(&mut store);
        block.sync();
        let mut striped = items;
        block.blocked_to_striped(exchange, &mut striped);
        striped.into_iter().for_each(&mut store);
        block.sync();
        block.striped_to_blocked(exchange, &mut striped);
        striped.into_iter().for_each(&mut store);
    }
}

/// Runs `collectives` with each type.
#[kernel(T = [i32, u64, f32, f64], N = [96])]
pub unsafe fn block_types<T, const N: usize>(source: *const T, target: *mut T, valid: usize)
where
    T: WarpShuffleValue + Default,
    Add: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    // SAFETY: the launch contract.
    unsafe { collectives::<T, N>(source, target, valid) };
}

/// Runs `collectives` in blocks of each size.
#[kernel(N = [32, 64, 128, 256, 288, 512, 992, 1024])]
pub unsafe fn block_sizes<const N: usize>(source: *const u32, target: *mut u32, valid: usize) {
    // SAFETY: the launch contract.
    unsafe { collectives::<u32, N>(source, target, valid) };
}

/// The composition of `x -> a x + b`, which is not commutative.
#[inline(always)]
fn compose(first: (u32, u32), then: (u32, u32)) -> (u32, u32) {
    (first.0.wrapping_mul(then.0), first.1.wrapping_mul(then.0).wrapping_add(then.1))
}

/// Stores the composition of all threads, that up to this one, and the sum of the thread's segment up to it: of pairs.
#[kernel(N = [64, 416])]
pub unsafe fn block_order<const N: usize>(source: *const u32, target: *mut u32) {
    let block = Block::<N>::new();
    let shared = dynamic_shared_mem::<Partials<(u32, u32)>>();
    let scan = dynamic_shared_mem::<Scan<(u32, u32), N>>();
    let rank = block.rank();
    // SAFETY: the launch contract; a barrier stands between two uses of the shared memory.
    unsafe {
        let value = (*source.add(2 * rank), *source.add(2 * rank + 1));
        let all = block.all_reduce(shared, value, compose);
        block.sync();
        let (prefix, _) = block.inclusive_scan(scan, value, compose);
        block.sync();
        let flagged = (value.0.is_multiple_of(5), value.1);
        let (segment, _) = block.inclusive_scan(scan.cast(), flagged, Segmented(Add));
        for (row, word) in [all.0, all.1, prefix.0, prefix.1, segment.1].into_iter().enumerate() {
            *target.add(row * N + rank) = word;
        }
    }
}

/// Exchanges items from striped to blocked order and back, stores them, and exchanges them once more.
#[kernel(T = [u32, f64], K = [1, 2, 3, 6, 7, 8, 16, 32])]
pub unsafe fn block_exchange<T, const K: usize>(source: *const T, target: *mut T)
where
    T: Copy,
{
    const N: usize = 128;
    let block = Block::<N>::new();
    let shared = dynamic_shared_mem::<Exchange<T, N, K>>();
    // SAFETY: the launch contract; a barrier stands between two uses of the shared memory.
    unsafe {
        let mut items: [T; K] = core::array::from_fn(|nth| *source.add(nth * N + block.rank()));
        block.striped_to_blocked(shared, &mut items);
        block.sync();
        block.blocked_to_striped(shared, &mut items);
        for (nth, item) in items.iter().enumerate() {
            *target.add(nth * N + block.rank()) = *item;
        }
        block.sync();
        block.blocked_to_striped(shared, &mut items);
        for (nth, item) in items.iter().enumerate() {
            *target.add(K * N + nth * N + block.rank()) = *item;
        }
    }
}

/// Sorts keys, of blocks of `N` threads.
#[inline(always)]
unsafe fn sort<T: Key, const N: usize, const K: usize>(
    source: *const T,
    target: *mut T,
    bits: Range<u32>,
) {
    let block = Block::<N>::new();
    // SAFETY: the launch contract.
    unsafe {
        let first = thread::block_idx_x() as usize * N * K + block.rank() * K;
        let mut keys: [T; K] = core::array::from_fn(|nth| *source.add(first + nth));
        block.sort(dynamic_shared_mem::<Sort<T, N, K>>(), &mut keys, bits);
        for (nth, key) in keys.iter().enumerate() {
            *target.add(first + nth) = *key;
        }
    }
}

/// Sorts keys of each type by bits of a range.
#[kernel(T = [i32, u64, f32, f64], N = [64])]
pub unsafe fn block_sort<T: Key, const N: usize>(
    source: *const T,
    target: *mut T,
    from: u64,
    to: u64,
) {
    // SAFETY: the launch contract.
    unsafe { sort::<T, N, 5>(source, target, from as u32..to as u32) };
}

/// Sorts keys in blocks of each size.
#[kernel(N = [32, 96, 256, 1024])]
pub unsafe fn block_sort_sizes<const N: usize>(source: *const u32, target: *mut u32) {
    // SAFETY: the launch contract.
    unsafe { sort::<u32, N, 8>(source, target, 0..32) };
}

/// Sorts keys, each of which takes a value along.
#[kernel]
pub unsafe fn block_sort_pairs(keys: *mut u32, values: *mut u64) {
    const N: usize = 128;
    const K: usize = 4;
    #[address_space(shared)]
    static mut SORT: MaybeUninit<Sort<u32, N, K, u64>> = MaybeUninit::uninit();
    let block = Block::<N>::new();
    // SAFETY: the launch contract.
    unsafe {
        let first = block.rank() * K;
        let mut of_thread: [u32; K] = core::array::from_fn(|nth| *keys.add(first + nth));
        let mut taken: [u64; K] = core::array::from_fn(|nth| *values.add(first + nth));
        block.sort_pairs((&raw mut SORT).cast(), &mut of_thread, &mut taken, 0..32);
        for nth in 0..K {
            *keys.add(first + nth) = of_thread[nth];
            *values.add(first + nth) = taken[nth];
        }
    }
}

/// Counts bytes in 256 bins for each block.
#[kernel]
pub unsafe fn block_histogram(source: *const u32, target: *mut u32) {
    const N: usize = 128;
    #[address_space(shared)]
    static mut BINS: MaybeUninit<[u32; 256]> = MaybeUninit::uninit();
    let block = Block::<N>::new();
    let bins = (&raw mut BINS).cast::<[u32; 256]>();
    let grid = thread::block_idx_x() as usize;
    // SAFETY: the launch contract.
    unsafe {
        block.clear_bins(bins);
        let items: [u32; ITEMS] =
            core::array::from_fn(|nth| *source.add((grid * ITEMS + nth) * N + block.rank()));
        block.count(bins, &items);
        for bin in [block.rank(), block.rank() + N] {
            *target.add(grid * 256 + bin) = *bins.cast::<u32>().add(bin);
        }
    }
}

/// Stores for each thread what its tile of `N` lanes finds, and the items that its warp has exchanged.
#[kernel(N = [8, 32])]
pub unsafe fn warp_collectives<const N: u32>(source: *const u32, target: *mut u32) {
    let tile = Tile::<N>::new();
    let warp = Tile::<32>::new();
    let tid = thread::thread_idx_x() as usize;
    let threads = thread::block_dim_x() as usize;
    // SAFETY: the launch contract: whole warps.
    unsafe {
        let value = *source.add(tid);
        let shared = dynamic_shared_mem::<Exchange<u32, 32, ITEMS>>().add(tid / 32);
        let mut items: [u32; ITEMS] =
            core::array::from_fn(|nth| value.wrapping_mul(nth as u32 + 1));
        warp.blocked_to_striped(shared, &mut items);
        let moved = items;
        warp.sync();
        warp.striped_to_blocked(shared, &mut items);
        let found = [
            tile.shuffle(tile.reduce_in_order(value, Max), 0),
            tile.shuffle(tile.reduce_first(value, 5, Add), 0),
            tile.inclusive_scan(value, Add),
            tile.exclusive_scan(value, 7, Add),
            tile.segmented_reduce(value, value.is_multiple_of(4), Add),
        ];
        let mut row = 0;
        let mut store = |word: u32| {
            *target.add(row * threads + tid) = word;
            row += 1;
        };
        found.into_iter().for_each(&mut store);
        moved.into_iter().for_each(&mut store);
        items.into_iter().for_each(&mut store);
    }
}
