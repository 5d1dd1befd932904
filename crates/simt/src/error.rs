pub use ptx::Position;
use std::fmt;

/// Place of an event in a running kernel.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct Place {
    /// Name of the kernel.
    pub kernel: String,
    /// Line of the PTX text, 0 when unknown.
    pub ptx_line: u32,
    /// The instruction as written, without operands.
    pub instruction: String,
    /// Source file and line from `.loc`, when present, with what was inlined there.
    pub source: Option<String>,
    /// Block index.
    pub block: [u32; 3],
    /// Warp index within the block.
    pub warp: u32,
    /// The lanes concerned, one bit per lane.
    pub lanes: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at PTX line {}", self.instruction, self.ptx_line)?;
        if let Some(source) = &self.source {
            write!(f, " ({source})")?;
        }
        let [x, y, z] = self.block;
        write!(
            f,
            " of kernel `{}`, block ({x}, {y}, {z}), warp {}, {}",
            self.kernel,
            self.warp,
            Lanes(self.lanes)
        )
    }
}

/// Lanes of a mask, for messages: `lane 3`, `lanes 0-7, 16`.
pub(crate) struct Lanes(pub u32);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("no lanes");
        }
        f.write_str(if self.0.count_ones() == 1 { "lane " } else { "lanes " })?;
        let mut rest = u64::from(self.0);
        let mut separator = "";
        while rest != 0 {
            let first = rest.trailing_zeros();
            let last = first + (rest >> first).trailing_ones() - 1;
            write!(f, "{separator}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            rest = rest >> (last + 1) << (last + 1);
            separator = ", ";
        }
        Ok(())
    }
}

/// Why PTX could not be read, or a launch could not be run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The text is not PTX.
    Syntax {
        /// Position in the text.
        position: Position,
        /// The expectation, or what was found.
        message: String,
    },
    /// The text is PTX, but uses something the executor does not implement.
    Unsupported {
        /// Position in the text.
        position: Position,
        /// The instruction or directive, as written.
        what: String,
    },
    /// The text parses but its meaning is wrong: unknown names, wrong operand types.
    Invalid {
        /// Position in the text.
        position: Position,
        /// The mistake.
        message: String,
    },
    /// No kernel of that name is in the module.
    UnknownKernel {
        /// The name asked for.
        name: String,
        /// The kernels that are there.
        available: Vec<String>,
    },
    /// Number or size of the arguments differs from the kernel's parameters.
    Arguments {
        /// The difference.
        message: String,
    },
    /// Grid or block has a zero or oversized dimension, or a device limit is exceeded.
    LaunchConfiguration {
        /// Sentence that names the limit.
        message: String,
    },
    /// A memory operation of the host names no allocation, or goes past its end.
    Memory {
        /// The request, and what is there.
        message: String,
    },
    /// The device's memory is used up.
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes still free.
        free: u64,
    },
    /// A lane touched an address that is not valid for the access.
    IllegalAddress {
        /// Place in the kernel.
        place: Box<Place>,
        /// The address of the first such lane.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// The nearest allocation and what would fix it.
        message: String,
    },
    /// A lane touched an address that is not a multiple of the size of the access.
    MisalignedAddress {
        /// Place in the kernel.
        place: Box<Place>,
        /// The address of the first such lane.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// The kernel executed `trap` or `brkpt`, or called `__assertfail`.
    Trap {
        /// Place in the kernel.
        place: Box<Place>,
        /// The text of a failed assertion or of a panic, empty for a bare trap.
        message: String,
    },
    /// Nothing in the block can continue.
    Deadlock {
        /// One of the waiting instructions.
        place: Box<Place>,
        /// The waiting lanes, and where they wait.
        message: String,
    },
    /// The launch used up its fuel: it probably never ends.
    OutOfFuel {
        /// Place in the kernel when the fuel ended.
        place: Box<Place>,
        /// Warp-instructions that were allowed.
        fuel: u64,
        /// The condition that it seems to wait for, and what would fix it.
        message: String,
    },
    /// An instruction was executed in a way that its definition forbids.
    IllegalInstruction {
        /// Place in the kernel.
        place: Box<Place>,
        /// The rule that was broken.
        message: String,
    },
}

/// The cause and the cure of an instruction on tensor memory.
const TENSOR_MEMORY: &str = ", which has no tensor memory (compute capability 10.0); to fix it: compile the kernel for \
                             sm_90a or sm_120, where libraries take `wgmma` or `mma`";

/// The beginning of what is said of a `free` that a kernel may not call.
pub(crate) const FREE_OF: &str = "`free` of ";
/// The words on an address in no kernel's heap.
pub(crate) const NOT_OF_HEAP: &str = "which `malloc` of a kernel did not give";
/// The beginning of a panic's text.
pub(crate) const PANICKED: &str = "panicked at ";

impl Error {
    /// Returns whether CUDA's `assert` ended the kernel. A panic in Rust traps, which a driver reports otherwise.
    pub fn is_failed_assertion(&self) -> bool {
        let Error::Trap { message, .. } = self else { return false };
        !message.is_empty() && !message.starts_with(PANICKED)
    }

    /// Returns whether a kernel's `free` got an address of its heap, or another; nothing for other errors.
    pub fn frees_of_heap(&self) -> Option<bool> {
        let Error::IllegalInstruction { message, .. } = self else { return None };
        message.strip_prefix(FREE_OF).map(|what| !what.contains(NOT_OF_HEAP))
    }

    /// The position in the PTX text, for errors found before a launch.
    pub fn position(&self) -> Option<Position> {
        match self {
            Error::Syntax { position, .. }
            | Error::Unsupported { position, .. }
            | Error::Invalid { position, .. } => Some(*position),
            _ => None,
        }
    }

    /// The place in the running kernel, for errors found during a launch.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Error::IllegalAddress { place, .. }
            | Error::MisalignedAddress { place, .. }
            | Error::Trap { place, .. }
            | Error::Deadlock { place, .. }
            | Error::OutOfFuel { place, .. }
            | Error::IllegalInstruction { place, .. } => Some(place),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Syntax { position, message } | Error::Invalid { position, message } => {
                write!(f, "{position}: {message}")
            }
            Error::Unsupported { position, what } => {
                write!(f, "{position}: `{what}` is not supported by the executor")?;
                if what.starts_with("tcgen05") {
                    f.write_str(TENSOR_MEMORY)?;
                }
                Ok(())
            }
            Error::UnknownKernel { name, available } => {
                write!(f, "no kernel `{name}` in the module, which has: {}", available.join(", "))
            }
            Error::Arguments { message }
            | Error::LaunchConfiguration { message }
            | Error::Memory { message } => f.write_str(message),
            Error::OutOfMemory { requested, free } => {
                write!(f, "out of device memory: {requested} bytes asked for, {free} free")
            }
            Error::IllegalAddress { place, address, bytes, message } => {
                write!(f, "illegal address {address:#x} ({bytes} bytes) by {place}: {message}")
            }
            Error::MisalignedAddress { place, address, bytes } => write!(
                f,
                "misaligned address {address:#x} by {place}: an access of {bytes} bytes needs a \
                 multiple of {bytes}; to fix it: align the base and the index, or use a narrower \
                 access"
            ),
            Error::Trap { place, message } if message.is_empty() => write!(f, "trap by {place}"),
            Error::Trap { place, message } if self.is_failed_assertion() => {
                write!(f, "assertion failed by {place}: {message}")
            }
            Error::Trap { place, message } => write!(f, "trap by {place}: it {message}"),
            Error::Deadlock { place, message } => write!(f, "deadlock: {place}: {message}"),
            Error::OutOfFuel { place, fuel, message } => {
                write!(f, "still running after {fuel} warp-instructions, near {place}: {message}")
            }
            Error::IllegalInstruction { place, message } => {
                write!(f, "illegal instruction: {place}: {message}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<ptx::Error> for Error {
    fn from(ptx::Error { position, message, .. }: ptx::Error) -> Error {
        Error::Syntax { position, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_ranges() {
        let told = |mask| Lanes(mask).to_string();
        assert_eq!(told(0), "no lanes");
        assert_eq!(told(8), "lane 3");
        assert_eq!(told(u32::MAX), "lanes 0-31");
        assert_eq!(told(0x8001_00ff), "lanes 0-7, 16, 31");
    }
}
