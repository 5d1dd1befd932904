//! Attacks that once broke the safe API, and still compile: each has to be right, or refused at the launch.

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use cuda_std::prelude::*;
use cuda_std::safe::{Block, PerBlock, PerThread, Tile};

/// Two halves of the block meet at different barriers of the source.
#[kernel(block = 64)]
pub fn meets_elsewhere(mut tile: Tile<u32, 64>, block: Block, mut out: PerThread<u32>) {
    let i = thread::thread_idx_x() as usize;
    if let Some(cell) = tile.mine(&block) {
        *cell = i as u32;
    }
    let read = if i < 32 {
        let block = block.sync();
        tile.read(&block)[(0, 63 - i)]
    } else {
        let block = block.sync();
        tile.read(&block)[(0, i - 32)]
    };
    if let Some(out) = out.mine() {
        *out = read;
    }
}

/// One half of the block has the handles of two tiles exchanged.
#[kernel(block = 64)]
pub fn swaps_tiles<'l>(
    mut a: Tile<'l, u32, 64>,
    mut b: Tile<'l, u32, 64>,
    block: Block,
    mut out: PerThread<u32>,
) {
    let i = thread::thread_idx_x() as usize;
    if let (Some(a), Some(b)) = (a.mine(&block), b.mine(&block)) {
        (*a, *b) = (i as u32, 100 + i as u32);
    }
    if i < 32 {
        core::mem::swap(&mut a, &mut b);
    }
    let block = block.sync();
    if let Some(out) = out.mine() {
        *out = a.read(&block)[(0, 63 - i)];
    }
}

/// Each lane writes through the handle of one tile or the other.
#[kernel(block = 64)]
pub fn chooses_tiles<'l>(
    mut a: Tile<'l, u32, 64>,
    mut b: Tile<'l, u32, 64>,
    block: Block,
    mut out: PerThread<u32>,
) {
    let i = thread::thread_idx_x();
    let chosen = if i.is_multiple_of(2) { &mut a } else { &mut b };
    if let Some(cell) = chosen.mine(&block) {
        *cell = i;
    }
    let block = block.sync();
    let chosen = if i.is_multiple_of(2) { a.read(&block) } else { b.read(&block) };
    if let Some(out) = out.mine() {
        *out = chosen[(0, i as usize)];
    }
}

/// A block whose last warp is not whole.
#[kernel(block = 40)]
pub fn sums_forty(mut block: Block, mut out: PerThread<u32>) {
    let sum = block.sum(1_u32);
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// Some threads have returned.
#[kernel(block = 64)]
pub fn sums_after_return(x: &[u32], mut block: Block, mut out: PerThread<u32>) {
    let i = thread::index_1d() as usize;
    if i >= x.len() {
        return;
    }
    let sum = block.sum(x[i]);
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// The lanes of each warp come to the sum by two ways.
#[kernel(block = 64)]
pub fn sums_in_branches(x: &[u32], mut block: Block, mut out: PerThread<u32>) {
    let i = thread::index_1d() as usize;
    let sum = if x[i].is_multiple_of(2) { block.sum(1_u32) } else { block.sum(black_box(100_u32)) };
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// A slice of nothing is no null reference.
#[kernel(block = 32)]
pub fn sees_no_null(x: &[u32], mut out: PerThread<u32>) {
    let some = black_box(Some(x));
    if let Some(out) = out.mine() {
        *out = u32::from(some.is_some());
    }
}

/// Nor is an element without bytes.
#[kernel(block = 32)]
pub fn sees_no_null_element(mut nothing: PerThread<[u32; 0]>, mut out: PerThread<u32>) {
    let mine = black_box(nothing.mine());
    if let Some(out) = out.mine() {
        *out = u32::from(mine.is_some());
    }
}

#[cfg(target_arch = "nvptx64")]
pub type Element = [u64; 64];
/// An element that is larger on the device.
#[cfg(not(target_arch = "nvptx64"))]
pub type Element = [u64; 1];

/// Takes elements that are larger on the device.
#[kernel(block = 1, same_length(x, out))]
pub fn differs_by_target(x: &[Element], mut out: PerThread<Element>) {
    let i = out.index();
    if let Some(out) = out.mine() {
        *out = x[i];
    }
}

/// A number that a feature makes larger.
#[cfg(feature = "double")]
pub type Real = f64;
/// A number that a feature makes larger.
#[cfg(not(feature = "double"))]
pub type Real = f32;

/// Takes numbers that a feature makes larger.
#[kernel(block = 1, same_length(x, out))]
pub fn differs_by_feature(x: &[Real], mut out: PerThread<Real>) {
    let i = out.index();
    if let Some(out) = out.mine() {
        *out = x[i] + 1.0;
    }
}

/// A structure that a feature makes smaller.
#[derive(Clone, Copy, Argument)]
#[repr(C)]
pub struct Step {
    /// First summand.
    pub first: u32,
    /// The other summands.
    pub others: [u32; if cfg!(feature = "double") { 1 } else { 7 }],
}

/// Takes a structure that a feature makes smaller.
#[kernel(block = 1)]
pub fn differs_by_value(step: Step, mut out: PerThread<u32>) {
    if let Some(out) = out.mine() {
        *out = step.others.iter().fold(step.first, |sum, other| sum + other);
    }
}

static DATA: AtomicU32 = AtomicU32::new(0);
static FLAG: AtomicU32 = AtomicU32::new(0);

/// A message by the atomics of `core`: exchange with release, compare and exchange with acquire.
#[kernel(block = 1)]
pub fn sends_a_message(mut out: PerBlock<u32>) {
    let mut got = 42;
    if thread::block_idx_x() == 0 {
        DATA.store(42, Ordering::Relaxed);
        FLAG.swap(1, Ordering::Release);
    } else if FLAG.compare_exchange(1, 2, Ordering::Acquire, Ordering::Relaxed).is_ok() {
        got = DATA.load(Ordering::Relaxed);
    }
    if let Some(out) = out.mine() {
        *out = got;
    }
}

/// Returns what every block adds to, with an ordering, before a fence.
#[kernel(block = 1)]
pub fn adds_in_order(mut out: PerBlock<u32>) {
    let before = FLAG.fetch_add(1, Ordering::AcqRel);
    fence(Ordering::SeqCst);
    if let Some(out) = out.mine() {
        *out = before;
    }
}

/// Correct code that was accused: `false & (undefined > 2)` is false.
#[kernel(block = 32)]
pub fn filters(x: &[f32], mut block: Block, mut out: PerThread<f32>) {
    let value = x.get(out.index()).copied().filter(|x| *x > 2.0);
    let all = block.count(value.is_some());
    let block = block.sync();
    if let (Some(value), Some(out)) = (value, out.mine()) {
        *out = value * all as f32;
    }
    let _ = block;
}

/// Reads a cell that nobody wrote, and uses it as an index that is checked.
#[kernel(block = 32)]
pub fn reads_the_unwritten(x: &[u32], tile: Tile<u32, 32>, block: Block, mut out: PerThread<u32>) {
    let block = block.sync();
    let i = tile.read(&block)[(0, 3)] as usize;
    if let Some(out) = out.mine() {
        *out = x.get(i).copied().unwrap_or(4);
    }
}
