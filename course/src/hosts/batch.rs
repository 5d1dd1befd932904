//! # Batch: many small copies or one
//!
//! The host has rows of 64 words, and the device wants the first 32 of each. Each row is copied by a
//! call of its own. A copy of 128 bytes takes the bus a few nanoseconds; the call takes microseconds.
//!
//! Bring all rows with one call, and nothing that nobody wants: the driver can copy rows that lie a
//! distance apart, or you pack them first. Both arrays of the host are pinned.

#![allow(unused_imports)]
use anyhow::Result;
use course_host::{Gpu, step};
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};
use cust_ext::transfer::{Rows, upload_rows};

/// Words that are wanted of each row.
const WIDTH: usize = 32;
/// Words from one row to the next, on the host.
const PITCH: usize = 64;

/// The work of this task. Keep its signature.
pub fn run(gpu: &Gpu, source: &[u32], target: &mut [u32]) -> Result<()> {
    let rows = source.len() / PITCH;
    // SAFETY: all rows are written before the kernel reads them.
    let values = unsafe { DeviceBuffer::<u32>::uninitialized(rows * WIDTH)? };
    // SAFETY: the source stays as it is, and both live, until the stream is waited for below.
    unsafe {
        // learn: your code
        let from = Rows { width: WIDTH, pitch: PITCH };
        let to = Rows { width: WIDTH, pitch: WIDTH };
        upload_rows((source, from), (&*values, to), rows, gpu.stream())?;
        // learn: instead
        //| // TODO: how many calls are these?
        //| for row in 0..rows {
        //|     let mut target = values.index(row * WIDTH..(row + 1) * WIDTH);
        //|     target.async_copy_from(&source[row * PITCH..row * PITCH + WIDTH], gpu.stream())?;
        //| }
        // learn: end
        step(gpu, gpu.stream(), (&values, &values), 1, 1)?;
    }
    gpu.synchronize()?;
    Ok(values.copy_to(target)?)
}
