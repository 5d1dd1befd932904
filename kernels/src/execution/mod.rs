//! Execution: how many threads are at work, on how much each, and along which paths.

pub mod coarsening;
pub mod divergence;
pub mod occupancy;
