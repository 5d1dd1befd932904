//! Caches between global memory and the threads: L1, L2, and the constant and texture caches.

pub mod cache_operators;
pub mod constant_memory;
pub mod l2_persistence;
pub mod local_memory;
pub mod memory_hierarchy;
pub mod texture;
