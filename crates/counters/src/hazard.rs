//! Kinds of hazards inside a kernel, and of mistakes of the host.

use std::fmt;

/// The kind of a hazard inside a kernel, by its name in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[non_exhaustive]
pub enum Hazard {
    /// A register that nobody wrote decides an address, a branch or a stored value.
    UninitializedRegister,
    /// Shared bytes were read that nobody wrote.
    UninitializedShared,
    /// Local bytes were read that nobody wrote.
    UninitializedLocal,
    /// Global bytes were read that nobody wrote.
    UninitializedGlobal,
    /// Shared bytes were accessed by threads of different warps, one of them writing, and nothing orders the two.
    SharedRace,
    /// As `SharedRace`, between lanes of one warp.
    SharedRaceInWarp,
    /// Global bytes were accessed by threads of different warps, one of them writing, and nothing orders the two.
    GlobalRace,
    /// As `GlobalRace`, between lanes of one warp.
    GlobalRaceInWarp,
    /// Several threads store the same value to the same bytes. That is a note, not a finding.
    SameValue,
    /// Threads access the same bytes, one of them writes, one is volatile, and nothing orders the two: which value is read
    /// is not promised. That is a note, not a finding.
    UnorderedVolatile,
    /// Some lanes of a warp ended while the others wait at an aligned barrier of the block. That is a note, not a finding.
    SkippedBarrier,
    /// Threads reach one named barrier with different numbers of threads to wait for.
    BarrierCounts,
    /// A shared address was formed from one array, but lies outside of it.
    SharedOverrun,
    /// Two lanes of one instruction stored different values to the same bytes.
    ConflictingStore,
    /// The lanes of a warp wait at different instructions of an aligned barrier.
    DivergentBarrier,
    /// A membermask names a lane that has exited, or leaves out a lane that takes part.
    MemberMask,
    /// A shuffle read a lane that did not take part.
    InactiveSource,
    /// The target of an asynchronous copy was accessed before the copy was waited for.
    AsyncCopyNotAwaited,
    /// `ld.global.nc` of bytes that this launch writes.
    ReadOnlyWritten,
    /// The launch relies on the order in which its warps and blocks run.
    OtherOrder,
    /// A register of a `wgmma` was used before that was waited for, or is used by one without `wgmma.fence` before.
    UnorderedProduct,
    /// An asynchronous proxy reads shared memory without `fence.proxy.async` before.
    MissingProxyFence,
}

impl Hazard {
    /// Returns whether it is worth knowing but no error.
    pub fn is_note(self) -> bool {
        matches!(self, Hazard::SameValue | Hazard::UnorderedVolatile | Hazard::SkippedBarrier)
    }

    /// Returns whether only a check of races in global memory looks for it.
    pub fn is_by_global_races(self) -> bool {
        matches!(self, Hazard::GlobalRace | Hazard::GlobalRaceInWarp | Hazard::ReadOnlyWritten)
    }

    /// Returns what would fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Hazard::UninitializedRegister => "initialize the variable on every path",
            Hazard::UninitializedShared => {
                "write the shared memory before reading it; its content is undefined at the start"
            }
            Hazard::UninitializedLocal => "initialize the local array",
            Hazard::UninitializedGlobal => "copy to or fill the allocation before the launch",
            Hazard::SharedRace => "put a block barrier between the two accesses",
            Hazard::SharedRaceInWarp | Hazard::GlobalRaceInWarp => {
                "put a warp barrier (bar.warp.sync) between the two accesses"
            }
            Hazard::GlobalRace => {
                "use atomics, or split the work into two launches, or let each block own its bytes"
            }
            Hazard::SameValue => {
                "nothing has to be fixed; let one thread store to save the traffic"
            }
            Hazard::UnorderedVolatile => {
                "put a barrier between the two, or a fence before the write, or use atomics: volatile orders nothing"
            }
            Hazard::SkippedBarrier => {
                "let every thread of the block reach it, those without work, too: GPUs let it pass, CUDA does not promise it"
            }
            Hazard::BarrierCounts => "give one number of threads wherever the barrier is named",
            Hazard::SharedOverrun => "check the index against the array's length",
            Hazard::ConflictingStore => "let one lane store, or use an atomic",
            Hazard::DivergentBarrier => "move the barrier out of the branch",
            Hazard::MemberMask => "pass the mask of the lanes that execute the instruction",
            Hazard::InactiveSource => "read only lanes that execute the same shuffle",
            Hazard::AsyncCopyNotAwaited => {
                "wait for the copy (wait_group or mbarrier), then synchronize the readers"
            }
            Hazard::ReadOnlyWritten => {
                "use a plain load, or do not write the buffer in this launch"
            }
            Hazard::OtherOrder => "let no thread rely on which warp or block runs first",
            Hazard::UnorderedProduct => {
                "put wgmma.fence between other uses of its registers and a wgmma, and wgmma.commit_group and wgmma.wait_group \
                 between that and the next use"
            }
            Hazard::MissingProxyFence => "put fence.proxy.async after the writes",
        }
    }
}

/// The name that files have, too.
impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The kind of a mistake of the host program, by its name in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
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
    /// Nothing orders two uses of the same memory by streams, or by a stream and the host, of which one writes.
    MissingOrder,
    /// The host changed memory that a pending copy uses.
    HostMemoryChanged,
    /// The host freed memory that a pending copy uses.
    HostMemoryFreed,
    /// A call without a current context, or from a host function.
    Context,
    /// A call that a GPU's driver answers and the virtual device does not.
    Unsupported,
    /// A call of the driver failed.
    CallFailed,
    /// A call of the driver failed because a kernel had failed before.
    FailedSince,
    /// Device memory was copied to the host of which nobody had written a byte.
    UnwrittenMemory,
    /// Device memory was copied to the host of which nobody had written a part.
    PartlyUnwritten,
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
        matches!(
            self,
            MisuseKind::PageableAsyncCopy
                | MisuseKind::Contraction
                | MisuseKind::FailedSince
                | MisuseKind::PartlyUnwritten
        )
    }
}

/// The name that files have, too.
impl fmt::Display for MisuseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
