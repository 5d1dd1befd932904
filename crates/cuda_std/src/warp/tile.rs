//! Parts of a warp that work together.

use super::{
    WarpShuffleValue, lane_id, sync_warp, warp_shuffle_down, warp_shuffle_idx, warp_shuffle_up,
    warp_shuffle_xor, warp_vote_all, warp_vote_any, warp_vote_ballot,
};

/// `LANES` neighbouring lanes of a warp: 2, 4, 8, 16 or 32 of them. CUDA's `tiled_partition`. Beyond rust-cuda.
///
/// Lanes are counted from the tile's first. Tiles of a warp need nothing of each other, so some may be in one branch and some in
/// another.
///
/// ```no_run
/// # unsafe fn sum_of_eight(value: f32) -> f32 {
/// use cuda_std::warp::Tile;
/// let tile = Tile::<8>::new();
/// // SAFETY: all lanes of the tile are here.
/// unsafe { tile.reduce(value, |a, b| a + b) }
/// # }
/// ```
/// A tile of another number of lanes does not compile:
/// ```compile_fail,E0080
/// let tile = cuda_std::warp::Tile::<12>::new();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tile<const LANES: u32> {
    /// The tile's lanes in the warp.
    mask: u32,
}

impl<const LANES: u32> Default for Tile<LANES> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<const LANES: u32> Tile<LANES> {
    /// The tile of this lane.
    #[inline(always)]
    #[must_use]
    pub fn new() -> Self {
        const {
            assert!(
                matches!(LANES, 2 | 4 | 8 | 16 | 32),
                "a tile of a warp has 2, 4, 8, 16 or 32 lanes"
            );
        }
        Self { mask: (u32::MAX >> (32 - LANES)) << (lane_id() & !(LANES - 1)) }
    }

    /// The lane in its tile.
    #[inline(always)]
    #[must_use]
    pub fn rank(self) -> u32 {
        lane_id() % LANES
    }

    /// The tile in its warp.
    #[inline(always)]
    #[must_use]
    pub fn index(self) -> u32 {
        lane_id() / LANES
    }

    /// The tile's lanes in the warp, bit `n` for lane `n`.
    #[inline(always)]
    #[must_use]
    pub fn mask(self) -> u32 {
        self.mask
    }

    /// Waits for the lanes of the tile and orders their memory accesses. PTX: `bar.warp.sync`.
    ///
    /// # Safety
    /// - Block: its warps are whole as far as this tile reaches, or the lanes that are missing have returned.
    /// - Lanes: each lane of the tile that has not returned comes to this same call.
    #[inline(always)]
    pub unsafe fn sync(self) {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        unsafe { sync_warp(self.mask) }
    }

    /// The value of a lane of the tile. PTX: `shfl.sync.idx.b32`.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn shuffle<T: WarpShuffleValue>(self, value: T, rank: u32) -> T {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        unsafe { warp_shuffle_idx(self.mask, value, rank, LANES) }.0
    }

    /// The value of the lane `delta` below in the tile; `None` for the first ones. PTX: `shfl.sync.up.b32`.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn shuffle_up<T: WarpShuffleValue>(self, value: T, delta: u32) -> Option<T> {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        let (value, inside) = unsafe { warp_shuffle_up(self.mask, value, delta, LANES) };
        inside.then_some(value)
    }

    /// The value of the lane `delta` above in the tile; `None` for the last ones. PTX: `shfl.sync.down.b32`.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn shuffle_down<T: WarpShuffleValue>(self, value: T, delta: u32) -> Option<T> {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        let (value, inside) = unsafe { warp_shuffle_down(self.mask, value, delta, LANES) };
        inside.then_some(value)
    }

    /// The value of the lane whose rank is this one's, exclusive or `mask`, which is below `LANES`.
    /// PTX: `shfl.sync.bfly.b32`.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn shuffle_xor<T: WarpShuffleValue>(self, value: T, mask: u32) -> T {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        unsafe { warp_shuffle_xor(self.mask, value, mask, LANES) }.0
    }

    /// The ranks of the lanes whose predicate is true. PTX: `vote.sync.ballot.b32`.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn ballot(self, predicate: bool) -> u32 {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        (unsafe { warp_vote_ballot(self.mask, predicate) } & self.mask) >> (self.index() * LANES)
    }

    /// Returns whether the predicate is true in any lane of the tile. PTX: `vote.sync.any.pred`.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn any(self, predicate: bool) -> bool {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        unsafe { warp_vote_any(self.mask, predicate) }
    }

    /// Returns whether the predicate is true in all lanes of the tile. PTX: `vote.sync.all.pred`.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn all(self, predicate: bool) -> bool {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        unsafe { warp_vote_all(self.mask, predicate) }
    }

    /// The values of all lanes combined, in every lane: `combine` joins two at a time, and its order must not matter.
    /// PTX: `shfl.sync.bfly.b32`, once for each doubling.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn reduce<T: WarpShuffleValue>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let mut value = value;
        let mut distance = LANES / 2;
        while distance > 0 {
            // SAFETY: the lanes of the tile come to this call together, and the distance stays below their number.
            value = combine(value, unsafe { self.shuffle_xor(value, distance) });
            distance /= 2;
        }
        value
    }
}
