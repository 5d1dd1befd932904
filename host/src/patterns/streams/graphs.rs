//! # Graphs: launches that are prepared once and started with one call
//!
//! Shows: launching a small [kernel] takes the [host] longer than the kernel runs; a [graph] starts
//! all of them with one call, which pays once the graph is launched more than once.
//!
//! The surprise: making a graph costs more than it saves. `recorded_anew` (1.377 ms), which makes
//! its graph in each run, is slower than `one_by_one` (1.184 ms), which has none. Only a graph that
//! was made earlier is fast: `recorded_once` (0.369 ms).
//!
//! Each [launch] is a call of the driver: it checks the arguments, writes a command and tells the
//! [device]. This [launch overhead] is some microseconds. A kernel that works on 64 KiB needs less
//! than that, so the device waits for the host:
//!
//! ```text
//! time ->
//! one_by_one      host    |call|call|call|call|
//!                 device      k    k    k    k         one kernel per call of the driver
//! recorded_once   host    |call|
//!                 device      kkkk                     the kernels follow each other at once
//! ```
//!
//! A graph is the list of the kernels, their arguments and their order. It is made in two steps: a
//! [stream] is captured (`cudaStreamBeginCapture` .. `cudaStreamEndCapture`), so that what is
//! enqueued becomes nodes of the graph instead of running; then the graph is instantiated
//! (`cudaGraphInstantiate`), where the driver does once what it otherwise does in each launch.
//!
//! 1. `one_by_one` launches 256 kernels. The timeline shows gaps between them on the device: the
//!    host's calls take longer than the kernels.
//! 2. `recorded_anew` captures the launches, instantiates the graph and launches it, in each run.
//!    The gaps on the device are gone, but the host makes the same calls as before, and more.
//! 3. `recorded_once` makes the graph before and sends it to the device ahead of time
//!    (`cudaGraphUpload`). A run is one call, `cudaGraphLaunch`. It costs flexibility: the graph
//!    holds the kernels' arguments, so the same memory is used at each launch.
//!
//! 4. `overlapped` is `one_by_one` with programmatic dependent launch: a launch attribute lets a kernel
//!    start while the one ahead of it still runs, and `griddepcontrol.wait` in the kernel
//!    (`grid::wait_for_previous`) waits until the other's results are there. It hides the start of each
//!    kernel. The timeline shows no gain, because the host's calls are the limit. Compute capability
//!    9.0.
//! 5. `recorded_overlapped` captures the same launches into a graph, where the host is no limit: a kernel
//!    is started, and has computed its index, when the one ahead of it ends.
//!
//! | variant | change from the previous one | calls of the driver |
//! |---|---|---|
//! | `one_by_one` | one launch per kernel | one per kernel |
//! | `recorded_anew` | each run captures the launches, instantiates the graph and launches it | one per kernel, and those that make the graph |
//! | `recorded_once` | the graph was made before the run, which only launches it | one |
//! | `overlapped` | one launch per kernel, which may start before the previous one has ended (sm_90) | one per kernel |
//! | `recorded_overlapped` | a graph of these launches, made before the run (sm_90) | one |
//!
//! Expected: for each of 256 kernels of 64 KiB, `one_by_one` (1184 us) takes 4.6 us (`one_by_one`
//! / 256) and `recorded_once` (368.8 us) takes 1.4 us (`recorded_once` / 256). `recorded_anew`
//! (1377 us) adds the making of the graph. `overlapped` waits for the host as `one_by_one` does, and
//! `recorded_overlapped` hides a part of each kernel's start. The time is that between two [events][event] around the
//! host's calls on an idle stream. Each kernel works on the result of the one before, so that none
//! may be left out or change places.
//!
//! In CUDA C++, then in Rust. `capture` takes the enqueuing code as a closure, so the end cannot be
//! forgotten:
//!
//! ```cuda
//! cudaStreamBeginCapture(stream, mode);
//! for (int k = 0; k < 256; k++) step<<<grid, 256, 0, stream>>>(source, target, n, k);
//! cudaStreamEndCapture(stream, &graph);
//! cudaGraphInstantiate(&executable, graph, 0);
//! cudaGraphLaunch(executable, stream);
//! // let graph = capture(stream, mode, |stream| enqueue(&step, stream))?;
//! // let executable = graph.instantiate()?;
//! // unsafe { executable.launch(stream) }?;
//! ```
//!
//! Common misconception: "a graph makes kernels faster". The kernels are the same. A graph removes
//! the host's part between them, and helps only where the device waits for the host.
//!
//! Common misconception: "a graph always pays". Kernels that take longer than a launch gain
//! nothing, because the host enqueues them faster than the device works them off.
//!
//! Questions:
//! - How often must a graph be launched to pay? Making it costs 1008 us
//!   (`recorded_anew` - `recorded_once`), and each launch saves 815 us
//!   (`one_by_one` - `recorded_once`). So it pays after 1.2 launches
//!   ((`recorded_anew` - `recorded_once`) / (`one_by_one` - `recorded_once`)): a graph that is
//!   launched once does not pay, and one that is launched again does.
//! - What if the arguments change? `cudaGraphExecKernelNodeSetParams` changes those of a kernel
//!   without making the graph anew. Or let the kernels read what changes from memory.
//! - Why do launches overlap at all with the kernels? A launch only enqueues. The host is ahead of
//!   the device as long as its calls are shorter than the kernels; here they are longer.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `one_by_one` | 1.184 | 0 | 35 | 1.00 |
//! | `recorded_anew` | 1.377 | 0 | 30 | 0.86 |
//! | `recorded_once` | 0.369 | 0 | 113 | 3.21 |
//! | `overlapped` | 1.016 | 0 | 41 | 1.17 |
//! | `recorded_overlapped` | 0.186 | 1 | 225 | 6.36 |
//! <!-- /measured -->
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Graphs"; the times per launch: RRZE gpu-benches,
//! gpu-small-kernels, GH200.
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy::bytes;
use crate::prelude::*;
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::graph::{CaptureMode, ExecutableGraph, capture};
use cust_ext::launch::Launch;
use kernels::streams::graphs::{FACTOR, THREADS_PER_BLOCK, graphs_step, graphs_step_early};

pub const PATTERN: Pattern = Pattern {
    name: "graphs",
    group: "streams",
    doc_source: include_str!("graphs.rs"),
    dimensions: &[
        Dimension::extent("n", "elements that each kernel works on", 1),
        Dimension::amount("kernels", "kernels, each after the one before", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[32, 3],
        &[33, 31],
        &[255, 5],
        &[256, 1],
        &[257, 33],
        &[1001, 100],
        &[16_384, 3],
    ],
    bench_size: &[1 << 14, 256],
    count_size: &[1 << 14, 256],
    sweeps: &[Sweep { dimension: 1, values: &[1, 2, 4, 16, 64], variants: &[0, 1, 2, 3, 4] }],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::Launch, kernels(size))),
    variants: &[
        Variant::host("one_by_one", |_, case, size| {
            Ok(Box::new(Chain::new(case, size, Mode::OneByOne)?))
        }),
        Variant::host("recorded_anew", |_, case, size| {
            Ok(Box::new(Chain::new(case, size, Mode::RecordedAnew)?))
        }),
        Variant::host("recorded_once", |gpu, case, size| {
            let mut chain = Chain::new(case, size, Mode::RecordedAnew)?;
            let graph = chain.record(gpu)?;
            graph.upload(gpu.stream())?;
            chain.mode = Mode::RecordedOnce(graph);
            Ok(Box::new(chain))
        }),
        Variant::host("overlapped", |_, case, size| {
            Ok(Box::new(Chain { overlaps: true, ..Chain::new(case, size, Mode::OneByOne)? }))
        })
        .min_compute_capability(90),
        Variant::host("recorded_overlapped", |gpu, case, size| {
            let mut chain = Chain { overlaps: true, ..Chain::new(case, size, Mode::RecordedAnew)? };
            let graph = chain.record(gpu)?;
            graph.upload(gpu.stream())?;
            chain.mode = Mode::RecordedOnce(graph);
            Ok(Box::new(chain))
        })
        .min_compute_capability(90),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, kernels] = size.get();
    let source = random.u32s(n);
    Case::exact(vec![Data::U32(reference(&source, kernels))], vec![Data::U32(source)])
}

fn reference(source: &[u32], kernels: usize) -> Vec<u32> {
    let step = |value: u32, kernel: usize| value.wrapping_mul(FACTOR).wrapping_add(kernel as u32);
    source.iter().map(|value| (0..kernels).fold(*value, step)).collect()
}

fn kernels(size: &Size) -> usize {
    let [_, kernels] = size.get();
    kernels
}

/// The way in which the kernels are launched.
enum Mode {
    OneByOne,
    RecordedAnew,
    RecordedOnce(ExecutableGraph),
}

/// Kernels that each work on the result of the one before.
struct Chain {
    mode: Mode,
    source: DeviceBuffer<u32>,
    target: DeviceBuffer<u32>,
    kernels: u32,
    /// Each kernel may start before the one ahead of it has ended.
    overlaps: bool,
}

impl Chain {
    fn new(case: &Case, size: &Size, mode: Mode) -> Result<Chain> {
        let [n, kernels] = size.get();
        Ok(Chain {
            mode,
            source: DeviceBuffer::from_slice(bytemuck::cast_slice(case.inputs[0].bytes()))?,
            target: DeviceBuffer::from_slice(&vec![u32::from_ne_bytes([POISON; 4]); n])?,
            kernels: kernels as u32,
            overlaps: false,
        })
    }

    /// Enqueues every kernel, or records it when the stream is captured.
    fn enqueue(&self, step: &Function<'_>, stream: &Stream) -> cust_ext::Result<()> {
        let n = self.source.len() as u32;
        let mut source = self.source.as_device_ptr();
        let target = self.target.as_device_ptr();
        for kernel in 0..self.kernels {
            let grid = n.div_ceil(THREADS_PER_BLOCK);
            if self.overlaps {
                let launch =
                    Launch { overlap_previous: true, ..Launch::new(grid, THREADS_PER_BLOCK) };
                let (mut source, mut target, mut n, mut kernel) = (source, target, n, kernel);
                let arguments = [
                    (&raw mut source).cast(),
                    (&raw mut target).cast(),
                    (&raw mut n).cast(),
                    (&raw mut kernel).cast(),
                ];
                // SAFETY: as below; the kernel waits for the one ahead of it before it accesses memory.
                unsafe { launch.run(step, stream, &arguments)? };
            } else {
                // SAFETY: the kernel takes two pointers to n elements, n and a number; the grid covers n; source and target
                // are two arrays, or one; both live until the stream was waited for.
                unsafe {
                    cust::launch!(step<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, kernel))?
                };
            }
            source = target;
        }
        Ok(())
    }

    fn step<'a>(&self, gpu: &'a Gpu) -> Result<Function<'a>> {
        let kernel = if self.overlaps { graphs_step_early } else { graphs_step };
        Ok(gpu.module().get_function(kernel.name())?)
    }

    fn record(&self, gpu: &Gpu) -> Result<ExecutableGraph> {
        let step = self.step(gpu)?;
        let graph =
            capture(gpu.stream(), CaptureMode::default(), |stream| self.enqueue(&step, stream))?;
        Ok(graph.instantiate()?)
    }
}

impl HostWork for Chain {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let recorded;
        let graph = match &self.mode {
            Mode::OneByOne => {
                let step = self.step(gpu)?;
                return Ok(self.enqueue(&step, gpu.stream())?);
            }
            Mode::RecordedAnew => {
                recorded = self.record(gpu)?;
                &recorded
            }
            Mode::RecordedOnce(graph) => graph,
        };
        // SAFETY: both arrays live until the stream was waited for, and no other work uses them.
        Ok(unsafe { graph.launch(gpu.stream()) }?)
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let mut result = vec![0; self.target.len()];
        self.target.copy_to(&mut result)?;
        Ok(vec![Data::U32(result)])
    }
}
