use simt::{Checks, Schedule};

/// Time at which enqueued work runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As late as possible: when the host waits for it. What the program forgot to order shows most this way.
    #[default]
    Late,
    /// At its call, which is always allowed and hides missing synchronization.
    Immediate,
    /// As late as possible, and what may go first is drawn from a generator with this seed.
    Seeded(u64),
}

/// The options of a virtual GPU.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Time at which enqueued work runs.
    pub order: Order,
    /// The order in which warps and blocks of a kernel take turns where the kernel leaves it open.
    pub schedule: Schedule,
    /// Orders of warps and blocks in which hazards of small launches are looked for; results are those of `schedule`.
    pub schedules: u32,
    /// Hazards to look for inside kernels; each costs time.
    pub checks: Checks,
    /// True when kernels take the time of the model; without it they take the least there is, and are executed faster.
    pub times: bool,
    /// True when to find host memory that changes under a pending copy, which reads the memory twice.
    pub watch_host_memory: bool,
    /// True when mistakes that do more harm than to cost time are also written to standard error when they are found.
    pub announce: bool,
    /// True when what kernels print goes to C's standard output; without it, nowhere.
    pub prints: bool,
    /// Warp-instructions after which a kernel is taken to run forever.
    pub fuel: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: Order::Late,
            schedule: Schedule::Forward,
            schedules: 1,
            checks: Checks::none(),
            times: true,
            watch_host_memory: true,
            announce: false,
            prints: true,
            fuel: 20_000_000_000,
        }
    }
}
