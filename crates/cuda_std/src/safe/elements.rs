//! Arrays of one dimension, of which a thread or a block writes its own elements.

use super::{FromLaunch, Launch, MOST_ROWS, Passed};
use crate::kernel::ByValue;
use crate::thread;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// Elements of which each thread of a launch in one dimension may write the one at its own index, or `EACH` of them:
/// then a block covers `EACH` times as many elements as it has threads, and a thread has those that lie that many apart.
pub struct PerThread<'l, T, const EACH: u32 = 1> {
    first: NonNull<T>,
    length: usize,
    launch: PhantomData<&'l mut [T]>,
}

impl<T: ByValue, const EACH: u32> PerThread<'_, T, EACH> {
    /// The number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The index of the thread's first element, which may lie beyond the end: with one element each, the thread's index
    /// in the grid.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.index_of(0)
    }

    /// The index of the thread's element `nth`, which may lie beyond the end.
    #[inline(always)]
    pub fn index_of(&self, nth: u32) -> usize {
        const { assert!(EACH <= MOST_ROWS, "a thread has at most 16 elements") };
        if EACH == 1 && nth == 0 {
            return thread::index_1d() as usize;
        }
        let strip = thread::block_idx_x() as usize * EACH as usize + nth as usize;
        strip * thread::block_dim_x() as usize + thread::thread_idx_x() as usize
    }

    /// The thread's own element, if there is one; its first, if it has several.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        self.nth(0)
    }

    /// The thread's element `nth` of its `EACH`, if there is one.
    #[inline(always)]
    pub fn nth(&mut self, nth: u32) -> Option<&mut T> {
        let index = self.index_of(nth);
        // SAFETY: the index is below the length. No other thread has it, nor has this one by another number: the launch has
        // one dimension and at most 2^32 threads (the module's contract, which `Launcher::run` checks), and a number below
        // `EACH` gives one strip of the block.
        (nth < EACH && index < self.length).then(|| unsafe { &mut *self.first.as_ptr().add(index) })
    }
}

/// Elements of which the first thread of each block of a launch in one dimension may write the one at the block's index.
pub struct PerBlock<'l, T> {
    first: NonNull<T>,
    length: usize,
    launch: PhantomData<&'l mut [T]>,
}

impl<T: ByValue> PerBlock<'_, T> {
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

macro_rules! from_launch {
    ($($own:ident [$($each:tt)*] [$($number:tt)*];)*) => {$(
        // SAFETY: a pointer to elements.
        unsafe impl<T, $($each)*> Passed for $own<'_, T, $($number)*> {
            type Pointer = NonNull<T>;
            type Extent = usize;
            type Element = T;
        }

        // SAFETY: the value borrows from the launch.
        unsafe impl<'l, T, $($each)*> FromLaunch<'l> for $own<'l, T, $($number)*> {
            #[inline(always)]
            unsafe fn from_launch(first: NonNull<T>, length: usize, _: &'l Launch) -> Self {
                Self { first, length, launch: PhantomData }
            }
        }
    )*};
}
from_launch! {
    PerThread [const EACH: u32] [EACH];
    PerBlock [] [];
}
