use crate::region::Allocation;
use std::fmt;

/// The place of an address. Its text says so as a part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// In a variable of shared memory, or behind it where no other begins.
    SharedVariable {
        /// The name of the variable.
        name: String,
        /// Its bytes.
        bytes: u32,
        /// The distance from its start.
        offset: u64,
    },
    /// In dynamic shared memory.
    DynamicShared {
        /// The bytes of dynamic shared memory.
        bytes: u32,
        /// The distance from its start.
        offset: u64,
    },
    /// Past the end of the block's shared memory.
    PastShared {
        /// The bytes of the block's shared memory.
        bytes: u32,
        /// The distance from its end.
        distance: u64,
    },
    /// In shared memory where no variable lies.
    NoVariable,
    /// In an allocation of device memory.
    Allocation {
        /// The allocation.
        allocation: Allocation,
        /// The distance from its start.
        offset: u64,
    },
    /// In an allocation of another device, which this one has no access to.
    OtherDevice {
        /// The allocation.
        allocation: Allocation,
        /// The distance from its start.
        offset: u64,
        /// The number of the other device.
        device: usize,
    },
    /// In an allocation that was freed.
    Freed {
        /// Its bytes.
        bytes: u64,
        /// Its first address.
        base: u64,
    },
    /// In addresses that are set aside for an allocation to come.
    Reserved {
        /// Their bytes.
        bytes: u64,
        /// The first of them.
        base: u64,
    },
    /// Behind an allocation, in none.
    Past {
        /// The allocation.
        allocation: Allocation,
        /// The distance from its end.
        distance: u64,
    },
    /// Before an allocation, in none.
    Before {
        /// The allocation.
        allocation: Allocation,
        /// The distance to its start.
        distance: u64,
    },
    /// Nothing is allocated.
    Nothing,
}

impl Location {
    /// Returns whether it is in shared memory.
    pub fn is_shared(&self) -> bool {
        matches!(
            self,
            Location::SharedVariable { .. }
                | Location::DynamicShared { .. }
                | Location::PastShared { .. }
                | Location::NoVariable
        )
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::SharedVariable { name, bytes, offset } => {
                write!(f, "it is byte {offset} from the start of `{name}`, which has {bytes} bytes")
            }
            Location::DynamicShared { bytes, offset } => {
                write!(f, "it is byte {offset} of the {bytes} bytes of dynamic shared memory")
            }
            Location::PastShared { bytes, distance } => {
                write!(f, "it is {distance} bytes past the end of the block's {bytes} bytes")
            }
            Location::NoVariable => f.write_str("no variable lies there"),
            Location::Allocation { allocation, offset } => {
                write!(f, "it is byte {offset} of the {}", named(allocation))
            }
            Location::OtherDevice { allocation, offset, device } => write!(
                f,
                "it is byte {offset} of the {} on device {device}, which this device has no access to",
                named(allocation)
            ),
            Location::Freed { bytes, base } => {
                write!(f, "it lies in the freed allocation of {bytes} bytes at {base:#x}")
            }
            Location::Reserved { bytes, base } => write!(
                f,
                "it lies in {bytes} bytes at {base:#x} that have no memory until the graph that allocates them is launched"
            ),
            Location::Past { allocation, distance } => {
                write!(f, "it is {distance} bytes past the end of the {}", named(allocation))
            }
            Location::Before { allocation, distance } => {
                write!(f, "it is {distance} bytes before the {}", named(allocation))
            }
            Location::Nothing => f.write_str("nothing is allocated"),
        }
    }
}

fn named(Allocation { label, bytes, address, .. }: &Allocation) -> String {
    let kind = if label.is_empty() { "allocation" } else { label };
    format!("{kind} of {bytes} bytes at {address:#x}")
}
