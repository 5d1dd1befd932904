mod caches;
mod collectives;
mod execution;
mod global;
mod memory_management;
mod shared;
mod streams;
mod transfer;

use crate::prelude::*;
pub use caches::memory_hierarchy::MEMORY_SPACES;
use coalesce::{AdviceKind, Renamed};
pub use memory_management::allocation::Arena;

/// Every pattern, in teaching order. All commands, tests and docs iterate this list.
pub const ALL: &[&Pattern] = &[
    &global::coalescing::PATTERN,
    &global::misalignment::PATTERN,
    &global::stride::PATTERN,
    &global::bus_utilization::PATTERN,
    &global::store_segments::PATTERN,
    &global::aos_soa::PATTERN,
    &global::rgb_to_gray::PATTERN,
    &execution::occupancy::PATTERN,
    &execution::coarsening::PATTERN,
    &shared::bank_conflicts::PATTERN,
    &shared::transpose::PATTERN,
    &shared::matmul_ab::PATTERN,
    &shared::matmul_aat::PATTERN,
    &shared::matmul::PATTERN,
    &shared::matmul_tensor::PATTERN,
    &shared::stencil::PATTERN,
    &shared::async_copy::PATTERN,
    &caches::cache_operators::PATTERN,
    &caches::constant_memory::PATTERN,
    &caches::local_memory::PATTERN,
    &caches::memory_hierarchy::PATTERN,
    &caches::texture::PATTERN,
    &execution::divergence::PATTERN,
    &collectives::reduction::PATTERN,
    &collectives::scan::PATTERN,
    &collectives::atomics::PATTERN,
    &collectives::histogram::PATTERN,
    &collectives::distributed_shared::PATTERN,
    &caches::l2_persistence::PATTERN,
    &transfer::pinned_memory::PATTERN,
    &transfer::batching::PATTERN,
    &transfer::device_residency::PATTERN,
    &streams::overlap::PATTERN,
    &transfer::zero_copy::PATTERN,
    &transfer::peer_to_peer::PATTERN,
    &streams::stream_semantics::PATTERN,
    &memory_management::unified_addressing::PATTERN,
    &memory_management::managed_memory::PATTERN,
    &memory_management::allocation::PATTERN,
    &memory_management::symbols::PATTERN,
    &streams::graphs::PATTERN,
];

/// The variant in which the cure of each kind of advice was measured.
pub const TEACHES: &[(AdviceKind, &str)] = &[
    (AdviceKind::StridedAccess, "transpose/padded"),
    (AdviceKind::ScatteredAccess, "bus_utilization/aligned_ca"),
    (AdviceKind::MisalignedAccess, "misalignment/padded"),
    (AdviceKind::NarrowAccess, "aos_soa/both_vectorized"),
    (AdviceKind::BankConflict, "transpose/padded"),
    (AdviceKind::ContendedAtomic, "atomics/warp_aggregated"),
    (AdviceKind::DivergentConstant, "constant_memory/shared"),
    (AdviceKind::LocalMemory, "local_memory/shared"),
    (AdviceKind::Divergence, "divergence/rearranged"),
    (AdviceKind::LowOccupancy, "occupancy/vectorized_64"),
    (AdviceKind::PageableCopy, "pinned_memory/h2d_pinned"),
    (AdviceKind::SmallCopies, "batching/packed"),
    (AdviceKind::MissingOverlap, "overlap/breadth_first"),
];

/// The task of the course that practises the cure of each kind of advice.
pub const EXERCISES: &[(AdviceKind, &str)] = &[
    (AdviceKind::StridedAccess, "rows_to_lanes"),
    (AdviceKind::ScatteredAccess, "boss_table"),
    (AdviceKind::MisalignedAccess, "offset_load"),
    (AdviceKind::NarrowAccess, "wide_loads"),
    (AdviceKind::BankConflict, "pad_the_tile"),
    (AdviceKind::ContendedAtomic, "one_counter"),
    (AdviceKind::DivergentConstant, "constant_walk"),
    (AdviceKind::LocalMemory, "spilled"),
    (AdviceKind::Divergence, "half_and_half"),
    (AdviceKind::PageableCopy, "pinned"),
    (AdviceKind::SmallCopies, "batch"),
    (AdviceKind::MissingOverlap, "overlap"),
];

/// Names that changed after the measurements that are kept.
pub const RENAMED: &[Renamed] = &[
    Renamed::new("bus_utilisation", "bus_utilization"),
    Renamed::new("coalescing/pair", "coalescing/vectorized_8"),
    Renamed::new("coalescing/quad", "coalescing/vectorized_16"),
    Renamed::new("aos_soa/both_paired", "aos_soa/both_vectorized"),
    Renamed::new("bank_conflicts/pairs", "bank_conflicts/two_lanes_per_word"),
    Renamed::new("matmul_ab/simple", "matmul_ab/naive"),
    Renamed::new("matmul_ab/a_in_shared", "matmul_ab/shared_a"),
    Renamed::new("matmul_ab/ab_in_shared", "matmul_ab/shared_ab"),
    Renamed::new("matmul_ab/registers", "matmul_ab/register_tiled"),
    Renamed::new("transpose/wide", "transpose/vectorized"),
    Renamed::new("transpose/ordered", "transpose/block_order"),
    Renamed::new("transpose/asynchronous", "transpose/async_copy"),
    Renamed::new("histogram/block_copy", "histogram/block_private"),
    Renamed::new("histogram/warp_copies", "histogram/warp_private"),
    Renamed::new("histogram/lane_copies", "histogram/lane_private"),
    Renamed::new("histogram/many_bins_global", "histogram/large_histogram_global"),
    Renamed::new("histogram/many_bins", "histogram/large_histogram"),
    Renamed::new("reduction/vectorised", "reduction/vectorized"),
    Renamed::new("reduction/vectorised_i32", "reduction/vectorized_i32"),
    Renamed::new("reduction/vectorised_f64", "reduction/vectorized_f64"),
    Renamed::new("scan/vectorised", "scan/vectorized"),
    Renamed::new("pinned_memory/upload_pageable", "pinned_memory/h2d_pageable"),
    Renamed::new("pinned_memory/upload_pinned", "pinned_memory/h2d_pinned"),
    Renamed::new("pinned_memory/upload_registered", "pinned_memory/h2d_registered"),
    Renamed::new("pinned_memory/upload_write_combined", "pinned_memory/h2d_write_combined"),
    Renamed::new("pinned_memory/upload_portable", "pinned_memory/h2d_portable"),
    Renamed::new("pinned_memory/download_pageable", "pinned_memory/d2h_pageable"),
    Renamed::new("pinned_memory/download_pinned", "pinned_memory/d2h_pinned"),
    Renamed::new("pinned_memory/download_registered", "pinned_memory/d2h_registered"),
    Renamed::new("pinned_memory/download_write_combined", "pinned_memory/d2h_write_combined"),
    Renamed::new("pinned_memory/download_portable", "pinned_memory/d2h_portable"),
    Renamed::new("pinned_memory/both_ways", "pinned_memory/bidirectional"),
    Renamed::new("overlap/upload", "overlap/h2d"),
    Renamed::new("overlap/download", "overlap/d2h"),
    Renamed::new("overlap/both_ways", "overlap/bidirectional"),
    Renamed::new("stream_semantics/stream_synchronise", "stream_semantics/stream_synchronize"),
    Renamed::new("stream_semantics/event_synchronise", "stream_semantics/event_synchronize"),
    Renamed::new("stream_semantics/device_synchronise", "stream_semantics/device_synchronize"),
    Renamed::new("cache_operators/stream_prefetch", "cache_operators/stream_prefetch_l2"),
    Renamed::new("allocation/pool_kept", "allocation/pool_retained"),
];
