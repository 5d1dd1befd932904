use crate::context;
use crate::define::{Result, exports, given, on, out};
use crate::error::{Error, check};
use cuda_driver::api;
use cuda_driver::raw::{CUevent, CUgraph, CUgraphNode, CUhostFn, CUstream, CUstreamCallback};
use cuda_driver::types::GraphEdge;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;

unsafe fn create(stream: *mut CUstream, flags: c_uint, priority: c_int) -> Result {
    context::enter()?;
    // SAFETY: the caller hands over a place for the handle.
    check(unsafe { api::cuStreamCreateWithPriority(out(stream)?, flags, priority) })
}

/// Places for what is known of a capture. Each may be null but the first.
struct Capture {
    status: *mut c_uint,
    id: *mut c_ulonglong,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    count: *mut usize,
}

unsafe fn capture_info(stream: CUstream, to: Capture) -> Result {
    context::enter()?;
    // SAFETY: the caller hands over places.
    check(unsafe {
        api::cuStreamGetCaptureInfo_v2(on(stream), to.status, to.id, to.graph, to.nodes, to.count)
    })
}

exports! {
    fn cudaStreamCreate(stream: *mut CUstream) { create(stream, 0, 0) }
    fn cudaStreamCreateWithFlags(stream: *mut CUstream, flags: c_uint) { create(stream, flags, 0) }
    fn cudaStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }
    fn cudaStreamDestroy(stream: CUstream) {
        context::enter()?;
        // The default streams are nobody's to destroy.
        if stream.addr() <= 2 { return Err(Error::INVALID_HANDLE); }
        check(api::cuStreamDestroy_v2(stream))
    }
    fn cudaStreamSynchronize(stream: CUstream) own cudaStreamSynchronize_ptsz {
        context::enter()?;
        check(api::cuStreamSynchronize(on(stream)))
    }
    fn cudaStreamQuery(stream: CUstream) own cudaStreamQuery_ptsz {
        context::enter()?;
        check(api::cuStreamQuery(on(stream)))
    }
    fn cudaStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) own cudaStreamWaitEvent_ptsz {
        context::enter()?;
        check(api::cuStreamWaitEvent(on(stream), event, flags))
    }
    fn cudaStreamGetPriority(stream: CUstream, priority: *mut c_int) own cudaStreamGetPriority_ptsz {
        context::enter()?;
        check(api::cuStreamGetPriority(on(stream), priority))
    }
    fn cudaStreamGetFlags(stream: CUstream, flags: *mut c_uint) own cudaStreamGetFlags_ptsz {
        context::enter()?;
        check(api::cuStreamGetFlags(on(stream), flags))
    }
    fn cudaStreamGetId(stream: CUstream, id: *mut c_ulonglong) own cudaStreamGetId_ptsz {
        context::enter()?;
        check(api::cuStreamGetId(on(stream), id))
    }
    fn cudaStreamGetDevice(stream: CUstream, device: *mut c_int) own cudaStreamGetDevice_ptsz {
        let current = context::enter()?;
        let device = out(device)?;
        if on(stream).addr() <= 2 {
            *device = current;
            return Ok(());
        }
        check(api::cuStreamGetDevice(stream, device))
    }
    fn cudaStreamAddCallback(
        stream: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: c_uint
    ) own cudaStreamAddCallback_ptsz {
        context::enter()?;
        check(api::cuStreamAddCallback(on(stream), callback, data, flags))
    }
    fn cudaLaunchHostFunc(stream: CUstream, function: CUhostFn, data: *mut c_void) own cudaLaunchHostFunc_ptsz {
        context::enter()?;
        check(api::cuLaunchHostFunc(on(stream), function, data))
    }
    fn cudaLaunchHostFunc_v2(
        stream: CUstream, function: CUhostFn, data: *mut c_void, mode: c_uint
    ) own cudaLaunchHostFunc_v2_ptsz {
        context::enter()?;
        check(api::cuLaunchHostFunc_v2(on(stream), function, data, mode))
    }
    fn cudaStreamAttachMemAsync(
        stream: CUstream, pointer: *mut c_void, bytes: usize, flags: c_uint
    ) own cudaStreamAttachMemAsync_ptsz {
        context::enter()?;
        check(api::cuStreamAttachMemAsync(on(stream), crate::memory::address(pointer), bytes, flags))
    }
    fn cudaStreamCopyAttributes(to: CUstream, from: CUstream) own cudaStreamCopyAttributes_ptsz {
        context::enter()?;
        check(api::cuStreamCopyAttributes(on(to), on(from)))
    }
    fn cudaStreamGetAttribute(stream: CUstream, attribute: c_uint, value: *mut c_void) own cudaStreamGetAttribute_ptsz {
        context::enter()?;
        check(api::cuStreamGetAttribute(on(stream), attribute, value.cast()))
    }
    fn cudaStreamSetAttribute(stream: CUstream, attribute: c_uint, value: *const c_void) own cudaStreamSetAttribute_ptsz {
        context::enter()?;
        given(value)?;
        check(api::cuStreamSetAttribute(on(stream), attribute, value.cast()))
    }
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        context::enter()?;
        check(api::cuCtxGetStreamPriorityRange(least, greatest))
    }

    fn cudaStreamBeginCapture(stream: CUstream, mode: c_uint) own cudaStreamBeginCapture_ptsz {
        context::enter()?;
        check(api::cuStreamBeginCapture_v2(on(stream), mode))
    }
    fn cudaStreamBeginCaptureToGraph(
        stream: CUstream, graph: CUgraph, nodes: *const CUgraphNode, edges: *const GraphEdge, count: usize, mode: c_uint
    ) own cudaStreamBeginCaptureToGraph_ptsz {
        context::enter()?;
        check(api::cuStreamBeginCaptureToGraph(on(stream), graph, nodes, edges, count, mode))
    }
    fn cudaStreamEndCapture(stream: CUstream, graph: *mut CUgraph) own cudaStreamEndCapture_ptsz {
        context::enter()?;
        check(api::cuStreamEndCapture(on(stream), graph))
    }
    fn cudaStreamIsCapturing(stream: CUstream, status: *mut c_uint) own cudaStreamIsCapturing_ptsz {
        context::enter()?;
        check(api::cuStreamIsCapturing(on(stream), status))
    }
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_uint) {
        context::enter()?;
        check(api::cuThreadExchangeStreamCaptureMode(mode))
    }
    fn cudaStreamGetCaptureInfo(
        stream: CUstream, status: *mut c_uint, id: *mut c_ulonglong, graph: *mut CUgraph, nodes: *mut *const CUgraphNode,
        edges: *mut *const GraphEdge, count: *mut usize
    ) own cudaStreamGetCaptureInfo_ptsz {
        if crate::version::is_12() {
            // It has the first three arguments alone.
            return capture_info(stream, Capture { status, id, graph: null_mut(), nodes: null_mut(), count: null_mut() });
        }
        if let Some(edges) = edges.as_mut() { *edges = std::ptr::null(); }
        capture_info(stream, Capture { status, id, graph, nodes, count })
    }
    fn cudaStreamGetCaptureInfo_v2(
        stream: CUstream, status: *mut c_uint, id: *mut c_ulonglong, graph: *mut CUgraph, nodes: *mut *const CUgraphNode,
        count: *mut usize
    ) own cudaStreamGetCaptureInfo_v2_ptsz {
        capture_info(stream, Capture { status, id, graph, nodes, count })
    }
    fn cudaStreamGetCaptureInfo_v3(
        stream: CUstream, status: *mut c_uint, id: *mut c_ulonglong, graph: *mut CUgraph, nodes: *mut *const CUgraphNode,
        edges: *mut *const GraphEdge, count: *mut usize
    ) own cudaStreamGetCaptureInfo_v3_ptsz {
        if let Some(edges) = edges.as_mut() { *edges = std::ptr::null(); }
        capture_info(stream, Capture { status, id, graph, nodes, count })
    }
    fn cudaStreamUpdateCaptureDependencies(
        stream: CUstream, nodes: *mut CUgraphNode, edges_or_count: usize, count_or_flags: usize, flags: c_uint
    ) own cudaStreamUpdateCaptureDependencies_ptsz {
        context::enter()?;
        // CUDA 12 has no edges between nodes and count.
        let (count, flags) =
            if crate::version::is_12() { (edges_or_count, count_or_flags as c_uint) } else { (count_or_flags, flags) };
        check(api::cuStreamUpdateCaptureDependencies(on(stream), nodes, count, flags))
    }
    fn cudaStreamUpdateCaptureDependencies_v2(
        stream: CUstream, nodes: *mut CUgraphNode, _edges: *const GraphEdge, count: usize, flags: c_uint
    ) own cudaStreamUpdateCaptureDependencies_v2_ptsz {
        context::enter()?;
        check(api::cuStreamUpdateCaptureDependencies(on(stream), nodes, count, flags))
    }

    fn cudaEventCreate(event: *mut CUevent) {
        context::enter()?;
        check(api::cuEventCreate(event, 0))
    }
    fn cudaEventCreateWithFlags(event: *mut CUevent, flags: c_uint) {
        context::enter()?;
        check(api::cuEventCreate(event, flags))
    }
    fn cudaEventRecord(event: CUevent, stream: CUstream) own cudaEventRecord_ptsz {
        context::enter()?;
        check(api::cuEventRecord(event, on(stream)))
    }
    fn cudaEventRecordWithFlags(event: CUevent, stream: CUstream, flags: c_uint) own cudaEventRecordWithFlags_ptsz {
        context::enter()?;
        check(api::cuEventRecordWithFlags(event, on(stream), flags))
    }
    fn cudaEventQuery(event: CUevent) {
        context::enter()?;
        check(api::cuEventQuery(event))
    }
    fn cudaEventSynchronize(event: CUevent) {
        context::enter()?;
        check(api::cuEventSynchronize(event))
    }
    fn cudaEventDestroy(event: CUevent) {
        context::enter()?;
        check(api::cuEventDestroy_v2(event))
    }
    fn cudaEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) {
        context::enter()?;
        check(api::cuEventElapsedTime(milliseconds, start, end))
    }
    fn cudaEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) {
        context::enter()?;
        check(api::cuEventElapsedTime(milliseconds, start, end))
    }
}
