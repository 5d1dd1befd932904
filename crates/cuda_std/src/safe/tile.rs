//! Shared memory that each thread writes in its own place, and that all threads then read.

use super::Launch;
use super::block::{Block, Even, Phase};
use crate::kernel::ByValue;
use crate::thread;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Index;

/// `W x H` cells of shared memory. In one phase of the block each thread writes its own cells, in the next one all
/// threads read all of them; [`Block::sync`] begins the next phase.
///
/// A thread's own cells are those whose column is `thread_idx_x` and whose row is `thread_idx_y`, counted modulo the
/// threads of the block along x and along y. So a tile may be larger than the block in either direction.
///
/// A kernel takes it as a parameter, which no launch passes: the memory is the block's. A cell that nobody wrote has any
/// value. `P` is the phase in which the tile is written: a kernel begins in an [`Even`] one, and a second tile that is
/// written in [`Odd`](super::Odd) ones makes two buffers that take turns.
///
/// ```
/// # use cuda_std::prelude::*;
/// # use cuda_std::safe::{Block, PerThread, Tile};
/// #[kernel(block = 32)]
/// pub fn reversed(x: &[f32], mut tile: Tile<f32, 32>, block: Block, mut out: PerThread<f32>) {
///     if let (Some(cell), Some(x)) = (tile.mine(&block), x.get(out.index())) {
///         *cell = *x;
///     }
///     let block = block.sync();
///     let tile = tile.read(&block);
///     if let Some(out) = out.mine() {
///         *out = tile[(0, 31 - thread::thread_idx_x() as usize)];
///     }
/// }
/// ```
/// It cannot be read before the barrier:
/// ```compile_fail,E0308
/// # use cuda_std::prelude::*;
/// # use cuda_std::safe::{Block, PerThread, Tile};
/// #[kernel(block = 32)]
/// pub fn reversed(mut tile: Tile<f32, 32>, block: Block, mut out: PerThread<f32>) {
///     if let Some(cell) = tile.mine(&block) { *cell = 1.0; }
///     let tile = tile.read(&block);
/// }
/// ```
/// nor written after it:
/// ```compile_fail,E0308
/// # use cuda_std::prelude::*;
/// # use cuda_std::safe::{Block, PerThread, Tile};
/// #[kernel(block = 32)]
/// pub fn reversed(mut tile: Tile<f32, 32>, block: Block, mut out: PerThread<f32>) {
///     let block = block.sync();
///     if let Some(cell) = tile.mine(&block) { *cell = 1.0; }
/// }
/// ```
/// and what was borrowed in one phase is gone in the next:
/// ```compile_fail,E0505
/// # use cuda_std::prelude::*;
/// # use cuda_std::safe::{Block, PerThread, Tile};
/// #[kernel(block = 32)]
/// pub fn reversed(mut tile: Tile<f32, 32>, block: Block, mut out: PerThread<f32>) {
///     let cell = tile.mine(&block);
///     let block = block.sync();
///     if let Some(cell) = cell { *cell = 1.0; }
/// }
/// ```
pub struct Tile<'l, T: 'static, const W: usize, const H: usize = 1, P: Phase = Even> {
    cells: *mut [[T; W]; H],
    launch: PhantomData<(&'l (), P)>,
}

/// The cells of a [`Tile`] in a phase in which all threads may read them.
pub struct ReadTile<'b, T: 'static, const W: usize, const H: usize = 1> {
    cells: &'b [[T; W]; H],
}

/// The static of a tile.
///
/// # Safety
/// - `in_memory` is valid for `'l` alone, and accesses no more than `Cells`.
#[doc(hidden)]
pub unsafe trait Shared<'l> {
    /// The cells.
    type Cells;

    /// The tile in this memory.
    ///
    /// # Safety
    /// - `cells` is shared memory that the kernel uses for this tile alone.
    /// - The block has at most two dimensions.
    unsafe fn in_memory(cells: *mut MaybeUninit<Self::Cells>, launch: &'l Launch) -> Self;
}

// SAFETY: the value borrows from the launch.
unsafe impl<'l, T: ByValue, const W: usize, const H: usize, P: Phase> Shared<'l>
    for Tile<'l, T, W, H, P>
{
    type Cells = [[T; W]; H];

    #[inline(always)]
    unsafe fn in_memory(cells: *mut MaybeUninit<Self::Cells>, _: &'l Launch) -> Self {
        Self { cells: cells.cast(), launch: PhantomData }
    }
}

impl<T: ByValue, const W: usize, const H: usize, P: Phase> Tile<'_, T, W, H, P> {
    /// The cell at the thread's own place in the block, if the tile has one there.
    #[inline(always)]
    pub fn mine<'b>(&'b mut self, block: &'b Block<'_, P>) -> Option<&'b mut T> {
        self.nth(block, 0)
    }

    /// The thread's cell `nth`, if the tile has one there: below its own by `nth` times the block's threads along y.
    #[inline(always)]
    pub fn nth<'b>(&'b mut self, _: &'b Block<'_, P>, nth: u32) -> Option<&'b mut T> {
        let x = thread::thread_idx_x() as usize;
        let strip = nth as usize * thread::block_dim_y() as usize;
        let y = strip + thread::thread_idx_y() as usize;
        // SAFETY: the cell is within the tile. It is this thread's alone: a block has at most two dimensions, the row is
        // `thread_idx_y` modulo the block's threads along y, and in a phase of `P`, which lasts while the block is
        // borrowed, no thread reads.
        (x < W && y < H).then(|| unsafe { &mut (*self.cells)[y][x] })
    }

    /// Writes all of the thread's own cells; `value` is asked for each by its row and column.
    ///
    /// This loads a tile with a halo: for a radius of 2 the tile has 4 more rows and columns than the block.
    #[inline(always)]
    pub fn fill(&mut self, _: &Block<'_, P>, mut value: impl FnMut(usize, usize) -> T) {
        let mut row = thread::thread_idx_y() as usize;
        while row < H {
            let mut column = thread::thread_idx_x() as usize;
            while column < W {
                // Asked first: the function may be long, and the cell is borrowed for the store alone.
                let value = value(row, column);
                // SAFETY: as for `nth`; the column is `thread_idx_x` modulo the block's threads along x.
                unsafe { (&raw mut (*self.cells)[row][column]).write(value) };
                column += thread::block_dim_x() as usize;
            }
            row += thread::block_dim_y() as usize;
        }
    }

    /// All cells, to read, in a phase in which nobody writes the tile.
    #[inline(always)]
    pub fn read<'b>(&'b self, _: &'b Block<'_, P::Next>) -> ReadTile<'b, T, W, H> {
        // SAFETY: the memory is there while the kernel runs, and in a phase of `P::Next`, which lasts while the block is
        // borrowed, nobody writes it; any bytes are a value of a `ByValue` type.
        ReadTile { cells: unsafe { &*self.cells } }
    }
}

impl<T: ByValue, const W: usize, const H: usize> Index<(usize, usize)> for ReadTile<'_, T, W, H> {
    type Output = T;

    #[inline(always)]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        &self.cells[row][column]
    }
}
