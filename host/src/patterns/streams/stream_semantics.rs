//! # Stream semantics: what is ordered, and by what
//!
//! Shows: work on different streams has no order, unless the legacy default stream, an event or the host gives it one.
//!
//! Work on one stream runs in the order in which it was enqueued. Between streams four things make an order:
//!
//! ```text
//! legacy default stream   waits for all blocking streams, and they for it; a non-blocking stream takes no part
//! per-thread default      a blocking stream of its own for each thread
//! event                   a stream, or the host, waits for what another stream had when the event was recorded
//! synchronize             the host waits for a stream, an event or the device before it enqueues more
//! ```
//!
//! Each variant enqueues as many works, one after the other, and has an event before and after each. Where CUDA promises
//! an order, each work is done on the result of the one before, and an output says for each pair of neighbours whether
//! the second began after the first had ended, by the events. Where it promises none, each work has an output of its own,
//! and nothing is asserted about the times: the works may overlap, and they do, because they do not fill the device.
//!
//! ```text
//! legacy_default   blocking |AAAA|    |CCCC|          non_blocking   legacy   |AAAA|
//!                  legacy        |BBBB|    |DDDD|                    others   |BBBB|
//!                                                                             |CCCC|
//! ```
//!
//! | variant | change from the previous one | order of the works |
//! |---|---|---|
//! | `one_stream` | all works on one stream | promised: one stream |
//! | `legacy_default` | every second work on the legacy default stream, the others on blocking streams of their own | promised by the legacy default stream |
//! | `per_thread_default` | the others on the per-thread default stream | promised by the legacy default stream |
//! | `blocking` | each work on a blocking stream of its own | open |
//! | `non_blocking` | the first work on the legacy default stream, the others on non-blocking streams | open |
//! | `event_wait` | each stream waits for the event after the work before | promised by the events |
//! | `stream_synchronize` | the host waits for the stream before it goes on | promised by the host |
//! | `event_synchronize` | the host waits for the event after the work | promised by the host |
//! | `device_synchronize` | the host waits for the device | promised by the host |
//!
//! Expected: where the order is open, all works together take about as long as one and the launches; where it is promised,
//! as long as all of them after each other. The host's waits add the time until the host goes on.
//! `cust::stream::Stream::new` drops the flag `NON_BLOCKING`, so its streams are blocking ones;
//! `cust_ext::stream::non_blocking` makes the others.
//!
//! The time is that between two events on a stream for which all others wait, and which waits for them.
//!
//! Preconditions: none. With more works than hardware queues (8 unless `CUDA_DEVICE_MAX_CONNECTIONS` says otherwise),
//! streams share a queue and may wait for each other though nothing orders them.
//!
//! Source: CUDA Driver API, "Stream synchronization behavior"; CUDA C++ Programming Guide, "Streams", "Events".

use anyhow::Result;
use coalesce::data::{Data, POISON, Random};
use coalesce::pattern::{Bytes, Case, Dimension, Output, Pattern, Procedure, Size, Sweep, Variant};
use cuda_host::Gpu;
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
    floor: |_, _| None,
    variants: &[
        Variant::host("one_stream", "all works on one stream", |_, case, size| {
            Works::build(case, size, Order::OneStream)
        })
        .writing(ORDERED),
        Variant::host(
            "legacy_default",
            "every second work on the legacy default stream, the others on blocking streams of \
            their own",
            |_, case, size| Works::build(case, size, Order::LegacyDefault),
        )
        .writing(ORDERED),
        Variant::host(
            "per_thread_default",
            "the others on the per-thread default stream",
            |_, case, size| Works::build(case, size, Order::PerThreadDefault),
        )
        .writing(ORDERED),
        Variant::host("blocking", "each work on a blocking stream of its own", |_, case, size| {
            Works::build(case, size, Order::Blocking)
        })
        .writing(OPEN),
        Variant::host(
            "non_blocking",
            "the first work on the legacy default stream, the others on non-blocking streams",
            |_, case, size| Works::build(case, size, Order::NonBlocking),
        )
        .writing(OPEN),
        Variant::host(
            "event_wait",
            "each stream waits for the event after the work before",
            |_, case, size| Works::build(case, size, Order::EventWait),
        )
        .writing(ORDERED),
        Variant::host(
            "stream_synchronize",
            "the host waits for the stream before it goes on",
            |_, case, size| Works::build(case, size, Order::StreamSynchronise),
        )
        .writing(ORDERED),
        Variant::host(
            "event_synchronize",
            "the host waits for the event after the work",
            |_, case, size| Works::build(case, size, Order::EventSynchronise),
        )
        .writing(ORDERED),
        Variant::host("device_synchronize", "the host waits for the device", |_, case, size| {
            Works::build(case, size, Order::DeviceSynchronise)
        })
        .writing(ORDERED),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, works, turns] = size.get();
    let source = random.u32s(n);
    let chained = (0..works).fold(source.clone(), |values, work| reference(&values, turns, work));
    let apart = (0..works).flat_map(|work| reference(&source, turns, work)).collect();
    Case {
        outputs: vec![
            Output::exact(Data::U32(chained)),
            Output::exact(Data::U32(apart)),
            Output::exact(Data::U32(vec![1; works - 1])),
        ],
        inputs: vec![Data::U32(source)],
    }
}

/// One work.
fn reference(source: &[u32], turns: usize, work: usize) -> Vec<u32> {
    let turn = |value: u32, _| value.wrapping_mul(FACTOR).wrapping_add(addend(work));
    source.iter().map(|value| (0..turns).fold(*value, turn)).collect()
}

/// What a work adds in each turn: another number than the others, so that they cannot change places.
fn addend(work: usize) -> u32 {
    2 * work as u32 + 1
}

fn bytes(size: &Size) -> Bytes {
    let [n, _, _] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// What orders the works.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
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

impl Order {
    /// Whether CUDA promises that the works run one after the other.
    fn is_promised(self) -> bool {
        !matches!(self, Order::Blocking | Order::NonBlocking)
    }

    /// The stream of a work.
    fn stream(self, work: usize) -> Result<Lane> {
        let is_second = work % 2 == 1;
        Ok(match self {
            Order::LegacyDefault | Order::PerThreadDefault if is_second => {
                Lane::Default(DefaultStream::legacy())
            }
            Order::PerThreadDefault => Lane::Default(DefaultStream::per_thread()),
            Order::LegacyDefault | Order::Blocking => {
                Lane::Own(Stream::new(StreamFlags::DEFAULT, None)?)
            }
            Order::NonBlocking if work == 0 => Lane::Default(DefaultStream::legacy()),
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
    order: Order,
    /// One for each work, or one for all.
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
    fn build(case: &Case, size: &Size, order: Order) -> Result<Box<dyn Procedure>> {
        let [n, works, turns] = size.get();
        let lanes = if order == Order::OneStream { 1 } else { works };
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

    /// Where a work reads and writes: after the first, an ordered one works on the result of the one before.
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

impl Procedure for Works {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let function = gpu.module().get_function(stream_semantics_work.name())?;
        let (n, turns) = (self.source.len() as u32, self.turns);
        self.fork.record(gpu.stream())?;
        for (work, (begin, end)) in self.begins.iter().zip(&self.ends).enumerate() {
            let stream = self.lanes[work % self.lanes.len()].stream();
            wait_event(stream, &self.fork)?;
            if self.order == Order::EventWait && work > 0 {
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
                Order::StreamSynchronise => stream.synchronize()?,
                Order::EventSynchronise => end.synchronize()?,
                Order::DeviceSynchronise => CurrentContext::synchronize()?,
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
