//! # Peer to peer: memory of another device
//!
//! Shows: with peer access a [device] copies, loads and stores another device's memory over their
//! link, and a [kernel] that does so itself needs no copies at all; without it the same copy call
//! silently goes through the [host], which is many times slower.
//!
//! The surprise: `copy_staged` and `copy_direct` make the same call, `cuMemcpyPeerAsync`, with the
//! same arguments. Without peer access the driver copies to the host's memory and from there to the
//! other device, over [PCIe] and without a word. On two H100 the first takes many times as long
//! (`results/nvidia-h100-x2/peer_to_peer.csv`).
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
//!   |       +---- NVLink, 2 ways ----+      |        18 links each way on an H100
//! memory                                  memory
//!   \______________ PCIe, host ____________/         16 lanes each way
//! ```
//!
//! What is counted is not requests but bytes over the link. The virtual device counts [sectors][sector]
//! of loads and stores behind the link apart from the others, and predicts a kernel at the rate of the
//! link: 16 sectors per [warp] and [request] for 16 bytes per [lane], as in the device's own memory.
//!
//! 1. `copy_staged` copies the second device's array to the first without peer access.
//! 2. `copy_direct` enables peer access first. The [copy engine] now reads the other device's memory.
//! 3. `copy_each` lets every device copy from the next one at the same time. A link has separate wires
//!    for each direction, so with two devices the copies should take the time of one.
//! 4. `copy_every_pair` does one ordered pair of devices after the other. Its time divided by their
//!    number is that of the average pair: where it is longer than `copy_direct`, some pairs have a
//!    slower link.
//! 5. `read_words` and `read_vectorized` are kernels of the first device that load the other's
//!    memory, 4 and 16 bytes per lane. Little's law says what the link needs: its rate times its
//!    [latency], some hundred kilobytes in flight. A full H100 has 132 x 2048 threads, which have
//!    132 x 2048 x 4 B = 1.1 MB in flight with 4 bytes each: enough, so 16 bytes per lane gain
//!    nothing. On two H100 both have nearly the rate of the copy engine, and that is what kernels
//!    get there: none of 72 other shapes (more loads at once, other blocks, bulk copies) gets all
//!    of it (`results/nvidia-h100-x2/link-shapes.txt`).
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
//!     hands a part on to the next one, which adds its own, until each has one complete part; as many
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
//! | `all_reduce_ring` | every device hands one part on at a time: copies and additions in a ring | 4n |
//! | `all_reduce_direct` | a kernel of every device loads its part from all, adds, and stores to all | 4n |
//! | `all_reduce_nccl` | NVIDIA's library | 4n |
//!
//! Expected: an all-reduce of d devices moves 2 (d - 1) / d x 4n bytes over each device's link,
//! each way; for two devices that is 4n, as much as `copy_each`. The ring has its additions on top,
//! which read and write the device's own memory: 3 x 2n bytes, at the rate of that memory, which is
//! far above that of the link. `all_reduce_on_one` uses one direction at a time, so it takes
//! exactly twice as long by this count.
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
#![doc = include_str!("../../../../crates/report/src/links.md")]

mod chain;
mod work;

use crate::cases::copy;
use crate::prelude::*;
use chain::links;
use kernels::transfer::peer_to_peer::COUNTERS;
use work::{Counters, Way, additions, build};

/// The output with what the first device has of the second.
const RECEIVED: &[usize] = &[0];
/// The output with what each device has of the next.
const SHIFTED: &[usize] = &[1];
/// The sums that each device has.
const SUMS: &[usize] = &[2];
const END: &[usize] = &[3];
/// Counters of one device's additions, and of all devices'.
const COUNTED: &[usize] = &[4];
const COUNTED_BY_ALL: &[usize] = &[5];

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
        variant!("copy_staged", build, Way::Copy { direct: false })
            .writing(RECEIVED)
            .moving(copy::bytes),
        variant!("copy_direct", build, Way::Copy { direct: true })
            .writing(RECEIVED)
            .moving(copy::bytes),
        variant!("copy_each", build, Way::CopyEach).writing(SHIFTED),
        variant!("copy_every_pair", build, Way::CopyEveryPair).writing(SHIFTED),
        variant!("read_words", build, Way::Read { vectorized: false })
            .writing(RECEIVED)
            .moving(copy::bytes),
        variant!("read_vectorized", build, Way::Read { vectorized: true })
            .writing(RECEIVED)
            .moving(copy::bytes),
        variant!("write_words", build, Way::Write { vectorized: false })
            .writing(RECEIVED)
            .moving(copy::bytes),
        variant!("write_vectorized", build, Way::Write { vectorized: true })
            .writing(RECEIVED)
            .moving(copy::bytes),
        variant!("read_each", build, Way::ReadEach).writing(SHIFTED),
        variant!("chase_local", build, Way::Chase { remote: false }).writing(END).moving(of_chase),
        variant!("chase_remote", build, Way::Chase { remote: true }).writing(END).moving(of_chase),
        variant!("atomics_local", build, Way::Atomics(Counters::Local))
            .writing(COUNTED)
            .moving(of_atomics),
        variant!("atomics_remote", build, Way::Atomics(Counters::Remote))
            .writing(COUNTED)
            .moving(of_atomics),
        variant!("atomics_shared", build, Way::Atomics(Counters::Shared))
            .writing(COUNTED_BY_ALL)
            .moving(of_atomics),
        variant!("all_reduce_on_one", build, Way::AllReduceOnOne).writing(SUMS),
        variant!("all_reduce_ring", build, Way::AllReduceRing).writing(SUMS),
        variant!("all_reduce_direct", build, Way::AllReduceDirect).writing(SUMS),
        variant!("all_reduce_nccl", build, Way::AllReduceNccl).writing(SUMS),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, devices] = size.get();
    let sources: Vec<Vec<u32>> = (0..devices).map(|_| random.u32s(n)).collect();
    let next = (0..devices).flat_map(|device| &sources[(device + 1) % devices]);
    let shifted = next.copied().collect();
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
        outputs: [
            sources[1].clone(),
            shifted,
            reference(&sources).repeat(devices),
            end,
            counted,
            by_all,
        ]
        .map(|reference| Output::exact(Data::U32(reference)))
        .into(),
        inputs: sources.into_iter().map(Data::U32).collect(),
    }
}

/// The sum of all arrays, element by element.
fn reference(sources: &[Vec<u32>]) -> Vec<u32> {
    let sum = |i: usize| sources.iter().fold(0_u32, |sum, source| sum.wrapping_add(source[i]));
    (0..sources[0].len()).map(sum).collect()
}

/// Every device receives an array.
fn bytes(size: &Size) -> Bytes {
    let [n, devices] = size.get();
    Bytes { read: 4 * n * devices, written: 4 * n * devices }
}

fn of_chase(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * links(n).len(), written: 8 }
}

/// Each addition of a device changes a word.
fn of_atomics(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 0, written: 4 * additions(n) }
}
