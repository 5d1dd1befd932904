pub mod coarsening;
pub mod divergence;
pub mod occupancy;
