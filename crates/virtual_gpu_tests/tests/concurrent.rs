//! Kernels on different streams: those that may run at the same time and race are found, in whatever order they run here,
//! and those that an event, a stream or the host orders are not accused.

mod support;

use cust::context::CurrentContext;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::prelude::{Event, EventFlags, Stream, StreamFlags};
use cust_ext::graph::{CaptureMode, capture};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::stream::{non_blocking, wait_event};
use simt::Checks;
use virtual_gpu::{Misuse, MisuseKind, Options, Order, Profile, VirtualGpu, misuse};

/// The effect of each kernel on word `2 * thread` of its argument, or the one after it.
const KERNELS: [(&str, &str); 6] = [
    ("store", "st.global.u32 [%rd5], %r1;"),
    ("store_odd", "st.global.u32 [%rd5+4], %r1;"),
    ("load", "ld.global.u32 %r2, [%rd5];"),
    ("add", "red.global.add.u32 [%rd5], %r1;"),
    ("store_static", "st.global.u32 [word], %r1;"),
    ("through_pointer", "ld.global.u64 %rd4, [%rd1]; st.global.u32 [%rd4], %r1;"),
];
const WORDS: usize = 128;

/// The act of a program between the launches of two kernels on two streams.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Nothing,
    Event,
    SameStream,
    /// Both streams wait for the legacy default stream, and it for them.
    LegacyStream,
    SynchronizeStream,
    SynchronizeDevice,
}

struct Program {
    module: Module,
}

impl Program {
    fn launch(&self, kernel: &str, stream: &Stream, address: u64, threads: u32) {
        let function = self.module.get_function(kernel).unwrap();
        // SAFETY: every kernel takes one pointer, to two words for each thread or to a pointer to a word.
        unsafe { cust::launch!(function<<<1, threads, 0, stream>>>(address)) }.unwrap();
    }

    fn pair(&self, kernels: [&str; 2], at: [u64; 2], between: Between) {
        let [one, mut other] = [(); 2].map(|()| match between {
            Between::LegacyStream => Stream::new(StreamFlags::DEFAULT, None).unwrap(),
            _ => non_blocking(None).unwrap(),
        });
        let event = Event::new(EventFlags::DISABLE_TIMING).unwrap();
        self.launch(kernels[0], &one, at[0], 32);
        match between {
            Between::Nothing => {}
            Between::Event => {
                event.record(&one).unwrap();
                wait_event(&other, &event).unwrap();
            }
            Between::SameStream => other = one,
            Between::LegacyStream => drop(DeviceBuffer::<u32>::zeroed(1).unwrap()),
            Between::SynchronizeStream => one.synchronize().unwrap(),
            Between::SynchronizeDevice => CurrentContext::synchronize().unwrap(),
        }
        self.launch(kernels[1], &other, at[1], 32);
        CurrentContext::synchronize().unwrap();
    }
}

fn start(order: Order, checks: Checks) -> &'static VirtualGpu {
    let options = Options { order, checks, ..Options::default() };
    VirtualGpu::start(Profile::named("v100").unwrap(), options).unwrap()
}

#[track_caller]
fn only_race(found: &[Misuse], what: &str) {
    assert_eq!(found.len(), 1, "{what}: {found:?}");
    assert_eq!(found[0].kind, MisuseKind::MissingOrder, "{what}: {found:?}");
}

#[test]
fn kernels_that_may_run_at_once_and_race_are_found() {
    let profile = Profile::named("v100").unwrap();
    let _context = support::open(profile, Options { checks: Checks::all(), ..Options::default() });
    let module = Module::from_ptx(support::ptx(&KERNELS), &[]).unwrap();
    let program = Program { module };
    let device = DeviceBuffer::<u32>::zeroed(WORDS).unwrap();
    let mapped = HostBuffer::<u32>::zeroed(WORDS, HostFlags::MAPPED).unwrap();
    let pointers = DeviceBuffer::from_slice(&[device.as_device_ptr().as_raw()]).unwrap();
    CurrentContext::synchronize().unwrap();
    let device = device.as_device_ptr().as_raw();
    let mapped = mapped.device_pointer().unwrap().as_raw();
    let pointers = pointers.as_device_ptr().as_raw();
    misuse();

    for order in [Order::Late, Order::Seeded(1), Order::Seeded(2), Order::Seeded(3)] {
        start(order, Checks::all());
        for (kernels, at, races) in [
            (["store", "store"], [device; 2], true),
            (["store", "load"], [device; 2], true),
            (["load", "store"], [device; 2], true),
            (["load", "add"], [device; 2], true),
            (["store", "load"], [mapped; 2], true),
            (["store_static", "store_static"], [device; 2], true),
            (["through_pointer", "store"], [pointers, device], true),
            (["load", "load"], [device; 2], false),
            (["add", "add"], [device; 2], false),
            (["store", "store_odd"], [device; 2], false),
            (["store", "store"], [device, mapped], false),
        ] {
            for between in [
                Between::Nothing,
                Between::Event,
                Between::SameStream,
                Between::LegacyStream,
                Between::SynchronizeStream,
                Between::SynchronizeDevice,
            ] {
                let what = format!("{kernels:?}, {between:?}, {order:?}");
                program.pair(kernels, at, between);
                let found = misuse();
                if races && between == Between::Nothing {
                    only_race(&found, &what);
                } else {
                    assert_eq!(found, [], "{what}");
                }
            }
        }
    }

    start(Order::Late, Checks::all());
    program.pair(["store", "load"], [device; 2], Between::Nothing);
    let message = misuse()[0].to_string();
    assert_eq!(
        message,
        format!(
            "cuLaunchKernel: kernel `load` may run at the same time as kernel `store` of another cuLaunchKernel, and one \
             of them writes what the other uses at {device:#x} (it is byte 0 of the allocation of 512 bytes at \
             {device:#x}), because nothing orders the two; put both on one stream, wait for an event, or synchronize \
             between them"
        )
    );
    branches_of_a_graph(&program, device);
    three_streams(&program, device);

    // Without the check nothing is compared.
    start(Order::Late, Checks::none());
    program.pair(["store", "store"], [device; 2], Between::Nothing);
    assert_eq!(misuse(), []);
}

/// A graph whose second branch is forked off a stream; its kernels race unless the branch begins after the first kernel.
fn branches_of_a_graph(program: &Program, device: u64) {
    for ordered in [false, true] {
        let [main, branch] = [(); 2].map(|()| non_blocking(None).unwrap());
        let [fork, join] = [(); 2].map(|()| Event::new(EventFlags::DISABLE_TIMING).unwrap());
        let graph = capture(&main, CaptureMode::Relaxed, |main| {
            let forks = || {
                fork.record(main).unwrap();
                wait_event(&branch, &fork).unwrap();
            };
            program.launch("load", main, device, 32);
            if !ordered {
                forks();
            }
            program.launch("store", main, device, 32);
            if ordered {
                forks();
            }
            program.launch("store", &branch, device, 32);
            join.record(&branch).unwrap();
            wait_event(main, &join)
        });
        let executable = graph.unwrap().instantiate().unwrap();
        // SAFETY: the memory that its kernels use outlives the synchronization.
        unsafe { executable.launch(&main) }.unwrap();
        // SAFETY: as above; this launch follows the first.
        unsafe { executable.launch(&main) }.unwrap();
        CurrentContext::synchronize().unwrap();
        let found = misuse();
        if ordered {
            assert_eq!(found, []);
        } else {
            only_race(&found, "branches of a graph");
        }
    }
}

/// The second stream waits for the first one's event; the third for nobody, so that it races with both.
fn three_streams(program: &Program, device: u64) {
    let [one, other, third] = [(); 3].map(|()| non_blocking(None).unwrap());
    let event = Event::new(EventFlags::DISABLE_TIMING).unwrap();
    program.launch("store", &one, device, 32);
    event.record(&one).unwrap();
    wait_event(&other, &event).unwrap();
    program.launch("add", &other, device, 32);
    program.launch("load", &third, device, 32);
    // The third runs alone and first; the others are compared with it when they run, and are the earlier ones.
    third.synchronize().unwrap();
    assert_eq!(misuse(), []);
    CurrentContext::synchronize().unwrap();
    let found = misuse();
    let names = found.iter().filter(|one| one.message.starts_with("kernel `load`"));
    assert_eq!((found.len(), names.count()), (2, 2), "{found:?}");
}
