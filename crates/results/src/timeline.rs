//! Timelines: intervals of the device's engines, of streams and of the host.

use counters::OperationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The work between two events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// The device's name.
    pub device: String,
    /// Origin of the times.
    pub origin: Origin,
    /// From the first event to the last, microseconds.
    pub length_us: f64,
    /// By their start; each lies between 0 and the length.
    pub intervals: Vec<Interval>,
}

/// Origin of times.
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
    /// The value now.
    pub kind: OperationKind,
    /// Its stream: 0 is that of the events, others follow in the order of appearance; `None` for what the host does.
    pub stream: Option<usize>,
    /// Its start, microseconds after the first event.
    pub start_us: f64,
    /// Its end.
    pub end_us: f64,
}
