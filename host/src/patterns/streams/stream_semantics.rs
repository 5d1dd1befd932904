//! # Stream semantics: what runs after what, and who decides it
//!
//! Shows: work on different [streams][stream] has no order, unless the [legacy default stream], an
//! [event] or the [host] gives it one; a single call without a stream can undo all overlap.
//!
//! The surprise: four [kernels][kernel] on four streams of their own, `blocking` (0.144 ms), take
//! little more time than one of them. Put every second one on the stream that is used when none is
//! named, and `legacy_default` (0.467 ms) takes as long as `one_stream` (0.459 ms): all overlap is
//! gone, although the program still has several streams.
//!
//! A stream is a queue of work for the [device]: its works run in the order in which they were
//! enqueued. Works on different streams may run at the same time, and in any order. Four things
//! make an order between streams:
//!
//! ```text
//! legacy default stream   it and all blocking streams wait for each other; non-blocking ones do not
//! per-thread default      an ordinary blocking stream, one for each thread of the host
//! event                   a mark in a stream; another stream or the host waits until it is reached
//! synchronize             the host waits for a stream, an event or the device, then enqueues more
//! ```
//!
//! In CUDA C++ the call `kernel<<<grid, threads>>>(..)` uses the legacy default stream, and so does
//! `cudaMemcpy`. What a call without a stream does in the middle of others:
//!
//! ```text
//! time ->    legacy_default                          non_blocking
//! stream 1   |AAAA|          |CCCC|                  legacy     |AAAA|
//! legacy           |BBBB|          |DDDD|            stream 2   |BBBB|
//!                                                    stream 3   |CCCC|     no order: all at once
//! ```
//!
//! 1. `one_stream` enqueues four works on one stream. The timeline shows one after the other.
//! 2. `legacy_default` has a blocking stream for every second work and the legacy default stream
//!    for the others. The timeline is the same, because each work waits for the one before.
//! 3. `per_thread_default` uses the per-thread default stream instead of a stream of its own. It is
//!    a blocking stream like others, so it is ordered with the legacy default stream, too.
//! 4. `blocking` gives each work a stream (`cudaStreamCreate`) and uses no default stream. Nothing
//!    orders the works, and the timeline shows them side by side. The name "blocking" only tells
//!    what the legacy default stream does with them.
//! 5. `non_blocking` creates the streams with `cudaStreamNonBlocking`. Now even a work on the
//!    legacy default stream runs at the same time. This costs the safety: nothing waits for it
//!    either.
//! 6. `event_wait` restores an order where one is needed, without the host: `cudaEventRecord` after
//!    a work and `cudaStreamWaitEvent` before the next one.
//! 7. `stream_synchronize`, `event_synchronize` and `device_synchronize` let the host wait after
//!    each work (`cudaStreamSynchronize` and so on). It costs the time until the host goes on:
//!    meanwhile the device has nothing to do.
//!
//! | variant | change from the previous one | order of the works |
//! |---|---|---|
//! | `one_stream` | all works on one stream | promised by the stream |
//! | `legacy_default` | every second work on the legacy default stream, the others on blocking streams of their own | promised by the legacy default stream |
//! | `per_thread_default` | the others on the per-thread default stream | promised by the legacy default stream |
//! | `blocking` | each work on a blocking stream of its own | open |
//! | `non_blocking` | the first work on the legacy default stream, the others on non-blocking streams | open |
//! | `event_wait` | each stream waits for the event after the previous work | promised by the events |
//! | `stream_synchronize` | the host waits for the stream before it enqueues the next work | promised by the host |
//! | `event_synchronize` | the host waits for the event after the work | promised by the host |
//! | `device_synchronize` | the host waits for the device | promised by the host |
//!
//! Expected: where the order is open, all works take as long as one of them and the launches:
//! `blocking` (0.144 ms), `non_blocking` (0.144 ms). Where it is promised, they take as long as
//! their sum: `event_wait` (0.469 ms). The host's waits come on top: `stream_synchronize` (0.492
//! ms).
//!
//! The works are checked, not only timed. Where CUDA promises an order, each work uses the result
//! of the previous one, and events tell whether it began after the previous one had ended. Where
//! CUDA promises none, each work has an output of its own, and nothing is asserted about the times.
//! A work is one [block] here, so that several fit on the device at once; a kernel that fills the
//! device leaves no room for another.
//!
//! In CUDA C++, and in Rust:
//!
//! ```cuda
//! cudaStreamCreate(&stream);                                 // Stream::new(DEFAULT, None)?
//! cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); // non_blocking(None)?
//! cudaEventRecord(event, first);                             // event.record(&first)?
//! cudaStreamWaitEvent(second, event);                        // wait_event(&second, &event)?
//! ```
//!
//! Common misconception: "a blocking stream blocks the host". No call of these streams waits for
//! the device. The word says only that the legacy default stream and this stream wait for each
//! other.
//!
//! Common misconception: "more streams, more overlap". Overlap needs work that leaves room on the
//! device, and no default stream in between.
//!
//! Questions:
//! - How do I find a forgotten default stream? In a timeline: works on several streams that never
//!   overlap, with one on the default stream between them. `nvcc --default-stream per-thread`
//!   changes what a call without a stream means.
//! - Which wait should I use? An event between streams where the device alone needs the order: it
//!   costs almost nothing. A wait of the host only where the host needs the data.
//! - Do 16 streams overlap as well as 4? Not here: the curve over `works` shows that 16 of them
//!   take 1.7 times (`non_blocking` at works=16 / `non_blocking` at works=8) as long as 8. The
//!   device has 8 hardware queues unless `CUDA_DEVICE_MAX_CONNECTIONS` says otherwise, and streams
//!   that share a queue may wait for each other.
//! - Why does this project not use `Stream::new` with the flag `NON_BLOCKING`? The function of the
//!   crate `cust` drops that flag, so its streams are blocking ones.
//!   `cust_ext::stream::non_blocking` makes the others.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `one_stream` | 0.459 | 0 |  | 1.00 |
//! | `legacy_default` | 0.467 | 0 |  | 0.98 |
//! | `per_thread_default` | 0.467 | 0 |  | 0.98 |
//! | `blocking` | 0.144 | 0 |  | 3.19 |
//! | `non_blocking` | 0.144 | 0 |  | 3.18 |
//! | `event_wait` | 0.469 | 0 |  | 0.98 |
//! | `stream_synchronize` | 0.492 | 0 |  | 0.93 |
//! | `event_synchronize` | 0.492 | 0 |  | 0.93 |
//! | `device_synchronize` | 0.491 | 0 |  | 0.93 |
//! <!-- /measured -->
//!
//! Preconditions: none. With more works than hardware queues, streams may wait for each other
//! although nothing orders them.
//!
//! Source: CUDA Driver API, "Stream synchronization behavior"; CUDA C++ Programming Guide,
//! "Streams", "Events".
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy::bytes;
use crate::prelude::*;
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer, DevicePointer};
use cust::stream::{Stream, StreamFlags};
use cust_ext::stream::{DefaultStream, non_blocking, wait_event};
use kernels::streams::stream_semantics::{FACTOR, THREADS_PER_BLOCK, stream_semantics_work};

/// Outputs of variants whose order is promised: the last work's result, and whether each began after the one before.
const ORDERED: &[usize] = &[0, 2];
/// The output of variants whose order is open: each work's result.
const OPEN: &[usize] = &[1];

pub const PATTERN: Pattern = Pattern {
    name: "stream_semantics",
    group: "streams",
    doc_source: include_str!("stream_semantics.rs"),
    dimensions: &[
        Dimension::extent("n", "elements that each work is done on", 1),
        Dimension::extent("works", "works, each a kernel", 1),
        Dimension::amount("turns", "turns of each work's loop: its duration", 1),
    ],
    verify_sizes: &[
        &[1, 1, 1],
        &[31, 2, 100],
        &[32, 3, 33],
        &[33, 4, 20_000],
        &[255, 5, 7],
        &[256, 2, 5_000],
        &[257, 8, 50],
        &[1001, 4, 200],
        &[4096, 2, 20],
    ],
    bench_size: &[256, 4, 50_000],
    count_size: &[256, 4, 50_000],
    sweeps: &[Sweep { dimension: 1, values: &[1, 2, 8, 16], variants: &[1, 3, 4] }],
    case,
    bytes,
    minimum_time: |_, _| None,
    variants: &[
        variant!("one_stream", Works::build, Synchronization::OneStream).writing(ORDERED),
        variant!("legacy_default", Works::build, Synchronization::LegacyDefault).writing(ORDERED),
        variant!("per_thread_default", Works::build, Synchronization::PerThreadDefault)
            .writing(ORDERED),
        variant!("blocking", Works::build, Synchronization::Blocking).writing(OPEN),
        variant!("non_blocking", Works::build, Synchronization::NonBlocking).writing(OPEN),
        variant!("event_wait", Works::build, Synchronization::EventWait).writing(ORDERED),
        variant!("stream_synchronize", Works::build, Synchronization::StreamSynchronise)
            .writing(ORDERED),
        variant!("event_synchronize", Works::build, Synchronization::EventSynchronise)
            .writing(ORDERED),
        variant!("device_synchronize", Works::build, Synchronization::DeviceSynchronise)
            .writing(ORDERED),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, works, turns] = size.get();
    let source = random.u32s(n);
    let chained = (0..works).fold(source.clone(), |values, work| reference(&values, turns, work));
    let apart = (0..works).flat_map(|work| reference(&source, turns, work)).collect();
    Case::exact(
        vec![Data::U32(chained), Data::U32(apart), Data::U32(vec![1; works - 1])],
        vec![Data::U32(source)],
    )
}

/// The result of one work on `source`.
fn reference(source: &[u32], turns: usize, work: usize) -> Vec<u32> {
    let turn = |value: u32, _| value.wrapping_mul(FACTOR).wrapping_add(addend(work));
    source.iter().map(|value| (0..turns).fold(*value, turn)).collect()
}

/// Returns what a work adds in each turn: another number than the others, so that they cannot change places.
fn addend(work: usize) -> u32 {
    2 * work as u32 + 1
}

/// The means by which the works are ordered, if they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Synchronization {
    OneStream,
    LegacyDefault,
    PerThreadDefault,
    Blocking,
    NonBlocking,
    EventWait,
    StreamSynchronise,
    EventSynchronise,
    DeviceSynchronise,
}

impl Synchronization {
    /// Returns whether CUDA promises that the works run one after the other.
    fn is_promised(self) -> bool {
        !matches!(self, Synchronization::Blocking | Synchronization::NonBlocking)
    }

    fn stream(self, work: usize) -> Result<Lane> {
        let is_second = work % 2 == 1;
        Ok(match self {
            Synchronization::LegacyDefault | Synchronization::PerThreadDefault if is_second => {
                Lane::Default(DefaultStream::legacy())
            }
            Synchronization::PerThreadDefault => Lane::Default(DefaultStream::per_thread()),
            Synchronization::LegacyDefault | Synchronization::Blocking => {
                Lane::Own(Stream::new(StreamFlags::DEFAULT, None)?)
            }
            Synchronization::NonBlocking if work == 0 => Lane::Default(DefaultStream::legacy()),
            _ => Lane::Own(non_blocking(None)?),
        })
    }
}

/// A stream that ends with its owner, or one that always exists.
enum Lane {
    Own(Stream),
    Default(DefaultStream),
}

impl Lane {
    fn stream(&self) -> &Stream {
        match self {
            Lane::Own(stream) => stream,
            Lane::Default(stream) => stream,
        }
    }
}

/// Kernels on streams, with events before and after each.
struct Works {
    order: Synchronization,
    /// A stream for each work, or one stream for all.
    lanes: Vec<Lane>,
    fork: Event,
    begins: Vec<Event>,
    ends: Vec<Event>,
    source: DeviceBuffer<u32>,
    target: DeviceBuffer<u32>,
    turns: u32,
    has_run: bool,
}

impl Works {
    fn build(
        _: &Gpu,
        case: &Case,
        size: &Size,
        order: Synchronization,
    ) -> Result<Box<dyn HostWork>> {
        let [n, works, turns] = size.get();
        let lanes = if order == Synchronization::OneStream { 1 } else { works };
        let results = if order.is_promised() { n } else { works * n };
        let events = || (0..works).map(|_| Event::new(EventFlags::DEFAULT));
        let built = Works {
            order,
            lanes: (0..lanes).map(|work| order.stream(work)).collect::<Result<_>>()?,
            fork: Event::new(EventFlags::DISABLE_TIMING)?,
            begins: events().collect::<Result<_, _>>()?,
            ends: events().collect::<Result<_, _>>()?,
            source: DeviceBuffer::from_slice(bytemuck::cast_slice(case.inputs[0].bytes()))?,
            target: DeviceBuffer::from_slice(&vec![u32::from_ne_bytes([POISON; 4]); results])?,
            turns: turns as u32,
            has_run: false,
        };
        // The copies above may still be under way on the legacy default stream, which non-blocking streams ignore.
        CurrentContext::synchronize()?;
        Ok(Box::new(built))
    }

    /// Returns the source and the target of a work: after the first, an ordered one takes the result of the one before.
    fn places(&self, work: usize) -> [DevicePointer<u32>; 2] {
        let (source, target) = (self.source.as_device_ptr(), self.target.as_device_ptr());
        match (self.order.is_promised(), work) {
            (true, 0) => [source, target],
            (true, _) => [target, target],
            (false, _) => [source, self.target.index(work * self.source.len()..).as_device_ptr()],
        }
    }

    /// For each work but the first, whether it began after the one before had ended.
    fn began_after(&self) -> Result<Vec<u32>> {
        let ends_and_begins = self.ends.iter().zip(&self.begins[1..]);
        let after = ends_and_begins.map(|(end, begin)| {
            Ok(if self.has_run {
                u32::from(begin.elapsed_time_f32(end)? >= 0.0)
            } else {
                u32::from_ne_bytes([POISON; 4])
            })
        });
        after.collect()
    }
}

impl HostWork for Works {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let function = gpu.module().get_function(stream_semantics_work.name())?;
        let (n, turns) = (self.source.len() as u32, self.turns);
        self.fork.record(gpu.stream())?;
        for (work, (begin, end)) in self.begins.iter().zip(&self.ends).enumerate() {
            let stream = self.lanes[work % self.lanes.len()].stream();
            wait_event(stream, &self.fork)?;
            if self.order == Synchronization::EventWait && work > 0 {
                wait_event(stream, &self.ends[work - 1])?;
            }
            begin.record(stream)?;
            let [source, target] = self.places(work);
            let (grid, addend) = (n.div_ceil(THREADS_PER_BLOCK), addend(work));
            // SAFETY: the kernel takes two pointers to n elements, n and two numbers; the grid covers n; source and
            // target are two arrays or one, live until the streams were waited for, and works whose order is open write
            // different parts.
            unsafe {
                cust::launch!(
                    function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, turns, addend)
                )?;
            }
            end.record(stream)?;
            match self.order {
                Synchronization::StreamSynchronise => stream.synchronize()?,
                Synchronization::EventSynchronise => end.synchronize()?,
                Synchronization::DeviceSynchronise => CurrentContext::synchronize()?,
                _ => {}
            }
        }
        for end in &self.ends {
            wait_event(gpu.stream(), end)?;
        }
        self.has_run = true;
        Ok(())
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let mut results = vec![0; self.target.len()];
        self.target.copy_to(&mut results)?;
        let results = Data::U32(results);
        Ok(if self.order.is_promised() {
            vec![results, Data::U32(self.began_after()?)]
        } else {
            vec![results]
        })
    }
}
