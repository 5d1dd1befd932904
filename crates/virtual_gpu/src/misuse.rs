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
    /// A kernel failed.
    KernelFault,
    /// The executor found a hazard inside a kernel.
    KernelHazard,
    /// Memory that is still allocated.
    Leak,
}

/// A mistake that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse {
    /// Its kind.
    pub kind: MisuseKind,
    /// The driver call that showed it.
    pub call: &'static str,
    /// What happened and what would fix it, in one sentence.
    pub message: String,
}

impl fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.call, self.message)
    }
}
