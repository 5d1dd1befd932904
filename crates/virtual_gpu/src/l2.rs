//! The part of L2 that a program sets aside, and the windows of addresses that are kept in it.
//!
//! What a launch finds there and what it makes of it is `simt`'s estimate (`simt::L2`); what stays there from launch to
//! launch is here. The part holds what windows chose of the memory that was read, until it is reset, as long as all of
//! it fits; when more is asked of it than it holds, nothing is left, for the pieces evict each other in turn.
//!
//! Accesses outside of windows, and those that a window calls normal or streaming, share the rest of L2 alike.

use cust_raw::CUaccessPolicyWindow_st;
use simt::{L2, Pieces, Window};
use std::ffi::c_uint;
use std::sync::Arc;

/// `CU_ACCESS_PROPERTY_PERSISTING`.
const PERSISTING: c_uint = 2;

/// An access policy window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AccessWindow {
    /// The first address, and the one behind the last.
    pub(crate) range: (u64, u64),
    /// Which part of the accesses is kept.
    pub(crate) ratio: f32,
}

impl AccessWindow {
    /// What the driver was given.
    ///
    /// # Safety
    /// `window` is valid for reads; its two properties may hold any number.
    pub(crate) unsafe fn new(window: *const CUaccessPolicyWindow_st) -> AccessWindow {
        // SAFETY: by the contract; a property is read as the integer that it is in C.
        let (start, bytes, ratio, hit) = unsafe {
            (
                (*window).base_ptr.addr() as u64,
                (*window).num_bytes as u64,
                (*window).hitRatio,
                (&raw const (*window).hitProp).cast::<c_uint>().read(),
            )
        };
        let ratio = if hit == PERSISTING { ratio } else { 0.0 };
        AccessWindow { range: (start, start.saturating_add(bytes)), ratio }
    }
}

/// What is kept from launch to launch.
#[derive(Debug, Default)]
pub(crate) struct PersistingL2 {
    there: Arc<Pieces>,
}

impl PersistingL2 {
    /// L2 as a kernel with this window finds it, where so many of its bytes are set aside.
    pub(crate) fn found_by(
        &self,
        window: Option<AccessWindow>,
        l2_bytes: u64,
        set_aside_bytes: u64,
    ) -> L2 {
        let window = window.filter(|_| set_aside_bytes > 0);
        L2 {
            bytes: l2_bytes.saturating_sub(set_aside_bytes),
            window: window.map(|AccessWindow { range: (start, end), ratio }| Window {
                range: start..end,
                ratio,
                set_aside_bytes,
            }),
            there: Arc::clone(&self.there),
        }
    }

    /// Adds what a kernel read to what is kept, if it all fits into what is set aside.
    pub(crate) fn keep(&mut self, read: &Pieces, set_aside_bytes: u64) {
        let mut all = Pieces::clone(&self.there);
        for (page, pieces) in read {
            *all.entry(*page).or_default() |= pieces;
        }
        let bytes: u64 = all.values().map(|pieces| 64 * u64::from(pieces.count_ones())).sum();
        let fits = bytes <= set_aside_bytes + set_aside_bytes / 64;
        self.there = Arc::new(if fits { all } else { Pieces::new() });
    }

    /// Keeps nothing any more.
    pub(crate) fn reset(&mut self) {
        self.there = Arc::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept_and_what_does_not_leaves_nothing() {
        let mut kept = PersistingL2::default();
        let read = |pieces: u32| -> Pieces { [(0, !0 >> (64 - pieces))].into_iter().collect() };
        let held = |kept: &PersistingL2| kept.found_by(None, 1 << 20, 640).there.len();
        kept.keep(&read(10), 640);
        assert_eq!(held(&kept), 1);
        kept.keep(&read(12), 640);
        assert_eq!(held(&kept), 0, "twelve pieces of 64 bytes do not fit into 640");
        kept.keep(&read(4), 640);
        kept.reset();
        assert_eq!(held(&kept), 0);
    }

    #[test]
    fn without_a_part_that_is_set_aside_a_window_keeps_nothing() {
        let kept = PersistingL2::default();
        let window = Some(AccessWindow { range: (0, 64), ratio: 1.0 });
        assert!(kept.found_by(window, 1000, 0).window.is_none());
        let found = kept.found_by(window, 1000, 300);
        assert!(found.window.is_some());
        assert_eq!(found.bytes, 700);
    }
}
