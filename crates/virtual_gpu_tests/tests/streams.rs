//! Work of two streams on the same memory, in every direction: found where nothing orders it, whatever the host waits for
//! first, and silent where something does.

mod support;

use cuda_driver::{ReturnCode, api};
use cust::context::CurrentContext;
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer};
use cust::module::Module;
use cust::prelude::{Event, EventFlags, Stream, StreamFlags};
use cust_ext::stream::{non_blocking, wait_event};
use simt::Checks;
use std::ffi::c_void;
use std::ptr::null_mut;
use virtual_gpu::{Misuse, MisuseKind, Options, Order, Profile, VirtualGpu, finish, misuse};

/// Each of 32 threads uses a word; `constants` reads a table of the module's.
const KERNELS: [(&str, &str); 3] = [
    ("store", "st.global.u32 [%rd3], %r1;"),
    ("load", "ld.global.u32 %r2, [%rd3];"),
    ("constants", "ld.const.u32 %r2, [table+4];"),
];
const BYTES: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    Store,
    Load,
    Constants,
    /// From page-locked memory to the device, and back.
    CopyIn,
    CopyOut,
    /// From and to another allocation.
    CopyFrom,
    CopyTo,
    Fill,
    /// A synchronous copy of the default stream, of pageable memory.
    PageableIn,
    PageableOut,
    /// The table of constants becomes another.
    TableIn,
}

/// The act of a program between the two.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Nothing,
    Event,
    WaitForStream,
    WaitForDevice,
    /// The event was reached, as the host found by asking.
    AskForEvent,
}

/// The streams that the host awaits after both, in turn, before it waits for the device.
const ENDS: [&[usize]; 4] = [&[], &[0, 1], &[1, 0], &[1]];

struct Program {
    module: Module,
    device: DeviceBuffer<u8>,
    other: DeviceBuffer<u8>,
    pinned: LockedBuffer<u8>,
}

fn check(code: ReturnCode) {
    assert_eq!(code, ReturnCode::SUCCESS);
}

impl Program {
    fn new() -> Program {
        let table = ".global .u32 word;\n.const .align 4 .b8 table[128];\n";
        let text = support::ptx(&KERNELS).replace(".global .u32 word;\n", table);
        let program = Program {
            module: Module::from_ptx(text, &[]).unwrap(),
            device: DeviceBuffer::zeroed(BYTES).unwrap(),
            other: DeviceBuffer::zeroed(BYTES).unwrap(),
            pinned: LockedBuffer::new(&0, BYTES).unwrap(),
        };
        CurrentContext::synchronize().unwrap();
        program
    }

    fn launch(&self, kernel: &str, stream: &Stream, address: u64) {
        let function = self.module.get_function(kernel).unwrap();
        // SAFETY: the kernels take a pointer to 32 words.
        unsafe { cust::launch!(function<<<1, 32, 0, stream>>>(address)) }.unwrap();
    }

    fn enqueue(&self, work: Work, stream: &Stream) {
        let [device, other] =
            [&self.device, &self.other].map(|buffer| buffer.as_device_ptr().as_raw());
        let raw = stream.as_inner().cast();
        let pinned = self.pinned.as_ptr().cast_mut().cast::<c_void>();
        let mut own = [0_u8; BYTES];
        let pageable = own.as_mut_ptr().cast::<c_void>();
        // SAFETY: every buffer has so many bytes and outlives the waits; what is not ordered is what the tests are for.
        unsafe {
            match work {
                Work::Store => self.launch("store", stream, device),
                Work::Load => self.launch("load", stream, device),
                Work::Constants => self.launch("constants", stream, device),
                Work::CopyIn => check(api::cuMemcpyHtoDAsync_v2(device, pinned, BYTES, raw)),
                Work::CopyOut => check(api::cuMemcpyDtoHAsync_v2(pinned, device, BYTES, raw)),
                Work::CopyFrom => check(api::cuMemcpyDtoDAsync_v2(other, device, BYTES, raw)),
                Work::CopyTo => check(api::cuMemcpyDtoDAsync_v2(device, other, BYTES, raw)),
                Work::Fill => check(api::cuMemsetD8Async(device, 1, BYTES, raw)),
                Work::PageableIn => check(api::cuMemcpyHtoD_v2(device, pageable, BYTES)),
                Work::PageableOut => check(api::cuMemcpyDtoH_v2(pageable, device, BYTES)),
                Work::TableIn => {
                    let mut table = self.module.get_global::<[u8; BYTES]>(c"table").unwrap();
                    table.copy_from(&own).unwrap();
                }
            }
        }
    }

    fn pair(&self, work: [Work; 2], between: Between, ends: &[usize]) -> Vec<Misuse> {
        let streams = [(); 2].map(|()| non_blocking(None).unwrap());
        let event = Event::new(EventFlags::DISABLE_TIMING).unwrap();
        self.enqueue(work[0], &streams[0]);
        match between {
            Between::Nothing => {}
            Between::Event => {
                event.record(&streams[0]).unwrap();
                wait_event(&streams[1], &event).unwrap();
            }
            Between::WaitForStream => streams[0].synchronize().unwrap(),
            Between::WaitForDevice => CurrentContext::synchronize().unwrap(),
            Between::AskForEvent => {
                event.record(&streams[0]).unwrap();
                while event.query().unwrap() != cust::event::EventStatus::Ready {}
            }
        }
        self.enqueue(work[1], &streams[1]);
        ends.iter().for_each(|at| streams[*at].synchronize().unwrap());
        CurrentContext::synchronize().unwrap();
        misuse()
    }
}

fn start(order: Order, checks: Checks) {
    let options = Options { order, checks, ..Options::default() };
    VirtualGpu::start(Profile::named("h200").unwrap(), options).unwrap();
}

fn open() -> cust::context::Context {
    let options = Options { checks: Checks::all(), ..Options::default() };
    support::open(Profile::named("h200").unwrap(), options)
}

#[track_caller]
fn only_missing_order(found: &[Misuse], what: &str) {
    let kinds: Vec<MisuseKind> = found.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [MisuseKind::MissingOrder], "{what}: {found:?}");
}

#[test]
fn work_on_the_same_memory_is_found_where_nothing_orders_it() {
    use Work::*;
    let _machine = virtual_gpu::OwnMachine::new();
    let _context = open();
    let program = Program::new();
    let writes = |work| matches!(work, Store | CopyIn | CopyTo | Fill | PageableIn);
    let all = [Store, Load, CopyIn, CopyOut, CopyFrom, CopyTo, Fill, PageableIn, PageableOut];
    let pairs = all.iter().flat_map(|one| all.iter().map(move |other| [*one, *other]));
    // Both copies use the other allocation, too, and the page-locked memory.
    let writes_other = |pair: [Work; 2]| {
        pair.contains(&CopyFrom)
            && pair.iter().filter(|it| [CopyFrom, CopyTo].contains(it)).count() == 2
            || pair == [CopyOut, CopyOut]
    };
    let pairs =
        pairs.map(|pair| (pair, pair.iter().any(|work| writes(*work)) || writes_other(pair)));
    let of_constants =
        [([Constants, TableIn], true), ([TableIn, Constants], true), ([Constants, Fill], false)];
    for (work, conflicts) in pairs.chain(of_constants) {
        // The default stream orders its own, and the host waits for what leaves the device or is page-locked.
        let is_synchronous = |work| matches!(work, PageableIn | PageableOut | TableIn);
        let is_ordered = work.iter().all(|work| is_synchronous(*work)) || work[0] == PageableOut;
        for order in [Order::Late, Order::Immediate, Order::Seeded(1), Order::Seeded(2)] {
            start(order, Checks::all());
            for ends in ENDS {
                let found = program.pair(work, Between::Nothing, ends);
                let what = format!("{work:?}, {order:?}, {ends:?}");
                if conflicts && !is_ordered {
                    only_missing_order(&found, &what);
                } else {
                    assert_eq!(found, [], "{what}");
                }
            }
            for between in [
                Between::Event,
                Between::WaitForStream,
                Between::WaitForDevice,
                Between::AskForEvent,
            ] {
                // What the default stream does, no event of another stream and no wait for it tells.
                if is_synchronous(work[0]) && between != Between::WaitForDevice
                    || is_synchronous(work[1]) && between == Between::Event
                {
                    continue;
                }
                let found = program.pair(work, between, &[]);
                assert_eq!(found, [], "{work:?}, {order:?}, {between:?}");
            }
        }
    }
}

#[test]
fn the_default_stream_orders_blocking_streams_that_are_gone_too() {
    let _machine = virtual_gpu::OwnMachine::new();
    let _context = open();
    let program = Program::new();
    for races in [false, true] {
        for destroys in [false, true] {
            let blocking = || Stream::new(StreamFlags::DEFAULT, None).unwrap();
            let stream = if races { non_blocking(None).unwrap() } else { blocking() };
            program.enqueue(Work::Store, &stream);
            let stream = (!destroys).then_some(stream);
            let default = non_blocking(None).unwrap();
            program.enqueue(Work::PageableOut, &default);
            drop(stream);
            CurrentContext::synchronize().unwrap();
            let found = misuse();
            if races {
                only_missing_order(&found, "a non-blocking stream");
                let cause = "because the default stream and a non-blocking stream do not wait for each other";
                assert!(found[0].message.contains(cause), "{found:?}");
                assert!(
                    found[0].message.contains("an earlier cuLaunchKernel of kernel `store`"),
                    "{found:?}"
                );
            } else {
                assert_eq!(found, [], "{destroys}");
            }
        }
    }
}

#[test]
fn a_stream_ordered_allocation_begins_and_ends_on_its_stream() {
    let _machine = virtual_gpu::OwnMachine::new();
    let _context = open();
    let program = Program::new();
    /// The stream of each use of memory that the first stream allocates and frees.
    #[derive(Debug)]
    struct Uses {
        by: usize,
        waits_for_allocation: bool,
        waits_for_use: bool,
        found: usize,
    }
    let uses = |by, waits_for_allocation, waits_for_use, found| Uses {
        by,
        waits_for_allocation,
        waits_for_use,
        found,
    };
    for ends in [&[][..], &[0, 1], &[1, 0]] {
        for case in [
            uses(0, false, false, 0),
            uses(1, true, true, 0),
            uses(1, false, true, 1),
            uses(1, true, false, 1),
        ] {
            let streams = [(); 2].map(|()| non_blocking(None).unwrap());
            let event = Event::new(EventFlags::DISABLE_TIMING).unwrap();
            let orders = |from: usize, to: usize| {
                event.record(&streams[from]).unwrap();
                wait_event(&streams[to], &event).unwrap();
            };
            let first: cuda_driver::raw::CUstream = streams[0].as_inner().cast();
            let mut address = 0;
            // SAFETY: the address has a place, and the stream lives.
            check(unsafe { api::cuMemAllocAsync(&raw mut address, BYTES, first) });
            if case.waits_for_allocation {
                orders(0, 1);
            }
            program.launch("store", &streams[case.by], address);
            if case.waits_for_use {
                orders(1, 0);
            }
            // SAFETY: the address is that of an allocation; that a kernel may still use it is what the test is for.
            check(unsafe { api::cuMemFreeAsync(address, first) });
            let awaited: Vec<_> = ends.iter().map(|at| streams[*at].synchronize()).collect();
            let failed =
                awaited.iter().any(Result::is_err) || CurrentContext::synchronize().is_err();
            virtual_gpu::forget_failure();
            let found = misuse();
            let missing = found.iter().filter(|one| one.kind == MisuseKind::MissingOrder).count();
            assert_eq!(missing, case.found, "{case:?}, {ends:?}: {found:?}");
            assert!(!failed || case.found > 0, "{case:?}, {ends:?}: {found:?}");
        }
    }
}

#[test]
fn a_program_that_never_waits_is_judged_when_it_ends() {
    let _machine = virtual_gpu::OwnMachine::new();
    let _context = open();
    let program = Program::new();
    let stream = non_blocking(None).unwrap();
    program.enqueue(Work::Store, &stream);
    program.enqueue(Work::PageableOut, &stream);
    assert_eq!(misuse(), [], "the kernel has not run");
    finish();
    only_missing_order(&misuse(), "the copy overtook the kernel");
    finish();
    assert_eq!(misuse(), [], "nothing is left");

    program.enqueue(Work::CopyOut, &stream);
    finish();
    let found = misuse();
    only_missing_order(&found, "a copy to the host that nobody awaits");
    assert!(found[0].message.contains("nobody has waited for this copy of 128 bytes"), "{found:?}");

    // A function of the host's, or what comes after it, may need what is gone.
    unsafe extern "C" fn never(_: *mut c_void) {
        std::process::abort();
    }
    // SAFETY: the function takes anything.
    check(unsafe { api::cuLaunchHostFunc(stream.as_inner().cast(), Some(never), null_mut()) });
    finish();
    assert_eq!(misuse(), []);
}

#[test]
fn many_operations_that_nobody_orders_take_no_longer_each() {
    let _machine = virtual_gpu::OwnMachine::new();
    let _context = open();
    let program = Program::new();
    let streams = [(); 2].map(|()| non_blocking(None).unwrap());
    let seconds = |count: usize| {
        let begin = std::time::Instant::now();
        for _ in 0..count {
            program.enqueue(Work::Load, &streams[0]);
            program.enqueue(Work::CopyFrom, &streams[1]);
        }
        CurrentContext::synchronize().unwrap();
        begin.elapsed().as_secs_f64()
    };
    seconds(100);
    // By the square it would be 64 times as long.
    let (few, many) = (seconds(1000), seconds(8000));
    assert!(many < 30.0 * few.max(1e-3), "{few} s for 1000, {many} s for 8000");
    assert_eq!(misuse(), []);
}
