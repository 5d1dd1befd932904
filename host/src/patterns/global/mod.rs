pub mod aos_soa;
pub mod bus_utilization;
pub mod coalescing;
pub mod misalignment;
pub mod rgb_to_gray;
pub mod store_segments;
pub mod stride;
