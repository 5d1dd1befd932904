//! # Default stream: one launch holds up all others
//!
//! Five kernels work on parts of an array, on streams of their own, and could all run at the same time.
//! One of them is on the legacy default stream: it waits for all that was enqueued before on any
//! blocking stream, and everything that is enqueued behind it waits for it.
//!
//! Let all five run at the same time. Both arrays of the host are pinned.

#![allow(unused_imports)]
use anyhow::Result;
use course_host::{Gpu, step};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use cust_ext::stream::{DefaultStream, non_blocking};

/// The work of this task. Keep its signature.
pub fn run(gpu: &Gpu, source: &[u32], target: &mut [u32]) -> Result<()> {
    let values = DeviceBuffer::from_slice(source)?;
    let stream = || Stream::new(StreamFlags::DEFAULT, None);
    let streams = (0..5).map(|_| stream()).collect::<Result<Vec<_>, _>>()?;
    let length = source.len().div_ceil(5);
    for (index, first) in (0..source.len()).step_by(length).enumerate() {
        // learn: your code
        let stream: &Stream = &streams[index];
        // learn: instead
        //| // TODO: which stream is that of the kernel in the middle?
        //| let default = DefaultStream::legacy();
        //| let stream: &Stream = if index == 2 { &default } else { &streams[index] };
        // learn: end
        let part = values.index(first..source.len().min(first + length));
        // SAFETY: parts do not overlap, and the array lives until all streams are waited for.
        unsafe { step(gpu, stream, (&part, &part), 1, 20_000)? };
    }
    for stream in &streams {
        stream.synchronize()?;
    }
    Ok(values.copy_to(target)?)
}
