//! # Unified addressing: one range of addresses for all memory, but not one speed
//!
//! Shows: with [unified addressing] a pointer identifies its memory space, and [pinned memory] has
//! the same address on [host] and [device]; where the memory is still decides the time.
//!
//! The surprise: the same [kernel] gets the same kind of pointer and computes the same numbers, but
//! takes 20 times (`pinned` / `device`) as long: `device` (21.50 us), `pinned` (421.4 us). A
//! pointer that works everywhere does not tell its price. And `registered` (578.4 us) is slower
//! still, because its array does not begin at a [sector].
//!
//! Under unified addressing, which every 64-bit CUDA program has, the driver gives out addresses so
//! that no address means two things. So `cudaMemcpy` need not be told a direction
//! (`cudaMemcpyDefault`), a kernel can take the address of pinned memory as it is, and the driver
//! can be asked what an address is (`cudaPointerGetAttributes`, here `pointer::info`):
//!
//! ```text
//! memory        kind       the host reads it   the device reads it, at the same address
//! device        device     no                  yes  yes
//! pinned        host       yes                 yes  yes      all pinned memory is mapped
//! mapped        host       yes                 yes  yes
//! registered    host       yes                 yes  where the device promises it
//! managed       managed    yes                 yes  yes      its pages move to where they are used
//! plain         unknown    yes                 not by this rule
//! ```
//!
//! Each variant asks the driver about its input. Then it launches a kernel that adds one to each
//! element of the input and writes an output in the same kind of memory.
//!
//! 1. `device` is memory of `cudaMalloc`. The driver answers kind 2, and the host cannot use the
//!    address.
//! 2. `pinned` is memory of `cudaHostAlloc` without any flag. The kernel gets the host's address,
//!    and each of its [requests][request] crosses [PCIe]. It costs no copy and no second array;
//!    what it costs is the rate of PCIe instead of that of device memory.
//! 3. `mapped` asks for [mapped memory] and for its device address (`cudaHostGetDevicePointer`).
//!    The answer is the same address: under unified addressing all pinned memory is mapped.
//! 4. `registered` is a vector of the program, pinned afterwards with `cudaHostRegister`. Its
//!    address existed before the driver knew of it, so it may be taken on the device; then the
//!    kernel needs the other address that the driver gives. The array begins 16 bytes after the
//!    start of a page, as large vectors of glibc do. A [warp] reads 128 bytes, which are 4 sectors
//!    if they begin at one, and 5 if they do not.
//! 5. `managed` is [managed memory] (`cudaMallocManaged`). Once its pages are on the device, it is
//!    as fast as device memory; the first access waits for them.
//! 6. `plain` is an ordinary vector, of which the driver knows nothing. No kernel uses it here:
//!    whether one could depends on the system.
//!
//! | variant | change from the previous one | facts |
//! |---|---|---|
//! | `device` | device memory | kind 2; the host has no address |
//! | `pinned` | pinned memory without flags; the kernel takes its host address | kind 1; one address for both |
//! | `mapped` | pinned memory allocated as mapped; the kernel takes its device address | kind 1; one address for both |
//! | `registered` | a vector of the program that is pinned afterwards | kind 1; one address where the device promises it |
//! | `managed` | managed memory, whose pages move to where they are used | kind 4; one address for both |
//! | `plain` | an ordinary vector; no kernel | kind 0: the driver does not know it |
//!
//! Expected: the facts above, which are outputs with a reference and are checked. The times follow
//! the place of the memory: `device` (21.50 us) and `managed` (21.44 us) at the rate of device
//! memory and its [L2 cache], `pinned` (421.4 us) and `mapped` (421.4 us) at that of PCIe,
//! `registered` (578.4 us) below it. `plain` (6.240 us) is the question alone, a call of the
//! driver.
//!
//! In CUDA C++, and in Rust:
//!
//! ```cuda
//! cudaPointerAttributes what;                    // let what = pointer::info(address)?;
//! cudaPointerGetAttributes(&what, pointer);      // what.kind, what.host_address
//! increment<<<grid, 256>>>(pinned, target, n);   // the host address itself
//! ```
//!
//! Common misconception: "unified addressing moves data to where it is used". It only names it.
//! What moves pages is [unified memory], of which `managed` is the example.
//!
//! Common misconception: "pinned memory must be allocated as mapped before a kernel can use it".
//! That was so before unified addressing; today all pinned memory is mapped.
//!
//! Questions:
//! - Why can the driver tell the kind of an address? It has allocated or registered each of these
//!   ranges itself, so it looks the address up. An ordinary vector is in none of them.
//! - May I always pass the host's address of registered memory? Ask for the attribute
//!   `cudaDevAttrCanUseHostPointerForRegisteredMem`: if it is 1, the addresses are equal. Otherwise
//!   use what `cudaHostGetDevicePointer` returns. The check here asserts no more than that.
//! - Why is `device` below the [measured peak] of device memory? 16 MiB in and 16 MiB out take
//!   about as long as starting the kernel and waiting for its end, and fit into the L2 cache.
//! - Why do 16 bytes matter so much? Over PCIe each sector that is touched in addition is a request
//!   more. An array that begins at a multiple of 128 bytes avoids it; what `cudaHostAlloc` returns
//!   begins at a page.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `device` | 21.50 | 1560 | 36 | 1.00 |
//! | `pinned` | 421.4 | 80 | 83 | 0.05 |
//! | `mapped` | 421.4 | 80 | 83 | 0.05 |
//! | `registered` | 578.4 | 58 | 61 | 0.04 |
//! | `managed` | 21.44 | 1565 | 37 | 1.00 |
//! | `plain` | 6.240 | 0 |  | 3.45 |
//! <!-- /measured -->
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Programming Guide, "Unified Virtual Address Space", "Mapped Memory"; CUDA
//! Driver API, "Unified Addressing", "cuMemHostRegister".
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy::{LENGTHS, bytes};
use crate::prelude::*;
use cust::memory::{CopyDestination, DeviceBuffer, DevicePointer, UnifiedBuffer};
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::host_memory::{HostBuffer, HostFlags, RegisteredBuffer};
use cust_ext::pointer::{self, MemoryKind};
use kernels::memory_management::unified_addressing::{
    THREADS_PER_BLOCK, unified_addressing_increment,
};

/// The questions about an address; the facts of a kind of memory are an output with one element for each.
///
/// 0: the driver's number of the kind, 0 for memory that it does not know. 1: whether it is host memory. 2: whether the
/// host has an address of it. 3: whether that is the address asked about. 4: whether the device has one. 5: whether that
/// is the address asked about, or needs not be.
const FACTS: usize = 6;

const PAGE: usize = 4096;
/// Bytes from the start of a page to the first element of the registered vector, as glibc's allocator has it for large
/// vectors. The pattern fixes it, because the address decides the traffic and a small vector may be anywhere.
const PAST_PAGE: usize = 16;

pub const PATTERN: Pattern = Pattern {
    name: "unified_addressing",
    group: "memory_management",
    doc_source: include_str!("unified_addressing.rs"),
    dimensions: &[Dimension::extent("n", "elements of each array", 1)],
    verify_sizes: LENGTHS,
    bench_size: &[1 << 22],
    count_size: &[1 << 22],
    sweeps: &[],
    case,
    bytes,
    minimum_time,
    variants: &[
        variant!("device", build, Kind::Device).writing(&[0, 1]),
        variant!("pinned", build, Kind::Pinned).writing(&[0, 2]),
        variant!("mapped", build, Kind::Mapped).writing(&[0, 3]),
        variant!("registered", build, Kind::Registered).writing(&[0, 4]),
        variant!("managed", build, Kind::Managed).writing(&[0, 5]),
        variant!("plain", build, Kind::Plain)
            .writing(&[6])
            .moving(|_| Bytes { read: 0, written: 0 }),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    let mut outputs = vec![Output::exact(Data::U32(reference(&source)))];
    outputs.extend(facts_of_kinds().map(|facts| Output::exact(Data::U32(facts.to_vec()))));
    Case { inputs: vec![Data::U32(source)], outputs }
}

fn reference(source: &[u32]) -> Vec<u32> {
    source.iter().map(|value| value.wrapping_add(1)).collect()
}

/// Returns what the Programming Guide promises of each kind, in the order of the variants.
fn facts_of_kinds() -> [[u32; FACTS]; 6] {
    let (device, host, managed) = ([2, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1], [4, 0, 1, 1, 1, 1]);
    [device, host, host, host, managed, [0; FACTS]]
}

fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    let limit = match variant.name {
        "device" | "managed" => Resource::Copy,
        "plain" => return None,
        _ => Resource::Bidirectional,
    };
    Some((limit, bytes(size).total()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Device,
    Pinned,
    Mapped,
    Registered,
    Managed,
    Plain,
}

/// Memory of a kind: the input, and the output where there is one.
enum Memory {
    Device {
        source: DeviceBuffer<u32>,
        target: DeviceBuffer<u32>,
    },
    PageLocked {
        source: HostBuffer<u32>,
        target: HostBuffer<u32>,
    },
    /// Input and output, of `len` elements each, in one vector from its element `first` on: pages are locked whole, and
    /// two small vectors may share one.
    Registered {
        both: RegisteredBuffer<u32>,
        first: usize,
        len: usize,
    },
    Managed {
        source: UnifiedBuffer<u32>,
        target: UnifiedBuffer<u32>,
    },
    Plain {
        source: Vec<u32>,
    },
}

impl Memory {
    fn new(kind: Kind, source: &[u32]) -> Result<Memory> {
        let poison = vec![u32::from_ne_bytes([POISON; 4]); source.len()];
        let page_locked = |flags| -> Result<Memory> {
            let source = HostBuffer::from_slice(source, flags)?;
            Ok(Memory::PageLocked { source, target: HostBuffer::from_slice(&poison, flags)? })
        };
        Ok(match kind {
            Kind::Device => Memory::Device {
                source: DeviceBuffer::from_slice(source)?,
                target: DeviceBuffer::from_slice(&poison)?,
            },
            Kind::Pinned => page_locked(HostFlags::PINNED)?,
            Kind::Mapped => page_locked(HostFlags::MAPPED)?,
            Kind::Registered => {
                let mut values = vec![0; 2 * source.len() + PAGE / size_of::<u32>()];
                let past = values.as_ptr().addr() % PAGE;
                let first = (PAGE + PAST_PAGE - past) % PAGE / size_of::<u32>();
                values[first..][..source.len()].copy_from_slice(source);
                values[first + source.len()..][..source.len()].copy_from_slice(&poison);
                let both = RegisteredBuffer::new(values, true)?;
                Memory::Registered { both, first, len: source.len() }
            }
            Kind::Managed => Memory::Managed {
                source: UnifiedBuffer::from_slice(source)?,
                target: UnifiedBuffer::from_slice(&poison)?,
            },
            Kind::Plain => Memory::Plain { source: source.to_vec() },
        })
    }

    fn len(&self) -> usize {
        match self {
            Memory::Device { source, .. } => source.len(),
            Memory::PageLocked { source, .. } => source.len(),
            Memory::Registered { len, .. } => *len,
            Memory::Managed { source, .. } => source.len(),
            Memory::Plain { source } => source.len(),
        }
    }

    /// The address by which the program knows the input.
    fn address(&self) -> u64 {
        match self {
            Memory::Device { source, .. } => source.as_device_ptr().as_raw(),
            Memory::PageLocked { source, .. } => host_address(source),
            Memory::Registered { both, first, .. } => host_address(&both[*first..]),
            Memory::Managed { source, .. } => host_address(source),
            Memory::Plain { source } => host_address(source),
        }
    }

    /// The addresses of input and output that the kernel gets.
    fn pointers(&self) -> Result<Option<[DevicePointer<u32>; 2]>> {
        let same = |values: &[u32]| DevicePointer::from_raw(host_address(values));
        Ok(match self {
            Memory::Device { source, target } => {
                Some([source.as_device_ptr(), target.as_device_ptr()])
            }
            Memory::PageLocked { source, target } if source.flags().mapped => {
                Some([source.device_pointer()?, target.device_pointer()?])
            }
            Memory::PageLocked { source, target } => Some([same(source), same(target)]),
            Memory::Registered { both, first, len } => {
                let begin = both.device_pointer()?.as_raw();
                let element = |index: usize| DevicePointer::from_raw(begin + 4 * index as u64);
                Some([element(*first), element(first + len)])
            }
            Memory::Managed { source, target } => Some([same(source), same(target)]),
            Memory::Plain { .. } => None,
        })
    }

    fn values(&self) -> Result<Option<Vec<u32>>> {
        Ok(match self {
            Memory::Device { target, .. } => {
                let mut values = vec![0; target.len()];
                target.copy_to(&mut values)?;
                Some(values)
            }
            Memory::PageLocked { target, .. } => Some(target.to_vec()),
            Memory::Registered { both, first, len } => Some(both[first + len..][..*len].to_vec()),
            Memory::Managed { target, .. } => Some(target.to_vec()),
            Memory::Plain { .. } => None,
        })
    }
}

fn host_address(values: &[u32]) -> u64 {
    values.as_ptr().expose_provenance() as u64
}

/// Asks what an address is. With `may_differ` the device may have another address for it.
fn facts(address: u64, may_differ: bool) -> Result<[u32; FACTS]> {
    let Some(info) = pointer::info(address)? else { return Ok([0; FACTS]) };
    let kind = match info.kind {
        MemoryKind::Host => 1,
        MemoryKind::Device => 2,
        MemoryKind::Array => 3,
        MemoryKind::Managed => 4,
        MemoryKind::Other(number) => number,
    };
    let same_on_device = info.device_address == Some(address) || may_differ;
    Ok([
        kind,
        u32::from(info.kind == MemoryKind::Host),
        u32::from(info.host_address.is_some()),
        u32::from(info.host_address == Some(address)),
        u32::from(info.device_address.is_some()),
        u32::from(same_on_device),
    ])
}

/// Memory that the driver is asked about, and that a kernel works on.
struct Question {
    memory: Memory,
    may_differ: bool,
    answer: [u32; FACTS],
}

fn build(gpu: &Gpu, case: &Case, _: &Size, kind: Kind) -> Result<Box<dyn HostWork>> {
    let promised =
        attribute(gpu.device(), DeviceAttribute::CanUseHostPointerForRegisteredMemory)? == 1;
    Ok(Box::new(Question {
        memory: Memory::new(kind, bytemuck::cast_slice(case.inputs[0].bytes()))?,
        may_differ: kind == Kind::Registered && !promised,
        answer: [u32::from_ne_bytes([POISON; 4]); FACTS],
    }))
}

impl HostWork for Question {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        self.answer = facts(self.memory.address(), self.may_differ)?;
        if let Some([source, target]) = self.memory.pointers()? {
            let increment = gpu.module().get_function(unified_addressing_increment.name())?;
            let (stream, n) = (gpu.stream(), self.memory.len() as u32);
            let grid = n.div_ceil(THREADS_PER_BLOCK);
            // SAFETY: the kernel takes two pointers to n elements and n; the grid covers n; the device reaches both
            // arrays, which are two and live, untouched by the host, until the stream was waited for.
            unsafe {
                cust::launch!(increment<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n))?
            };
        }
        Ok(())
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let values = self.memory.values()?.map(Data::U32);
        Ok(values.into_iter().chain([Data::U32(self.answer.to_vec())]).collect())
    }
}
