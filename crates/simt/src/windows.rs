//! Where state spaces lie in the generic address space.

/// Where the shared window starts in the generic address space.
pub(crate) const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// Where a shared address has the rank of a block of the cluster, plus one; zero there is the own block. A block has
/// less shared memory than this many bits address.
pub(crate) const CLUSTER_SHIFT: u32 = 18;
/// Where the local window starts in the generic address space.
pub(crate) const LOCAL_WINDOW: u64 = 0x0101_0000_0000;
/// Where kernel parameters start in the generic address space.
pub(crate) const PARAMETER_WINDOW: u64 = 0x0102_0000_0000;
/// Bytes of each window.
pub(crate) const WINDOW_BYTES: u64 = 1 << 24;
/// Where addresses of device functions start.
pub(crate) const FUNCTION_WINDOW: u64 = 0x0103_0000_0000;
