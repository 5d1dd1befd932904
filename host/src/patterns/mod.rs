//! The registry: every pattern, in teaching order.

mod caches;
mod collectives;
mod execution;
mod global;
mod memory_management;
mod shared;
mod streams;
mod transfer;

use coalesce::pattern::Pattern;

/// Every pattern. All commands, tests and docs iterate this list.
pub const ALL: &[&Pattern] = &[
    &global::coalescing::PATTERN,
    &global::misalignment::PATTERN,
    &global::stride::PATTERN,
    &global::bus_utilisation::PATTERN,
    &global::store_segments::PATTERN,
    &global::aos_soa::PATTERN,
    &shared::bank_conflicts::PATTERN,
    &shared::transpose::PATTERN,
    &shared::matmul_ab::PATTERN,
    &shared::async_copy::PATTERN,
    &caches::constant_memory::PATTERN,
    &collectives::reduction::PATTERN,
    &collectives::scan::PATTERN,
    &collectives::histogram::PATTERN,
    &caches::l2_persistence::PATTERN,
    &transfer::pinned_memory::PATTERN,
    &transfer::batching::PATTERN,
    &streams::overlap::PATTERN,
    &transfer::zero_copy::PATTERN,
    &streams::stream_semantics::PATTERN,
    &memory_management::unified_addressing::PATTERN,
    &memory_management::allocation::PATTERN,
    &streams::graphs::PATTERN,
];
