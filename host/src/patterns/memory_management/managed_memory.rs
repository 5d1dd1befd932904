//! # Managed memory: one pointer for both sides, and pages that move
//!
//! Shows: managed memory needs no copies in the program, but its pages are copied all the same; say
//! where they will be used, because finding it out by page faults is slow.
//!
//! The surprise: the program without a single copy call, `fault_driven` (26.95 ms), is the slowest
//! way to move the data. Prefetches, `prefetched` (15.01 ms), repair 47 % of it
//! ((`fault_driven` - `prefetched`) / (`fault_driven` - `copied`)): copies by hand, `copied` (1.532
//! ms), are much faster still. And fastest of all is to move nothing: `preferred_host` (1.089 ms)
//! leaves the pages on the host.
//!
//! [Managed memory] (`cudaMallocManaged`, also called unified memory) has one address that [host] and
//! [device] both use. Its pages are in one of the two memories at a time. When a side touches a page
//! that the other one has, it stops with a page fault, the driver moves the page, and the side goes
//! on:
//!
//! ```text
//! host writes      pages of source: host
//! kernel reads     fault -> driver moves 64 KiB .. 2 MiB -> go on     again and again
//!                  pages of source: device
//! host reads       fault -> driver moves pages back -> go on
//! ```
//!
//! The program here changes one word of each page of a source array, a [kernel] makes a target of
//! it, and the host looks at one word of each page of the target. So the host itself has little to
//! do, and the time is that of moving bytes. `copied` moves 4 n of them in each direction. Where
//! pages move by themselves, both arrays move in both directions, 8 n: the target's old pages go to
//! the device before they are overwritten, and the source's pages come back, because the host
//! changes them again.
//!
//! 1. `copied` has arrays on both sides, [pinned memory] on the host, and copies by hand: one
//!    [H2D] copy, the kernel, one [D2H] copy. It costs two arrays where one would do, and two calls.
//! 2. `fault_driven` has two managed arrays and no copies. The idea: let the driver find out what is
//!    needed. It costs faults. Each stops the threads that caused it until the driver has answered; it
//!    moves 64 KiB at first, and more when more than half of a group of pages is there.
//! 3. `prefetched` tells the driver where both arrays will be used (`cudaMemPrefetchAsync`), before
//!    the kernel, and that of the target after it, in the order of the [stream]. Then the kernel
//!    has no faults, and those pages move like copies. It costs three calls, but still no second
//!    array. What remains: nobody prefetches the source back to the host, so the next change of it
//!    faults on each of its pages. On the virtual device these faults take longer than the three
//!    prefetches together.
//! 4. `prefetched_back` brings the source back, too. One call names both arrays
//!    (`cudaMemPrefetchBatchAsync`, CUDA 13), before the kernel and after it. Nobody faults any more. It
//!    costs a list of ranges, made once. What remains: 8 n bytes cross PCIe, and the old words of the
//!    target are overwritten as soon as they have arrived.
//! 5. `discarded` tells the driver that nobody needs what the target holds
//!    (`cudaMemDiscardAndPrefetchBatchAsync`). Its pages are new ones on the device, and 4 n bytes less
//!    cross PCIe. It costs care: what is read of a discarded range before somebody writes it is no
//!    value of the program's.
//! 6. `preferred_host` advises that both arrays prefer the host. Pages stay there and the kernel
//!    reaches them over [PCIe], as in `zero_copy`. Nothing moves. It costs each access of the kernel
//!    the rate of PCIe, which is right for data that is used once.
//! 7. `accessed_by` advises that the device will access both arrays, so that the driver keeps them
//!    mapped there, and a kernel that reaches for a page of the host does not fault.
//! 8. `bounced_reads` and `read_mostly`. Nobody writes the source any more: in each run host and kernel
//!    both read it. Without advice its pages go back and forth. `read_mostly` advises the driver so,
//!    and both sides get a copy. It costs the memory of two copies, and the next write is expensive,
//!    because it makes the other copy invalid.
//! 9. `device_first` and `host_first` allocate a managed array in each run. Pages are nowhere until
//!    they are touched. In `device_first` the kernel writes them first, so they begin on the device and
//!    nothing moves. In `host_first` the host writes them first, and they move. Its kernel writes to
//!    device memory: a kernel may use both kinds at once, since a pointer is a pointer.
//! 10. `copied_and_filled` uses `cudaMemcpyAsync` into the managed source, and `cudaMemsetAsync` on the
//!    managed target. Copies and fills take managed memory like any other. The driver decides on which
//!    side it writes it.
//!
//! | variant | change from the previous one | H2D | D2H | calls that say where |
//! |---|---|---|---|---|
//! | `copied` | device arrays and explicit copies | a copy | a copy | 2 copies |
//! | `fault_driven` | managed arrays, and no copy | faults of the kernel | faults of the host | 0 |
//! | `prefetched` | the driver is told where each array will be used next | 2 prefetches | a prefetch, and faults of the host | 3 prefetches |
//! | `prefetched_back` | the source is brought back, too, and one call names both arrays | 2 prefetches | 2 prefetches | 2 batches |
//! | `discarded` | the driver is told that the target's old words are not needed | a prefetch | 2 prefetches | 3 batches |
//! | `preferred_host` | both arrays prefer the host: the kernel uses them over PCIe | loads | stores | 2, once |
//! | `accessed_by` | no preference, but the device keeps both arrays mapped | loads | stores | 2, once |
//! | `bounced_reads` | host and kernel both read the source; the result stays on the device | faults of the kernel | faults of the host | 0 |
//! | `read_mostly` | both get a copy of the source | nothing after the first run | nothing | 1, once |
//! | `device_first` | a new array, which the kernel touches first | nothing | nothing | 0 |
//! | `host_first` | a new array, which the host touches first; the result is in device memory | faults of the kernel | nothing | 0 |
//! | `copied_and_filled` | the source is written by a copy, the target by a fill before the kernel | a copy | faults of the host | 2 |
//!
//! Expected: a fault takes about f = 42 x 10^-6 s. A kernel that reads all of 2 MiB has six of
//! them, because the driver brings the rest of a group when more than half of the group is there: 2
//! MiB / (6 f + 2 MiB / 47 x 10^9 B/s) = 7 x 10^9 bytes per second, 7 / 55 = 13 % of PCIe. A
//! prefetch to the device has no fault and runs near the rate of PCIe; one to the host is slower,
//! because the host's pages have to be mapped again. The host's own faults on the source are
//! slowest.
//!
//! In CUDA C++; in Rust the same with `UnifiedBuffer` and `cust_ext::managed`:
//!
//! ```cuda
//! cudaMallocManaged(&x, bytes);                      // UnifiedBuffer::new(&0, n)?
//! use_on_host(x);                                    // the same pointer
//! cudaMemPrefetchAsync(x, bytes, device, stream);    // the function prefetch, of a range
//! mix<<<grid, 256, 0, stream>>>(x, y, n);            // the same pointer
//! cudaMemPrefetchAsync(y, bytes, cudaCpuDeviceId, stream);
//!                                                    // many ranges by one call: RangeBatch
//! cudaStreamSynchronize(stream);                     // before the host touches it again
//! ```
//!
//! Before it prefetches or advises, the program asks whether host and device can use managed memory
//! at the same time (`concurrentManagedAccess`). Where they cannot, there are no page faults: the
//! driver moves everything at each launch, the hints are errors, and the host must not touch any
//! managed memory while any kernel runs. The variants then leave the hints out.
//!
//! One more surprise is in the curve over n, and in `symbols`: small arrays do not pay for their
//! faults. The driver notices pages that go back and forth within less than a millisecond
//! (thrashing), leaves them on the host for a while, and maps them on the device, as if the program
//! had advised it.
//!
//! Common misconception: "managed memory removes the transfers". It removes the calls. The bytes cross
//! PCIe as before, and in smaller pieces.
//!
//! Common misconception: "advice moves pages". Advice changes what the driver does at the next fault;
//! a prefetch moves pages.
//!
//! Questions:
//! - When is managed memory the right choice? For data whose use is hard to foresee, such as graphs
//!   and trees that both sides walk, and to bring a program to the GPU at all. What its profile
//!   shows to be slow can be prefetched later.
//! - Can an array be larger than device memory? Yes: pages that were used least recently go back to the
//!   host. When a kernel uses all of such an array again and again, every page is evicted just before
//!   it is needed. The virtual device shows that; no test does it on a GPU.
//! - May the host read the target right after the launch? Only after it has waited. It would get a
//!   page in whatever state the kernel has left it.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `copied` | 1.532 | 44 | 46 | 1.00 |
//! | `fault_driven` | 26.95 | 2 | 3 | 0.06 |
//! | `prefetched` | 15.01 | 4 | 5 | 0.10 |
//! | `prefetched_back` | 13.90 | 5 | 5 | 0.11 |
//! | `discarded` | 10.46 | 6 | 7 | 0.15 |
//! | `preferred_host` | 1.089 | 62 | 64 | 1.41 |
//! | `accessed_by` | 1.088 | 62 | 64 | 1.41 |
//! | `bounced_reads` | 10.78 | 3 |  | 0.14 |
//! | `read_mostly` | 0.104 | 324 |  | 14.79 |
//! | `device_first` | 3.992 | 8 |  | 0.38 |
//! | `host_first` | 21.69 | 2 |  | 0.07 |
//! | `copied_and_filled` | 11.32 | 6 |  | 0.14 |
//! <!-- /measured -->
//!
//! Preconditions: n at most 2^31. At the size of the benchmark there are 64 MiB of managed memory.
//!
//! Source: CUDA C++ Programming Guide, "Unified Memory": "Data Usage Hints", "Data Prefetching".
#![doc = include_str!("../../../../crates/report/src/links.md")]

use crate::cases::copy::{self, bytes};
use crate::prelude::*;
use anyhow::{bail, ensure};
use coalesce::pattern::Unavailable;
use cust::memory::{
    AsyncCopyDestination, CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice, UnifiedBuffer,
};
use cust_ext::device::{DeviceAttribute, attribute};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::managed::{Advice, MemoryLocation, RangeBatch, advise, prefetch as bring};
use cust_ext::pointer::{self, MemoryKind};
use kernels::memory_management::managed_memory::{THREADS_PER_BLOCK, managed_memory_mix, mix};

pub const PATTERN: Pattern = Pattern {
    name: "managed_memory",
    group: "memory_management",
    doc_source: include_str!("managed_memory.rs"),
    dimensions: &[Dimension::extent("n", "words of four bytes", 1)],
    verify_sizes: lengths![1, 31, 32, 33, 255, 257, 1024, 1025, 16_384, 16_385, 300_001],
    bench_size: &[1 << 23],
    count_size: &[1 << 20],
    sweeps: &[Sweep {
        dimension: 0,
        values: &[1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22],
        variants: &[0, 1, 2, 3],
    }],
    case,
    bytes,
    minimum_time,
    variants: &[
        variant!("copied", Copied::new),
        variant!("fault_driven", Managed::new, Way::FaultDriven),
        variant!("prefetched", Managed::new, Way::Prefetched),
        variant!("prefetched_back", Managed::new, Way::PrefetchedBack),
        variant!("discarded", Managed::new, Way::Discarded),
        variant!("preferred_host", Managed::new, Way::PreferredHost),
        variant!("accessed_by", Managed::new, Way::AccessedBy),
        variant!("bounced_reads", Managed::new, Way::BouncedReads).moving(copy::read),
        variant!("read_mostly", Managed::new, Way::ReadMostly).moving(copy::read),
        variant!("device_first", FirstTouch::new, false).moving(copy::read),
        variant!("host_first", FirstTouch::new, true).moving(copy::read),
        variant!("copied_and_filled", Managed::new, Way::CopiedAndFilled),
    ],
};

/// Words between two that the host touches: one of each page of 4 KiB.
const WORDS_PER_PAGE: usize = 1024;

fn case(size: &Size, random: &mut Random) -> Case {
    let [n] = size.get();
    let source = random.u32s(n);
    Case::exact(vec![Data::U32(reference(&source))], vec![Data::U32(source)])
}

fn reference(source: &[u32]) -> Vec<u32> {
    source.iter().copied().map(mix).collect()
}

fn minimum_time(variant: &Variant, size: &Size) -> Option<(Resource, usize)> {
    match variant.name {
        "copied" | "fault_driven" | "prefetched" | "prefetched_back" | "discarded"
        | "preferred_host" | "accessed_by" => Some((Resource::Bidirectional, bytes(size).total())),
        _ => None,
    }
}

fn untouched(words: usize) -> Vec<u32> {
    vec![u32::from_ne_bytes([POISON; 4]); words]
}

fn launch(
    gpu: &Gpu,
    source: DevicePointer<u32>,
    target: DevicePointer<u32>,
    words: usize,
) -> Result<()> {
    let function = gpu.module().get_function(managed_memory_mix.name())?;
    let (stream, n) = (gpu.stream(), words as u32);
    let grid = n.div_ceil(THREADS_PER_BLOCK);
    // SAFETY: the kernel takes two pointers to n words and n; the grid covers n. The device reaches both arrays, which
    // the work owns, and the host leaves them alone until it has waited for the stream.
    Ok(unsafe {
        cust::launch!(function<<<grid, THREADS_PER_BLOCK, 0, stream>>>(source, target, n))
    }?)
}

/// The host changes one word of each page: to what it is, so that every run does the same.
fn change_pages(words: &mut [u32], like: &[u32]) {
    for at in (0..words.len()).step_by(WORDS_PER_PAGE) {
        words[at] = std::hint::black_box(like[at]);
    }
}

/// The host looks at one word of each page.
fn look_at_pages(words: &[u32]) {
    let each = words.iter().step_by(WORDS_PER_PAGE);
    std::hint::black_box(each.fold(0, |sum: u32, word| sum.wrapping_add(*word)));
}

/// Arrays of both sides. The device's are dropped first, which waits for whoever uses those of the host.
struct Copied {
    device: [DeviceBuffer<u32>; 2],
    source: HostBuffer<u32>,
    target: HostBuffer<u32>,
    like: Vec<u32>,
}

impl Copied {
    #[expect(clippy::new_ret_no_self, reason = "a variant is built as host work")]
    fn new(_: &Gpu, case: &Case, _: &Size) -> Result<Box<dyn HostWork>> {
        let source = u32::view(&case.inputs[0]).expect("the case holds u32");
        let empty = untouched(source.len());
        Ok(Box::new(Copied {
            device: [DeviceBuffer::from_slice(&empty)?, DeviceBuffer::from_slice(&empty)?],
            source: HostBuffer::from_slice(source, HostFlags::PINNED)?,
            target: HostBuffer::from_slice(&empty, HostFlags::PINNED)?,
            like: source.to_vec(),
        }))
    }
}

impl HostWork for Copied {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        change_pages(&mut self.source, &self.like);
        let [source, target] = &mut self.device;
        let (from, to) = (source.as_device_ptr(), target.as_device_ptr());
        // SAFETY: the host touches its arrays only after it has waited for the stream; `self` owns all four.
        unsafe { source.async_copy_from(&self.source[..], gpu.stream()) }?;
        launch(gpu, from, to, self.like.len())?;
        // SAFETY: the host reads its target only after it has waited for the stream; `self` owns both.
        unsafe { target.async_copy_to(&mut self.target[..], gpu.stream()) }?;
        gpu.synchronize()?;
        look_at_pages(&self.target);
        Ok(())
    }

    fn outputs(&mut self, _gpu: &Gpu) -> Result<Vec<Data>> {
        Ok(vec![Data::U32(self.target.to_vec())])
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    FaultDriven,
    Prefetched,
    PrefetchedBack,
    Discarded,
    PreferredHost,
    AccessedBy,
    BouncedReads,
    ReadMostly,
    CopiedAndFilled,
}

/// Two managed arrays, one of which the host only looks at.
struct Managed {
    source: UnifiedBuffer<u32>,
    target: UnifiedBuffer<u32>,
    /// The contents of the source; pinned, for copies.
    like: HostBuffer<u32>,
    way: Way,
    /// Hints are allowed.
    is_concurrent: bool,
    batches: Batches,
}

/// The ranges that [`Way::PrefetchedBack`] and [`Way::Discarded`] name in one call each.
struct Batches {
    both_to_device: RangeBatch,
    source_to_device: RangeBatch,
    target_to_device: RangeBatch,
    both_to_host: RangeBatch,
}

impl Batches {
    fn new(gpu: &Gpu, source: &UnifiedBuffer<u32>, target: &UnifiedBuffer<u32>) -> Result<Batches> {
        let of = |arrays: &[&UnifiedBuffer<u32>], place| {
            RangeBatch::new(arrays.iter().map(|array| (*array, 0..array.len(), place)))
        };
        let device = MemoryLocation::Device(gpu.device());
        Ok(Batches {
            both_to_device: of(&[source, target], device)?,
            source_to_device: of(&[source], device)?,
            target_to_device: of(&[target], device)?,
            both_to_host: of(&[source, target], MemoryLocation::Host)?,
        })
    }
}

fn pointer_of(values: &UnifiedBuffer<u32>) -> DevicePointer<u32> {
    DevicePointer::from_raw(values.as_ptr().expose_provenance() as u64)
}

/// All of a managed array as the device's, for copies and fills.
///
/// # Safety
/// - The view is used no longer than the array lives.
/// - The host leaves the array alone meanwhile.
unsafe fn view_of(values: &UnifiedBuffer<u32>) -> DeviceSlice<u32> {
    // SAFETY: the array's own address and length, valid on the device, too; the rest is the caller's.
    unsafe { DeviceSlice::from_raw_parts(pointer_of(values), values.len()) }
}

impl Managed {
    #[expect(clippy::new_ret_no_self, reason = "a variant is built as host work")]
    fn new(gpu: &Gpu, case: &Case, _: &Size, way: Way) -> Result<Box<dyn HostWork>> {
        let like = u32::view(&case.inputs[0]).expect("the case holds u32");
        let source = UnifiedBuffer::from_slice(like)?;
        let target = UnifiedBuffer::from_slice(&untouched(like.len()))?;
        let is_concurrent = attribute(gpu.device(), DeviceAttribute::ConcurrentManagedAccess)? == 1;
        for array in [&source, &target] {
            gpu.host_has_written(array.as_slice());
            let address = pointer_of(array).as_raw();
            let info = pointer::info(address)?;
            let is_same = info.is_some_and(|info| {
                info.kind == MemoryKind::Managed
                    && [info.device_address, info.host_address] == [Some(address); 2]
            });
            ensure!(is_same, "managed memory has another address on one of the two sides");
            if !is_concurrent {
                continue;
            }
            match way {
                Way::PreferredHost => {
                    let host = Advice::PreferredLocation(MemoryLocation::Host);
                    advise(array, 0..array.len(), host)?;
                }
                Way::AccessedBy => {
                    let device = Advice::AccessedBy(MemoryLocation::Device(gpu.device()));
                    advise(array, 0..array.len(), device)?;
                }
                _ => {}
            }
        }
        if is_concurrent && way == Way::ReadMostly {
            advise(&source, 0..source.len(), Advice::ReadMostly)?;
        }
        if is_concurrent && matches!(way, Way::ReadMostly | Way::BouncedReads) {
            // As after the first run: the target stays on the device, and the source is there, too.
            for array in [&source, &target] {
                let device = MemoryLocation::Device(gpu.device());
                bring(array, 0..array.len(), device, gpu.stream())?;
            }
            gpu.synchronize()?;
        }
        let mut batches = Batches::new(gpu, &source, &target)?;
        if is_concurrent && matches!(way, Way::PrefetchedBack | Way::Discarded) {
            // SAFETY: both arrays live as long as the work, which waits here.
            match unsafe { batches.both_to_host.prefetch(gpu.stream()) } {
                Err(error) if error.code().is_some() => bail!(Unavailable(error.to_string())),
                other => other?,
            }
            gpu.synchronize()?;
        }
        let like = HostBuffer::from_slice(like, HostFlags::PINNED)?;
        Ok(Box::new(Managed { source, target, like, way, is_concurrent, batches }))
    }

    /// Asks for an array to be somewhere, where that can be asked.
    fn ask_for(&self, gpu: &Gpu, array: &UnifiedBuffer<u32>, to: MemoryLocation) -> Result<()> {
        if self.way == Way::Prefetched && self.is_concurrent {
            bring(array, 0..array.len(), to, gpu.stream())?;
        }
        Ok(())
    }

    /// Asks for both arrays to be on the device.
    fn bring_both(&mut self, gpu: &Gpu) -> Result<()> {
        for array in [&self.source, &self.target] {
            self.ask_for(gpu, array, MemoryLocation::Device(gpu.device()))?;
        }
        let (stream, batches) = (gpu.stream(), &mut self.batches);
        match self.way {
            // SAFETY: both arrays live until `self` is dropped, and each run waits for the stream.
            Way::PrefetchedBack if self.is_concurrent => unsafe {
                batches.both_to_device.prefetch(stream)?;
            },
            // SAFETY: as above; the host leaves the target alone, and the kernel that follows writes all of it.
            Way::Discarded if self.is_concurrent => unsafe {
                batches.target_to_device.discard_and_prefetch(stream)?;
                batches.source_to_device.prefetch(stream)?;
            },
            _ => {}
        }
        Ok(())
    }

    /// Asks for what the host will use to be there.
    fn bring_back(&mut self, gpu: &Gpu) -> Result<()> {
        self.ask_for(gpu, &self.target, MemoryLocation::Host)?;
        if self.is_concurrent && matches!(self.way, Way::PrefetchedBack | Way::Discarded) {
            // SAFETY: both arrays live until `self` is dropped, and each run waits for the stream.
            unsafe { self.batches.both_to_host.prefetch(gpu.stream()) }?;
        }
        Ok(())
    }

    /// Returns what the host and the driver do to both arrays before the kernel.
    fn provide(&mut self, gpu: &Gpu) -> Result<()> {
        match self.way {
            Way::CopiedAndFilled => {
                // SAFETY: both arrays live as long as `self`; the host touches them after it has waited for the stream.
                let (mut source, mut target) =
                    unsafe { (view_of(&self.source), view_of(&self.target)) };
                // SAFETY: the arrays and `like` live as long as `self`, and nobody writes `like`.
                unsafe {
                    source.async_copy_from(&self.like[..], gpu.stream())?;
                    target.set_32_async(0, gpu.stream())?;
                }
            }
            Way::BouncedReads | Way::ReadMostly => {
                look_at_pages(self.source.as_slice());
                gpu.host_has_touched(self.source.as_slice());
            }
            _ => {
                change_pages(self.source.as_mut_slice(), &self.like);
                gpu.host_has_written(self.source.as_slice());
            }
        }
        Ok(())
    }
}

impl HostWork for Managed {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        self.provide(gpu)?;
        self.bring_both(gpu)?;
        launch(gpu, pointer_of(&self.source), pointer_of(&self.target), self.like.len())?;
        self.bring_back(gpu)?;
        gpu.synchronize()?;
        if !matches!(self.way, Way::BouncedReads | Way::ReadMostly) {
            look_at_pages(self.target.as_slice());
            gpu.host_has_touched(self.target.as_slice());
        }
        Ok(())
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        gpu.host_has_touched(self.target.as_slice());
        Ok(vec![Data::U32(self.target.to_vec())])
    }
}

/// A managed array that every run allocates, beside one in device memory.
struct FirstTouch {
    /// The buffer that the kernel reads in `device_first`, and writes in `host_first`.
    device: DeviceBuffer<u32>,
    managed: Option<UnifiedBuffer<u32>>,
    like: Vec<u32>,
    by_host: bool,
}

impl FirstTouch {
    #[expect(clippy::new_ret_no_self, reason = "a variant is built as host work")]
    fn new(_: &Gpu, case: &Case, _: &Size, by_host: bool) -> Result<Box<dyn HostWork>> {
        let like = u32::view(&case.inputs[0]).expect("the case holds u32").to_vec();
        let device =
            DeviceBuffer::from_slice(&if by_host { untouched(like.len()) } else { like.clone() })?;
        Ok(Box::new(FirstTouch { device, managed: None, like, by_host }))
    }
}

impl HostWork for FirstTouch {
    fn run(&mut self, gpu: &Gpu) -> Result<()> {
        // Freeing waits for the device.
        self.managed = None;
        // SAFETY: the host writes all words before it or the kernel reads them, or the kernel writes them.
        let mut managed = unsafe { UnifiedBuffer::<u32>::uninitialized(self.like.len()) }?;
        let (own, other) = (pointer_of(&managed), self.device.as_device_ptr());
        if self.by_host {
            managed.as_mut_slice().copy_from_slice(&self.like);
            gpu.host_has_written(managed.as_slice());
            launch(gpu, own, other, self.like.len())?;
        } else {
            launch(gpu, other, own, self.like.len())?;
        }
        self.managed = Some(managed);
        Ok(gpu.synchronize()?)
    }

    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>> {
        gpu.synchronize()?;
        let mut values = untouched(self.like.len());
        match &self.managed {
            Some(managed) if !self.by_host => {
                gpu.host_has_touched(managed.as_slice());
                values.copy_from_slice(managed);
            }
            _ if self.by_host => self.device.copy_to(&mut values)?,
            _ => {}
        }
        Ok(vec![Data::U32(values)])
    }
}
