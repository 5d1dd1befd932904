//! Work that saturates one part of the device: what the measured peaks of a run are measured with.

use crate::data::Random;
use crate::instruments::Instruments;
use crate::timing::Waiter;
use anyhow::Result;
use cuda_host::{DevicePtr, Gpu, GpuError, Streams, WorkScale};
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use measurement_kernels::{
    FLOPS_PER_PASS, IN_FLIGHT, SHARED_AT_ONCE, TENSOR_FLOPS_PER_PASS, THREADS_PER_BLOCK,
    WGMMA_FLOPS_PER_PASS, measurement_fp32, measurement_nothing, measurement_reread,
    measurement_shared, measurement_tensor, measurement_wgmma,
};
use results::Resource;

const VECTOR: usize = 16;
/// Blocks per multiprocessor of the reading kernels: together they hold all the threads that fit.
const BLOCKS: u32 = 8;
/// So many passes over what is on the chip that the start of a kernel is no part of its time.
const SHARED_PASSES: u32 = 1024;
const FP32_PASSES: u32 = 256;

/// Blocks per multiprocessor of the tensor cores' kernel.
const TENSOR_BLOCKS: u32 = 2;

/// Work that a [`Resource`] bounds and nothing else.
pub struct Saturation<'a> {
    _waiter: Waiter<'a>,
    instruments: &'a Instruments<'a>,
    /// The amount of one pass, in the unit of the resource.
    pub amount: usize,
    /// The factor of the work over what a virtual device executes.
    pub larger: WorkScale,
    means: Probe,
}

/// The resource that is saturated, and the memory for it.
enum Probe {
    Copy { source: DeviceBuffer<u8>, target: DeviceBuffer<u8> },
    Read { source: DeviceBuffer<u8>, target: DeviceBuffer<f32>, passes: u32 },
    Write(DeviceBuffer<u8>),
    Shared { target: DeviceBuffer<u32>, passes: u32 },
    Fp32 { target: DeviceBuffer<f32>, passes: u32 },
    Tensor { target: DeviceBuffer<f32>, passes: u32 },
    Wgmma { target: DeviceBuffer<f32>, passes: u32 },
    HostToDevice { host: HostBuffer<u8>, device: DeviceBuffer<u8> },
    DeviceToHost { host: HostBuffer<u8>, device: DeviceBuffer<u8> },
    BothWays { streams: Streams, hosts: [HostBuffer<u8>; 2], devices: [DeviceBuffer<u8>; 2] },
    Launch(usize),
}

/// Sizes of the work: large on a GPU, small where every instruction is executed by a processor.
struct Sizes {
    copied: usize,
    read: usize,
    cached: usize,
    passes: u32,
    shared_passes: u32,
    fp32_passes: u32,
    over_the_bus: usize,
    launches: usize,
    larger: WorkScale,
}

/// Returns whether the device has products by warpgroups: without them, the tensor cores of compute capability 9.0
/// reach two thirds of their rate.
fn has_wgmma(instruments: &Instruments<'_>) -> bool {
    instruments.module().get_function(measurement_wgmma.name()).is_ok()
}

impl<'a> Saturation<'a> {
    /// Returns whether the device has this resource. The virtual device has no model of the rate of tensor cores.
    pub fn is_available(instruments: &Instruments<'_>, resource: Resource) -> bool {
        let gpu = instruments.gpu();
        resource != Resource::TensorBf16
            || (gpu.capability() >= 80 && gpu.virtual_device().is_none())
    }

    /// The work for a limit, with at most an eighth of the free memory per array.
    pub fn new(instruments: &'a Instruments<'a>, resource: Resource) -> Result<Saturation<'a>> {
        let gpu = instruments.gpu();
        let (free, _) = gpu.memory()?;
        let share = (free / 8).next_multiple_of(1 << 20) - (1 << 20);
        let l2 = usize::try_from(gpu.facts()?.l2_bytes).unwrap_or(0).max(1 << 22);
        let sizes = match gpu.virtual_device() {
            Some(_) => Sizes {
                copied: share.min(1 << 26),
                read: share.min(1 << 26),
                cached: 1 << 22,
                passes: 4,
                shared_passes: SHARED_PASSES / 64,
                fp32_passes: FP32_PASSES / 16,
                over_the_bus: share.min(1 << 26),
                launches: 64,
                larger: WorkScale { blocks: 1.0, ..WorkScale::all(16.0) },
            },
            None => Sizes {
                copied: share.min(1 << 30),
                read: share.min(1 << 30),
                cached: (l2 / 4).next_power_of_two() / 2,
                passes: 64,
                shared_passes: SHARED_PASSES,
                fp32_passes: FP32_PASSES,
                over_the_bus: share.min(1 << 28),
                launches: 256,
                larger: WorkScale::default(),
            },
        };
        let (amount, means) = match resource {
            Resource::Copy => {
                let (source, target) = (bytes(sizes.copied)?, bytes(sizes.copied)?);
                (2 * sizes.copied, Probe::Copy { source, target })
            }
            Resource::Read => Probe::read(gpu, sizes.read, 1)?,
            Resource::Write => (sizes.copied, Probe::Write(bytes(sizes.copied)?)),
            Resource::L2 => Probe::read(gpu, sizes.cached, sizes.passes)?,
            Resource::Shared => {
                let passes = sizes.shared_passes;
                let threads = (gpu.multiprocessors()? * BLOCKS * THREADS_PER_BLOCK) as usize;
                let amount = threads * (passes * SHARED_AT_ONCE) as usize * VECTOR;
                (amount, Probe::Shared { target: DeviceBuffer::zeroed(1)?, passes })
            }
            Resource::Fp32 => {
                let passes = sizes.fp32_passes;
                let threads = (gpu.multiprocessors()? * BLOCKS * THREADS_PER_BLOCK) as usize;
                let amount = threads * (passes * FLOPS_PER_PASS) as usize;
                (amount, Probe::Fp32 { target: DeviceBuffer::zeroed(1)?, passes })
            }
            Resource::TensorBf16 => {
                let target = DeviceBuffer::zeroed(1)?;
                let passes = sizes.passes * 8;
                if has_wgmma(instruments) {
                    let blocks = gpu.multiprocessors()? as usize;
                    let amount = blocks * passes as usize * WGMMA_FLOPS_PER_PASS;
                    (amount, Probe::Wgmma { target, passes })
                } else {
                    let blocks = (gpu.multiprocessors()? * TENSOR_BLOCKS) as usize;
                    let amount = blocks * passes as usize * TENSOR_FLOPS_PER_PASS;
                    (amount, Probe::Tensor { target, passes })
                }
            }
            Resource::HostToDevice => {
                let (host, device) = pair(sizes.over_the_bus)?;
                (sizes.over_the_bus, Probe::HostToDevice { host, device })
            }
            Resource::DeviceToHost => {
                let (host, device) = pair(sizes.over_the_bus)?;
                (sizes.over_the_bus, Probe::DeviceToHost { host, device })
            }
            Resource::Bidirectional => {
                let [one, other] = [pair(sizes.over_the_bus)?, pair(sizes.over_the_bus)?];
                let streams = Streams::new(2)?;
                let (hosts, devices) = ([one.0, other.0], [one.1, other.1]);
                (2 * sizes.over_the_bus, Probe::BothWays { streams, hosts, devices })
            }
            Resource::Launch => (sizes.launches, Probe::Launch(sizes.launches)),
        };
        let more = |work: u32| WorkScale { work: work.into(), ..WorkScale::default() };
        let larger = match means {
            Probe::Shared { passes, .. } => more(SHARED_PASSES / passes),
            Probe::Fp32 { passes, .. } => more(FP32_PASSES / passes),
            // Launches are counted.
            Probe::Launch(_) => WorkScale::default(),
            _ => sizes.larger,
        };
        let amount = amount * larger.work as usize;
        Ok(Saturation { _waiter: Waiter(gpu), instruments, amount, larger, means })
    }

    /// Enqueues one pass.
    pub fn run(&mut self) -> Result<()> {
        let gpu = self.instruments.gpu();
        let (stream, launcher) = (gpu.stream(), self.instruments.launcher());
        match &mut self.means {
            Probe::Copy { source, target } => {
                // SAFETY: `self` owns both ends, and its waiter keeps them until the stream has ended.
                unsafe { target.async_copy_from(source, stream) }?;
            }
            Probe::Read { source, target, passes } => {
                let vectors = (source.len() / VECTOR) as u32;
                let source = DevicePtr::from_raw(source.as_device_ptr().as_raw(), vectors as usize);
                let grid = gpu.multiprocessors()? * BLOCKS;
                let arguments = (source, target.as_device_ptr(), vectors, *passes);
                // SAFETY: whole blocks; the source has `vectors` times 16 bytes, a power of two of them, at the start of an
                // allocation, the target one f32; the rest as above.
                unsafe {
                    launcher.launch(measurement_reread, grid, THREADS_PER_BLOCK, 0, arguments)
                }?;
            }
            Probe::Write(target) => {
                // SAFETY: as above.
                unsafe { target.set_8_async(0x5A, stream) }?;
            }
            Probe::Shared { target, passes } => {
                let grid = gpu.multiprocessors()? * BLOCKS;
                let arguments = (target.as_device_ptr(), *passes);
                // SAFETY: whole blocks; the target has one u32; the rest as above.
                unsafe {
                    launcher.launch(measurement_shared, grid, THREADS_PER_BLOCK, 0, arguments)
                }?;
            }
            Probe::Fp32 { target, passes } => {
                let grid = gpu.multiprocessors()? * BLOCKS;
                let arguments = (target.as_device_ptr(), *passes);
                // SAFETY: whole blocks; the target has one f32; the rest as above.
                unsafe {
                    launcher.launch(measurement_fp32, grid, THREADS_PER_BLOCK, 0, arguments)
                }?;
            }
            Probe::Tensor { target, passes } => {
                let grid = gpu.multiprocessors()? * TENSOR_BLOCKS;
                let arguments = (target.as_device_ptr(), *passes);
                // SAFETY: whole blocks; the target has one f32; the rest as above.
                unsafe {
                    launcher.launch(measurement_tensor, grid, THREADS_PER_BLOCK, 0, arguments)
                }?;
            }
            Probe::Wgmma { target, passes } => {
                let grid = gpu.multiprocessors()?;
                let arguments = (target.as_device_ptr(), *passes);
                // SAFETY: whole blocks; the target has one f32; the rest as above.
                unsafe {
                    launcher.launch(measurement_wgmma, grid, THREADS_PER_BLOCK, 0, arguments)
                }?;
            }
            Probe::HostToDevice { host, device } => {
                // SAFETY: as above.
                unsafe { device.async_copy_from(&host[..], stream) }?;
            }
            Probe::DeviceToHost { host, device } => {
                // SAFETY: as above.
                unsafe { device.async_copy_to(&mut host[..], stream) }?;
            }
            Probe::BothWays { streams, hosts, devices } => {
                streams.fork(gpu)?;
                // SAFETY: as above.
                unsafe { devices[0].async_copy_from(&hosts[0][..], streams.enter(0)?) }?;
                // SAFETY: as above.
                unsafe { devices[1].async_copy_to(&mut hosts[1][..], streams.enter(1)?) }?;
                streams.join(gpu)?;
            }
            Probe::Launch(count) => {
                // Looked up once: a look-up takes the host longer than a launch takes the device.
                let function =
                    self.instruments.module().get_function(measurement_nothing.name())?;
                for _ in 0..*count {
                    // SAFETY: the kernel takes nothing and does nothing.
                    unsafe { cust::launch!(function<<<1, 1, 0, stream>>>()) }?;
                }
            }
        }
        Ok(())
    }
}

impl Probe {
    /// Reads a power of two of bytes so many times, and how many that makes.
    fn read(gpu: &Gpu, bytes: usize, times: u32) -> Result<(usize, Probe)> {
        let bytes = 1 << bytes.ilog2();
        let at_once =
            (gpu.multiprocessors()? * BLOCKS * THREADS_PER_BLOCK * IN_FLIGHT) as usize * VECTOR;
        let passes = (bytes * times as usize / at_once).max(1);
        let target = DeviceBuffer::zeroed(1)
            .map_err(|error| GpuError::driver("allocating device memory", error))?;
        let means = Probe::Read { source: self::bytes(bytes)?, target, passes: passes as u32 };
        Ok((passes * at_once, means))
    }
}

/// Device memory with random bytes, none of which is part of an infinite float: equal ones cost less power.
fn bytes(length: usize) -> Result<DeviceBuffer<u8>, GpuError> {
    const PIECE: usize = 1 << 24;
    let fail = |error| GpuError::driver("allocating device memory", error);
    let piece: Vec<u8> = Random::new(1).u8s(PIECE).iter().map(|byte| byte & 0x3F).collect();
    // SAFETY: all of it is written below.
    let buffer = unsafe { DeviceBuffer::<u8>::uninitialized(length) }.map_err(fail)?;
    for first in (0..length).step_by(PIECE) {
        let last = length.min(first + PIECE);
        buffer.index(first..last).copy_from(&piece[..last - first]).map_err(fail)?;
    }
    Ok(buffer)
}

/// Page-locked host memory and device memory of the same length.
fn pair(length: usize) -> Result<(HostBuffer<u8>, DeviceBuffer<u8>)> {
    Ok((HostBuffer::zeroed(length, HostFlags::PINNED)?, bytes(length)?))
}
