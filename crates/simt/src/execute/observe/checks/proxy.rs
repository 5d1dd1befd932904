//! Stores to shared memory that no proxy fence came after, so that asynchronous instructions may not see them
//! (PTX ISA, "Memory Consistency Model: Proxies").

use races::{Request, lanes};
use std::collections::BTreeMap;

/// Bytes that are remembered together: what a bulk copy moves at least.
const GRANULE: u64 = 16;

/// The granules of shared memory that were stored to since a proxy fence, with the warp that did and how often the block had
/// met before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfenced {
    stores: BTreeMap<u64, (u32, u32)>,
    meetings: u32,
    /// Something reads through another proxy.
    is_watched: bool,
}

impl Unfenced {
    pub fn new(is_watched: bool) -> Unfenced {
        Unfenced { is_watched, ..Unfenced::default() }
    }

    pub fn write(&mut self, warp: u32, request: Request<'_>) {
        if !self.is_watched {
            return;
        }
        let mut last = u64::MAX;
        for lane in lanes(request.mask) {
            let granule = request.all[lane] / GRANULE;
            if granule != last {
                self.stores.insert(granule, (warp, self.meetings));
            }
            last = granule;
        }
    }

    /// Forgets what was stored where an asynchronous copy writes.
    pub fn forget(&mut self, start: u64, bytes: u32) {
        let last = (start + u64::from(bytes)) / GRANULE;
        self.stores.extract_if(start.div_ceil(GRANULE)..last, |_, _| true).for_each(drop);
    }

    /// Notes that some of the block have met: what they stored before is known to others.
    pub fn meet(&mut self) {
        self.meetings += 1;
    }

    /// Forgets what a fence of a warp is for: what the warp stored, and what others did before they met.
    pub fn fence(&mut self, warp: u32) {
        let meetings = self.meetings;
        self.stores.retain(|_, (by, met)| *by != warp && *met == meetings);
    }

    /// Returns the first place of a range that was stored to without a fence.
    pub fn first(&self, start: u64, bytes: u32) -> Option<u64> {
        let end = (start + u64::from(bytes)).div_ceil(GRANULE);
        let first = self.stores.range(start / GRANULE..end).next();
        first.map(|(granule, _)| (granule * GRANULE).max(start))
    }
}
