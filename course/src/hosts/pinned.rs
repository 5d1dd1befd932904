//! # Pinned: copies at the speed of the bus
//!
//! The program sends eight parts of an array to the device and a kernel works on each. The array is
//! pageable memory: the driver first copies each part to pinned memory of its own, and the call that
//! is named asynchronous keeps the host until that is done.
//!
//! Copy from pinned memory. Pinning is expensive, so pin once, and keep what is used until the copies
//! have ended.

#![allow(unused_imports)]
use anyhow::Result;
use course_host::{Gpu, step};
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust_ext::host_memory::{HostBuffer, HostFlags};

/// The work of this task. Keep its signature.
pub fn run(gpu: &Gpu, source: &[u32], target: &mut [u32]) -> Result<()> {
    // SAFETY: each part is written before the kernel reads it.
    let values = unsafe { DeviceBuffer::<u32>::uninitialized(source.len())? };
    // learn: your code
    let pinned = HostBuffer::from_slice(source, HostFlags::PINNED)?;
    let source = &pinned[..];
    // learn: instead
    //| // TODO: where do the copies below come from?
    // learn: end
    let length = source.len().div_ceil(8);
    for first in (0..source.len()).step_by(length) {
        let part = first..source.len().min(first + length);
        let mut values = values.index(part.clone());
        // SAFETY: the source stays as it is, and both live, until the stream is waited for below.
        unsafe {
            values.async_copy_from(&source[part], gpu.stream())?;
            step(gpu, gpu.stream(), (&values, &values), 1, 1)?;
        }
    }
    gpu.synchronize()?;
    Ok(values.copy_to(target)?)
}
