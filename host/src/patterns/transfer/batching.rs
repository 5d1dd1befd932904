//! # Batching: one large copy instead of many small ones
//!
//! Shows: a copy costs a fixed time before its first byte; packing pays it once.
//!
//! The wanted words lie in rows, in every second place of an array, on the host and on the device alike:
//!
//! ```text
//! one_by_one  |row|   |row|   |row|    a copy per row, to its place
//! packed      |row|row|row|            the host packs, one copy, a kernel unpacks
//! two_d       |row|   |row|   |row|    one copy that knows width and pitch
//! mapped      |row|   |row|   |row|    a kernel reads the rows over the bus
//! ```
//!
//! | variant | change from the previous one | calls | limited by |
//! |---|---|---|---|
//! | `one_by_one` | a copy per row | one copy per row | the fixed time of each copy |
//! | `packed` | rows packed by the host, one copy, a kernel unpacks | a copy, a launch | packing, then the bus |
//! | `two_d` | no packing: the copy engine skips the gaps | a copy | the bus |
//! | `mapped` | no copy: the kernel reads mapped memory | a launch | the bus |
//!
//! Expected: with n copies of V bytes in all, T = n a + V/b one by one and a + V/b + pack packed, so the gain is
//! (n a + V/b) / (a + V/b + pack), with pack the time to pack and unpack. It is n for small rows and 1 for rows
//! that are long
//! against a b bytes. a and b are those of `pinned_memory`; for calls that follow each other on one stream a is the
//! longer of what a call costs the host and what a copy costs the engine, and less than that of a copy alone.
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Best Practices Guide, "Data Transfer Between Host and Device".

use anyhow::Result;
use coalesce::data::{Data, Element, POISON, Random};
use coalesce::pattern::{
    Bytes, Case, Dimension, Limit, Output, Pattern, Procedure, Size, Sweep, Variant,
};
use cuda_host::Gpu;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DevicePointer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::transfer::{Rows, upload_rows};
use kernels::transfer::batching::{THREADS_PER_BLOCK, batching_rows};

pub const PATTERN: Pattern = Pattern {
    name: "batching",
    group: "transfer",
    doc_source: include_str!("batching.rs"),
    dimensions: &[
        Dimension::extent("copies", "rows that are copied", 1),
        Dimension::extent("width", "words of four bytes per row", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[1, 33],
        &[31, 32],
        &[33, 31],
        &[32, 257],
        &[255, 1],
        &[1001, 3],
        &[100, 1023],
        &[17, 10_007],
    ],
    bench_size: &[1024, 256],
    count_size: &[1024, 256],
    sweeps: &[
        Sweep { dimension: 0, values: &[1, 4, 16, 64, 256, 1024], variants: &[0, 1, 2, 3] },
        Sweep { dimension: 1, values: &[1, 16, 256, 1024, 4096], variants: &[0, 1, 2, 3] },
    ],
    case,
    bytes,
    floor: |_, size| Some((Limit::Upload, bytes(size).total())),
    variants: &[
        Variant::host("one_by_one", "a copy per row", |_, case, size| {
            build(case, size, Way::OneByOne)
        }),
        Variant::host(
            "packed",
            "rows packed by the host, one copy, a kernel unpacks",
            |_, case, size| build(case, size, Way::Packed),
        ),
        Variant::host("two_d", "no packing: the copy engine skips the gaps", |_, case, size| {
            build(case, size, Way::TwoD)
        }),
        Variant::host("mapped", "no copy: the kernel reads mapped memory", |_, case, size| {
            build(case, size, Way::Mapped)
        }),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [copies, width] = size.get();
    let source = random.u32s(2 * copies * width);
    Case {
        outputs: vec![Output::exact(Data::U32(reference(&source, width)))],
        inputs: vec![Data::U32(source)],
    }
}

/// The first half of each `2 * width` words; the rest stays poison.
fn reference(source: &[u32], width: usize) -> Vec<u32> {
    let keep = |(index, word): (usize, &u32)| {
        if index % (2 * width) < width { *word } else { UNTOUCHED }
    };
    source.iter().enumerate().map(keep).collect()
}

const UNTOUCHED: u32 = u32::from_ne_bytes([POISON; 4]);

fn bytes(size: &Size) -> Bytes {
    let [copies, width] = size.get();
    Bytes { read: 0, written: 4 * copies * width }
}

#[derive(Clone, Copy)]
enum Way {
    OneByOne,
    Packed,
    TwoD,
    Mapped,
}

/// Rows on their way. The device's buffers are dropped first, which waits for whoever uses the host's.
struct Batch {
    target: DeviceBuffer<u32>,
    /// The rows without gaps, on the device and on the host.
    dense_target: DeviceBuffer<u32>,
    dense: HostBuffer<u32>,
    source: HostBuffer<u32>,
    copies: usize,
    width: usize,
    way: Way,
}

fn build(case: &Case, size: &Size, way: Way) -> Result<Box<dyn Procedure>> {
    let [copies, width] = size.get();
    let source = u32::view(&case.inputs[0]).expect("the case holds u32");
    let dense = vec![UNTOUCHED; copies * width];
    Ok(Box::new(Batch {
        target: DeviceBuffer::from_slice(&vec![UNTOUCHED; source.len()])?,
        dense_target: DeviceBuffer::from_slice(&dense)?,
        dense: HostBuffer::from_slice(&dense, HostFlags::PINNED)?,
        source: HostBuffer::from_slice(source, HostFlags::MAPPED)?,
        copies,
        width,
        way,
    }))
}

impl Batch {
    fn pitch(&self) -> usize {
        2 * self.width
    }

    fn one_by_one(&mut self, gpu: &Gpu) -> Result<()> {
        for first in (0..self.copies).map(|row| row * self.pitch()) {
            let row = first..first + self.width;
            let mut target = self.target.index(row.clone());
            // SAFETY: nobody writes the source, and `self` owns both buffers, the device's dropped first.
            unsafe { target.async_copy_from(&self.source[row], gpu.stream()) }?;
        }
        Ok(())
    }

    fn packed(&mut self, gpu: &Gpu) -> Result<()> {
        let pitch = self.pitch();
        let rows = self.source.chunks(pitch).zip(self.dense.chunks_mut(self.width));
        rows.for_each(|(row, dense)| dense.copy_from_slice(&row[..dense.len()]));
        gpu.host_has_read(&self.dense);
        // SAFETY: the next run, which writes the source, follows this one's end; `self` owns both buffers, the
        // device's dropped first.
        unsafe { self.dense_target.async_copy_from(&self.dense[..], gpu.stream()) }?;
        self.spread(gpu, self.dense_target.as_device_ptr(), self.width)
    }

    fn two_d(&mut self, gpu: &Gpu) -> Result<()> {
        let rows = Rows { width: self.width, pitch: self.pitch() };
        let (from, to) = ((&self.source[..], rows), (&*self.target, rows));
        // SAFETY: as for `one_by_one`.
        Ok(unsafe { upload_rows(from, to, self.copies, gpu.stream()) }?)
    }

    /// Launches the kernel that brings rows to their places.
    fn spread(&self, gpu: &Gpu, source: DevicePointer<u32>, source_pitch: usize) -> Result<()> {
        let function = gpu.module().get_function(batching_rows.name())?;
        let (stream, target) = (gpu.stream(), self.target.as_device_ptr());
        let [copies, width, from, to] =
            [self.copies, self.width, source_pitch, self.pitch()].map(|words| words as u32);
        let grid = (copies * width).div_ceil(THREADS_PER_BLOCK);
        // SAFETY: the grid covers all words of all rows. The source has `copies` rows a pitch apart, as has the
        // target, which is another allocation; both live in `self`, which waits for the device when dropped.
        unsafe {
            cust::launch!(
                function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, from, target, to, width, copies)
            )?;
        }
        Ok(())
    }
}

impl Procedure for Batch {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        match self.way {
            Way::OneByOne => self.one_by_one(gpu),
            Way::Packed => self.packed(gpu),
            Way::TwoD => self.two_d(gpu),
            Way::Mapped => self.spread(gpu, self.source.device_pointer()?, self.pitch()),
        }
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::U32(self.target.as_host_vec()?)])
    }
}
