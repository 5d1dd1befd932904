use crate::context;
use crate::copy::{Box3, line, part_of_variable};
use crate::define::{Result, exports, given, on, out, passed};
use crate::driver::refused;
use crate::error::check;
use crate::registration::{function, name_of};
use cuda_driver::api;
use cuda_driver::raw::{
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D, CUcontext, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode,
    CUhostFn, CUkernelNodeAttrValue, CUstream, CUuserObject,
};
use cuda_driver::types::{
    self, ConditionalNodeParameters, GraphEdge, GraphUpdate, HostNodeParameters,
    InstantiateParameters, KernelNodeParameters, MemsetNodeParameters, NodeParametersOfKind,
};
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::mem::size_of;
use std::ptr::null_mut;

/// The nodes that a new one follows.
type Before = *const CUgraphNode;

/// Returns the current context, which the driver wants with copies and fills.
fn current() -> Result<CUcontext> {
    context::enter()?;
    let mut current = null_mut();
    // SAFETY: the pointer is valid for the one handle that is written.
    check(unsafe { api::cuCtxGetCurrent(&raw mut current) })?;
    Ok(current)
}

/// Returns the driver's parameters of a kernel's node (`cudaKernelNodeParams`), which are laid out as the program's.
unsafe fn kernel(parameters: *const KernelNodeParameters) -> Result<KernelNodeParameters> {
    // SAFETY: the caller hands over parameters.
    let given = *unsafe { given(parameters) }?;
    let name: *const c_void = given.function.cast();
    Ok(KernelNodeParameters { function: function(name)?, ..given })
}

/// Returns the driver's description of a copy of boxes.
unsafe fn cuboid(copy: *const Box3) -> Result<CUDA_MEMCPY3D> {
    context::enter()?;
    // SAFETY: the caller hands over a description with arrays of the driver's.
    unsafe { given(copy)?.for_the_driver() }
}

/// Returns the driver's description of a copy to a variable, or from it.
fn to_symbol(
    symbol: *const c_void,
    from: *const c_void,
    count: usize,
    offset: usize,
    kind: c_int,
) -> Result<CUDA_MEMCPY3D> {
    line(part_of_variable(symbol, offset, count)?, from, count, kind)
}

fn from_symbol(
    to: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: c_int,
) -> Result<CUDA_MEMCPY3D> {
    line(to, part_of_variable(symbol, offset, count)?, count, kind)
}

unsafe fn add_copy(
    node: *mut CUgraphNode,
    graph: CUgraph,
    (before, count): (Before, usize),
    copy: Result<CUDA_MEMCPY3D>,
) -> Result {
    let (context, copy) = (current()?, copy?);
    // SAFETY: the caller hands over a graph, nodes and a place for one.
    check(unsafe {
        api::cuGraphAddMemcpyNode(node, graph, before, count, &raw const copy, context)
    })
}

unsafe fn set_copy(node: CUgraphNode, copy: Result<CUDA_MEMCPY3D>) -> Result {
    let copy = copy?;
    // SAFETY: the caller hands over a node.
    check(unsafe { api::cuGraphMemcpyNodeSetParams(node, &raw const copy) })
}

unsafe fn set_copy_of_executable(
    graph: CUgraphExec,
    node: CUgraphNode,
    copy: Result<CUDA_MEMCPY3D>,
) -> Result {
    let (context, copy) = (current()?, copy?);
    // SAFETY: the caller hands over an executable graph and a node.
    check(unsafe { api::cuGraphExecMemcpyNodeSetParams(graph, node, &raw const copy, context) })
}

/// The parameters of a node of any kind (`cudaGraphNodeParams`).
#[repr(C)]
pub struct NodeParameters {
    kind: c_uint,
    reserved: [c_int; 3],
    of: OfKind,
    reserved_2: u64,
}

/// The content of a node, as its kind says.
#[repr(C)]
#[derive(Clone, Copy)]
union OfKind {
    kernel: KernelNodeParameters,
    fill: MemsetNodeParameters,
    host: HostNodeParameters,
    child: Child,
    event: CUevent,
    signal: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    wait: CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    address: CUdeviceptr,
    conditional: ConditionalNodeParameters,
    room: [u64; 29],
}

/// A graph in a graph (`cudaChildGraphNodeParams`).
#[repr(C)]
#[derive(Clone, Copy)]
struct Child {
    graph: CUgraph,
    /// True for a graph that is moved, not cloned.
    is_moved: c_uint,
}

/// Bytes before the description of a copy (`cudaMemcpyNodeParams`).
const BEFORE_COPY: usize = 16;

const _: () = assert!(size_of::<NodeParameters>() == 256);

/// `cudaGraphNodeType`.
const KERNEL: c_uint = 0;
const COPY: c_uint = 1;
const FILL: c_uint = 2;
const HOST: c_uint = 3;
const CHILD: c_uint = 4;
const EMPTY: c_uint = 5;
const WAIT_EVENT: c_uint = 6;
const RECORD_EVENT: c_uint = 7;
const SIGNAL: c_uint = 8;
const WAIT: c_uint = 9;
const ALLOCATION: c_uint = 10;
const RELEASE: c_uint = 11;
const CONDITIONAL: c_uint = 13;

impl OfKind {
    fn copy(&self) -> *const Box3 {
        (&raw const *self).wrapping_byte_add(BEFORE_COPY).cast()
    }

    /// Returns the graph of a child's node. A graph that is moved would stay one with the program's.
    unsafe fn child(&self) -> Result<CUgraph> {
        // SAFETY: the caller has seen by the kind which field is there.
        let Child { graph, is_moved } = unsafe { self.child };
        if is_moved == 0 {
            Ok(graph)
        } else {
            Err(refused(c"cudaGraphAddNode, of a graph that is moved"))
        }
    }
}

unsafe fn add(
    node: *mut CUgraphNode,
    graph: CUgraph,
    before: Before,
    edges: *const GraphEdge,
    count: usize,
    parameters: *mut NodeParameters,
) -> Result {
    // SAFETY: the caller hands over a graph, nodes, places, and parameters whose kind says what they are.
    unsafe {
        let parameters = out(parameters)?;
        if !edges.is_null() {
            let edges = std::slice::from_raw_parts(edges, count);
            // An edge that orders less than the whole nodes may order them whole, but its ports are the node's.
            if edges.iter().any(|edge| edge.bytes[..2] != [0, 0]) {
                return Err(refused(c"cudaGraphAddNode, with a port of a node"));
            }
        }
        let of = &mut parameters.of;
        match parameters.kind {
            KERNEL => {
                let of = kernel(&raw const of.kernel)?;
                check(api::cuGraphAddKernelNode(node, graph, before, count, &raw const of))
            }
            COPY => add_copy(node, graph, (before, count), cuboid(of.copy())),
            FILL => {
                let (context, of) = (current()?, &raw const of.fill);
                check(api::cuGraphAddMemsetNode(node, graph, before, count, of, context))
            }
            HOST => check(api::cuGraphAddHostNode(node, graph, before, count, &raw const of.host)),
            CHILD => {
                let child = of.child()?;
                check(api::cuGraphAddChildGraphNode(node, graph, before, count, child))
            }
            EMPTY => check(api::cuGraphAddEmptyNode(node, graph, before, count)),
            WAIT_EVENT => check(api::cuGraphAddEventWaitNode(node, graph, before, count, of.event)),
            RECORD_EVENT => {
                check(api::cuGraphAddEventRecordNode(node, graph, before, count, of.event))
            }
            SIGNAL => {
                let of = &raw const of.signal;
                check(api::cuGraphAddExternalSemaphoresSignalNode(node, graph, before, count, of))
            }
            WAIT => {
                let of = &raw const of.wait;
                check(api::cuGraphAddExternalSemaphoresWaitNode(node, graph, before, count, of))
            }
            ALLOCATION => {
                let of = (&raw mut *of).cast();
                check(api::cuGraphAddMemAllocNode(node, graph, before, count, of))
            }
            RELEASE => check(api::cuGraphAddMemFreeNode(node, graph, before, count, of.address)),
            CONDITIONAL => {
                let conditional =
                    ConditionalNodeParameters { context: current()?, ..of.conditional };
                let mut all = types::NodeParameters {
                    kind: CONDITIONAL,
                    reserved: [0; 3],
                    of: NodeParametersOfKind { room: [0; 29] },
                    reserved_2: 0,
                };
                all.of.conditional = conditional;
                check(api::cuGraphAddNode(node, graph, before, count, &raw mut all))?;
                of.conditional.graphs = all.of.conditional.graphs;
                Ok(())
            }
            _ => Err(refused(c"cudaGraphAddNode, of this kind")),
        }
    }
}

unsafe fn set(node: CUgraphNode, parameters: *mut NodeParameters) -> Result {
    // SAFETY: the caller hands over a node, and parameters whose kind says what they are.
    unsafe {
        let parameters = given(parameters)?;
        let of = &parameters.of;
        match parameters.kind {
            KERNEL => {
                let of = kernel(&raw const of.kernel)?;
                check(api::cuGraphKernelNodeSetParams(node, &raw const of))
            }
            COPY => set_copy(node, cuboid(of.copy())),
            FILL => check(api::cuGraphMemsetNodeSetParams(node, &raw const of.fill)),
            HOST => check(api::cuGraphHostNodeSetParams(node, &raw const of.host)),
            WAIT_EVENT => check(api::cuGraphEventWaitNodeSetEvent(node, of.event)),
            RECORD_EVENT => check(api::cuGraphEventRecordNodeSetEvent(node, of.event)),
            SIGNAL => {
                let of = &raw const of.signal;
                check(api::cuGraphExternalSemaphoresSignalNodeSetParams(node, of))
            }
            WAIT => {
                let of = &raw const of.wait;
                check(api::cuGraphExternalSemaphoresWaitNodeSetParams(node, of))
            }
            _ => Err(refused(c"cudaGraphNodeSetParams, of this kind")),
        }
    }
}

unsafe fn set_of_executable(
    graph: CUgraphExec,
    node: CUgraphNode,
    parameters: *mut NodeParameters,
) -> Result {
    // SAFETY: the caller hands over a graph, a node, and parameters whose kind says what they are.
    unsafe {
        let parameters = given(parameters)?;
        let of = &parameters.of;
        match parameters.kind {
            KERNEL => {
                let of = kernel(&raw const of.kernel)?;
                check(api::cuGraphExecKernelNodeSetParams(graph, node, &raw const of))
            }
            COPY => set_copy_of_executable(graph, node, cuboid(of.copy())),
            FILL => {
                let (context, of) = (current()?, &raw const of.fill);
                check(api::cuGraphExecMemsetNodeSetParams(graph, node, of, context))
            }
            HOST => check(api::cuGraphExecHostNodeSetParams(graph, node, &raw const of.host)),
            CHILD => {
                let child = of.child()?;
                check(api::cuGraphExecChildGraphNodeSetParams(graph, node, child))
            }
            WAIT_EVENT => check(api::cuGraphExecEventWaitNodeSetEvent(graph, node, of.event)),
            RECORD_EVENT => check(api::cuGraphExecEventRecordNodeSetEvent(graph, node, of.event)),
            SIGNAL => {
                let of = &raw const of.signal;
                check(api::cuGraphExecExternalSemaphoresSignalNodeSetParams(graph, node, of))
            }
            WAIT => {
                let of = &raw const of.wait;
                check(api::cuGraphExecExternalSemaphoresWaitNodeSetParams(graph, node, of))
            }
            _ => Err(refused(c"cudaGraphExecNodeSetParams, of this kind")),
        }
    }
}

/// Defines the functions of a form of copies: those that add a node, set a node's copy, and set an executable's.
macro_rules! of_copies {
    ($($add:ident, $set:ident, $set_of_executable:ident = $copy:ident($($of:ident: $type:ty),*);)*) => {
        exports! {$(
            fn $add(node: *mut CUgraphNode, graph: CUgraph, before: Before, nodes: usize, $($of: $type),*) {
                add_copy(node, graph, (before, nodes), $copy($($of),*))
            }
            fn $set(node: CUgraphNode, $($of: $type),*) {
                context::enter()?;
                set_copy(node, $copy($($of),*))
            }
            fn $set_of_executable(executable: CUgraphExec, node: CUgraphNode, $($of: $type),*) {
                set_copy_of_executable(executable, node, $copy($($of),*))
            }
        )*}
    };
}

of_copies! {
    cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams = cuboid(copy: *const Box3);
    cudaGraphAddMemcpyNode1D, cudaGraphMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D =
        line(to: *mut c_void, from: *const c_void, count: usize, kind: c_int);
    cudaGraphAddMemcpyNodeToSymbol, cudaGraphMemcpyNodeSetParamsToSymbol, cudaGraphExecMemcpyNodeSetParamsToSymbol =
        to_symbol(symbol: *const c_void, from: *const c_void, count: usize, offset: usize, kind: c_int);
    cudaGraphAddMemcpyNodeFromSymbol, cudaGraphMemcpyNodeSetParamsFromSymbol, cudaGraphExecMemcpyNodeSetParamsFromSymbol =
        from_symbol(to: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: c_int);
}

/// Defines functions of edges in two forms: as CUDA 12 or 13 has them, and with edges always. Edges that say nothing of
/// their kind are those of the driver's first function.
macro_rules! of_edges {
    ($($name:ident, $second:ident($($of:ident: $type:ty),*; $edges:ty; $count:ty) = $plain:ident, $of_kinds:ident;)*) => {
        exports! {$(
            fn $name($($of: $type,)* edges_or_count: usize, count: $count) {
                // CUDA 12 has the count alone.
                let (edges, count) = match crate::version::is_12() {
                    true => (None, edges_or_count as $count),
                    false => (Some(edges_or_count as $edges), count),
                };
                of_edges!($plain, $of_kinds, [$($of),*], edges, count)
            }
            fn $second($($of: $type,)* edges: $edges, count: $count) {
                of_edges!($plain, $of_kinds, [$($of),*], Some(edges), count)
            }
        )*}
    };
    ($plain:ident, $of_kinds:ident, [$($of:ident),*], $edges:expr, $count:ident) => {{
        context::enter()?;
        match $edges.filter(|edges| !edges.is_null()) {
            None => check(api::$plain($($of,)* $count)),
            Some(edges) => check(api::$of_kinds($($of,)* edges, $count)),
        }
    }};
}

of_edges! {
    cudaGraphAddDependencies, cudaGraphAddDependencies_v2(
        graph: CUgraph, from: Before, to: Before; *const GraphEdge; usize
    ) = cuGraphAddDependencies, cuGraphAddDependencies_v2;
    cudaGraphRemoveDependencies, cudaGraphRemoveDependencies_v2(
        graph: CUgraph, from: Before, to: Before; *const GraphEdge; usize
    ) = cuGraphRemoveDependencies, cuGraphRemoveDependencies_v2;
    cudaGraphGetEdges, cudaGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode; *mut GraphEdge; *mut usize
    ) = cuGraphGetEdges, cuGraphGetEdges_v2;
    cudaGraphNodeGetDependencies, cudaGraphNodeGetDependencies_v2(
        node: CUgraphNode, nodes: *mut CUgraphNode; *mut GraphEdge; *mut usize
    ) = cuGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2;
    cudaGraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, nodes: *mut CUgraphNode; *mut GraphEdge; *mut usize
    ) = cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2;
}

passed! {
    fn cudaGraphCreate = cuGraphCreate(graph: *mut CUgraph, flags: c_uint);
    fn cudaGraphDestroy = cuGraphDestroy(graph: CUgraph);
    fn cudaGraphDestroyNode = cuGraphDestroyNode(node: CUgraphNode);
    fn cudaGraphClone = cuGraphClone(clone: *mut CUgraph, graph: CUgraph);
    fn cudaGraphNodeFindInClone =
        cuGraphNodeFindInClone(found: *mut CUgraphNode, original: CUgraphNode, clone: CUgraph);
    fn cudaGraphNodeGetType = cuGraphNodeGetType(node: CUgraphNode, kind: *mut c_uint);
    fn cudaGraphGetNodes = cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    fn cudaGraphGetRootNodes = cuGraphGetRootNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    fn cudaGraphDebugDotPrint = cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint);

    fn cudaGraphMemsetNodeGetParams =
        cuGraphMemsetNodeGetParams(node: CUgraphNode, parameters: *mut MemsetNodeParameters);
    fn cudaGraphMemsetNodeSetParams =
        cuGraphMemsetNodeSetParams(node: CUgraphNode, parameters: *const MemsetNodeParameters);
    fn cudaGraphAddHostNode = cuGraphAddHostNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, parameters: *const HostNodeParameters
    );
    fn cudaGraphHostNodeGetParams =
        cuGraphHostNodeGetParams(node: CUgraphNode, parameters: *mut HostNodeParameters);
    fn cudaGraphHostNodeSetParams =
        cuGraphHostNodeSetParams(node: CUgraphNode, parameters: *const HostNodeParameters);
    fn cudaGraphExecHostNodeSetParams = cuGraphExecHostNodeSetParams(
        executable: CUgraphExec, node: CUgraphNode, parameters: *const HostNodeParameters
    );
    fn cudaGraphAddChildGraphNode = cuGraphAddChildGraphNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, child: CUgraph
    );
    fn cudaGraphChildGraphNodeGetGraph = cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph);
    fn cudaGraphExecChildGraphNodeSetParams =
        cuGraphExecChildGraphNodeSetParams(executable: CUgraphExec, node: CUgraphNode, child: CUgraph);
    fn cudaGraphAddEmptyNode =
        cuGraphAddEmptyNode(node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize);
    fn cudaGraphAddEventRecordNode = cuGraphAddEventRecordNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, event: CUevent
    );
    fn cudaGraphEventRecordNodeGetEvent = cuGraphEventRecordNodeGetEvent(node: CUgraphNode, event: *mut CUevent);
    fn cudaGraphEventRecordNodeSetEvent = cuGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent);
    fn cudaGraphExecEventRecordNodeSetEvent =
        cuGraphExecEventRecordNodeSetEvent(executable: CUgraphExec, node: CUgraphNode, event: CUevent);
    fn cudaGraphAddEventWaitNode = cuGraphAddEventWaitNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, event: CUevent
    );
    fn cudaGraphEventWaitNodeGetEvent = cuGraphEventWaitNodeGetEvent(node: CUgraphNode, event: *mut CUevent);
    fn cudaGraphEventWaitNodeSetEvent = cuGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent);
    fn cudaGraphExecEventWaitNodeSetEvent =
        cuGraphExecEventWaitNodeSetEvent(executable: CUgraphExec, node: CUgraphNode, event: CUevent);
    fn cudaGraphAddExternalSemaphoresSignalNode = cuGraphAddExternalSemaphoresSignalNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize,
        parameters: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
    );
    fn cudaGraphExternalSemaphoresSignalNodeGetParams = cuGraphExternalSemaphoresSignalNodeGetParams(
        node: CUgraphNode, parameters: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
    );
    fn cudaGraphExternalSemaphoresSignalNodeSetParams = cuGraphExternalSemaphoresSignalNodeSetParams(
        node: CUgraphNode, parameters: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
    );
    fn cudaGraphExecExternalSemaphoresSignalNodeSetParams = cuGraphExecExternalSemaphoresSignalNodeSetParams(
        executable: CUgraphExec, node: CUgraphNode, parameters: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
    );
    fn cudaGraphAddExternalSemaphoresWaitNode = cuGraphAddExternalSemaphoresWaitNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize,
        parameters: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS
    );
    fn cudaGraphExternalSemaphoresWaitNodeGetParams = cuGraphExternalSemaphoresWaitNodeGetParams(
        node: CUgraphNode, parameters: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS
    );
    fn cudaGraphExternalSemaphoresWaitNodeSetParams = cuGraphExternalSemaphoresWaitNodeSetParams(
        node: CUgraphNode, parameters: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS
    );
    fn cudaGraphExecExternalSemaphoresWaitNodeSetParams = cuGraphExecExternalSemaphoresWaitNodeSetParams(
        executable: CUgraphExec, node: CUgraphNode, parameters: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS
    );
    // The two descriptions of memory that a graph allocates are laid out alike.
    fn cudaGraphAddMemAllocNode = cuGraphAddMemAllocNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, parameters: *mut CUDA_MEM_ALLOC_NODE_PARAMS
    );
    fn cudaGraphMemAllocNodeGetParams =
        cuGraphMemAllocNodeGetParams(node: CUgraphNode, parameters: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    fn cudaGraphAddMemFreeNode = cuGraphAddMemFreeNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, address: CUdeviceptr
    );
    fn cudaGraphMemFreeNodeGetParams = cuGraphMemFreeNodeGetParams(node: CUgraphNode, address: *mut CUdeviceptr);

    fn cudaGraphInstantiate =
        cuGraphInstantiateWithFlags(executable: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
    fn cudaGraphInstantiateWithFlags =
        cuGraphInstantiateWithFlags(executable: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
    fn cudaGraphExecGetFlags = cuGraphExecGetFlags(executable: CUgraphExec, flags: *mut c_ulonglong);
    fn cudaGraphExecUpdate =
        cuGraphExecUpdate_v2(executable: CUgraphExec, graph: CUgraph, result: *mut GraphUpdate);
    fn cudaGraphExecDestroy = cuGraphExecDestroy(executable: CUgraphExec);

    fn cudaUserObjectCreate = cuUserObjectCreate(
        object: *mut CUuserObject, pointer: *mut c_void, destroy: CUhostFn, count: c_uint, flags: c_uint
    );
    fn cudaUserObjectRetain = cuUserObjectRetain(object: CUuserObject, count: c_uint);
    fn cudaUserObjectRelease = cuUserObjectRelease(object: CUuserObject, count: c_uint);
    fn cudaGraphRetainUserObject =
        cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint);
    fn cudaGraphReleaseUserObject = cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint);
    fn cudaGraphKernelNodeGetAttribute =
        cuGraphKernelNodeGetAttribute(node: CUgraphNode, attribute: c_uint, value: *mut CUkernelNodeAttrValue);
    fn cudaGraphKernelNodeSetAttribute =
        cuGraphKernelNodeSetAttribute(node: CUgraphNode, attribute: c_uint, value: *const CUkernelNodeAttrValue);
}

exports! {
    fn cudaGraphAddKernelNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, parameters: *const KernelNodeParameters
    ) {
        let parameters = kernel(parameters)?;
        check(api::cuGraphAddKernelNode(node, graph, before, count, &raw const parameters))
    }
    fn cudaGraphKernelNodeGetParams(node: CUgraphNode, parameters: *mut KernelNodeParameters) {
        context::enter()?;
        let parameters = out(parameters)?;
        check(api::cuGraphKernelNodeGetParams(node, &raw mut *parameters))?;
        let found: CUfunction = parameters.function;
        parameters.function = name_of(found).cast();
        Ok(())
    }
    fn cudaGraphKernelNodeSetParams(node: CUgraphNode, parameters: *const KernelNodeParameters) {
        let parameters = kernel(parameters)?;
        check(api::cuGraphKernelNodeSetParams(node, &raw const parameters))
    }
    fn cudaGraphExecKernelNodeSetParams(
        executable: CUgraphExec, node: CUgraphNode, parameters: *const KernelNodeParameters
    ) {
        let parameters = kernel(parameters)?;
        check(api::cuGraphExecKernelNodeSetParams(executable, node, &raw const parameters))
    }
    fn cudaGraphKernelNodeCopyAttributes(first: CUgraphNode, second: CUgraphNode) {
        context::enter()?;
        // CUDA 12 names the node that they come from first.
        let (from, to) = if crate::version::is_12() { (first, second) } else { (second, first) };
        check(api::cuGraphKernelNodeCopyAttributes(to, from))
    }

    fn cudaGraphMemcpyNodeGetParams(node: CUgraphNode, copy: *mut Box3) {
        context::enter()?;
        let copy = out(copy)?;
        let mut found = line(null_mut(), std::ptr::null(), 0, 0)?;
        check(api::cuGraphMemcpyNodeGetParams(node, &raw mut found))?;
        *copy = Box3::of(&found)?;
        Ok(())
    }
    fn cudaGraphAddMemsetNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, count: usize, parameters: *const MemsetNodeParameters
    ) {
        let context = current()?;
        check(api::cuGraphAddMemsetNode(node, graph, before, count, parameters, context))
    }
    fn cudaGraphExecMemsetNodeSetParams(
        executable: CUgraphExec, node: CUgraphNode, parameters: *const MemsetNodeParameters
    ) {
        let context = current()?;
        check(api::cuGraphExecMemsetNodeSetParams(executable, node, parameters, context))
    }

    fn cudaGraphConditionalHandleCreate(handle: *mut c_ulonglong, graph: CUgraph, first: c_uint, flags: c_uint) {
        check(api::cuGraphConditionalHandleCreate(handle, graph, current()?, first, flags))
    }
    fn cudaGraphConditionalHandleCreate_v2(
        handle: *mut c_ulonglong, graph: CUgraph, execution: *mut c_void, first: c_uint, flags: c_uint
    ) {
        if !execution.is_null() {
            return Err(refused(c"cudaGraphConditionalHandleCreate_v2, of an execution context"));
        }
        check(api::cuGraphConditionalHandleCreate(handle, graph, current()?, first, flags))
    }
    fn cudaGraphAddNode(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, edges_or_count: usize, count_or_parameters: usize,
        parameters: *mut NodeParameters
    ) {
        context::enter()?;
        if crate::version::is_12() {
            // It has no edges before the count.
            let parameters = count_or_parameters as *mut NodeParameters;
            return add(node, graph, before, std::ptr::null(), edges_or_count, parameters);
        }
        add(node, graph, before, edges_or_count as *const GraphEdge, count_or_parameters, parameters)
    }
    fn cudaGraphAddNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, before: Before, edges: *const GraphEdge, count: usize,
        parameters: *mut NodeParameters
    ) {
        context::enter()?;
        add(node, graph, before, edges, count, parameters)
    }
    fn cudaGraphNodeSetParams(node: CUgraphNode, parameters: *mut NodeParameters) {
        context::enter()?;
        set(node, parameters)
    }
    fn cudaGraphExecNodeSetParams(executable: CUgraphExec, node: CUgraphNode, parameters: *mut NodeParameters) {
        context::enter()?;
        set_of_executable(executable, node, parameters)
    }

    fn cudaGraphInstantiateWithParams(
        executable: *mut CUgraphExec, graph: CUgraph, parameters: *mut InstantiateParameters
    ) own cudaGraphInstantiateWithParams_ptsz {
        context::enter()?;
        let parameters = out(parameters)?;
        parameters.upload_stream = on(parameters.upload_stream);
        check(api::cuGraphInstantiateWithParams(executable, graph, &raw mut *parameters))
    }
    fn cudaGraphUpload(executable: CUgraphExec, stream: CUstream) own cudaGraphUpload_ptsz {
        context::enter()?;
        check(api::cuGraphUpload(executable, on(stream)))
    }
    fn cudaGraphLaunch(executable: CUgraphExec, stream: CUstream) own cudaGraphLaunch_ptsz {
        context::enter()?;
        check(api::cuGraphLaunch(executable, on(stream)))
    }
}
