//! Library of a host task's file: the device that it is given, and the program that it becomes.
//!
//! Nothing here knows the tasks: inputs come from the judge, results go to the judge, and so does what the virtual GPU
//! recorded. So there is no answer that a file could read.
#![allow(missing_docs, reason = "this crate is not published")]

mod confine;
mod os;
mod program;
mod record;
mod wire;

pub use confine::IS_CONFINED;
pub use program::main;
pub use record::{DevicePlace, HostMisuse, HostRun, MISTAKES, Record, Work};
pub use wire::{Answer, Order, WORD_BYTES, read_answer};

use anyhow::Result;
use cust::memory::DeviceSlice;
use cust::stream::Stream;
use cust_ext::graph::ExecutableGraph;
use std::cell::Cell;
use std::fmt;

/// Threads of a block of [`step`].
const THREADS_PER_BLOCK: u32 = 256;
const KERNEL: &str = "host_step";

/// The device as a learner's file has it: what it records is the judge's, and out of the file's reach.
pub struct Gpu {
    device: cuda_host::Gpu,
    /// Factor of [`step`]. It is drawn for each run, so that only the device computes right results.
    factor: Cell<u32>,
}

/// Shows nothing of what is inside: a file prints it, too.
impl fmt::Debug for Gpu {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Gpu")
    }
}

impl Gpu {
    pub fn stream(&self) -> &Stream {
        self.device.stream()
    }

    /// Waits until the device has nothing left to do.
    pub fn synchronize(&self) -> Result<()> {
        Ok(self.device.synchronize()?)
    }

    /// Records what `body` enqueues on the stream instead of running it.
    ///
    /// # Errors
    /// The driver's, also when `body` does what no graph can hold.
    pub fn record(&self, body: impl FnOnce()) -> Result<ExecutableGraph> {
        Ok(self.device.record(body)?)
    }
}

/// Function of a learner's file: the work from `source` to `target`, both of the host's.
pub type Run = fn(&Gpu, &[u32], &mut [u32]) -> Result<()>;

/// Enqueues a kernel that turns each value x into f x + `add`, `rounds` times, where f is a number that the device alone
/// knows. `source` and `target` may be the same.
///
/// # Safety
/// - Both slices have the same length.
/// - Both stay allocated until the stream has reached this kernel.
/// - Nobody else uses them in the meantime.
pub unsafe fn step(
    gpu: &Gpu,
    stream: &Stream,
    (source, target): (&DeviceSlice<u32>, &DeviceSlice<u32>),
    add: u32,
    rounds: u32,
) -> Result<()> {
    let function = gpu.device.module().get_function(KERNEL)?;
    let (n, factor) = (target.len() as u32, gpu.factor.get());
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    let (source, target) = (source.as_device_ptr(), target.as_device_ptr());
    // SAFETY: the kernel takes two pointers to n values, n and three numbers; the grid covers n; the rest is the caller's.
    unsafe {
        cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n, factor, add, rounds))?;
    }
    Ok(())
}
