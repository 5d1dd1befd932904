//! # Overlap: three engines at the same time
//!
//! The device copies to itself, computes and copies back, and has an engine for each. The work is cut
//! into eight pieces, which do not depend on each other, and every call is asynchronous. Still no two
//! engines work at the same time. Run `cargo xtask learn try overlap` and look at the timeline.
//!
//! Let the engines work on different pieces at the same time. Both arrays of the host are pinned.

#![allow(unused_imports)]
use anyhow::Result;
use course_host::{Gpu, step};
use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use cust::stream::Stream;
use cust_ext::stream::non_blocking;

const PIECES: usize = 8;

/// The work of this task. Keep its signature.
///
/// # Errors
/// The driver's.
pub fn run(gpu: &Gpu, source: &[u32], target: &mut [u32]) -> Result<()> {
    let length = source.len().div_ceil(PIECES);
    // SAFETY: each piece is written before the kernel reads it.
    let buffer = |piece: &[u32]| unsafe { DeviceBuffer::<u32>::uninitialized(piece.len()) };
    let buffers = source.chunks(length).map(buffer).collect::<Result<Vec<_>, _>>()?;
    // learn: your code
    let streams: Vec<Stream> = (0..PIECES).map(|_| non_blocking(None)).collect::<Result<_, _>>()?;
    // learn: instead
    //| // TODO: work on one stream is done in the order of its calls.
    //| let streams: Vec<Stream> = vec![non_blocking(None)?];
    // learn: end
    let pieces = source.chunks(length).zip(target.chunks_mut(length)).zip(&buffers);
    for (index, ((source, target), values)) in pieces.enumerate() {
        let stream = &streams[index % streams.len()];
        // SAFETY: all memory lives, and the host leaves it alone, until the streams are waited for.
        unsafe {
            values.index(..).async_copy_from(source, stream)?;
            step(gpu, stream, (values, values), 1, 1)?;
            values.async_copy_to(target, stream)?;
        }
    }
    for stream in &streams {
        stream.synchronize()?;
    }
    Ok(())
}
