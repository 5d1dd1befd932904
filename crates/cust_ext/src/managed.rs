//! Managed memory by range: prefetching and advice for a part of a buffer (cust's work on the whole).
//!
//! ```no_run
//! use cust_ext::managed::{MemoryLocation, prefetch};
//! # fn f(device: &cust::device::Device, stream: &cust::stream::Stream) -> cust_ext::Result<()> {
//! let values = cust::memory::UnifiedBuffer::new(&0_f32, 1 << 20)?;
//! // The first half is on the device before a kernel asks for it.
//! prefetch(&values, 0..1 << 19, MemoryLocation::Device(device), stream)?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, argument, call};
use cust::device::Device;
use cust::memory::{DeviceCopy, UnifiedBuffer};
use cust::stream::Stream;
use std::ffi::{c_int, c_uint, c_void};
use std::ops::Range;

/// `CU_DEVICE_CPU`.
const HOST: c_int = -1;

/// Host or device.
#[derive(Debug, Clone, Copy)]
pub enum MemoryLocation<'a> {
    /// The host.
    Host,
    /// A device.
    Device(&'a Device),
}

impl MemoryLocation<'_> {
    fn id(self) -> c_int {
        match self {
            MemoryLocation::Host => HOST,
            MemoryLocation::Device(device) => device.as_raw(),
        }
    }
}

/// Advice to the driver about a range.
#[derive(Debug, Clone, Copy)]
pub enum Advice<'a> {
    /// Mostly read: every reader may get a copy of its own.
    ReadMostly,
    /// Takes `ReadMostly` back.
    NotReadMostly,
    /// Should live here.
    PreferredLocation(MemoryLocation<'a>),
    /// Takes `PreferredLocation` back.
    NoPreferredLocation,
    /// Will be accessed from here: keep it mapped, so that it need not fault.
    AccessedBy(MemoryLocation<'a>),
    /// Takes `AccessedBy` back.
    NotAccessedBy(MemoryLocation<'a>),
}

impl Advice<'_> {
    /// `CU_MEM_ADVISE_*` and the place, which the driver ignores where there is none.
    fn encode(self) -> (c_uint, c_int) {
        match self {
            Advice::ReadMostly => (1, HOST),
            Advice::NotReadMostly => (2, HOST),
            Advice::PreferredLocation(place) => (3, place.id()),
            Advice::NoPreferredLocation => (4, HOST),
            Advice::AccessedBy(place) => (5, place.id()),
            Advice::NotAccessedBy(place) => (6, place.id()),
        }
    }
}

/// Tells the driver how a range of the buffer will be used. It changes speed only, never results.
pub fn advise<T: DeviceCopy>(
    buffer: &UnifiedBuffer<T>,
    range: Range<usize>,
    advice: Advice,
) -> Result<()> {
    let (address, bytes) = bytes_of(buffer, range)?;
    let (advice, place) = advice.encode();
    // SAFETY: the range lies inside managed memory that is alive.
    unsafe { call!(cuMemAdvise(address, bytes, advice, place)) }
}

/// Moves a range of the buffer to `place`, in the stream's order, so that later accesses there need not fault.
pub fn prefetch<T: DeviceCopy>(
    buffer: &UnifiedBuffer<T>,
    range: Range<usize>,
    place: MemoryLocation,
    stream: &Stream,
) -> Result<()> {
    let (address, bytes) = bytes_of(buffer, range)?;
    // SAFETY: the range lies inside managed memory that is alive; moving pages changes no contents, and freeing managed
    // memory waits for the device.
    unsafe { call!(cuMemPrefetchAsync(address, bytes, place.id(), stream.as_inner())) }
}

/// A list of ranges of managed memory, each with a side, which one call of the driver moves (CUDA 13.0).
///
/// The ranges of a list have no order among each other. It holds addresses and borrows nothing: the one who enqueues it
/// promises that the buffers are there.
///
/// ```no_run
/// use cust_ext::managed::{MemoryLocation, RangeBatch};
/// # fn f(device: &cust::device::Device, stream: &cust::stream::Stream) -> cust_ext::Result<()> {
/// let mut values = cust::memory::UnifiedBuffer::new(&0_f32, 1 << 20)?;
/// let device = MemoryLocation::Device(device);
/// let mut result = RangeBatch::new([(&values, 0..values.len(), device)])?;
/// // SAFETY: a kernel writes all of the buffer before anybody reads it, and nobody uses it meanwhile.
/// unsafe { result.discard_and_prefetch(stream)? };
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RangeBatch {
    addresses: Vec<u64>,
    bytes: Vec<usize>,
    places: Vec<cuda_driver::types::MemoryLocation>,
    firsts: Vec<usize>,
}

impl RangeBatch {
    /// A list of ranges, in elements; empty ones are left out.
    ///
    /// # Errors
    /// A range that ends behind its buffer.
    pub fn new<'a, T: DeviceCopy + 'a>(
        ranges: impl IntoIterator<Item = (&'a UnifiedBuffer<T>, Range<usize>, MemoryLocation<'a>)>,
    ) -> Result<RangeBatch> {
        let mut batch = RangeBatch {
            addresses: Vec::new(),
            bytes: Vec::new(),
            places: Vec::new(),
            firsts: Vec::new(),
        };
        for (buffer, range, place) in ranges.into_iter().filter(|(_, range, _)| !range.is_empty()) {
            let (address, bytes) = bytes_of(buffer, range)?;
            batch.firsts.push(batch.addresses.len());
            batch.addresses.push(address);
            batch.bytes.push(bytes);
            batch.places.push(match place {
                MemoryLocation::Host => cuda_driver::types::MemoryLocation::host(),
                MemoryLocation::Device(device) => {
                    cuda_driver::types::MemoryLocation::device(device.as_raw())
                }
            });
        }
        Ok(batch)
    }

    /// Moves each range to its side in the stream's order, as [`prefetch`] does.
    ///
    /// # Errors
    /// A driver without batches (before CUDA 13.0), the default stream, and the driver's.
    ///
    /// # Safety
    /// - Lengths: the buffers of [`RangeBatch::new`] live until the stream has reached the end of the batch.
    pub unsafe fn prefetch(&mut self, stream: &Stream) -> Result<()> {
        // SAFETY: the caller's contract.
        unsafe { self.enqueue(false, stream) }
    }

    /// Tells the driver that nobody needs what the ranges hold, and moves them in the stream's order: their old contents
    /// do not cross PCIe.
    ///
    /// # Errors
    /// A driver without batches (before CUDA 13.0), the default stream, and the driver's.
    ///
    /// # Safety
    /// - Lengths: the buffers of [`RangeBatch::new`] live until the stream has reached the end of the batch.
    /// - Aliasing: until then nobody else uses the ranges.
    /// - Contents: afterwards each byte is written before it is read.
    pub unsafe fn discard_and_prefetch(&mut self, stream: &Stream) -> Result<()> {
        // SAFETY: the caller's contract.
        unsafe { self.enqueue(true, stream) }
    }

    /// # Safety
    /// - That of [`RangeBatch::prefetch`], or where it discards of [`RangeBatch::discard_and_prefetch`].
    unsafe fn enqueue(&mut self, discards: bool, stream: &Stream) -> Result<()> {
        let count = self.addresses.len();
        let (addresses, bytes) = (self.addresses.as_mut_ptr(), self.bytes.as_mut_ptr());
        let (places, firsts) = (self.places.as_mut_ptr(), self.firsts.as_mut_ptr());
        let stream = stream.as_inner();
        // SAFETY: four lists of one length; the rest is the caller's.
        unsafe {
            match (count, discards) {
                (0, _) => Ok(()),
                (_, false) => call!(cuMemPrefetchBatchAsync(
                    addresses, bytes, count, places, firsts, count, 0, stream
                )),
                (_, true) => call!(cuMemDiscardAndPrefetchBatchAsync(
                    addresses, bytes, count, places, firsts, count, 0, stream
                )),
            }
        }
    }
}

/// A place that the driver names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownLocation {
    /// The host.
    Host,
    /// The device of this ordinal.
    Device(i32),
}

impl KnownLocation {
    fn new(id: c_int) -> Option<KnownLocation> {
        match id {
            HOST => Some(KnownLocation::Host),
            0.. => Some(KnownLocation::Device(id)),
            // `CU_DEVICE_INVALID`: parts of the range differ, or nobody said anything.
            _ => None,
        }
    }
}

/// Advice that the driver has about a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeInfo {
    /// All of it is [`Advice::ReadMostly`].
    pub read_mostly: bool,
    /// Location that all of it prefers.
    pub preferred: Option<KnownLocation>,
    /// The locations that have all of it mapped.
    pub accessed_by: Vec<KnownLocation>,
    /// Location to which all of it was last prefetched.
    pub prefetched: Option<KnownLocation>,
}

/// Places of [`Advice::AccessedBy`] that are asked for.
const MAX_ACCESSED_BY: usize = 32;

/// Asks what the driver was told about a range. Where the pages are it does not tell.
pub fn info<T: DeviceCopy>(buffer: &UnifiedBuffer<T>, range: Range<usize>) -> Result<RangeInfo> {
    let (address, bytes) = bytes_of(buffer, range)?;
    let (mut read_mostly, mut preferred, mut prefetched): (c_int, c_int, c_int) = (0, 0, 0);
    let mut accessed_by = [0 as c_int; MAX_ACCESSED_BY];
    // `CU_MEM_RANGE_ATTRIBUTE_*`.
    let mut attributes: [c_uint; 4] = [1, 2, 3, 4];
    let mut sizes = [4, 4, size_of_val(&accessed_by), 4];
    let mut values: [*mut c_void; 4] = [
        (&raw mut read_mostly).cast(),
        (&raw mut preferred).cast(),
        accessed_by.as_mut_ptr().cast(),
        (&raw mut prefetched).cast(),
    ];
    // SAFETY: four attributes with four places of the sizes that are given; the range lies inside managed memory.
    unsafe {
        call!(cuMemRangeGetAttributes(
            values.as_mut_ptr(),
            sizes.as_mut_ptr(),
            attributes.as_mut_ptr(),
            4,
            address,
            bytes
        ))?
    };
    Ok(RangeInfo {
        read_mostly: read_mostly != 0,
        preferred: KnownLocation::new(preferred),
        accessed_by: accessed_by.into_iter().filter_map(KnownLocation::new).collect(),
        prefetched: KnownLocation::new(prefetched),
    })
}

fn bytes_of<T: DeviceCopy>(buffer: &UnifiedBuffer<T>, range: Range<usize>) -> Result<(u64, usize)> {
    let bytes = checked_bytes::<T>(buffer.len(), &range)?;
    let start = buffer.as_slice().as_ptr().wrapping_add(range.start);
    Ok((start.addr() as u64, bytes))
}

fn checked_bytes<T>(length: usize, range: &Range<usize>) -> Result<usize> {
    if range.start >= range.end || range.end > length {
        return argument(format!(
            "the range {}..{} of a buffer of {length} values: it has to lie inside and not be empty",
            range.start, range.end
        ));
    }
    Ok(range.len() * size_of::<T>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        assert_eq!(checked_bytes::<u32>(10, &(2..5)).unwrap(), 12);
        assert!(checked_bytes::<u32>(10, &(5..5)).is_err());
        assert_eq!(
            checked_bytes::<u32>(10, &(2..11)).unwrap_err().to_string(),
            "the range 2..11 of a buffer of 10 values: it has to lie inside and not be empty"
        );
    }

    #[test]
    fn advice_has_the_drivers_numbers() {
        assert_eq!(Advice::ReadMostly.encode().0, 1);
        assert_eq!(Advice::PreferredLocation(MemoryLocation::Host).encode(), (3, -1));
        assert_eq!(Advice::NotAccessedBy(MemoryLocation::Host).encode(), (6, -1));
    }

    #[test]
    fn a_part_of_a_buffer_can_be_prefetched_and_advised() {
        let (device, _context) = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let buffer = UnifiedBuffer::new(&7u32, 1 << 20).unwrap();
        advise(&buffer, 0..1 << 19, Advice::PreferredLocation(MemoryLocation::Device(&device)))
            .unwrap();
        prefetch(&buffer, 0..1 << 19, MemoryLocation::Device(&device), &stream).unwrap();
        prefetch(&buffer, 1 << 19..1 << 20, MemoryLocation::Host, &stream).unwrap();
        stream.synchronize().unwrap();
        assert!(buffer.iter().all(|value| *value == 7));
        let here = KnownLocation::Device(0);
        let all = info(&buffer, 0..1 << 20).unwrap();
        let nothing = RangeInfo {
            read_mostly: false,
            preferred: None,
            accessed_by: Vec::new(),
            prefetched: None,
        };
        assert_eq!(all, nothing, "the halves differ");
        advise(&buffer, 0..1 << 19, Advice::ReadMostly).unwrap();
        let accessed = Advice::AccessedBy(MemoryLocation::Device(&device));
        advise(&buffer, 0..1 << 20, accessed).unwrap();
        let half = info(&buffer, 0..1 << 19).unwrap();
        assert!(half.read_mostly && half.accessed_by == [here]);
        assert_eq!((half.preferred, half.prefetched), (Some(here), Some(here)));
        let other = info(&buffer, 1 << 19..1 << 20).unwrap();
        assert_eq!((other.preferred, other.prefetched), (None, Some(KnownLocation::Host)));
        assert_eq!(other.accessed_by, [here]);
    }
}
