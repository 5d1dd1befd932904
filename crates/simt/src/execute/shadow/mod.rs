//! Hazard checks: what is remembered about every register and byte, and what is concluded.

mod blocks;
mod check;
mod conflicts;
pub(crate) mod event;
mod explain;
pub(crate) mod global;
mod known;
mod lines;
pub(crate) mod order;
mod private;
pub(crate) mod provenance;
mod races;
pub(crate) mod shared;
mod sync;
