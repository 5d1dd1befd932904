//! Uses of kernels without `unsafe`: halos, sorts, reductions, scans, histograms, tables of constants.

use core::sync::atomic::{AtomicU32, Ordering};
use cuda_std::atomic::AtomicF32;
use cuda_std::prelude::*;
use cuda_std::safe::{
    Block, Constant, Odd, PerBlock, PerThread, Plane, PlanePerThread, Tile, lanes,
};

/// Threads of a block in one dimension.
pub const THREADS: u32 = 256;
/// The reach of the blur.
pub const RADIUS: usize = 2;
/// Threads of a block of the blur along x, and along y.
pub const BLUR: [u32; 2] = [32, 8];

/// Columns and rows of the tile of the blur, with its halo.
const TILE: [usize; 2] = [BLUR[0] as usize + 2 * RADIUS, BLUR[1] as usize + 2 * RADIUS];

/// The weight of each distance.
#[address_space(constant)]
pub static WEIGHTS: Constant<[f32; RADIUS + 1]> = Constant::new([0.0; RADIUS + 1]);

/// The weighted sum of 5 x 5 neighbours, those beyond an edge being the nearest.
#[kernel(block(BLUR[0], BLUR[1]))]
pub fn blurs(
    image: Plane<f32>,
    mut tile: Tile<f32, { TILE[0] }, { TILE[1] }>,
    block: Block,
    mut out: PlanePerThread<f32>,
) {
    let left = (thread::block_idx_x() * BLUR[0]) as i32 - RADIUS as i32;
    let top = (thread::block_idx_y() * BLUR[1]) as i32 - RADIUS as i32;
    tile.fill(&block, |row, column| {
        image.get_clamped(left + column as i32, top + row as i32).unwrap_or(0.0)
    });
    let block = block.sync();
    let tile = tile.read(&block);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let mut sum = 0.0;
    for row in 0..=2 * RADIUS {
        for column in 0..=2 * RADIUS {
            let weight = WEIGHTS.at(row.abs_diff(RADIUS)) * WEIGHTS.at(column.abs_diff(RADIUS));
            sum += weight * tile[(y + row, x + column)];
        }
    }
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// Returns what the thread `own` keeps of its value and that of its partner, in a step of a sorting network.
#[inline(always)]
fn kept(own: usize, size: usize, distance: usize, mine: u64, other: u64) -> u64 {
    let (is_low, rises) = (own & distance == 0, own & size == 0);
    if is_low == rises { mine.min(other) } else { mine.max(other) }
}

/// Sorts the elements of each block in shared memory, by a network (Batcher, "Sorting Networks and Their Applications").
///
/// Two tiles take turns: what one phase writes, the next one reads. So a step has one barrier.
#[kernel(block = THREADS, same_length(x, out))]
pub fn sorts(
    x: &[u64],
    mut even: Tile<u64, { THREADS as usize }>,
    mut odd: Tile<u64, { THREADS as usize }, 1, Odd>,
    mut block: Block,
    mut out: PerThread<u64>,
) {
    let own = thread::thread_idx_x() as usize;
    let mut value = x.get(out.index()).copied().unwrap_or(u64::MAX);
    let mut size = 2;
    while size <= THREADS as usize {
        let mut distance = size / 2;
        while distance > 0 {
            if let Some(cell) = even.mine(&block) {
                *cell = value;
            }
            let next = block.sync();
            let other = even.read(&next)[(0, own ^ distance)];
            value = kept(own, size, distance, value, other);
            distance /= 2;
            if let Some(cell) = odd.mine(&next) {
                *cell = value;
            }
            block = next.sync();
            if distance > 0 {
                let other = odd.read(&block)[(0, own ^ distance)];
                value = kept(own, size, distance, value, other);
                distance /= 2;
            }
        }
        size *= 2;
    }
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// The largest element of each block, and the number of elements above a threshold.
#[kernel(block = THREADS)]
pub fn reduces(
    x: &[f32],
    above: f32,
    mut block: Block,
    mut largest: PerBlock<f32>,
    mut count: PerBlock<u32>,
) {
    let value = x.get(thread::index_1d() as usize).copied().unwrap_or(f32::MIN);
    let max = block.reduce(value, f32::max);
    let number = block.count(value > above);
    if let Some(largest) = largest.mine() {
        *largest = max;
    }
    if let Some(count) = count.mine() {
        *count = number;
    }
}

/// Sums up to and before each element, of each block; in one of an odd number of threads, too.
macro_rules! scans {
    ($($name:ident $threads:literal;)*) => {$(
        /// The sums of each block up to and before each of its elements.
        #[kernel(block = $threads, same_length(x, up_to, before))]
        pub fn $name(
            x: &[u32],
            mut block: Block,
            mut up_to: PerThread<u32>,
            mut before: PerThread<u32>,
        ) {
            let i = up_to.index();
            let value = x.get(i).copied().unwrap_or(0);
            let sum = block.inclusive_scan(value, |a, b| a.wrapping_add(b));
            let sum_before = block.exclusive_scan(value, 1000, |a, b| a.wrapping_add(b));
            if let Some(up_to) = up_to.mine() {
                *up_to = sum;
            }
            if let Some(before) = before.mine() {
                *before = sum_before;
            }
        }
    )*};
}
scans! {
    scans_256 256;
    scans_1000 1000;
    scans_33 33;
}

/// Writes the elements above a threshold one after the other, in any order of the blocks.
#[kernel(block = THREADS)]
pub fn compacts(x: &[u32], above: u32, mut block: Block, end: &[AtomicU32], out: &[AtomicU32]) {
    let value = x.get(thread::index_1d() as usize).copied().filter(|x| *x > above);
    let before = block.exclusive_scan(u32::from(value.is_some()), 0, |a, b| a + b);
    let all = block.count(value.is_some());
    let mut first = 0;
    if block.thread() == 0 {
        first = end[0].fetch_add(all, Ordering::Relaxed);
    }
    let first = block.reduce(first, u32::max);
    if let Some(value) = value {
        out[(first + before) as usize].store(value, Ordering::Relaxed);
    }
}

/// Counts the keys and sums the weights of each bin, by atomic operations; the first lane of a warp counts its lanes.
#[kernel(block = THREADS, same_length(keys, weights))]
pub fn counts(
    keys: &[u32],
    weights: &[f32],
    bins: &[AtomicU32],
    sums: &[AtomicF32],
    warps: &[AtomicU32],
) {
    let i = thread::index_1d() as usize;
    if i < keys.len() {
        let bin = keys[i] as usize % bins.len();
        bins[bin].fetch_add(1, Ordering::Relaxed);
        sums[bin].fetch_add(weights[i], Ordering::Relaxed);
        let together = lanes::count();
        if lanes::rank() == 0 {
            warps[0].fetch_add(together, Ordering::Relaxed);
        }
    }
}

/// Returns what lanes of a warp do together, when all are there and when some are in another branch.
#[kernel(block = 64, same_length(x, out))]
pub fn shares(x: &[u32], mut out: PerThread<[u32; 4]>) {
    let i = out.index();
    let all = lanes::sum(1_u32);
    let mut some = [0; 3];
    if i < x.len() && x[i].is_multiple_of(3) {
        some = [lanes::sum(x[i]), lanes::first(x[i]), lanes::sum_below(1_u32)];
    }
    if let Some(out) = out.mine() {
        *out = [all, some[0], some[1], some[2]];
    }
}

/// Several elements of a thread, a block apart.
#[kernel(block = 64, same_length(x, out))]
pub fn doubles(x: &[u32], mut out: PerThread<u32, 4>) {
    for nth in 0..4 {
        let i = out.index_of(nth);
        if let Some(out) = out.nth(nth) {
            *out = 2 * x[i];
        }
    }
}
