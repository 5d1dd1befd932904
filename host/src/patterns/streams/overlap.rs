//! # Overlap: copies in both directions and kernels can run at the same time
//!
//! Shows: work in pieces on several [streams][stream] keeps H2D copies, kernels and D2H copies busy
//! at the same time; asynchronous calls on one stream overlap nothing.
//!
//! The surprise: cutting the work into 8 pieces and making every call asynchronous, `one_stream`
//! (4.369 ms), is slower than the plain program that waits after each step, `serial` (4.272 ms).
//! Only a stream per piece helps, `depth_first` (2.053 ms). And the same calls on [pageable
//! memory], `pageable` (22.78 ms), are the slowest of all, without any error.
//!
//! A [device] has three parts that can work at once: a [copy engine] for copies from the [host] to
//! the device ([H2D]), one for copies back ([D2H]), and the [multiprocessors][multiprocessor] that
//! run [kernels][kernel]. Work on one stream is ordered, so it uses one of the three after the
//! other. Pieces of the array are independent of each other, and on different streams they may use
//! different parts:
//!
//! ```text
//! time ->       serial                               depth_first, 4 pieces on 4 streams
//! H2D engine    |0 1 2 3|                            |0|1|2|3|
//! kernels               |0 1 2 3|                      |0|1|2|3|
//! D2H engine                    |0 1 2 3|                |0|1|2|3|
//! ```
//!
//! 1. `serial`. The timeline shows that two of the three parts are always idle. `copy_from` and
//!    `copy_to` (`cudaMemcpy`) wait for the copy, and the host waits for the kernel.
//! 2. `one_stream` cuts the array into pieces and enqueues everything with `async_copy_from`
//!    (`cudaMemcpyAsync`). The host is free, but the device does the same as before: the order of
//!    the stream forbids any overlap, and each piece pays the fixed costs of a copy.
//! 3. `two_engines` gives each piece its own stream: the H2D copy of a piece runs while the kernel
//!    works on the piece before. It costs a stream per piece and [pinned memory].
//! 4. `depth_first` adds the D2H copies: all three parts work. Each piece is enqueued completely
//!    before the next.
//! 5. `breadth_first` enqueues all H2D copies, then all kernels, then all D2H copies. With a copy
//!    engine per direction this changes nothing. A device with one copy engine does its copies in the
//!    order of the calls: in `depth_first` the second H2D copy then waits behind the first D2H copy,
//!    which waits for its kernel, and nothing overlaps. `--device virtual:one_copy_engine` shows it.
//!    So ask for `asyncEngineCount` before you choose.
//! 6. `host_after` gives the CPU work of its own, after it has waited for the device; `host_beside`
//!    does that work while the device is busy, so it is free.
//! 7. `pageable` is `depth_first` without pinned memory. The driver must stage each piece with the
//!    CPU, so every call waits, and nothing overlaps.
//! 8. `default_stream` is the plain form of the Guide: an asynchronous H2D copy and a kernel on the
//!    [legacy default stream], then a function of the host's. No stream is created. The copy and the
//!    kernel are in order, because they are on one stream, and the host works beside both; then a
//!    copy that blocks fetches the result.
//! 9. `h2d`, `kernel`, `d2h` and `bidirectional` measure the parts alone, for the formula below.
//!
//! | variant | change from the previous one | parts that work at once | host |
//! |---|---|---|---|
//! | `serial` | the host waits after each copy and kernel | one | waits for each step |
//! | `one_stream` | in pieces, asynchronously, all on one stream | one | free |
//! | `two_engines` | a stream per piece; the result stays on the device | H2D and kernel | free |
//! | `depth_first` | D2H copies of the results, too; each piece is enqueued completely before the next | three | free |
//! | `breadth_first` | all H2D copies are enqueued first, then all kernels, then all D2H copies | three | free |
//! | `host_after` | as `depth_first`; then the host sums an eighth of the source | three | waits, then works |
//! | `host_beside` | the host sums while the device works | three | works |
//! | `pageable` | as `depth_first`, from and to pageable memory | one | waits in the calls |
//! | `default_stream` | no stream is created: copy and kernel on the default stream, the host's sum, a copy back | one | works |
//! | `h2d` | the H2D copy alone | H2D | free |
//! | `kernel` | the kernel alone | kernel | free |
//! | `d2h` | the D2H copy alone | D2H | free |
//! | `bidirectional` | an H2D and a D2H copy at once, not in pieces | both copy engines | free |
//!
//! Expected: with the times u, k and d of H2D copy, kernel and D2H copy and n pieces
//!
//! ```text
//! time = max(u, k, d) + (u + k + d - max(u, k, d)) / n
//! ```
//!
//! The longest part runs without a gap; of the two others only one piece each sticks out, at the
//! start and at the end. Here n = 8: `kernel` (1.725 ms), `h2d` (1.234 ms) and `d2h` (1.230 ms)
//! give 2.03 ms (`kernel` + (`h2d` + `d2h`) / 8), and `depth_first` (2.053 ms) is near it.
//! `host_beside` (2.058 ms) hides the host's work, `host_after` (3.182 ms) adds it. With few steps
//! per word the copies are the longest part; then `bidirectional` (1.504 ms) takes the place of the
//! largest of the three, because both directions share a part of PCIe.
//!
//! In CUDA C++, and the same in Rust:
//!
//! ```cuda
//! for (int i = 0; i < pieces; i++) {                              // stream[i]: one per piece
//!     cudaMemcpyAsync(d_in + at[i], h_in + at[i], bytes, cudaMemcpyHostToDevice, stream[i]);
//!     iterate<<<grid, 256, 0, stream[i]>>>(d_in + at[i], d_out + at[i], n, steps);
//!     cudaMemcpyAsync(h_out + at[i], d_out + at[i], bytes, cudaMemcpyDeviceToHost, stream[i]);
//! }
//! ```
//!
//! Common misconception: "`cudaMemcpyAsync` is asynchronous". It is so only from and to pinned
//! memory. With pageable memory the call returns late and the copies of different streams wait for
//! each other. No call fails, so only a timeline shows it.
//!
//! Common misconception: "asynchronous means overlapping". Asynchronous means that the host does
//! not wait. Whether two operations overlap depends on their streams.
//!
//! Questions:
//! - Why not hundreds of pieces? Each piece pays the fixed costs of two copies and a [launch]. The
//!   curve over `pieces` gets flat at 16 to 32 pieces; small arrays have their best number earlier.
//! - Is exactly three times as fast the best that is possible? Yes, if the three parts take equally
//!   long: `serial` is u + k + d, and nothing can be shorter than the longest of them.
//! - Which part should be made faster? The longest. The curve over `steps` shows where the kernel
//!   takes over from the copies: from there on `depth_first` grows with `kernel`.
//! - Why does this kernel compute in [registers][register]? So that the three parts share nothing
//!   but PCIe: a step is 16 multiplications and additions, and copies do not slow it down.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `serial` | 4.272 | 31 | 33 | 1.00 |
//! | `one_stream` | 4.369 | 31 | 32 | 0.98 |
//! | `two_engines` | 1.898 | 35 | 64 | 2.25 |
//! | `depth_first` | 2.053 | 65 | 68 | 2.08 |
//! | `breadth_first` | 2.058 | 65 | 68 | 2.08 |
//! | `host_after` | 3.182 | 42 | 44 | 1.34 |
//! | `host_beside` | 2.058 | 65 | 68 | 2.08 |
//! | `pageable` | 22.78 | 6 | 6 | 0.19 |
//! | `default_stream` | 4.237 | 32 | 33 | 1.01 |
//! | `h2d` | 1.234 | 54 | 98 | 3.46 |
//! | `kernel` | 1.725 | 78 |  | 2.48 |
//! | `d2h` | 1.230 | 55 | 99 | 3.47 |
//! | `bidirectional` | 1.504 | 89 | 93 | 2.84 |
//! <!-- /measured -->
//!
//! Preconditions: n at most 2^31.
//!
//! Source: CUDA C++ Best Practices Guide, "Asynchronous and Overlapping Transfers with
//! Computation"; CUDA C++ Programming Guide, "Asynchronous Concurrent Execution".
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy;
use crate::prelude::*;
use coalesce::pattern::Unavailable;
use cuda_host::Streams;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::stream::DefaultStream;
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
        Sweep { dimension: 1, values: &[0, 25, 50, 75, 100, 150, 200], variants: &[0, 3, 10] },
    ],
    case,
    bytes: copy::bytes,
    minimum_time,
    variants: &[
        variant!("serial", build, Schedule::Serial),
        variant!("one_stream", build, Schedule::OneStream),
        variant!("two_engines", build, Schedule::TwoEngines).moving(copy::read),
        variant!("depth_first", build, Schedule::DepthFirst),
        variant!("breadth_first", build, Schedule::BreadthFirst),
        variant!("host_after", build, Schedule::HostAfter).writing(&[0, 2]),
        variant!("host_beside", build, Schedule::HostBeside).writing(&[0, 2]),
        variant!("pageable", build, Schedule::Pageable),
        variant!("default_stream", build, Schedule::DefaultStream).writing(&[0, 2]),
        variant!("h2d", build, Schedule::H2D).writing(&[1]).moving(copy::read),
        variant!("kernel", build, Schedule::Kernel),
        variant!("d2h", build, Schedule::D2H).writing(&[1]).moving(copy::read),
        variant!("bidirectional", build, Schedule::Bidirectional).writing(&[1, 1]),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, steps, _] = size.get();
    let source = random.f32s(n);
    Case::exact(
        vec![
            Data::F32(reference(&source, steps)),
            Data::F32(source.clone()),
            Data::U32(vec![sum_of_eighth(&source)]),
        ],
        vec![Data::F32(source)],
    )
}

/// Returns the ends of the iterations. The words of a chunk go through each round together, so that the compiler takes several
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

/// PCIe bounds all but the kernel, which has no measured peak of its own.
fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    match variant.name {
        "kernel" => None,
        "two_engines" | "h2d" => Some((Resource::HostToDevice, copy::read(size).total())),
        "d2h" => Some((Resource::DeviceToHost, copy::read(size).total())),
        _ => Some((Resource::Bidirectional, copy::bytes(size).total())),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Schedule {
    Serial,
    OneStream,
    TwoEngines,
    DepthFirst,
    BreadthFirst,
    HostAfter,
    HostBeside,
    Pageable,
    DefaultStream,
    H2D,
    Kernel,
    D2H,
    Bidirectional,
}

const UNTOUCHED: f32 = f32::from_ne_bytes([POISON; 4]);

/// Host memory, pinned or pageable.
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
    plan: Schedule,
}

fn build(gpu: &Gpu, case: &Case, size: &Size, plan: Schedule) -> Result<Box<dyn HostWork>> {
    if plan == Schedule::Bidirectional
        && attribute(gpu.device(), DeviceAttribute::AsyncEngineCount)? < 2
    {
        let reason =
            "this device has one copy engine, so that it copies in one direction at a time";
        return Err(Unavailable(reason.to_owned()).into());
    }
    let [n, steps, pieces] = size.get();
    let words = f32::view(&case.inputs[0]).expect("the case holds f32");
    let poison = vec![UNTOUCHED; n];
    let host = |values: &[f32]| -> Result<Words> {
        Ok(match plan {
            Schedule::Pageable => Box::new(values.to_vec()),
            _ => Box::new(HostBuffer::from_slice(values, HostFlags::PINNED)?),
        })
    };
    let in_place = matches!(plan, Schedule::Kernel | Schedule::D2H);
    let target = if plan == Schedule::Bidirectional { words } else { &poison };
    let pieces: Vec<_> = (0..pieces)
        .map(|piece| n * piece / pieces..n * (piece + 1) / pieces)
        .filter(|piece| !piece.is_empty())
        .collect();
    let streams = if plan == Schedule::Bidirectional { 2 } else { pieces.len() };
    Ok(Box::new(Overlap {
        source: DeviceBuffer::from_slice(if in_place { words } else { &poison })?,
        target: DeviceBuffer::from_slice(target)?,
        host_source: host(words)?,
        host_target: host(&poison)?,
        streams: Rc::new(Streams::new(streams)?),
        pieces,
        steps: steps as u32,
        sum: 0,
        plan,
    }))
}

impl Overlap {
    fn h2d(&self, piece: &Range<usize>, stream: &Stream) -> Result<()> {
        let mut target = self.source.index(piece.clone());
        // SAFETY: nobody writes the host's source, and `self` owns both buffers, the device's dropped first.
        Ok(unsafe { target.async_copy_from(&self.host_source[piece.clone()], stream) }?)
    }

    fn compute(&self, gpu: &Gpu, piece: &Range<usize>, stream: &Stream) -> Result<()> {
        let (source, target) = (self.source.index(piece.clone()), self.target.index(piece.clone()));
        let (source, target) = (source.as_device_ptr(), target.as_device_ptr());
        let (n, steps) = (piece.len() as u32, self.steps);
        let grid = n.div_ceil(THREADS_PER_BLOCK);
        let launcher = gpu.launcher().on(stream);
        let arguments = (source, target, n, steps);
        // SAFETY: the grid covers n threads; both pieces hold n words and live in `self`, which waits for the device
        // when dropped, and are of different allocations.
        unsafe { Ok(launcher.launch(overlap_iterate, grid, THREADS_PER_BLOCK, 0, arguments)?) }
    }

    fn d2h(&mut self, piece: &Range<usize>, stream: &Stream) -> Result<()> {
        let from = if self.plan == Schedule::D2H { &self.source } else { &self.target };
        let target = &mut self.host_target[piece.clone()];
        // SAFETY: the host reads its target only after the device was waited for; `self` owns both buffers.
        Ok(unsafe { from.index(piece.clone()).async_copy_to(target, stream) }?)
    }

    fn serial(&mut self, gpu: &Gpu) -> Result<()> {
        self.source.copy_from(&self.host_source[..])?;
        self.compute(gpu, &(0..self.host_source.len()), gpu.stream())?;
        gpu.synchronize()?;
        Ok(self.target.copy_to(&mut self.host_target[..])?)
    }

    /// Every piece goes through all steps on its stream.
    fn depth_first(&mut self, gpu: &Gpu, streams: &Streams) -> Result<()> {
        for (index, piece) in self.pieces.clone().into_iter().enumerate() {
            let stream = streams.enter(index)?;
            self.h2d(&piece, stream)?;
            self.compute(gpu, &piece, stream)?;
            if self.plan != Schedule::TwoEngines {
                self.d2h(&piece, stream)?;
            }
        }
        Ok(())
    }

    /// Every step is enqueued for all pieces.
    fn breadth_first(&mut self, gpu: &Gpu, streams: &Streams) -> Result<()> {
        let pieces = self.pieces.clone();
        for (index, piece) in pieces.iter().enumerate() {
            self.h2d(piece, streams.enter(index)?)?;
        }
        for (piece, stream) in pieces.iter().zip(streams.all()) {
            self.compute(gpu, piece, stream)?;
        }
        for (piece, stream) in pieces.iter().zip(streams.all()) {
            self.d2h(piece, stream)?;
        }
        Ok(())
    }

    /// As a program does that knows of no streams.
    fn on_default_stream(&mut self, gpu: &Gpu) -> Result<()> {
        let (stream, all) = (DefaultStream::legacy(), 0..self.host_source.len());
        self.streams.fork(gpu)?;
        self.streams.begins(&stream)?;
        self.h2d(&all, &stream)?;
        self.compute(gpu, &all, &stream)?;
        self.add_up(gpu);
        // Blocks, and comes after the kernel: it is on the default stream, too.
        Ok(self.target.copy_to(&mut self.host_target[..])?)
    }

    fn add_up(&mut self, gpu: &Gpu) {
        self.sum = sum_of_eighth(&self.host_source);
        gpu.host_has_read(&self.host_source[..self.host_source.len().div_ceil(8)]);
    }
}

impl HostWork for Overlap {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let all = 0..self.host_source.len();
        match self.plan {
            Schedule::Serial => self.serial(gpu),
            Schedule::OneStream => {
                for piece in self.pieces.clone() {
                    self.h2d(&piece, gpu.stream())?;
                    self.compute(gpu, &piece, gpu.stream())?;
                    self.d2h(&piece, gpu.stream())?;
                }
                Ok(())
            }
            Schedule::DefaultStream => self.on_default_stream(gpu),
            Schedule::H2D => self.h2d(&all, gpu.stream()),
            Schedule::Kernel => self.compute(gpu, &all, gpu.stream()),
            Schedule::D2H => self.d2h(&all, gpu.stream()),
            Schedule::Bidirectional => {
                let streams = Rc::clone(&self.streams);
                streams.fork(gpu)?;
                self.h2d(&all, streams.enter(0)?)?;
                self.d2h(&all, streams.enter(1)?)?;
                Ok(streams.join(gpu)?)
            }
            plan => {
                let streams = Rc::clone(&self.streams);
                streams.fork(gpu)?;
                if plan == Schedule::BreadthFirst {
                    self.breadth_first(gpu, &streams)?;
                } else {
                    self.depth_first(gpu, &streams)?;
                }
                streams.join(gpu)?;
                if plan == Schedule::HostAfter {
                    gpu.synchronize()?;
                }
                if matches!(plan, Schedule::HostAfter | Schedule::HostBeside) {
                    self.add_up(gpu);
                }
                Ok(())
            }
        }
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        let words = match self.plan {
            Schedule::H2D => self.source.as_host_vec()?,
            Schedule::Kernel | Schedule::TwoEngines => self.target.as_host_vec()?,
            _ => self.host_target.to_vec(),
        };
        let also = match self.plan {
            Schedule::HostAfter | Schedule::HostBeside | Schedule::DefaultStream => {
                Some(Data::U32(vec![self.sum]))
            }
            Schedule::Bidirectional => Some(Data::F32(self.source.as_host_vec()?)),
            _ => None,
        };
        Ok(std::iter::once(Data::F32(words)).chain(also).collect())
    }
}
