//! The part of L2 that a program sets aside, and the windows of addresses that are kept in it.
//!
//! What a launch finds there and what it makes of it is `simt`'s estimate (`simt::L2`); what stays there from launch to
//! launch is here. The part holds what windows chose of the memory that was read, until it is reset, as long as all of
//! it fits; when more is asked of it than it holds, nothing is left, for the pieces evict each other in turn.
//!
//! Accesses outside of windows, and those that a window calls normal or streaming, share the rest of L2 alike.

use crate::machine::Machine;
use cust_raw::CUaccessPolicyWindow_st;
use simt::{L2, Pieces, Window};
use std::ffi::c_uint;
use std::sync::Arc;

/// `CU_LIMIT_PERSISTING_L2_CACHE_SIZE`.
pub(crate) const PERSISTING_L2: usize = 6;
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

impl Machine {
    /// L2 as a kernel with this window finds it.
    pub(crate) fn l2(&self, window: Option<AccessWindow>) -> L2 {
        let set_aside_bytes = self.limits[PERSISTING_L2] as u64;
        let window = window.filter(|_| set_aside_bytes > 0);
        L2 {
            bytes: self.profile.l2_bytes.saturating_sub(set_aside_bytes),
            window: window.map(|AccessWindow { range: (start, end), ratio }| Window {
                range: start..end,
                ratio,
                set_aside_bytes,
            }),
            there: Arc::clone(&self.persisting),
        }
    }

    /// Adds what a kernel read to what is kept, if it all fits.
    pub(crate) fn keep(&mut self, read: &Pieces) {
        let mut all = Pieces::clone(&self.persisting);
        for (page, pieces) in read {
            *all.entry(*page).or_default() |= pieces;
        }
        let bytes: u64 = all.values().map(|pieces| 64 * u64::from(pieces.count_ones())).sum();
        let set_aside_bytes = self.limits[PERSISTING_L2] as u64;
        let fits = bytes <= set_aside_bytes + set_aside_bytes / 64;
        self.persisting = Arc::new(if fits { all } else { Pieces::new() });
    }
}
