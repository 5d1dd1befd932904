//! A program that orders its streams gives one result in every allowed order, and one that does not is found.

mod support;

use cust::launch;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use cust::module::Module;
use cust::prelude::{Event, EventFlags};
use cust_ext::stream::{non_blocking, wait_event};
use virtual_gpu::{Misuse, MisuseKind, Options, Order, Profile, VirtualGpu, misuse};

/// Adds one to 64 values.
const KERNELS: [(&str, &str); 1] =
    [("increment", "ld.global.u32 %r2, [%rd3]; add.s32 %r3, %r2, %r1; st.global.u32 [%rd3], %r3;")];

/// Upload on one stream, compute on a second, download on a third, with events between them.
fn pipeline(ordered: bool) -> Vec<u32> {
    let module = Module::from_ptx(support::ptx(&KERNELS), &[]).unwrap();
    let increment = module.get_function("increment").unwrap();
    let streams = [(); 3].map(|()| non_blocking(None).unwrap());
    let events = [(); 2].map(|()| Event::new(EventFlags::DISABLE_TIMING).unwrap());
    let input = LockedBuffer::new(&41u32, 64).unwrap();
    let mut output = LockedBuffer::new(&0u32, 64).unwrap();
    let mut device = DeviceBuffer::<u32>::zeroed(64).unwrap();
    cust::context::CurrentContext::synchronize().unwrap();
    let compute = &streams[1];
    // SAFETY: the kernel takes one pointer to 64 values; all buffers outlive the synchronization below.
    unsafe {
        device.async_copy_from(&input, &streams[0]).unwrap();
        events[0].record(&streams[0]).unwrap();
        if ordered {
            wait_event(compute, &events[0]).unwrap();
        }
        launch!(increment<<<1, 64, 0, compute>>>(device.as_device_ptr())).unwrap();
        events[1].record(compute).unwrap();
        wait_event(&streams[2], &events[1]).unwrap();
        device.async_copy_to(&mut output, &streams[2]).unwrap();
    }
    streams[2].synchronize().unwrap();
    let result = output.to_vec();
    cust::context::CurrentContext::synchronize().unwrap();
    result
}

/// Parts of one buffer of 128 values on two streams: the copy of a part before the kernel's in the program, or behind it.
fn parts(copied: usize, copy_first: bool) -> Vec<Misuse> {
    let module = Module::from_ptx(support::ptx(&KERNELS), &[]).unwrap();
    let increment = module.get_function("increment").unwrap();
    let [one, other] = [(); 2].map(|()| non_blocking(None).unwrap());
    let input = LockedBuffer::new(&41u32, 64).unwrap();
    let device = DeviceBuffer::<u32>::zeroed(128).unwrap();
    cust::context::CurrentContext::synchronize().unwrap();
    // SAFETY: the kernel adds one to the first 64 values; all buffers outlive the synchronization below.
    unsafe {
        let copy = || device.index(copied..copied + 64).async_copy_from(&input, &one).unwrap();
        if copy_first {
            copy();
        }
        launch!(increment<<<1, 64, 0, other>>>(device.as_device_ptr())).unwrap();
        if !copy_first {
            copy();
        }
    }
    // What the program does not order runs as late as possible: the later of the two goes first.
    let last = if copy_first { &other } else { &one };
    last.synchronize().unwrap();
    cust::context::CurrentContext::synchronize().unwrap();
    misuse()
}

#[test]
fn order_is_what_the_program_says() {
    let start = |order| {
        let profile = Profile::named("v100").unwrap();
        VirtualGpu::start(profile, Options { order, ..Options::default() }).unwrap()
    };
    let _context = support::open(Profile::named("v100").unwrap(), Options::default());

    for order in
        [Order::Late, Order::Immediate, Order::Seeded(1), Order::Seeded(2), Order::Seeded(3)]
    {
        start(order);
        assert_eq!(pipeline(true), [42; 64], "{order:?}");
        assert_eq!(misuse(), [], "{order:?}");
    }

    start(Order::Late);
    assert_eq!(pipeline(false), [1; 64], "the upload has not happened when the kernel runs");
    let found = misuse();
    // The kernel overtakes the upload, and with it so does the download.
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|one| one.kind == MisuseKind::MissingOrder), "{found:?}");
    assert!(found[0].to_string().starts_with(
        "cuLaunchKernel: kernel `increment` may run before an earlier cuMemcpyHtoDAsync_v2"
    ));

    for copy_first in [true, false] {
        start(Order::Late);
        assert_eq!(
            parts(64, copy_first),
            [],
            "the kernel is given the buffer and uses the other part"
        );
        let found = parts(63, copy_first);
        assert_eq!(found.len(), 1, "{found:?}");
        let (call, earlier) = if copy_first {
            ("cuLaunchKernel: kernel `increment`", "cuMemcpyHtoDAsync_v2")
        } else {
            ("cuMemcpyHtoDAsync_v2: this", "cuLaunchKernel of kernel `increment`")
        };
        let message = found[0].to_string();
        let start = format!("{call} may run before an earlier {earlier} that uses the same");
        assert!(message.starts_with(&start), "{message}");
    }

    let other = VirtualGpu::start(Profile::named("t4").unwrap(), Options::default()).unwrap_err();
    assert_eq!(
        other.to_string(),
        "virtual Tesla V100-SXM2-16GB is already running: a process has one virtual device, start another process for \
         virtual Tesla T4"
    );
}
