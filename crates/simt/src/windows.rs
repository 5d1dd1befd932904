//! Windows of the state spaces in the generic address space (PTX ISA, "Generic Addressing").

/// First address of the shared window in the generic address space.
pub(crate) const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// Shift of the rank of a block of the cluster, plus one, in a shared address; zero there is the own block. A block has
/// less shared memory than this many bits address.
pub(crate) const CLUSTER_SHIFT: u32 = 18;
/// First address of the local window in the generic address space.
pub(crate) const LOCAL_WINDOW: u64 = 0x0101_0000_0000;
/// First address of kernel parameters in the generic address space.
pub(crate) const PARAMETER_WINDOW: u64 = 0x0102_0000_0000;
/// Bytes of each window.
pub(crate) const WINDOW_BYTES: u64 = 1 << 24;
/// First address of device functions.
pub(crate) const FUNCTION_WINDOW: u64 = 0x0103_0000_0000;
