//! # Allocation: memory that is kept costs nothing, memory that is given back is paid for again
//!
//! Shows: taking memory from the device per step is about a hundred times dearer than taking it from a pool that kept it.
//!
//! A program that works in steps needs memory in each of them. `cuMemAlloc` takes it from the device and maps it into the
//! address space, `cuMemFree` waits for the device, unmaps the memory and gives it back; both are the host's time, and
//! the device idles. Four ways lead out of that, and each keeps the memory mapped:
//!
//! ```text
//! each_step       map .. wait, unmap | map .. wait, unmap | ..
//! pool_released   map .. unmap at the synchronization | map .. unmap | ..
//! pool_kept       map .. | take .. | take .. | ..              the pool keeps it across synchronizations
//! pool_in_order   map .. take .. take .. take ..               nobody waits: order on the stream is enough
//! sub_allocated   map | part 0 | part 1 | .. | unmap           one block, cut by the host; all parts live at once
//! arena           | from the start | from the start | ..       one block from before, used again by each step
//! ```
//!
//! A stream-ordered pool (`cuMemAllocAsync`) gives memory away in the order of a stream: a later allocation can have what
//! an earlier free on that stream gives back, though neither has happened yet. What is free when the host synchronizes
//! goes back to the device, down to the pool's release threshold. The threshold is 0 unless it is set, so that a program
//! that synchronizes in each step has `cuMemAlloc`'s costs again.
//!
//! | variant | change from the previous one | per step |
//! |---|---|---|
//! | `each_step` | `cuMemAlloc` and `cuMemFree` per step | `cuMemAlloc`, `cuMemFree`; the stream is synchronized |
//! | `pool_released` | a stream-ordered pool with its release threshold of 0 | two calls of the pool, which takes memory and gives it back; the stream is synchronized |
//! | `pool_retained` | the pool may keep all it has | two calls of the pool; the stream is synchronized |
//! | `pool_in_order` | the steps follow each other on the stream, and the host does not wait | two calls of the pool |
//! | `sub_allocated` | one block is allocated per run, and each step has a part of its own | nothing |
//! | `arena` | the block is there before, and each step begins at its start again | nothing |
//!
//! Expected: `pool_in_order` is about 100 times faster than `each_step`: some tenths of a microsecond per call against
//! tens to hundreds of microseconds. `pool_released` is near `each_step`. `pool_retained` pays for the synchronization only.
//! `arena` leaves no more than the copies of the last step. Larger memory makes `each_step` dearer, for more is mapped,
//! and changes nothing for a pool that kept it.
//!
//! The time is that between two events around the host's calls on an idle stream; divide it by the number of steps. Only
//! the last step uses its memory: it copies the input there and from there to the output.
//!
//! Preconditions: `sub_allocated` needs the memory of all steps at once.
//!
//! Source: CUDA C++ Programming Guide, "Stream Ordered Memory Allocator", "Physical Page Caching Behavior"; CUDA C++ Best
//! Practices Guide, "Memory Allocation".

use anyhow::Result;
use coalesce::data::{Data, POISON, Random};
use coalesce::pattern::{Bytes, Case, Dimension, Output, Pattern, Procedure, Size, Sweep, Variant};
use cuda_host::Gpu;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, DeviceSlice};
use cust_ext::pool::Pool;

/// The parts of a block begin at multiples of this many elements: 256 bytes, as allocations do.
const ALIGNMENT: usize = 64;

pub const PATTERN: Pattern = Pattern {
    name: "allocation",
    group: "memory_management",
    doc_source: include_str!("allocation.rs"),
    dimensions: &[
        Dimension::extent("n", "elements of the memory that a step takes", 1),
        Dimension::amount("steps", "times that memory is taken and given back", 1),
    ],
    verify_sizes: &[
        &[1, 1],
        &[31, 2],
        &[32, 3],
        &[33, 31],
        &[63, 2],
        &[64, 5],
        &[65, 33],
        &[1001, 7],
        &[100_003, 3],
        &[1 << 20, 4],
    ],
    bench_size: &[1 << 20, 256],
    count_size: &[1 << 20, 256],
    sweeps: &[
        Sweep {
            dimension: 0,
            values: &[1 << 8, 1 << 14, 1 << 18, 1 << 22],
            variants: &[0, 1, 2, 3, 4, 5],
        },
        Sweep { dimension: 1, values: &[1, 4, 16, 64, 1024], variants: &[0, 1, 2, 3, 5] },
    ],
    case,
    bytes,
    floor: |_, _| None,
    variants: &[
        Variant::host("each_step", "`cuMemAlloc` and `cuMemFree` per step", |_, case, size| {
            steps(case, size, Memory::Device)
        }),
        Variant::host(
            "pool_released",
            "a stream-ordered pool with its release threshold of 0",
            |gpu, case, size| {
                let pool = Pool::new(gpu.device())?;
                steps(case, size, Memory::Pool { pool, synchronizes: true })
            },
        ),
        Variant::host("pool_retained", "the pool may keep all it has", |gpu, case, size| {
            let pool = Pool::new(gpu.device())?;
            pool.set_release_threshold(u64::MAX)?;
            steps(case, size, Memory::Pool { pool, synchronizes: true })
        }),
        Variant::host(
            "pool_in_order",
            "the steps follow each other on the stream, and the host does not wait",
            |gpu, case, size| {
                let pool = Pool::new(gpu.device())?;
                pool.set_release_threshold(u64::MAX)?;
                steps(case, size, Memory::Pool { pool, synchronizes: false })
            },
        ),
        Variant::host(
            "sub_allocated",
            "one block is allocated per run, and each step has a part of its own",
            |_, case, size| steps(case, size, Memory::Parts),
        ),
        Variant::host(
            "arena",
            "the block is there before, and each step begins at its start again",
            |_, case, size| {
                let [n, _] = size.get();
                steps(case, size, Memory::Arena(Arena::new(n)?))
            },
        ),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, _] = size.get();
    let source = random.u32s(n);
    Case {
        outputs: vec![Output::exact(Data::U32(reference(&source)))],
        inputs: vec![Data::U32(source)],
    }
}

fn reference(source: &[u32]) -> Vec<u32> {
    source.to_vec()
}

fn bytes(size: &Size) -> Bytes {
    let [n, _] = size.get();
    Bytes { read: 4 * n, written: 4 * n }
}

/// Where a step has its memory from.
enum Memory {
    /// The device.
    Device,
    /// A stream-ordered pool.
    Pool { pool: Pool, synchronizes: bool },
    /// A block that is allocated per run.
    Parts,
    /// A block that is there before.
    Arena(Arena),
}

/// A block that is handed out from its start on, and taken back whole.
struct Arena {
    block: DeviceBuffer<u32>,
    used: usize,
}

impl Arena {
    /// A block of `length` elements.
    fn new(length: usize) -> Result<Arena> {
        // SAFETY: who takes a part writes it before it is read.
        let block = unsafe { DeviceBuffer::uninitialized(length) }?;
        Ok(Arena { block, used: 0 })
    }

    /// The next `length` elements.
    fn take(&mut self, length: usize) -> DeviceSlice<u32> {
        let part = self.block.index(self.used..self.used + length);
        self.used = (self.used + length).next_multiple_of(ALIGNMENT);
        part
    }

    /// Takes everything back.
    fn reset(&mut self) {
        self.used = 0;
    }
}

/// Steps that each need memory.
struct Steps {
    memory: Memory,
    count: usize,
    source: DeviceBuffer<u32>,
    target: DeviceBuffer<u32>,
}

fn steps(case: &Case, size: &Size, memory: Memory) -> Result<Box<dyn Procedure>> {
    let [n, count] = size.get();
    Ok(Box::new(Steps {
        memory,
        count,
        source: DeviceBuffer::from_slice(bytemuck::cast_slice(case.inputs[0].bytes()))?,
        target: DeviceBuffer::from_slice(&vec![u32::from_ne_bytes([POISON; 4]); n])?,
    }))
}

/// The work of the last step: from the source through the step's memory to the target.
fn pass_through(
    gpu: &Gpu,
    source: &DeviceBuffer<u32>,
    memory: &mut DeviceSlice<u32>,
    target: &mut DeviceBuffer<u32>,
) -> Result<()> {
    // SAFETY: all three hold as many elements and are used on this stream only; source and target live until it was
    // waited for, and the memory is given back after the copies, in the stream's order or by a free that waits.
    unsafe {
        memory.async_copy_from(source, gpu.stream())?;
        target.async_copy_from(&*memory, gpu.stream())?;
    }
    Ok(())
}

impl Procedure for Steps {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        let Steps { memory, count, source, target } = self;
        let (n, last) = (source.len(), *count - 1);
        match memory {
            Memory::Device => {
                for step in 0..*count {
                    // SAFETY: the last step writes it before it is read, the others do not read it.
                    let mut buffer = unsafe { DeviceBuffer::uninitialized(n) }?;
                    if step == last {
                        pass_through(gpu, source, &mut buffer, target)?;
                    }
                    gpu.stream().synchronize()?;
                }
            }
            Memory::Pool { pool, synchronizes } => {
                for step in 0..*count {
                    // SAFETY: as above; it is used and freed on this stream, long before the pool is dropped.
                    let mut buffer = unsafe { pool.allocate(n, gpu.stream()) }?;
                    if step == last {
                        pass_through(gpu, source, &mut buffer, target)?;
                    }
                    buffer.drop_async(gpu.stream())?;
                    if *synchronizes {
                        gpu.stream().synchronize()?;
                    }
                }
            }
            Memory::Parts => {
                let mut parts = Arena::new(n.next_multiple_of(ALIGNMENT) * *count)?;
                for step in 0..*count {
                    let mut part = parts.take(n);
                    if step == last {
                        pass_through(gpu, source, &mut part, target)?;
                    }
                }
                gpu.stream().synchronize()?;
            }
            Memory::Arena(arena) => {
                for step in 0..*count {
                    arena.reset();
                    let mut part = arena.take(n);
                    if step == last {
                        pass_through(gpu, source, &mut part, target)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let mut result = vec![0; self.target.len()];
        self.target.copy_to(&mut result)?;
        Ok(vec![Data::U32(result)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_host::Choice;

    /// What each step is given, as the first element's place in the block.
    #[test]
    fn an_arena_gives_aligned_parts_and_the_same_ones_after_a_reset() {
        let _gpu = Gpu::open(&Choice::Virtual("h200".to_owned()), crate::CATALOGUE.images)
            .expect("the virtual device starts everywhere");
        let mut arena = Arena::new(256).expect("the block fits");
        let first = arena.block.as_device_ptr().as_raw();
        let mut take = |length| {
            let part = arena.take(length);
            ((part.as_device_ptr().as_raw() - first) / 4, part.len())
        };
        assert_eq!([take(1), take(64), take(65)], [(0, 1), (64, 64), (128, 65)]);
        arena.reset();
        assert_eq!(arena.take(256).as_device_ptr().as_raw(), first);
    }
}
