//! What ran when: intervals of the device's engines, of streams and of the host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The work between two events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// The device's name.
    pub device: String,
    /// Where the times come from.
    pub origin: Origin,
    /// From the first event to the last, microseconds.
    pub length_us: f64,
    /// By their start; each lies between 0 and the length.
    pub intervals: Vec<Interval>,
}

/// Where times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The virtual device's model.
    Model,
    /// Events on a GPU.
    Measured,
}

/// Something that took time, or a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// What it is.
    pub kind: Kind,
    /// Its stream: 0 is that of the events, others follow in the order of appearance; `None` for what the host does.
    pub stream: Option<usize>,
    /// Its start, microseconds after the first event.
    pub start_us: f64,
    /// Its end.
    pub end_us: f64,
}

/// What an [`Interval`] is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// So many bytes to the device.
    Upload(u64),
    /// So many bytes to the host.
    Download(u64),
    /// So many bytes copied inside the device.
    DeviceCopy(u64),
    /// So many bytes of the device filled.
    Fill(u64),
    /// A kernel, by name.
    Kernel(String),
    /// So many bytes copied inside the host's memory.
    HostCopy(u64),
    /// A graph, as a whole.
    Graph,
    /// A function of the host's that a stream called.
    HostFunction,
    /// A stream waits for another.
    Wait,
    /// The host is in this function of the driver.
    Call(String),
    /// The host reads so many bytes.
    HostRead(u64),
}

/// What does one thing after the other, or, for kernels, as many as fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// The host.
    Host,
    /// Copies to the device.
    Upload,
    /// The multiprocessors: kernels, fills, copies inside the device.
    Kernel,
    /// Copies to the host.
    Download,
}

impl Kind {
    /// What does it; `None` for what only a stream knows.
    pub fn engine(&self) -> Option<Engine> {
        match self {
            Kind::Upload(_) => Some(Engine::Upload),
            Kind::Download(_) => Some(Engine::Download),
            Kind::Kernel(_) | Kind::Graph | Kind::Fill(_) | Kind::DeviceCopy(_) => {
                Some(Engine::Kernel)
            }
            Kind::Call(_) | Kind::HostRead(_) => Some(Engine::Host),
            Kind::HostCopy(_) | Kind::HostFunction | Kind::Wait => None,
        }
    }
}
