//! # Two streams: and one array
//!
//! A stream copies an array to the device, another runs the kernel on it and copies the result back. Often
//! that is right; the virtual GPU runs work as late as it may, so that here it is not.
//!
//! Make it right always, without holding up the host: it waits once, at the end. Both arrays of the host
//! are pinned.

#![allow(unused_imports)]
use anyhow::Result;
use course_host::{Gpu, step};
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use cust_ext::stream::{non_blocking, wait_event};

/// The work of this task. Keep its signature.
pub fn run(gpu: &Gpu, source: &[u32], target: &mut [u32]) -> Result<()> {
    let (copies, kernels) = (non_blocking(None)?, non_blocking(None)?);
    // SAFETY: the copy writes all of it.
    let mut values = unsafe { DeviceBuffer::<u32>::uninitialized(source.len())? };
    // SAFETY: all memory lives, and the host leaves it alone, until the stream is waited for below.
    unsafe {
        values.async_copy_from(source, &copies)?;
        // learn: your code
        let copied = Event::new(EventFlags::DISABLE_TIMING)?;
        copied.record(&copies)?;
        wait_event(&kernels, &copied)?;
        // learn: instead
        //| // TODO: when does the kernel run?
        // learn: end
        step(gpu, &kernels, (&values, &values), 1, 1)?;
        values.async_copy_to(target, &kernels)?;
    }
    kernels.synchronize()?;
    Ok(())
}
