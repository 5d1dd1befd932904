//! The registry: every pattern, in teaching order.

mod allocation;
mod aos_soa;
mod async_copy;
mod bank_conflicts;
mod batching;
mod bus_utilisation;
mod coalescing;
mod constant_memory;
mod graphs;
mod histogram;
mod l2_persistence;
mod matmul_ab;
mod misalignment;
mod overlap;
mod pinned_memory;
mod reduction;
mod scan;
mod store_segments;
mod stream_semantics;
mod stride;
mod transpose;
mod unified_addressing;
mod zero_copy;

use coalesce::pattern::Pattern;

/// Every pattern, in teaching order. All commands, tests and docs iterate this list.
pub const ALL: &[&Pattern] = &[
    &coalescing::PATTERN,
    &misalignment::PATTERN,
    &stride::PATTERN,
    &bus_utilisation::PATTERN,
    &store_segments::PATTERN,
    &aos_soa::PATTERN,
    &bank_conflicts::PATTERN,
    &transpose::PATTERN,
    &matmul_ab::PATTERN,
    &async_copy::PATTERN,
    &constant_memory::PATTERN,
    &reduction::PATTERN,
    &scan::PATTERN,
    &histogram::PATTERN,
    &l2_persistence::PATTERN,
    &pinned_memory::PATTERN,
    &batching::PATTERN,
    &overlap::PATTERN,
    &zero_copy::PATTERN,
    &stream_semantics::PATTERN,
    &unified_addressing::PATTERN,
    &allocation::PATTERN,
    &graphs::PATTERN,
];
