//! Managed memory on a virtual device with little memory: faults, prefetches, advice, eviction, and times of an H100.

use cust::context::Context;
use cust::device::Device;
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer, UnifiedBuffer};
use cust::module::Module;
use cust::prelude::{Event, EventFlags, Stream};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::managed::{Advice, MemoryLocation, RangeBatch, advise, prefetch};
use cust_ext::stream::non_blocking;
use std::sync::{Mutex, MutexGuard, PoisonError};
use virtual_gpu::{LaunchRecord, Options, PageMoves, Profile, VirtualGpu, WorkScale};

/// `increment` adds one to the 4 n words of an array, `read` only reads them.
fn ptx() -> String {
    let increment = "add.u32 %r2, %r2, 1;
    add.u32 %r3, %r3, 1;
    add.u32 %r4, %r4, 1;
    add.u32 %r6, %r6, 1;
    st.global.v4.u32 [%rd4], {%r2, %r3, %r4, %r6};";
    let kernel = |name: &str, body: &str| {
        format!(
            ".visible .entry {name}(.param .u64 values, .param .u32 n)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [values];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r5, 16;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.v4.u32 {{%r2, %r3, %r4, %r6}}, [%rd4];
    {body}
DONE:
    ret;
}}
"
        )
    };
    let head = ".version 7.8\n.target sm_70\n.address_size 64\n";
    head.to_owned() + &kernel("increment", increment) + &kernel("read", "")
}

/// A module with a managed static and one in device memory; `count` adds one to the former.
const STATICS: &str = r#"
.version 7.8
.target sm_70
.address_size 64

.visible .global .attribute(.managed) .align 4 .u32 counter = 41;
.visible .global .align 4 .u32 plain;

.visible .entry count()
{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [counter];
    add.u32 %r2, %r1, 1;
    st.global.u32 [counter], %r2;
    ret;
}
"#;

const BLOCK: usize = 2 << 20;
/// Device memory, in blocks of 2 MiB.
const BLOCKS: usize = 8;

static DEVICE: Mutex<()> = Mutex::new(());

struct Here {
    _guard: MutexGuard<'static, ()>,
    _context: Context,
    device: Device,
    module: Module,
    stream: Stream,
}

/// The device of this process; one test uses it at a time.
fn here() -> Here {
    let guard = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let profile = Profile {
        name: "little memory".to_owned(),
        memory_bytes: (BLOCKS * BLOCK) as u64,
        ..Profile::named("h200").unwrap()
    };
    let gpu = VirtualGpu::start(profile, Options::default()).unwrap();
    cuda_driver::select(cuda_driver::Backend::Table(gpu)).unwrap();
    let (device, context) = cust_ext::device::open(0).unwrap();
    virtual_gpu::misuse();
    virtual_gpu::launches();
    virtual_gpu::extrapolate_to(WorkScale::default());
    let module = Module::from_ptx(ptx(), &[]).unwrap();
    let stream = non_blocking(None).unwrap();
    Here { _guard: guard, _context: context, device, module, stream }
}

impl Here {
    /// Managed memory of so many blocks, which the host has written.
    fn written(&self, blocks: usize) -> UnifiedBuffer<u32> {
        UnifiedBuffer::new(&1, blocks * BLOCK / 4).unwrap()
    }

    fn launch(&self, kernel: &str, values: &mut UnifiedBuffer<u32>) -> LaunchRecord {
        let function = self.module.get_function(kernel).unwrap();
        let (n, stream) = ((values.len() / 4) as u32, &self.stream);
        let pointer = values.as_unified_ptr();
        // SAFETY: both kernels take a pointer to 4 n words and n; the host waits before it touches them.
        unsafe { launch!(function<<<n.div_ceil(256), 256, 0, stream>>>(pointer, n)) }.unwrap();
        self.stream.synchronize().unwrap();
        virtual_gpu::launches().pop().unwrap()
    }

    fn prefetch(&self, values: &UnifiedBuffer<u32>, to: MemoryLocation<'_>) {
        prefetch(values, 0..values.len(), to, &self.stream).unwrap();
    }

    fn to_device(&self) -> MemoryLocation<'_> {
        MemoryLocation::Device(&self.device)
    }
}

fn moved(faults: u64, to_device: usize, to_host: usize, evicted: u64) -> PageMoves {
    PageMoves {
        faults,
        to_device_bytes: (to_device * BLOCK) as u64,
        to_host_bytes: (to_host * BLOCK) as u64,
        evicted_blocks: evicted,
        ..PageMoves::default()
    }
}

#[test]
fn a_kernel_faults_once_and_not_again_until_the_host_has_used_the_memory() {
    let here = here();
    let mut values = here.written(2);
    assert_eq!(here.launch("increment", &mut values).moves, moved(12, 2, 0, 0));
    assert_eq!(here.launch("increment", &mut values).moves, PageMoves::default());
    let (free, total) = cust::memory::mem_get_info().unwrap();
    assert_eq!(total - free, 2 * BLOCK);
    assert!(values.iter().all(|value| *value == 3));
    virtual_gpu::host_reads(values.as_ptr().addr(), 4 * values.len());
    assert_eq!(here.launch("increment", &mut values).moves, moved(12, 2, 0, 0));
    drop(values);
    let (free, total) = cust::memory::mem_get_info().unwrap();
    assert_eq!(total - free, 0);
}

#[test]
fn copies_and_fills_use_managed_memory_on_the_device() {
    let here = here();
    let mut values = here.written(1);
    // SAFETY: all of the buffer, of which this view goes before the buffer does.
    let mut view = unsafe {
        cust::memory::DeviceSlice::<u32>::from_raw_parts(
            cust::memory::DevicePointer::from_raw(values.as_ptr().addr() as u64),
            values.len(),
        )
    };
    view.set_32(7).unwrap();
    // A fill returns before it is done.
    cust::context::CurrentContext::synchronize().unwrap();
    assert_eq!(here.launch("increment", &mut values).moves, PageMoves::default());
    let mut back = vec![0; values.len()];
    view.copy_to(&mut back).unwrap();
    assert!(back.iter().all(|value| *value == 8));
    assert_eq!(
        cust_ext::pointer::info(values.as_ptr().addr() as u64).unwrap().unwrap().kind,
        cust_ext::pointer::MemoryKind::Managed
    );
}

#[test]
fn the_host_uses_a_managed_static_where_it_is() {
    let here = here();
    let module = Module::from_ptx(STATICS, &[]).unwrap();
    let count = module.get_function("count").unwrap();
    let run = || {
        let stream = &here.stream;
        // SAFETY: the kernel takes nothing; the host waits before it looks.
        unsafe { launch!(count<<<1, 1, 0, stream>>>()) }.unwrap();
        stream.synchronize().unwrap();
        virtual_gpu::launches().pop().unwrap().moves.faults
    };
    assert_eq!((run(), run()), (1, 0), "the loader wrote its first value on the host");
    // SAFETY: if there is such a static, it holds words.
    let mut counter = unsafe { cust_ext::symbol::symbol::<u32>(&module, "counter") }.unwrap();
    // SAFETY: no kernel runs, and there is no other slice of the symbol.
    let words = unsafe { counter.as_host_slice_mut() }.unwrap();
    assert_eq!(words, [43]);
    words[0] = 7;
    virtual_gpu::host_writes(words.as_ptr().addr(), 4);
    assert_eq!(run(), 1);
    let mut copied = [0];
    counter.download(&mut copied).unwrap();
    assert_eq!(copied, [8], "copies find it, too");
    // SAFETY: if there is such a static, it holds words.
    let mut plain = unsafe { cust_ext::symbol::symbol::<u32>(&module, "plain") }.unwrap();
    // SAFETY: as above.
    let refused = unsafe { plain.as_host_slice_mut() }.unwrap_err().to_string();
    assert!(refused.contains("the symbol plain is not managed memory"), "{refused}");
    drop(module);
    let (free, total) = cust::memory::mem_get_info().unwrap();
    assert_eq!((free, virtual_gpu::leaks()), (total, vec![]));
}

#[test]
fn advice_decides_what_moves() {
    let here = here();
    let mut values = here.written(1);
    let all = 0..values.len();
    advise(&values, all.clone(), Advice::AccessedBy(here.to_device())).unwrap();
    let mapped = here.launch("increment", &mut values);
    assert_eq!(mapped.moves, PageMoves::default());
    let estimate = mapped.estimate.unwrap();
    assert_eq!(estimate.host_small_pages.sectors_read, (BLOCK / 32) as u64, "over the link");
    here.prefetch(&values, here.to_device());
    let near = here.launch("increment", &mut values).estimate.unwrap();
    assert_eq!(near.host_small_pages.sectors_read, 0);

    let mut values = here.written(1);
    advise(&values, all.clone(), Advice::ReadMostly).unwrap();
    assert_eq!(here.launch("read", &mut values).moves, moved(6, 1, 0, 0));
    virtual_gpu::host_reads(values.as_ptr().addr(), 4 * values.len());
    assert_eq!(here.launch("read", &mut values).moves, PageMoves::default(), "both have a copy");

    let mut values = here.written(1);
    advise(&values, all.clone(), Advice::PreferredLocation(MemoryLocation::Host)).unwrap();
    assert_eq!(here.launch("read", &mut values).moves, PageMoves::default());
    advise(&values, all, Advice::NoPreferredLocation).unwrap();
    assert_eq!(here.launch("read", &mut values).moves, moved(6, 1, 0, 0));
}

#[test]
fn more_than_device_memory_works_and_thrashes() {
    let here = here();
    let mut values = here.written(BLOCKS + 2);
    let first = here.launch("increment", &mut values).moves;
    assert_eq!(first, moved(6 * 10, 10, 2, 2));
    // The blocks that come first were evicted, and each that comes evicts the next that is needed.
    let second = here.launch("increment", &mut values).moves;
    assert_eq!(second, moved(6 * 10, 10, 10, 10));
    assert!(values.iter().all(|value| *value == 3));
    // Device memory goes first.
    let taken = DeviceBuffer::<u8>::zeroed(3 * BLOCK).unwrap();
    let (free, _) = cust::memory::mem_get_info().unwrap();
    assert_eq!(free, 0);
    drop(taken);
    let (free, _) = cust::memory::mem_get_info().unwrap();
    assert_eq!(free, 3 * BLOCK);
    assert!(DeviceBuffer::<u8>::zeroed(9 * BLOCK).is_err(), "more than there is");
}

#[test]
fn a_batch_moves_ranges_and_does_not_move_what_is_discarded() {
    let here = here();
    let (mut used, discarded) = (here.written(1), here.written(2));
    {
        let to_device = here.to_device();
        let mut both = RangeBatch::new([
            (&used, 0..used.len(), to_device),
            (&discarded, 0..discarded.len(), MemoryLocation::Host),
        ])
        .unwrap();
        // SAFETY: both buffers live until the stream was waited for.
        unsafe { both.prefetch(&here.stream) }.unwrap();
        let mut all = RangeBatch::new([(&discarded, 0..discarded.len(), to_device)]).unwrap();
        // SAFETY: as above; what is read afterwards is only shown to be no value of the program's.
        unsafe { all.discard_and_prefetch(&here.stream) }.unwrap();
        here.stream.synchronize().unwrap();
        let past = RangeBatch::new([(&used, 1..used.len() + 1, to_device)]);
        assert!(
            past.unwrap_err().to_string().contains("has to lie inside"),
            "a range past the end"
        );
    }
    assert_eq!(here.launch("increment", &mut used).moves, PageMoves::default(), "it was there");
    assert_eq!(used[0], 2);
    assert_eq!(discarded[0], u32::from_ne_bytes([0xd5; 4]), "nobody keeps what is discarded");
}

#[test]
fn zero_copy_works_on_more_than_device_memory() {
    let here = here();
    let words = (BLOCKS + 4) * BLOCK / 4;
    assert!(DeviceBuffer::<u32>::zeroed(words).is_err(), "there is not so much device memory");
    let values = HostBuffer::from_slice(&vec![1u32; words], HostFlags::MAPPED).unwrap();
    let function = here.module.get_function("increment").unwrap();
    let (n, stream) = ((words / 4) as u32, &here.stream);
    let pointer = values.device_pointer().unwrap();
    // SAFETY: the kernel takes a pointer to 4 n words and n; the host waits before it looks.
    unsafe { launch!(function<<<n.div_ceil(256), 256, 0, stream>>>(pointer, n)) }.unwrap();
    stream.synchronize().unwrap();
    assert!(values.iter().all(|value| *value == 2));
    let estimate = virtual_gpu::launches().pop().unwrap().estimate.unwrap();
    assert_eq!(estimate.host.sectors_read, (words / 8) as u64, "each sector crosses the link");
    let (free, total) = cust::memory::mem_get_info().unwrap();
    assert_eq!(free, total, "no device memory is needed");
}

#[test]
fn what_is_no_managed_memory_and_no_place_is_refused() {
    let here = here();
    let values = here.written(1);
    let device = DeviceBuffer::<u32>::zeroed(64).unwrap();
    let (address, plain) = (values.as_ptr().addr() as u64, device.as_device_ptr().as_raw());
    let stream = here.stream.as_inner();
    let code = |result: cuda_driver::ReturnCode| result.name();
    // SAFETY: the virtual device looks up addresses and refuses what they do not hold.
    unsafe {
        use cuda_driver::api::{cuMemAdvise, cuMemPrefetchAsync, cuMemRangeGetAttribute};
        let invalid = Some("CUDA_ERROR_INVALID_VALUE");
        assert_eq!(code(cuMemAdvise(plain, 256, 1, 0)), invalid);
        assert_eq!(code(cuMemAdvise(address, BLOCK + 1, 1, 0)), invalid);
        assert_eq!(code(cuMemAdvise(address, BLOCK, 7, 0)), invalid);
        assert_eq!(code(cuMemAdvise(address, BLOCK, 3, 1)), Some("CUDA_ERROR_INVALID_DEVICE"));
        assert_eq!(code(cuMemPrefetchAsync(plain, 256, 0, stream)), invalid);
        assert_eq!(
            code(cuMemPrefetchAsync(address, 256, 4, stream)),
            Some("CUDA_ERROR_INVALID_DEVICE")
        );
        let batch = |addresses: [u64; 2], firsts: [usize; 2], flags, stream| {
            let mut places = [cuda_driver::types::MemoryLocation::host(); 2];
            let (mut addresses, mut bytes, mut firsts) = (addresses, [256, 256], firsts);
            code(cuda_driver::api::cuMemPrefetchBatchAsync(
                addresses.as_mut_ptr(),
                bytes.as_mut_ptr(),
                2,
                places.as_mut_ptr(),
                firsts.as_mut_ptr(),
                2,
                flags,
                stream,
            ))
        };
        let two = [address, address + 256];
        assert_eq!(batch(two, [0, 1], 0, stream), Some("CUDA_SUCCESS"));
        assert_eq!(batch([address, plain], [0, 1], 0, stream), invalid, "one is no managed memory");
        assert_eq!(batch(two, [1, 0], 0, stream), invalid, "the first range has no location");
        assert_eq!(batch(two, [0, 2], 0, stream), invalid, "a location behind the last range");
        assert_eq!(batch(two, [0, 1], 1, stream), invalid, "flags that nobody knows");
        assert_eq!(batch(two, [0, 1], 0, std::ptr::null_mut()), invalid, "the legacy stream");
        let mut value = 0i64;
        let mut ask = |size, attribute| {
            code(cuMemRangeGetAttribute((&raw mut value).cast(), size, attribute, address, 256))
        };
        assert_eq!(ask(8, 1), invalid, "the answer has four bytes");
        assert_eq!(ask(4, 99), invalid);
        assert_eq!(ask(4, 1), Some("CUDA_SUCCESS"));
    }
    assert!(UnifiedBuffer::<u64>::new(&0, usize::MAX / 16).is_err());
}

/// The bandwidth that an H100 of PCIe 5 had for 256 MiB (CUDA C++, driver 580), in GB/s: a kernel that reads and writes
/// each byte after the host has written it, the same again, a prefetch to the device, a prefetch to the host.
const MEASURED: [(&str, f64); 4] =
    [("faults", 6.95), ("resident", 2143.0), ("to the device", 47.3), ("to the host", 8.9)];

#[test]
fn times_are_those_of_an_h100_within_a_factor_of_one_and_a_half() {
    let here = here();
    // Four blocks stand for 256 MiB.
    let scale = 32.0;
    virtual_gpu::extrapolate_to(WorkScale::all(scale));
    let mut values = here.written(4);
    let bytes = scale * (4 * values.len()) as f64;
    let faults = bytes / here.launch("increment", &mut values).model_ns;
    let resident = 2.0 * bytes / here.launch("increment", &mut values).model_ns;
    let timed = |to: MemoryLocation<'_>| {
        let [start, end] = [(); 2].map(|()| Event::new(EventFlags::DEFAULT).unwrap());
        start.record(&here.stream).unwrap();
        here.prefetch(&values, to);
        end.record(&here.stream).unwrap();
        end.synchronize().unwrap();
        bytes / 1e6 / f64::from(end.elapsed_time_f32(&start).unwrap())
    };
    let to_host = timed(MemoryLocation::Host);
    let to_device = timed(here.to_device());
    virtual_gpu::extrapolate_to(WorkScale::default());
    let predicted = [faults, resident, to_device, to_host];
    for ((what, measured), predicted) in MEASURED.into_iter().zip(predicted) {
        let ratio = predicted / measured;
        // An H200 has 4.8 TB/s where an H100 has 3.35.
        let ratio = if what == "resident" { ratio * 3.35 / 4.8 } else { ratio };
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{what}: {predicted} GB/s, measured {measured}");
    }
}
