//! Mistakes of the host program that were found, each with the call that showed it.

use crate::host_pages;
pub use counters::MisuseKind;
use cuda_driver::ReturnCode;
use simt::{Error, Location};
use std::fmt;

/// The way in which a kernel failed while it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KernelFault {
    /// An access outside of every allocation.
    IllegalAddress,
    /// An address that is no multiple of the bytes of its access.
    MisalignedAddress,
    /// A trap, or an assertion that does not hold.
    Trap,
    /// A kernel that never ends, or whose threads wait for each other.
    NeverEnds,
    /// Anything else, such as an instruction that its definition forbids.
    Other,
}

impl KernelFault {
    /// Classifies what ended a kernel.
    pub(crate) fn of(error: &Error) -> KernelFault {
        match error {
            Error::IllegalAddress { .. } => KernelFault::IllegalAddress,
            Error::MisalignedAddress { .. } => KernelFault::MisalignedAddress,
            Error::Trap { .. } => KernelFault::Trap,
            Error::Deadlock { .. } | Error::OutOfFuel { .. } => KernelFault::NeverEnds,
            _ => KernelFault::Other,
        }
    }
}

/// The memory that a mistake is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MisusedMemory {
    /// The first address concerned.
    pub address: u64,
    /// Location of that address, for memory of the device that two operations use.
    pub location: Option<Location>,
    /// The lanes of a warp that accessed it, one bit each; none for operations of streams.
    pub lanes: u32,
    /// The lanes write.
    pub writes: bool,
}

impl MisusedMemory {
    /// Returns the access that ended a kernel, if that is what did.
    pub(crate) fn of(error: &Error) -> Option<MisusedMemory> {
        let (Error::IllegalAddress { place, address, .. }
        | Error::MisalignedAddress { place, address, .. }) = error
        else {
            return None;
        };
        let stores = ["st.", "sust.", "atom.", "red.", "wmma.store."];
        let writes = stores.iter().any(|opcode| place.instruction.starts_with(opcode));
        Some(MisusedMemory { address: *address, location: None, lanes: place.lanes, writes })
    }
}

impl MisusedMemory {
    /// The first address of the allocation that it is in, where that is known.
    pub(crate) fn allocation(&self) -> Option<u64> {
        match &self.location {
            Some(Location::Allocation { allocation, .. }) => Some(allocation.address),
            _ => None,
        }
    }
}

/// The address, and in parentheses where it lies, as messages have them.
impl fmt::Display for MisusedMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}", self.address)?;
        match &self.location {
            Some(location) => write!(formatter, " ({location})"),
            None => Ok(()),
        }
    }
}

/// A mistake that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse {
    /// Its kind.
    pub kind: MisuseKind,
    /// The way in which a kernel failed, for a [`MisuseKind::KernelFault`] that showed while it ran.
    pub fault: Option<KernelFault>,
    /// The memory that it is about, where that is known.
    pub memory: Option<MisusedMemory>,
    /// The driver call that showed it.
    pub call: &'static str,
    /// The code with which that call failed, if it did because of this.
    pub code: Option<ReturnCode>,
    /// The event and its cure, in one sentence.
    pub message: String,
    /// The number of times that it happened.
    pub count: u64,
    /// Place of the call in the program, when debug information tells; nothing for mistakes found only when work ran
    /// later than its call.
    pub location: Option<String>,
}

impl fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.call, self.message)?;
        if let Some(code) = self.code {
            write!(formatter, " [{code}]")?;
        }
        match &self.location {
            Some(location) => write!(formatter, " (at {location})"),
            None => Ok(()),
        }
    }
}

/// Returns the place at which the program called the driver: the innermost frame that is neither the driver's, cust's
/// nor the language's.
pub(crate) fn caller() -> Option<String> {
    let trace = std::backtrace::Backtrace::force_capture().to_string();
    first_of_program(&trace)
}

/// Files of the driver, its wrappers and the language. With line tables only, an inlined frame has its function's bare name:
/// then the path tells.
const OTHERS_FILES: [&str; 12] = [
    "/cust-",
    "/cust_core-",
    "/cust_ext/src/",
    "/cuda_driver/src/",
    "/virtual_gpu/src/",
    "/virtual_libcudart/src/",
    "/coalesce-cust-ext-",
    "/coalesce-cuda-driver-",
    "/coalesce-virtual-gpu-",
    "/coalesce-virtual-libcudart-",
    "/rustc/",
    "/rustlib/",
];

/// Returns the line of the program that an instruction is of, when debug information tells; of C's library, that of its call.
pub(crate) fn place_of([code, behind_call]: [u64; 2]) -> Option<String> {
    let (mut place, here) = (None, std::env::current_dir().unwrap_or_default());
    // An address is taken for that behind a call.
    let behind = if host_pages::is_of_c(code) { behind_call } else { code + 1 };
    let behind = std::ptr::with_exposed_provenance_mut(behind as usize);
    backtrace::resolve(behind, |symbol| {
        if let (None, Some(path), Some(line)) = (&place, symbol.filename(), symbol.lineno()) {
            let file = path
                .strip_prefix(&here)
                .map_or(path.display().to_string(), |inside| format!("./{}", inside.display()));
            let is_others = OTHERS_FILES.iter().any(|other| file.contains(other));
            place = (!is_others).then(|| format!("{file}:{line}"));
        }
    });
    place
}

/// A backtrace has two lines per frame: `12: crate::function` and `at file:line:column`.
fn first_of_program(trace: &str) -> Option<String> {
    const OTHERS: [&str; 9] = [
        "virtual_gpu::",
        "cuda_driver::",
        "cust::",
        "cust_ext::",
        "cust_core::",
        "virtual_libcudart::",
        "core::",
        "std::",
        "alloc::",
    ];
    let mut below_driver = false;
    let mut is_program = false;
    let mut is_placed = true;
    for line in trace.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("at ") {
            is_placed = true;
            if is_program && !OTHERS_FILES.iter().any(|other| place.contains(other)) {
                let (file_and_line, _column) = place.rsplit_once(':')?;
                return Some(file_and_line.to_owned());
            }
        } else if let Some((_number, function)) = line.split_once(": ") {
            if is_program && !is_placed {
                // The program has no debug information; frames further out are not where it made the call.
                return None;
            }
            is_placed = false;
            let name = function.trim_start_matches(['<', '&']);
            let is_of_cuda = |prefix| {
                name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(char::is_uppercase))
            };
            let is_driver = is_of_cuda("cu") || is_of_cuda("cuda");
            below_driver |= is_driver;
            is_program = below_driver
                && !is_driver
                && !OTHERS.iter().any(|other| name.starts_with(other))
                && !name.starts_with("__");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_what_remains_of_a_backtrace() {
        let trace = "
   0: std::backtrace::Backtrace::create
             at /rustc/library/std/src/backtrace.rs:331:13
   1: virtual_gpu::misuse::caller
             at ./src/misuse.rs:60:17
   2: cuMemAlloc_v2
             at ./src/driver_api.rs:10:5
   2: virtual_libcudart::define::answer
             at ./src/define.rs:70:11
   2: cudaMalloc
             at ./src/define.rs:31:17
   3: <cust::memory::DeviceBuffer<T> as core::ops::Drop>::drop
             at ./cust/src/memory.rs:5:1
   4: core::ptr::drop_in_place
             at ./core/src/ptr.rs:4:1
   5: my_program::upload
             at ./src/upload.rs:17:9
   6: my_program::main
             at ./src/main.rs:3:5";
        assert_eq!(first_of_program(trace).as_deref(), Some("./src/upload.rs:17"));
        assert_eq!(first_of_program("   0: std::main"), None);
        let stripped = trace.replace("             at ./src/upload.rs:17:9\n", "");
        assert_eq!(first_of_program(&stripped), None);
    }
}
