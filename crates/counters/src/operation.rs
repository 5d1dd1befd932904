use std::borrow::Cow;

/// The kind of an operation on a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "snake_case")
)]
pub enum OperationKind {
    /// A copy of so many bytes from the host, or managed memory that moves to the device. Of pageable memory that a call
    /// stages it is the time of the staging.
    #[cfg_attr(feature = "serde", serde(rename = "upload"))]
    HostToDevice(u64),
    /// A copy of so many bytes to the host, or managed memory that moves there.
    #[cfg_attr(feature = "serde", serde(rename = "download"))]
    DeviceToHost(u64),
    /// A copy of so many bytes inside the device.
    DeviceCopy(u64),
    /// A fill of so many bytes of device memory.
    Fill(u64),
    /// A kernel, by name.
    Kernel(String),
    /// A copy of so many bytes inside the host's memory.
    HostCopy(u64),
    /// A graph, as a whole.
    Graph,
    /// A function of the host's that a stream called; it takes no time on the virtual device.
    HostFunction,
    /// A stream waits for an event of another.
    Wait,
    /// An event is reached, which takes no time. Files leave it out.
    #[cfg_attr(feature = "serde", serde(skip))]
    Event,
    /// The host is in this function of the driver.
    Call(Cow<'static, str>),
    /// The host reads so many bytes of memory of its own.
    HostRead(u64),
}

/// A part of a machine that does one operation after the other, or, for kernels, as many as fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// The host.
    Host,
    /// Copies to the device.
    HostToDevice,
    /// The multiprocessors: kernels, fills, copies inside the device.
    Kernel,
    /// Copies to the host.
    DeviceToHost,
}

impl OperationKind {
    /// The engine that does it; `None` for what only a stream knows.
    pub fn engine(&self) -> Option<Engine> {
        match self {
            OperationKind::HostToDevice(_) => Some(Engine::HostToDevice),
            OperationKind::DeviceToHost(_) => Some(Engine::DeviceToHost),
            OperationKind::Kernel(_)
            | OperationKind::Graph
            | OperationKind::Fill(_)
            | OperationKind::DeviceCopy(_) => Some(Engine::Kernel),
            OperationKind::Call(_) | OperationKind::HostRead(_) => Some(Engine::Host),
            OperationKind::HostCopy(_)
            | OperationKind::HostFunction
            | OperationKind::Wait
            | OperationKind::Event => None,
        }
    }
}
