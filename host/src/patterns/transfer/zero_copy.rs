//! # Zero-copy: a kernel can use host memory over PCIe, without a copy
//!
//! Shows: reading or writing [mapped memory] once needs no copy and uses both directions of PCIe at
//! the same time; data that is used again belongs in device memory.
//!
//! The surprise: the kernel that works directly on the host's memory, `mapped` (0.421 ms), has
//! finished before the program that copies to fast memory first, `staged` (0.645 ms). But let it
//! read each word four times, and `mapped_reread` (1.314 ms) takes 3.9 times (`mapped_reread` /
//! `staged_reread`) as long as `staged_reread` (0.336 ms).
//!
//! [Pinned memory][pinned memory] can be mapped: it then has an address that a [kernel] on the
//! [device] can use. Each [sector] that the kernel loads or stores crosses [PCIe], the connection
//! between [host] and device. There are no steps to wait for, so loads in one direction and stores
//! in the other run at the same time:
//!
//! ```text
//! time ->
//! staged   H2D |=========|                       copy, then kernel, then copy
//!          GPU            |k|
//!          D2H               |=========|
//! mapped   H2D |==========|                      loads of the kernel
//!          GPU |kkkkkkkkkk|                      the kernel waits for PCIe all the time
//!          D2H  |==========|                     stores of the kernel
//! ```
//!
//! 1. `staged` makes an H2D copy, runs the kernel in device memory and makes a D2H copy. The
//!    timeline shows that PCIe works in one direction at a time. This is the usual way.
//! 2. `mapped` asks whether the device can map host memory (`canMapHostMemory`), and gives the device address of the host's arrays to the kernel (`cudaHostAllocMapped`,
//!    `cudaHostGetDevicePointer`; here `HostFlags::MAPPED` and `device_pointer`). It costs nothing
//!    but [latency]: the kernel has so many [warps][warp] that others work while one waits.
//!    `mapped_read` and `mapped_write` have only one side in mapped memory.
//! 3. `strided_read` and `strided_write` show that [coalesced] requests matter more here than in
//!    device memory. The [lanes][lane] of a warp use words that are n / 32 words apart: 32 sectors,
//!    with 4 bytes used of each. For loads the [L1 cache] repairs most of that. Stores cross PCIe
//!    one by one.
//! 4. `staged_reread`, `mapped_reread` and `cached_reread` read each word `passes` times. The time
//!    shows that the [L2 cache] does not retain host memory here: each read crosses PCIe again. The
//!    idea of `cached_reread` is to read mapped memory once, into device memory. It costs that
//!    memory and a [launch].
//! 5. `staged_rewrite` and `mapped_rewrite` write each word `passes` times.
//!
//! | variant | change from the previous one | reads | writes |
//! |---|---|---|---|
//! | `staged` | an H2D copy, the kernel, a D2H copy | device memory, after a copy | device memory, before a copy |
//! | `mapped` | no copies: the kernel uses mapped memory | mapped | mapped |
//! | `mapped_read` | the result stays on the device | mapped | device |
//! | `mapped_write` | the source is on the device, the result in mapped memory | device | mapped |
//! | `strided_read` | the lanes of a warp read words that are n / 32 words apart | mapped | device |
//! | `strided_write` | the lanes of a warp write words that are n / 32 words apart | device | mapped |
//! | `staged_reread` | an H2D copy, then each word is read `passes` times | device | device |
//! | `mapped_reread` | no copy: each read is from mapped memory | mapped, `passes` times | device |
//! | `cached_reread` | a kernel copies the source to device memory first | mapped once, then device | device |
//! | `staged_rewrite` | each word is written `passes` times, then a D2H copy | device | device |
//! | `mapped_rewrite` | no copy: each write is to mapped memory | device | mapped, `passes` times |
//!
//! Expected: V bytes in each direction at b bytes per second take 2 V/b and the kernel in `staged`,
//! and little more than V/b in `mapped`, because the directions overlap by themselves.
//! `mapped_read` (0.340 ms) and `mapped_write` (0.329 ms) take V/b each. `strided_write` (5.278 ms)
//! sends 32 stores of 4 bytes where `mapped_write` sends whole [cache lines][cache line], and takes
//! 16 times (`strided_write` / `mapped_write`) as long. `strided_read` (0.780 ms) takes only 2.3
//! times (`strided_read` / `mapped_read`) as long as `mapped_read`: the 8 warps of a [block] use
//! all 8 words of a sector, if L1 retains it for so long, but PCIe carries each sector as a request
//! of its own.
//!
//! In CUDA C++; in Rust the same with `HostBuffer`:
//!
//! ```cuda
//! cudaHostAlloc(&host, bytes, cudaHostAllocMapped); // HostBuffer::from_slice(&x, HostFlags::MAPPED)?
//! cudaHostGetDevicePointer(&device, host, 0);       // host.device_pointer()?
//! scale<<<grid, 256>>>(device, result, n, 3);       // no cudaMemcpy
//! ```
//!
//! Common misconception: "zero-copy means that no data moves". Every byte still crosses PCIe; there
//! is only no call for it. What crosses more than once costs more than a copy would.
//!
//! Common misconception: "host memory is slow, so copy first". For data that is used once, the copy
//! already takes as long as the kernel does with mapped memory, and then the kernel still has to
//! run.
//!
//! Questions:
//! - When is mapped memory the right choice? When each byte is read or written once, with coalesced
//!   requests. Also when a kernel needs few words of a large array, which a copy would move
//!   completely.
//! - Why does `mapped_rewrite` (0.748 ms) take only 2.3 times (`mapped_rewrite` / `mapped_write`)
//!   as long as `mapped_write` (0.329 ms), though it writes each word four times? Stores need no
//!   answer, so several to the same place can be merged before they cross PCIe. How many are, no
//!   document says.
//! - When may the host read what the kernel wrote? After it has waited for the kernel, as for any
//!   asynchronous work: `cudaStreamSynchronize`, here `gpu.synchronize()`.
//! - What would be different if L2 retained host memory? Then `mapped_reread` would be as fast as
//!   `staged_reread`. The measurement says that it does not.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `staged` | 0.645 | 52 | 54 | 1.00 |
//! | `mapped` | 0.421 | 80 | 83 | 1.53 |
//! | `mapped_read` | 0.340 | 49 | 89 | 1.90 |
//! | `mapped_write` | 0.329 | 51 | 92 | 1.96 |
//! | `strided_read` | 0.780 | 22 | 39 | 0.83 |
//! | `strided_write` | 5.278 | 3 | 6 | 0.12 |
//! | `staged_reread` | 0.336 | 50 | 90 | 1.92 |
//! | `mapped_reread` | 1.314 | 13 | 23 | 0.49 |
//! | `cached_reread` | 0.367 | 46 | 83 | 1.76 |
//! | `staged_rewrite` | 0.334 | 50 | 91 | 1.93 |
//! | `mapped_rewrite` | 0.748 | 22 | 41 | 0.86 |
//! <!-- /measured -->
//!
//! Preconditions: n at most 2^31.
//!
//! Source: CUDA C++ Best Practices Guide, "Zero Copy"; CUDA C++ Programming Guide, "Mapped Memory".
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy;
use crate::prelude::*;
use coalesce::pattern::Unavailable;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DevicePointer};
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use kernels::transfer::zero_copy::{self as device, SHIFT, THREADS_PER_BLOCK};

pub const PATTERN: Pattern = Pattern {
    name: "zero_copy",
    group: "transfer",
    doc_source: include_str!("zero_copy.rs"),
    dimensions: &[
        Dimension::extent("n", "words of four bytes", 1),
        Dimension::amount("passes", "times each word is read or written", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[32, 1],
        &[33, 3],
        &[255, 2],
        &[256, 4],
        &[257, 1],
        &[10_007, 3],
        &[1 << 18, 2],
    ],
    bench_size: &[1 << 22, 4],
    count_size: &[1 << 22, 4],
    sweeps: &[
        Sweep {
            dimension: 0,
            values: &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20],
            variants: &[0, 1, 6, 7, 8],
        },
        Sweep { dimension: 1, values: &[1, 2, 8], variants: &[6, 7, 8, 9, 10] },
    ],
    case,
    bytes: copy::bytes,
    minimum_time,
    variants: &[
        variant!("staged", build, SCALE, Source::Staged, Target::Staged).writing(SCALED),
        variant!("mapped", build, SCALE, Source::Mapped, Target::Mapped).writing(SCALED),
        variant!("mapped_read", build, SCALE, Source::Mapped, Target::Device)
            .writing(SCALED)
            .moving(copy::read),
        variant!("mapped_write", build, SCALE, Source::Device, Target::Mapped)
            .writing(SCALED)
            .moving(copy::read),
        variant!("strided_read", build, STRIDED, Source::Mapped, Target::Device)
            .writing(SCALED)
            .moving(copy::read),
        variant!("strided_write", build, STRIDED, Source::Device, Target::Mapped)
            .writing(SCALED)
            .moving(copy::read),
        variant!("staged_reread", build, REREAD, Source::Staged, Target::Device)
            .writing(SUMS)
            .moving(copy::read),
        variant!("mapped_reread", build, REREAD, Source::Mapped, Target::Device)
            .writing(SUMS)
            .moving(copy::read),
        variant!("cached_reread", build, REREAD, Source::Cached, Target::Device)
            .writing(SUMS)
            .moving(copy::read),
        variant!("staged_rewrite", build, REWRITE, Source::Device, Target::Staged)
            .writing(SCALED)
            .moving(copy::read),
        variant!("mapped_rewrite", build, REWRITE, Source::Device, Target::Mapped)
            .writing(SCALED)
            .moving(copy::read),
    ],
};

/// The output of kernels that multiply by [`FACTOR`], and that of those that add.
const SCALED: &[usize] = &[0];
const SUMS: &[usize] = &[1];
/// The factor by which kernels multiply words.
const FACTOR: u32 = 3;
const UNTOUCHED: u32 = u32::from_ne_bytes([POISON; 4]);

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, passes] = size.get();
    let source = random.u32s(n);
    let (scaled, sums) = reference(&source, passes);
    Case::exact(vec![Data::U32(scaled), Data::U32(sums)], vec![Data::U32(source)])
}

/// Every word times [`FACTOR`]; and for every word the sum of those that are 0, 1, 2 .. times [`SHIFT`] words further,
/// beginning again at the start of the array.
fn reference(source: &[u32], passes: usize) -> (Vec<u32>, Vec<u32>) {
    let scaled = source.iter().map(|word| word.wrapping_mul(FACTOR)).collect();
    let word = |index: usize| source[index % source.len()];
    let sum = |index: usize| {
        (0..passes).map(|pass| word(index + pass * SHIFT as usize)).fold(0, u32::wrapping_add)
    };
    (scaled, (0..source.len()).map(sum).collect())
}

/// PCIe bounds all variants. What is read or written again need not cross it again.
fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    match variant.name {
        "staged" | "mapped" => Some((Resource::Bidirectional, copy::bytes(size).total())),
        "mapped_write" | "strided_write" | "staged_rewrite" | "mapped_rewrite" => {
            Some((Resource::DeviceToHost, copy::read(size).total()))
        }
        _ => Some((Resource::HostToDevice, copy::read(size).total())),
    }
}

/// A kernel of this pattern, all of which take source, target, n and an amount.
#[derive(Clone, Copy)]
struct AccessKernel {
    name: &'static str,
    /// True when the amount is the number of passes, and not the factor.
    takes_passes: bool,
}

const SCALE: AccessKernel =
    AccessKernel { name: device::zero_copy_scale.name(), takes_passes: false };
const STRIDED: AccessKernel =
    AccessKernel { name: device::zero_copy_strided.name(), takes_passes: false };
const REREAD: AccessKernel =
    AccessKernel { name: device::zero_copy_reread.name(), takes_passes: true };
const REWRITE: AccessKernel =
    AccessKernel { name: device::zero_copy_rewrite.name(), takes_passes: true };

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Device memory that holds the source already.
    Device,
    /// Device memory, after a copy.
    Staged,
    /// Device memory, after a kernel has read mapped memory into it.
    Cached,
    Mapped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Device,
    /// Device memory, and a copy follows.
    Staged,
    Mapped,
}

/// A kernel, its source and its target, each on the host or the device. The buffers of the device are dropped first,
/// which waits for whoever uses those of the host.
struct ZeroCopy {
    device_source: DeviceBuffer<u32>,
    device_target: DeviceBuffer<u32>,
    host_source: HostBuffer<u32>,
    host_target: HostBuffer<u32>,
    kernel: AccessKernel,
    passes: u32,
    source: Source,
    target: Target,
}

fn build(
    gpu: &Gpu,
    case: &Case,
    size: &Size,
    kernel: AccessKernel,
    source: Source,
    target: Target,
) -> Result<Box<dyn HostWork>> {
    let maps = source == Source::Mapped || source == Source::Cached || target == Target::Mapped;
    if maps && attribute(gpu.device(), DeviceAttribute::CanMapHostMemory)? != 1 {
        return Err(Unavailable("this device cannot map host memory".to_owned()).into());
    }
    let [n, passes] = size.get();
    let values = u32::view(&case.inputs[0]).expect("the case holds u32");
    let poison = vec![UNTOUCHED; n];
    let in_place = source == Source::Device;
    Ok(Box::new(ZeroCopy {
        device_source: DeviceBuffer::from_slice(if in_place { values } else { &poison })?,
        device_target: DeviceBuffer::from_slice(&poison)?,
        host_source: HostBuffer::from_slice(values, HostFlags::MAPPED)?,
        host_target: HostBuffer::from_slice(&poison, HostFlags::MAPPED)?,
        kernel,
        passes: passes as u32,
        source,
        target,
    }))
}

impl ZeroCopy {
    fn launch(
        &self,
        gpu: &Gpu,
        name: &str,
        (source, target): (DevicePointer<u32>, DevicePointer<u32>),
        amount: u32,
    ) -> Result<()> {
        let function = gpu.module().get_function(name)?;
        let n = self.host_source.len() as u32;
        // A whole number of warps, as the strided kernel needs it.
        let (grid, stream) = ((n.div_ceil(32) * 32).div_ceil(THREADS_PER_BLOCK), gpu.stream());
        // SAFETY: the kernels of this pattern have these parameters. The grid covers their threads; each array
        // holds n words and is another allocation; all live in `self`, which waits for the device when dropped, and the
        // host touches its own only after it has waited.
        Ok(unsafe {
            cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, amount))
        }?)
    }
}

impl HostWork for ZeroCopy {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let mapped = self.host_source.device_pointer()?;
        let in_device = self.device_source.as_device_ptr();
        let source = match self.source {
            Source::Device => in_device,
            Source::Staged => {
                // SAFETY: nobody writes the host's source, and `self` owns both buffers, the device's dropped first.
                unsafe { self.device_source.async_copy_from(&self.host_source[..], gpu.stream()) }?;
                in_device
            }
            Source::Cached => {
                self.launch(gpu, SCALE.name, (mapped, in_device), 1)?;
                in_device
            }
            Source::Mapped => mapped,
        };
        let target = match self.target {
            Target::Device | Target::Staged => self.device_target.as_device_ptr(),
            Target::Mapped => self.host_target.device_pointer()?,
        };
        let amount = if self.kernel.takes_passes { self.passes } else { FACTOR };
        self.launch(gpu, self.kernel.name, (source, target), amount)?;
        if self.target == Target::Staged {
            // SAFETY: the host reads its target only after the device was waited for; `self` owns both buffers.
            unsafe { self.device_target.async_copy_to(&mut self.host_target[..], gpu.stream()) }?;
        }
        Ok(())
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        let values = match self.target {
            Target::Device => self.device_target.as_host_vec()?,
            Target::Staged | Target::Mapped => self.host_target.to_vec(),
        };
        Ok(vec![Data::U32(values)])
    }
}
