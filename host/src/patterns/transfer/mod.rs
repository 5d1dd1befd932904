pub mod batching;
pub mod device_residency;
pub mod peer_to_peer;
pub mod pinned_memory;
pub mod zero_copy;
