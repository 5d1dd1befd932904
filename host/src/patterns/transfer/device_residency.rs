//! # Device residency: leave the values on the device between two kernels
//!
//! Shows: a step that the device does slower than the CPU can still belong on the device, because it
//! saves the trip to the host and back.
//!
//! The surprise: `kept` (36.77 us) runs its middle step on the device with 4 threads of tens of thousands
//! that fit, and is still faster than `through_host` (40.00 us), whose CPU does the same step in a
//! fraction of that step's time.
//!
//! A program has three steps. The first and the last treat each value by itself, as a GPU likes
//! it. The middle one is a chain: each value needs the result of the one before. Only different
//! chains can run at the same time, so its parallelism is the number of chains, here 4:
//!
//! ```text
//! chain 0   x0 -> x1 -> x2 -> ... -> x255         step 1 and 3: 4 x 256 threads
//! chain 1   x0 -> x1 -> x2 -> ... -> x255         step 2: 4 threads, 256 links each
//!
//! copied_each_step  D2H and H2D around every step  H k D  H k D  H k D     H = H2D, k = kernel, D = D2H
//! through_host      the CPU does step 2            H k D  cpu  H k D
//! kept              nothing leaves the device      H k    k    k D
//! ```
//!
//! All three begin with the source in [pinned memory] of the [host] and end with the result there,
//! because that is where a program has them.
//!
//! 1. `copied_each_step`. Each step is a function that takes an array of the host and gives one back,
//!    as libraries of single functions do. Three [kernels][kernel] need three copies to the device
//!    ([H2D]) and three back ([D2H]), and the host waits after each step.
//! 2. `through_host`. The idea: only the step that the CPU does better leaves the device. It costs
//!    one copy in each direction and one wait, and the CPU's chain, which takes a few cycles per
//!    link.
//! 3. `kept`. The idea: do the middle step on the device, too. A link takes longer there than on the
//!    CPU, because the clock is slower and each value comes from the [L2 cache] (16 loads are in
//!    flight to hide that). What it saves is the trip: two copies, each with its fixed time, and
//!    the host that waits and starts again.
//!
//! | variant | change from the previous one | copies | waits of the host | limited by |
//! |---|---|---|---|---|
//! | `copied_each_step` | every step takes its values from the host and gives them back | 6 | 3 | the fixed time of copies |
//! | `through_host` | values stay on the device, except for the step that the CPU does | 4 | 2 | the trip |
//! | `kept` | the device does that step, too, with a thread per chain | 2 | 1 | the chain |
//!
//! Expected: let c be the number of chains, l their length, p the time of a link on the CPU and g
//! on the device. The CPU takes c l p, because it does one chain after the other, and the trip t
//! beside it. The device takes l g, whatever c is, up to tens of thousands of chains. So the device
//! wins where l g < c l p + t: always from c = g / p chains on, and with fewer if chains are short.
//! The sweep over the length, with these 4 chains, shows where the device begins to lose. The sweep
//! over the number of chains shows how the CPU falls behind.
//! `copied_each_step` (64.77 us) pays the fixed time of six copies.
//!
//! Common misconception: "code that is not parallel belongs on the CPU". It belongs where its data
//! are. Count the trip before you count the cycles.
//!
//! Questions:
//! - Why does the device not become slower with more chains? A thread waits for the result of its
//!   own last multiplication. Other [warps][warp] use the time. Until every [multiprocessor] has
//!   enough warps to issue in each cycle, more chains are free.
//! - What if the middle step were larger, a sort of a few hundred values perhaps? The same sum: its
//!   time on the device against its time on the CPU plus the trip. Measure both once; the trip does
//!   not depend on the step.
//! - Could the trip be hidden? With several independent arrays, yes: `overlap` shows how. A single
//!   dependent chain of steps has nothing to overlap with.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `copied_each_step` | 64.77 | 0 |  | 1.00 |
//! | `through_host` | 40.00 | 0 |  | 1.62 |
//! | `kept` | 36.77 | 0 |  | 1.76 |
//! <!-- /measured -->
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Best Practices Guide, "Data Transfer Between Host and Device": intermediate data
//! should be created, used and destroyed in device memory, even if a kernel is no faster there.
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::prelude::*;
use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use kernels::transfer::device_residency::{
    CHAINS_PER_BLOCK, THREADS_PER_BLOCK, device_residency_chain, device_residency_mix, link, mix,
};

pub const PATTERN: Pattern = Pattern {
    name: "device_residency",
    group: "transfer",
    doc_source: include_str!("device_residency.rs"),
    dimensions: &[
        Dimension::extent("chains", "chains, which do not need each other", 1),
        Dimension::extent("length", "values per chain", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[1, 33],
        &[31, 32],
        &[33, 31],
        &[32, 257],
        &[1001, 3],
        &[3, 15],
        &[5, 16],
        &[7, 1003],
    ],
    bench_size: &[4, 256],
    count_size: &[4, 256],
    sweeps: &[
        Sweep { dimension: 0, values: &[1, 4, 16, 64, 256, 1024, 4096], variants: &[0, 1, 2] },
        Sweep { dimension: 1, values: &[64, 256, 1024, 4096, 1 << 14, 1 << 16], variants: &[1, 2] },
    ],
    case,
    bytes,
    minimum_time: |_, _| None,
    variants: &[
        variant!("copied_each_step", build, Way::CopiedEachStep),
        variant!("through_host", build, Way::ThroughHost),
        variant!("kept", build, Way::Kept),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [chains, length] = size.get();
    let source = random.u32s(chains * length);
    Case::exact(vec![Data::U32(reference(&source, chains))], vec![Data::U32(source)])
}

/// The three steps, one after the other.
fn reference(source: &[u32], chains: usize) -> Vec<u32> {
    let mixed: Vec<u32> = source.iter().copied().map(mix).collect();
    let mut linked = vec![0; source.len()];
    follow(&mixed, &mut linked, chains);
    linked.into_iter().map(mix).collect()
}

/// The middle step. Value `i` of a chain is at `i * chains` and its number.
fn follow(source: &[u32], target: &mut [u32], chains: usize) {
    for chain in 0..chains {
        let mut before = 0;
        for at in (chain..source.len()).step_by(chains) {
            before = link(before, source[at]);
            target[at] = before;
        }
    }
}

fn bytes(size: &Size) -> Bytes {
    let [chains, length] = size.get();
    Bytes { read: 4 * chains * length, written: 4 * chains * length }
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    CopiedEachStep,
    ThroughHost,
    Kept,
}

/// Values on their way. The device's buffers are dropped first, which waits for whoever uses the host's.
struct Steps {
    /// The device's values between two steps.
    values: DeviceBuffer<u32>,
    linked: DeviceBuffer<u32>,
    source: HostBuffer<u32>,
    /// The host's values between two steps.
    between: HostBuffer<u32>,
    target: HostBuffer<u32>,
    chains: usize,
    way: Way,
}

fn build(_: &Gpu, case: &Case, size: &Size, way: Way) -> Result<Box<dyn HostWork>> {
    let [chains, _] = size.get();
    let source = u32::view(&case.inputs[0]).expect("the case holds u32");
    let untouched = vec![u32::from_ne_bytes([POISON; 4]); source.len()];
    let buffer = |values: &[u32]| HostBuffer::from_slice(values, HostFlags::PINNED);
    Ok(Box::new(Steps {
        values: DeviceBuffer::from_slice(&untouched)?,
        linked: DeviceBuffer::from_slice(&untouched)?,
        source: buffer(source)?,
        between: buffer(&untouched)?,
        target: buffer(&untouched)?,
        chains,
        way,
    }))
}

impl Steps {
    /// Mixes an array of the device in place.
    fn mix(&self, gpu: &Gpu, values: &DeviceBuffer<u32>) -> Result<()> {
        let function = gpu.module().get_function(device_residency_mix.name())?;
        let (stream, at, n) = (gpu.stream(), values.as_device_ptr(), values.len() as u32);
        let grid = n.div_ceil(THREADS_PER_BLOCK);
        // SAFETY: a thread per value of an array that lives in `self`, which waits for the device when dropped.
        Ok(unsafe { cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(at, at, n)) }?)
    }

    /// The middle step on the device, from `values` to `linked`.
    fn follow(&self, gpu: &Gpu) -> Result<()> {
        let function = gpu.module().get_function(device_residency_chain.name())?;
        let (stream, chains) = (gpu.stream(), self.chains as u32);
        let length = (self.values.len() / self.chains) as u32;
        let (from, to) = (self.values.as_device_ptr(), self.linked.as_device_ptr());
        let grid = chains.div_ceil(CHAINS_PER_BLOCK);
        // SAFETY: a thread per chain; both arrays have `chains * length` values and live in `self`.
        Ok(unsafe {
            cust::launch!(function<<<grid, CHAINS_PER_BLOCK, 0, stream>>>(from, to, chains, length))
        }?)
    }

    /// The middle step by the CPU, from `between` to `target`.
    fn follow_here(&mut self, gpu: &Gpu) {
        follow(&self.between, &mut self.target, self.chains);
        gpu.host_has_read(&self.between);
    }
}

impl HostWork for Steps {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let stream = gpu.stream();
        // SAFETY: the host touches its buffers only after it has waited for the stream; `self` owns all buffers, the
        // device's dropped first.
        unsafe {
            self.values.async_copy_from(&self.source[..], stream)?;
            self.mix(gpu, &self.values)?;
            match self.way {
                Way::Kept => self.follow(gpu)?,
                Way::ThroughHost => {
                    self.values.async_copy_to(&mut self.between[..], stream)?;
                    gpu.synchronize()?;
                    self.follow_here(gpu);
                    self.linked.async_copy_from(&self.target[..], stream)?;
                }
                Way::CopiedEachStep => {
                    self.values.async_copy_to(&mut self.between[..], stream)?;
                    gpu.synchronize()?;
                    self.values.async_copy_from(&self.between[..], stream)?;
                    self.follow(gpu)?;
                    self.linked.async_copy_to(&mut self.target[..], stream)?;
                    gpu.synchronize()?;
                    self.linked.async_copy_from(&self.target[..], stream)?;
                }
            }
            self.mix(gpu, &self.linked)?;
            self.linked.async_copy_to(&mut self.target[..], stream)?;
        }
        Ok(gpu.synchronize()?)
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::U32(self.target.to_vec())])
    }
}
