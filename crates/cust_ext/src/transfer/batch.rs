//! Many copies by one call.

use crate::error::{Result, argument, call};
use bytemuck::NoUninit;
use cuda_driver::types::{CopyAttributes, MemoryLocation};
use cust::memory::{DeviceCopy, DeviceSlice};
use cust::stream::Stream;

/// A list of copies from page-locked memory to the device, which one call of the driver enqueues (CUDA 12.8).
///
/// The copies of a list have no order among each other, so no two of them may write one byte. It holds addresses and borrows
/// nothing: who enqueues it promises that the memory is there.
///
/// ```no_run
/// # fn f(stream: &cust::stream::Stream, rows: &[&[f32]], target: &cust::memory::DeviceBuffer<f32>) -> cust_ext::Result<()> {
/// use cust_ext::transfer::Batch;
/// let mut starts = (0..).map(|row| 64 * row);
/// let places = rows.iter().zip(&mut starts).map(|(row, at)| (*row, target.index(at..at + row.len())));
/// let places: Vec<_> = places.collect();
/// let mut batch = Batch::new(places.iter().map(|(row, place)| (*row, place)))?;
/// // SAFETY: rows and target live until the stream was waited for.
/// unsafe { batch.enqueue(stream)? };
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    targets: Vec<u64>,
    sources: Vec<u64>,
    bytes: Vec<usize>,
}

impl Batch {
    /// A list of copies, each of an array to one of the same length; empty ones are left out.
    ///
    /// # Errors
    /// Different lengths, and targets that overlap.
    pub fn new<'a, T: NoUninit + DeviceCopy>(
        copies: impl IntoIterator<Item = (&'a [T], &'a DeviceSlice<T>)>,
    ) -> Result<Batch> {
        let mut batch = Batch { targets: Vec::new(), sources: Vec::new(), bytes: Vec::new() };
        for (source, target) in copies {
            if source.len() != target.len() {
                return argument(format!(
                    "a copy of {} values to {}: make both of a pair equally long",
                    source.len(),
                    target.len()
                ));
            }
            if !source.is_empty() {
                batch.targets.push(target.as_device_ptr().as_raw());
                batch.sources.push(source.as_ptr().expose_provenance() as u64);
                batch.bytes.push(size_of_val(source));
            }
        }
        batch.check()?;
        Ok(batch)
    }

    /// Returns how many copies it has.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether it has no copies.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn check(&self) -> Result<()> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|copy| self.targets[*copy]);
        let end = |copy: usize| self.targets[copy].saturating_add(self.bytes[copy] as u64);
        match order.windows(2).find(|pair| end(pair[0]) > self.targets[pair[1]]) {
            Some(pair) => argument(format!(
                "copies {} and {} of the batch write the same bytes at {:#x}, and copies of a batch have no order: put \
                 one of them into a second batch",
                pair[0].min(pair[1]),
                pair[0].max(pair[1]),
                self.targets[pair[1]]
            )),
            None => Ok(()),
        }
    }

    /// Enqueues all copies. Each source is read in the order of the stream.
    ///
    /// # Errors
    /// A driver without batches (before CUDA 12.8), the default stream, and the driver's.
    ///
    /// # Safety
    /// - Lengths: sources and targets are still those of [`Batch::new`].
    /// - Aliasing: until the stream has reached the end of the batch, nobody writes the sources or accesses the targets.
    pub unsafe fn enqueue(&mut self, stream: &Stream) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        const IN_ORDER: u32 = 1;
        let nowhere = MemoryLocation { kind: 0, id: 0 };
        let mut attributes =
            CopyAttributes { source_order: IN_ORDER, hints: [nowhere; 2], flags: 0 };
        let (mut first, mut failed) = (0_usize, 0_usize);
        // SAFETY: three lists of one length, one set of attributes from the first copy on, and a place for the number of a
        // copy that fails; memory and stream are the caller's.
        unsafe {
            call!(cuMemcpyBatchAsync(
                self.targets.as_mut_ptr(),
                self.sources.as_mut_ptr(),
                self.bytes.as_mut_ptr(),
                self.bytes.len(),
                &mut attributes,
                &mut first,
                1,
                &mut failed,
                stream.as_inner().cast()
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cust::memory::DeviceBuffer;

    #[test]
    fn a_batch_copies_all_and_refuses_targets_that_overlap() {
        let (_device, _context) = crate::testing::device();
        let stream = crate::stream::non_blocking(None).unwrap();
        let source: Vec<u32> = (0..64).collect();
        let target = DeviceBuffer::from_slice(&[0_u32; 64]).unwrap();
        let halves = [target.index(32..64), target.index(0..16), target.index(15..31)];
        let mut batch =
            Batch::new([(&source[..32], &halves[0]), (&source[40..56], &halves[1])]).unwrap();
        assert_eq!(batch.len(), 2);
        // SAFETY: both live until the stream was waited for.
        unsafe { batch.enqueue(&stream) }.unwrap();
        stream.synchronize().unwrap();
        let found = target.as_host_vec().unwrap();
        assert_eq!((&found[..16], &found[16..32]), (&source[40..56], &[0; 16][..]));
        assert_eq!(found[32..], source[..32]);

        let twice = [(&source[..16], &halves[2]), (&source[..16], &halves[1])];
        let error = Batch::new(twice).unwrap_err().to_string();
        assert!(
            error.starts_with("copies 0 and 1 of the batch write the same bytes at 0x"),
            "{error}"
        );
        let uneven = Batch::new([(&source[..3], &halves[1])]).unwrap_err().to_string();
        assert!(uneven.contains("3 values to 16"), "{uneven}");
        assert!(Batch::new::<u32>([]).unwrap().is_empty());
    }
}
