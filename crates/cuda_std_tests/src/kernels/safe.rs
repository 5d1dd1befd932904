//! Kernels that are safe functions (`safe_..`), each beside the same kernel with pointers (`raw_..`): their PTX is compared.
//! No table launches them: the template of projects has the safe ones, and its tests run them.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::safe::{Block, PerBlock, PerThread, Plane, Tile, TransposedPlanePerThread};
use cuda_std::warp::{FULL_MASK, warp_shuffle_xor};

const THREADS: u32 = 256;
const TILE: u32 = 32;

#[kernel(block = THREADS, same_length(x, y, z))]
pub fn safe_saxpy(a: f32, x: &[f32], y: &[f32], mut z: PerThread<f32>) {
    let i = z.index();
    if let Some(z) = z.mine() {
        *z = a * x[i] + y[i];
    }
}

/// [`safe_saxpy`] with pointers.
#[kernel(launch_bounds(THREADS))]
pub unsafe fn raw_saxpy(a: f32, x: &[f32], y: &[f32], z: *mut f32) {
    let i = (thread::block_idx_x() * THREADS + thread::thread_idx_x()) as usize;
    if i < x.len() {
        // SAFETY: the arrays are equally long (launch contract).
        unsafe { *z.add(i) = a * *x.get_unchecked(i) + *y.get_unchecked(i) };
    }
}

/// A tile in shared memory, written by rows and read by columns.
#[kernel(block(TILE, TILE))]
pub fn safe_transpose(
    source: Plane<f32>,
    mut tile: Tile<f32, 33, 32>,
    block: Block,
    mut target: TransposedPlanePerThread<f32>,
) {
    let at = thread::index_2d();
    if let (Some(cell), Some(value)) = (tile.mine(&block), source.get(at.x, at.y)) {
        *cell = value;
    }
    let block = block.sync();
    let tile = tile.read(&block);
    if let Some(target) = target.mine() {
        *target = tile[(thread::thread_idx_x() as usize, thread::thread_idx_y() as usize)];
    }
}

/// [`safe_transpose`] with pointers.
#[kernel(launch_bounds(1024))]
pub unsafe fn raw_transpose(
    source: &[f32; 0],
    [width, height]: [u32; 2],
    target: *mut f32,
    [target_width, target_height]: [u32; 2],
) {
    #[address_space(shared)]
    static mut CELLS: MaybeUninit<[[f32; 33]; 32]> = MaybeUninit::uninit();
    let cells = (&raw mut CELLS).cast::<f32>();
    let (tid_x, tid_y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (block_x, block_y) = (thread::block_idx_x() * TILE, thread::block_idx_y() * TILE);
    let (x, y) = (block_x + tid_x, block_y + tid_y);
    if x < width && y < height {
        let offset = y as usize * width as usize + x as usize;
        // SAFETY: the matrix has such an element, and the tile such a cell (launch contract).
        unsafe { *cells.add((tid_y * 33 + tid_x) as usize) = *source.as_ptr().add(offset) };
    }
    thread::sync_threads();
    let (x, y) = (block_y + tid_x, block_x + tid_y);
    if x < target_width && y < target_height {
        let offset = y as usize * target_width as usize + x as usize;
        // SAFETY: the matrix has such an element, and the tile such a cell (launch contract).
        unsafe { *target.add(offset) = *cells.add((tid_x * 33 + tid_y) as usize) };
    }
}

/// The sum of each block's share.
#[kernel(block = THREADS)]
pub fn safe_sum(x: &[f32], mut block: Block, mut sums: PerBlock<f32>) {
    let threads = (thread::grid_dim_x() * THREADS) as usize;
    let mut sum = 0.0;
    let mut i = thread::index_1d() as usize;
    while i < x.len() {
        sum += x[i];
        i += threads;
    }
    let sum = block.sum(sum);
    if let Some(mine) = sums.mine() {
        *mine = sum;
    }
}

/// [`safe_sum`] with pointers.
#[kernel(launch_bounds(THREADS))]
pub unsafe fn raw_sum(x: &[f32], sums: *mut f32, blocks: usize) {
    #[address_space(shared)]
    static mut PARTIAL: MaybeUninit<[f32; 32]> = MaybeUninit::uninit();
    let partial = (&raw mut PARTIAL).cast::<f32>();
    let (tid, block) = (thread::thread_idx_x(), thread::block_idx_x());
    let threads = (thread::grid_dim_x() * THREADS) as usize;
    let mut sum = 0.0;
    let mut i = (block * THREADS + tid) as usize;
    while i < x.len() {
        // SAFETY: i is below the length.
        sum += unsafe { *x.get_unchecked(i) };
        i += threads;
    }
    let sum = warp_sum(sum);
    let lane = tid % 32;
    if lane == 0 {
        // SAFETY: a block has 8 warps.
        unsafe { *partial.add((tid / 32) as usize) = sum };
    }
    thread::sync_threads();
    let is_warp = lane < THREADS / 32;
    // SAFETY: as before.
    let sum = warp_sum(if is_warp { unsafe { *partial.add(lane as usize) } } else { 0.0 });
    if tid == 0 && (block as usize) < blocks {
        // SAFETY: the array has an element for each block (launch contract).
        unsafe { *sums.add(block as usize) = sum };
    }
}

/// The sum of a value of each lane.
#[inline(always)]
fn warp_sum(mut sum: f32) -> f32 {
    for distance in [16, 8, 4, 2, 1] {
        // SAFETY: all lanes of the warp come here.
        sum += unsafe { warp_shuffle_xor(FULL_MASK, sum, distance, 32) }.0;
    }
    sum
}
