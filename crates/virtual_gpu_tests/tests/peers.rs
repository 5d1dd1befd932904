//! Several devices: who reaches whom, what is refused and how, what copies and kernels over a link do and take, and
//! hazards between devices, each with a program that is right. All are one test: a process has one virtual machine.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api;
use cust::context::{Context, ContextHandle, CurrentContext};
use cust::device::Device;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::prelude::{Event, EventFlags, Stream};
use cust_ext::peer::{self, PeerAccess};
use cust_ext::pool::Pool;
use cust_ext::stream::{non_blocking, wait_event};
use simt::Checks;
use virtual_gpu::{KernelFault, Misuse, MisuseKind, Options, Topology, forget_failure, launches};

/// The mistakes without the calls that failed, many of which are asked for here.
fn misuse() -> Vec<Misuse> {
    let found = virtual_gpu::misuse().into_iter();
    found.filter(|one| one.kind != MisuseKind::CallFailed).collect()
}

/// Two linked devices, and one without a link that is smaller.
const MACHINE: &str = r#"{"devices": ["h100", "h100", "t4"]}"#;

const KERNELS: [(&str, &str); 6] = [
    ("store", "st.global.u32 [%rd3], %r1;"),
    ("load", "ld.global.u32 %r2, [%rd3];"),
    ("add", "red.sys.global.add.u32 [%rd3], %r1;"),
    ("add_on_device", "red.global.add.u32 [%rd3], %r1;"),
    ("load_16", "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4];"),
    (
        "chase",
        "ld.global.u64 %rd6, [%rd1]; ld.global.u64 %rd6, [%rd6]; ld.global.u64 %rd6, [%rd6];",
    ),
];

/// A device with everything that a program needs there.
struct Opened {
    stream: Stream,
    module: Module,
    memory: DeviceBuffer<u32>,
    context: Context,
    device: Device,
}

const WORDS: usize = 1 << 18;

impl Opened {
    fn new(ordinal: u32) -> Opened {
        let (device, context) = cust_ext::device::open(ordinal).unwrap();
        let module = Module::from_ptx(support::ptx(&KERNELS), &[]).unwrap();
        let memory = DeviceBuffer::zeroed(WORDS).unwrap();
        CurrentContext::synchronize().unwrap();
        Opened { stream: non_blocking(None).unwrap(), module, memory, context, device }
    }

    fn make_current(&self) {
        CurrentContext::set_current(&self.context).unwrap();
    }

    fn address(&self) -> u64 {
        self.memory.as_device_ptr().as_raw()
    }

    fn launch(&self, kernel: &str, blocks: u32, address: u64) {
        self.make_current();
        let (function, stream) = (self.module.get_function(kernel).unwrap(), &self.stream);
        // SAFETY: every kernel takes one pointer, to 4 or 16 bytes for each thread.
        unsafe { cust::launch!(function<<<blocks, 32, 0, stream>>>(address)) }.unwrap();
    }
}

fn code(code: ReturnCode) -> u32 {
    code.0
}

#[test]
fn devices_of_a_machine_reach_each_other_as_its_links_say() {
    let options = Options { checks: Checks::all(), ..Options::default() };
    support::select(Topology::from_json(MACHINE).unwrap(), options);
    let [zero, one, two] = [0, 1, 2].map(Opened::new);
    misuse();

    who_there_is([&zero, &one, &two]);
    memory_is_limited_by_each_devices_own([&zero, &two]);
    what_is_refused([&zero, &one, &two]);
    remote_memory_without_access(&zero, &one);
    copies([&zero, &one, &two]);
    let _access = [
        PeerAccess::enable(&zero.context, &one.context).unwrap(),
        PeerAccess::enable(&one.context, &zero.context).unwrap(),
    ];
    kernels_on_remote_memory(&zero, &one);
    memory_of_pools([&zero, &one, &two]);
    wrong_contexts(&zero, &one);
    hazards(&zero, &one);
    assert_eq!(misuse(), []);
}

fn who_there_is(all: [&Opened; 3]) {
    assert_eq!(Device::num_devices().unwrap(), 3);
    let names = all.map(|one| one.device.name().unwrap());
    assert_eq!(names[0], "NVIDIA H100 80GB HBM3 (virtual)");
    assert_eq!(names[2], "Tesla T4 (virtual)");
    for (ordinal, one) in all.iter().enumerate() {
        one.make_current();
        assert_eq!(CurrentContext::get_device().unwrap().as_raw(), ordinal as i32);
        let info = cust_ext::pointer::info(one.address()).unwrap().unwrap();
        assert_eq!(info.device_ordinal, ordinal as i32);
    }
    let access =
        |from: usize, to: usize| peer::can_access(&all[from].device, &all[to].device).unwrap();
    assert!(access(0, 1) && access(1, 0) && !access(0, 2) && !access(2, 1) && !access(0, 0));
    let linked = peer::info(&all[0].device, &all[1].device).unwrap();
    assert!(linked.native_atomics);
    assert!(!peer::info(&all[0].device, &all[2].device).unwrap().native_atomics);
    let same = peer::info(&all[0].device, &all[0].device).unwrap_err();
    assert_eq!(same.code(), Some(ReturnCode(101)));
    assert!(Device::get_device(3).is_err());
}

fn memory_is_limited_by_each_devices_own([large, small]: [&Opened; 2]) {
    let bytes = 20 << 30;
    let allocates = |one: &Opened| {
        one.make_current();
        // SAFETY: memory that nobody reads.
        unsafe { DeviceBuffer::<u8>::uninitialized(bytes) }
    };
    assert_eq!(allocates(small).unwrap_err(), cust::error::CudaError::OutOfMemory);
    let total = |one: &Opened| {
        one.make_current();
        cust_ext::device::memory_info().unwrap()
    };
    let before = total(large);
    let held = allocates(large).unwrap();
    assert_eq!(before.free_bytes - total(large).free_bytes, bytes);
    assert_eq!(total(small).total_bytes, small.device.total_memory().unwrap());
    // Freed while another device's context is current.
    small.make_current();
    drop(held);
    assert_eq!(total(large), before);
}

fn what_is_refused([zero, one, two]: [&Opened; 3]) {
    zero.make_current();
    let enable = |peer: &Opened, flags| {
        // SAFETY: contexts that live.
        code(unsafe { api::cuCtxEnablePeerAccess(peer.context.get_inner(), flags) })
    };
    let disable = |peer: &Opened| {
        // SAFETY: contexts that live.
        code(unsafe { api::cuCtxDisablePeerAccess(peer.context.get_inner()) })
    };
    assert_eq!(disable(one), 705, "not enabled");
    assert_eq!(enable(one, 1), 1, "there are no flags");
    assert_eq!(enable(zero, 0), 201, "a context is no peer of itself");
    assert_eq!(enable(two, 0), 217, "there is no link");
    assert_eq!((enable(one, 0), enable(one, 0)), (0, 704), "already enabled");
    assert_eq!((disable(one), disable(one)), (0, 705));
    // SAFETY: a number that is no context.
    let unknown = unsafe { api::cuCtxEnablePeerAccess(std::ptr::without_provenance_mut(48), 0) };
    assert_eq!(code(unknown), 201);
}

fn remote_memory_without_access(zero: &Opened, one: &Opened) {
    misuse();
    zero.launch("store", 1, one.address());
    assert_eq!(zero.stream.synchronize().unwrap_err(), cust::error::CudaError::IllegalAddress);
    let found = misuse();
    let kinds = found.iter().map(|one| one.kind).collect::<Vec<_>>();
    assert_eq!(kinds, [MisuseKind::KernelFault, MisuseKind::FailedSince], "{found:?}");
    assert_eq!(found[0].fault, Some(KernelFault::IllegalAddress));
    let message = found[0].to_string();
    assert!(message.contains("on device 1, which this device has no access to"), "{message}");
    one.launch("store", 1, one.address());
    one.stream.synchronize().expect("the other device's context goes on");
    forget_failure();
}

/// Returns how long what `enqueue` puts on the stream of a device takes, in microseconds.
fn time(on: &Opened, enqueue: impl FnOnce()) -> f32 {
    on.make_current();
    let [start, end] = [(); 2].map(|()| Event::new(EventFlags::DEFAULT).unwrap());
    start.record(&on.stream).unwrap();
    enqueue();
    on.make_current();
    end.record(&on.stream).unwrap();
    end.synchronize().unwrap();
    end.elapsed_time_f32(&start).unwrap() * 1e3
}

/// Copies a half of one array to the same half of another.
fn copy(half: usize, from: &Opened, to: &Opened, on: &Opened) {
    let (bytes, offset) = (2 * WORDS, (half * 2 * WORDS) as u64);
    // SAFETY: both have as many bytes and live until the stream is synchronized.
    let copied = unsafe {
        api::cuMemcpyPeerAsync(
            to.address() + offset,
            to.context.get_inner(),
            from.address() + offset,
            from.context.get_inner(),
            bytes,
            on.stream.as_inner(),
        )
    };
    assert_eq!(code(copied), 0);
}

fn copies([zero, one, two]: [&Opened; 3]) {
    let words: Vec<u32> = (0..WORDS as u32).collect();
    let mut back = vec![0; WORDS];
    use cust::memory::CopyDestination;
    zero.make_current();
    let mut source = DeviceBuffer::from_slice(&words).unwrap();
    // Through the host: 21 us and 512 KiB at 37.4 GB/s, or at two thirds of the T4's PCIe.
    let staged = time(zero, || copy(0, zero, one, zero));
    assert!((35.0..39.0).contains(&staged), "{staged}");
    let slower = time(zero, || copy(0, zero, two, zero));
    assert!(slower > staged, "{slower}");
    {
        let _access = PeerAccess::enable(&zero.context, &one.context).unwrap();
        // 5.4 us and 512 KiB at 397.6 GB/s.
        let direct = time(zero, || copy(0, zero, one, zero));
        assert!((28.2..28.4).contains(&(staged - direct)), "{staged} {direct}");
        // Both ways at once take as long as one; two copies of one way take turns.
        let both = |ways: [[&Opened; 2]; 2]| {
            time(zero, || {
                let [start, end] = [zero, one].map(|on| {
                    on.make_current();
                    Event::new(EventFlags::DISABLE_TIMING).unwrap()
                });
                start.record(&zero.stream).unwrap();
                wait_event(&one.stream, &start).unwrap();
                copy(0, ways[0][0], ways[0][1], zero);
                copy(1, ways[1][0], ways[1][1], one);
                end.record(&one.stream).unwrap();
                wait_event(&zero.stream, &end).unwrap();
            })
        };
        let [apart, same] = [both([[zero, one], [one, zero]]), both([[zero, one], [zero, one]])];
        assert!(same - apart > 4.0, "{apart} {same} {direct}");
    }
    // The ordinary call knows by the addresses, and what it copies arrives.
    // SAFETY: both have as many words.
    unsafe {
        assert_eq!(
            code(api::cuMemcpy(one.address(), source.as_device_ptr().as_raw(), 4 * WORDS)),
            0
        )
    };
    one.memory.copy_to(&mut back).unwrap();
    assert_eq!(back, words);
    source.copy_from(&vec![7; WORDS]).unwrap();
    // SAFETY: as above.
    let copied = unsafe {
        api::cuMemcpyPeer(
            two.address(),
            two.context.get_inner(),
            source.as_device_ptr().as_raw(),
            zero.context.get_inner(),
            4 * WORDS,
        )
    };
    assert_eq!(code(copied), 0);
    two.memory.copy_to(&mut back).unwrap();
    assert_eq!(back, vec![7; WORDS]);
    // SAFETY: the contexts live; one of them is none.
    let copied = unsafe {
        api::cuMemcpyPeer(
            two.address(),
            std::ptr::null_mut(),
            one.address(),
            one.context.get_inner(),
            4,
        )
    };
    assert_eq!(code(copied), 201);
}

fn kernels_on_remote_memory(zero: &Opened, one: &Opened) {
    use cust::memory::CopyDestination;
    one.make_current();
    zero.launch("store", 8, one.address());
    zero.stream.synchronize().unwrap();
    let mut back = vec![0; WORDS];
    one.memory.copy_to(&mut back).unwrap();
    assert!(back[..256].iter().all(|word| *word == 1) && back[256] == 256);
    zero.launch("add", 8, one.address());
    one.launch("add", 8, one.address());
    zero.stream.synchronize().unwrap();
    one.stream.synchronize().unwrap();
    one.memory.copy_to(&mut back).unwrap();
    assert_eq!(back[..256], [3; 256], "system-scope atomics of both devices");

    // A kernel on remote memory runs at the speed of the link.
    launches();
    zero.launch("load_16", (WORDS / 4 / 32) as u32, one.address());
    zero.launch("load_16", (WORDS / 4 / 32) as u32, zero.address());
    zero.launch("add", (WORDS / 32) as u32, one.address());
    zero.stream.synchronize().unwrap();
    let [remote, local, added] = &launches()[..] else { panic!("three kernels ran") };
    let bytes = (4 * WORDS) as f64;
    assert_eq!(remote.parts.peer_read_ns, bytes / 373e9 * 1e9);
    assert!(remote.model_ns > remote.parts.peer_read_ns && remote.parts.dram_ns == 0.0);
    assert_eq!((local.parts.peer_read_ns, local.parts.peer_write_ns), (0.0, 0.0));
    assert!(remote.model_ns > local.model_ns, "{remote:?} {local:?}");
    assert_eq!(added.parts.peer_write_ns, WORDS as f64 / 4.6e9 * 1e9);

    // A load of remote memory takes the link's latency.
    let waits = |on: &Opened, array: &Opened| {
        on.make_current();
        let pointer = array.address();
        let mut bytes = [0u64; 1];
        bytes[0] = pointer;
        // SAFETY: eight bytes of its first words: a pointer to itself.
        unsafe { assert_eq!(code(api::cuMemcpyHtoD_v2(pointer, bytes.as_ptr().cast(), 8)), 0) };
        // It may return before it has arrived.
        cust::context::CurrentContext::synchronize().unwrap();
        launches();
        on.launch("chase", 1, pointer);
        on.stream.synchronize().unwrap();
        launches()[0].estimate.as_ref().unwrap().chain_cycles
    };
    let [far, near] = [waits(zero, one), waits(zero, zero)];
    assert!(far > 1738 && far > near, "{far} {near}");
}

/// Peer access does not reach what a pool allocated; access to the pool does, until it is taken back.
fn memory_of_pools([zero, one, two]: [&Opened; 3]) {
    use cust::memory::CopyDestination;
    zero.make_current();
    let pool = Pool::new(&one.device).unwrap();
    // SAFETY: 256 bytes, which are written before they are read.
    let taken = unsafe { pool.allocate::<u32>(64, &one.stream) }.unwrap();
    let address = taken.as_device_ptr().as_raw();
    assert_eq!(cust_ext::pointer::info(address).unwrap().unwrap().device_ordinal, 1);
    one.make_current();
    one.stream.synchronize().unwrap();
    let stores = || {
        zero.launch("store", 1, address);
        zero.stream.synchronize()
    };
    let is_refused = |result: Result<(), cust::error::CudaError>| {
        assert_eq!(result.unwrap_err(), cust::error::CudaError::IllegalAddress);
        let faults = misuse().into_iter().filter(|one| one.kind == MisuseKind::KernelFault);
        assert_eq!(faults.count(), 1);
        forget_failure();
    };
    is_refused(stores());
    pool.set_access(&zero.device, true).unwrap();
    stores().unwrap();
    let mut back = vec![0; 64];
    taken.copy_to(&mut back).unwrap();
    assert_eq!(back[..32], [1; 32]);
    pool.set_access(&zero.device, false).unwrap();
    is_refused(stores());
    for (device, may_use) in [(&two.device, true), (&one.device, false)] {
        let refused = pool.set_access(device, may_use).unwrap_err();
        assert_eq!(refused.code(), Some(ReturnCode(101)));
    }
}

fn wrong_contexts(zero: &Opened, one: &Opened) {
    zero.make_current();
    let function = zero.module.get_function("store").unwrap();
    let (address, stream) = (zero.address(), &one.stream);
    // SAFETY: one pointer, to as many words.
    let refused = unsafe { cust::launch!(function<<<1, 32, 0, stream>>>(address)) }.unwrap_err();
    assert_eq!(refused, cust::error::CudaError::InvalidHandle);
    let found = misuse();
    assert_eq!(
        found.iter().map(|one| one.kind).collect::<Vec<_>>(),
        [MisuseKind::Context],
        "{found:?}"
    );
    assert!(found[0].message.contains("was loaded on device 0"), "{}", found[0]);
    // An event is recorded on streams of its device, and waited for on all.
    let mine = Event::new(EventFlags::DEFAULT).unwrap();
    assert_eq!(mine.record(&one.stream).unwrap_err(), cust::error::CudaError::InvalidHandle);
    mine.record(&zero.stream).unwrap();
    wait_event(&one.stream, &mine).unwrap();
    one.make_current();
    let other = Event::new(EventFlags::DEFAULT).unwrap();
    other.record(&one.stream).unwrap();
    other.synchronize().unwrap();
    assert!(
        other.elapsed_time_f32(&mine).is_err(),
        "events of two devices have no time between them"
    );
}

/// Each pair on two devices: found without an event between them, and right with one.
fn hazards(zero: &Opened, one: &Opened) {
    let memory = one.address();
    let kernel = |on: &Opened, kernel: &'static str| on.launch(kernel, 1, memory);
    type Work<'a> = &'a dyn Fn();
    let pairs: [(&str, Work<'_>, Work<'_>, bool); 6] = [
        (
            "a store over the link and a load",
            &|| kernel(zero, "store"),
            &|| kernel(one, "load"),
            true,
        ),
        ("atomics of the system's scope", &|| kernel(zero, "add"), &|| kernel(one, "add"), false),
        (
            "a copy there and one back",
            &|| copy(0, one, zero, zero),
            &|| copy(0, zero, one, one),
            true,
        ),
        (
            "atomics of the device's scope",
            &|| kernel(zero, "add_on_device"),
            &|| kernel(one, "add"),
            true,
        ),
        ("a copy and a load", &|| copy(0, zero, one, zero), &|| kernel(one, "load"), true),
        ("a load and a load", &|| kernel(zero, "load"), &|| kernel(one, "load"), false),
    ];
    for (what, first, second, races) in pairs {
        for ordered in [false, true] {
            first();
            if ordered {
                zero.make_current();
                let event = Event::new(EventFlags::DISABLE_TIMING).unwrap();
                event.record(&zero.stream).unwrap();
                one.make_current();
                wait_event(&one.stream, &event).unwrap();
            }
            second();
            one.make_current();
            CurrentContext::synchronize().unwrap();
            zero.make_current();
            CurrentContext::synchronize().unwrap();
            let found: Vec<_> = misuse().iter().map(|one| one.kind).collect();
            let expected: &[MisuseKind] =
                if races && !ordered { &[MisuseKind::MissingOrder] } else { &[] };
            assert_eq!(found, expected, "{what}, ordered: {ordered}");
        }
    }
}
