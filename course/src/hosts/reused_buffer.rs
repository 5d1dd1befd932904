//! # In parts: through a pinned buffer
//!
//! The array of the host is pageable. Part by part goes through a pinned buffer: the host fills it, the
//! device copies from it, and the host goes on with the next part.
//!
//! Use two buffers in turn, so that one is filled while the other is copied. The host waits for what it
//! has to, and for nothing else.

#![allow(unused_imports)]
use anyhow::Result;
use course_host::{Gpu, step};
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust_ext::host_memory::{HostBuffer, HostFlags};

/// The work of this task. Keep its signature.
pub fn run(gpu: &Gpu, source: &[u32], target: &mut [u32]) -> Result<()> {
    // SAFETY: the copies write all of it before the kernel reads it.
    let values = unsafe { DeviceBuffer::<u32>::uninitialized(source.len())? };
    let length = source.len().div_ceil(8);
    // learn: your code
    let buffer = || HostBuffer::zeroed(length, HostFlags::PINNED);
    let mut buffers = [buffer()?, buffer()?];
    let event = || Event::new(EventFlags::DISABLE_TIMING);
    let copied = [event()?, event()?];
    // learn: instead
    //| let mut buffers = [HostBuffer::zeroed(length, HostFlags::PINNED)?];
    // learn: end
    for (index, part) in source.chunks(length).enumerate() {
        // learn: your code
        if index >= 2 {
            copied[index % 2].synchronize()?;
        }
        let buffer = &mut buffers[index % 2][..part.len()];
        // learn: instead
        //| // TODO: when does the device read this?
        //| let buffer = &mut buffers[0][..part.len()];
        // learn: end
        buffer.copy_from_slice(part);
        let first = index * length;
        let mut values = values.index(first..first + part.len());
        // SAFETY: the buffer stays as it is until the copy has ended.
        unsafe { values.async_copy_from(buffer, gpu.stream())? };
        // learn: your code
        copied[index % 2].record(gpu.stream())?;
        // learn: instead
        // learn: end
    }
    // SAFETY: the kernel comes after the copies on the same stream; the array lives until it is waited for.
    unsafe { step(gpu, gpu.stream(), (&values, &values), 1, 1)? };
    gpu.synchronize()?;
    Ok(values.copy_to(target)?)
}
