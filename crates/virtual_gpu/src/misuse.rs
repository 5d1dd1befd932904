//! Mistakes of the host program that were found, each with the call that showed it.

use std::fmt;

/// The kind of a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MisuseKind {
    /// Memory was freed a second time.
    DoubleFree,
    /// Memory was used after it was freed.
    UseAfterFree,
    /// A copy or fill went past the end of an allocation, or to no allocation at all.
    OutOfBounds,
    /// Pageable memory in an asynchronous copy: it will not overlap.
    PageableAsyncCopy,
    /// Two streams use the same memory, one of them writes it, and nothing orders them.
    MissingOrder,
    /// The host changed memory that a pending copy uses.
    HostMemoryChanged,
    /// The host freed memory that a pending copy uses.
    HostMemoryFreed,
    /// A call without a current context, or from a host function.
    Context,
    /// A call that a GPU's driver answers and the virtual device does not.
    Unsupported,
    /// A kernel failed.
    KernelFault,
    /// A device disappeared while work needed it.
    DeviceLost,
    /// The executor found a hazard inside a kernel.
    KernelHazard,
    /// A result depends on whether NVIDIA's assembler fuses a product and a sum of the kernel.
    Contraction,
    /// Memory that is still allocated.
    Leak,
}

impl MisuseKind {
    /// Returns whether it is worth knowing but no error: it costs time, or differs between devices.
    pub fn is_advice(self) -> bool {
        matches!(self, MisuseKind::PageableAsyncCopy | MisuseKind::Contraction)
    }
}

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
    pub(crate) fn of(error: &simt::Error) -> KernelFault {
        match error {
            simt::Error::IllegalAddress { .. } => KernelFault::IllegalAddress,
            simt::Error::MisalignedAddress { .. } => KernelFault::MisalignedAddress,
            simt::Error::Trap { .. } => KernelFault::Trap,
            simt::Error::Deadlock { .. } | simt::Error::OutOfFuel { .. } => KernelFault::NeverEnds,
            _ => KernelFault::Other,
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
    /// The driver call that showed it.
    pub call: &'static str,
    /// The event and its cure, in one sentence.
    pub message: String,
    /// Where in the program the call was made, when debug information tells; nothing for what showed only when work ran
    /// later than its call.
    pub location: Option<String>,
}

impl fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.call, self.message)?;
        match &self.location {
            Some(location) => write!(formatter, " (at {location})"),
            None => Ok(()),
        }
    }
}

/// Where the program called the driver: the innermost frame that is neither the driver's, cust's nor the language's.
pub(crate) fn caller() -> Option<String> {
    let trace = std::backtrace::Backtrace::force_capture().to_string();
    first_of_program(&trace)
}

/// A backtrace has two lines per frame: `12: crate::function` and `at file:line:column`.
fn first_of_program(trace: &str) -> Option<String> {
    const OTHERS: [&str; 8] = [
        "virtual_gpu::",
        "cuda_driver::",
        "cust::",
        "cust_ext::",
        "cust_core::",
        "core::",
        "std::",
        "alloc::",
    ];
    // With line tables only, an inlined frame has its function's bare name: then the path tells.
    const OTHERS_FILES: [&str; 10] = [
        "/cust-",
        "/cust_core-",
        "/cust_ext/src/",
        "/cuda_driver/src/",
        "/virtual_gpu/src/",
        "/coalesce-cust-ext-",
        "/coalesce-cuda-driver-",
        "/coalesce-virtual-gpu-",
        "/rustc/",
        "/rustlib/",
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
            let is_driver = name.starts_with("cu") && name[2..].starts_with(char::is_uppercase);
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
