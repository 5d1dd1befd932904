//! Graphs: work recorded once from a stream and launched many times with one call.
//!
//! ```no_run
//! # fn f(stream: &cust::stream::Stream) -> cust_ext::Result<()> {
//! use cust_ext::graph::{CaptureMode, capture};
//! let graph = capture(stream, CaptureMode::Relaxed, |stream| {
//!     // What is enqueued here is recorded.
//!     cust_ext::stream::host_function(stream, || ())
//! })?;
//! let executable = graph.instantiate()?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, argument, call};
use cust::stream::Stream;
use cust::sys::{CUgraph, CUgraphExec};
use std::ffi::c_uint;

/// Recorded work. [`Graph::instantiate`] makes it launchable.
#[derive(Debug)]
pub struct Graph {
    raw: CUgraph,
}

/// A graph that can be launched.
#[derive(Debug)]
pub struct ExecutableGraph {
    raw: CUgraphExec,
}

// SAFETY: any thread may use a graph, one at a time, which `&mut` and ownership ensure: shared access only reads.
unsafe impl Send for Graph {}
// SAFETY: as for `Graph`.
unsafe impl Send for ExecutableGraph {}

/// The freedom of other threads while a stream is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum CaptureMode {
    /// Calls that cannot be captured (such as a plain allocation) fail on every thread.
    Global = 0,
    /// They fail on the capturing thread only.
    #[default]
    ThreadLocal = 1,
    /// They are allowed everywhere and simply not captured.
    Relaxed = 2,
}

/// Records what `body` enqueues on `stream` (and on streams that it forks off by events) instead of running it.
///
/// Nothing runs until the graph is launched. The default streams cannot be captured.
///
/// # Errors
/// A default stream, those of `body`, and the driver's, also when `body` does what no graph can hold.
pub fn capture(
    stream: &Stream,
    mode: CaptureMode,
    body: impl FnOnce(&Stream) -> Result<()>,
) -> Result<Graph> {
    if stream.as_inner().addr() <= 2 {
        return argument("a default stream cannot be captured: use a stream of your own");
    }
    // SAFETY: the stream is alive.
    unsafe { call!(cuStreamBeginCapture_v2(stream.as_inner(), mode as c_uint))? };
    let ending = EndCapture { stream };
    let recorded = body(stream);
    let ended = ending.end();
    recorded.and(ended)
}

/// Ends a capture, also when the body unwinds.
struct EndCapture<'a> {
    stream: &'a Stream,
}

impl EndCapture<'_> {
    fn end(self) -> Result<Graph> {
        let this = std::mem::ManuallyDrop::new(self);
        this.end_now()
    }

    fn end_now(&self) -> Result<Graph> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the stream is alive, the graph is a local to write to.
        unsafe { call!(cuStreamEndCapture(self.stream.as_inner(), &mut raw))? };
        if raw.is_null() {
            return argument("the capture was invalidated by an earlier error");
        }
        Ok(Graph { raw })
    }
}

impl Drop for EndCapture<'_> {
    fn drop(&mut self) {
        let _ = self.end_now();
    }
}

impl Graph {
    /// Returns how many operations the graph has.
    ///
    /// # Errors
    /// When the driver does not tell it.
    pub fn node_count(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the graph is alive; without an array the driver only writes the count.
        unsafe { call!(cuGraphGetNodes(self.raw, std::ptr::null_mut(), &mut count))? };
        Ok(count)
    }

    /// Makes the graph launchable.
    ///
    /// # Errors
    /// When the driver refuses one of its nodes.
    pub fn instantiate(&self) -> Result<ExecutableGraph> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the graph is alive, the result is a local to write to.
        unsafe { call!(cuGraphInstantiateWithFlags(&mut raw, self.raw, 0))? };
        Ok(ExecutableGraph { raw })
    }
}

impl ExecutableGraph {
    /// Launches all the graph's work on `stream`.
    ///
    /// # Errors
    /// When the driver refuses the launch, or an earlier kernel has failed.
    ///
    /// # Safety
    /// - The graph holds plain addresses.
    /// - Everything it reads or writes (device buffers, host buffers, what kernels were given) is allocated until the
    ///   stream has finished the graph, host memory that it uses is not touched by the host meanwhile, and what
    ///   launching each of its kernels asks for holds at each launch of the graph.
    pub unsafe fn launch(&self, stream: &Stream) -> Result<()> {
        // SAFETY: graph and stream are alive, the rest is this function's contract.
        unsafe { call!(cuGraphLaunch(self.raw, stream.as_inner())) }
    }

    /// Does ahead of the first launch what that launch would otherwise pay for.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        // SAFETY: graph and stream are alive; nothing of the graph runs.
        unsafe { call!(cuGraphUpload(self.raw, stream.as_inner())) }
    }

    /// Takes over the parameters of `graph`, which must have the same shape; much cheaper than instantiating anew.
    ///
    /// # Errors
    /// When the shapes differ; this graph then stays as it is.
    pub fn update(&mut self, graph: &Graph) -> Result<()> {
        let (mut node, mut result) = (std::ptr::null_mut(), 0);
        // SAFETY: both graphs are alive, node and result are locals to write to.
        unsafe { call!(cuGraphExecUpdate(self.raw, graph.raw, &mut node, &mut result)) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the graph is destroyed once. An error cannot be reported from here.
        let _ = unsafe { call!(cuGraphDestroy(self.raw)) };
    }
}

impl Drop for ExecutableGraph {
    fn drop(&mut self) {
        // SAFETY: as for `Graph`; the driver lets a running launch finish.
        let _ = unsafe { call!(cuGraphExecDestroy(self.raw)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cust::memory::DeviceBuffer;

    #[test]
    fn a_default_stream_is_refused_before_the_driver_sees_it() {
        let stream = crate::stream::DefaultStream::legacy();
        let error = capture(&stream, CaptureMode::default(), |_| Ok(())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a default stream cannot be captured: use a stream of your own"
        );
    }

    #[test]
    fn captured_work_runs_when_the_graph_does() {
        let _context = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let mut buffer = DeviceBuffer::<u32>::zeroed(64).unwrap();
        cust::context::CurrentContext::synchronize().unwrap();
        let graph = capture(&stream, CaptureMode::default(), |stream| {
            // SAFETY: the buffer outlives the graph's launch below.
            Ok(unsafe { buffer.set_32_async(7, stream) }?)
        })
        .unwrap();
        assert_eq!(graph.node_count().unwrap(), 1);
        stream.synchronize().unwrap();
        assert_eq!(buffer.as_host_vec().unwrap(), [0; 64]);
        let executable = graph.instantiate().unwrap();
        executable.upload(&stream).unwrap();
        // SAFETY: the buffer is alive until the stream was waited for.
        unsafe { executable.launch(&stream) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(buffer.as_host_vec().unwrap(), [7; 64]);
    }
}
