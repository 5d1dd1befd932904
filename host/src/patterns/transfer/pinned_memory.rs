//! # Pinned memory: copies at the full rate of PCIe, for a price that is paid once
//!
//! Shows: copies from [pinned memory] have the full rate of PCIe, in both directions at once;
//! allocating it costs more than several pageable copies, so allocate once and reuse.
//!
//! The surprise: the same 64 MiB take 7.4 times (`h2d_pageable` / `h2d_pinned`) as long from an
//! ordinary vector, `h2d_pageable` (9.110 ms), as from pinned memory, `h2d_pinned` (1.224 ms). But
//! allocating pinned memory, `allocate_pinned` (32.43 ms), takes as long as 3.6 of the slow copies
//! (`allocate_pinned` / `h2d_pageable`).
//!
//! Memory from `malloc`, `new` or `Vec` is [pageable memory]: the operating system may move its
//! pages or write them to disk. A [copy engine], the part of the GPU that copies over [PCIe], reads
//! physical addresses, so it cannot read pages that may move. The driver therefore has a buffer of
//! its own whose pages stay where they are. It copies the array into this buffer part by part with
//! the CPU, and lets the engine read it from there. The CPU's copy is what takes the time, and the
//! program waits for it.
//!
//! Pinned (page-locked) memory is memory whose pages the operating system has promised not to move.
//! The engine reads it directly, while the program goes on.
//!
//! ```text
//! time ->
//! pageable   host    |copy 0|copy 1|copy 2|copy 3|           the call returns when all is staged
//!            engine         |0|    |1|    |2|    |3|         PCIe waits for the host
//! pinned     host    |call|  free for other work
//!            engine       |0|1|2|3|                          PCIe is busy until the end
//! ```
//!
//! The copies from the [host] to the [device] are called [H2D], those back [D2H]:
//!
//! 1. `h2d_pageable` calls `copy_from` (`cudaMemcpy`). It reaches 13 % of the [measured peak]
//!    (`h2d_pageable`): PCIe is idle while the host fills the staging buffer.
//! 2. `h2d_pinned` allocates the array with `HostBuffer` (`cudaHostAlloc`, `cuMemHostAlloc`) and
//!    calls `async_copy_from` (`cudaMemcpyAsync`). There is one copy instead of two, at the
//!    measured peak. It costs the allocation, `allocate_pinned`.
//!    `h2d_locked` is the same with cust's own `LockedBuffer`, which rust-cuda's programs have; it
//!    knows no flags.
//! 3. `h2d_registered` pins memory that exists already, with `cudaHostRegister`. The rate is the
//!    same. `register` (3.902 ms) is much cheaper than an allocation, because the pages are there.
//! 4. `h2d_write_combined` asks for memory that the CPU's caches ignore ([write-combined memory]).
//!    It was made for slower connections; here nothing is left to gain.
//! 5. `h2d_portable` pins memory for all contexts of the process, which programs with several GPUs
//!    need. It costs nothing.
//! 6. The `d2h_` variants repeat this in the other direction. `bidirectional` starts one copy in
//!    each direction, on two [streams][stream]: PCIe has separate wires for each direction.
//! 7. `allocate_` and `register` measure pinning alone: each run frees what the run before has
//!    pinned. In the `read_` variants the CPU reads the array, to show what each kind costs the
//!    host.
//!
//! 8. `allocate_pooled` takes the memory from a pool of pinned memory (`cuMemPoolCreate` on the host,
//!    here `Pool::of_host`), which pins it once and keeps what is given back: what `allocate_pinned`
//!    (32.43 ms) pays each time, the pool paid before the run. It needs a driver for CUDA 12.6.
//!
//! | variant | change from the previous one | moves | limited by |
//! |---|---|---|---|
//! | `h2d_pageable` | ordinary memory: the driver stages it | H2D | the CPU's copy into the staging buffer |
//! | `h2d_pinned` | allocated as pinned memory (`cuMemHostAlloc`) | H2D | PCIe |
//! | `h2d_registered` | ordinary memory, pinned where it is (`cuMemHostRegister`) | H2D | PCIe |
//! | `h2d_write_combined` | pinned and not cached by the CPU | H2D | PCIe |
//! | `h2d_portable` | pinned for every context of the process | H2D | PCIe |
//! | `d2h_pageable` | the other direction, to ordinary memory | D2H | the CPU's copy out of the staging buffer |
//! | `d2h_pinned` | to pinned memory | D2H | PCIe |
//! | `d2h_registered` | to ordinary memory, pinned where it is | D2H | PCIe |
//! | `d2h_write_combined` | to memory that the CPU does not cache | D2H | PCIe |
//! | `d2h_portable` | to memory pinned for every context | D2H | PCIe |
//! | `bidirectional` | one H2D and one D2H copy at once, on two streams | H2D and D2H | PCIe, each direction |
//! | `allocate_pinned` | no copy: pinned memory is allocated | nothing | pinning memory |
//! | `allocate_write_combined` | write-combined memory is allocated | nothing | pinning memory |
//! | `allocate_portable` | portable memory is allocated | nothing | pinning memory |
//! | `register` | memory that exists is pinned | nothing | pinning memory |
//! | `read_pageable` | the CPU copies the array into another one | host to host | host memory |
//! | `read_pinned` | it copies from pinned memory | host to host | host memory |
//! | `read_registered` | it copies from registered memory | host to host | host memory |
//! | `read_write_combined` | it copies from write-combined memory | host to host | host memory; loads that miss every cache where the kind is honoured |
//! | `read_portable` | it copies from portable memory | host to host | host memory |
//! | `h2d_locked` | pinned by cust's `LockedBuffer` (`cuMemAllocHost`) | H2D | PCIe |
//! | `allocate_pooled` | pinned memory is taken from a pool that has it, and given back | nothing | calls of the driver |
//!
//! Expected: T = a + V/b for V bytes, where a is the fixed time of a copy and b the rate; at V = a
//! b bytes a copy has exactly half its rate. All pinned kinds have the same b, so `h2d_pinned`
//! (1.224 ms), `h2d_registered` (1.232 ms) and `h2d_write_combined` (1.224 ms) are equal.
//! `bidirectional` (1.409 ms) moves twice the bytes in 1.15 times (`bidirectional` / `h2d_pinned`)
//! the time.
//!
//! In CUDA C++, and in Rust:
//!
//! ```cuda
//! cudaMallocHost(&host, bytes);             // HostBuffer::from_slice(&x, HostFlags::PINNED)?
//! cudaHostRegister(host, bytes, 0);         // RegisteredBuffer::new(vector, false)?
//! cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);
//!                                           // unsafe { device.async_copy_from(&host, stream)? }
//! ```
//!
//! The asynchronous call is `unsafe` in Rust, because it returns while the engine still reads
//! `host`: the borrow checker cannot know when the copy has ended.
//!
//! Common misconception: "pinned memory is faster memory". Only copies by the engine are faster.
//! `read_pinned` (12.43 ms) is no faster for the CPU than `read_pageable` (11.56 ms), and the
//! system has fewer pages left to move.
//!
//! Common misconception: "write-combined memory is always slow to read". `read_write_combined`
//! (12.64 ms) is like the others here, because this host caches it anyway. On hosts that honour the
//! kind each load misses every cache, so do not rely on either.
//!
//! Questions:
//! - After how many copies does pinning pay? A copy saves 7.887 ms (`h2d_pageable` - `h2d_pinned`).
//!   `allocate_pinned` (32.43 ms) costs as much as 4.1 copies save
//!   (`allocate_pinned` / (`h2d_pageable` - `h2d_pinned`)), and `register` (3.902 ms) as much as
//!   0.5 copies save (`register` / (`h2d_pageable` - `h2d_pinned`)). So neither pays for a single
//!   copy: copy again from memory that is pinned.
//! - Why not pin everything? Pinned pages cannot be given to other programs, and pinning takes time
//!   in proportion to the size. Pin the buffers that are copied again and again. A little does no
//!   harm: beside 256 MiB of pinned memory a program takes and writes fresh pages as fast as before
//!   (`results/nvidia-h100-x2/device-tests.txt`).
//! - How close is the copy to the hardware? PCIe 5.0 with 16 lanes carries 32 x 10^9 transfers per
//!   second x 16 lanes x 128/130 (its encoding) / 8 bits = 63.0 x 10^9 bytes per second, of which
//!   the headers of its packets take a part. The table's last but one column compares with the
//!   measured peak.
//! - Is `bidirectional` limited by one direction? Not quite: both directions share some of the way,
//!   so it takes a little longer than one copy.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `h2d_pageable` | 9110 | 7 | 13 | 1.00 |
//! | `h2d_pinned` | 1224 | 55 | 99 | 7.44 |
//! | `h2d_registered` | 1232 | 54 | 98 | 7.39 |
//! | `h2d_write_combined` | 1224 | 55 | 99 | 7.44 |
//! | `h2d_portable` | 1228 | 55 | 99 | 7.42 |
//! | `d2h_pageable` | 4667 | 14 | 26 | 1.95 |
//! | `d2h_pinned` | 1224 | 55 | 99 | 7.44 |
//! | `d2h_registered` | 1224 | 55 | 99 | 7.44 |
//! | `d2h_write_combined` | 1224 | 55 | 99 | 7.44 |
//! | `d2h_portable` | 1223 | 55 | 99 | 7.45 |
//! | `bidirectional` | 1409 | 95 | 99 | 6.47 |
//! | `allocate_pinned` | 32434 | 2 |  | 0.28 |
//! | `allocate_write_combined` | 25924 | 3 |  | 0.35 |
//! | `allocate_portable` | 32837 | 2 |  | 0.28 |
//! | `register` | 3902 | 17 |  | 2.33 |
//! | `read_pageable` | 11557 | 12 |  | 0.79 |
//! | `read_pinned` | 12429 | 11 |  | 0.73 |
//! | `read_registered` | 12312 | 11 |  | 0.74 |
//! | `read_write_combined` | 12639 | 11 |  | 0.72 |
//! | `read_portable` | 11496 | 12 |  | 0.79 |
//! | `h2d_locked` | 1232 | 54 | 98 | 7.39 |
//! | `allocate_pooled` | 9.120 | 7358 |  | 998.95 |
//! <!-- /measured -->
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Best Practices Guide, "Pinned Memory"; CUDA C++ Programming Guide, "Page-Locked
//! Host Memory"; PCI Express Base Specification 5.0.
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy;
use crate::prelude::*;
use anyhow::bail;
use coalesce::pattern::Unavailable;
use cuda_host::Streams;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::Stream;
use cust_ext::host_memory::{HostBuffer, HostFlags, RegisteredBuffer};
use cust_ext::pool::Pool;
use std::ops::DerefMut;

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
    bytes: copy::written,
    minimum_time,
    variants: &[
        variant!("h2d_pageable", h2d, Kind::Pageable),
        variant!("h2d_pinned", h2d, Kind::Pinned),
        variant!("h2d_registered", h2d, Kind::Registered),
        variant!("h2d_write_combined", h2d, Kind::WriteCombined),
        variant!("h2d_portable", h2d, Kind::Portable),
        variant!("d2h_pageable", d2h, Kind::Pageable).writing(&[1]).moving(copy::read),
        variant!("d2h_pinned", d2h, Kind::Pinned).writing(&[1]).moving(copy::read),
        variant!("d2h_registered", d2h, Kind::Registered).writing(&[1]).moving(copy::read),
        variant!("d2h_write_combined", d2h, Kind::WriteCombined).writing(&[1]).moving(copy::read),
        variant!("d2h_portable", d2h, Kind::Portable).writing(&[1]).moving(copy::read),
        Variant::host("bidirectional", |_, case, _| Ok(Box::new(Bidirectional::new(case)?)))
            .writing(&[0, 1])
            .moving(copy::bytes),
        variant!("allocate_pinned", pin, Kind::Pinned),
        variant!("allocate_write_combined", pin, Kind::WriteCombined),
        variant!("allocate_portable", pin, Kind::Portable),
        variant!("register", pin, Kind::Registered),
        variant!("read_pageable", read, Kind::Pageable).moving(copy::bytes),
        variant!("read_pinned", read, Kind::Pinned).moving(copy::bytes),
        variant!("read_registered", read, Kind::Registered).moving(copy::bytes),
        variant!("read_write_combined", read, Kind::WriteCombined).moving(copy::bytes),
        variant!("read_portable", read, Kind::Portable).moving(copy::bytes),
        variant!("h2d_locked", h2d, Kind::Locked),
        Variant::host("allocate_pooled", |gpu, case, _| Ok(Box::new(Pooled::new(gpu, case)?))),
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

fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    let resource = match variant.name.split_once('_') {
        Some(("h2d", _)) => Resource::HostToDevice,
        Some(("d2h", _)) => Resource::DeviceToHost,
        None if variant.name == "bidirectional" => Resource::Bidirectional,
        _ => return None,
    };
    let [n] = size.get();
    Some((resource, if resource == Resource::Bidirectional { 8 * n } else { 4 * n }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pageable,
    Pinned,
    Registered,
    WriteCombined,
    Portable,
    Locked,
}

type Words = Box<dyn DerefMut<Target = [f32]>>;

impl Kind {
    fn flags(self) -> HostFlags {
        match self {
            Kind::WriteCombined => HostFlags::WRITE_COMBINED,
            Kind::Portable => HostFlags::PORTABLE,
            _ => HostFlags::PINNED,
        }
    }

    fn words(self, values: &[f32]) -> Result<Words> {
        Ok(match self {
            Kind::Pageable => Box::new(values.to_vec()),
            Kind::Registered => Box::new(RegisteredBuffer::new(values.to_vec(), false)?),
            Kind::Locked => Box::new(LockedBuffer::from_slice(values)?),
            _ => Box::new(HostBuffer::from_slice(values, self.flags())?),
        })
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
    host: Words,
    kind: Kind,
    is_h2d: bool,
}

fn h2d(_: &Gpu, case: &Case, _: &Size, kind: Kind) -> Result<Box<dyn HostWork>> {
    let (device, host) = (DeviceBuffer::from_slice(&poison(case))?, kind.words(source(case))?);
    Ok(Box::new(Transfer { device, host, kind, is_h2d: true }))
}

fn d2h(_: &Gpu, case: &Case, _: &Size, kind: Kind) -> Result<Box<dyn HostWork>> {
    let (device, host) = (DeviceBuffer::from_slice(source(case))?, kind.words(&poison(case))?);
    Ok(Box::new(Transfer { device, host, kind, is_h2d: false }))
}

impl HostWork for Transfer {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        match (self.kind, self.is_h2d) {
            (Kind::Pageable, true) => Ok(self.device.copy_from(&self.host[..])?),
            (Kind::Pageable, false) => Ok(self.device.copy_to(&mut self.host[..])?),
            (_, true) => start_h2d(&mut self.device, &self.host, gpu.stream()),
            (_, false) => start_d2h(&self.device, &mut self.host, gpu.stream()),
        }
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        let values = if self.is_h2d { self.device.as_host_vec()? } else { self.host.to_vec() };
        Ok(vec![Data::F32(values)])
    }
}

/// Enqueues a copy of the whole of pinned memory.
fn start_h2d(device: &mut DeviceBuffer<f32>, host: &[f32], stream: &Stream) -> Result<()> {
    // SAFETY: who calls this owns both buffers, touches neither before it has waited for the device, and drops the
    // buffer of the device first, which waits for the copy.
    Ok(unsafe { device.async_copy_from(host, stream) }?)
}

/// Enqueues a copy into the whole of pinned memory.
fn start_d2h(device: &DeviceBuffer<f32>, host: &mut [f32], stream: &Stream) -> Result<()> {
    // SAFETY: as for `start_h2d`.
    Ok(unsafe { device.async_copy_to(host, stream) }?)
}

/// Two copies in opposite directions on two streams. Dropping the device's buffers first waits for the copies.
struct Bidirectional {
    target: DeviceBuffer<f32>,
    device_source: DeviceBuffer<f32>,
    host_source: Words,
    host_target: Words,
    streams: Streams,
}

impl Bidirectional {
    fn new(case: &Case) -> Result<Bidirectional> {
        Ok(Bidirectional {
            target: DeviceBuffer::from_slice(&poison(case))?,
            device_source: DeviceBuffer::from_slice(source(case))?,
            host_source: Kind::Pinned.words(source(case))?,
            host_target: Kind::Pinned.words(&poison(case))?,
            streams: Streams::new(2)?,
        })
    }
}

impl HostWork for Bidirectional {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        self.streams.fork(gpu)?;
        start_h2d(&mut self.target, &self.host_source, self.streams.enter(0)?)?;
        start_d2h(&self.device_source, &mut self.host_target, self.streams.enter(1)?)?;
        Ok(self.streams.join(gpu)?)
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::F32(self.target.as_host_vec()?), Data::F32(self.host_target.to_vec())])
    }
}

/// Pins memory, and frees what the run before has pinned.
struct Pin {
    kind: Kind,
    source: Vec<f32>,
    ordinary: Vec<f32>,
    registered: Option<RegisteredBuffer<f32>>,
    pinned: Option<HostBuffer<f32>>,
}

fn pin(_: &Gpu, case: &Case, _: &Size, kind: Kind) -> Result<Box<dyn HostWork>> {
    let ordinary = if kind == Kind::Registered { poison(case) } else { Vec::new() };
    let source = source(case).to_vec();
    Ok(Box::new(Pin { kind, source, ordinary, registered: None, pinned: None }))
}

impl HostWork for Pin {
    fn run(&mut self, _gpu: &Gpu) -> Result<()> {
        self.pinned = None;
        if let Some(buffer) = self.registered.take() {
            self.ordinary = buffer.into_inner()?;
        }
        if self.kind == Kind::Registered {
            let ordinary = std::mem::take(&mut self.ordinary);
            self.registered = Some(RegisteredBuffer::new(ordinary, false)?);
        } else {
            // SAFETY: `outputs` writes the memory before it reads it.
            let buffer = unsafe { HostBuffer::uninitialized(self.source.len(), self.kind.flags()) };
            self.pinned = Some(buffer?);
        }
        Ok(())
    }

    /// The memory proves itself: the source goes through it to the device and back.
    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        let pinned: &mut [f32] = match (&mut self.registered, &mut self.pinned) {
            (Some(buffer), _) => buffer,
            (_, Some(buffer)) => buffer,
            _ => return Ok(vec![Data::F32(self.ordinary.clone())]),
        };
        pinned.copy_from_slice(&self.source);
        let poison = vec![f32::from_ne_bytes([POISON; 4]); self.source.len()];
        let mut device = gpu.upload(&poison)?;
        start_h2d(&mut device, pinned, gpu.stream())?;
        gpu.synchronize()?;
        Ok(vec![Data::F32(device.as_host_vec()?)])
    }
}

/// Takes pinned memory from a pool, after giving back what the run before took. The buffer is dropped before its pool.
struct Pooled {
    source: Vec<f32>,
    pool: Pool,
}

impl Pooled {
    fn new(gpu: &Gpu, case: &Case) -> Result<Pooled> {
        let pool = match Pool::of_host(gpu.device()) {
            Err(error) if error.code().is_some() => bail!(Unavailable(error.to_string())),
            other => other?,
        };
        pool.set_release_threshold(u64::MAX)?;
        let source = source(case).to_vec();
        // SAFETY: nothing is read; the first allocation is the pool's own.
        drop(unsafe { pool.allocate_on_host::<f32>(source.len(), gpu.stream()) }?);
        Ok(Pooled { source, pool })
    }
}

impl HostWork for Pooled {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        // SAFETY: nothing is read.
        drop(unsafe { self.pool.allocate_on_host::<f32>(self.source.len(), gpu.stream()) }?);
        Ok(())
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        // SAFETY: all values are written next.
        let mut pinned =
            unsafe { self.pool.allocate_on_host::<f32>(self.source.len(), gpu.stream()) }?;
        pinned.copy_from_slice(&self.source);
        let poison = vec![f32::from_ne_bytes([POISON; 4]); self.source.len()];
        let mut device = gpu.upload(&poison)?;
        start_h2d(&mut device, &pinned, gpu.stream())?;
        gpu.synchronize()?;
        Ok(vec![Data::F32(device.as_host_vec()?)])
    }
}

struct Read {
    memory: Words,
    target: Vec<f32>,
}

fn read(_: &Gpu, case: &Case, _: &Size, kind: Kind) -> Result<Box<dyn HostWork>> {
    Ok(Box::new(Read { memory: kind.words(source(case))?, target: poison(case) }))
}

impl HostWork for Read {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        self.target.copy_from_slice(&self.memory);
        gpu.host_has_read(&self.memory);
        Ok(())
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::F32(self.target.clone())])
    }
}
