//! # Zero-copy: kernels reach host memory over the bus
//!
//! Shows: reading mapped memory once needs no copy and overlaps by itself; what is read again should be kept on the
//! device.
//!
//! Page-locked memory that is mapped has an address on the device. A kernel that uses it sends each sector over the
//! bus:
//!
//! ```text
//! staged  host --copy--> device memory --kernel--> device memory --copy--> host     three steps, one after the other
//! mapped  host ------------------------- kernel --------------------------> host     one step, both directions at once
//! ```
//!
//! | variant | change from the previous one | reads | writes |
//! |---|---|---|---|
//! | `staged` | a copy, the kernel, a copy | a copy up, then device memory | device memory, then a copy down |
//! | `mapped` | no copies | mapped | mapped |
//! | `mapped_read` | the result stays on the device | mapped | device |
//! | `mapped_write` | the source is on the device | device | mapped |
//! | `strided_read` | the lanes of a warp lie n / 32 words apart | mapped | device |
//! | `strided_write` | the lanes of a warp lie n / 32 words apart | device | mapped |
//! | `staged_reread` | a copy up, then each word is read `passes` times | device | device |
//! | `mapped_reread` | no copy | mapped, `passes` times | device |
//! | `cached_reread` | a kernel brings the source to device memory first | mapped once, then device | device |
//! | `staged_rewrite` | each word is written `passes` times, then a copy down | device | device |
//! | `mapped_rewrite` | no copy | device | mapped, `passes` times |
//!
//! Expected: with V bytes, up and down at b bytes per second, `staged` takes 2 V/b and the kernel, `mapped` little
//! more than V/b,
//! because the bus carries both directions at once. A strided warp asks for 32 sectors and uses 4 bytes of each: 8
//! V bytes
//! cross when nothing keeps them, as with stores. Of what it reads the 8 warps of a block use each sector whole, 8
//! x 4 B = 32 B,
//! if L1 keeps it for so long. But each of these sectors is a request of its own on the link, where neighbouring lanes
//! have one per line of 128 bytes, and a request of 4 or 32 bytes takes the link longer than its bytes do: of reads
//! there are 4 times as many as in `mapped_read`, of writes 32 times as many as in `mapped_write`. Whether a second read crosses the bus again is for the measurement to decide: the
//! virtual device's model takes it that L1 keeps host memory while a block runs and L2 never does, so that
//! `mapped_reread` takes passes V/b, `staged_reread` and `cached_reread` V/b and what device memory takes. If L2
//! keeps it, the three are alike.
//! In the same way the model sends every store over the bus.
//!
//! Preconditions: n at most 2^31.
//!
//! Source: CUDA C++ Best Practices Guide, "Zero Copy"; CUDA C++ Programming Guide, "Mapped Memory".

use anyhow::Result;
use coalesce::data::{Data, Element, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Limit, Output, Pattern, Procedure, Size, Sweep, Variant,
};
use cuda_host::Gpu;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DevicePointer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use kernels::transfer::zero_copy as device;
use kernels::transfer::zero_copy::{SHIFT, THREADS_PER_BLOCK};

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
    bytes: both,
    floor,
    variants: &[
        Variant::host("staged", "a copy, the kernel, a copy", |_, case, size| {
            build(case, size, SCALE, Source::Staged, Target::Staged)
        })
        .writing(SCALED),
        Variant::host("mapped", "no copies", |_, case, size| {
            build(case, size, SCALE, Source::Mapped, Target::Mapped)
        })
        .writing(SCALED),
        Variant::host("mapped_read", "the result stays on the device", |_, case, size| {
            build(case, size, SCALE, Source::Mapped, Target::Device)
        })
        .writing(SCALED)
        .moving(one),
        Variant::host("mapped_write", "the source is on the device", |_, case, size| {
            build(case, size, SCALE, Source::Device, Target::Mapped)
        })
        .writing(SCALED)
        .moving(one),
        Variant::host(
            "strided_read",
            "the lanes of a warp lie n / 32 words apart",
            |_, case, size| build(case, size, STRIDED, Source::Mapped, Target::Device),
        )
        .writing(SCALED)
        .moving(one),
        Variant::host(
            "strided_write",
            "the lanes of a warp lie n / 32 words apart",
            |_, case, size| build(case, size, STRIDED, Source::Device, Target::Mapped),
        )
        .writing(SCALED)
        .moving(one),
        Variant::host(
            "staged_reread",
            "a copy up, then each word is read `passes` times",
            |_, case, size| build(case, size, REREAD, Source::Staged, Target::Device),
        )
        .writing(SUMS)
        .moving(one),
        Variant::host("mapped_reread", "no copy", |_, case, size| {
            build(case, size, REREAD, Source::Mapped, Target::Device)
        })
        .writing(SUMS)
        .moving(one),
        Variant::host(
            "cached_reread",
            "a kernel brings the source to device memory first",
            |_, case, size| build(case, size, REREAD, Source::Cached, Target::Device),
        )
        .writing(SUMS)
        .moving(one),
        Variant::host(
            "staged_rewrite",
            "each word is written `passes` times, then a copy down",
            |_, case, size| build(case, size, REWRITE, Source::Device, Target::Staged),
        )
        .writing(SCALED)
        .moving(one),
        Variant::host("mapped_rewrite", "no copy", |_, case, size| {
            build(case, size, REWRITE, Source::Device, Target::Mapped)
        })
        .writing(SCALED)
        .moving(one),
    ],
};

/// The output of kernels that multiply by [`FACTOR`], and that of those that add.
const SCALED: &[usize] = &[0];
const SUMS: &[usize] = &[1];
/// What words are multiplied by.
const FACTOR: u32 = 3;
const UNTOUCHED: u32 = u32::from_ne_bytes([POISON; 4]);

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, passes] = size.get();
    let source = random.u32s(n);
    let (scaled, sums) = reference(&source, passes);
    Case {
        outputs: vec![Output::exact(Data::U32(scaled)), Output::exact(Data::U32(sums))],
        inputs: vec![Data::U32(source)],
    }
}

/// Every word times [`FACTOR`]; and for every word the sum of those that lie 0, 1, 2 .. times [`SHIFT`] further round
/// the array.
fn reference(source: &[u32], passes: usize) -> (Vec<u32>, Vec<u32>) {
    let scaled = source.iter().map(|word| word.wrapping_mul(FACTOR)).collect();
    let word = |index: usize| source[index % source.len()];
    let sum = |index: usize| {
        (0..passes).map(|pass| word(index + pass * SHIFT as usize)).fold(0, u32::wrapping_add)
    };
    (scaled, (0..source.len()).map(sum).collect())
}

/// Over the bus in both directions.
fn both(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Over the bus in one direction.
fn one(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * n, written: 0 }
}

/// The bus, which what is read or written again need not cross again.
fn floor(variant: &Variant, size: &Size) -> Option<(Limit, usize)> {
    match variant.name {
        "staged" | "mapped" => Some((Limit::BothWays, both(size).total())),
        "mapped_write" | "strided_write" | "staged_rewrite" | "mapped_rewrite" => {
            Some((Limit::Download, one(size).total()))
        }
        _ => Some((Limit::Upload, one(size).total())),
    }
}

/// A kernel of this pattern, all of which take source, target, n and an amount.
#[derive(Clone, Copy)]
struct Kernel {
    name: &'static str,
    /// Whether the amount is the number of passes, and not the factor.
    takes_passes: bool,
}

const SCALE: Kernel = Kernel { name: device::zero_copy_scale.name(), takes_passes: false };
const STRIDED: Kernel = Kernel { name: device::zero_copy_strided.name(), takes_passes: false };
const REREAD: Kernel = Kernel { name: device::zero_copy_reread.name(), takes_passes: true };
const REWRITE: Kernel = Kernel { name: device::zero_copy_rewrite.name(), takes_passes: true };

/// Where the kernel reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Device memory that holds the source already.
    Device,
    /// Device memory, after a copy.
    Staged,
    /// Device memory, after a kernel has read mapped memory into it.
    Cached,
    /// Mapped memory.
    Mapped,
}

/// Where the kernel writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Device,
    /// Device memory, and a copy follows.
    Staged,
    Mapped,
}

/// A kernel between memory of two places. The device's buffers are dropped first, which waits for whoever uses the
/// host's.
struct ZeroCopy {
    device_source: DeviceBuffer<u32>,
    device_target: DeviceBuffer<u32>,
    host_source: HostBuffer<u32>,
    host_target: HostBuffer<u32>,
    kernel: Kernel,
    passes: u32,
    source: Source,
    target: Target,
}

fn build(
    case: &Case,
    size: &Size,
    kernel: Kernel,
    source: Source,
    target: Target,
) -> Result<Box<dyn Procedure>> {
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
        // holds n
        // words and is another allocation; all live in `self`, which waits for the device when dropped, and the
        // host touches its own only after it has waited.
        unsafe {
            cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, amount))?
        };
        Ok(())
    }
}

impl Procedure for ZeroCopy {
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
