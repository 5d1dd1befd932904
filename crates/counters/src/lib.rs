//! Plain facts of what kernels and streams did, and the laws by which requests become sectors and wavefronts.
//!
//! A request is one memory instruction of a warp. Whoever counts, keeps, shows or advises uses these types and these laws:
//!
//! ```
//! // 32 lanes that read a column of a matrix whose rows have 32 words: all in one bank.
//! let column = std::array::from_fn(|lane| 128 * lane as u64);
//! assert_eq!(counters::shared_wavefronts(u32::MAX, &column, 4), (32, 1));
//! ```

mod counters;
mod hazard;
mod laws;
mod metrics;
mod operation;
mod request;
mod source;

pub use counters::{COUNTERS, Counters, RequestCounts, Trust};
pub use hazard::{Hazard, MisuseKind};
pub use laws::{
    atomic_words, constant_words, copy_sectors, copy_wavefronts, copy_words, counting_wavefronts,
    same_word_wavefronts, sectors_and_lines, shared_store_wavefronts, shared_store_words,
    shared_wavefronts, shared_words, updates_by,
};
pub use metrics::{METRICS, Metric, constant_cache_requests};
pub use operation::{Engine, OperationKind};
pub use request::{RequestKind, RequestRecord, ServedWord};
pub use source::SourceLocation;

/// The lanes of a warp.
pub const LANES: usize = 32;
