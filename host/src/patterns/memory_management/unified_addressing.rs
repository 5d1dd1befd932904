//! # Unified addressing: an address says where its memory is
//!
//! Shows: host and device share one address space, so that a kernel takes page-locked memory by its host address.
//!
//! Under unified virtual addressing no address means two things, and the driver can be asked what one is:
//!
//! ```text
//! memory        kind       reached by host   by device, at the same address
//! device        device     no                yes, yes
//! pinned        host       yes               yes, yes       all page-locked memory is mapped
//! mapped        host       yes               yes, yes
//! registered    host       yes               yes, where the device says so
//! managed       managed    yes               yes, yes
//! plain         not the driver's
//! ```
//!
//! Registered memory was the program's before the driver knew of it, so its address may be taken on the device: there
//! `cuMemHostGetDevicePointer` gives another. A device whose attribute `CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM` is 1
//! promises that the addresses are equal; the check asserts that much and no more. Nor does it say whether a kernel can
//! use plain memory, which depends on the system.
//!
//! Each variant asks the driver about its input, then launches a kernel that adds one to each element of the input and
//! writes an output of the same kind of memory. `pinned` passes the host addresses as they are.
//!
//! | variant | change from the previous one | facts |
//! |---|---|---|
//! | `device` | device memory | kind 2; the host has no address |
//! | `pinned` | page-locked memory without flags; the kernel takes its host address | kind 1; one address for both |
//! | `mapped` | allocated as mapped; the kernel takes its device address | kind 1; one address for both |
//! | `registered` | a vector of the program's, page-locked afterwards | kind 1; one address where the device promises it |
//! | `managed` | memory that moves to who touches it | kind 4; one address for both |
//! | `plain` | a vector; no kernel | kind 0: the driver does not know it |
//!
//! Expected: the facts above, as outputs with a reference. The times differ as the ways do: `device` at the rate of
//! device memory, page-locked memory at that of the bus, `managed` at that of device memory once its pages are there.
//! `plain` is the question alone: a call of the driver.
//! What is page-locked by allocating begins with a page. The vector begins 16 bytes after one, where the allocator of
//! glibc puts large vectors: off a multiple of 32 bytes its warps touch five sectors instead of four.
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Programming Guide, "Unified Virtual Address Space", "Mapped Memory"; CUDA Driver API, "Unified
//! Addressing", "cuMemHostRegister".

use anyhow::Result;
use coalesce::data::{Data, POISON, Random};
use coalesce::pattern::{Bytes, Case, Dimension, Limit, Output, Pattern, Procedure, Size, Variant};
use cuda_host::Gpu;
use cust::memory::{CopyDestination, DeviceBuffer, DevicePointer, UnifiedBuffer};
use cust_ext::device::{Attribute, attribute};
use cust_ext::host_memory::{HostBuffer, HostFlags, RegisteredBuffer};
use cust_ext::pointer::{self, MemoryKind};
use kernels::memory_management::unified_addressing::{
    THREADS_PER_BLOCK, unified_addressing_increment,
};

/// What is asked about an address; the facts of a kind of memory are an output with one element for each.
///
/// 0: the driver's number of the kind, 0 for memory that it does not know. 1: whether it is host memory. 2: whether the
/// host has an address of it. 3: whether that is the address asked about. 4: whether the device has one. 5: whether that
/// is the address asked about, or needs not be.
const FACTS: usize = 6;

/// Bytes of a page.
const PAGE: usize = 4096;
/// Bytes from a page's begin to the first element of the registered vector: where glibc's allocator puts large ones.
/// Said here, because the address decides the traffic, and a small vector may lie anywhere.
const PAST_PAGE: usize = 16;

pub const PATTERN: Pattern = Pattern {
    name: "unified_addressing",
    group: "memory_management",
    doc_source: include_str!("unified_addressing.rs"),
    dimensions: &[Dimension::extent("n", "elements of each array", 1)],
    verify_sizes: &[
        &[1],
        &[31],
        &[32],
        &[33],
        &[255],
        &[256],
        &[257],
        &[1023],
        &[4096],
        &[100_003],
        &[1 << 18],
    ],
    bench_size: &[1 << 22],
    count_size: &[1 << 22],
    sweeps: &[],
    case,
    bytes,
    floor,
    variants: &[
        Variant::host("device", "device memory", |gpu, case, _| build(gpu, case, Kind::Device))
            .writing(&[0, 1]),
        Variant::host(
            "pinned",
            "page-locked memory without flags; the kernel takes its host address",
            |gpu, case, _| build(gpu, case, Kind::Pinned),
        )
        .writing(&[0, 2]),
        Variant::host(
            "mapped",
            "allocated as mapped; the kernel takes its device address",
            |gpu, case, _| build(gpu, case, Kind::Mapped),
        )
        .writing(&[0, 3]),
        Variant::host(
            "registered",
            "a vector of the program's, page-locked afterwards",
            |gpu, case, _| build(gpu, case, Kind::Registered),
        )
        .writing(&[0, 4]),
        Variant::host("managed", "memory that moves to who touches it", |gpu, case, _| {
            build(gpu, case, Kind::Managed)
        })
        .writing(&[0, 5]),
        Variant::host("plain", "a vector; no kernel", |gpu, case, _| build(gpu, case, Kind::Plain))
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

/// What the Programming Guide promises of each kind, in the order of the variants.
fn facts_of_kinds() -> [[u32; FACTS]; 6] {
    let (device, host, managed) = ([2, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1], [4, 0, 1, 1, 1, 1]);
    [device, host, host, host, managed, [0; FACTS]]
}

fn bytes(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

fn floor(variant: &Variant, size: &Size) -> Option<(Limit, usize)> {
    let limit = match variant.name {
        "device" | "managed" => Limit::Copy,
        "plain" => return None,
        _ => Limit::BothWays,
    };
    Some((limit, bytes(size).total()))
}

/// A kind of memory.
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

    /// Elements of the input.
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

    /// What a kernel is given for input and output.
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

    /// What the output holds.
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

fn build(gpu: &Gpu, case: &Case, kind: Kind) -> Result<Box<dyn Procedure>> {
    let promised = attribute(gpu.device(), Attribute::CanUseHostPointerForRegisteredMemory)? == 1;
    Ok(Box::new(Question {
        memory: Memory::new(kind, bytemuck::cast_slice(case.inputs[0].bytes()))?,
        may_differ: kind == Kind::Registered && !promised,
        answer: [u32::from_ne_bytes([POISON; 4]); FACTS],
    }))
}

impl Procedure for Question {
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
