//! Parameters with which a kernel needs no `unsafe`: what each thread may write is in their types.
//!
//! Two threads must not write one element. Here the index of the element that a thread writes is made of the thread's own
//! position, by these types and not by the kernel, so that no two threads have the same. A kernel whose parameters are
//! values, `&[T]`, these types and [`Tile`]s of shared memory is a safe `fn`, if it says its block:
//!
//! ```
//! use cuda_std::prelude::*;
//! use cuda_std::safe::PerThread;
//!
//! /// z = a x + y
//! #[kernel(block = 256, same_length(x, y, z))]
//! pub fn saxpy(a: f32, x: &[f32], y: &[f32], mut z: PerThread<f32>) {
//!     let i = z.index();
//!     if let Some(z) = z.mine() {
//!         *z = a * x[i] + y[i];
//!     }
//! }
//! ```
//!
//! What the types rest on is the launch's: its block is the one that the kernel says, its grid has no more dimensions than
//! the types, and the slices under `same_length` are equally long. `cuda_host`'s `Launcher::run` checks it. The device takes
//! the length of one for all of them, so that the compiler sees that `x[i]` and `y[i]` are within bounds where `z` has an
//! element, and checks nothing twice: the PTX is that of the kernel with raw pointers.
//!
//! Not found by any type is a barrier that a part of a block never reaches: the kernel hangs, on a GPU and in the executor,
//! which names the barrier. Nothing is read or written wrongly by that.

use crate::kernel::ByValue;
use crate::warp::{FULL_MASK, WARP_SIZE, WarpShuffleValue, warp_shuffle_xor};
use crate::{nvvm, thread};
use core::mem::MaybeUninit;
use core::ops::{Add, Index};
use core::ptr::NonNull;

/// What a launch passes as a pointer and an extent.
#[doc(hidden)]
pub trait FromLaunch {
    /// The pointer's type in the PTX entry: a reference where the memory is only read.
    type Pointer: Copy;
    /// The type of what says how much memory there is.
    type Extent: Copy;

    /// The parameter.
    ///
    /// # Safety
    /// The memory has the extent, and nobody else writes it while the kernel runs; the launch is as the module says.
    unsafe fn from_launch(pointer: Self::Pointer, extent: Self::Extent) -> Self;
}

/// Elements of which each thread of a launch in one dimension may write the one at its own index.
pub struct PerThread<T> {
    first: NonNull<T>,
    length: usize,
}

impl<T: ByValue> PerThread<T> {
    /// The number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The thread's index in the grid. There may be fewer elements.
    #[inline(always)]
    pub fn index(&self) -> usize {
        thread::index_1d() as usize
    }

    /// The thread's own element, if there is one.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        let index = self.index();
        // SAFETY: the index is below the length, and no other thread has it: the launch has one dimension and at most 2^32
        // threads (the module's contract, which `Launcher::run` checks).
        (index < self.length).then(|| unsafe { &mut *self.first.as_ptr().add(index) })
    }
}

impl<T> FromLaunch for PerThread<T> {
    type Pointer = NonNull<T>;
    type Extent = usize;

    #[inline(always)]
    unsafe fn from_launch(first: NonNull<T>, length: usize) -> Self {
        Self { first, length }
    }
}

/// Elements of which the first thread of each block of a launch in one dimension may write the one at the block's index.
pub struct PerBlock<T> {
    first: NonNull<T>,
    length: usize,
}

impl<T: ByValue> PerBlock<T> {
    /// The block's element, if there is one and this is the block's first thread.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        let index = thread::block_idx_x() as usize;
        let is_mine = thread::thread_idx_x() == 0 && index < self.length;
        // SAFETY: the index is below the length, and no other thread has it: the launch has one dimension, and a block has
        // one first thread.
        is_mine.then(|| unsafe { &mut *self.first.as_ptr().add(index) })
    }
}

impl<T> FromLaunch for PerBlock<T> {
    type Pointer = NonNull<T>;
    type Extent = usize;

    #[inline(always)]
    unsafe fn from_launch(first: NonNull<T>, length: usize) -> Self {
        Self { first, length }
    }
}

/// The offset of an element of a plane that is stored row by row, if there is such an element.
#[inline(always)]
fn offset(x: u32, y: u32, [width, height]: [u32; 2]) -> Option<usize> {
    (x < width && y < height).then(|| y as usize * width as usize + x as usize)
}

/// Rows of elements, one after the other, which the kernel reads.
pub struct Plane<T: 'static> {
    first: &'static [T; 0],
    extent: [u32; 2],
}

impl<T: ByValue> Plane<T> {
    /// The elements of a row, and the rows.
    #[inline(always)]
    pub fn extent(&self) -> [u32; 2] {
        self.extent
    }

    /// The element at column `x` of row `y`, if there is one.
    #[inline(always)]
    pub fn get(&self, x: u32, y: u32) -> Option<T> {
        // SAFETY: the offset is within the plane, which the launch says is there.
        offset(x, y, self.extent).map(|offset| unsafe { *self.first.as_ptr().add(offset) })
    }
}

impl<T> FromLaunch for Plane<T> {
    type Pointer = &'static [T; 0];
    type Extent = [u32; 2];

    #[inline(always)]
    unsafe fn from_launch(first: &'static [T; 0], extent: [u32; 2]) -> Self {
        Self { first, extent }
    }
}

/// The most rows of a plane that a thread may have. `cuda_host` counts on it.
pub const MOST_ROWS: u32 = 16;

/// Rows of elements of which each thread of a launch in two dimensions may write the one at its own x and y index, or
/// `ROWS` of them: then a block covers `ROWS` times as many rows as it has threads along y, and a thread has those that lie
/// that many threads apart.
pub struct PlanePerThread<T, const ROWS: u32 = 1> {
    first: NonNull<T>,
    extent: [u32; 2],
}

/// As [`PlanePerThread`], with rows and columns of blocks exchanged: a thread's element is where it would be if the block
/// at (x, y) were the block at (y, x). So a block writes the transposed tile of the one it read, and still row by row.
pub struct TransposedPlanePerThread<T, const ROWS: u32 = 1> {
    first: NonNull<T>,
    extent: [u32; 2],
}

macro_rules! plane_per_thread {
    ($plane:ident, $x:expr, $block_y:expr) => {
        impl<T: ByValue, const ROWS: u32> $plane<T, ROWS> {
            /// The elements of a row, and the rows.
            #[inline(always)]
            pub fn extent(&self) -> [u32; 2] {
                self.extent
            }

            /// The column and the row of the thread's first element, which may lie beyond the plane.
            #[inline(always)]
            pub fn index(&self) -> [u32; 2] {
                self.index_of(0)
            }

            /// The column and the row of the thread's element `nth`, which may lie beyond the plane.
            #[inline(always)]
            pub fn index_of(&self, nth: u32) -> [u32; 2] {
                const { assert!(ROWS <= MOST_ROWS, "a thread has at most 16 rows") };
                let strip = $block_y.wrapping_mul(ROWS).wrapping_add(nth);
                let y = strip.wrapping_mul(thread::block_dim_y());
                [$x, y.wrapping_add(thread::thread_idx_y())]
            }

            /// The thread's own element, if there is one; its first, if it has several.
            #[inline(always)]
            pub fn mine(&mut self) -> Option<&mut T> {
                self.nth(0)
            }

            /// The thread's element `nth` of its `ROWS`, if there is one.
            #[inline(always)]
            pub fn nth(&mut self, nth: u32) -> Option<&mut T> {
                let [x, y] = self.index_of(nth);
                let offset = offset(x, y, self.extent).filter(|_| nth < ROWS)?;
                // SAFETY: the offset is within the plane. No other thread has it, nor has this one by another number: a
                // block's position and a thread's within it give one x, and with a number below `ROWS` one y, for the
                // launch has two dimensions, and as many blocks along any as threads along any have at most 2^32 rows
                // (the module's contract).
                Some(unsafe { &mut *self.first.as_ptr().add(offset) })
            }
        }

        impl<T, const ROWS: u32> FromLaunch for $plane<T, ROWS> {
            type Pointer = NonNull<T>;
            type Extent = [u32; 2];

            #[inline(always)]
            unsafe fn from_launch(first: NonNull<T>, extent: [u32; 2]) -> Self {
                Self { first, extent }
            }
        }
    };
}
plane_per_thread!(PlanePerThread, thread::index_2d().x, thread::block_idx_y());
plane_per_thread!(
    TransposedPlanePerThread,
    thread::block_idx_y().wrapping_mul(thread::block_dim_x()).wrapping_add(thread::thread_idx_x()),
    thread::block_idx_x()
);

/// `W x H` cells of shared memory, while each thread may write its own: that at column `thread_idx_x` of row
/// `thread_idx_y`, and those below it at distances of the block's threads along y. [`Tile::sync`] ends that and gives all cells to all threads to read.
///
/// A kernel takes it as a parameter, which no launch passes: the memory is the block's, and there is one of each.
/// A cell that nobody wrote has any value.
///
/// A thread that has written a tile cannot read it before the barrier:
///
/// ```compile_fail,E0608
/// # use cuda_std::prelude::*;
/// # use cuda_std::safe::{PerThread, Tile};
/// #[kernel(block = 32)]
/// pub fn reversed(mut tile: Tile<f32, 32>, mut out: PerThread<f32>) {
///     if let Some(mine) = tile.mine() { *mine = 1.0; }
///     let other = tile[(0, 3)];
/// }
/// ```
/// nor write it afterwards:
///
/// ```compile_fail,E0382
/// # use cuda_std::prelude::*;
/// # use cuda_std::safe::{PerThread, Tile};
/// #[kernel(block = 32)]
/// pub fn reversed(mut tile: Tile<f32, 32>, mut out: PerThread<f32>) {
///     let read = tile.sync();
///     if let Some(mine) = tile.mine() { *mine = 1.0; }
/// }
/// ```
pub struct Tile<T: 'static, const W: usize, const H: usize = 1> {
    cells: *mut [[T; W]; H],
}

/// The cells of a [`Tile`] that all threads may read.
pub struct ReadTile<T: 'static, const W: usize, const H: usize = 1> {
    cells: *const [[T; W]; H],
}

/// What a tile's static is made of.
#[doc(hidden)]
pub trait Shared {
    /// The cells.
    type Cells;

    /// The tile in this memory.
    ///
    /// # Safety
    /// `cells` is shared memory that the kernel uses for this tile alone, and the block has at most two dimensions.
    unsafe fn in_memory(cells: *mut MaybeUninit<Self::Cells>) -> Self;
}

impl<T: ByValue, const W: usize, const H: usize> Shared for Tile<T, W, H> {
    type Cells = [[T; W]; H];

    #[inline(always)]
    unsafe fn in_memory(cells: *mut MaybeUninit<Self::Cells>) -> Self {
        Self { cells: cells.cast() }
    }
}

impl<T: ByValue, const W: usize, const H: usize> Tile<T, W, H> {
    /// The thread's own cell, if the tile has one at its place in the block.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        self.nth(0)
    }

    /// The thread's cell `nth`, if the tile has one there: below its own by `nth` times the block's threads along y.
    #[inline(always)]
    pub fn nth(&mut self, nth: u32) -> Option<&mut T> {
        let x = thread::thread_idx_x() as usize;
        let strip = nth as usize * thread::block_dim_y() as usize;
        let y = strip + thread::thread_idx_y() as usize;
        // SAFETY: the cell is within the tile, and it is this thread's alone: a block has at most two dimensions, another
        // thread's rows differ by less than the strips are apart, and until the barrier nobody reads.
        (x < W && y < H).then(|| unsafe { &mut (*self.cells)[y][x] })
    }

    /// Waits for the block; what each thread has written can then be read by all.
    #[inline(always)]
    pub fn sync(self) -> ReadTile<T, W, H> {
        barrier();
        ReadTile { cells: self.cells }
    }
}

impl<T: ByValue, const W: usize, const H: usize> ReadTile<T, W, H> {
    /// Waits for the block; then nobody reads any more, and each thread may write its own cell again.
    #[inline(always)]
    pub fn sync(self) -> Tile<T, W, H> {
        barrier();
        Tile { cells: self.cells.cast_mut() }
    }
}

impl<T: ByValue, const W: usize, const H: usize> Index<(usize, usize)> for ReadTile<T, W, H> {
    type Output = T;

    /// The cell at (row, column).
    #[inline(always)]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        // SAFETY: until the next barrier nobody writes; any bytes are a value of a `ByValue` type.
        unsafe { &(&(*self.cells))[row][column] }
    }
}

/// The barrier of all threads of the block. Not the aligned one of `sync_threads`: that may only stand where whole warps
/// come together, which no type can say.
#[inline(always)]
fn barrier() {
    // SAFETY: barrier 0 exists in every block, and waiting for it touches no memory.
    unsafe { nvvm::barrier_sync_all_diverged(0) }
}

/// The sum of a value of each thread of the block, in every thread; `partial` holds a sum of each warp meanwhile. Sums in
/// pairs of lanes at a distance of 16, 8, 4, 2, 1, then of the warps in the same way.
#[inline(always)]
pub fn block_sum<T: ByValue + Add<Output = T> + Default + WarpShuffleValue>(
    value: T,
    partial: Tile<T, 32>,
) -> T {
    let linear = thread::thread_idx_x()
        + thread::block_dim_x()
            * (thread::thread_idx_y() + thread::block_dim_y() * thread::thread_idx_z());
    let (warp, lane) = (linear / WARP_SIZE, linear % WARP_SIZE);
    let sum = warp_sum(value);
    if lane == 0 {
        // SAFETY: a block has at most 32 warps, and this lane alone writes the cell of its warp.
        unsafe { (*partial.cells)[0][warp as usize] = sum };
    }
    let partial = partial.sync();
    let threads = thread::block_dim_x() * thread::block_dim_y() * thread::block_dim_z();
    let is_warp = lane < threads.div_ceil(WARP_SIZE);
    warp_sum(if is_warp { partial[(0, lane as usize)] } else { T::default() })
}

/// The sum of a value of each lane, in every lane.
#[inline(always)]
fn warp_sum<T: Copy + Add<Output = T> + WarpShuffleValue>(value: T) -> T {
    let mut sum = value;
    for distance in [16, 8, 4, 2, 1] {
        // SAFETY: the mask names all lanes. A lane that has ended or does not come along gives some value.
        sum = sum + unsafe { warp_shuffle_xor(FULL_MASK, sum, distance, WARP_SIZE) }.0;
    }
    sum
}
