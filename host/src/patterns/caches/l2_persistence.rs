//! # L2 persistence: a table that is used again stays in L2 beside data that streams by
//!
//! Shows: a window keeps a reused table in the part of L2 that is set aside, as long as what it chooses fits there.
//!
//! L2 keeps what was asked for last. Data that streams by, each word of it once, pushes out a table that is used again
//! and again. A device of compute capability 8.0 or newer can set a part of L2 aside (S bytes, up to what the device
//! allows), and a window of addresses chooses whose accesses persist there:
//!
//! ```text
//! target[i] = source[i] + table[i % length]          every word of the table is used n / length times
//!
//! L2             | for everything               | set aside     |
//! plain          | table, source, target in turn                |
//! all_set_aside  | source, target | table                       |  little left for streams
//! window         | source, target               | table         |  if all of it fits
//! tuned          | source, target, the rest     | a part of it  |  as much as fits
//! ```
//!
//! A window has a base, a length and a hit ratio r: a part r of its accesses, chosen by a hash of their addresses,
//! persists. A stream's window holds for all its later kernels, that of a launch for one.
//!
//! | variant | change from the previous one | table in L2 |
//! |---|---|---|
//! | `plain` | no window | as long as L2 keeps it by itself |
//! | `all_set_aside` | as much of L2 as the device allows is set aside; a window of the stream over the table (sm_80) | all of it up to S bytes |
//! | `window` | as much is set aside as the size says; hit ratio as the size says (sm_80) | all of it up to S bytes, then nothing |
//! | `tuned` | the hit ratio is S / table bytes, at most 1; the other accesses are as usual (sm_80) | all of it up to S bytes, then S bytes |
//! | `launch_window` | the window is an attribute of the launch instead of the stream (sm_80) | as `tuned` |
//! | `evict_first` | nothing is set aside, no window; loads of the source and stores of the target say evict first | what the streams leave |
//!
//! Expected: of 12 bytes per element, 4 each of source, target and table, those of the table bound the gain. With D and L
//! the measured rates of device memory (device copy) and of L2, and a part k of the table's accesses that L2 answers,
//!
//! ```text
//! time per element = max(D's part, L2's part) = max((12 - 4 k) / D, 12 / L)
//! gain             = 12 / (12 - 4 k)          if L is at least 12 / 8 = 1.5 times D
//!                  = 1.5                      for k = 1: +50 %
//! table bytes T up to S      window and tuned k = 1
//! T above S                  window k = 0, tuned k = S / T: 1.36 for T = 5/4 S
//! hit ratio r at T = 5/4 S   window k = r up to S / T = 0.8, then 0
//! ```
//!
//! Past the set-aside a window with hit ratio 1 evicts itself: each line that is to persist pushes out one that is
//! needed sooner. It is no faster than `plain`. The tuned one chooses as much as fits, wherever it lies in the table.
//!
//! What an H200 says (`l2_persistence` in results/nvidia-h200/reference.json): the order of `plain`, `window` and `tuned`
//! is as above, the gain is smaller. And what is set aside is missing for the streams: the curve over `set_aside` is best
//! between 0.6 and 0.8 of what the device allows, which is half of L2, and falls steeply behind; `all_set_aside` is the
//! slowest variant, though the whole table fits. The driver rounds up to sixteenths of L2.
//!
//! `plain` keeps a small table by itself: between two uses of a word all of the table and as many bytes of source and
//! target go by, 3 T bytes. If L2 holds C bytes and evicts what was used longest ago, the table stays for T up to C / 3,
//! and a window pays between C / 3 and S. `evict_first` would move this limit to C if the streams left nothing behind.
//!
//! The limit of all variants is source and target at the measured rate of device memory; the table may come from L2.
//!
//! The time has no flush before it: what persists, persists from run to run, as it does from kernel to kernel in a
//! program. Each variant runs on a stream of its own, between two events on another.
//!
//! Lines that persist stay until they are reset, whoever needs L2 next, and so does the set-aside. Here both end with the
//! variant: the window is removed, the lines are reset, and what was set aside is given back.
//!
//! Taught but wrong: set aside as much as the device allows. Set aside what the table needs, and measure the neighbours.
//!
//! Taught but wrong: L2 belongs to a multiprocessor. There is one for the device, in two partitions; what a block read
//! is there for the blocks of every multiprocessor, and for the next launch.
//!
//! Taught but racy: the guide's example doubles table and stream in place, `table[i % length] *= 2` from several threads
//! at once. Here the table is read, and each word of the target has one thread.
//!
//! Preconditions: table and n at most 2^31, table bytes at most the device's largest window, and a device with L2 to set
//! aside. Instances of a divided device have none. A table whose length 4 does not divide is read word by word instead of
//! by 16 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "L2 Cache": "L2 Cache Access Window", "Tuning the Access Window Hit-Ratio";
//! CUDA C++ Programming Guide, "Device Memory L2 Access Management".

use anyhow::Result;
use coalesce::data::{Data, Element, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Limit, Output, Pattern, Procedure, Size, Sweep, Unavailable, Variant,
};
use cuda_host::Gpu;
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::device::{Attribute, attribute};
use cust_ext::l2::{AccessProperty, AccessWindow, PersistingLimit, Window, WindowPolicy};
use cust_ext::launch::Launch;
use cust_ext::stream::{non_blocking, wait_event};
use kernels::caches::l2_persistence::{
    ELEMENTS, THREADS_PER_BLOCK, l2_persistence_add, l2_persistence_add_evict_first,
};

/// Elements of 4 MiB.
const FOUR_MIB: usize = 1 << 20;

pub const PATTERN: Pattern = Pattern {
    name: "l2_persistence",
    group: "caches",
    doc_source: include_str!("l2_persistence.rs"),
    dimensions: &[
        Dimension::extent("n", "elements of four bytes that stream by", 1),
        Dimension::amount("table", "elements of the table", 1),
        Dimension::share("set_aside", "part set aside of what the device allows", 100),
        Dimension::share("hit_ratio", "part of the window's accesses that persist", 100),
    ],
    verify_sizes: &[
        &[1, 1, 100, 100],
        &[31, 32, 10, 50],
        &[32, 31, 60, 0],
        &[33, 33, 0, 100],
        &[1023, 4, 60, 25],
        &[1024, 2048, 60, 100],
        &[1025, 128, 60, 60],
        &[100_003, 1001, 30, 75],
        &[1 << 18, 1 << 12, 60, 100],
    ],
    // Of an H200 22.5 MiB are set aside, and the table has 28.
    bench_size: &[1 << 26, 7 * FOUR_MIB, 60, 100],
    // Longer than the longest table, so that each of its words is used.
    count_size: &[10 * FOUR_MIB, 7 * FOUR_MIB, 60, 100],
    sweeps: &[
        Sweep {
            dimension: 1,
            values: &[2 * FOUR_MIB, 4 * FOUR_MIB, 5 * FOUR_MIB, 6 * FOUR_MIB, 9 * FOUR_MIB],
            variants: &[0, 3],
        },
        Sweep { dimension: 2, values: &[20, 40, 60, 80, 100], variants: &[3] },
        Sweep { dimension: 3, values: &[0, 40, 80, 100], variants: &[2] },
    ],
    case,
    bytes,
    floor: |_, size| Some((Limit::Copy, streamed(size))),
    variants: &[
        Variant::host("plain", "no window", |gpu, case, size| build(gpu, case, size, Plan::Plain))
            .only_when(table_fits),
        Variant::host(
            "all_set_aside",
            "as much of L2 as the device allows is set aside; a window of the stream over the \
            table",
            |gpu, case, size| build(gpu, case, size, Plan::AllSetAside),
        )
        .since(80)
        .only_when(table_fits),
        Variant::host(
            "window",
            "as much is set aside as the size says; hit ratio as the size says",
            |gpu, case, size| build(gpu, case, size, Plan::Window),
        )
        .since(80)
        .only_when(table_fits),
        Variant::host(
            "tuned",
            "the hit ratio is S / table bytes, at most 1; the other accesses are as usual",
            |gpu, case, size| build(gpu, case, size, Plan::Tuned),
        )
        .since(80)
        .only_when(table_fits),
        Variant::host(
            "launch_window",
            "the window is an attribute of the launch instead of the stream",
            |gpu, case, size| build(gpu, case, size, Plan::LaunchWindow),
        )
        .since(80)
        .only_when(table_fits),
        Variant::host(
            "evict_first",
            "nothing is set aside, no window; loads of the source and stores of the target say \
            evict first",
            |gpu, case, size| build(gpu, case, size, Plan::EvictFirst),
        )
        .only_when(table_fits),
    ],
};

fn table_fits(size: &Size) -> std::result::Result<(), &'static str> {
    let [_, table, ..] = size.get::<4>();
    if table > 1 << 31 { Err("the table has more than 2^31 elements") } else { Ok(()) }
}

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, table, ..] = size.get::<4>();
    let (source, table) = (random.f32s(n), random.f32s(table));
    Case {
        outputs: vec![Output::exact(Data::F32(reference(&source, &table)))],
        inputs: vec![Data::F32(source), Data::F32(table)],
    }
}

/// The stream with the table added, again and again from its beginning.
fn reference(source: &[f32], table: &[f32]) -> Vec<f32> {
    source.iter().zip(table.iter().cycle()).map(|(word, addend)| word + addend).collect()
}

/// Source, target and the words of the table that are used, once each.
fn bytes(size: &Size) -> Bytes {
    let [n, table, ..] = size.get::<4>();
    Bytes { read: 4 * (n + table.min(n)), written: 4 * n }
}

/// The bytes that no cache can save.
fn streamed(size: &Size) -> usize {
    let [n, ..] = size.get::<4>();
    8 * n
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    Plain,
    AllSetAside,
    Window,
    Tuned,
    LaunchWindow,
    EvictFirst,
}

/// The table and the stream whose kernels use it.
enum Table {
    Plain { stream: Stream, values: DeviceBuffer<f32> },
    InWindow(AccessWindow<Stream, DeviceBuffer<f32>>),
}

impl Table {
    fn stream(&self) -> &Stream {
        match self {
            Table::Plain { stream, .. } => stream,
            Table::InWindow(window) => window.stream(),
        }
    }

    fn values(&self) -> &DeviceBuffer<f32> {
        match self {
            Table::Plain { values, .. } => values,
            Table::InWindow(window) => window.memory(),
        }
    }
}

/// A table beside a stream. The window ends first and the set-aside last, when no kernel runs any more.
struct Lookup {
    table: Table,
    source: DeviceBuffer<f32>,
    target: DeviceBuffer<f32>,
    kernel: &'static str,
    /// The launch's own.
    window: Option<Window>,
    begin: Event,
    end: Event,
    _set_aside: Option<PersistingLimit>,
}

fn build(gpu: &Gpu, case: &Case, size: &Size, plan: Plan) -> Result<Box<dyn Procedure>> {
    let [n, _, part, hundredths] = size.get();
    let [source, table] =
        [0, 1].map(|input| f32::view(&case.inputs[input]).expect("the case holds f32"));
    let table_bytes = size_of_val(table);
    let set_aside = match plan {
        Plan::Plain | Plan::EvictFirst => None,
        Plan::AllSetAside => Some(set_aside(gpu, table_bytes, 100)?),
        Plan::Window | Plan::Tuned | Plan::LaunchWindow => Some(set_aside(gpu, table_bytes, part)?),
    };
    let given = WindowPolicy { hit_ratio: hundredths as f32 / 100.0, ..WindowPolicy::PERSIST };
    let policy = match (plan, &set_aside) {
        (Plan::Tuned | Plan::LaunchWindow, Some(limit)) => WindowPolicy {
            hit_ratio: (limit.bytes() as f32 / table_bytes as f32).min(1.0),
            miss: AccessProperty::Normal,
            ..given
        },
        _ => given,
    };
    let (stream, values) = (non_blocking(None)?, DeviceBuffer::from_slice(table)?);
    let window = match plan {
        Plan::LaunchWindow => Some(Window::over(&values, policy)?),
        _ => None,
    };
    let table = match plan {
        Plan::AllSetAside | Plan::Window | Plan::Tuned => {
            Table::InWindow(AccessWindow::set(stream, values, policy)?)
        }
        _ => Table::Plain { stream, values },
    };
    let kernel = match plan {
        Plan::EvictFirst => l2_persistence_add_evict_first.name(),
        _ => l2_persistence_add.name(),
    };
    let event = || Event::new(EventFlags::DISABLE_TIMING);
    let lookup = Lookup {
        table,
        source: DeviceBuffer::from_slice(source)?,
        target: DeviceBuffer::from_slice(&vec![f32::from_ne_bytes([POISON; 4]); n])?,
        kernel,
        window,
        begin: event()?,
        end: event()?,
        _set_aside: set_aside,
    };
    // The copies above may still be under way on the legacy default stream, which other streams here ignore.
    CurrentContext::synchronize()?;
    Ok(Box::new(lookup))
}

/// Sets so many hundredths aside of what the device allows.
fn set_aside(gpu: &Gpu, table_bytes: usize, hundredths: usize) -> Result<PersistingLimit> {
    let bytes =
        |of| -> Result<usize> { Ok(usize::try_from(attribute(gpu.device(), of)?).unwrap_or(0)) };
    let most = bytes(Attribute::MaxPersistingL2CacheBytes)?;
    if most == 0 {
        let reason = "this device cannot set a part of L2 aside";
        return Err(Unavailable(reason.to_owned()).into());
    }
    let widest = bytes(Attribute::MaxAccessPolicyWindowBytes)?;
    if table_bytes > widest {
        return Err(Unavailable(format!(
            "the table has {table_bytes} bytes, and a window of this device at most {widest}"
        ))
        .into());
    }
    Ok(PersistingLimit::set(most * hundredths / 100)?)
}

impl Procedure for Lookup {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let function = gpu.module().get_function(self.kernel)?;
        let (mut n, mut length) = (self.source.len() as u32, self.table.values().len() as u32);
        let mut source = self.source.as_device_ptr();
        let mut table = self.table.values().as_device_ptr();
        let mut target = self.target.as_device_ptr();
        let arguments = [
            (&raw mut source).cast(),
            (&raw mut table).cast(),
            (&raw mut target).cast(),
            (&raw mut n).cast(),
            (&raw mut length).cast(),
        ];
        let grid = n.div_ceil(ELEMENTS).div_ceil(THREADS_PER_BLOCK);
        let launch = Launch { window: self.window, ..Launch::new(grid, THREADS_PER_BLOCK) };
        let stream = self.table.stream();
        self.begin.record(gpu.stream())?;
        wait_event(stream, &self.begin)?;
        // SAFETY: the kernel takes three pointers and two lengths; the grid covers n / ELEMENTS threads; source and
        // target hold n words and the table as many as its length; they are three allocations, aligned to 256 bytes, and
        // live in `self`, which waits for the device when dropped.
        unsafe { launch.run(&function, stream, &arguments)? };
        self.end.record(stream)?;
        Ok(wait_event(gpu.stream(), &self.end)?)
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let mut words = vec![0.0; self.target.len()];
        self.target.copy_to(&mut words)?;
        Ok(vec![Data::F32(words)])
    }
}
