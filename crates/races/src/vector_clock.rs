//! A thread's vector clock: up to which time it comes after the accesses of every other thread.
//!
//! This is a vector clock, but not one number per thread: a grid has millions. It is a tree. Its
//! inner nodes lead to blocks; a block has one time for all of its warps, and further times only for
//! warps of which more is known; a warp likewise has one time for all lanes. Trees share what they
//! have in common, so that a copy costs nothing, and joining two of them visits only the blocks in
//! which they differ.

use counters::LANES;
use std::sync::Arc;

/// Children of an inner node, as a power of two.
const FAN_BITS: u32 = 4;
const FAN: usize = 1 << FAN_BITS;
/// Warps of a block at most. Higher numbers stand for asynchronous copies, which no barrier awaits.
pub const WARPS: u8 = 32;

/// One lane, or what is done in the name of no lane, of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    pub block: u32,
    pub warp: u8,
    pub lane: u8,
}

/// Times of one warp: that of all lanes, and later ones of single lanes, zero where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WarpTimes {
    warp: u8,
    all: u32,
    lanes: Option<[u32; LANES]>,
}

impl WarpTimes {
    fn lane(&self, lane: usize) -> u32 {
        self.lanes.map_or(0, |lanes| lanes[lane]).max(self.all)
    }

    /// Returns whether it says more than a time of the whole block does.
    fn is_beyond(&self, all: u32) -> bool {
        let lanes = self.lanes.as_ref().map_or(&[][..], |lanes| lanes);
        self.all > all || lanes.iter().any(|time| *time > all)
    }

    /// All lanes are as far as the one that is farthest known for all.
    fn normalize(&mut self) {
        let all = self.all;
        self.lanes = self.lanes.filter(|lanes| lanes.iter().any(|time| *time > all));
    }

    /// Returns whether it says all that another does.
    #[inline]
    fn holds(&self, other: &WarpTimes) -> bool {
        if other.all > self.all {
            return false;
        }
        let Some(theirs) = &other.lanes else { return true };
        let mine = self.lanes.as_ref().unwrap_or(&[0; LANES]);
        // Every vector unit compares integers with signs, and no time has 32 bits.
        let mut is_beyond = false;
        for (theirs, mine) in theirs.iter().zip(mine) {
            let theirs = theirs.cast_signed();
            is_beyond |= (theirs > mine.cast_signed()) & (theirs > self.all.cast_signed());
        }
        !is_beyond
    }

    fn join(&self, other: &WarpTimes) -> WarpTimes {
        let lanes = match (self.lanes, other.lanes) {
            (Some(mine), Some(theirs)) => {
                Some(std::array::from_fn(|lane| mine[lane].max(theirs[lane])))
            }
            (mine, theirs) => mine.or(theirs),
        };
        let mut both = WarpTimes { warp: self.warp, all: self.all.max(other.all), lanes };
        both.normalize();
        both
    }
}

/// The join of two warps' times; one of them itself where it holds the other.
fn join_warps(a: &Arc<WarpTimes>, b: &Arc<WarpTimes>) -> Arc<WarpTimes> {
    if Arc::ptr_eq(a, b) || a.holds(b) {
        a.clone()
    } else if b.holds(a) {
        b.clone()
    } else {
        Arc::new(a.join(b))
    }
}

/// Times of one block: that of all warps, and later ones of single warps, by warp.
#[derive(Clone, Debug, Default)]
pub struct BlockTimes {
    all: u32,
    warps: Vec<Arc<WarpTimes>>,
}

impl BlockTimes {
    pub fn of_all(time: u32) -> BlockTimes {
        BlockTimes { all: time, warps: Vec::new() }
    }

    /// The time of all warps as far as this one is concerned: copies have times of their own.
    fn all_of(&self, warp: u8) -> u32 {
        if warp < WARPS { self.all } else { 0 }
    }

    fn add(&mut self, times: WarpTimes) {
        let at = self.warps.partition_point(|known| known.warp < times.warp);
        match self.warps.get_mut(at).filter(|known| known.warp == times.warp) {
            Some(known) => *known = Arc::new(known.join(&times)),
            None => self.warps.insert(at, Arc::new(times)),
        }
    }

    /// All lanes of a warp up to a time.
    pub fn add_warp(&mut self, warp: u8, time: u32) {
        if time > self.all_of(warp) {
            self.add(WarpTimes { warp, all: time, lanes: None });
        }
    }

    /// Lanes of a warp up to a time.
    pub fn add_lanes(&mut self, warp: u8, lanes: u32, time: u32) {
        if time > self.all_of(warp) && lanes != 0 {
            let each = |lane: usize| if lanes >> lane & 1 != 0 { time } else { 0 };
            self.add(WarpTimes { warp, all: 0, lanes: Some(std::array::from_fn(each)) });
        }
    }

    /// Returns whether it says all that another does.
    fn holds(&self, other: &BlockTimes) -> bool {
        let mut mine = self.warps.iter().peekable();
        self.all >= other.all
            && other.warps.iter().all(|theirs| {
                while mine.next_if(|one| one.warp < theirs.warp).is_some() {}
                match mine.next_if(|one| one.warp == theirs.warp) {
                    Some(mine) => Arc::ptr_eq(mine, theirs) || mine.holds(theirs),
                    None => theirs.warp < WARPS && !theirs.is_beyond(self.all),
                }
            })
    }

    /// Returns the join, and whether it is the first or the second itself.
    fn join(&self, other: &BlockTimes) -> (BlockTimes, bool, bool) {
        let all = self.all.max(other.all);
        let (mut is_a, mut is_b) = (all == self.all, all == other.all);
        let mut warps = Vec::with_capacity(self.warps.len().max(other.warps.len()));
        let (mut mine, mut theirs) = (self.warps.iter().peekable(), other.warps.iter().peekable());
        loop {
            let first =
                [mine.peek(), theirs.peek()].into_iter().flatten().map(|one| one.warp).min();
            let Some(warp) = first else { break };
            let a = mine.next_if(|one| one.warp == warp);
            let b = theirs.next_if(|one| one.warp == warp);
            let both = match (a, b) {
                (Some(a), Some(b)) => join_warps(a, b),
                (one, other) => one.or(other).expect("one of them has it").clone(),
            };
            if warp < WARPS && !both.is_beyond(all) {
                (is_a, is_b) = (is_a && a.is_none(), is_b && b.is_none());
                continue;
            }
            is_a &= a.is_some_and(|a| Arc::ptr_eq(a, &both));
            is_b &= b.is_some_and(|b| Arc::ptr_eq(b, &both));
            warps.push(both);
        }
        (BlockTimes { all, warps }, is_a, is_b)
    }

    fn warp(&self, warp: u8) -> Option<&WarpTimes> {
        let at = self.warps.partition_point(|known| known.warp < warp);
        self.warps.get(at).map(|times| &**times).filter(|times| times.warp == warp)
    }

    fn covers(&self, warp: u8, lane: u8, time: u32) -> bool {
        time <= self.all_of(warp)
            || self.warp(warp).is_some_and(|times| time <= times.lane(usize::from(lane) % LANES))
    }

    fn covers_warp(&self, warp: u8, time: u32) -> bool {
        time <= self.all_of(warp) || self.warp(warp).is_some_and(|times| time <= times.all)
    }
}

#[derive(Debug)]
enum Node {
    Inner(Vec<Option<Arc<Node>>>),
    Block(BlockTimes),
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct VectorClock {
    root: Option<Arc<Node>>,
    /// Levels of inner nodes.
    height: u32,
}

impl VectorClock {
    /// Returns what is known of one block.
    pub fn of_block(block: u32, times: BlockTimes) -> VectorClock {
        let mut node = Arc::new(Node::Block(times));
        let mut height = 0;
        // The lowest digit of the block's number is next to it.
        while height < 8 && block >> (FAN_BITS * height) != 0 {
            let mut children = vec![None; FAN];
            children[(block >> (FAN_BITS * height)) as usize % FAN] = Some(node);
            node = Arc::new(Node::Inner(children));
            height += 1;
        }
        VectorClock { root: Some(node), height }
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    fn block(&self, block: u32) -> Option<&BlockTimes> {
        let mut node = self.root.as_deref()?;
        if self.height < 8 && block >> (FAN_BITS * self.height) != 0 {
            return None;
        }
        let mut level = self.height;
        loop {
            match node {
                Node::Block(times) => return Some(times),
                Node::Inner(children) => {
                    level -= 1;
                    let digit = block >> (FAN_BITS * level) & (FAN as u32 - 1);
                    node = children[digit as usize].as_deref()?;
                }
            }
        }
    }

    /// Returns whether the thread's accesses up to the time are known.
    pub fn covers(&self, thread: Thread, time: u32) -> bool {
        self.block(thread.block).is_some_and(|b| b.covers(thread.warp, thread.lane, time))
    }

    /// Returns whether the accesses of all lanes of the warp up to the time are known.
    pub fn covers_warp(&self, block: u32, warp: u8, time: u32) -> bool {
        self.block(block).is_some_and(|b| b.covers_warp(warp, time))
    }

    /// Learns what another knows.
    pub fn join(&mut self, other: &VectorClock) {
        let Some(theirs) = &other.root else { return };
        let Some(mine) = &self.root else {
            *self = other.clone();
            return;
        };
        if self.height == other.height {
            self.root = Some(join(mine, theirs));
            return;
        }
        let height = self.height.max(other.height);
        let (mine, theirs) = (self.raise(height), other.raise(height));
        if let (Some(a), Some(b)) = (&mine, &theirs) {
            *self = VectorClock { root: Some(join(a, b)), height };
        }
    }

    /// The root of the same tree with more levels.
    fn raise(&self, height: u32) -> Option<Arc<Node>> {
        let mut root = self.root.clone();
        for _ in self.height..height {
            let mut children = vec![None; FAN];
            children[0] = root;
            root = Some(Arc::new(Node::Inner(children)));
        }
        root
    }

    /// Returns whether both are the same tree, or both empty.
    pub fn is_same(&self, other: &VectorClock) -> bool {
        match (&self.root, &other.root) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

/// The join of two trees of one height; one of them itself where it holds the other.
fn join(a: &Arc<Node>, b: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(a, b) {
        return a.clone();
    }
    match (&**a, &**b) {
        (Node::Block(x), Node::Block(y)) if x.holds(y) => a.clone(),
        (Node::Block(x), Node::Block(y)) if y.holds(x) => b.clone(),
        (Node::Block(x), Node::Block(y)) => match x.join(y) {
            (_, true, _) => a.clone(),
            (_, _, true) => b.clone(),
            (both, ..) => Arc::new(Node::Block(both)),
        },
        (Node::Inner(x), Node::Inner(y)) => {
            let (mut is_a, mut is_b) = (true, true);
            // Mostly one of them is the join, so that no list is needed.
            let mut children = [const { None }; FAN];
            for ((x, y), child) in x.iter().zip(y).zip(&mut children) {
                let (Some(x), Some(y)) = (x, y) else {
                    is_b &= x.is_none();
                    is_a &= y.is_none();
                    continue;
                };
                if !Arc::ptr_eq(x, y) {
                    let both = join(x, y);
                    is_a &= Arc::ptr_eq(&both, x);
                    is_b &= Arc::ptr_eq(&both, y);
                    *child = Some(both);
                }
            }
            if is_a {
                return a.clone();
            }
            if is_b {
                return b.clone();
            }
            for ((x, y), child) in x.iter().zip(y).zip(&mut children) {
                if child.is_none() {
                    *child = x.as_ref().or(y.as_ref()).cloned();
                }
            }
            Arc::new(Node::Inner(children.into()))
        }
        // Trees of one height have blocks at one level.
        _ => a.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockTimes, Thread, VectorClock, WARPS};

    fn lane(block: u32, warp: u8, lane: u8, time: u32) -> VectorClock {
        let mut times = BlockTimes::default();
        times.add_lanes(warp, 1 << lane, time);
        VectorClock::of_block(block, times)
    }

    /// Joins of many blocks know exactly what was put into them.
    #[test]
    fn a_join_knows_what_its_parts_know() {
        let blocks = [0, 1, 15, 16, 17, 255, 256, 4097, 65536, 1 << 31, u32::MAX];
        let mut all = VectorClock::default();
        for (i, block) in blocks.into_iter().enumerate() {
            all.join(&lane(block, i as u8, 3, 10));
            all.join(&VectorClock::of_block(block, BlockTimes::of_all(2)));
        }
        for (i, block) in blocks.into_iter().enumerate() {
            let thread = |warp, lane| Thread { block, warp, lane };
            assert!(all.covers(thread(i as u8, 3), 10));
            assert!(!all.covers(thread(i as u8, 3), 11));
            assert!(!all.covers(thread(i as u8, 4), 3));
            assert!(all.covers(thread(31, 4), 2));
            assert!(!all.covers(Thread { block: block ^ 2, warp: 0, lane: 0 }, 1));
        }
    }

    /// A join that adds nothing leaves the tree as it is, so that the next one costs nothing.
    #[test]
    fn a_join_with_less_shares_the_tree() {
        let mut big = lane(7, 0, 0, 5);
        big.join(&lane(300, 1, 1, 5));
        let before = big.clone();
        big.join(&lane(300, 1, 1, 4));
        assert!(big.is_same(&before));
        let mut small = lane(7, 0, 0, 5);
        small.join(&big);
        assert!(small.covers(Thread { block: 300, warp: 1, lane: 1 }, 5));
        small.join(&big);
        big.join(&small);
        assert!(small.is_same(&big) || big.is_same(&before));
    }

    /// No barrier awaits them, so a time of the block says nothing of them.
    #[test]
    fn a_time_of_all_warps_holds_none_of_copies() {
        let mut times = BlockTimes::default();
        times.add_warp(WARPS, 5);
        let mut known = VectorClock::of_block(3, BlockTimes::of_all(9));
        known.join(&VectorClock::of_block(3, times));
        assert!(known.covers_warp(3, WARPS, 5));
        assert!(!known.covers_warp(3, WARPS, 6));
    }

    #[test]
    fn a_time_of_all_replaces_those_of_some() {
        let mut times = BlockTimes::default();
        times.add_lanes(2, 0b101, 7);
        times.add_warp(2, 9);
        assert_eq!(times.warps[0].lanes, None);
        let mut known = VectorClock::of_block(3, times);
        known.join(&VectorClock::of_block(3, BlockTimes::of_all(9)));
        assert!(known.block(3).unwrap().warps.is_empty());
    }
}
