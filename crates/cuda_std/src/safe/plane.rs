//! Arrays of two dimensions: read anywhere, or written by each thread in its own place.

use super::{FromLaunch, Launch, MOST_ROWS, Passed};
use crate::kernel::ByValue;
use crate::thread;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// The offset of an element of a plane that is stored row by row, if there is such an element.
#[inline(always)]
fn offset(x: u32, y: u32, [width, height]: [u32; 2]) -> Option<usize> {
    (x < width && y < height).then(|| y as usize * width as usize + x as usize)
}

/// Rows of elements, one after the other, which the kernel reads.
pub struct Plane<'l, T> {
    first: &'l [T; 0],
    extent: [u32; 2],
}

impl<T: ByValue> Plane<'_, T> {
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

    /// The element at column `x` of row `y`, or the nearest at an edge; `None` for a plane without elements.
    #[inline(always)]
    pub fn get_clamped(&self, x: i32, y: i32) -> Option<T> {
        let [width, height] = self.extent;
        let [last_x, last_y] = [width.checked_sub(1)?, height.checked_sub(1)?];
        let [x, y] = [x.max(0) as u32, y.max(0) as u32];
        self.get(x.min(last_x), y.min(last_y))
    }
}

// SAFETY: a pointer to elements.
unsafe impl<T: 'static> Passed for Plane<'_, T> {
    type Pointer = &'static [T; 0];
    type Extent = [u32; 2];
    type Element = T;
}

// SAFETY: the value borrows from the launch.
unsafe impl<'l, T: 'static> FromLaunch<'l> for Plane<'l, T> {
    #[inline(always)]
    unsafe fn from_launch(first: &'static [T; 0], extent: [u32; 2], _: &'l Launch) -> Self {
        Self { first, extent }
    }
}

/// Rows of elements of which each thread of a launch in two dimensions may write the one at its own x and y index, or
/// `ROWS` of them: then a block covers `ROWS` times as many rows as it has threads along y, and a thread has those that lie
/// that many threads apart.
pub struct PlanePerThread<'l, T, const ROWS: u32 = 1> {
    first: NonNull<T>,
    extent: [u32; 2],
    launch: PhantomData<&'l mut [T]>,
}

/// As [`PlanePerThread`], with rows and columns of blocks exchanged: a thread's element is where it would be if the block
/// at (x, y) were the block at (y, x). So a block writes the transposed tile of the one it read, and still row by row.
pub struct TransposedPlanePerThread<'l, T, const ROWS: u32 = 1> {
    first: NonNull<T>,
    extent: [u32; 2],
    launch: PhantomData<&'l mut [T]>,
}

macro_rules! plane_per_thread {
    ($plane:ident, $x:expr, $block_y:expr) => {
        impl<T: ByValue, const ROWS: u32> $plane<'_, T, ROWS> {
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

        // SAFETY: a pointer to elements.
        unsafe impl<T, const ROWS: u32> Passed for $plane<'_, T, ROWS> {
            type Pointer = NonNull<T>;
            type Extent = [u32; 2];
            type Element = T;
        }

        // SAFETY: the value borrows from the launch.
        unsafe impl<'l, T, const ROWS: u32> FromLaunch<'l> for $plane<'l, T, ROWS> {
            #[inline(always)]
            unsafe fn from_launch(first: NonNull<T>, extent: [u32; 2], _: &'l Launch) -> Self {
                Self { first, extent, launch: PhantomData }
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
