//! # Batching: one call for many rows instead of one call per row
//!
//! Shows: a copy costs a fixed time before its first byte, so many small copies should become one;
//! a copy that knows width and pitch needs no packing.
//!
//! The surprise comes twice. Copying 1 MiB row by row, `one_by_one` (2689 us), takes 90 times
//! (`one_by_one` / `two_d`) as long as copying it with one call, `two_d` (29.92 us). And packing
//! the rows first, as one is often told to do, gets only part of the way: `packed` (197.1 us)
//! spends most of its time on the CPU.
//!
//! The wanted words are in rows, and between two rows is a gap of the same length, on the [host]
//! and on the [device] alike. The rows must cross [PCIe], the gaps should not. The distance from
//! the start of a row to the start of the next is called the pitch:
//!
//! ```text
//! host      |row 0|gap|row 1|gap|row 2|gap|          pitch = row + gap
//!
//! one_by_one  host  |call|call|call|call| ..         a call per row; PCIe mostly idle
//!             PCIe      .    .    .    .
//! packed      host  |pack pack pack|call|        the CPU closes the gaps, a kernel opens them
//!             PCIe                       ---
//! two_d       host  |call|                       the copy engine skips the gaps itself
//!             PCIe        ---
//! mapped      host  |launch|                     a kernel reads the rows over PCIe
//!             PCIe          ----
//! ```
//!
//! 1. `one_by_one` enqueues one copy per row (`cudaMemcpyAsync`, here `async_copy_from`). The time
//!    per call is what counts: a row of 256 words is 1 KiB, and PCIe carries it in 0.7 % (1 KiB /
//!    peak of H2D / (`one_by_one` / 1024)) of the time that the call and the start of the copy
//!    take.
//! 2. `packed` pays that fixed time once: the CPU copies the rows into one dense array in [pinned
//!    memory], one copy takes it to the device, and a [kernel] spreads the rows there. It costs a
//!    copy by the CPU and a [launch]. What remains is the CPU's copy, which is now the longest
//!    part.
//! 3. `two_d` removes that, too: `cudaMemcpy2DAsync` (`cuMemcpy2DAsync`, here `upload_rows`) takes
//!    width and pitch, and the [copy engine] skips the gaps. It costs nothing, but the rows need
//!    one pitch.
//! 4. `mapped` makes no copy at all: the kernel reads the rows from [mapped memory]. It needs no
//!    pitch; a kernel can compute any address. It costs a launch, and each read crosses PCIe in
//!    small requests.
//!
//! 5. `batched` keeps one copy per row, and hands the list of all of them to the driver by one call
//!    (`cuMemcpyBatchAsync`, here `Batch::enqueue`). It needs no pitch and no kernel, and the list of
//!    addresses can be enqueued again. It costs the fixed time of the engine for each copy, without
//!    that of a call. The copies have no order among each other, so no two may write one byte. It needs a
//!    driver for CUDA 12.8.
//!
//! | variant | change from the previous one | calls | limited by |
//! |---|---|---|---|
//! | `one_by_one` | one copy per row | one copy per row | the fixed time of each copy |
//! | `packed` | the CPU packs the rows, one copy moves them, a kernel unpacks them | a copy, a launch | the CPU's packing |
//! | `two_d` | one copy that skips the gaps, without packing | a copy | PCIe |
//! | `mapped` | no copy: the kernel reads the rows from mapped memory | a launch | PCIe |
//! | `batched` | one call with the addresses of all rows | one for all copies | the engine's time for each copy |
//!
//! Expected: a copy has two fixed times. A copy alone takes a = 9.0 us (`one_by_one` at copies=1),
//! from the call to the end; one more copy in the queue takes q = 2.6 us (`one_by_one` / 1024),
//! because the calls and the engine's work overlap. So n rows of V bytes in all take a + n q + V/b
//! one by one, and a + V/b + pack when packed; b is the rate of PCIe, and pack the time to pack and
//! unpack. The gain is near n q / a for short rows, not near n, and near 1 for rows that are long
//! against q b bytes. With n = 1024 rows of one word, `two_d` gains 176 times (`one_by_one` at
//! width=1 / `two_d` at width=1), and `packed` 112 times (`one_by_one` at width=1 / `packed` at
//! width=1). With rows of 1 KiB `packed` (197.1 us) gains much, `two_d` (29.92 us) more, and
//! `mapped` (34.72 us) nearly as much.
//!
//! In CUDA C++, and in Rust:
//!
//! ```cuda
//! cudaMemcpy2DAsync(device, pitch, host, pitch, width, rows, cudaMemcpyHostToDevice, stream);
//! // upload_rows((&host, rows_of_host), (&device, rows_of_device), count, stream)?
//! ```
//!
//! Common misconception: "pack small transfers into one large one". The advice is right about the
//! number of calls. But the packing is a copy by the CPU, and slower than PCIe here. Pack only
//! where the copy engine cannot skip the gaps by itself.
//!
//! Common misconception: "asynchronous copies hide their cost". The host enqueues the next copy
//! while the last one runs, but each costs host and engine a fixed time, and 1024 of them add up.
//!
//! Questions:
//! - How long must a row be until it does not matter? One copy of `one_by_one` (2689 us) takes 2.6
//!   us (`one_by_one` / 1024). In that time PCIe carries 142 KiB (`one_by_one` / 1024 x peak of
//!   H2D), so a row of that length spends as long in the queue as on PCIe.
//! - Why not copy everything, with the gaps? That is one call, too, and moves twice the bytes here.
//!   It is a good choice where gaps are short. It also overwrites the gaps on the device.
//! - What if the rows are scattered? `two_d` needs one pitch. For places without a rule, use
//!   `batched`, or `mapped`, where the kernel takes the addresses from a table, or pack.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `one_by_one` | 2689 | 0 | 1 | 1.00 |
//! | `packed` | 197.1 | 5 | 10 | 13.65 |
//! | `two_d` | 29.92 | 35 | 63 | 89.88 |
//! | `mapped` | 34.72 | 30 | 54 | 77.46 |
//! | `batched` | 1374 | 1 | 1 | 1.96 |
//! <!-- /measured -->
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Best Practices Guide, "Data Transfer Between Host and Device".
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::prelude::*;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DevicePointer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::transfer::{Batch, Rows, upload_rows};
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
        Sweep { dimension: 0, values: &[1, 4, 16, 64, 256, 1024], variants: &[0, 1, 2, 3, 4] },
        Sweep { dimension: 1, values: &[1, 16, 256, 1024, 4096], variants: &[0, 1, 2, 3, 4] },
    ],
    case,
    bytes,
    minimum_time: |_, size| Some((Resource::HostToDevice, bytes(size).total())),
    variants: &[
        variant!("one_by_one", build, Way::OneByOne),
        variant!("packed", build, Way::Packed),
        variant!("two_d", build, Way::TwoD),
        variant!("mapped", build, Way::Mapped),
        variant!("batched", build, Way::Batched),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [copies, width] = size.get();
    let source = random.u32s(2 * copies * width);
    Case::exact(vec![Data::U32(reference(&source, width))], vec![Data::U32(source)])
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
    Batched,
}

/// Rows on their way. The device's buffers are dropped first, which waits for whoever uses the host's.
struct Transfer {
    /// The addresses of all rows.
    batch: Batch,
    target: DeviceBuffer<u32>,
    /// The rows without gaps, on the device and on the host.
    dense_target: DeviceBuffer<u32>,
    dense: HostBuffer<u32>,
    source: HostBuffer<u32>,
    copies: usize,
    width: usize,
    way: Way,
}

fn build(_: &Gpu, case: &Case, size: &Size, way: Way) -> Result<Box<dyn HostWork>> {
    let [copies, width] = size.get();
    let source = u32::view(&case.inputs[0]).expect("the case holds u32");
    let dense = vec![UNTOUCHED; copies * width];
    let (target, source) = (
        DeviceBuffer::from_slice(&vec![UNTOUCHED; source.len()])?,
        HostBuffer::from_slice(source, HostFlags::MAPPED)?,
    );
    let places: Vec<_> = (0..copies).map(|row| 2 * width * row).map(|at| at..at + width).collect();
    let targets: Vec<_> = places.iter().map(|place| target.index(place.clone())).collect();
    let rows = places.iter().zip(&targets).map(|(place, row)| (&source[place.clone()], row));
    let batch = Batch::new(rows)?;
    drop(targets);
    Ok(Box::new(Transfer {
        batch,
        target,
        dense_target: DeviceBuffer::from_slice(&dense)?,
        dense: HostBuffer::from_slice(&dense, HostFlags::PINNED)?,
        source,
        copies,
        width,
        way,
    }))
}

impl Transfer {
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
        // SAFETY: the next run, which writes the source, follows this one's end; `self` owns both buffers, and drops
        // the device's first.
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
        Ok(unsafe {
            cust::launch!(
                function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, from, target, to, width, copies)
            )
        }?)
    }
}

impl HostWork for Transfer {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        match self.way {
            Way::OneByOne => self.one_by_one(gpu),
            Way::Packed => self.packed(gpu),
            Way::TwoD => self.two_d(gpu),
            // SAFETY: as for `one_by_one`.
            Way::Batched => Ok(unsafe { self.batch.enqueue(gpu.stream()) }?),
            Way::Mapped => self.spread(gpu, self.source.device_pointer()?, self.pitch()),
        }
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::U32(self.target.as_host_vec()?)])
    }
}
