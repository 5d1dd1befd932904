//! Between host and device: pinned and mapped memory, and the calls that copy.

pub mod batching;
pub mod device_residency;
pub mod peer_to_peer;
pub mod zero_copy;
