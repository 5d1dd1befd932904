//! A model of a GPU's time. Everything here is a model and labelled so; what is exact comes from `simt`.
#![doc = include_str!("../MODEL.md")]

mod caches;
mod clocks;
pub mod copy_time;
mod estimate;
mod estimator;
mod hash;
pub mod kernel_time;
pub mod l2;
mod link;
mod occupancy;
mod profile;
mod second_cache;
mod sums;
pub mod timeline;
mod topology;

pub use copy_time::{PageMoves, Side};
pub use estimate::{
    DramAtoms, Estimate, L2, Latencies, LinkTraffic, Ranges, Window, dram_atom_bytes,
};
pub use estimator::Estimator;
pub use kernel_time::{Parts, WorkScale, together};
pub use link::Link;
pub use occupancy::{BlockNeeds, blocks_per_multiprocessor};
pub use profile::{CallCost, PORTABLE_CLUSTER, PROFILES, Profile, ProfileError};
pub use topology::Topology;
