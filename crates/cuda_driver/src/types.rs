//! Types of the driver API that are newer than cust_raw's bindings (CUDA 11.4), laid out as in NVIDIA's `cuda.h`.
//!
//! ```
//! use cuda_driver::types::DeviceAttribute;
//!
//! assert_eq!(DeviceAttribute::WarpSize as u32, 10);
//! ```

pub use crate::raw::CUipcMemHandle;
use crate::raw::{CUcontext, CUdeviceptr, CUfunction, CUgraph, CUgraphNode, CUhostFn, CUstream};
use std::ffi::{c_int, c_uint, c_void};

/// Device attributes, with NVIDIA's numbers and, up to 91, cust's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum DeviceAttribute {
    /// Threads per block at most.
    MaxThreadsPerBlock = 1,
    /// Bytes of shared memory per block without opting in.
    MaxSharedMemoryPerBlock = 8,
    /// Bytes of constant memory.
    TotalConstantMemory = 9,
    /// Lanes of a warp.
    WarpSize = 10,
    /// Registers per block at most.
    MaxRegistersPerBlock = 12,
    /// Peak clock of the multiprocessors, in kHz.
    ClockRate = 13,
    /// Multiprocessors.
    MultiprocessorCount = 16,
    /// 1 if host memory can be mapped into the device's address space.
    CanMapHostMemory = 19,
    /// 1 if kernels can run concurrently.
    ConcurrentKernels = 31,
    /// 1 if ECC is on.
    EccEnabled = 32,
    /// PCI bus number.
    PciBusId = 33,
    /// PCI device number.
    PciDeviceId = 34,
    /// Peak clock of the memory, in kHz.
    MemoryClockRate = 36,
    /// Width of the memory bus in bits.
    GlobalMemoryBusWidth = 37,
    /// Bytes of the L2 cache.
    L2CacheSize = 38,
    /// Threads per multiprocessor at most.
    MaxThreadsPerMultiprocessor = 39,
    /// Copy engines.
    AsyncEngineCount = 40,
    /// 1 if host and device share one address space.
    UnifiedAddressing = 41,
    /// PCI domain.
    PciDomainId = 50,
    /// Compute capability, the 9 of 9.0.
    ComputeCapabilityMajor = 75,
    /// Compute capability, the 0 of 9.0.
    ComputeCapabilityMinor = 76,
    /// 1 if streams have priorities.
    StreamPrioritiesSupported = 78,
    /// Bytes of shared memory per multiprocessor.
    MaxSharedMemoryPerMultiprocessor = 81,
    /// Registers per multiprocessor.
    MaxRegistersPerMultiprocessor = 82,
    /// 1 if managed memory is supported.
    ManagedMemory = 83,
    /// 1 if the device can access pageable host memory.
    PageableMemoryAccess = 88,
    /// 1 if host and device may access managed memory at once.
    ConcurrentManagedAccess = 89,
    /// 1 if cooperative launches are supported.
    CooperativeLaunch = 95,
    /// Bytes of shared memory per block after opting in (see `cust_ext::function::allow_dynamic_shared_bytes`).
    MaxSharedMemoryPerBlockOptIn = 97,
    /// 1 if the device can use the host's registered pointers as they are.
    CanUseHostPointerForRegisteredMemory = 91,
    /// Blocks per multiprocessor at most.
    MaxBlocksPerMultiprocessor = 106,
    /// Bytes of L2 that can be set aside for persisting accesses.
    MaxPersistingL2CacheBytes = 108,
    /// Bytes of the largest access-policy window.
    MaxAccessPolicyWindowBytes = 109,
    /// Bytes of shared memory per block that the driver keeps for itself.
    ReservedSharedMemoryPerBlock = 111,
    /// 1 if stream-ordered pools are supported.
    MemoryPoolsSupported = 115,
    /// 1 if clusters of blocks are supported.
    ClusterLaunch = 120,
}

#[allow(missing_docs, non_upper_case_globals, reason = "they were variants")]
impl DeviceAttribute {
    #[deprecated(since = "0.2.0", note = "it is `ClockRate`")]
    pub const ClockRateKilohertz: DeviceAttribute = DeviceAttribute::ClockRate;
    #[deprecated(since = "0.2.0", note = "it is `MemoryClockRate`")]
    pub const MemoryClockRateKilohertz: DeviceAttribute = DeviceAttribute::MemoryClockRate;
    #[deprecated(since = "0.2.0", note = "it is `GlobalMemoryBusWidth`")]
    pub const GlobalMemoryBusWidthBits: DeviceAttribute = DeviceAttribute::GlobalMemoryBusWidth;
    #[deprecated(since = "0.2.0", note = "it is `L2CacheSize`")]
    pub const L2CacheBytes: DeviceAttribute = DeviceAttribute::L2CacheSize;
}

/// An opaque library of the context-independent loading API.
#[repr(C)]
#[derive(Debug)]
#[allow(non_camel_case_types)]
pub struct CUlib_st {
    _opaque: [u8; 0],
}

/// A handle to a library (`cuLibraryLoadData`).
pub type CUlibrary = *mut CUlib_st;

/// An opaque kernel of a library.
#[repr(C)]
#[derive(Debug)]
#[allow(non_camel_case_types)]
pub struct CUkern_st {
    _opaque: [u8; 0],
}

/// A handle to a kernel of a library (`cuLibraryGetKernel`).
pub type CUkernel = *mut CUkern_st;

/// Parameters of a new context (`CUctxCreateParams`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ContextParameters {
    /// `num_execution_affinities` of them, or null.
    pub execution_affinities: *mut crate::raw::CUexecAffinityParam,
    /// The number of `execution_affinities`.
    pub num_execution_affinities: c_int,
    /// Parameters of sharing with graphics, or null.
    pub graphics: *mut std::ffi::c_void,
}

/// The outcome of replacing a graph's work (`CUgraphExecUpdateResultInfo`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GraphUpdate {
    /// `CU_GRAPH_EXEC_UPDATE_*`: 0 is success, 2 another shape of the graph, 6 what no update can change.
    pub result: c_uint,
    /// The node that could not be replaced, or null.
    pub error_node: crate::raw::CUgraphNode,
    /// The node that an edge comes from which could not be replaced, or null.
    pub error_from_node: crate::raw::CUgraphNode,
}

/// Location at which managed memory should live (`CUmemLocation`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLocation {
    /// `CU_MEM_LOCATION_TYPE_*`: 1 is a device, 2 the host.
    pub kind: c_uint,
    /// The device's ordinal; ignored for the host.
    pub id: c_int,
}

impl MemoryLocation {
    /// A device's memory.
    pub const fn device(ordinal: c_int) -> MemoryLocation {
        MemoryLocation { kind: 1, id: ordinal }
    }

    /// The host's memory.
    pub const fn host() -> MemoryLocation {
        MemoryLocation { kind: 2, id: 0 }
    }
}

/// The value of a launch attribute (`CUlaunchAttributeValue`, 64 bytes).
#[repr(C)]
#[derive(Clone, Copy)]
pub union LaunchAttributeValue {
    /// Keeps the union at the header's size.
    pub pad: [u8; 64],
    /// `CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW`.
    pub access_policy_window: crate::raw::CUaccessPolicyWindow_st,
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
    pub cooperative: c_int,
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`: blocks per cluster in x, y and z.
    pub cluster_dim: [c_uint; 3],
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
    pub programmatic_stream_serialization_allowed: c_int,
    /// `CU_LAUNCH_ATTRIBUTE_PRIORITY`.
    pub priority: c_int,
}

/// One attribute of a launch (`CUlaunchAttribute`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_*`.
    pub id: c_uint,
    /// Aligns the value as the header does.
    pub pad: [u8; 4],
    /// The attribute's value.
    pub value: LaunchAttributeValue,
}

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW`.
    pub const ACCESS_POLICY_WINDOW: c_uint = 1;
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
    pub const COOPERATIVE: c_uint = 2;
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
    pub const CLUSTER_DIMENSION: c_uint = 4;
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
    pub const PROGRAMMATIC_STREAM_SERIALIZATION: c_uint = 6;
    /// `CU_LAUNCH_ATTRIBUTE_PRIORITY`.
    pub const PRIORITY: c_uint = 8;
    /// Those that change at most the speed of a launch or the order of its blocks: none at all, the synchronization
    /// policy, the preferred order of clusters, overlap with the kernel before, the priority, the two of domains of memory
    /// order, the preferred part of shared memory and scheduling for NVLink.
    pub const HINTS: [c_uint; 9] = [
        0,
        3,
        5,
        LaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION,
        LaunchAttribute::PRIORITY,
        9,
        10,
        14,
        16,
    ];
}

/// The shape of a launch with attributes (`CUlaunchConfig`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LaunchConfig {
    /// Blocks along x.
    pub grid_dim_x: c_uint,
    /// Blocks along y.
    pub grid_dim_y: c_uint,
    /// Blocks along z.
    pub grid_dim_z: c_uint,
    /// Threads of a block along x.
    pub block_dim_x: c_uint,
    /// Threads of a block along y.
    pub block_dim_y: c_uint,
    /// Threads of a block along z.
    pub block_dim_z: c_uint,
    /// Dynamic shared memory per block.
    pub shared_mem_bytes: c_uint,
    /// The stream that the launch is enqueued on.
    pub stream: CUstream,
    /// `num_attributes` attributes, or null.
    pub attributes: *mut LaunchAttribute,
    /// The number of `attributes`.
    pub num_attributes: c_uint,
}

/// A launch as the node of a graph (`CUDA_KERNEL_NODE_PARAMS_v1`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KernelNodeParameters {
    /// The kernel.
    pub function: CUfunction,
    /// Blocks along x, y and z.
    pub grid: [c_uint; 3],
    /// Threads of a block along x, y and z.
    pub block: [c_uint; 3],
    /// Dynamic shared memory per block.
    pub shared_bytes: c_uint,
    /// The address of each parameter, or null.
    pub parameters: *mut *mut c_void,
    /// Parameters in one buffer, or null.
    pub extra: *mut *mut c_void,
}

/// A launch as the node of a graph since CUDA 12 (`CUDA_KERNEL_NODE_PARAMS_v2`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KernelNodeParametersV2 {
    /// The launch as the first version has it.
    pub launch: KernelNodeParameters,
    /// The kernel where the function is null.
    pub kernel: CUkernel,
    /// The context of the kernel, or null for the current one.
    pub context: CUcontext,
}

/// A fill as the node of a graph (`CUDA_MEMSET_NODE_PARAMS_v1`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MemsetNodeParameters {
    /// First address.
    pub target: CUdeviceptr,
    /// Bytes from one row to the next, where there are several.
    pub pitch: usize,
    /// The value of each element.
    pub value: c_uint,
    /// Bytes of an element: 1, 2 or 4.
    pub element_bytes: c_uint,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A function of the host's as the node of a graph (`CUDA_HOST_NODE_PARAMS_v1`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HostNodeParameters {
    /// The function.
    pub function: CUhostFn,
    /// Its argument.
    pub data: *mut c_void,
}

/// The kind of an edge of a graph (`CUgraphEdgeData`): all zeros is one that orders the whole nodes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GraphEdge {
    /// The port of the node that it comes from, that of the node that it goes to, its kind, and unused ones.
    pub bytes: [u8; 8],
}

/// Parameters of making a graph executable (`CUDA_GRAPH_INSTANTIATE_PARAMS`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct InstantiateParameters {
    /// `CUDA_GRAPH_INSTANTIATE_FLAG_*`.
    pub flags: u64,
    /// The stream for an upload, where the flags ask for one.
    pub upload_stream: CUstream,
    /// Is given the node that failed, or null.
    pub error_node: CUgraphNode,
    /// Is given `CUDA_GRAPH_INSTANTIATE_*`: 0 is success.
    pub result: c_uint,
}

/// An operation of a stream on a word of memory (`CUstreamBatchMemOpParams`, a union).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MemoryOperation {
    /// `CU_STREAM_MEM_OP_*`.
    pub kind: c_uint,
    /// The flags of the operations that have no address.
    pub own_flags: c_uint,
    /// The address of the word.
    pub address: CUdeviceptr,
    /// The value, of which an operation of 32 bits takes the lower half.
    pub value: u64,
    /// The flags of waits and writes.
    pub flags: c_uint,
    /// The rest of the union.
    pub pad: [c_uint; 5],
}

/// Attributes of copies of a batch (`CUmemcpyAttributes`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CopyAttributes {
    /// `CU_MEMCPY_SRC_ACCESS_ORDER_*`: in the order of the stream (1), during the call (2) or at any time (3).
    pub source_order: c_uint,
    /// Hints where the memory is.
    pub hints: [MemoryLocation; 2],
    /// `CU_MEMCPY_FLAG_*`, which are hints.
    pub flags: c_uint,
}

/// The kind of memory that a program maps itself (`CUmemAllocationProp`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AllocationProperties {
    /// `CU_MEM_ALLOCATION_TYPE_*`.
    pub kind: c_uint,
    /// `CU_MEM_HANDLE_TYPE_*` by which other processes are given it.
    pub handle_types: c_uint,
    /// Location of the memory.
    pub location: MemoryLocation,
    /// Of Windows alone.
    pub metadata: *mut c_void,
    /// Compression and other hints.
    pub flags: [u8; 8],
}

/// A node that decides which graphs run (`CUDA_CONDITIONAL_NODE_PARAMS`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ConditionalNodeParameters {
    /// The condition.
    pub handle: u64,
    /// `CU_GRAPH_COND_TYPE_*`.
    pub kind: c_uint,
    /// The number of graphs.
    pub size: c_uint,
    /// The graphs, which the node gives.
    pub graphs: *const CUgraph,
    /// The context of the node.
    pub context: CUcontext,
}

/// The parameters of a node of any kind (`CUgraphNodeParams`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeParameters {
    /// `CU_GRAPH_NODE_TYPE_*`.
    pub kind: c_uint,
    /// Zeros.
    pub reserved: [c_uint; 3],
    /// The parameters of the kind.
    pub of: NodeParametersOfKind,
    /// Zero.
    pub reserved_2: u64,
}

/// The parameters of a node, as its kind says.
#[repr(C)]
#[derive(Clone, Copy)]
pub union NodeParametersOfKind {
    /// Of a kernel.
    pub kernel: KernelNodeParametersV2,
    /// Of a fill.
    pub fill: MemsetNodeParameters,
    /// Of a host function.
    pub host: HostNodeParameters,
    /// Of a graph.
    pub graph: CUgraph,
    /// Of a condition.
    pub conditional: ConditionalNodeParameters,
    /// Room for the largest.
    pub room: [u64; 29],
}

/// The parameters of a graph's node that allocates memory (`CUDA_MEM_ALLOC_NODE_PARAMS`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MemoryNodeParameters {
    /// `CU_MEM_ALLOCATION_TYPE_*`.
    pub kind: c_uint,
    /// `CU_MEM_HANDLE_TYPE_*`, which graphs do not have.
    pub handle_types: c_uint,
    /// Location of the memory.
    pub location: MemoryLocation,
    /// The rest of the pool's properties.
    pub pool: [u64; 9],
    /// Descriptions of the devices that may access it.
    pub access: *const c_void,
    /// The number of these.
    pub access_count: usize,
    /// The bytes that are asked for.
    pub bytes: usize,
    /// The address that the node gives.
    pub address: CUdeviceptr,
}

/// A tensor-map descriptor for TMA copies (`CUtensorMap`): opaque, and passed to a kernel by value.
///
/// CUDA 12 aligns it to 64 bytes, CUDA 13 to 128; 128 satisfies both.
#[repr(C, align(128))]
#[derive(Debug, Clone, Copy, Default)]
pub struct TensorMap {
    /// The descriptor's bytes, only the driver knows their meaning.
    pub opaque: [u64; 16],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{align_of, offset_of, size_of};

    #[test]
    fn layouts_are_those_of_the_header() {
        assert_eq!(size_of::<MemoryLocation>(), 8);
        assert_eq!(size_of::<ContextParameters>(), 24);
        assert_eq!(size_of::<GraphUpdate>(), 24);
        assert_eq!(offset_of!(GraphUpdate, error_node), 8);
        assert_eq!(size_of::<MemoryOperation>(), 48);
        assert_eq!(offset_of!(MemoryOperation, flags), 24);
        assert_eq!(size_of::<CopyAttributes>(), 24);
        assert_eq!(size_of::<AllocationProperties>(), 32);
        assert_eq!(size_of::<MemoryNodeParameters>(), 120);
        assert_eq!(offset_of!(MemoryNodeParameters, access), 88);
        assert_eq!(size_of::<KernelNodeParameters>(), 56);
        assert_eq!(offset_of!(KernelNodeParameters, parameters), 40);
        assert_eq!(size_of::<KernelNodeParametersV2>(), 72);
        assert_eq!(size_of::<MemsetNodeParameters>(), 40);
        assert_eq!(size_of::<HostNodeParameters>(), 16);
        assert_eq!(size_of::<InstantiateParameters>(), 32);
        assert_eq!(size_of::<LaunchAttributeValue>(), 64);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(offset_of!(LaunchAttribute, value), 8);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(offset_of!(LaunchConfig, stream), 32);
        assert_eq!(offset_of!(LaunchConfig, num_attributes), 48);
        assert_eq!((size_of::<TensorMap>(), align_of::<TensorMap>()), (128, 128));
    }
}
