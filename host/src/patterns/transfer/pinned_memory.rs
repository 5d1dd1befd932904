//! # Pinned memory: the copy engine reaches only pages that stay where they are
//!
//! Shows: page-locked memory crosses the bus at its full rate and both ways at once; locking the pages is what it
//! costs.
//!
//! The copy engines address physical memory. Pages that the operating system may move cannot be given to them, so the
//! driver copies pageable memory piece by piece through page-locked memory of its own, and the host is busy
//! meanwhile:
//!
//! ```text
//! pageable  array --host copies--> staging buffer --engine--> device     the call returns when all is staged
//! pinned    array ------------------------------- --engine--> device     the call returns at once
//! ```
//!
//! `upload_` and `download_` copy the array once, `allocate_` and `register` lock memory and free what the run before
//! locked, `read_` has the host read the array.
//!
//! | variant | change from the previous one | moves | limited by |
//! |---|---|---|---|
//! | `h2d_pageable` | ordinary memory | host to device | the host's copy into the staging buffer |
//! | `h2d_pinned` | page-locked by the driver (`cuMemHostAlloc`) | host to device | the bus |
//! | `h2d_registered` | ordinary memory, locked where it is (`cuMemHostRegister`) | host to device | the bus |
//! | `h2d_write_combined` | not kept in the host's caches | host to device | the bus |
//! | `h2d_portable` | locked for every context of the process | host to device | the bus |
//! | `d2h_pageable` | the other direction | device to host | the host's copy out of the staging buffer |
//! | `d2h_pinned` | page-locked | device to host | the bus |
//! | `d2h_registered` | locked where it is | device to host | the bus |
//! | `d2h_write_combined` | not kept in the host's caches | device to host | the bus |
//! | `d2h_portable` | locked for every context | device to host | the bus |
//! | `bidirectional` | pinned, one stream up and one down | both at once | the bus, each direction |
//! | `allocate_pinned` | no copy: page-locked memory is allocated | nothing | locking pages |
//! | `allocate_write_combined` | write-combined memory | nothing | locking pages |
//! | `allocate_portable` | portable memory | nothing | locking pages |
//! | `register` | memory that exists is locked | nothing | locking pages |
//! | `read_pageable` | the host reads the array into another | host to host | host memory |
//! | `read_pinned` | from pinned memory | host to host | host memory |
//! | `read_registered` | from registered memory | host to host | host memory |
//! | `read_write_combined` | from write-combined memory | host to host | uncached loads |
//! | `read_portable` | from portable memory | host to host | host memory |
//!
//! Expected: T = a + V/b for each kind: a is what a copy costs whatever its size, b the rate. Half of b is reached at
//! V = a b bytes. PCIe 5.0 x16 carries 32 GT/s x 16 x 128/130 / 8 = 63.0 GB/s before the headers of its packets.
//! All page-locked kinds have the same b; `bidirectional` moves 2 V in little more than the time of one: the bus carries
//! not quite twice b. Pinned memory is no win where its allocation is paid for each copy: V/b_lock + V/b_pinned against
//! V/b_pageable. Allocations of up to 1 MiB cost little more than a call here, where another one lives, and much more in
//! `coalesce calibrate`, where none does, or when they are write-combined: it looks as if alike ones shared pages. No
//! document says so; the virtual device takes it that the driver locks 2 MiB at a time for them. The host's reads of write-combined memory miss every cache where the processor
//! honours the kind, so that `read_write_combined` is the slowest way to read there; a host may also cache it like any
//! other, and then all five reads are alike. The virtual device's profile says which of both its machine does.
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Best Practices Guide, "Pinned Memory"; CUDA C++ Programming Guide, "Page-Locked Host Memory";
//! PCI Express Base Specification 5.0.

use anyhow::Result;
use coalesce::data::{Data, Element, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Limit, Output, Pattern, Procedure, Size, Sweep, Variant,
};
use cuda_host::{Gpu, Streams};
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::host_memory::{HostBuffer, HostFlags, RegisteredBuffer};
use std::ops::{Deref, DerefMut};

pub const PATTERN: Pattern = Pattern {
    name: "pinned_memory",
    group: "transfer",
    doc_source: include_str!("pinned_memory.rs"),
    dimensions: &[Dimension::extent("n", "elements of four bytes copied", 1)],
    verify_sizes: &[&[1], &[31], &[32], &[33], &[1023], &[100_003], &[1 << 20]],
    bench_size: &[1 << 24],
    count_size: &[1 << 24],
    sweeps: &[Sweep {
        dimension: 0,
        values: &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24],
        variants: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    }],
    case,
    bytes: up,
    floor,
    variants: &[
        Variant::host("h2d_pageable", "ordinary memory", |_, case, _| upload(case, Kind::Pageable)),
        Variant::host(
            "h2d_pinned",
            "page-locked by the driver (`cuMemHostAlloc`)",
            |_, case, _| upload(case, Kind::Pinned),
        ),
        Variant::host(
            "h2d_registered",
            "ordinary memory, locked where it is (`cuMemHostRegister`)",
            |_, case, _| upload(case, Kind::Registered),
        ),
        Variant::host("h2d_write_combined", "not kept in the host's caches", |_, case, _| {
            upload(case, Kind::WriteCombined)
        }),
        Variant::host("h2d_portable", "locked for every context of the process", |_, case, _| {
            upload(case, Kind::Portable)
        }),
        Variant::host("d2h_pageable", "the other direction", |_, case, _| {
            download(case, Kind::Pageable)
        })
        .writing(&[1])
        .moving(down),
        Variant::host("d2h_pinned", "page-locked", |_, case, _| download(case, Kind::Pinned))
            .writing(&[1])
            .moving(down),
        Variant::host("d2h_registered", "locked where it is", |_, case, _| {
            download(case, Kind::Registered)
        })
        .writing(&[1])
        .moving(down),
        Variant::host("d2h_write_combined", "not kept in the host's caches", |_, case, _| {
            download(case, Kind::WriteCombined)
        })
        .writing(&[1])
        .moving(down),
        Variant::host("d2h_portable", "locked for every context", |_, case, _| {
            download(case, Kind::Portable)
        })
        .writing(&[1])
        .moving(down),
        Variant::host("bidirectional", "pinned, one stream up and one down", |_, case, _| {
            Ok(Box::new(BothWays::new(case)?))
        })
        .writing(&[0, 1])
        .moving(both),
        Variant::host(
            "allocate_pinned",
            "no copy: page-locked memory is allocated",
            |_, case, _| lock(case, Kind::Pinned),
        ),
        Variant::host("allocate_write_combined", "write-combined memory", |_, case, _| {
            lock(case, Kind::WriteCombined)
        }),
        Variant::host("allocate_portable", "portable memory", |_, case, _| {
            lock(case, Kind::Portable)
        }),
        Variant::host("register", "memory that exists is locked", |_, case, _| {
            lock(case, Kind::Registered)
        }),
        Variant::host("read_pageable", "the host reads the array into another", |_, case, _| {
            read(case, Kind::Pageable)
        })
        .moving(both),
        Variant::host("read_pinned", "from pinned memory", |_, case, _| read(case, Kind::Pinned))
            .moving(both),
        Variant::host("read_registered", "from registered memory", |_, case, _| {
            read(case, Kind::Registered)
        })
        .moving(both),
        Variant::host("read_write_combined", "from write-combined memory", |_, case, _| {
            read(case, Kind::WriteCombined)
        })
        .moving(both),
        Variant::host("read_portable", "from portable memory", |_, case, _| {
            read(case, Kind::Portable)
        })
        .moving(both),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.f32s(n);
    let output = || Output::exact(Data::F32(reference(&source)));
    Case { outputs: vec![output(), output()], inputs: vec![Data::F32(source)] }
}

fn reference(source: &[f32]) -> Vec<f32> {
    source.to_vec()
}

fn up(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 0, written: 4 * n }
}

fn down(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 0 }
}

fn both(size: &Size) -> Bytes {
    let [n] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

fn floor(variant: &Variant, size: &Size) -> Option<(Limit, usize)> {
    let limit = match variant.name.split_once('_') {
        Some(("upload", _)) => Limit::Upload,
        Some(("download", _)) => Limit::Download,
        Some(("both", _)) => Limit::BothWays,
        _ => return None,
    };
    let [n] = size.get();
    Some((limit, if limit == Limit::BothWays { 8 * n } else { 4 * n }))
}

/// Kinds of host memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pageable,
    Pinned,
    Registered,
    WriteCombined,
    Portable,
}

/// Host memory of one kind.
enum Memory {
    Pageable(Vec<f32>),
    Locked(HostBuffer<f32>),
    Registered(RegisteredBuffer<f32>),
}

impl Memory {
    fn new(kind: Kind, values: &[f32]) -> Result<Memory> {
        let locked = |flags| Ok(Memory::Locked(HostBuffer::from_slice(values, flags)?));
        match kind {
            Kind::Pageable => Ok(Memory::Pageable(values.to_vec())),
            Kind::Pinned => locked(HostFlags::PINNED),
            Kind::Registered => {
                Ok(Memory::Registered(RegisteredBuffer::new(values.to_vec(), false)?))
            }
            Kind::WriteCombined => locked(HostFlags::WRITE_COMBINED),
            Kind::Portable => locked(HostFlags::PORTABLE),
        }
    }
}

impl Deref for Memory {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Memory::Pageable(values) => values,
            Memory::Locked(buffer) => buffer,
            Memory::Registered(buffer) => buffer,
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [f32] {
        match self {
            Memory::Pageable(values) => values,
            Memory::Locked(buffer) => buffer,
            Memory::Registered(buffer) => buffer,
        }
    }
}

fn source(case: &Case) -> &[f32] {
    f32::view(&case.inputs[0]).expect("the case holds f32")
}

/// As many values as the source has, all poison.
fn poison(case: &Case) -> Vec<f32> {
    vec![f32::from_ne_bytes([POISON; 4]); case.inputs[0].len()]
}

/// One copy between host and device. The device's buffer is dropped first, which waits for the copy.
struct Transfer {
    device: DeviceBuffer<f32>,
    host: Memory,
    is_upload: bool,
}

fn upload(case: &Case, kind: Kind) -> Result<Box<dyn Procedure>> {
    let (device, host) =
        (DeviceBuffer::from_slice(&poison(case))?, Memory::new(kind, source(case))?);
    Ok(Box::new(Transfer { device, host, is_upload: true }))
}

fn download(case: &Case, kind: Kind) -> Result<Box<dyn Procedure>> {
    let (device, host) =
        (DeviceBuffer::from_slice(source(case))?, Memory::new(kind, &poison(case))?);
    Ok(Box::new(Transfer { device, host, is_upload: false }))
}

impl Procedure for Transfer {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        match (&mut self.host, self.is_upload) {
            (Memory::Pageable(values), true) => self.device.copy_from(&values[..])?,
            (Memory::Pageable(values), false) => self.device.copy_to(&mut values[..])?,
            (host, true) => start_upload(&mut self.device, host, gpu.stream())?,
            (host, false) => start_download(&self.device, host, gpu.stream())?,
        }
        Ok(())
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        let values = if self.is_upload { self.device.as_host_vec()? } else { self.host.to_vec() };
        Ok(vec![Data::F32(values)])
    }
}

/// Enqueues a copy of the whole of page-locked memory.
fn start_upload(device: &mut DeviceBuffer<f32>, host: &[f32], stream: &Stream) -> Result<()> {
    // SAFETY: the procedures here own both buffers, touch neither before the device was waited for, and drop the
    // device's
    // first, which waits for the copy.
    Ok(unsafe { device.async_copy_from(host, stream) }?)
}

/// Enqueues a copy into the whole of page-locked memory.
fn start_download(device: &DeviceBuffer<f32>, host: &mut [f32], stream: &Stream) -> Result<()> {
    // SAFETY: as for `start_upload`.
    Ok(unsafe { device.async_copy_to(host, stream) }?)
}

/// Two copies in opposite directions on two streams. The device's buffers are dropped first, which waits for the
/// copies.
struct BothWays {
    target: DeviceBuffer<f32>,
    device_source: DeviceBuffer<f32>,
    host_source: Memory,
    host_target: Memory,
    streams: Streams,
}

impl BothWays {
    fn new(case: &Case) -> Result<BothWays> {
        Ok(BothWays {
            target: DeviceBuffer::from_slice(&poison(case))?,
            device_source: DeviceBuffer::from_slice(source(case))?,
            host_source: Memory::new(Kind::Pinned, source(case))?,
            host_target: Memory::new(Kind::Pinned, &poison(case))?,
            streams: Streams::new(2)?,
        })
    }
}

impl Procedure for BothWays {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        self.streams.fork(gpu)?;
        start_upload(&mut self.target, &self.host_source, self.streams.enter(0)?)?;
        start_download(&self.device_source, &mut self.host_target, self.streams.enter(1)?)?;
        self.streams.join(gpu)
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::F32(self.target.as_host_vec()?), Data::F32(self.host_target.to_vec())])
    }
}

/// Locks memory, and unlocks what the run before locked.
struct Lock {
    kind: Kind,
    source: Vec<f32>,
    /// Memory to be registered.
    ordinary: Vec<f32>,
    locked: Option<Memory>,
}

fn lock(case: &Case, kind: Kind) -> Result<Box<dyn Procedure>> {
    let ordinary = if kind == Kind::Registered { poison(case) } else { Vec::new() };
    Ok(Box::new(Lock { kind, source: source(case).to_vec(), ordinary, locked: None }))
}

impl Procedure for Lock {
    fn run(&mut self, _gpu: &Gpu) -> Result<()> {
        match self.locked.take() {
            Some(Memory::Registered(buffer)) => self.ordinary = buffer.into_inner()?,
            other => drop(other),
        }
        let flags = match self.kind {
            Kind::Registered => {
                let buffer = RegisteredBuffer::new(std::mem::take(&mut self.ordinary), false)?;
                self.locked = Some(Memory::Registered(buffer));
                return Ok(());
            }
            Kind::WriteCombined => HostFlags::WRITE_COMBINED,
            Kind::Portable => HostFlags::PORTABLE,
            Kind::Pinned | Kind::Pageable => HostFlags::PINNED,
        };
        // SAFETY: `outputs` writes the memory before it reads it.
        let buffer = unsafe { HostBuffer::uninitialized(self.source.len(), flags) }?;
        self.locked = Some(Memory::Locked(buffer));
        Ok(())
    }

    /// The memory proves itself: the source goes through it to the device and back.
    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        let Some(locked) = &mut self.locked else {
            return Ok(vec![Data::F32(self.ordinary.clone())]);
        };
        locked.copy_from_slice(&self.source);
        let poison = vec![f32::from_ne_bytes([POISON; 4]); self.source.len()];
        let mut device = DeviceBuffer::from_slice(&poison)?;
        start_upload(&mut device, locked, gpu.stream())?;
        gpu.synchronize()?;
        Ok(vec![Data::F32(device.as_host_vec()?)])
    }
}

/// The host reads memory.
struct Read {
    memory: Memory,
    target: Vec<f32>,
}

fn read(case: &Case, kind: Kind) -> Result<Box<dyn Procedure>> {
    Ok(Box::new(Read { memory: Memory::new(kind, source(case))?, target: poison(case) }))
}

impl Procedure for Read {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        self.target.copy_from_slice(&self.memory);
        gpu.host_has_read(&self.memory);
        Ok(())
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::F32(self.target.clone())])
    }
}
