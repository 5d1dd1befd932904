use super::arguments::{In, InMut, Out, handle};
use super::define::exports;
use super::graph_node::places_of;
use crate::code::{CAPTURE_UNSUPPORTED, CuResult};
use crate::driver::Driver;
use crate::misuse::MisuseKind;
use crate::objects::{CaptureState, StreamCapture};
use crate::thread;
use crate::work::{GraphState, QueuedWork, Subgraphs};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUgraph, CUgraphExec, CUgraphNode, CUstream};
use cuda_driver::types::{GraphEdge, GraphUpdate, InstantiateParameters};
use std::ffi::{c_char, c_uint, c_ulonglong};

const INVALIDATED: ReturnCode = ReturnCode(901);
const UNMATCHED: ReturnCode = ReturnCode(903);
const UNJOINED: ReturnCode = ReturnCode(904);
const UPDATE_FAILURE: ReturnCode = ReturnCode(910);
/// `CU_STREAM_CAPTURE_MODE_RELAXED`, the last of the modes.
const RELAXED: c_uint = 2;
/// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`.
const REPLACES: c_uint = 1;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`.
const FREES_ON_LAUNCH: c_ulonglong = 1;
/// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`.
const SHAPE_CHANGED: c_uint = 2;
/// `CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED`, with the node of the executable graph that it is about.
const NOT_SUPPORTED: c_uint = 6;

/// Begins a capture into a new graph, or into one whose new nodes follow some of it.
fn begin(driver: &mut Driver, stream: usize, into: Option<(usize, Vec<usize>)>) -> CuResult {
    driver.context_with_stream(stream)?;
    if stream <= 2 {
        return Err(CAPTURE_UNSUPPORTED);
    }
    if driver.objects.stream(stream)?.capture.is_some() {
        return Err(ReturnCode(401));
    }
    let is_new = into.is_none();
    let new = |driver: &mut Driver| (driver.objects.graphs.add(GraphState::default()), Vec::new());
    let (graph, tails) = into.unwrap_or_else(|| new(driver));
    let capture = CaptureState { origin: stream, graph, is_new, ..CaptureState::default() };
    let capture = driver.objects.captures.add(capture);
    driver.objects.stream(stream)?.capture = Some(StreamCapture { capture, tails });
    Ok(())
}

/// Ends a capture: every stream that was forked off must have joined the first one again.
fn end(driver: &mut Driver, stream: usize) -> CuResult<usize> {
    let own = driver.objects.stream(stream)?.capture.clone().ok_or(UNMATCHED)?;
    let capture = driver.objects.captures.get(own.capture)?;
    if capture.origin != stream {
        return Err(UNMATCHED);
    }
    let forked: Vec<usize> = driver
        .objects
        .streams
        .iter()
        .filter(|(_, state)| {
            state.capture.as_ref().is_some_and(|other| other.capture == own.capture)
        })
        .map(|(handle, _)| handle)
        .collect();
    let mut leaves = Vec::new();
    for other in forked {
        leaves.extend(
            driver
                .objects
                .stream(other)?
                .capture
                .take()
                .filter(|_| other != stream)
                .map(|it| it.tails),
        );
    }
    let capture = driver.objects.captures.remove(own.capture)?;
    // What a fork did last has to come before something that the first stream did last.
    let joined = driver.objects.graphs.get(capture.graph)?.ancestors(&own.tails);
    let is_joined = leaves.into_iter().flatten().all(|leaf| joined[leaf]);
    if capture.is_new && (capture.invalid || !is_joined) {
        driver.objects.remove_graph(capture.graph)?;
    }
    match (capture.invalid, is_joined) {
        (true, _) => Err(INVALIDATED),
        (_, false) => Err(UNJOINED),
        _ => Ok(capture.graph),
    }
}

fn instantiate(driver: &mut Driver, graph: usize) -> CuResult<usize> {
    instantiate_with(driver, graph, 0)
}

/// As `instantiate`, of a call that has flags.
fn instantiate_with(driver: &mut Driver, graph: usize, flags: c_ulonglong) -> CuResult<usize> {
    // Freeing on launch (1) and launches from the device (4) exclude each other.
    if flags > 15 || flags & 5 == 5 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    if flags & 4 != 0 {
        return Err(driver.unsupported("graphs that kernels launch"));
    }
    driver.context()?;
    let made_of = graph;
    let Some(graph) = driver.objects.ready(graph)? else {
        let why = "the graph's nodes follow each other in a circle";
        return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
    };
    if graph.chooses_what_no_choice_has() {
        let why = "a graph that a condition chooses has kernels, copies, fills, empty nodes and graphs: no host function, \
                   no memory that it allocates or frees, and no kernel that launches others";
        return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
    }
    if let Some(word) = driver.objects.condition_without_node(made_of)? {
        let why =
            format!("no node of the graph has the condition {word:#x}, which was made for it");
        return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
    }
    driver.clock.advance(driver.device().profile.api_call_ns * graph.nodes.len() as f64);
    let is_again = driver.objects.executables.values().any(|other| other.made_of == made_of);
    if is_again && graph.has_memory_nodes() {
        let why = "a graph that allocates or frees memory has one executable graph at a time: destroy the other first";
        return Err(driver.refuse(ReturnCode::NOT_SUPPORTED, why));
    }
    let frees_on_launch = flags & FREES_ON_LAUNCH != 0;
    Ok(driver.objects.executables.add(GraphState { made_of, frees_on_launch, ..graph }))
}

/// Replaces an executable graph's work by that of a graph. Where the two are too different nothing is replaced, and the
/// result says why, with the node of the executable graph that it is about, if it is one.
fn update(driver: &mut Driver, executable: usize, graph: usize) -> CuResult<(c_uint, usize)> {
    let new = driver.objects.ready(graph)?;
    let old = driver.objects.executables.get_mut(executable)?;
    old.is_outdated = true;
    let Some(new) = new else { return Ok((SHAPE_CHANGED, 0)) };
    if let Some(difference) = difference(old, &new) {
        return Ok(difference);
    }
    replace_work(old, new);
    old.is_outdated = false;
    Ok((0, 0))
}

/// Gives an executable graph the work of another of the same shape, whose nodes are still those that it was made of.
/// Conditions are part of the work, with their default values (the reference of `cuGraphExecUpdate`).
fn replace_work(old: &mut GraphState, new: GraphState) {
    old.conditions = new.conditions;
    for (old, new) in old.nodes.iter_mut().zip(new.nodes) {
        match (&mut old.work, new.work) {
            (QueuedWork::Subgraphs(old), QueuedWork::Subgraphs(new)) => {
                old.condition = new.condition;
                let inner = old.ready.iter_mut().zip(new.ready);
                inner.for_each(|(old, new)| replace_work(old, new));
            }
            (old, new) => *old = new,
        }
    }
}

/// Returns the first difference between an executable graph and one that is to replace its work. Nodes must be of the same
/// kinds, with the same edges; those that choose must choose alike, whatever their conditions' handles are.
fn difference(old: &GraphState, new: &GraphState) -> Option<(c_uint, usize)> {
    if old.nodes.len() != new.nodes.len() {
        return Some((SHAPE_CHANGED, 0));
    }
    let mut pairs = old.nodes.iter().zip(&new.nodes);
    pairs.find_map(|(of_old, of_new)| match (&of_old.work, &of_new.work) {
        _ if of_old.follows != of_new.follows => Some((SHAPE_CHANGED, 0)),
        (QueuedWork::Subgraphs(old), QueuedWork::Subgraphs(new)) => {
            let kind = |inner: &Subgraphs| inner.condition.as_ref().map(std::mem::discriminant);
            if kind(old) != kind(new) || old.ready.len() != new.ready.len() {
                return Some((NOT_SUPPORTED, of_old.handle));
            }
            let mut inner = old.ready.iter().zip(&new.ready);
            inner.find_map(|(old, new)| difference(old, new))
        }
        (old, new) => (std::mem::discriminant(old) != std::mem::discriminant(new))
            .then_some((SHAPE_CHANGED, 0)),
    })
}

/// Places for what is asked about a capture under way.
struct CapturePlaces<'call> {
    status: Out<'call, c_uint>,
    id: Out<'call, c_ulonglong>,
    graph: Out<'call, CUgraph>,
    nodes: Out<'call, *const CUgraphNode>,
    count: Out<'call, usize>,
}

/// Tells of a capture under way: the graph, and the nodes that the next one follows.
fn tell_of_capture(driver: &mut Driver, stream: usize, places: CapturePlaces<'_>) -> CuResult {
    let (is, capture) = capture_of(driver, stream)?;
    if is == 1 {
        let tails = driver.objects.stream(stream)?.capture.clone().unwrap_or_default().tails;
        let graph = driver.objects.captures.get(capture)?.graph;
        let of = driver.objects.graphs.get(graph)?;
        let shown: Vec<usize> = tails.iter().map(|place| of.nodes[*place].handle).collect();
        places.graph.write_optional(handle(graph))?;
        places.count.write_optional(shown.len())?;
        let state = driver.objects.captures.get_mut(capture)?;
        state.shown = shown;
        places.nodes.write_optional(state.shown.as_ptr().cast())?;
    }
    places.id.write_optional(capture as c_ulonglong)?;
    places.status.write(is)
}

/// Sets the nodes that the next one of a capture follows, or adds to them.
///
/// # Safety
/// - There are as many nodes as `count` says.
unsafe fn set_tails<Raw>(
    driver: &mut Driver,
    stream: usize,
    nodes: &In<'_, CUgraphNode, Raw>,
    count: usize,
    flags: c_uint,
) -> CuResult {
    let own = driver.objects.stream(stream)?.capture.clone().ok_or(ReturnCode(401))?;
    let graph = driver.objects.captures.get(own.capture)?.graph;
    // SAFETY: by the contract.
    let places = unsafe { places_of(driver, handle(graph), nodes, count) }?;
    if flags > 1 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let Some(own) = &mut driver.objects.stream(stream)?.capture else { return Ok(()) };
    if flags == REPLACES {
        own.tails.clear();
    }
    own.tails.extend(places);
    Ok(())
}

/// Returns whether a stream is captured (0 no, 1 yes, 2 by a capture that failed), and into what.
fn capture_of(driver: &mut Driver, stream: usize) -> CuResult<(c_uint, usize)> {
    let Some(own) = driver.objects.stream(stream)?.capture.clone() else { return Ok((0, 0)) };
    let is_invalid = driver.objects.captures.get(own.capture)?.invalid;
    Ok((1 + u32::from(is_invalid), own.capture))
}

exports! {
    fn cuStreamBeginCapture_v2(driver, stream: CUstream, _mode: c_uint) {
        begin(driver, stream.addr(), None)
    }
    fn cuStreamBeginCaptureToGraph(
        driver, stream: CUstream, graph: CUgraph, dependencies: In<CUgraphNode>, _kinds: In<GraphEdge>, count: usize,
        _mode: c_uint
    ) {
        // SAFETY: by the function's contract.
        let tails = unsafe { places_of(driver, graph, &dependencies, count) }?;
        begin(driver, stream.addr(), Some((graph.addr(), tails)))
    }
    fn cuStreamUpdateCaptureDependencies(
        driver, stream: CUstream, dependencies: InMut<CUgraphNode>, count: usize, flags: c_uint
    ) {
        // SAFETY: by the function's contract.
        unsafe { set_tails(driver, stream.addr(), &dependencies, count, flags) }
    }
    fn cuStreamUpdateCaptureDependencies_v2(
        driver, stream: CUstream, dependencies: InMut<CUgraphNode>, _kinds: In<GraphEdge>, count: usize, flags: c_uint
    ) {
        // SAFETY: by the function's contract.
        unsafe { set_tails(driver, stream.addr(), &dependencies, count, flags) }
    }
    fn cuStreamEndCapture(driver, stream: CUstream, graph: Out<CUgraph>) {
        match end(driver, stream.addr()) {
            Ok(ended) => graph.write_optional(handle(ended)),
            Err(code) => {
                graph.write_optional(std::ptr::null_mut())?;
                Err(code)
            }
        }
    }
    fn cuStreamIsCapturing(driver, stream: CUstream, status: Out<c_uint>) {
        let (is, _) = capture_of(driver, stream.addr())?;
        status.write(is)
    }
    fn cuStreamGetCaptureInfo(driver, stream: CUstream, status: Out<c_uint>, id: Out<c_ulonglong>) {
        let (is, capture) = capture_of(driver, stream.addr())?;
        id.write_optional(capture as c_ulonglong)?;
        status.write(is)
    }
    fn cuStreamGetCaptureInfo_v2(
        driver, stream: CUstream, status: Out<c_uint>, id: Out<c_ulonglong>, graph: Out<CUgraph>,
        nodes: Out<*const CUgraphNode>, count: Out<usize>
    ) {
        tell_of_capture(driver, stream.addr(), CapturePlaces { status, id, graph, nodes, count })
    }
    fn cuStreamGetCaptureInfo_v3(
        driver, stream: CUstream, status: Out<c_uint>, id: Out<c_ulonglong>, graph: Out<CUgraph>,
        nodes: Out<*const CUgraphNode>, kinds: Out<*const GraphEdge>, count: Out<usize>
    ) {
        // No edges are said to be whole.
        kinds.write_optional(std::ptr::null())?;
        tell_of_capture(driver, stream.addr(), CapturePlaces { status, id, graph, nodes, count })
    }
    fn cuThreadExchangeStreamCaptureMode(_driver, mode: Out<c_uint>) {
        let place = mode.pointer()?;
        // SAFETY: valid by the type, and any bytes are a value.
        let wanted = unsafe { place.read() };
        if wanted > RELAXED {
            return Err(ReturnCode::INVALID_VALUE);
        }
        mode.write(thread::exchange_capture_mode(wanted))
    }
    fn cuGraphInstantiateWithFlags(driver, executable: Out<CUgraphExec>, graph: CUgraph, flags: c_ulonglong) {
        let made = instantiate_with(driver, graph.addr(), flags)?;
        executable.write(handle(made))
    }
    fn cuGraphInstantiateWithParams(
        driver, executable: Out<CUgraphExec>, graph: CUgraph, parameters: Out<InstantiateParameters>
    ) {
        let place = parameters.pointer()?;
        // SAFETY: valid by the type, and any bytes are a value.
        let asked = unsafe { place.read() };
        let made = instantiate_with(driver, graph.addr(), asked.flags)?;
        parameters.write(InstantiateParameters { error_node: std::ptr::null_mut(), result: 0, ..asked })?;
        executable.write(handle(made))
    }
    fn cuGraphInstantiate_v2(
        driver, executable: Out<CUgraphExec>, graph: CUgraph, _node: *mut CUgraphNode, _log: *mut c_char,
        _log_bytes: usize
    ) {
        let made = instantiate(driver, graph.addr())?;
        executable.write(handle(made))
    }
    fn cuGraphExecUpdate(
        driver, executable: CUgraphExec, graph: CUgraph, node: Out<CUgraphNode>, result: Out<c_uint>
    ) {
        let (code, about) = update(driver, executable.addr(), graph.addr())?;
        node.write_optional(handle(about))?;
        result.write_optional(code)?;
        if code == 0 { Ok(()) } else { Err(UPDATE_FAILURE) }
    }
    fn cuGraphExecUpdate_v2(driver, executable: CUgraphExec, graph: CUgraph, result: Out<GraphUpdate>) {
        let (code, about) = update(driver, executable.addr(), graph.addr())?;
        let none = std::ptr::null_mut();
        result.write(GraphUpdate { result: code, error_node: handle(about), error_from_node: none })?;
        if code == 0 { Ok(()) } else { Err(UPDATE_FAILURE) }
    }
    fn cuGraphUpload(driver, executable: CUgraphExec, _stream: CUstream) {
        driver.objects.executables.get(executable.addr()).map(|_| ())
    }
    #[cost(Launch)]
    fn cuGraphLaunch(driver, executable: CUgraphExec, stream: CUstream) {
        driver.context_with_stream(stream.addr())?;
        let graph = driver.objects.executables.get(executable.addr())?.clone();
        if graph.is_outdated {
            let message = "the last update of this executable graph failed, and it does what it did before; make a new one of \
                           the graph that it was to become";
            driver.report(MisuseKind::CallFailed, message.to_owned());
        }
        driver.begin_graph(stream.addr(), &graph)?;
        let end = driver.submit_graph(stream.addr(), &graph)?;
        driver.objects.executables.get_mut(executable.addr())?.last_launch = Some(end);
        driver.end_graph(stream.addr(), &graph)
    }
    fn cuGraphDestroy(driver, graph: CUgraph) {
        if driver.objects.is_chosen(graph.addr()) {
            let why = "the graph belongs to a conditional node, with which it goes";
            return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
        }
        driver.objects.remove_graph(graph.addr())?;
        driver.free_conditions();
        Ok(())
    }
    fn cuGraphExecDestroy(driver, executable: CUgraphExec) {
        driver.objects.executables.remove(executable.addr())?;
        driver.free_conditions();
        Ok(())
    }
}
