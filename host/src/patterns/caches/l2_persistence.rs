//! # L2 persistence: keeping a reused table in L2 beside data that streams by
//!
//! Shows: an access window keeps a reused table in the part of L2 that is set aside, as long as the
//! accesses it selects fit there.
//!
//! The surprise: setting aside as much of L2 as the device allows makes the kernel much slower,
//! `all_set_aside` (0.318 ms) against `plain` (0.196 ms), although the whole table fits there. And
//! a window over a table that is a little too large gains nothing, `window` (0.195 ms), until it is
//! told to select only a part, `tuned` (0.178 ms).
//!
//! The [L2 cache] is shared by all multiprocessors of the device. It keeps what was used last. Data
//! that flows through, each word of it used once, therefore pushes out a table that is used again
//! and again. Devices of [compute capability] 8.0 or newer can set a part of L2 aside (S bytes),
//! and an access window chooses whose accesses persist there:
//!
//! ```text
//! target[i] = source[i] + table[i % length]       each word of the table is used n / length times
//!
//! L2             | for all accesses                    | set aside (S)  |
//! plain          | table, source and target compete                     |
//! window         | source, target                      | table          |  if all of it fits
//! tuned          | source, target, rest of the table   | part of table  |  as much as fits
//! all_set_aside  | source, target | table                               |  too little for the streams
//! ```
//!
//! A window has a base address, a length and a hit ratio r: a share r of the accesses to it, chosen
//! by a hash of their addresses, persists. The window of a [stream] holds for all later kernels in
//! that stream; the window of a launch holds for that launch only.
//!
//! 1. `plain` has no window. Between two uses of a table word, the whole table and as many bytes of
//!    source and target pass through L2: 3 T bytes for a table of T bytes. If L2 always evicted
//!    what was used longest ago, the table would survive up to a third of L2, 20 of 60 MiB on an
//!    H200. Here it has 28 MiB and does not survive.
//! 2. `all_set_aside`. The idea: set aside all the device allows, 37.5 MiB, so that the whole table
//!    fits. What it costs shows only in the time: source and target are left with too little of L2.
//! 3. `window`. The idea: set aside less, S = 22.5 MiB. Now the table does not fit. With hit ratio
//!    1, each [cache line] of the table that is to persist pushes out another one before that one
//!    is used again.
//! 4. `tuned`. The idea: let only S / T = 22.5 / 28 = 80 % of the table's accesses persist. They
//!    fit, and the rest is cached as usual. It costs knowing both sizes.
//! 5. `launch_window` is the same window as an attribute of the launch, for one kernel only.
//! 6. `evict_first`. Another idea: no set-aside, but loads of the source and stores of the target
//!    are marked to be evicted first. It costs nothing and, on an H200, gains nothing.
//!
//! 7. `in_place`, `in_place_window` and `in_place_tuned` are the Guide's own kernel: it doubles the
//!    stream and the table in place, so that the table is written, too, and each thread has one
//!    word of each. Threads that share a word of the table access it atomically; in the Guide they
//!    race. `in_place_window` has a window over the whole table and hit ratio 1, `in_place_tuned` a
//!    window of 20 MiB, and the hit ratio 20 MiB / table bytes, as the Guide tunes it for an A100.
//!    Both set aside all that the device allows.
//!
//! | variant | change from the previous one | table in L2 |
//! |---|---|---|
//! | `plain` | no window | as long as L2 keeps it by itself |
//! | `all_set_aside` | all the L2 that the device allows is set aside; a window of the stream over the table (sm_80) | all of it up to S bytes |
//! | `window` | the size says how much is set aside, and the hit ratio (sm_80) | all of it up to S bytes, nothing above |
//! | `tuned` | the hit ratio is S / table bytes, at most 1; the other accesses are as usual (sm_80) | all of it up to S bytes, S bytes above |
//! | `launch_window` | the window is an attribute of the launch instead of the stream (sm_80) | as `tuned` |
//! | `evict_first` | no window and no set-aside; accesses to source and target are marked evict-first | what the streams leave |
//! | `in_place` | the Guide's kernel: table and stream are doubled in place, without a window | as long as L2 keeps it by itself |
//! | `in_place_window` | all the L2 that the device allows is set aside; the launch has a window over the table (sm_80) | all of it up to S bytes |
//! | `in_place_tuned` | the window has 20 MiB, and the hit ratio 20 MiB / table bytes (sm_80) | 20 MiB at most |
//!
//! How much can it gain? Each element needs 12 bytes: 4 each of source, target and table. Let D and
//! L be the measured rates of device memory and of L2, and k the share of table accesses that L2
//! answers:
//!
//! ```text
//! time per element = max((12 - 4 k) / D, 12 / L)
//! gain             = 12 / (12 - 4 k), as long as L is at least 12 / 8 = 1.5 times D
//!                    k = 1 gives 1.5;  k = 0.8 (tuned, T = 5/4 S) gives 12 / 8.8 = 1.36;  k = 0 gives 1
//! ```
//!
//! Expected: `window` (0.195 ms) is no faster than `plain` (0.196 ms). `tuned` (0.178 ms) and
//! `launch_window` (0.178 ms) are faster, on an H200 by less than this bound. `evict_first` (0.195
//! ms) equals `plain`, and `all_set_aside` (0.318 ms) is the slowest. The sweeps show the rest:
//! `window` is best with hit ratio 0.8; `tuned` is best with 0.8 as `set_aside`, 0.177 ms (`tuned`
//! at set_aside=0.8), and slow with 1, which is all that is allowed, 0.320 ms (`tuned` at
//! set_aside=1); and for a small table of 8 MiB, `plain` is best, 0.151 ms (`plain` at
//! table=2097152) against 0.160 ms (`tuned` at table=2097152).
//!
//! The Guide's own kernel loses here: `in_place` (0.373 ms), `in_place_window` (0.411 ms) and
//! `in_place_tuned` (0.590 ms). A full set-aside costs this device more than it retains, as in
//! `all_set_aside`. So these three refute the full set-aside; the Guide's idea with a smaller one
//! was not measured.
//!
//! The window of `tuned` in CUDA C++; in Rust it is `AccessWindow::set(stream, table, policy)`:
//!
//! ```cuda
//! cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside);
//! window.base_ptr = table;   window.num_bytes = table_bytes;
//! window.hitRatio = min(1.0f, (float)set_aside / table_bytes);
//! window.hitProp = cudaAccessPropertyPersisting;   window.missProp = cudaAccessPropertyNormal;
//! cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &attribute_with_window);
//! ```
//!
//! Common misconception: "set aside as much as the device allows". Set aside what the table needs,
//! and measure what is left for everything else.
//!
//! Common misconception: "each multiprocessor has its own L2". There is one L2 for the device, in
//! two partitions. What one block has read is there for all blocks, and for the next launch.
//!
//! Common misconception: "the example in the CUDA guide can be copied". It doubles table and stream
//! in place, `table[i % length] *= 2`, from many threads at once, which is a [race]. Here the table
//! is only read, or accessed atomically.
//!
//! Questions:
//! - Why does a hit ratio of 1 fail as soon as the table exceeds S? The table is read from front to
//!   back, again and again. When a line is needed again, S newer bytes of the table have pushed it
//!   out.
//! - When does a set-aside end? Not by itself. Lines persist until they are reset, whoever needs L2
//!   next. Here each variant removes its window, resets the lines and gives the set-aside back.
//! - Why is L2 not emptied before each run, as for other patterns? What persists, persists from
//!   kernel to kernel in a real program too. Each variant runs on a stream of its own, between two
//!   events on another.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `plain` | 0.196 | 2893 | 64 | 1.00 |
//! | `all_set_aside` | 0.318 | 1778 | 39 | 0.61 |
//! | `window` | 0.195 | 2899 | 64 | 1.00 |
//! | `tuned` | 0.178 | 3186 | 70 | 1.10 |
//! | `launch_window` | 0.178 | 3173 | 70 | 1.10 |
//! | `evict_first` | 0.195 | 2907 | 64 | 1.00 |
//! | `in_place` | 0.373 | 1595 | 34 | 0.52 |
//! | `in_place_window` | 0.411 | 1449 | 30 | 0.48 |
//! | `in_place_tuned` | 0.590 | 1009 | 21 | 0.33 |
//! <!-- /measured -->
//!
//! Preconditions: table and n at most 2^31, table bytes at most the device's largest window, and a
//! device with L2 to set aside. Instances of a divided device (MIG) have none. A table whose length
//! is no multiple of 4 is read word by word instead of by 16 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "L2 Cache": "L2 Cache Access Window", "Tuning the Access
//! Window Hit-Ratio"; CUDA C++ Programming Guide, "Device Memory L2 Access Management".
#![doc = include_str!("../../../../crates/report/src/links.md")]

mod in_place;
mod set_aside;

use crate::prelude::*;
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::l2::{
    AccessPolicyWindow, AccessProperty, AccessWindow, PersistingLimit, WindowPolicy,
};
use cust_ext::launch::Launch;
use cust_ext::stream::{non_blocking, wait_event};
use in_place::Doubling;
use kernels::caches::l2_persistence::{
    ELEMENTS, THREADS_PER_BLOCK, doubled, l2_persistence_add, l2_persistence_add_evict_first,
};
use set_aside::set_aside;

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
    minimum_time: |_, size| Some((Resource::Copy, streamed(size))),
    variants: &[
        variant!("plain", build, Persistence::Plain).only_when(table_fits),
        variant!("all_set_aside", build, Persistence::AllSetAside)
            .min_compute_capability(80)
            .only_when(table_fits),
        variant!("window", build, Persistence::Window)
            .min_compute_capability(80)
            .only_when(table_fits),
        variant!("tuned", build, Persistence::Tuned)
            .min_compute_capability(80)
            .only_when(table_fits),
        variant!("launch_window", build, Persistence::LaunchWindow)
            .min_compute_capability(80)
            .only_when(table_fits),
        variant!("evict_first", build, Persistence::EvictFirst).only_when(table_fits),
        variant!("in_place", in_place::build, Doubling::Plain)
            .writing(&[1, 2])
            .moving(doubled_bytes)
            .only_when(table_fits),
        variant!("in_place_window", in_place::build, Doubling::Window)
            .writing(&[1, 2])
            .moving(doubled_bytes)
            .min_compute_capability(80)
            .only_when(table_fits),
        variant!("in_place_tuned", in_place::build, Doubling::Tuned)
            .writing(&[1, 2])
            .moving(doubled_bytes)
            .min_compute_capability(80)
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
    Case::exact(
        vec![
            Data::F32(reference(&source, &table)),
            Data::U32(doubled_words(&source, n)),
            Data::U32(doubled_words(&table, n)),
        ],
        vec![Data::F32(source), Data::F32(table)],
    )
}

/// The stream with the table added, again and again from its beginning.
fn reference(source: &[f32], table: &[f32]) -> Vec<f32> {
    source.iter().zip(table.iter().cycle()).map(|(word, addend)| word + addend).collect()
}

/// The first `n` words, doubled in place; the others as they are.
fn doubled_words(words: &[f32], n: usize) -> Vec<u32> {
    let bits = words.iter().map(|word| word.to_bits()).enumerate();
    bits.map(|(i, bits)| if i < n { doubled(bits) } else { bits }).collect()
}

/// Stream and table, both read and written.
fn doubled_bytes(size: &Size) -> Bytes {
    let [n, table, ..] = size.get::<4>();
    Bytes { read: 4 * (n + table.min(n)), written: 4 * (n + table.min(n)) }
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
enum Persistence {
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
    window: Option<AccessPolicyWindow>,
    begin: Event,
    end: Event,
    _set_aside: Option<PersistingLimit>,
}

fn build(gpu: &Gpu, case: &Case, size: &Size, plan: Persistence) -> Result<Box<dyn HostWork>> {
    let [n, _, part, hundredths] = size.get();
    let [source, table] =
        [0, 1].map(|input| f32::view(&case.inputs[input]).expect("the case holds f32"));
    let table_bytes = size_of_val(table);
    let set_aside = match plan {
        Persistence::Plain | Persistence::EvictFirst => None,
        Persistence::AllSetAside => Some(set_aside(gpu, table_bytes, 100)?),
        Persistence::Window | Persistence::Tuned | Persistence::LaunchWindow => {
            Some(set_aside(gpu, table_bytes, part)?)
        }
    };
    let given = WindowPolicy { hit_ratio: hundredths as f32 / 100.0, ..WindowPolicy::PERSIST };
    let policy = match (plan, &set_aside) {
        (Persistence::Tuned | Persistence::LaunchWindow, Some(limit)) => WindowPolicy {
            hit_ratio: (limit.bytes() as f32 / table_bytes as f32).min(1.0),
            miss: AccessProperty::Normal,
            ..given
        },
        _ => given,
    };
    let (stream, values) = (non_blocking(None)?, DeviceBuffer::from_slice(table)?);
    let window = match plan {
        Persistence::LaunchWindow => Some(AccessPolicyWindow::over(&values, policy)?),
        _ => None,
    };
    let table = match plan {
        Persistence::AllSetAside | Persistence::Window | Persistence::Tuned => {
            Table::InWindow(AccessWindow::set(stream, values, policy)?)
        }
        _ => Table::Plain { stream, values },
    };
    let kernel = match plan {
        Persistence::EvictFirst => l2_persistence_add_evict_first.name(),
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

impl HostWork for Lookup {
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
