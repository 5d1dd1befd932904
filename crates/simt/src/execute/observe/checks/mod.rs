//! Checks of a launch: undefined bytes, races, and what is said about them. `races` decides what a race is.

mod bits;
mod conflicts;
mod exchanged;
mod explain;
mod followed;
pub(crate) mod follower;
mod global;
mod private;
pub(crate) mod product_state;
mod products;
pub(crate) mod provenance;
pub(crate) mod proxy;
pub(crate) mod semantics;
mod shared;
pub(crate) mod undo;
