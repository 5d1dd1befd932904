//! The virtual GPU's record of a run, for the judge: operations and their order, no times and no counts.

use cuda_host::{OperationKind, OperationRecord};
use serde::{Deserialize, Serialize};
use virtual_gpu::{Location, MisuseKind, MisusedMemory, OrderRecord};

/// The most records of a kind; a file that asks the driver for more is told so.
const MAX_RECORDS: usize = 20_000;

/// Record of one run of a file, besides its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostRun {
    /// The driver's error, or the file's own.
    pub error: Option<String>,
    /// True when that is because the system allows the file nothing but computing.
    pub is_forbidden: bool,
    /// The first mistake of the host's.
    pub misuse: Option<HostMisuse>,
    /// Sizes of asynchronous copies of pageable memory, which keep the host.
    pub pageable_copies: u64,
    /// The calls of the driver, by name, in their order.
    pub calls: Vec<String>,
    /// The bytes of each copy between host and device.
    pub copies: Vec<u64>,
    pub order: Vec<Record>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostMisuse {
    /// The place of its kind in [`MISTAKES`]; nothing for others.
    pub mistake: Option<usize>,
    pub kind: String,
    /// The driver call that showed it.
    pub call: String,
    pub message: String,
    /// The memory of the device that it is about, where that is known.
    pub memory: Option<DevicePlace>,
    /// Line of the file that made the call.
    pub place: Option<String>,
}

/// A place in an allocation of the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DevicePlace {
    /// The place as the message has it.
    pub text: String,
    /// The distance from the start of the allocation.
    pub offset: u64,
    /// The bytes of the allocation.
    pub bytes: u64,
}

impl DevicePlace {
    /// Returns the place of a mistake that is about an allocation.
    pub(crate) fn of(memory: &MisusedMemory) -> Option<DevicePlace> {
        match &memory.location {
            Some(Location::Allocation { allocation, offset }) if allocation.label.is_empty() => {
                let text = memory.to_string();
                Some(DevicePlace { text, offset: *offset, bytes: allocation.bytes })
            }
            _ => None,
        }
    }
}

/// Mistakes that a host file is graded by.
pub const MISTAKES: &[MisuseKind] = &[
    MisuseKind::DoubleFree,
    MisuseKind::UseAfterFree,
    MisuseKind::OutOfBounds,
    MisuseKind::MissingOrder,
    MisuseKind::HostMemoryChanged,
    MisuseKind::HostMemoryFreed,
    MisuseKind::Context,
    MisuseKind::Unsupported,
    MisuseKind::KernelFault,
];

/// Work that was enqueued, or the host's waiting for some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// Work, the number of which is that of its place among all work.
    Enqueued {
        id: usize,
        work: Work,
        /// The numbers of what it follows.
        after: Vec<usize>,
    },
    /// The host has waited for work of these numbers.
    Waited(Vec<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// So many bytes to the device.
    HostToDevice(u64),
    Kernel,
    /// So many bytes to the host.
    DeviceToHost(u64),
    /// An operation that takes no engine's time.
    Other,
}

impl HostRun {
    /// Takes what was recorded into it; says so where that is too much.
    pub(crate) fn record(&mut self, operations: &[OperationRecord], order: Vec<OrderRecord>) {
        for one in operations {
            match &one.kind {
                OperationKind::HostToDevice(bytes) | OperationKind::DeviceToHost(bytes) => {
                    self.copies.push(*bytes);
                }
                OperationKind::Call(name) => self.calls.push(name.to_string()),
                _ => {}
            }
        }
        self.order = order.into_iter().map(Record::from).collect();
        let most = [self.copies.len(), self.calls.len(), self.order.len()].into_iter().max();
        if most > Some(MAX_RECORDS) {
            let why = format!("the file asks the driver for more than {MAX_RECORDS} things");
            *self = HostRun { error: Some(why), ..HostRun::default() };
        }
    }
}

impl From<OrderRecord> for Record {
    fn from(record: OrderRecord) -> Record {
        match record {
            OrderRecord::Enqueued { id, kind, after } => {
                let work = match kind {
                    Some(OperationKind::HostToDevice(bytes)) => Work::HostToDevice(bytes),
                    Some(OperationKind::DeviceToHost(bytes)) => Work::DeviceToHost(bytes),
                    Some(OperationKind::Kernel(_)) => Work::Kernel,
                    _ => Work::Other,
                };
                Record::Enqueued { id, work, after }
            }
            OrderRecord::Waited(ids) => Record::Waited(ids),
        }
    }
}
