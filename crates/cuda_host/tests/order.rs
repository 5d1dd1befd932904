//! The host's order and lifetimes: what cannot go wrong by accident, each with what was wrong once.

use cuda_host::{Choice, Gpu, GpuError, Image, testing};
use cuda_std::kernel::{Kernel, SafeKernel};
use cuda_std::safe::PerThread;
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer};
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::stream::non_blocking;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `increment` adds one to the word of each thread that has one; `nowhere` stores to an address of nothing.
const PTX: &str = r#"
.version 7.8
.target sm_70
.address_size 64

.visible .entry increment(.param .u64 values, .param .u64 length)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [values];
    ld.param.u64 %rd3, [length];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd2, %r1;
    setp.ge.u64 %p1, %rd2, %rd3;
    @%p1 bra END;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd1], %r2;
END:
    ret;
}

.visible .entry nowhere(.param .u64 values, .param .u64 length)
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, 8;
    st.global.u64 [%rd1], %rd1;
    ret;
}
"#;

static IMAGES: &[Image] =
    // SAFETY: the kernels are those of the tokens below, and have no records.
    &[unsafe { Image::new(70, PTX, &[], "by hand", "unknown") }];

type Words = SafeKernel<fn(PerThread<'static, u32>)>;

const fn token(name: &'static str) -> Words {
    // SAFETY: the entry takes an address and a length. That `nowhere` breaks its promise is what its test is for.
    unsafe {
        SafeKernel::new(Kernel::new(name, (0, 0), (0, 0, 0), 0), (64, 1, 1), &["values"], &[])
    }
}

const INCREMENT: Words = token("increment");

#[test]
fn a_launch_comes_after_what_runs_on_the_default_stream() {
    let gpu = testing::gpu(IMAGES);
    let mut values = DeviceBuffer::<u32>::zeroed(64).expect("it fits");
    gpu.launcher().run(INCREMENT, 1, (&mut values,)).expect("it runs");
    assert_eq!(gpu.download(&values).expect("it can be read"), [1; 64]);
    let zeros = DeviceBuffer::<u32>::zeroed(64).expect("it fits");
    assert_eq!(gpu.download(&zeros).expect("it can be read"), [0; 64]);
    assert_eq!(gpu.drain_hazards(), [""; 0]);
}

#[test]
fn memory_of_the_gpu_is_there_for_every_stream_when_the_call_returns() {
    let gpu = testing::gpu(IMAGES);
    let uploaded = gpu.upload(&[7_u32; 64]).expect("it fits");
    let zeroed = gpu.zeroed::<u32>(64).expect("it fits");
    let mut filled = gpu.filled(5_u32, 64).expect("it fits");
    let mut words = [0; 64];
    for (buffer, value) in [(&uploaded, 7), (&zeroed, 0), (&filled, 5)] {
        // On the default stream, which does not wait for the device's own.
        buffer.copy_to(&mut words).expect("it can be read");
        assert_eq!(words, [value; 64]);
    }
    gpu.copy_from(&mut filled, &[9; 64]).expect("it is as long");
    gpu.copy_to(&filled, &mut words).expect("it is as long");
    assert_eq!(words, [9; 64]);
    let error = gpu.copy_to(&filled, &mut words[1..]).unwrap_err().to_string();
    assert!(error.contains("a copy between 64 and 63 values"), "{error}");
    assert!(gpu.upload(&[0_u32; 0]).expect("it has no bytes").is_empty());
}

#[test]
fn a_launch_that_nobody_orders_is_found() {
    let gpu = testing::gpu(IMAGES);
    let launcher = gpu.launcher();
    let mut values = DeviceBuffer::<u32>::zeroed(64).expect("it fits");
    // SAFETY: nothing is unsound on the virtual device; what is not ordered is what the test is for.
    unsafe { launcher.enqueue(INCREMENT, 1, (&mut values,)) }.expect("it is enqueued");
    launcher.finish().expect("it runs");
    let said = gpu.drain_hazards();
    assert!(
        said[0].contains("kernel `increment` may run before an earlier cuMemsetD8_v2"),
        "{said:#?}"
    );
}

#[test]
fn a_copy_that_may_not_have_arrived_is_found() {
    let gpu = testing::gpu(IMAGES);
    let launcher = gpu.launcher();
    let pinned = HostBuffer::from_slice(&[4_u32; 64], HostFlags::PINNED).expect("it fits");
    // Of each copy, whether its call may return before it has arrived.
    for (source, is_early) in [(&[4_u32; 64][..], true), (&pinned[..], false)] {
        for waits in [false, true] {
            let mut values = DeviceBuffer::from_slice(source).expect("it fits");
            if waits {
                gpu.synchronize().expect("nothing fails");
            }
            // SAFETY: nothing is unsound on the virtual device; what is not ordered is what the test is for.
            unsafe { launcher.enqueue(INCREMENT, 1, (&mut values,)) }.expect("it is enqueued");
            launcher.finish().expect("it runs");
            let said = gpu.drain_hazards();
            let expected = usize::from(is_early && !waits);
            assert_eq!(said.len(), expected, "{said:#?}");
            assert!(said.iter().all(|one| one.contains("an earlier cuMemcpyHtoD_v2")), "{said:#?}");
            launcher.run(INCREMENT, 1, (&mut values,)).expect("it runs");
            assert_eq!(gpu.download(&values).expect("it can be read"), [6; 64]);
        }
    }
    let mut values = DeviceBuffer::from_slice(&[4_u32; 64]).expect("it fits");
    gpu.launcher().run(INCREMENT, 1, (&mut values,)).expect("it runs");
    assert_eq!(gpu.drain_hazards(), [""; 0]);
    // The copy returns at once; nothing but the device waits for it.
    let mut target = gpu.zeroed::<u32>(64).expect("it fits");
    target.copy_from(&*values).expect("it is as long");
    // SAFETY: as above.
    unsafe { launcher.enqueue(INCREMENT, 1, (&mut target,)) }.expect("it is enqueued");
    gpu.synchronize().expect("it runs");
    let said = gpu.drain_hazards();
    assert!(said.len() == 1 && said[0].contains("an earlier cuMemcpyDtoD_v2"), "{said:#?}");
}

#[test]
fn a_copy_that_does_not_wait_for_a_launch_is_found() {
    let gpu = testing::gpu(IMAGES);
    let launcher = gpu.launcher();
    let mut values = gpu.zeroed::<u32>(64).expect("it fits");
    // SAFETY: as above.
    unsafe { launcher.enqueue(INCREMENT, 1, (&mut values,)) }.expect("it is enqueued");
    values.copy_to(&mut [0; 64]).expect("it can be read");
    let said = gpu.drain_hazards();
    assert!(
        said.len() == 1
            && said[0]
                .starts_with("cuMemcpyDtoH_v2: this may run before an earlier cuLaunchKernel"),
        "{said:#?}"
    );
}

#[test]
fn synchronizing_waits_for_every_stream() {
    let gpu = testing::gpu(IMAGES);
    let stream = non_blocking(None).expect("there is room");
    let launcher = gpu.launcher().on(&stream);
    let mut values = gpu.zeroed::<u32>(64).expect("it fits");
    // SAFETY: the buffer is not used until the device was waited for.
    unsafe { launcher.enqueue(INCREMENT, 1, (&mut values,)) }.expect("it is enqueued");
    gpu.synchronize().expect("it runs");
    assert_eq!(gpu.download(&values).expect("it can be read"), [1; 64]);
}

#[test]
fn a_grid_of_no_blocks_does_nothing() {
    let gpu = testing::gpu(IMAGES);
    let mut none = gpu.upload(&[0_u32; 0]).expect("it has no bytes");
    gpu.launcher().run(INCREMENT, 0, (&mut none,)).expect("there is nothing to do");
    assert!(gpu.virtual_device().expect("it is one").drain_launches().is_empty());
}

#[test]
fn a_launch_that_waits_is_refused_while_its_stream_is_captured() {
    let gpu = testing::gpu(IMAGES);
    let mut values = gpu.zeroed::<u32>(64).expect("it fits");
    let mut ran = Ok(());
    let graph = gpu.record(|| ran = gpu.launcher().run(INCREMENT, 1, (&mut values,)));
    graph.expect("the capture is not disturbed");
    let said = ran.unwrap_err().to_string();
    assert!(said.contains("is being captured") && said.contains("`Launcher::enqueue`"), "{said}");
}

#[test]
fn a_scope_launches_without_waiting_and_in_order() {
    let gpu = testing::gpu(IMAGES);
    let streams = [(); 2].map(|()| non_blocking(None).expect("there is room"));
    let [one, other] = [&streams[0], &streams[1]].map(|stream| gpu.launcher().on(stream));
    let source = HostBuffer::from_slice(&[40_u32; 64], HostFlags::PINNED).expect("it fits");
    let mut result = HostBuffer::<u32>::zeroed(64, HostFlags::PINNED).expect("it fits");
    let mut x = gpu.zeroed::<u32>(64).expect("it fits");
    let mut y = DeviceBuffer::<u32>::zeroed(64).expect("it fits");
    one.scope(|scope| {
        let mut x = scope.lend(&mut x)?;
        scope.upload(&source, &mut x)?;
        scope.launch(INCREMENT, 1, (&mut x,))?;
        scope.launch(INCREMENT, 1, (&mut x,))?;
        scope.download(&x, &mut result)?;
        // Both run at the same time.
        other.scope(|other| other.launch(INCREMENT, 1, (&mut other.lend(&mut y)?,)))
    })
    .expect("it runs");
    assert_eq!(*result, [42; 64]);
    assert_eq!(gpu.download(&y).expect("it can be read"), [1; 64]);
    assert_eq!(gpu.drain_hazards(), [""; 0]);

    let error = one.scope(|scope| scope.launch(token("nowhere"), 1, (&mut scope.lend(&mut x)?,)));
    let said = error.unwrap_err().to_string();
    assert!(said.contains("nowhere<<<(1, 1, 1), (64, 1, 1), 0 B>>> failed"), "{said}");
    gpu.drain_hazards();
}

#[test]
fn a_fault_of_one_test_is_none_of_the_next() {
    let gpu = testing::gpu(IMAGES);
    let mut values = gpu.zeroed::<u32>(64).expect("it fits");
    gpu.launcher().run(token("nowhere"), 1, (&mut values,)).expect_err("the address is nothing's");
    gpu.drain_hazards();
    drop((values, gpu));
    let gpu = testing::gpu(IMAGES);
    let mut values = gpu.zeroed::<u32>(64).expect("the device works");
    gpu.launcher().run(INCREMENT, 1, (&mut values,)).expect("it runs");
}

#[test]
fn what_outlives_its_gpu_is_still_there() {
    let _machine = testing::exclusive();
    let gpu = Gpu::open(&Choice::Virtual("h200".to_owned()), IMAGES);
    let gpu = gpu.expect("the virtual device starts everywhere");
    let device = gpu.upload(&[5_u32; 64]).expect("it fits");
    let pinned = HostBuffer::from_slice(&[9_u32; 64], HostFlags::PINNED).expect("it fits");
    let locked = LockedBuffer::new(&7_u32, 64).expect("it fits");
    let module = gpu.load(IMAGES).expect("it loads");
    let mut counted = gpu.zeroed::<u32>(64).expect("it fits");
    let graph = gpu.record(|| {
        let launcher = gpu.launcher();
        // SAFETY: the buffer lives until the graph has run; the module stays loaded.
        unsafe { launcher.enqueue(INCREMENT, 1, (&mut counted,)) }.expect("it is recorded");
    });
    let graph = graph.expect("it can be recorded");
    let recorded = gpu.module().get_function("increment").expect("it is there").to_raw();
    drop(gpu);

    let mut registers = 0;
    // SAFETY: a local to write to; the driver says so if the function is gone.
    let code = unsafe { cuda_driver::api::cuFuncGetAttribute(&mut registers, 4, recorded) };
    assert_eq!(code, cuda_driver::ReturnCode::SUCCESS, "the graph's kernels are loaded");

    // A context that was released would be another one now.
    let mut state = (0, 0);
    // SAFETY: two locals to write to.
    let code =
        unsafe { cuda_driver::api::cuDevicePrimaryCtxGetState(0, &mut state.0, &mut state.1) };
    assert_eq!((code, state.1), (cuda_driver::ReturnCode::SUCCESS, 1), "the context lives");
    assert_eq!(device.as_host_vec().expect("it is there"), [5; 64]);
    assert_eq!((pinned[3], locked[3]), (9, 7));
    module.get_function("increment").expect("the module is loaded");

    let gpu = Gpu::open(&Choice::Virtual("h200".to_owned()), IMAGES);
    let gpu = gpu.expect("the virtual device starts everywhere");
    graph.upload(gpu.stream()).expect("its kernels are loaded");
    // SAFETY: the buffer is alive until the stream was waited for.
    unsafe { graph.launch(gpu.stream()) }.expect("its kernels are loaded");
    gpu.synchronize().expect("it runs");
    assert_eq!(gpu.download(&counted).expect("it can be read"), [1; 64]);
}

#[test]
fn a_panic_does_not_leave_the_device_idle() {
    let gpu = testing::gpu(IMAGES);
    let device = gpu.virtual_device().expect("it is one");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        device.without_executing::<GpuError>(gpu.stream(), || panic!("in the closure"))
    }));
    assert!(panicked.is_err());
    let mut values = gpu.zeroed::<u32>(64).expect("it fits");
    gpu.launcher().run(INCREMENT, 1, (&mut values,)).expect("it runs");
    assert_eq!(gpu.download(&values).expect("it can be read"), [1; 64]);
}

#[test]
fn a_program_is_checked_whatever_it_opens() {
    let program = |ordered: bool| {
        let gpu = Gpu::open(&Choice::Virtual("a100".to_owned()), IMAGES)?;
        let mut values = DeviceBuffer::<u32>::zeroed(64)?;
        if ordered {
            gpu.synchronize()?;
        }
        // SAFETY: the buffer lives until the stream was waited for. Without order it is what the test is for.
        unsafe { gpu.launcher().enqueue(INCREMENT, 1, (&mut values,)) }?;
        gpu.synchronize()?;
        gpu.download(&values)
    };
    let result = testing::checked(|| program(true)).expect("it runs");
    assert_eq!(result, [1; 64]);
    let failed = catch_unwind(|| testing::checked(|| program(false))).expect_err("it is found");
    let said = failed.downcast::<String>().expect("it is a sentence");
    assert!(said.contains("cuMemsetD8_v2"), "{said}");
}
