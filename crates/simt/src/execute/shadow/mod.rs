//! Hazard checks: what is remembered about every register and byte, and what is concluded.

mod blocks;
mod conflicts;
pub(crate) mod global;
mod private;
mod races;
pub(crate) mod shared;
