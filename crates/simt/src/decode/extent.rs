//! The decoder's output for one function.

use std::ops::Range;

/// The rows and local bytes that were made while a function was decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extent {
    pub words: Range<u32>,
    pub longs: Range<u32>,
    pub predicates: Range<u32>,
    pub local: Range<u64>,
}
