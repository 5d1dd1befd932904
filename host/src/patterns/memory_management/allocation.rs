//! # Allocation: reusing memory is nearly free, allocating it from the driver is not
//!
//! Shows: taking memory from a [memory pool] that retains it is much faster than allocating it from
//! the driver in each step, above all large memory; a pool with default settings does not retain
//! it.
//!
//! The surprise: replacing `cudaMalloc` and `cudaFree`, `each_step` (19.73 ms), by the
//! stream-ordered pool that is recommended instead, `pool_released` (25.44 ms), makes 256 steps
//! slower. One setting of the same pool, `pool_retained` (0.698 ms), makes it 28 times (`each_step`
//! / `pool_retained`) as fast.
//!
//! A program that works in steps needs memory in each of them. `cudaMalloc` (`cuMemAlloc`) takes it
//! from the driver and maps it into the address space; `cudaFree` (`cuMemFree`) first waits until
//! the [device] has finished its work, then unmaps the memory and returns it. Both take the
//! [host]'s time, and the device is idle meanwhile. All other variants keep the memory mapped:
//!
//! ```text
//! time ->
//! each_step       map .. wait, unmap | map .. wait, unmap | ..
//! pool_released   map .. unmap when the host synchronizes | map .. unmap | ..
//! pool_retained   map .. wait | take .. wait | take .. wait | ..      the pool retains it
//! pool_in_order   map .. take .. take .. take ..                      nobody waits
//! sub_allocated   map | part 0 | part 1 | .. | unmap                  one block, cut into parts
//! arena           | from the start | from the start | ..              one block, allocated earlier
//! ```
//!
//! 1. `each_step`. A step takes 3.4 us (`each_step` at n=256 / 256) for 1 KiB and 77 us
//!    (`each_step` / 256) for 4 MiB, because large memory gets pages of its own, which have to be
//!    mapped.
//! 2. `pool_released` allocates with `cudaMallocAsync` and frees with `cudaFreeAsync`. These calls
//!    are ordered in a [stream], like a [kernel]: a later allocation can get the memory of an
//!    earlier free before that has happened. But at each synchronization the pool returns what is
//!    free to the driver, down to its release threshold, and this threshold is 0 at first. So a
//!    program that synchronizes in each step maps and unmaps again, and has the pool's work on top.
//! 3. `pool_retained` raises the threshold (`cudaMemPoolAttrReleaseThreshold`). It costs the
//!    memory, which nobody else gets. What remains is the wait for the stream in each step.
//! 4. `pool_in_order` drops that wait, too: the order of the stream is enough. What remains are two
//!    calls per step.
//! 5. `sub_allocated` allocates one block per run and gives each step its own part of it. There are
//!    no calls per step, but one large allocation, and the memory of all steps lives at once.
//! 6. `arena` has its block from earlier and begins at its start again in each step. Nothing
//!    remains but the work of the last step. It costs care: nothing checks that a step does not use
//!    what an earlier one still needs.
//!
//! | variant | change from the previous one | per step |
//! |---|---|---|
//! | `each_step` | `cuMemAlloc` and `cuMemFree` in each step | `cuMemAlloc`, `cuMemFree`, a wait for the stream |
//! | `pool_released` | a stream-ordered pool with its default release threshold of 0 | two calls of the pool, which maps and unmaps; a wait |
//! | `pool_retained` | the pool may retain all its memory | two calls of the pool; a wait |
//! | `pool_in_order` | the host does not wait: the order of the stream is enough | two calls of the pool |
//! | `sub_allocated` | one block is allocated per run, and each step has its own part | nothing |
//! | `arena` | the block was allocated earlier, and each step begins at its start again | nothing |
//!
//! Expected: `pool_in_order` (0.213 ms) is 93 times (`each_step` / `pool_in_order`) as fast as
//! `each_step` (19.73 ms): 0.8 us per step (`pool_in_order` / 256). `pool_released` (25.44 ms) is
//! the slowest. `pool_retained` (0.698 ms) pays for the waits, `sub_allocated` (0.643 ms) for one
//! large allocation, and `arena` (0.018 ms) for the copies of the last step only. Small memory
//! gains less: with 1 KiB per step `pool_in_order` is 3.9 times (`each_step` at n=256 /
//! `pool_in_order` at n=256) as fast as `each_step`, and a pool with waits gains nothing, 1.2 times
//! (`each_step` at n=256 / `pool_retained` at n=256).
//!
//! The time is that between two [events][event] around the host's calls on an idle stream; divide
//! it by the number of steps. Only the last step uses its memory: it copies the input there, and
//! from there to the output.
//!
//! In CUDA C++, and in Rust:
//!
//! ```cuda
//! uint64_t all = UINT64_MAX;                               // pool.set_release_threshold(u64::MAX)?
//! cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
//! cudaMallocFromPoolAsync(&memory, bytes, pool, stream);   // pool.allocate(n, stream)?
//! cudaFreeAsync(memory, stream);                           // buffer.drop_async(stream)?
//! ```
//!
//! Common misconception: "`cudaMallocAsync` is fast". It is fast if the pool retains memory. Set
//! the release threshold, once per program.
//!
//! Common misconception: "freeing is cheap". `cudaFree` waits for the device, so it also ends all
//! overlap of host and device.
//!
//! Questions:
//! - Why does `cudaFree` wait? A kernel that was launched before may still use the memory.
//!   `cudaFreeAsync` need not wait, because the stream's order says when the memory is free.
//! - Does a pool's memory ever go back? Down to the threshold, when the host synchronizes. Or by
//!   `cudaMemPoolTrimTo`, whenever the program wants.
//! - What if two streams use one pool? Memory that one stream has freed can be reused by another
//!   once the device has reached the free, or after an event that orders the two. Otherwise the
//!   driver may let the other stream wait for it.
//! - Does the size matter? For `each_step` it does: the curve over `n` shows a step from small
//!   allocations, which share pages, to those that need pages of their own. For a pool that retains
//!   its memory it hardly does.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `each_step` | 19728 | 0 |  | 1.00 |
//! | `pool_released` | 25439 | 0 |  | 0.78 |
//! | `pool_retained` | 698.0 | 12 |  | 28.26 |
//! | `pool_in_order` | 212.6 | 39 |  | 92.78 |
//! | `sub_allocated` | 642.9 | 13 |  | 30.68 |
//! | `arena` | 18.43 | 455 |  | 1070.31 |
//! <!-- /measured -->
//!
//! Preconditions: `sub_allocated` needs the memory of all steps at once.
//!
//! Source: CUDA C++ Programming Guide, "Stream Ordered Memory Allocator", "Physical Page Caching
//! Behavior"; CUDA C++ Best Practices Guide, "Memory Allocation".
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy::bytes;
use crate::prelude::*;
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
    minimum_time: |_, _| None,
    variants: &[
        variant!("each_step", steps, Memory::Device),
        Variant::host("pool_released", |gpu, case, size| {
            let pool = Pool::new(gpu.device())?;
            steps(gpu, case, size, Memory::Pool { pool, synchronizes: true })
        }),
        Variant::host("pool_retained", |gpu, case, size| {
            let pool = Pool::new(gpu.device())?;
            pool.set_release_threshold(u64::MAX)?;
            steps(gpu, case, size, Memory::Pool { pool, synchronizes: true })
        }),
        Variant::host("pool_in_order", |gpu, case, size| {
            let pool = Pool::new(gpu.device())?;
            pool.set_release_threshold(u64::MAX)?;
            steps(gpu, case, size, Memory::Pool { pool, synchronizes: false })
        }),
        variant!("sub_allocated", steps, Memory::Parts),
        Variant::host("arena", |gpu, case, size| {
            let [n, _] = size.get();
            steps(gpu, case, size, Memory::Arena(Arena::new(n)?))
        }),
    ],
};

fn case(size: &Size, random: &mut Random) -> Case {
    let [n, _] = size.get();
    let source = random.u32s(n);
    Case::exact(vec![Data::U32(reference(&source))], vec![Data::U32(source)])
}

fn reference(source: &[u32]) -> Vec<u32> {
    source.to_vec()
}

/// Source of a step's memory.
enum Memory {
    Device,
    Pool {
        pool: Pool,
        synchronizes: bool,
    },
    /// A block that is allocated per run.
    Parts,
    /// A block that is there before.
    Arena(Arena),
}

/// A block that is handed out from its start on, and taken back whole.
pub struct Arena {
    block: DeviceBuffer<u32>,
    used: usize,
}

impl Arena {
    pub fn new(length: usize) -> Result<Arena> {
        // SAFETY: who takes a part writes it before it is read.
        let block = unsafe { DeviceBuffer::uninitialized(length) }?;
        Ok(Arena { block, used: 0 })
    }

    pub fn take(&mut self, length: usize) -> DeviceSlice<u32> {
        let part = self.block.index(self.used..self.used + length);
        self.used = (self.used + length).next_multiple_of(ALIGNMENT);
        part
    }

    pub fn reset(&mut self) {
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

fn steps(_: &Gpu, case: &Case, size: &Size, memory: Memory) -> Result<Box<dyn HostWork>> {
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

impl HostWork for Steps {
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
                    // SAFETY: only what was written is read; it is used and freed on this stream, long before the pool is dropped.
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
