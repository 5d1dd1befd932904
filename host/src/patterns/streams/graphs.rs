//! # Graphs: work that is recorded once is launched with one call
//!
//! Shows: launching a kernel costs the host more time than a small kernel takes; a graph launches them all at once.
//!
//! A stream is fed kernel by kernel, and each launch is a call of the driver. When the kernels are shorter than the
//! call, the device waits for the host:
//!
//! ```text
//! one_by_one     host   |call|call|call|call|
//!                device       k    k    k    k        the time of a call per kernel
//! recorded_once  host   |call|
//!                device       kkkk                    the time of a kernel per kernel
//! ```
//!
//! Recording is a capture: between begin and end, what is enqueued on the stream becomes the nodes of a graph instead
//! of running. The graph is then instantiated, which is where the driver does once what it otherwise does per launch.
//! The graph holds the kernels' arguments, addresses included: the same memory is used at each launch.
//!
//! | variant | change from the previous one | calls of the driver |
//! |---|---|---|
//! | `one_by_one` | a launch per kernel | a launch per kernel |
//! | `recorded_anew` | each run captures the launches, instantiates the graph and launches it | a launch per kernel, and the graph's making |
//! | `recorded_once` | the graph was made and uploaded before; a run launches it | one |
//!
//! Expected: about 2.5 us per kernel one by one and 1.4 us in a graph, for kernels of 64 KiB. Recording anew costs more
//! than it saves: a graph pays when it is launched many times. Kernels longer than a launch call gain nothing, because
//! the host is ahead of the device anyway.
//!
//! The time is that between two events around the host's calls on an idle stream; divide it by the number of kernels.
//! Each kernel works on the result of the one before, so that none may be left out or change places.
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Graphs"; the times per launch: RRZE gpu-benches, gpu-small-kernels, GH200.

use anyhow::Result;
use coalesce::data::{Data, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Limit, Output, Pattern, Procedure, Size, Sweep, Variant,
};
use cuda_host::Gpu;
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::graph::{CaptureMode, ExecutableGraph, capture};
use kernels::streams::graphs::{FACTOR, THREADS_PER_BLOCK, graphs_step};

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
    sweeps: &[Sweep { dimension: 1, values: &[1, 2, 4, 16, 64], variants: &[0, 1, 2] }],
    case,
    bytes,
    floor: |_, size| Some((Limit::Launch, kernels(size))),
    variants: &[
        Variant::host("one_by_one", "a launch per kernel", |_, case, size| {
            Ok(Box::new(Chain::new(case, size, Mode::OneByOne)?))
        }),
        Variant::host(
            "recorded_anew",
            "each run captures the launches, instantiates the graph and launches it",
            |_, case, size| Ok(Box::new(Chain::new(case, size, Mode::RecordedAnew)?)),
        ),
        Variant::host(
            "recorded_once",
            "the graph was made and uploaded before; a run launches it",
            |gpu, case, size| {
                let mut chain = Chain::new(case, size, Mode::RecordedAnew)?;
                let graph = chain.record(gpu)?;
                graph.upload(gpu.stream())?;
                chain.mode = Mode::RecordedOnce(graph);
                Ok(Box::new(chain))
            },
        ),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, kernels] = size.get();
    let source = random.u32s(n);
    Case {
        outputs: vec![Output::exact(Data::U32(reference(&source, kernels)))],
        inputs: vec![Data::U32(source)],
    }
}

fn reference(source: &[u32], kernels: usize) -> Vec<u32> {
    let step = |value: u32, kernel: usize| value.wrapping_mul(FACTOR).wrapping_add(kernel as u32);
    source.iter().map(|value| (0..kernels).fold(*value, step)).collect()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

fn kernels(size: &Size) -> usize {
    let [_, kernels] = size.get();
    kernels
}

/// How the kernels are launched.
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
}

impl Chain {
    fn new(case: &Case, size: &Size, mode: Mode) -> Result<Chain> {
        let [n, kernels] = size.get();
        Ok(Chain {
            mode,
            source: DeviceBuffer::from_slice(bytemuck::cast_slice(case.inputs[0].bytes()))?,
            target: DeviceBuffer::from_slice(&vec![u32::from_ne_bytes([POISON; 4]); n])?,
            kernels: kernels as u32,
        })
    }

    /// Enqueues every kernel, or records it when the stream is captured.
    fn enqueue(&self, step: &Function<'_>, stream: &Stream) -> cust_ext::Result<()> {
        let n = self.source.len() as u32;
        let mut source = self.source.as_device_ptr();
        let target = self.target.as_device_ptr();
        for kernel in 0..self.kernels {
            let grid = n.div_ceil(THREADS_PER_BLOCK);
            // SAFETY: the kernel takes two pointers to n elements, n and a number; the grid covers n; source and target
            // are two arrays, or one; both live until the stream was waited for.
            unsafe {
                cust::launch!(step<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, kernel))?
            };
            source = target;
        }
        Ok(())
    }

    /// Makes a graph of the kernels.
    fn record(&self, gpu: &Gpu) -> Result<ExecutableGraph> {
        let step = gpu.module().get_function(graphs_step.name())?;
        let graph =
            capture(gpu.stream(), CaptureMode::default(), |stream| self.enqueue(&step, stream))?;
        Ok(graph.instantiate()?)
    }
}

impl Procedure for Chain {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let recorded;
        let graph = match &self.mode {
            Mode::OneByOne => {
                let step = gpu.module().get_function(graphs_step.name())?;
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
