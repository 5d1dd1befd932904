//! Graphs that a program builds node by node.

use super::arguments::{In, Out, handle};
use super::context::{ON_DEVICE, device_at};
use super::define::exports;
use super::descriptor;
use super::kernel;
use super::transfer::{check_copy, check_fill};
use crate::array_work::BoxSide;
use crate::code::CuResult;
use crate::driver::Driver;
use crate::launching::Shape;
use crate::memories::MemoryKind;
use crate::work::{
    Condition, Copy, CopySide, Fill, GraphNode, GraphState, HostFunction, KernelLaunch, QueuedWork,
    Subgraphs,
};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUcontext, CUdeviceptr, CUgraph, CUgraphExec,
    CUgraphNode, CUmemAccessDesc, CUmemorytype,
};
use cuda_driver::types::{
    ConditionalNodeParameters, GraphEdge, HostNodeParameters, KernelNodeParameters,
    KernelNodeParametersV2, MemoryLocation, MemoryNodeParameters, MemsetNodeParameters,
    NodeParameters,
};
use std::ffi::{c_uint, c_ulonglong};
use std::ptr::null_mut;

const INVALID: ReturnCode = ReturnCode::INVALID_VALUE;
/// `CU_GRAPH_COND_ASSIGN_DEFAULT`.
const ASSIGNS_DEFAULT: c_uint = 1;
/// `CU_GRAPH_NODE_TYPE_CONDITIONAL`.
const CONDITIONAL: c_uint = 13;
/// `CU_MEM_ALLOCATION_TYPE_PINNED`.
const PINNED: c_uint = 1;

/// Adds a node to a graph.
///
/// # Safety
/// - There are as many dependencies as `count` says.
unsafe fn add(
    driver: &mut Driver,
    node: Out<CUgraphNode>,
    graph: CUgraph,
    (dependencies, count): (In<CUgraphNode>, usize),
    work: QueuedWork,
) -> CuResult {
    // SAFETY: by the contract.
    let places = unsafe { places_of(driver, graph, &dependencies, count) }?;
    let made = driver.objects.new_node();
    node.write(handle(made))?;
    driver.objects.graphs.get_mut(graph.addr())?.add(made, work, places);
    Ok(())
}

/// The places of a graph's nodes.
///
/// # Safety
/// - There are as many nodes as `count` says.
pub(super) unsafe fn places_of<Raw>(
    driver: &Driver,
    graph: CUgraph,
    nodes: &In<'_, CUgraphNode, Raw>,
    count: usize,
) -> CuResult<Vec<usize>> {
    // SAFETY: by the contract.
    let nodes = unsafe { nodes.read_all(count) }?;
    let graph = driver.objects.graphs.get(graph.addr())?;
    nodes.into_iter().map(|node| graph.place(node.addr()).ok_or(INVALID)).collect()
}

/// Refuses, as CUDA does, to clone a graph whose nodes allocate or free memory, or to take nodes or edges from it.
fn check_shape_may_change(driver: &mut Driver, graph: &GraphState) -> CuResult {
    if graph.has_memory_nodes() {
        let why = "a graph with nodes that allocate or free memory cannot be cloned, nor lose nodes or edges";
        return Err(driver.refuse(ReturnCode::NOT_SUPPORTED, why));
    }
    Ok(())
}

/// The launch that a node's parameters ask for.
///
/// # Safety
/// - The parameters are as the reference describes them.
unsafe fn launch(driver: &mut Driver, asked: KernelNodeParameters) -> CuResult<QueuedWork> {
    let KernelNodeParameters { function, grid, block, shared_bytes, parameters, extra } = asked;
    let shape = Shape::plain(grid, block, shared_bytes, 0);
    let planned = kernel::planned(driver, function.addr(), shape, |kernel| {
        // SAFETY: by the contract.
        unsafe { kernel::arguments(kernel, parameters, extra) }
    })?;
    Ok(QueuedWork::Kernel(KernelLaunch { in_graph: true, ..planned }))
}

/// As the first version has it. A kernel of a library is a function here.
fn first_version(asked: KernelNodeParametersV2) -> KernelNodeParameters {
    let KernelNodeParametersV2 { launch, kernel, .. } = asked;
    let function = if launch.function.is_null() { kernel.cast() } else { launch.function };
    KernelNodeParameters { function, ..launch }
}

/// The copy that a descriptor asks for.
fn copy(driver: &mut Driver, descriptor: &In<CUDA_MEMCPY3D>) -> CuResult<QueuedWork> {
    let asked = descriptor::box_of(descriptor)?;
    let [width, height, depth] = asked.extent;
    let (
        BoxSide::Plain { address: to, pitch: to_pitch, rows: to_rows },
        BoxSide::Plain { address: from, pitch: from_pitch, rows: from_rows },
    ) = (asked.target, asked.source)
    else {
        return Err(driver.unsupported("copies of arrays as nodes of a graph"));
    };
    if asked.extent.contains(&0) || to_pitch < width || from_pitch < width {
        return Err(INVALID);
    }
    if depth > 1 && (to_rows != height || from_rows != height) {
        return Err(driver.unsupported("copies of a part of each slice as nodes of a graph"));
    }
    let copy = Copy {
        target: CopySide { address: to, pitch: to_pitch },
        source: CopySide { address: from, pitch: from_pitch },
        width,
        height: height.checked_mul(depth).ok_or(INVALID)?,
        staged: None,
    };
    check_copy(driver, &copy)?;
    Ok(QueuedWork::Copy(copy))
}

/// The fill that a node's parameters ask for.
fn fill(driver: &mut Driver, asked: MemsetNodeParameters) -> CuResult<QueuedWork> {
    let MemsetNodeParameters { target, pitch, value, element_bytes, width, height } = asked;
    let size = element_bytes as usize;
    if !matches!(size, 1 | 2 | 4) || width == 0 || height == 0 {
        return Err(INVALID);
    }
    let pitch = if height == 1 { width.wrapping_mul(size) } else { pitch };
    let fill = Fill { address: target, pitch, value, size, width, height };
    check_fill(driver, &fill)?;
    Ok(QueuedWork::Fill(fill))
}

/// The call that a node's parameters ask for.
fn host(asked: HostNodeParameters) -> CuResult<QueuedWork> {
    let function = asked.function.ok_or(INVALID)?;
    Ok(QueuedWork::Host(HostFunction { function, data: asked.data.expose_provenance() }))
}

/// Makes a graph's condition, which is a word of memory: its address is the handle.
fn condition(driver: &mut Driver, graph: CUgraph, first: c_uint, flags: c_uint) -> CuResult<u64> {
    driver.context()?;
    if flags > ASSIGNS_DEFAULT {
        return Err(INVALID);
    }
    driver.objects.graphs.get(graph.addr())?;
    let made = driver.memory.device.allocate_named(4, simt::Memory::CONDITION);
    let word = made.map_err(|_| ReturnCode::OUT_OF_MEMORY)?;
    driver.memory.device.write(word, &[0; 4]).map_err(|_| INVALID)?;
    let first = (flags == ASSIGNS_DEFAULT).then_some(first);
    driver.objects.graphs.get_mut(graph.addr())?.conditions.push((word, first));
    driver.objects.conditions.insert(word);
    Ok(word)
}

/// Returns the work of a node with a condition, and makes its graphs.
fn conditional(
    driver: &mut Driver,
    graph: CUgraph,
    asked: ConditionalNodeParameters,
) -> CuResult<QueuedWork> {
    let ConditionalNodeParameters { handle: word, kind, size, .. } = asked;
    let condition = match (kind, size) {
        (0, 1 | 2) => Condition::If(word),
        (1, 1) => Condition::While(word),
        (2, 1..=1024) => Condition::Switch(word),
        _ => return Err(INVALID),
    };
    let (conditions, used) = driver.objects.conditions_around(graph.addr())?;
    if !conditions.contains(&word) {
        let why = format!(
            "{word:#x} is no handle of a condition that was made for this graph, a graph around it or one in it"
        );
        return Err(driver.refuse(INVALID, why));
    }
    if used.contains(&word) {
        let why = format!("another node has the condition {word:#x}: make one for each node");
        return Err(driver.refuse(INVALID, why));
    }
    let graphs = (0..size).map(|_| driver.objects.graphs.add(GraphState::default())).collect();
    Ok(QueuedWork::Subgraphs(Subgraphs { graphs, ready: Vec::new(), condition: Some(condition) }))
}

/// Returns the work of a node that runs a copy of a graph.
fn child(driver: &mut Driver, parent: CUgraph, graph: CUgraph) -> CuResult<QueuedWork> {
    let state = driver.objects.graphs.get(graph.addr())?;
    if state.has_conditions() {
        let why = "a graph with conditional nodes cannot be a node of another";
        return Err(driver.refuse(ReturnCode::NOT_SUPPORTED, why));
    }
    if state.has_memory_nodes() || parent == graph {
        let why =
            "a graph cannot be a node of itself, nor be one while it allocates or frees memory";
        return Err(driver.refuse(INVALID, why));
    }
    let graphs = vec![driver.objects.clone_graph(graph.addr())?];
    Ok(QueuedWork::Subgraphs(Subgraphs { graphs, ready: Vec::new(), condition: None }))
}

/// Adds a node of the kind that its parameters say, and writes the graphs of a choice into them.
///
/// # Safety
/// - There are as many dependencies as `count` says, and the parameters are as their kind says.
unsafe fn add_any(
    driver: &mut Driver,
    node: Out<CUgraphNode>,
    graph: CUgraph,
    (dependencies, count): (In<CUgraphNode>, usize),
    parameters: Out<NodeParameters>,
) -> CuResult {
    let place = parameters.pointer()?;
    // SAFETY: valid by the type, and any bytes are a value.
    let mut asked = unsafe { place.read() };
    // SAFETY: by the contract, the kind says which field is there.
    let work = unsafe {
        match asked.kind {
            0 => launch(driver, first_version(asked.of.kernel))?,
            2 => fill(driver, asked.of.fill)?,
            3 => host(asked.of.host)?,
            4 => child(driver, graph, asked.of.graph)?,
            5 => QueuedWork::Join,
            CONDITIONAL => conditional(driver, graph, asked.of.conditional)?,
            _ => return Err(driver.unsupported("nodes of this kind by cuGraphAddNode")),
        }
    };
    let made = driver.objects.new_node();
    if let QueuedWork::Subgraphs(inner) = &work
        && inner.condition.is_some()
    {
        let shown = inner.graphs.clone();
        asked.of.conditional.graphs = shown.as_ptr().cast();
        parameters.write(asked)?;
        // SAFETY: by the contract.
        let places = unsafe { places_of(driver, graph, &dependencies, count) }?;
        node.write(handle(made))?;
        let graph = driver.objects.graphs.get_mut(graph.addr())?;
        let place = graph.add(made, work, places);
        graph.nodes[place].shown = shown;
        return Ok(());
    }
    // SAFETY: by the contract.
    unsafe { add(driver, node, graph, (dependencies, count), work) }
}

/// Gives a node other work of the same kind.
fn replace(graph: &mut GraphState, node: CUgraphNode, work: QueuedWork) -> CuResult {
    let node = graph.node_mut(node.addr()).ok_or(INVALID)?;
    if std::mem::discriminant(&node.work) != std::mem::discriminant(&work) {
        return Err(INVALID);
    }
    (node.work, node.shown) = (work, Vec::new());
    Ok(())
}

fn replace_in_graph(driver: &mut Driver, node: CUgraphNode, work: QueuedWork) -> CuResult {
    replace(driver.objects.node(node.addr())?.0, node, work)
}

fn replace_in_executable(
    driver: &mut Driver,
    executable: CUgraphExec,
    node: CUgraphNode,
    work: QueuedWork,
) -> CuResult {
    replace(driver.objects.executables.get_mut(executable.addr())?, node, work)
}

/// The parameters of a kernel's node. Their addresses are good until it is given others.
fn parameters(driver: &mut Driver, node: CUgraphNode) -> CuResult<KernelNodeParameters> {
    let (graph, place) = driver.objects.node(node.addr())?;
    let GraphNode { work: QueuedWork::Kernel(kernel), shown, .. } = &mut graph.nodes[place] else {
        return Err(INVALID);
    };
    let arguments = kernel.launch.arguments.iter_mut();
    *shown = arguments.map(|argument| argument.as_mut_ptr().expose_provenance()).collect();
    Ok(KernelNodeParameters {
        function: handle(kernel.function),
        grid: kernel.launch.grid,
        block: kernel.launch.block,
        shared_bytes: kernel.launch.dynamic_shared_bytes,
        parameters: shown.as_mut_ptr().cast(),
        extra: null_mut(),
    })
}

fn work(driver: &mut Driver, node: CUgraphNode) -> CuResult<QueuedWork> {
    let (graph, place) = driver.objects.node(node.addr())?;
    Ok(graph.nodes[place].work.clone())
}

/// The description of a node's copy, whose slices are rows of one.
fn described(driver: &Driver, copy: &Copy) -> CUDA_MEMCPY3D {
    let kind = |side: &CopySide| match driver.memory.place(side.address) {
        MemoryKind::Device => CUmemorytype::CU_MEMORYTYPE_DEVICE,
        _ => CUmemorytype::CU_MEMORYTYPE_HOST,
    };
    let pointer = |side: &CopySide| std::ptr::with_exposed_provenance_mut(side.address as usize);
    let Copy { source, target, width, height, .. } = copy;
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: kind(source),
        srcHost: pointer(source),
        srcDevice: source.address,
        srcArray: null_mut(),
        reserved0: null_mut(),
        srcPitch: source.pitch,
        srcHeight: *height,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: kind(target),
        dstHost: pointer(target),
        dstDevice: target.address,
        dstArray: null_mut(),
        reserved1: null_mut(),
        dstPitch: target.pitch,
        dstHeight: *height,
        WidthInBytes: *width,
        Height: *height,
        Depth: 1,
    }
}

/// `CU_GRAPH_NODE_TYPE_*`.
fn kind(work: &QueuedWork) -> c_uint {
    match work {
        QueuedWork::Kernel(_) => 0,
        QueuedWork::Copy(_) => 1,
        QueuedWork::Fill(_) => 2,
        QueuedWork::Host(_) => 3,
        QueuedWork::Subgraphs(Subgraphs { condition: None, .. }) => 4,
        QueuedWork::Subgraphs(_) => CONDITIONAL,
        QueuedWork::Join
        | QueuedWork::Assign(_)
        | QueuedWork::Prefetch { .. }
        | QueuedWork::Discard(_)
        | QueuedWork::Touch(_) => 5,
        QueuedWork::Wait => 6,
        QueuedWork::Event => 7,
        QueuedWork::Allocation(_) | QueuedWork::GraphAllocation(_) => 10,
        QueuedWork::Release(_) => 11,
    }
}

/// Writes an array as far as there is room, and nothing into the places that are left.
///
/// # Safety
/// - There is room for so many elements.
unsafe fn write<T: std::marker::Copy>(
    places: Out<T>,
    all: &[T],
    nothing: T,
    room: usize,
) -> CuResult {
    let mut values = all[..all.len().min(room)].to_vec();
    values.resize(room, nothing);
    // SAFETY: by the contract.
    unsafe { places.write_all(&values) }
}

/// Writes nodes, each list into places of its own, and of how many edges they are the ends; how many there are where no
/// places are given.
///
/// # Safety
/// - Places are null or as many as `count` says.
unsafe fn list<const N: usize>(
    lists: [(Vec<usize>, Out<CUgraphNode>); N],
    kinds: Option<Out<GraphEdge>>,
    count: Out<usize>,
) -> CuResult {
    let has = lists[0].0.len();
    let place = count.pointer()?;
    if lists[0].1.is_null() {
        return count.write(has);
    }
    // SAFETY: valid by the type.
    let room = unsafe { place.read() };
    if room > 1 << 32 || lists.iter().any(|(_, places)| places.is_null()) {
        return Err(INVALID);
    }
    for (nodes, places) in lists {
        let nodes: Vec<CUgraphNode> = nodes.into_iter().map(handle).collect();
        // SAFETY: by the contract.
        unsafe { write(places, &nodes, null_mut(), room) }?;
    }
    if let Some(kinds) = kinds.filter(|kinds| !kinds.is_null()) {
        let whole = GraphEdge::default();
        // SAFETY: by the contract.
        unsafe { write(kinds, &vec![whole; has], whole, room) }?;
    }
    count.write(has.min(room))
}

fn edges(graph: &GraphState) -> (Vec<usize>, Vec<usize>) {
    let of = |node: &GraphNode| {
        let to = node.handle;
        let from = node.follows.iter().map(|before| graph.nodes[*before].handle);
        from.map(move |from| (from, to)).collect::<Vec<_>>()
    };
    graph.nodes.iter().flat_map(of).unzip()
}

fn before(driver: &mut Driver, node: CUgraphNode) -> CuResult<Vec<usize>> {
    let (graph, place) = driver.objects.node(node.addr())?;
    Ok(graph.nodes[place].follows.iter().map(|before| graph.nodes[*before].handle).collect())
}

fn after(driver: &mut Driver, node: CUgraphNode) -> CuResult<Vec<usize>> {
    let (graph, place) = driver.objects.node(node.addr())?;
    let after = graph.nodes.iter().filter(|node| node.follows.contains(&place));
    Ok(after.map(|node| node.handle).collect())
}

/// Adds edges to a graph, or takes them away.
///
/// # Safety
/// - There are as many of each end as `count` says.
unsafe fn connect(
    driver: &mut Driver,
    graph: CUgraph,
    (from, to): (In<CUgraphNode>, In<CUgraphNode>),
    count: usize,
    adds: bool,
) -> CuResult {
    // SAFETY: by the contract.
    let (from, to) = unsafe { (from.read_all(count)?, to.read_all(count)?) };
    if !adds {
        let known = driver.objects.graphs.get(graph.addr())?.clone();
        check_shape_may_change(driver, &known)?;
    }
    let graph = driver.objects.graphs.get_mut(graph.addr())?;
    let place = |node: &CUgraphNode| graph.place(node.addr()).ok_or(INVALID);
    let ends: Vec<(usize, usize)> = from
        .iter()
        .zip(&to)
        .map(|(from, to)| Ok((place(from)?, place(to)?)))
        .collect::<CuResult<_>>()?;
    // An edge that is there, or that is not, is a mistake, and then nothing is changed.
    let has = |(from, to): &(usize, usize)| graph.nodes[*to].follows.contains(from);
    if ends.iter().any(|edge| edge.0 == edge.1 || has(edge) == adds) {
        return Err(INVALID);
    }
    for (from, to) in ends {
        let follows = &mut graph.nodes[to].follows;
        follows.retain(|before| *before != from);
        if adds {
            follows.push(from);
        }
    }
    Ok(())
}

exports! {
    fn cuGraphCreate(driver, graph: Out<CUgraph>, flags: c_uint) {
        if flags != 0 {
            return Err(INVALID);
        }
        graph.given()?;
        graph.write(handle(driver.objects.graphs.add(GraphState::default())))
    }
    fn cuGraphClone(driver, clone: Out<CUgraph>, graph: CUgraph) {
        let known = driver.objects.graphs.get(graph.addr())?.clone();
        check_shape_may_change(driver, &known)?;
        if known.has_conditions() {
            let why = "a graph with conditional nodes cannot be cloned";
            return Err(driver.refuse(ReturnCode::NOT_SUPPORTED, why));
        }
        clone.given()?;
        let cloned = driver.objects.clone_graph(graph.addr())?;
        clone.write(handle(cloned))
    }
    fn cuGraphConditionalHandleCreate(
        driver, condition_handle: Out<c_ulonglong>, graph: CUgraph, _context: CUcontext, first: c_uint, flags: c_uint
    ) {
        condition_handle.given()?;
        let word = condition(driver, graph, first, flags)?;
        condition_handle.write(word)
    }
    fn cuGraphAddNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        parameters: Out<NodeParameters>
    ) {
        // SAFETY: by the function's contract.
        unsafe { add_any(driver, node, graph, (dependencies, count), parameters) }
    }
    fn cuGraphAddNode_v2(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, _kinds: In<GraphEdge>,
        count: usize, parameters: Out<NodeParameters>
    ) {
        // An edge that orders less than the whole nodes may order them whole.
        // SAFETY: by the function's contract.
        unsafe { add_any(driver, node, graph, (dependencies, count), parameters) }
    }
    fn cuGraphAddChildGraphNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize, inner: CUgraph
    ) {
        let work = child(driver, graph, inner)?;
        // SAFETY: by the function's contract.
        unsafe { add(driver, node, graph, (dependencies, count), work) }
    }
    fn cuGraphChildGraphNodeGetGraph(driver, node: CUgraphNode, graph: Out<CUgraph>) {
        let QueuedWork::Subgraphs(Subgraphs { graphs, condition: None, .. }) = work(driver, node)? else {
            return Err(INVALID);
        };
        graph.write(handle(graphs[0]))
    }
    fn cuGraphNodeFindInClone(driver, found: Out<CUgraphNode>, original: CUgraphNode, graph: CUgraph) {
        let nodes = &driver.objects.graphs.get(graph.addr())?.nodes;
        let node = nodes.iter().find(|node| node.original == Some(original.addr())).ok_or(INVALID)?;
        found.write(handle(node.handle))
    }
    fn cuGraphAddKernelNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        parameters: In<KernelNodeParameters>
    ) {
        let asked = parameters.read()?;
        // SAFETY: by the function's contract.
        unsafe {
            let work = launch(driver, asked)?;
            add(driver, node, graph, (dependencies, count), work)
        }
    }
    fn cuGraphAddKernelNode_v2(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        parameters: In<KernelNodeParametersV2>
    ) {
        let asked = first_version(parameters.read()?);
        // SAFETY: by the function's contract.
        unsafe {
            let work = launch(driver, asked)?;
            add(driver, node, graph, (dependencies, count), work)
        }
    }
    fn cuGraphAddMemcpyNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        descriptor: In<CUDA_MEMCPY3D>, _context: CUcontext
    ) {
        let work = copy(driver, &descriptor)?;
        // SAFETY: by the function's contract.
        unsafe { add(driver, node, graph, (dependencies, count), work) }
    }
    fn cuGraphAddMemsetNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        parameters: In<MemsetNodeParameters>, _context: CUcontext
    ) {
        let work = fill(driver, parameters.read()?)?;
        // SAFETY: by the function's contract.
        unsafe { add(driver, node, graph, (dependencies, count), work) }
    }
    fn cuGraphAddHostNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        parameters: In<HostNodeParameters>
    ) {
        let work = host(parameters.read()?)?;
        // SAFETY: by the function's contract.
        unsafe { add(driver, node, graph, (dependencies, count), work) }
    }
    fn cuGraphAddEmptyNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize
    ) {
        // SAFETY: by the function's contract.
        unsafe { add(driver, node, graph, (dependencies, count), QueuedWork::Join) }
    }
    fn cuGraphAddMemAllocNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        parameters: Out<CUDA_MEM_ALLOC_NODE_PARAMS>
    ) {
        // SAFETY: the two are the same structure.
        let parameters: Out<MemoryNodeParameters> = unsafe { parameters.cast() };
        // SAFETY: valid by the type, and any bytes are a value.
        let asked = unsafe { parameters.pointer()?.read() };
        if asked.kind != PINNED || asked.handle_types != 0 {
            return Err(INVALID);
        }
        let device = device_at(driver, asked.location)?;
        if asked.access_count > 0 && asked.access.is_null() {
            return Err(driver.refuse(INVALID, "the list of devices with access is null"));
        }
        for index in 0..asked.access_count {
            // SAFETY: by the function's contract there are `access_count` of them; enums are read as the integers they are in C.
            let location = unsafe {
                let access = asked.access.cast::<CUmemAccessDesc>().add(index);
                (&raw const (*access).location).cast::<MemoryLocation>().read()
            };
            device_at(driver, location)?;
        }
        if asked.access_count > 0 && driver.devices.len() > 1 {
            return Err(driver.unsupported("memory of a graph that other devices may access"));
        }
        // SAFETY: by the function's contract.
        let follows = unsafe { places_of(driver, graph, &dependencies, count) }?;
        let known = driver.objects.graphs.get(graph.addr())?.clone();
        let work = driver.graph_allocation(&known, &follows, (device, asked.bytes))?;
        let QueuedWork::GraphAllocation(range) = &work else { return Err(INVALID) };
        parameters.write(MemoryNodeParameters { address: range.start, ..asked })?;
        // SAFETY: by the function's contract.
        unsafe { add(driver, node, graph, (dependencies, count), work) }
    }
    fn cuGraphMemAllocNodeGetParams(driver, node: CUgraphNode, target: Out<CUDA_MEM_ALLOC_NODE_PARAMS>) {
        let QueuedWork::GraphAllocation(range) = work(driver, node)? else { return Err(INVALID) };
        let device = driver.memory.device_of(range.start).unwrap_or(0);
        // SAFETY: the two are the same structure.
        let target: Out<MemoryNodeParameters> = unsafe { target.cast() };
        target.write(MemoryNodeParameters {
            kind: PINNED,
            handle_types: 0,
            location: MemoryLocation { kind: ON_DEVICE, id: device as i32 },
            pool: [0; 9],
            access: null_mut(),
            access_count: 0,
            bytes: (range.end - range.start) as usize,
            address: range.start,
        })
    }
    fn cuGraphAddMemFreeNode(
        driver, node: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        address: CUdeviceptr
    ) {
        let known = driver.objects.graphs.get(graph.addr())?.clone();
        let work = driver.graph_release(&known, address)?;
        // SAFETY: by the function's contract.
        unsafe { add(driver, node, graph, (dependencies, count), work) }
    }
    fn cuGraphMemFreeNodeGetParams(driver, node: CUgraphNode, target: Out<CUdeviceptr>) {
        let QueuedWork::Release(address) = work(driver, node)? else { return Err(INVALID) };
        target.write(address)
    }
    fn cuGraphKernelNodeGetParams(driver, node: CUgraphNode, target: Out<KernelNodeParameters>) {
        target.write(parameters(driver, node)?)
    }
    fn cuGraphKernelNodeGetParams_v2(driver, node: CUgraphNode, target: Out<KernelNodeParametersV2>) {
        let launch = parameters(driver, node)?;
        target.write(KernelNodeParametersV2 { launch, kernel: null_mut(), context: null_mut() })
    }
    fn cuGraphKernelNodeSetParams(driver, node: CUgraphNode, parameters: In<KernelNodeParameters>) {
        // SAFETY: by the function's contract.
        let work = unsafe { launch(driver, parameters.read()?) }?;
        replace_in_graph(driver, node, work)
    }
    fn cuGraphKernelNodeSetParams_v2(driver, node: CUgraphNode, parameters: In<KernelNodeParametersV2>) {
        // SAFETY: by the function's contract.
        let work = unsafe { launch(driver, first_version(parameters.read()?)) }?;
        replace_in_graph(driver, node, work)
    }
    fn cuGraphMemcpyNodeGetParams(driver, node: CUgraphNode, target: Out<CUDA_MEMCPY3D>) {
        let QueuedWork::Copy(copy) = work(driver, node)? else { return Err(INVALID) };
        target.write(described(driver, &copy))
    }
    fn cuGraphMemsetNodeGetParams(driver, node: CUgraphNode, target: Out<MemsetNodeParameters>) {
        let QueuedWork::Fill(fill) = work(driver, node)? else { return Err(INVALID) };
        let Fill { address, pitch, value, size, width, height } = fill;
        let element_bytes = size as c_uint;
        target.write(MemsetNodeParameters { target: address, pitch, value, element_bytes, width, height })
    }
    fn cuGraphHostNodeGetParams(driver, node: CUgraphNode, target: Out<HostNodeParameters>) {
        let QueuedWork::Host(HostFunction { function, data }) = work(driver, node)? else { return Err(INVALID) };
        let data = std::ptr::with_exposed_provenance_mut(data);
        target.write(HostNodeParameters { function: Some(function), data })
    }
    fn cuGraphMemcpyNodeSetParams(driver, node: CUgraphNode, descriptor: In<CUDA_MEMCPY3D>) {
        let work = copy(driver, &descriptor)?;
        replace_in_graph(driver, node, work)
    }
    fn cuGraphMemsetNodeSetParams(driver, node: CUgraphNode, parameters: In<MemsetNodeParameters>) {
        let work = fill(driver, parameters.read()?)?;
        replace_in_graph(driver, node, work)
    }
    fn cuGraphHostNodeSetParams(driver, node: CUgraphNode, parameters: In<HostNodeParameters>) {
        replace_in_graph(driver, node, host(parameters.read()?)?)
    }
    fn cuGraphExecKernelNodeSetParams(
        driver, executable: CUgraphExec, node: CUgraphNode, parameters: In<KernelNodeParameters>
    ) {
        // SAFETY: by the function's contract.
        let work = unsafe { launch(driver, parameters.read()?) }?;
        replace_in_executable(driver, executable, node, work)
    }
    fn cuGraphExecKernelNodeSetParams_v2(
        driver, executable: CUgraphExec, node: CUgraphNode, parameters: In<KernelNodeParametersV2>
    ) {
        // SAFETY: by the function's contract.
        let work = unsafe { launch(driver, first_version(parameters.read()?)) }?;
        replace_in_executable(driver, executable, node, work)
    }
    fn cuGraphExecMemcpyNodeSetParams(
        driver, executable: CUgraphExec, node: CUgraphNode, descriptor: In<CUDA_MEMCPY3D>, _context: CUcontext
    ) {
        let work = copy(driver, &descriptor)?;
        replace_in_executable(driver, executable, node, work)
    }
    fn cuGraphExecMemsetNodeSetParams(
        driver, executable: CUgraphExec, node: CUgraphNode, parameters: In<MemsetNodeParameters>, _context: CUcontext
    ) {
        let work = fill(driver, parameters.read()?)?;
        replace_in_executable(driver, executable, node, work)
    }
    fn cuGraphExecHostNodeSetParams(
        driver, executable: CUgraphExec, node: CUgraphNode, parameters: In<HostNodeParameters>
    ) {
        replace_in_executable(driver, executable, node, host(parameters.read()?)?)
    }
    fn cuGraphNodeGetType(driver, node: CUgraphNode, target: Out<c_uint>) {
        let (graph, place) = driver.objects.node(node.addr())?;
        target.write(kind(&graph.nodes[place].work))
    }
    fn cuGraphGetNodes(driver, graph: CUgraph, nodes: Out<CUgraphNode>, count: Out<usize>) {
        let all = driver.objects.graphs.get(graph.addr())?.nodes.iter();
        let all: Vec<usize> = all.map(|node| node.handle).collect();
        // SAFETY: by the function's contract.
        unsafe { list([(all, nodes)], None, count) }
    }
    fn cuGraphGetRootNodes(driver, graph: CUgraph, nodes: Out<CUgraphNode>, count: Out<usize>) {
        let all = driver.objects.graphs.get(graph.addr())?.nodes.iter();
        let roots: Vec<usize> = all.filter(|node| node.follows.is_empty()).map(|node| node.handle).collect();
        // SAFETY: by the function's contract.
        unsafe { list([(roots, nodes)], None, count) }
    }
    fn cuGraphGetEdges(driver, graph: CUgraph, from: Out<CUgraphNode>, to: Out<CUgraphNode>, count: Out<usize>) {
        let (starts, ends) = edges(driver.objects.graphs.get(graph.addr())?);
        // SAFETY: by the function's contract.
        unsafe { list([(starts, from), (ends, to)], None, count) }
    }
    fn cuGraphGetEdges_v2(
        driver, graph: CUgraph, from: Out<CUgraphNode>, to: Out<CUgraphNode>, kinds: Out<GraphEdge>, count: Out<usize>
    ) {
        let (starts, ends) = edges(driver.objects.graphs.get(graph.addr())?);
        // SAFETY: by the function's contract.
        unsafe { list([(starts, from), (ends, to)], Some(kinds), count) }
    }
    fn cuGraphNodeGetDependencies(driver, node: CUgraphNode, nodes: Out<CUgraphNode>, count: Out<usize>) {
        let found = before(driver, node)?;
        // SAFETY: by the function's contract.
        unsafe { list([(found, nodes)], None, count) }
    }
    fn cuGraphNodeGetDependencies_v2(
        driver, node: CUgraphNode, nodes: Out<CUgraphNode>, kinds: Out<GraphEdge>, count: Out<usize>
    ) {
        let found = before(driver, node)?;
        // SAFETY: by the function's contract.
        unsafe { list([(found, nodes)], Some(kinds), count) }
    }
    fn cuGraphNodeGetDependentNodes(driver, node: CUgraphNode, nodes: Out<CUgraphNode>, count: Out<usize>) {
        let found = after(driver, node)?;
        // SAFETY: by the function's contract.
        unsafe { list([(found, nodes)], None, count) }
    }
    fn cuGraphNodeGetDependentNodes_v2(
        driver, node: CUgraphNode, nodes: Out<CUgraphNode>, kinds: Out<GraphEdge>, count: Out<usize>
    ) {
        let found = after(driver, node)?;
        // SAFETY: by the function's contract.
        unsafe { list([(found, nodes)], Some(kinds), count) }
    }
    fn cuGraphAddDependencies(
        driver, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize
    ) {
        // SAFETY: by the function's contract.
        unsafe { connect(driver, graph, (from, to), count, true) }
    }
    fn cuGraphAddDependencies_v2(
        driver, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, _kinds: In<GraphEdge>, count: usize
    ) {
        // An edge that orders less than the whole nodes may order them whole.
        // SAFETY: by the function's contract.
        unsafe { connect(driver, graph, (from, to), count, true) }
    }
    fn cuGraphRemoveDependencies(
        driver, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize
    ) {
        // SAFETY: by the function's contract.
        unsafe { connect(driver, graph, (from, to), count, false) }
    }
    fn cuGraphRemoveDependencies_v2(
        driver, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, _kinds: In<GraphEdge>, count: usize
    ) {
        // SAFETY: by the function's contract.
        unsafe { connect(driver, graph, (from, to), count, false) }
    }
    fn cuGraphDestroyNode(driver, node: CUgraphNode) {
        let known = driver.objects.node(node.addr())?.0.clone();
        check_shape_may_change(driver, &known)?;
        let (graph, place) = driver.objects.node(node.addr())?;
        let removed = graph.nodes.remove(place);
        for node in &mut graph.nodes {
            node.follows.retain(|before| *before != place);
            node.follows.iter_mut().filter(|before| **before > place).for_each(|before| *before -= 1);
        }
        driver.objects.remove_subgraphs(&removed.work)?;
        driver.free_conditions();
        Ok(())
    }
}
