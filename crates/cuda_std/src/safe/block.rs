//! The block as a value: its barriers, and what its threads compute together.

use super::{FromBlock, Launch};
use crate::nvvm;
use crate::thread;
use crate::warp::{
    FULL_MASK, WARP_SIZE, WarpShuffleValue, lane_id, warp_shuffle_down, warp_shuffle_idx,
    warp_shuffle_up, warp_shuffle_xor,
};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Add;

/// The phase in which a kernel begins, and every second one after it.
pub struct Even(());
/// The phase after the first barrier, and every second one after it.
pub struct Odd(());

/// One of two kinds of phases, which take turns at each barrier.
pub trait Phase: sealed::Sealed {
    /// The phase after the next barrier.
    type Next: Phase<Next = Self>;
}

impl Phase for Even {
    type Next = Odd;
}
impl Phase for Odd {
    type Next = Even;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Even {}
    impl Sealed for super::Odd {}
}

/// The barrier that begins a phase. Not barrier 0, which `thread::sync_threads` waits at: only this type counts phases.
const PHASES: u32 = 1;
/// The barrier of what threads compute together, which begins no phase.
const COLLECTIVES: u32 = 2;

/// The block of the thread that runs, in a phase.
///
/// All threads of a block begin each phase together, because a phase begins at a barrier that waits for every thread that
/// has not returned. Which accesses a phase allows is in the types of [`Tile`](super::Tile)s, so no thread writes a tile
/// while another reads it, wherever in the kernel their barriers stand.
///
/// A sum, a scan or a count is one over all threads of the block that have not returned; all of them have to come. When
/// some have returned, or a warp is not together, it takes a barrier for each thread of the block instead of one.
///
/// Sources: PTX ISA, `barrier`, "shfl.sync"; the order of a sum is that of Harris, "Optimizing Parallel Reduction in CUDA".
pub struct Block<'l, P: Phase = Even> {
    /// Half of the shared cells that the next collective uses.
    half: usize,
    launch: PhantomData<(*mut &'l (), P)>,
}

// SAFETY: the value borrows from the launch.
unsafe impl<'l> FromBlock<'l> for Block<'l, Even> {
    #[inline(always)]
    unsafe fn from_block(_: &'l Launch) -> Self {
        Block { half: 0, launch: PhantomData }
    }
}

/// The largest value that threads may compute together, bytes.
const CELL_BYTES: usize = 16;
/// A cell for each warp, of each half.
type Cells = [[[u64; CELL_BYTES / 8]; WARP_SIZE as usize]; 2];

/// Messages between warps: a cell for each warp, twice, because a warp may still read the values of one collective
/// while another writes those of the next.
#[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".shared"), used)]
static mut CELLS: MaybeUninit<Cells> = MaybeUninit::uninit();

impl<'l, P: Phase> Block<'l, P> {
    /// Waits for all threads of the block that have not returned, and begins the next phase.
    #[inline(always)]
    pub fn sync(self) -> Block<'l, P::Next> {
        // SAFETY: barrier 1 exists in every block, and waiting for it touches no memory. It is not the one for whole
        // warps, which may only stand where these come together.
        unsafe { nvvm::barrier_sync_all_diverged(PHASES) };
        Block { half: self.half, launch: PhantomData }
    }

    /// The threads of the block.
    #[inline(always)]
    pub fn threads(&self) -> u32 {
        thread::block_dim_x() * thread::block_dim_y() * thread::block_dim_z()
    }

    /// The thread's number in the block, x first.
    #[inline(always)]
    pub fn thread(&self) -> u32 {
        thread::thread_idx_x()
            + thread::block_dim_x()
                * (thread::thread_idx_y() + thread::block_dim_y() * thread::thread_idx_z())
    }

    /// The number of threads whose predicate is true, in every thread. PTX: `barrier.red.popc`.
    #[inline(always)]
    pub fn count(&mut self, predicate: bool) -> u32 {
        self.half ^= 1;
        // SAFETY: barrier 2 exists in every block; no other instruction than this waits at it.
        unsafe { nvvm::barrier_count_diverged(COLLECTIVES, predicate) }
    }

    /// Returns whether the predicate is true in any thread, in every thread.
    #[inline(always)]
    pub fn any(&mut self, predicate: bool) -> bool {
        self.count(predicate) > 0
    }

    /// Returns whether the predicate is true in all threads that have not returned, in every thread.
    #[inline(always)]
    pub fn all(&mut self, predicate: bool) -> bool {
        self.count(!predicate) == 0
    }

    /// The sum of a value of each thread, in every thread.
    #[inline(always)]
    pub fn sum<T: WarpShuffleValue + Add<Output = T>>(&mut self, value: T) -> T {
        self.reduce(value, |a, b| a + b)
    }

    /// The values of all threads, combined by `combine`, in every thread. `combine` has to be associative and
    /// commutative, as addition and maximum are. The order is the same in each launch.
    #[inline(always)]
    pub fn reduce<T: WarpShuffleValue>(&mut self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let half = self.half;
        let warp = self.warp();
        let is_whole = self.is_whole_warp();
        if is_whole {
            let of_warp = reduce_lanes(value, warp.lanes, warp.mask, &combine);
            if lane_id() == 0 {
                put(half, warp.number, of_warp);
            }
        }
        if self.count(is_whole) == self.threads() {
            let warps = self.threads().div_ceil(WARP_SIZE);
            if !self.threads().is_multiple_of(WARP_SIZE) {
                // The last warp has too few lanes for a cell each, and all have to combine in one order.
                return (1..warps).fold(get(half, 0), |all, warp| combine(all, get(half, warp)));
            }
            let lane = lane_id();
            // Of a lane without a warp nobody takes what it reads.
            let of_lane = get(half, if lane < warps { lane } else { 0 });
            return reduce_lanes(of_lane, warps, warp.mask, &combine);
        }
        let mut all = None;
        self.each_in_turn(value, |_, value| {
            all = Some(all.map_or(value, |all| combine(all, value)));
        });
        all.unwrap_or(value)
    }

    /// The values of this thread and of those before it, combined in the order of the threads by `combine`, which has to
    /// be associative.
    #[inline(always)]
    pub fn inclusive_scan<T: WarpShuffleValue>(
        &mut self,
        value: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        let before = self.before(value, &combine);
        before.map_or(value, |before| combine(before, value))
    }

    /// `first` and the values of the threads before this one, combined in the order of the threads by `combine`, which has
    /// to be associative.
    #[inline(always)]
    pub fn exclusive_scan<T: WarpShuffleValue>(
        &mut self,
        value: T,
        first: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        let before = self.before(value, &combine);
        before.map_or(first, |before| combine(first, before))
    }

    /// The combined values of the threads before this one, if there are any.
    #[inline(always)]
    fn before<T: WarpShuffleValue>(&mut self, value: T, combine: &impl Fn(T, T) -> T) -> Option<T> {
        let half = self.half;
        let warp = self.warp();
        let is_whole = self.is_whole_warp();
        let mut below = value;
        if is_whole {
            let own = scan_lanes(value, warp.mask, combine);
            if lane_id() == warp.lanes - 1 {
                put(half, warp.number, own);
            }
            // SAFETY: the lanes of the warp are here together.
            below = unsafe { warp_shuffle_up(warp.mask, own, 1, WARP_SIZE) }.0;
        }
        if self.count(is_whole) == self.threads() {
            let mut before = None;
            for earlier in 0..warp.number {
                let of_warp = get(half, earlier);
                before = Some(before.map_or(of_warp, |before| combine(before, of_warp)));
            }
            return if lane_id() == 0 {
                before
            } else {
                Some(before.map_or(below, |before| combine(before, below)))
            };
        }
        let (mut before, own_number) = (None, self.thread());
        self.each_in_turn(value, |number, value| {
            if number < own_number {
                before = Some(before.map_or(value, |before| combine(before, value)));
            }
        });
        before
    }

    #[inline(always)]
    fn warp(&self) -> Warp {
        let number = self.thread() / WARP_SIZE;
        let lanes = (self.threads() - number * WARP_SIZE).min(WARP_SIZE);
        Warp { number, lanes, mask: u32::MAX >> (WARP_SIZE - lanes) }
    }

    /// Returns whether all lanes of the warp that the block has are here together, so that they may shuffle.
    #[inline(always)]
    fn is_whole_warp(&self) -> bool {
        crate::warp::activemask() == self.warp().mask
    }

    /// Hands the value of each thread that is here to `take` with the thread's number, in their order. For threads whose
    /// warps are not whole: it needs a barrier for each thread of the block, and no shuffles.
    #[inline(always)]
    fn each_in_turn<T: WarpShuffleValue>(&mut self, value: T, mut take: impl FnMut(u32, T)) {
        for number in 0..self.threads() {
            let half = self.half;
            let is_own = number == self.thread();
            if is_own {
                put(half, 0, value);
            }
            if self.any(is_own) {
                take(number, get(half, 0));
            }
        }
    }
}

struct Warp {
    /// Its number in the block.
    number: u32,
    /// The lanes that the block has of it.
    lanes: u32,
    /// Their mask.
    mask: u32,
}

/// Writes the cell of a warp.
#[inline(always)]
fn put<T: Copy>(half: usize, warp: u32, value: T) {
    const { assert!(size_of::<T>() <= CELL_BYTES && align_of::<T>() <= 8) };
    let cells: *mut Cells = (&raw mut CELLS).cast();
    // SAFETY: a block has at most 32 warps, and one lane of a warp writes its cell before the barrier of the collective.
    // The other half may still be read; who read this one has been at the barrier since.
    unsafe { (&raw mut (*cells)[half][warp as usize]).cast::<T>().write(value) };
}

#[inline(always)]
fn get<T: Copy>(half: usize, warp: u32) -> T {
    const { assert!(size_of::<T>() <= CELL_BYTES && align_of::<T>() <= 8) };
    let cells: *mut Cells = (&raw mut CELLS).cast();
    // SAFETY: a block has at most 32 warps; nobody writes this half before all have been at the next barrier. Any bytes
    // are a value of the types that can be shuffled.
    // Volatile, so that it is not read before it is known that somebody has written it.
    unsafe { (&raw mut (*cells)[half][warp as usize]).cast::<T>().read_volatile() }
}

/// The values of the first `lanes` lanes, combined, in every lane of `mask`, which are all here together.
#[inline(always)]
fn reduce_lanes<T: WarpShuffleValue>(
    value: T,
    lanes: u32,
    mask: u32,
    combine: &impl Fn(T, T) -> T,
) -> T {
    let mut all = value;
    let is_whole = lanes == WARP_SIZE;
    for distance in [16, 8, 4, 2, 1] {
        if distance >= lanes {
            continue;
        }
        // SAFETY: the mask's lanes are here together, and the lowest of the warp.
        let other = unsafe { exchange(mask, all, distance, is_whole) };
        // In a whole warp each lane has a partner; else the lanes below the distance have, and lane 0 gets all.
        if is_whole || lane_id() + distance < lanes {
            all = combine(all, other);
        }
    }
    if is_whole {
        return all;
    }
    // SAFETY: the mask's lanes are here together, and lane 0 is one of them.
    unsafe { warp_shuffle_idx(mask, all, 0, WARP_SIZE) }.0
}

/// The value of the lane at this distance: by exclusive or if `is_pair`, else above; a lane that the block does not have
/// is not asked.
///
/// # Safety
/// - The lanes of `mask` are here together, and are the lowest of the warp.
#[inline(always)]
unsafe fn exchange<T: WarpShuffleValue>(mask: u32, value: T, distance: u32, is_pair: bool) -> T {
    // SAFETY: the caller's contract.
    let (other, _) = unsafe {
        if is_pair {
            warp_shuffle_xor(mask, value, distance, WARP_SIZE)
        } else if mask == FULL_MASK {
            warp_shuffle_down(mask, value, distance, WARP_SIZE)
        } else {
            let above = lane_id() + distance;
            let from = if mask >> (above % WARP_SIZE) & 1 == 1 { above } else { lane_id() };
            warp_shuffle_idx(mask, value, from, WARP_SIZE)
        }
    };
    other
}

/// The values of this lane and those below it, combined in order; the lanes of `mask` are here together.
#[inline(always)]
fn scan_lanes<T: WarpShuffleValue>(value: T, mask: u32, combine: &impl Fn(T, T) -> T) -> T {
    let mut all = value;
    for distance in [1, 2, 4, 8, 16] {
        // SAFETY: the mask's lanes are here together.
        let (below, _) = unsafe { warp_shuffle_up(mask, all, distance, WARP_SIZE) };
        if lane_id() >= distance {
            all = combine(below, all);
        }
    }
    all
}
