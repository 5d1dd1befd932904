/// Counts of one run of a host task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostCounts {
    pub copies: u64,
    pub bus_bytes: u64,
    /// Calls that pin memory of the host.
    pub pins: u64,
    /// Calls that allocate device memory, other than from a pool.
    pub allocations: u64,
    /// Calls that launch a kernel or a graph, those that are recorded into a graph included.
    pub launches: u64,
    pub instantiations: u64,
    /// Calls in which the host waits for the device.
    pub waits: u64,
    pub pageable_copies: u64,
    /// The most kernels that have to follow each other.
    pub kernel_chain: u64,
    /// The share of the steps in which the busiest engine has to wait for another, percent.
    pub idle_percent: f64,
    /// The steps in which each engine is at work, drawn.
    pub timeline: Vec<String>,
}

/// Returns what `course_host::step` makes of a value, for references.
pub fn stepped(value: u32, factor: u32, add: u32, rounds: u32) -> u32 {
    (0..rounds).fold(value, |value, _| value.wrapping_mul(factor).wrapping_add(add))
}
