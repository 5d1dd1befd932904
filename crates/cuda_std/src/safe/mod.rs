//! Parameters with which a kernel needs no `unsafe`: what each thread may write is in their types.
//!
//! Two threads must not write one element. Here the index of the element that a thread writes is made of the thread's own
//! position, by these types and not by the kernel, so that no two threads have the same. A kernel whose parameters are
//! values, `&[T]` and these types is a safe `fn`, if it says its block:
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
//! | parameter | the kernel |
//! |---|---|
//! | a value, `#[derive(Argument)]` | reads it |
//! | `&[T]`, [`Plane`] | reads any element |
//! | [`PerThread`], [`PlanePerThread`], [`TransposedPlanePerThread`] | writes the thread's own elements |
//! | [`PerBlock`] | writes the block's element, in the block's first thread |
//! | `&[AtomicU32]` and the other atomics | changes any element, by atomic operations |
//! | [`Tile`] with [`Block`] | writes the thread's own cells of shared memory, then reads all |
//! | [`Block`] | meets the block's other threads: barriers, reductions, scans |
//! | a static [`Constant`] | reads what the host wrote before the launch |
//!
//! [`lanes`] has the operations of a warp.
//!
//! # What is promised
//! A safe kernel that `cuda_host`'s `Launcher::run` launches has no data race and no access out of bounds, and its
//! parameters end with the launch. This rests on:
//! - the types of this module, which make indices of the thread's position;
//! - the launch: its block is the kernel's, its grid has no more dimensions than the types, and slices under
//!   `same_length` are equally long. The device takes the length of one for all of them, so the compiler removes the
//!   checks of bounds;
//! - the build, which records the layout of every parameter. A launch compares it with the host's, so types and Cargo
//!   features that differ between the two builds are an error;
//! - the build, which refuses a safe kernel that reaches a barrier of whole warps, such as `thread::sync_threads`.
//!
//! # What is not promised
//! - A barrier that a part of a block never reaches: the kernel hangs, on a GPU and in the executor, which names it.
//! - Sums and scans of a [`Block`] that its threads call in different orders: their values are unspecified.
//! - The cells of a [`Tile`] that a thread wrote before it returned: a thread that others read stays until the barrier.
//! - The values of cells that nobody wrote, and of atomics without an ordering between threads.
//! - What `unsafe` code of the crate or of the host does, for example a copy into a buffer while a kernel runs; and what
//!   cust's `DeviceSlice` is used for, which can be copied out of its buffer (`*buffer`).

mod block;
mod elements;
pub mod lanes;
mod plane;
mod symbol;
mod tile;

pub use block::{Block, Even, Odd, Phase};
pub use elements::{PerBlock, PerThread};
pub use plane::{Plane, PlanePerThread, TransposedPlanePerThread};
pub use symbol::{Constant, HostWritten};
pub use tile::{ReadTile, Tile};

#[doc(hidden)]
pub use tile::Shared;

/// The most elements or rows that a thread may have. `cuda_host` counts on it.
pub const MOST_ROWS: u32 = 16;

/// One launch, seen from one thread: what a kernel's parameters borrow from, so that none outlives it.
#[doc(hidden)]
pub struct Launch(());

impl Launch {
    /// The launch that runs this thread.
    ///
    /// # Safety
    /// - Only a kernel's entry calls this, once.
    /// - The value is dropped when the entry returns.
    #[inline(always)]
    pub unsafe fn begin() -> Launch {
        Launch(())
    }

    /// Elements that a launch passed, borrowed until it ends.
    ///
    /// # Safety
    /// - `first` is aligned and not null.
    /// - As many elements lie there as `length` says, and nobody writes them while the launch runs.
    #[inline(always)]
    pub unsafe fn slice<T>(&self, first: *const T, length: usize) -> &[T] {
        // SAFETY: the caller's contract.
        unsafe { core::slice::from_raw_parts(first, length) }
    }
}

/// A parameter that is memory, passed as a pointer and an extent.
///
/// # Safety
/// - `Element` is what the pointer points to.
#[doc(hidden)]
pub unsafe trait Passed {
    /// The pointer's type in the PTX entry: a reference where the memory is only read.
    type Pointer: Copy;
    /// The type of what says how much memory there is.
    type Extent: Copy;
    /// The type of the elements.
    type Element;
}

/// A parameter that is memory.
///
/// # Safety
/// - `from_launch` gives access to the memory for `'l` alone.
#[doc(hidden)]
pub unsafe trait FromLaunch<'l>: Passed {
    /// The parameter.
    ///
    /// # Safety
    /// - The memory has the extent, and nobody else writes it while the kernel runs.
    /// - The launch is as the module says.
    unsafe fn from_launch(pointer: Self::Pointer, extent: Self::Extent, launch: &'l Launch)
    -> Self;
}

/// A parameter that a kernel has without being passed it: the block.
///
/// # Safety
/// - `from_block` is valid for `'l` alone.
#[doc(hidden)]
pub unsafe trait FromBlock<'l> {
    /// The parameter.
    ///
    /// # Safety
    /// - A thread calls this once in a launch.
    unsafe fn from_block(launch: &'l Launch) -> Self;
}
