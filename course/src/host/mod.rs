//! Host tasks: the learner edits calls of the driver. Here is what such a file uses, and the program that it becomes,
//! which runs it on the virtual GPU and tells what it saw.

mod build;
mod confine;
mod counts;
mod judge;
mod order;
mod program;

pub use build::{Program, Source, build};
pub use counts::HostCounts;
pub use judge::{Asked, grade, run_at};
pub use program::main;

use anyhow::Result;
use course_kernels::host_step::host_step;
use cust::memory::DeviceSlice;
use cust::stream::Stream;
use cust_ext::graph::ExecutableGraph;

/// Threads of a block of [`step`].
const THREADS_PER_BLOCK: u32 = 256;

/// The device as a learner's file has it: what it records is the judge's, and out of the file's reach.
#[derive(Debug)]
pub struct Gpu(cuda_host::Gpu);

impl Gpu {
    /// A stream that is the file's.
    pub fn stream(&self) -> &Stream {
        self.0.stream()
    }

    /// Waits until the device has nothing left to do.
    ///
    /// # Errors
    /// The driver's.
    pub fn synchronize(&self) -> Result<()> {
        Ok(self.0.synchronize()?)
    }

    /// Records what `body` enqueues on the stream instead of running it.
    ///
    /// # Errors
    /// The driver's, also when `body` does what no graph can hold.
    pub fn record(&self, body: impl FnOnce()) -> Result<ExecutableGraph> {
        Ok(self.0.record(body)?)
    }
}

/// What a learner's file has: the work from `source` to `target`, both of the host's.
pub type Run = fn(&Gpu, &[u32], &mut [u32]) -> Result<()>;

/// Enqueues a kernel that turns each value x into 3 x + `add`, `rounds` times. `source` and `target` may be the same.
///
/// # Errors
/// The driver's.
///
/// # Safety
/// Both slices have the same length, and stay allocated until the stream has reached this kernel. Nobody else uses
/// them in the meantime.
pub unsafe fn step(
    gpu: &Gpu,
    stream: &Stream,
    (source, target): (&DeviceSlice<u32>, &DeviceSlice<u32>),
    add: u32,
    rounds: u32,
) -> Result<()> {
    let function = gpu.0.module().get_function(host_step.name())?;
    let n = target.len() as u32;
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    let (source, target) = (source.as_device_ptr(), target.as_device_ptr());
    // SAFETY: the kernel takes two pointers to n values, n and two numbers; the grid covers n; the rest is the caller's.
    unsafe {
        cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, add, rounds))?;
    }
    Ok(())
}

/// What [`step`] makes of a value, for references.
pub fn stepped(value: u32, add: u32, rounds: u32) -> u32 {
    (0..rounds).fold(value, |value, _| value.wrapping_mul(3).wrapping_add(add))
}
