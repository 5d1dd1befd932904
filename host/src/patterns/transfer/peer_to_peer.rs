//! # Peer to peer: memory of another device
//!
//! Shows: with peer access a [device] copies, loads and stores another device's memory over their
//! link, and a [kernel] that does so itself needs no copies at all; without it the same copy call
//! silently goes through the [host] at a tenth of the rate.
//!
//! The surprise: `copy_staged` and `copy_direct` make the same call, `cuMemcpyPeerAsync`, with the
//! same arguments. Without peer access the driver copies to the host's memory and from there to the
//! other device, over [PCIe] and without a word. Two H100 in one host, before this pattern was
//! written, did the first at 37 GB/s and the second at 398 GB/s.
//!
//! Devices of one host are linked by NVLink or only by PCIe. Whether one can access another's memory
//! is a question to the driver (`cuDeviceCanAccessPeer`); to let it is a call in the context that
//! accesses (`cuCtxEnablePeerAccess`), one for each direction. Since [unified addressing] gives every
//! allocation of all devices an address of its own, a kernel then needs nothing else: a pointer to the
//! other device's memory is an ordinary pointer.
//!
//! ```text
//! device 0                          device 1
//! multiprocessors                   multiprocessors
//!   |      \                          /     |
//!   |       +---- NVLink, 2 ways ----+      |        478 GB/s each way on an H100
//! memory                                  memory     3350 GB/s each
//!   \______________ PCIe, host ____________/         64 GB/s each way
//! ```
//!
//! What is counted is not requests but bytes over the link. The virtual device counts [sectors][sector]
//! of loads and stores behind the link apart from the others, and predicts a kernel at the rate of the
//! link: 32 sectors per warp for 16 bytes per [lane], as in the device's own memory.
//!
//! 1. `copy_staged` copies the second device's array to the first without peer access.
//! 2. `copy_direct` enables peer access first. The [copy engine] now reads the other device's memory.
//! 3. `copy_each` lets every device copy from the next one at the same time. A link has separate wires
//!    for each direction, so with two devices the copies should take the time of one.
//! 4. `copy_every_pair` does one ordered pair of devices after the other. Its time divided by their
//!    number is that of the average pair: where it is longer than `copy_direct`, some pairs have a
//!    slower link.
//! 5. `read_words` and `read_vectorized` are kernels of the first device that load the other's memory,
//!    4 and 16 bytes per lane. Little's law says what the link needs: 373 GB/s times a [latency] of
//!    1738 cycles, 0.88 us, are 0.33 MB in flight. A full H100 has 132 x 2048 threads, which have 1.1 MB
//!    in flight with 4 bytes each: enough, so both should reach the rate of the copy engine.
//! 6. `write_words` and `write_vectorized` are the same kernels on the second device, which stores to
//!    the first one's memory. A store waits for nothing, so latency matters even less.
//! 7. `read_each` lets every device load from the next one at the same time.
//! 8. `chase_local` and `chase_remote` show the latency: one thread follows a chain whose links are
//!    4 KiB apart, so that each load waits for the one before.
//! 9. `atomics_local`, `atomics_remote` and `atomics_shared` count in 32 counters of one [cache line].
//!    The [atomics][atomic] have the scope of the system: an atomic of the scope of a device is atomic
//!    for that device's threads only, and two devices that update one counter with it lose additions.
//!    They are carried out in the L2 cache of the device that owns the memory, whoever asks.
//! 10. `all_reduce_on_one` sums all arrays on one device and copies the sums back: the links of the
//!     others have nothing to do meanwhile.
//! 11. `all_reduce_ring` divides the arrays into as many parts as there are devices. Each device
//!     passes a part on to the next one, which adds its own, until each has one complete part; as many
//!     steps again hand the complete parts on. Every link works all the time.
//! 12. `all_reduce_direct` has no steps: a kernel of each device loads its part from all devices, adds,
//!     and stores the sums to all. No device waits for another, and no copy is in between.
//! 13. `all_reduce_nccl` is NVIDIA's library, if the machine has it.
//!
//! | variant | change from the previous one | bytes over each link, each way, for two devices |
//! |---|---|---|
//! | `copy_staged` | the second device's array is copied to the first without peer access | none: 4n over PCIe, twice |
//! | `copy_direct` | the same with peer access | 4n one way |
//! | `copy_each` | every device copies from the next, all at the same time | 4n |
//! | `copy_every_pair` | every device copies from every other, one pair after the other | 4n |
//! | `read_words` | a kernel of the first device loads the second's array, 4 bytes per lane | 4n one way |
//! | `read_vectorized` | 16 bytes per lane | 4n one way |
//! | `write_words` | a kernel of the second device stores its array to the first, 4 bytes per lane | 4n one way |
//! | `write_vectorized` | 16 bytes per lane | 4n one way |
//! | `read_each` | a kernel of every device loads the next one's array, all at the same time | 4n |
//! | `chase_local` | one thread follows a chain in its own memory | none |
//! | `chase_remote` | the chain is in the other device's memory | 32 for each link of the chain, one way |
//! | `atomics_local` | every thread adds to one of 32 counters of its own device, by system-scope atomics | none |
//! | `atomics_remote` | the counters are the other device's | one request for each warp, one way |
//! | `atomics_shared` | all devices add to the first one's counters at the same time | one request for each warp, one way |
//! | `all_reduce_on_one` | the first device copies every array, adds them and copies the sums to all | 4n, one way after the other |
//! | `all_reduce_ring` | every device passes one part on at a time: copies and additions in a ring | 4n |
//! | `all_reduce_direct` | a kernel of every device loads its part from all, adds, and stores to all | 4n |
//! | `all_reduce_nccl` | NVIDIA's library | 4n |
//!
//! Expected: an all-reduce of d devices moves 2 (d - 1) / d x 4n bytes over each device's link, each
//! way; for two devices that is 4n. For arrays of 1 GiB at 373 GB/s that is 2.9 ms. The ring has its
//! additions on top, which read and write the device's own memory: 3 x 2n bytes at 3000 GB/s are
//! another 0.5 ms. `all_reduce_on_one` uses one direction at a time and takes twice as long.
//!
//! The key kernel in CUDA C++, for 16 bytes per thread; `arrays` has the devices' sources, then their
//! targets:
//!
//! ```cuda
//! uint4 sum = {};
//! for (int d = 0; d < devices; ++d) sum += ((uint4 *)arrays[d])[i];              // loads over the link
//! for (int d = 0; d < devices; ++d) ((uint4 *)arrays[devices + d])[i] = sum;     // stores over the link
//! ```
//!
//! Each device must be finished before another uses what it stored. An [event] recorded on one
//! device's [stream] and waited for on another's is enough; the host need not wait. The virtual device
//! reports kernels and copies of two devices that use the same bytes and that nothing orders.
//!
//! Common misconception: "peer access makes copies possible". They are possible without it, and
//! slow; what it makes possible is that kernels use the other device's memory.
//!
//! Common misconception: "access works both directions once it is enabled". Each direction is a call
//! of its own, and each call is an error if access was enabled before.
//!
//! Questions:
//! - Where does a load of another device's memory stay? In the L1 cache of the [multiprocessor] that
//!   asked, until the kernel ends, and in the L2 cache of the device that owns the memory. A second
//!   load by another block crosses the link again.
//! - Why is a kernel better than the copy engine here, if both have the same rate? It can do something
//!   with the data on the way: `all_reduce_direct` has no copy whose result waits to be added.
//! - Does memory from a pool (`cuMemAllocAsync`) follow `cuCtxEnablePeerAccess`? No: a pool has an
//!   access list of its own (`cuMemPoolSetAccess`).
//!
//! <!-- measured -->
//! <!-- /measured -->
//!
//! Preconditions: at least as many devices as the size says, each of which can access the others'
//! memory; `all_reduce_nccl` needs NCCL 2 and `NCCL_NVLS_ENABLE=0`, because multicast over NVLink is
//! not for hosts that others share. With fewer devices the variants do not run, and say so.
//!
//! Source: CUDA C++ Programming Guide, "Multi-Device System" (peer-to-peer memory access, peer-to-peer
//! memory copy); CUDA Driver API, "Peer Context Memory Access"; NVIDIA H100 data sheet (NVLink); NCCL
//! documentation, "AllReduce"; NCCL tests, PERFORMANCE.md (bytes of an all-reduce).
//!
//! [device]: cuda_std::glossary#device
//! [kernel]: cuda_std::glossary#kernel
//! [host]: cuda_std::glossary#host
//! [PCIe]: cuda_std::glossary#pcie
//! [unified addressing]: cuda_std::glossary#unified-addressing
//! [sector]: cuda_std::glossary#sector
//! [lane]: cuda_std::glossary#lane
//! [copy engine]: cuda_std::glossary#copy-engine
//! [latency]: cuda_std::glossary#latency
//! [cache line]: cuda_std::glossary#cache-line
//! [atomic]: cuda_std::glossary#atomic
//! [event]: cuda_std::glossary#event
//! [stream]: cuda_std::glossary#stream
//! [multiprocessor]: cuda_std::glossary#multiprocessor

mod nccl;

use anyhow::{Result, bail};
use coalesce::data::{Data, Element, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, HostWork, Output, Pattern, Size, Sweep, Unavailable, Variant,
};
use cuda_host::{DevicePtr, DevicePtrMut, Gpu};
use cust::context::CurrentContext;
use cust::device::Device;
use cust::event::{Event, EventFlags};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust_ext::peer::{self, MutualAccess};
use cust_ext::stream::wait_event;
use kernels::transfer::peer_to_peer::{
    COUNTERS, LINK_DISTANCE, THREADS_PER_BLOCK, peer_to_peer_add, peer_to_peer_all_reduce,
    peer_to_peer_atomics, peer_to_peer_chase, peer_to_peer_copy_vectorized,
    peer_to_peer_copy_words,
};
use nccl::Nccl;
use std::ops::Range;

/// What the first device has of the second.
const RECEIVED: &[usize] = &[0];
/// What each device has of the next.
const SHIFTED: &[usize] = &[1];
/// The sums that each device has.
const SUMS: &[usize] = &[2];
/// The end of the chain.
const END: &[usize] = &[3];
/// Counters of one device's additions, and of all devices'.
const COUNTED: &[usize] = &[4];
const COUNTED_BY_ALL: &[usize] = &[5];
/// Words of an array per link of the chain, and per addition.
const WORDS_PER_LINK: usize = 4096;
const WORDS_PER_ADDITION: usize = 16;

pub const PATTERN: Pattern = Pattern {
    name: "peer_to_peer",
    group: "transfer",
    doc_source: include_str!("peer_to_peer.rs"),
    dimensions: &[
        Dimension::extent("n", "words of each device's array", 1),
        Dimension::amount("devices", "devices that take part", 2),
    ],
    verify_sizes: &[
        &[1, 2],
        &[31, 2],
        &[32, 3],
        &[33, 2],
        &[1001, 4],
        &[4096, 2],
        &[12_345, 3],
        &[33_000, 2],
    ],
    bench_size: &[1 << 28, 2],
    count_size: &[1 << 18, 2],
    sweeps: &[
        Sweep {
            dimension: 0,
            values: &[1 << 10, 1 << 14, 1 << 18, 1 << 22],
            variants: &[0, 1, 5, 15, 16, 17],
        },
        Sweep { dimension: 1, values: &[2, 3, 4, 8], variants: &[2, 8, 15, 16, 17] },
    ],
    case,
    bytes,
    minimum_time: |_, _| None,
    variants: &[
        Variant::host(
            "copy_staged",
            "the second device's array is copied to the first without peer access",
            |gpu, case, size| build(gpu, case, size, Way::Copy { direct: false }),
        )
        .writing(RECEIVED)
        .moving(of_one),
        Variant::host("copy_direct", "the same with peer access", |gpu, case, size| {
            build(gpu, case, size, Way::Copy { direct: true })
        })
        .writing(RECEIVED)
        .moving(of_one),
        Variant::host(
            "copy_each",
            "every device copies from the next, all at the same time",
            |gpu, case, size| build(gpu, case, size, Way::CopyEach),
        )
        .writing(SHIFTED),
        Variant::host(
            "copy_every_pair",
            "every device copies from every other, one pair after the other",
            |gpu, case, size| build(gpu, case, size, Way::CopyEveryPair),
        )
        .writing(SHIFTED),
        Variant::host(
            "read_words",
            "a kernel of the first device loads the second's array, 4 bytes per lane",
            |gpu, case, size| build(gpu, case, size, Way::Read { vectorized: false }),
        )
        .writing(RECEIVED)
        .moving(of_one),
        Variant::host("read_vectorized", "16 bytes per lane", |gpu, case, size| {
            build(gpu, case, size, Way::Read { vectorized: true })
        })
        .writing(RECEIVED)
        .moving(of_one),
        Variant::host(
            "write_words",
            "a kernel of the second device stores its array to the first, 4 bytes per lane",
            |gpu, case, size| build(gpu, case, size, Way::Write { vectorized: false }),
        )
        .writing(RECEIVED)
        .moving(of_one),
        Variant::host("write_vectorized", "16 bytes per lane", |gpu, case, size| {
            build(gpu, case, size, Way::Write { vectorized: true })
        })
        .writing(RECEIVED)
        .moving(of_one),
        Variant::host(
            "read_each",
            "a kernel of every device loads the next one's array, all at the same time",
            |gpu, case, size| build(gpu, case, size, Way::ReadEach),
        )
        .writing(SHIFTED),
        Variant::host(
            "chase_local",
            "one thread follows a chain in its own memory",
            |gpu, case, size| build(gpu, case, size, Way::Chase { remote: false }),
        )
        .writing(END)
        .moving(of_chase),
        Variant::host(
            "chase_remote",
            "the chain is in the other device's memory",
            |gpu, case, size| build(gpu, case, size, Way::Chase { remote: true }),
        )
        .writing(END)
        .moving(of_chase),
        Variant::host(
            "atomics_local",
            "every thread adds to one of 32 counters of its own device, by system-scope atomics",
            |gpu, case, size| build(gpu, case, size, Way::Atomics(Counters::Local)),
        )
        .writing(COUNTED)
        .moving(of_atomics),
        Variant::host(
            "atomics_remote",
            "the counters are the other device's",
            |gpu, case, size| build(gpu, case, size, Way::Atomics(Counters::Remote)),
        )
        .writing(COUNTED)
        .moving(of_atomics),
        Variant::host(
            "atomics_shared",
            "all devices add to the first one's counters at the same time",
            |gpu, case, size| build(gpu, case, size, Way::Atomics(Counters::Shared)),
        )
        .writing(COUNTED_BY_ALL)
        .moving(of_atomics),
        Variant::host(
            "all_reduce_on_one",
            "the first device copies every array, adds them and copies the sums to all",
            |gpu, case, size| build(gpu, case, size, Way::AllReduceOnOne),
        )
        .writing(SUMS),
        Variant::host(
            "all_reduce_ring",
            "every device passes one part on at a time: copies and additions in a ring",
            |gpu, case, size| build(gpu, case, size, Way::AllReduceRing),
        )
        .writing(SUMS),
        Variant::host(
            "all_reduce_direct",
            "a kernel of every device loads its part from all, adds, and stores to all",
            |gpu, case, size| build(gpu, case, size, Way::AllReduceDirect),
        )
        .writing(SUMS),
        Variant::host("all_reduce_nccl", "NVIDIA's library", |gpu, case, size| {
            build(gpu, case, size, Way::AllReduceNccl)
        })
        .writing(SUMS),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, devices] = size.get();
    let sources: Vec<Vec<u32>> = (0..devices).map(|_| random.u32s(n)).collect();
    let next = (0..devices).flat_map(|device| &sources[(device + 1) % devices]);
    let shifted = next.copied().collect();
    let sum = |i: usize| sources.iter().fold(0_u32, |sum, source| sum.wrapping_add(source[i]));
    let sums: Vec<u32> = (0..n).map(sum).collect();
    let links = links(n);
    let mut at = 0;
    let visited: Vec<u32> = (0..links.len())
        .map(|_| {
            at = links[at as usize];
            at
        })
        .collect();
    let end = vec![at, visited.iter().fold(0, |sum, at| sum.wrapping_add(*at))];
    let additions = additions(n) as u32;
    let counted = (0..COUNTERS).map(|counter| (additions + COUNTERS - 1 - counter) / COUNTERS);
    let counted: Vec<u32> = counted.collect();
    let by_all = counted.iter().map(|count| count * devices as u32).collect();
    Case {
        outputs: [sources[1].clone(), shifted, sums.repeat(devices), end, counted, by_all]
            .map(|reference| Output::exact(Data::U32(reference)))
            .into(),
        inputs: sources.into_iter().map(Data::U32).collect(),
    }
}

/// A chain through all of its links that begins and ends with the first: the number of the next link, for each.
fn links(n: usize) -> Vec<u32> {
    let count = n.div_ceil(WORDS_PER_LINK);
    // A step of about 0.62 of the whole that shares no factor with it leads through all, and far each time.
    let shares = |step: usize| {
        let (mut a, mut b) = (step, count);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    let step = (count * 5 / 8..).find(|step| !shares(*step)).unwrap_or(1);
    (0..count).map(|link| ((link + step) % count) as u32).collect()
}

fn additions(n: usize) -> usize {
    n.div_ceil(WORDS_PER_ADDITION)
}

/// Every device receives an array.
fn bytes(size: &Size) -> Bytes {
    let [n, devices] = size.get();
    Bytes { read: 4 * n * devices, written: 4 * n * devices }
}

/// One device receives an array.
fn of_one(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

fn of_chase(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * links(n).len(), written: 8 }
}

fn of_atomics(_: &Size) -> Bytes {
    Bytes { read: 0, written: 4 * COUNTERS as usize }
}

/// How data comes from one device to another.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Copy { direct: bool },
    CopyEach,
    CopyEveryPair,
    Read { vectorized: bool },
    Write { vectorized: bool },
    ReadEach,
    Chase { remote: bool },
    Atomics(Counters),
    AllReduceOnOne,
    AllReduceRing,
    AllReduceDirect,
    AllReduceNccl,
}

/// Whose counters who updates.
#[derive(Clone, Copy, PartialEq)]
enum Counters {
    Local,
    Remote,
    Shared,
}

impl Way {
    /// Whether it takes more than a stream of the first device.
    fn needs_others(self) -> bool {
        !matches!(self, Way::Copy { .. } | Way::Read { .. } | Way::Chase { .. })
    }
}

/// The arrays of every device, and how they are moved.
struct Work {
    way: Way,
    n: usize,
    sources: Vec<DeviceBuffer<u32>>,
    targets: Vec<DeviceBuffer<u32>>,
    /// What a device has received and not yet added, on each.
    received: Vec<DeviceBuffer<u32>>,
    /// For each device, the addresses of all sources and all targets.
    addresses: Vec<DeviceBuffer<u64>>,
    links: DeviceBuffer<u32>,
    counters: DeviceBuffer<u32>,
    /// The other devices begin after this event of the first, which goes on after theirs.
    fork: Event,
    joins: Vec<Event>,
    /// For each step of a ring, an event of each device.
    steps: Vec<Vec<Event>>,
    nccl: Option<Nccl>,
    /// Ends last: whoever uses another's memory is done.
    _access: Option<MutualAccess>,
}

/// The first devices of the machine, the one that is measured first.
fn machine(gpu: &Gpu, devices: usize) -> Result<Vec<&Gpu>> {
    let peers = gpu.peers()?;
    if peers.len() + 1 < devices {
        let has = match peers.len() {
            0 => "one device".to_owned(),
            others => format!("{} devices", others + 1),
        };
        bail!(Unavailable(format!("it needs {devices} devices, and the machine has {has}")));
    }
    Ok(std::iter::once(gpu).chain(&peers[..devices - 1]).collect())
}

fn build(gpu: &Gpu, case: &Case, size: &Size, way: Way) -> Result<Box<dyn HostWork>> {
    let [n, devices] = size.get();
    let gpus = machine(gpu, devices)?;
    let all: Vec<Device> = gpus.iter().map(|gpu| *gpu.device()).collect();
    for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
        if one.as_raw() == other.as_raw() || way == (Way::Copy { direct: false }) {
            continue;
        }
        if !peer::can_access(one, other)? {
            bail!(Unavailable("the devices cannot access each other's memory".to_owned()));
        }
        if matches!(way, Way::Atomics(_)) && !peer::info(one, other)?.native_atomics {
            bail!(Unavailable("atomics do not work over the devices' link".to_owned()));
        }
    }
    let access = match way {
        Way::Copy { direct: false } => {
            MutualAccess::end(&all)?;
            None
        }
        // NCCL enables what it needs.
        Way::AllReduceNccl => None,
        _ => Some(MutualAccess::enable(&all)?),
    };
    let on_each = |make: &dyn Fn(usize) -> Result<DeviceBuffer<u32>>| -> Result<Vec<_>> {
        let made = gpus.iter().enumerate().map(|(device, gpu)| {
            gpu.make_current()?;
            let made = make(device)?;
            // Copies from pageable memory may return before they have arrived.
            CurrentContext::synchronize()?;
            Ok(made)
        });
        made.collect()
    };
    let poison = |words: usize| -> Result<DeviceBuffer<u32>> {
        // SAFETY: it is filled before anybody reads it.
        let mut buffer = unsafe { DeviceBuffer::uninitialized(words) }?;
        buffer.set_8(POISON)?;
        Ok(buffer)
    };
    let source = |device: usize| {
        let values = u32::view(&case.inputs[device]).expect("the case holds u32");
        Ok(DeviceBuffer::from_slice(values)?)
    };
    let (sources, targets) = (on_each(&source)?, on_each(&|_| poison(n))?);
    let adds = matches!(way, Way::AllReduceOnOne | Way::AllReduceRing);
    let received = if adds { on_each(&|_| poison(n))? } else { Vec::new() };
    let mut addresses = Vec::new();
    for (device, gpu) in gpus.iter().enumerate() {
        gpu.make_current()?;
        let of = |arrays: &[DeviceBuffer<u32>], other: usize| {
            arrays[(device + other) % devices].as_device_ptr().as_raw()
        };
        let lists = [&sources, &targets].into_iter();
        let list = lists.flat_map(|arrays| (0..devices).map(move |other| of(arrays, other)));
        addresses.push(DeviceBuffer::from_slice(&list.collect::<Vec<u64>>())?);
        CurrentContext::synchronize()?;
    }
    let event = || Event::new(EventFlags::DISABLE_TIMING);
    let each = |gpus: &[&Gpu]| -> Result<Vec<Event>> {
        let made = gpus.iter().map(|gpu| {
            gpu.make_current()?;
            Ok(event()?)
        });
        made.collect()
    };
    let (joins, ring) = (each(&gpus[1..])?, 2 * (devices - 1));
    let steps = (0..ring).map(|_| each(&gpus)).collect::<Result<_>>()?;
    let owner = |is_remote: bool| gpus[usize::from(is_remote)].make_current();
    owner(way == Way::Chase { remote: true })?;
    let chain = if matches!(way, Way::Chase { .. }) { links(n) } else { vec![0] };
    let mut spread = vec![0; chain.len() * LINK_DISTANCE as usize];
    for (link, next) in chain.iter().enumerate() {
        spread[link * LINK_DISTANCE as usize] = *next;
    }
    let links = DeviceBuffer::from_slice(&spread)?;
    CurrentContext::synchronize()?;
    owner(way == Way::Atomics(Counters::Remote))?;
    let counters = poison(COUNTERS as usize)?;
    CurrentContext::synchronize()?;
    gpu.make_current()?;
    let nccl = if way == Way::AllReduceNccl { Some(Nccl::connect(&gpus)?) } else { None };
    Ok(Box::new(Work {
        way,
        n,
        sources,
        targets,
        received,
        addresses,
        links,
        counters,
        fork: event()?,
        joins,
        steps,
        nccl,
        _access: access,
    }))
}

/// Enqueues the copy of a part of an array that `from` has to the same part of one that `to` has, on `to`'s stream.
fn copy(
    from: (&DeviceBuffer<u32>, &Gpu),
    to: (&DeviceBuffer<u32>, &Gpu),
    part: Range<usize>,
) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    to.1.make_current()?;
    let (source, mut target) = (from.0.index(part.clone()), to.0.index(part));
    // SAFETY: both arrays are the work's, which waits for the streams before it ends; events order what overlaps.
    unsafe {
        peer::copy((&source, from.1.context()), (&mut target, to.1.context()), to.1.stream())?;
    }
    Ok(())
}

/// The address of a part of an array.
fn at(array: &DeviceBuffer<u32>, first: usize) -> u64 {
    array.as_device_ptr().as_raw() + 4 * first as u64
}

/// Enqueues a kernel that works on `words` words of two arrays, four per thread.
fn launch_copy(gpu: &Gpu, source: u64, target: u64, n: usize, vectorized: bool) -> Result<()> {
    gpu.make_current()?;
    let (from, to) = (DevicePtr::from_raw(source, n), DevicePtrMut::from_raw(target, n));
    let (threads, words) = (THREADS_PER_BLOCK, n as u32);
    // SAFETY: both arrays have n words, are aligned as allocations are, and can be accessed by the device; the grid
    // covers n, and events order other uses.
    unsafe {
        let launcher = gpu.launcher();
        if vectorized {
            let grid = words.div_ceil(4 * threads);
            launcher.launch(peer_to_peer_copy_vectorized, grid, threads, 0, (from, to, words))
        } else {
            let grid = words.div_ceil(threads);
            launcher.launch(peer_to_peer_copy_words, grid, threads, 0, (from, to, words))
        }
    }
}

/// Enqueues the sum of a part of two arrays of one device into the second.
fn launch_add(
    gpu: &Gpu,
    source: &DeviceBuffer<u32>,
    target: &DeviceBuffer<u32>,
    part: Range<usize>,
) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    gpu.make_current()?;
    let n = part.len();
    let from = DevicePtr::<u32>::from_raw(at(source, part.start), n);
    let to = DevicePtrMut::<u32>::from_raw(at(target, part.start), n);
    let (threads, words) = (THREADS_PER_BLOCK, n as u32);
    // SAFETY: both parts have n words and begin with a multiple of four; the grid covers n, and the stream and events
    // order other uses.
    unsafe {
        let grid = words.div_ceil(4 * threads);
        gpu.launcher().launch(peer_to_peer_add, grid, threads, 0, (from, to, words))
    }
}

impl Work {
    /// The part of every array that is one device's business: a multiple of four words, but for the last.
    fn part(&self, device: usize) -> Range<usize> {
        let words = self.n.div_ceil(self.sources.len()).next_multiple_of(4);
        (device * words).min(self.n)..((device + 1) * words).min(self.n)
    }

    fn enqueue(&self, gpus: &[&Gpu]) -> Result<()> {
        let (n, devices) = (self.n, gpus.len());
        let next = |device: usize| (device + 1) % devices;
        let source = |device: usize| (&self.sources[device], gpus[device]);
        let target = |device: usize| (&self.targets[device], gpus[device]);
        let start = |arrays: &[DeviceBuffer<u32>], device: usize| at(&arrays[device], 0);
        match self.way {
            Way::Copy { .. } => copy(source(1), target(0), 0..n),
            Way::CopyEach => {
                (0..devices).try_for_each(|to| copy(source(next(to)), target(to), 0..n))
            }
            Way::CopyEveryPair => self.copy_every_pair(gpus),
            Way::Read { vectorized } => {
                let (from, to) = (start(&self.sources, 1), start(&self.targets, 0));
                launch_copy(gpus[0], from, to, n, vectorized)
            }
            Way::Write { vectorized } => {
                let (from, to) = (start(&self.sources, 1), start(&self.targets, 0));
                launch_copy(gpus[1], from, to, n, vectorized)
            }
            Way::ReadEach => (0..devices).try_for_each(|to| {
                let from = start(&self.sources, next(to));
                launch_copy(gpus[to], from, start(&self.targets, to), n, true)
            }),
            Way::Chase { .. } => self.chase(gpus[0]),
            Way::Atomics(counters) => self.atomics(gpus, counters),
            Way::AllReduceOnOne => self.all_reduce_on_one(gpus),
            Way::AllReduceRing => self.all_reduce_ring(gpus),
            Way::AllReduceDirect => self.all_reduce_direct(gpus),
            Way::AllReduceNccl => {
                let addresses = self.sources.iter().zip(&self.targets);
                let addresses: Vec<_> = addresses.map(|(a, b)| (at(a, 0), at(b, 0))).collect();
                let Some(nccl) = &self.nccl else { return Ok(()) };
                // SAFETY: sources and targets have n words each, live as long as this, and are used by nobody else.
                unsafe { nccl.all_reduce(gpus, &addresses, n) }
            }
        }
    }

    /// Each device's copy begins when that of the pair before has ended; the last one is that from the next device.
    fn copy_every_pair(&self, gpus: &[&Gpu]) -> Result<()> {
        let devices = gpus.len();
        let mut before: Option<&Event> = None;
        for (step, distance) in (2..=devices).chain([1]).filter(|it| it % devices != 0).enumerate()
        {
            for (to, gpu) in gpus.iter().enumerate() {
                gpu.make_current()?;
                if let Some(before) = before {
                    wait_event(gpu.stream(), before)?;
                }
                let from = (to + distance) % devices;
                copy((&self.sources[from], gpus[from]), (&self.targets[to], gpu), 0..self.n)?;
                let done = &self.steps[step][to];
                done.record(gpu.stream())?;
                before = Some(done);
            }
        }
        Ok(())
    }

    fn chase(&self, gpu: &Gpu) -> Result<()> {
        let (words, hops) = (self.links.len(), self.links.len() / LINK_DISTANCE as usize);
        let links = DevicePtr::<u32>::from_raw(at(&self.links, 0), words);
        let result = DevicePtrMut::<u32>::from_raw(at(&self.counters, 0), COUNTERS as usize);
        // SAFETY: each link holds the number of a link, and the counters have room for two words.
        unsafe { gpu.launcher().launch(peer_to_peer_chase, 1, 1, 0, (links, result, hops as u32)) }
    }

    fn atomics(&self, gpus: &[&Gpu], whose: Counters) -> Result<()> {
        let owner = usize::from(whose == Counters::Remote);
        let workers = if whose == Counters::Shared { gpus } else { &gpus[..1] };
        gpus[owner].make_current()?;
        let mut all = self.counters.index(..);
        // SAFETY: the counters live as long as the work, which waits for the stream.
        unsafe { all.set_8_async(0, gpus[owner].stream()) }?;
        let zeroed = &self.steps[0][owner];
        zeroed.record(gpus[owner].stream())?;
        let additions = additions(self.n) as u32;
        for gpu in workers {
            gpu.make_current()?;
            wait_event(gpu.stream(), zeroed)?;
            let counters = DevicePtrMut::<u32>::from_raw(at(&self.counters, 0), COUNTERS as usize);
            let grid = additions.div_ceil(THREADS_PER_BLOCK);
            // SAFETY: the grid covers the additions; all accesses to the counters are atomic for the system, after they
            // were zeroed, and the devices' link has native atomics.
            unsafe {
                gpu.launcher().launch(
                    peer_to_peer_atomics,
                    grid,
                    THREADS_PER_BLOCK,
                    0,
                    (counters, additions),
                )?;
            }
        }
        Ok(())
    }

    fn all_reduce_on_one(&self, gpus: &[&Gpu]) -> Result<()> {
        let all = 0..self.n;
        let [one, received] = [&self.targets[0], &self.received[0]].map(|array| (array, gpus[0]));
        copy((&self.sources[0], gpus[0]), one, all.clone())?;
        for (source, gpu) in self.sources.iter().zip(gpus).skip(1) {
            copy((source, gpu), received, all.clone())?;
            launch_add(gpus[0], received.0, one.0, all.clone())?;
        }
        let summed = &self.steps[0][0];
        summed.record(gpus[0].stream())?;
        for (target, gpu) in self.targets.iter().zip(gpus).skip(1) {
            gpu.make_current()?;
            wait_event(gpu.stream(), summed)?;
            copy(one, (target, gpu), all.clone())?;
        }
        Ok(())
    }

    /// In step `s` device `d` takes from the device before it part `d - 1 - s`, which is complete there but for what is
    /// still to come, and adds its own; after all but one steps each has one whole part. In as many more steps these are
    /// handed on.
    fn all_reduce_ring(&self, gpus: &[&Gpu]) -> Result<()> {
        let devices = gpus.len();
        let last = devices - 1;
        for (step, done) in self.steps.iter().enumerate() {
            for (device, gpu) in gpus.iter().enumerate() {
                let before = (device + last) % devices;
                gpu.make_current()?;
                if step > 0 {
                    wait_event(gpu.stream(), &self.steps[step - 1][before])?;
                }
                let behind = if step < last { step + 1 } else { step - last };
                let part = self.part((device + 2 * devices - behind) % devices);
                let (own, target) = (&self.sources[device], &self.targets[device]);
                let from = if step == 0 { &self.sources } else { &self.targets };
                copy((&from[before], gpus[before]), (target, gpu), part.clone())?;
                if step < last {
                    launch_add(gpu, own, target, part)?;
                }
                done[device].record(gpu.stream())?;
            }
        }
        Ok(())
    }

    fn all_reduce_direct(&self, gpus: &[&Gpu]) -> Result<()> {
        let devices = gpus.len() as u32;
        for (device, gpu) in gpus.iter().enumerate() {
            let part = self.part(device);
            if part.is_empty() {
                continue;
            }
            gpu.make_current()?;
            let (first, end) = (part.start as u32, part.end as u32);
            let grid = (end - first).div_ceil(4 * THREADS_PER_BLOCK);
            let arrays = &self.addresses[device];
            // SAFETY: the list has the addresses of every device's source and target, which all may access; the grid
            // covers this device's part, which begins with a multiple of four and which no other device writes.
            unsafe {
                gpu.launcher().launch(
                    peer_to_peer_all_reduce,
                    grid,
                    THREADS_PER_BLOCK,
                    0,
                    (arrays, devices, first, end),
                )?;
            }
        }
        Ok(())
    }
}

impl HostWork for Work {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let gpus = machine(gpu, self.sources.len())?;
        if !self.way.needs_others() {
            return self.enqueue(&gpus);
        }
        self.fork.record(gpu.stream())?;
        for peer in &gpus[1..] {
            peer.make_current()?;
            wait_event(peer.stream(), &self.fork)?;
        }
        self.enqueue(&gpus)?;
        for (peer, join) in gpus[1..].iter().zip(&self.joins) {
            peer.make_current()?;
            join.record(peer.stream())?;
        }
        gpu.make_current()?;
        for join in &self.joins {
            wait_event(gpu.stream(), join)?;
        }
        Ok(())
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let of = |array: &DeviceBuffer<u32>| -> Result<Vec<u32>> {
            let mut values = vec![0; array.len()];
            array.copy_to(&mut values)?;
            Ok(values)
        };
        let result = match self.way {
            Way::Copy { .. } | Way::Read { .. } | Way::Write { .. } => of(&self.targets[0])?,
            Way::Chase { .. } => of(&self.counters)?[..2].to_vec(),
            Way::Atomics(_) => of(&self.counters)?,
            _ => {
                let mut all = Vec::new();
                for (target, gpu) in self.targets.iter().zip(machine(gpu, self.targets.len())?) {
                    gpu.make_current()?;
                    all.extend(of(target)?);
                }
                gpu.make_current()?;
                all
            }
        };
        Ok(vec![Data::U32(result)])
    }

    fn grows_in_blocks(&self) -> bool {
        !matches!(self.way, Way::Chase { .. })
    }
}
