//! # Overlap: two copy engines and the multiprocessors can work at once
//!
//! Shows: work in pieces on several streams keeps upload, kernel and download busy at the same time.
//!
//! A device has an engine for copies to it, one for copies from it, and its multiprocessors. Work on one stream
//! uses one of them after the other. In pieces on several streams they work on different pieces:
//!
//! ```text
//! serial       up 0123                   n = 4 pieces     up     0123
//!              kernel   0123                              kernel  0123
//!              down         0123                          down     0123
//! ```
//!
//! | variant | change from the previous one | engines at once | host |
//! |---|---|---|---|
//! | `serial` | copies that the host waits for | one | waits for each step |
//! | `one_stream` | in pieces, asynchronously, all on one stream | one | free |
//! | `two_engines` | a stream per piece; the result stays on the device | upload and kernel | free |
//! | `depth_first` | the result comes down, too; piece by piece | three | free |
//! | `breadth_first` | all uploads, then all kernels, then all downloads | three | free |
//! | `host_after` | as `depth_first`, then the host sums an eighth of the source | three | waits, then works |
//! | `host_beside` | the host sums while the device works | three | works |
//! | `pageable` | as `depth_first`, from and to pageable memory | one | waits in the calls |
//! | `h2d` | the part alone | upload | free |
//! | `kernel` | the part alone | kernel | free |
//! | `d2h` | the part alone | download | free |
//! | `bidirectional` | an upload and a download, nothing in pieces | both copy engines | free |
//!
//! Expected: with the times tE of the kernel and tT of the upload, `two_engines` takes tE + tT/n if tE > tT, else
//! tT + tE/n. With three engines and their times u, k and d it is
//!
//! ```text
//! max(u, k, d) + (u + k + d - max(u, k, d)) / n
//! ```
//!
//! if each copy has the bus to itself, or waits for the kernel anyway, as at the benchmark's number of steps. With few
//! steps the copies are the longest part, and in both directions they share what the bus carries: an upload and a
//! download at once take c (`bidirectional`), which is longer than u and d and takes the place of the largest of the three.
//!
//! More pieces pay the fixed costs of copies and launches, and of going from one engine to another, more often, so that
//! there is a best n; large arrays, for which these costs are small, come near to the formula.
//! Both orders of enqueueing are alike on devices with a queue per stream. `host_beside` takes the longer of both instead of the sum. `pageable` is asynchronous by name
//! only: no call fails, nothing overlaps, because the driver stages each piece through its own page-locked memory
//! while the host waits. Kernels of different streams may run together, which the formula leaves out.
//!
//! A step of the kernel is 16 multiplications and additions, in registers. `serial`, `depth_first` and `kernel` over the
//! number of steps show where the kernel becomes the longest part.
//!
//! Preconditions: n at most 2^31.
//!
//! Source: CUDA C++ Best Practices Guide, "Asynchronous and Overlapping Transfers with Computation"; CUDA C++
//! Programming Guide, "Asynchronous Concurrent Execution".

use anyhow::Result;
use coalesce::data::{Data, Element, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Limit, Output, Pattern, Procedure, Size, Sweep, Variant,
};
use cuda_host::{Gpu, Streams};
use cust::function::Function;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use kernels::streams::overlap::{LESS, ROUNDS, THREADS_PER_BLOCK, overlap_iterate};
use rayon::prelude::*;
use std::ops::{DerefMut, Range};
use std::rc::Rc;

pub const PATTERN: Pattern = Pattern {
    name: "overlap",
    group: "streams",
    doc_source: include_str!("overlap.rs"),
    dimensions: &[
        Dimension::extent("n", "words of four bytes", 1),
        Dimension::amount("steps", "steps of the kernel per word", 0),
        Dimension::amount("pieces", "pieces, each on its stream", 1),
    ],
    verify_sizes: &[
        &[1, 1, 1],
        &[1, 2, 4],
        &[31, 0, 2],
        &[32, 3, 4],
        &[33, 1, 16],
        &[255, 2, 3],
        &[257, 1, 4],
        &[100_003, 2, 7],
        &[1 << 18, 1, 8],
    ],
    bench_size: &[1 << 24, 100, 8],
    count_size: &[1 << 15, 100, 8],
    sweeps: &[
        Sweep { dimension: 2, values: &[1, 2, 4, 8, 16, 32], variants: &[2, 3, 4] },
        Sweep { dimension: 1, values: &[0, 25, 50, 75, 100, 150, 200], variants: &[0, 3, 9] },
    ],
    case,
    bytes: both,
    floor,
    variants: &[
        Variant::host("serial", "copies that the host waits for", |_, case, size| {
            build(case, size, Plan::Serial)
        }),
        Variant::host(
            "one_stream",
            "in pieces, asynchronously, all on one stream",
            |_, case, size| build(case, size, Plan::OneStream),
        ),
        Variant::host(
            "two_engines",
            "a stream per piece; the result stays on the device",
            |_, case, size| build(case, size, Plan::TwoEngines),
        )
        .moving(one),
        Variant::host(
            "depth_first",
            "the result comes down, too; piece by piece",
            |_, case, size| build(case, size, Plan::DepthFirst),
        ),
        Variant::host(
            "breadth_first",
            "all uploads, then all kernels, then all downloads",
            |_, case, size| build(case, size, Plan::BreadthFirst),
        ),
        Variant::host(
            "host_after",
            "as `depth_first`, then the host sums an eighth of the source",
            |_, case, size| build(case, size, Plan::HostAfter),
        )
        .writing(&[0, 2]),
        Variant::host("host_beside", "the host sums while the device works", |_, case, size| {
            build(case, size, Plan::HostBeside)
        })
        .writing(&[0, 2]),
        Variant::host(
            "pageable",
            "as `depth_first`, from and to pageable memory",
            |_, case, size| build(case, size, Plan::Pageable),
        ),
        Variant::host("h2d", "the part alone", |_, case, size| build(case, size, Plan::Upload))
            .writing(&[1])
            .moving(one),
        Variant::host("kernel", "the part alone", |_, case, size| build(case, size, Plan::Kernel)),
        Variant::host("d2h", "the part alone", |_, case, size| build(case, size, Plan::Download))
            .writing(&[1])
            .moving(one),
        Variant::host(
            "bidirectional",
            "an upload and a download, nothing in pieces",
            |_, case, size| build(case, size, Plan::BothWays),
        )
        .writing(&[1, 1]),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, steps, _] = size.get();
    let source = random.f32s(n);
    Case {
        outputs: vec![
            Output::exact(Data::F32(reference(&source, steps))),
            Output::exact(Data::F32(source.clone())),
            Output::exact(Data::U32(vec![sum_of_eighth(&source)])),
        ],
        inputs: vec![Data::F32(source)],
    }
}

/// Where the iterations end. The words of a chunk go through each round together, so that the compiler takes several
/// at once.
fn reference(source: &[f32], steps: usize) -> Vec<f32> {
    let mut words = source.to_vec();
    words.par_chunks_mut(64).for_each(|chunk| {
        for _ in 0..steps * ROUNDS as usize {
            for word in &mut *chunk {
                *word = *word * *word - LESS;
            }
        }
    });
    words
}

/// The sum that the host makes: of the bits of the words, which no order of adding changes.
fn sum_of_eighth(source: &[f32]) -> u32 {
    let part = &source[..source.len().div_ceil(8)];
    part.iter().fold(0, |sum, word| sum.wrapping_add(word.to_bits()))
}

/// Over the bus in both directions, or through the kernel.
fn both(size: &Size) -> Bytes {
    let [n, _, _] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Over the bus in one direction.
fn one(size: &Size) -> Bytes {
    let [n, _, _] = size.get();
    Bytes { read: 4 * n, written: 0 }
}

/// The bus; the kernel has no ceiling of its own.
fn floor(variant: &Variant, size: &Size) -> Option<(Limit, usize)> {
    match variant.name {
        "kernel" => None,
        "two_engines" | "h2d" => Some((Limit::Upload, one(size).total())),
        "d2h" => Some((Limit::Download, one(size).total())),
        _ => Some((Limit::BothWays, both(size).total())),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    Serial,
    OneStream,
    TwoEngines,
    DepthFirst,
    BreadthFirst,
    HostAfter,
    HostBeside,
    Pageable,
    Upload,
    Kernel,
    Download,
    BothWays,
}

const UNTOUCHED: f32 = f32::from_ne_bytes([POISON; 4]);

/// Host memory, page-locked or not.
type Words = Box<dyn DerefMut<Target = [f32]>>;

/// Arrays on both sides. The device's buffers are dropped first, which waits for whoever uses the host's.
struct Overlap {
    source: DeviceBuffer<f32>,
    target: DeviceBuffer<f32>,
    host_source: Words,
    host_target: Words,
    streams: Rc<Streams>,
    pieces: Vec<Range<usize>>,
    steps: u32,
    sum: u32,
    plan: Plan,
}

fn build(case: &Case, size: &Size, plan: Plan) -> Result<Box<dyn Procedure>> {
    let [n, steps, pieces] = size.get();
    let words = f32::view(&case.inputs[0]).expect("the case holds f32");
    let poison = vec![UNTOUCHED; n];
    let host = |values: &[f32]| -> Result<Words> {
        Ok(match plan {
            Plan::Pageable => Box::new(values.to_vec()),
            _ => Box::new(HostBuffer::from_slice(values, HostFlags::PINNED)?),
        })
    };
    let in_place = matches!(plan, Plan::Kernel | Plan::Download);
    let target = if plan == Plan::BothWays { words } else { &poison };
    let pieces: Vec<_> = (0..pieces)
        .map(|piece| n * piece / pieces..n * (piece + 1) / pieces)
        .filter(|piece| !piece.is_empty())
        .collect();
    Ok(Box::new(Overlap {
        source: DeviceBuffer::from_slice(if in_place { words } else { &poison })?,
        target: DeviceBuffer::from_slice(target)?,
        host_source: host(words)?,
        host_target: host(&poison)?,
        streams: Rc::new(Streams::new(if plan == Plan::BothWays { 2 } else { pieces.len() })?),
        pieces,
        steps: steps as u32,
        sum: 0,
        plan,
    }))
}

impl Overlap {
    fn upload(&self, piece: &Range<usize>, stream: &Stream) -> Result<()> {
        let mut target = self.source.index(piece.clone());
        // SAFETY: nobody writes the host's source, and `self` owns both buffers, the device's dropped first.
        Ok(unsafe { target.async_copy_from(&self.host_source[piece.clone()], stream) }?)
    }

    fn compute(&self, iterate: &Function<'_>, piece: &Range<usize>, stream: &Stream) -> Result<()> {
        let (source, target) = (self.source.index(piece.clone()), self.target.index(piece.clone()));
        let (source, target) = (source.as_device_ptr(), target.as_device_ptr());
        let (n, steps) = (piece.len() as u32, self.steps);
        let grid = n.div_ceil(THREADS_PER_BLOCK);
        // SAFETY: the grid covers n threads; both pieces hold n words and live in `self`, which waits for the device
        // when dropped, and are of different allocations.
        unsafe {
            cust::launch!(iterate<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, steps))?
        };
        Ok(())
    }

    fn download(&mut self, piece: &Range<usize>, stream: &Stream) -> Result<()> {
        let from = if self.plan == Plan::Download { &self.source } else { &self.target };
        let target = &mut self.host_target[piece.clone()];
        // SAFETY: the host reads its target only after the device was waited for; `self` owns both buffers.
        Ok(unsafe { from.index(piece.clone()).async_copy_to(target, stream) }?)
    }

    fn serial(&mut self, gpu: &Gpu, iterate: &Function<'_>) -> Result<()> {
        self.source.copy_from(&self.host_source[..])?;
        self.compute(iterate, &(0..self.host_source.len()), gpu.stream())?;
        gpu.synchronize()?;
        Ok(self.target.copy_to(&mut self.host_target[..])?)
    }

    /// Every piece goes through all steps on its stream.
    fn depth_first(&mut self, streams: &Streams, iterate: &Function<'_>) -> Result<()> {
        for (index, piece) in self.pieces.clone().into_iter().enumerate() {
            let stream = streams.enter(index)?;
            self.upload(&piece, stream)?;
            self.compute(iterate, &piece, stream)?;
            if self.plan != Plan::TwoEngines {
                self.download(&piece, stream)?;
            }
        }
        Ok(())
    }

    /// Every step is enqueued for all pieces.
    fn breadth_first(&mut self, streams: &Streams, iterate: &Function<'_>) -> Result<()> {
        let pieces = self.pieces.clone();
        for (index, piece) in pieces.iter().enumerate() {
            self.upload(piece, streams.enter(index)?)?;
        }
        for (piece, stream) in pieces.iter().zip(streams.all()) {
            self.compute(iterate, piece, stream)?;
        }
        for (piece, stream) in pieces.iter().zip(streams.all()) {
            self.download(piece, stream)?;
        }
        Ok(())
    }

    /// The host's own work.
    fn add_up(&mut self, gpu: &Gpu) {
        self.sum = sum_of_eighth(&self.host_source);
        gpu.host_has_read(&self.host_source[..self.host_source.len().div_ceil(8)]);
    }
}

impl Procedure for Overlap {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let iterate = gpu.module().get_function(overlap_iterate.name())?;
        let all = 0..self.host_source.len();
        match self.plan {
            Plan::Serial => self.serial(gpu, &iterate),
            Plan::OneStream => {
                for piece in self.pieces.clone() {
                    self.upload(&piece, gpu.stream())?;
                    self.compute(&iterate, &piece, gpu.stream())?;
                    self.download(&piece, gpu.stream())?;
                }
                Ok(())
            }
            Plan::Upload => self.upload(&all, gpu.stream()),
            Plan::Kernel => self.compute(&iterate, &all, gpu.stream()),
            Plan::Download => self.download(&all, gpu.stream()),
            Plan::BothWays => {
                let streams = Rc::clone(&self.streams);
                streams.fork(gpu)?;
                self.upload(&all, streams.enter(0)?)?;
                self.download(&all, streams.enter(1)?)?;
                streams.join(gpu)
            }
            plan => {
                let streams = Rc::clone(&self.streams);
                streams.fork(gpu)?;
                if plan == Plan::BreadthFirst {
                    self.breadth_first(&streams, &iterate)?;
                } else {
                    self.depth_first(&streams, &iterate)?;
                }
                streams.join(gpu)?;
                if plan == Plan::HostAfter {
                    gpu.synchronize()?;
                }
                if matches!(plan, Plan::HostAfter | Plan::HostBeside) {
                    self.add_up(gpu);
                }
                Ok(())
            }
        }
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        let words = match self.plan {
            Plan::Upload => self.source.as_host_vec()?,
            Plan::Kernel | Plan::TwoEngines => self.target.as_host_vec()?,
            _ => self.host_target.to_vec(),
        };
        let also = match self.plan {
            Plan::HostAfter | Plan::HostBeside => Some(Data::U32(vec![self.sum])),
            Plan::BothWays => Some(Data::F32(self.source.as_host_vec()?)),
            _ => None,
        };
        Ok(std::iter::once(Data::F32(words)).chain(also).collect())
    }
}
