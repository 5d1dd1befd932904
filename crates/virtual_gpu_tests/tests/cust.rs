//! cust and cust_ext end to end on the virtual device: buffers, pinned memory, streams, events, modules, launches.

mod support;

use cust::context::Context;
use cust::launch;
use cust::memory::{
    AsyncCopyDestination, CopyDestination, DeviceBuffer, LockedBuffer, UnifiedBuffer,
};
use cust::module::Module;
use cust::prelude::{Event, EventFlags};
use std::sync::{Mutex, MutexGuard, PoisonError};
use virtual_gpu::{OperationKind, Options, Profile};

/// `values[i] = factor * values[i]` for `i < n`, and a symbol to read and write.
const PTX: &str = r#"
.version 7.8
.target sm_70
.address_size 64

.global .align 4 .b8 offsets[16];

.visible .entry scale(.param .u64 values, .param .u32 n, .param .f32 factor)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [values];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [factor];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
DONE:
    ret;
}
"#;

static DEVICE: Mutex<()> = Mutex::new(());

/// The device of this process; one test uses it at a time, because they look at its clock and its findings.
fn device() -> (MutexGuard<'static, ()>, Context) {
    let guard = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = support::open(Profile::named("h200").unwrap(), Options::default());
    virtual_gpu::misuse();
    virtual_gpu::launches();
    (guard, context)
}

#[test]
fn the_device_introduces_itself() {
    let _device = device();
    let info = cuda_driver::status().unwrap();
    assert!(info.is_virtual);
    assert_eq!(info.to_string(), "virtual NVIDIA H200, CUDA 13.5, 1 device");
    let device = cust::device::Device::get_device(0).unwrap();
    assert_eq!(device.name().unwrap(), "NVIDIA H200 (virtual)");
    let count = cust_ext::device::attribute(
        &device,
        cust_ext::device::DeviceAttribute::MultiprocessorCount,
    );
    assert_eq!(count.unwrap(), 132);
    assert!(cust::device::Device::get_device(1).is_err());
}

#[test]
fn page_locked_and_managed_memory_begins_with_a_page() {
    let _device = device();
    for length in [1, 31, 4096, 100_003] {
        let locked = LockedBuffer::new(&1u32, length).unwrap();
        let managed = UnifiedBuffer::new(&1u32, length).unwrap();
        assert_eq!((locked.as_ptr().addr() % 4096, managed.as_ptr().addr() % 4096), (0, 0));
        assert!(locked.iter().chain(managed.iter()).all(|value| *value == 1));
    }
}

#[test]
fn a_kernel_computes_and_is_counted() {
    let _device = device();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let scale = module.get_function("scale").unwrap();
    let input: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let buffer = DeviceBuffer::from_slice(&input).unwrap();
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    // SAFETY: pointer, u32 and f32 as the kernel declares them; the buffer has 1000 values and is alive.
    unsafe { launch!(scale<<<4, 256, 0, stream>>>(buffer.as_device_ptr(), 1000u32, 3.0f32)) }
        .unwrap();
    stream.synchronize().unwrap();
    let output = buffer.as_host_vec().unwrap();
    assert!(output.iter().zip(&input).all(|(output, input)| *output == 3.0 * input));

    let launches = virtual_gpu::launches();
    assert_eq!(launches.len(), 1);
    assert_eq!((launches[0].kernel.as_str(), launches[0].grid), ("scale", [4, 1, 1]));
    // 1000 values of 4 bytes are 125 sectors of 32 bytes, read once and written once.
    assert_eq!(launches[0].report.counters.global_load.sectors, 125);
    assert_eq!(launches[0].report.counters.global_store.sectors, 125);
    assert!(launches[0].model_ns > 0.0);
    assert_eq!(virtual_gpu::misuse(), []);
}

#[test]
fn work_runs_in_stream_order_and_not_before_it_is_waited_for() {
    let _device = device();
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    let other = cust_ext::stream::non_blocking(None).unwrap();
    let device = DeviceBuffer::from_slice(&[1u32; 64]).unwrap();
    let mut host = LockedBuffer::new(&0u32, 64).unwrap();
    // SAFETY: the buffers outlive the synchronization below, and the host does not write meanwhile.
    unsafe { device.async_copy_to(&mut host, &stream) }.unwrap();
    assert_eq!(host[0], 0, "nothing has waited yet");
    other.synchronize().unwrap();
    assert_eq!(host[0], 0, "the other stream does not order it");
    let event = Event::new(EventFlags::DISABLE_TIMING).unwrap();
    event.record(&stream).unwrap();
    cust_ext::stream::wait_event(&other, &event).unwrap();
    other.synchronize().unwrap();
    assert_eq!(host.as_slice(), [1; 64], "the event does");
}

#[test]
fn events_measure_the_modelled_time() {
    let _device = device();
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    let bytes = 64 << 20;
    let host = LockedBuffer::new(&1u8, bytes).unwrap();
    let mut device = DeviceBuffer::<u8>::zeroed(bytes).unwrap();
    let (start, end) =
        (Event::new(EventFlags::DEFAULT).unwrap(), Event::new(EventFlags::DEFAULT).unwrap());
    start.record(&stream).unwrap();
    // SAFETY: the buffers outlive the synchronization below.
    unsafe { device.async_copy_from(&host, &stream) }.unwrap();
    end.record(&stream).unwrap();
    end.synchronize().unwrap();
    let rate = bytes as f64 / f64::from(end.elapsed_time_f32(&start).unwrap()) / 1e6;
    assert!((54.0..55.5).contains(&rate), "{rate} GB/s over a link of 55.5");
}

#[test]
fn both_directions_overlap_and_one_does_not() {
    let _device = device();
    let bytes = 16 << 20;
    let host = [LockedBuffer::new(&1u8, bytes).unwrap(), LockedBuffer::new(&1u8, bytes).unwrap()];
    let mut back = LockedBuffer::new(&0u8, bytes).unwrap();
    let mut device =
        [DeviceBuffer::<u8>::zeroed(bytes).unwrap(), DeviceBuffer::<u8>::zeroed(bytes).unwrap()];
    let streams = [(); 2].map(|()| cust_ext::stream::non_blocking(None).unwrap());
    let mut time = |down: bool| {
        let (start, end) =
            (Event::new(EventFlags::DEFAULT).unwrap(), Event::new(EventFlags::DEFAULT).unwrap());
        let forked = Event::new(EventFlags::DISABLE_TIMING).unwrap();
        start.record(&streams[0]).unwrap();
        cust_ext::stream::wait_event(&streams[1], &start).unwrap();
        let [first, second] = &mut device;
        // SAFETY: the buffers outlive the synchronization below.
        unsafe {
            first.async_copy_from(&host[0], &streams[0]).unwrap();
            if down {
                second.async_copy_to(&mut back, &streams[1]).unwrap();
            } else {
                second.async_copy_from(&host[1], &streams[1]).unwrap();
            }
        }
        forked.record(&streams[1]).unwrap();
        cust_ext::stream::wait_event(&streams[0], &forked).unwrap();
        end.record(&streams[0]).unwrap();
        end.synchronize().unwrap();
        end.elapsed_time_f32(&start).unwrap()
    };
    let (same, both) = (time(false), time(true));
    assert!(both < 0.6 * same, "both ways {both} ms, one after the other {same} ms");
}

#[test]
fn managed_memory_is_one_address_for_both() {
    let _device = device();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let scale = module.get_function("scale").unwrap();
    let mut buffer = UnifiedBuffer::new(&2.0f32, 100).unwrap();
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    // SAFETY: as above; the host does not touch the buffer before the stream was waited for.
    unsafe { launch!(scale<<<1, 128, 0, stream>>>(buffer.as_unified_ptr(), 100u32, 5.0f32)) }
        .unwrap();
    stream.synchronize().unwrap();
    assert_eq!(buffer.as_slice(), [10.0; 100]);
}

#[test]
fn symbols_and_functions_tell_what_they_are() {
    let _device = device();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    // SAFETY: if there is such a static, it holds words.
    let mut offsets = unsafe { cust_ext::symbol::symbol::<u32>(&module, "offsets") }.unwrap();
    offsets.upload(&[1, 2, 3, 4]).unwrap();
    let mut back = [0; 4];
    offsets.download(&mut back).unwrap();
    assert_eq!(back, [1, 2, 3, 4]);
    assert_eq!(
        offsets.upload(&[1]).unwrap_err().to_string(),
        "the symbol offsets has 4 values and the host slice 1"
    );
    // SAFETY: if there is such a static, it holds words.
    let missing = unsafe { cust_ext::symbol::symbol::<u32>(&module, "nothing") }.unwrap_err();
    assert_eq!(missing.code().unwrap().name(), Some("CUDA_ERROR_NOT_FOUND"));
    assert!(module.get_function("nothing").is_err());

    let scale = module.get_function("scale").unwrap();
    let info = cust_ext::function::info(&scale).unwrap();
    assert_eq!((info.ptx_version, info.binary_version, info.local_bytes), (70, 90, 0));
    assert_eq!(cust_ext::function::blocks_per_multiprocessor(&scale, 256, 0).unwrap(), 8);
    assert_eq!(cust_ext::function::suggested_launch(&scale, 0).unwrap().block_size, 1024);
    cust_ext::function::allow_dynamic_shared_bytes(&scale, 200 << 10).unwrap();
    assert_eq!(cust_ext::function::blocks_per_multiprocessor(&scale, 256, 200 << 10).unwrap(), 1);
    assert!(cust_ext::function::allow_dynamic_shared_bytes(&scale, 228 << 10).is_err());
}

#[test]
fn launches_that_a_device_refuses_are_refused() {
    let _device = device();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let scale = module.get_function("scale").unwrap();
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    let buffer = DeviceBuffer::<f32>::zeroed(8).unwrap();
    for (grid, block, shared) in [(1u32, 1025u32, 0u32), (0, 32, 0), (1, 32, 50 << 10)] {
        // SAFETY: nothing is launched.
        let refused = unsafe {
            launch!(scale<<<grid, block, shared, stream>>>(buffer.as_device_ptr(), 8u32, 1.0f32))
        };
        assert_eq!(
            refused.unwrap_err(),
            cust::error::CudaError::InvalidValue,
            "{grid} {block} {shared}"
        );
    }
    let error = Module::from_ptx(PTX.replace("mul.f32", "mule.f32"), &[]).map(drop);
    let unsupported = error.is_err() || {
        let module = Module::from_ptx(PTX.replace("mul.f32", "mule.f32"), &[]).unwrap();
        let scale = module.get_function("scale").unwrap();
        // SAFETY: nothing is launched.
        unsafe { launch!(scale<<<1, 32, 0, stream>>>(buffer.as_device_ptr(), 8u32, 1.0f32)) }
            .is_err()
    };
    assert!(unsupported);
    assert_eq!(
        Module::from_ptx("this is not PTX", &[]).map(drop).unwrap_err(),
        cust::error::CudaError::InvalidPtx
    );
    assert_eq!(
        Module::from_ptx(PTX.replace("sm_70", "sm_100"), &[]).map(drop).unwrap_err(),
        cust::error::CudaError::NoBinaryForGpu
    );
}

#[test]
fn a_graph_replays_a_fork_and_a_join() {
    let _device = device();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let scale = module.get_function("scale").unwrap();
    let (first, second) = (
        DeviceBuffer::from_slice(&[1.0f32; 32]).unwrap(),
        DeviceBuffer::from_slice(&[1.0f32; 32]).unwrap(),
    );
    let stream = cust_ext::stream::non_blocking(None).unwrap();
    let fork = cust_ext::stream::non_blocking(None).unwrap();
    let [forked, joined] = [(); 2].map(|()| Event::new(EventFlags::DISABLE_TIMING).unwrap());
    let graph = cust_ext::graph::capture(&stream, Default::default(), |stream| {
        forked.record(stream)?;
        cust_ext::stream::wait_event(&fork, &forked)?;
        // SAFETY: the buffers have 32 values and outlive the graph's launches.
        unsafe {
            launch!(scale<<<1, 32, 0, stream>>>(first.as_device_ptr(), 32u32, 2.0f32))?;
            launch!(scale<<<1, 32, 0, fork>>>(second.as_device_ptr(), 32u32, 3.0f32))?;
        }
        joined.record(&fork)?;
        cust_ext::stream::wait_event(stream, &joined)
    })
    .unwrap();
    assert_eq!(graph.node_count().unwrap(), 2);
    let executable = graph.instantiate().unwrap();
    for _ in 0..3 {
        // SAFETY: the buffers are alive until the stream was waited for.
        unsafe { executable.launch(&stream) }.unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(first.as_host_vec().unwrap(), [8.0; 32]);
    assert_eq!(second.as_host_vec().unwrap(), [27.0; 32]);
}

#[test]
fn a_capture_that_never_joins_is_an_error() {
    let _device = device();
    let buffer = DeviceBuffer::<u32>::zeroed(32).unwrap();
    let mut target = DeviceBuffer::<u32>::zeroed(32).unwrap();
    let (stream, fork) = (
        cust_ext::stream::non_blocking(None).unwrap(),
        cust_ext::stream::non_blocking(None).unwrap(),
    );
    let forked = Event::new(EventFlags::DISABLE_TIMING).unwrap();
    let error = cust_ext::graph::capture(&stream, Default::default(), |stream| {
        forked.record(stream)?;
        cust_ext::stream::wait_event(&fork, &forked)?;
        // SAFETY: the buffers are alive; nothing runs.
        Ok(unsafe { target.async_copy_from(&buffer, &fork) }?)
    })
    .unwrap_err();
    assert_eq!(error.code().unwrap().name(), Some("CUDA_ERROR_STREAM_CAPTURE_UNJOINED"));
    stream.synchronize().unwrap();
}

#[test]
fn what_is_not_there_is_named() {
    let _device = device();
    let null = std::ptr::null_mut();
    // SAFETY: the function is missing, so nothing is dereferenced.
    let code = unsafe { cuda_driver::api::cuArrayGetSparseProperties(null, std::ptr::null_mut()) };
    assert_eq!(code, cuda_driver::ReturnCode::NOT_SUPPORTED);
    let calls = cuda_driver::unavailable_calls();
    let call = calls.iter().find(|call| call.symbol == "cuArrayGetSparseProperties").unwrap();
    assert_eq!(call.to_string(), "virtual NVIDIA H200 has no function cuArrayGetSparseProperties");
}

#[test]
fn functions_are_found_by_the_name_of_the_header() {
    let _device = device();
    let (mut address, mut status) = (std::ptr::null_mut(), 9);
    let mut find = |name: &std::ffi::CStr| {
        // SAFETY: a NUL-terminated name, and two locals to write to.
        let code = unsafe {
            cuda_driver::api::cuGetProcAddress_v2(
                name.as_ptr(),
                &mut address,
                12000,
                0,
                &mut status,
            )
        };
        (code, address.is_null(), status)
    };
    assert_eq!(find(c"cuMemAlloc"), (cuda_driver::ReturnCode::SUCCESS, false, 0));
    assert_eq!(find(c"cuNothing"), (cuda_driver::ReturnCode(500), true, 1));
}

#[test]
fn copies_in_two_dimensions_keep_their_pitch() {
    let _device = device();
    let device = DeviceBuffer::<u8>::zeroed(8 * 4).unwrap();
    let host: Vec<u8> = (0..12).collect();
    // All-zero bytes are no valid `CUDA_MEMCPY2D`, whose enums have no zero, so it is filled in through a pointer.
    let mut descriptor = std::mem::MaybeUninit::<cuda_driver::raw::CUDA_MEMCPY2D>::zeroed();
    let one = descriptor.as_mut_ptr();
    // SAFETY: the descriptor is written field by field, and describes 4 rows of 3 bytes inside both buffers.
    let code = unsafe {
        (*one).srcMemoryType = cuda_driver::raw::CUmemorytype_enum::CU_MEMORYTYPE_HOST;
        (*one).srcHost = host.as_ptr().cast();
        (*one).srcPitch = 3;
        (*one).dstMemoryType = cuda_driver::raw::CUmemorytype_enum::CU_MEMORYTYPE_DEVICE;
        (*one).dstDevice = device.as_device_ptr().as_raw();
        (*one).dstPitch = 8;
        (*one).dstXInBytes = 1;
        (*one).WidthInBytes = 3;
        (*one).Height = 4;
        cuda_driver::api::cuMemcpy2D_v2(one)
    };
    assert_eq!(code, cuda_driver::ReturnCode::SUCCESS);
    let mut back = vec![0u8; 32];
    device.copy_to(&mut back).unwrap();
    assert_eq!(&back[..16], [0, 0, 1, 2, 0, 0, 0, 0, 0, 3, 4, 5, 0, 0, 0, 0]);
}

/// Checks that what ran is told with its stream and times; a warp's requests are told when it is watched.
#[test]
fn operations_and_requests_are_told() {
    let _device = device();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let scale = module.get_function("scale").unwrap();
    let source = LockedBuffer::new(&1.0f32, 1 << 22).unwrap();
    let mut target = LockedBuffer::new(&0.0f32, 1 << 22).unwrap();
    let buffer = DeviceBuffer::from_slice(&source[..]).unwrap();
    let [stream, other] = [(), ()].map(|()| cust_ext::stream::non_blocking(None).unwrap());
    let event = || Event::new(EventFlags::DEFAULT).unwrap();
    let (start, computed, stop) = (event(), event(), event());
    stream.synchronize().unwrap();
    virtual_gpu::operations();
    virtual_gpu::watch(Some(simt::Watched { block: 1, warp: 2 }));
    start.record(&stream).unwrap();
    // SAFETY: pointer, u32 and f32 as the kernel declares them; the buffer has as many values; it and the page-locked
    // memory live until the device was waited for.
    unsafe {
        launch!(scale<<<16384, 256, 0, stream>>>(buffer.as_device_ptr(), 1u32 << 22, 3.0f32))
            .unwrap();
        computed.record(&stream).unwrap();
        cust_ext::stream::wait_event(&other, &computed).unwrap();
        buffer.async_copy_to(&mut target[..], &other).unwrap();
    }
    stop.record(&other).unwrap();
    stop.synchronize().unwrap();
    virtual_gpu::watch(None);
    let elapsed_ns = 1e6 * f64::from(stop.elapsed_time_f32(&start).unwrap());

    let told = virtual_gpu::operations();
    let of_device: Vec<_> = told.iter().filter(|one| one.stream.is_some()).collect();
    let kinds: Vec<&OperationKind> = of_device.iter().map(|one| &one.kind).collect();
    let (name, bytes) = ("scale".to_owned(), 1 << 24);
    assert_eq!(
        kinds,
        [
            &OperationKind::Event,
            &OperationKind::Kernel(name),
            &OperationKind::Event,
            &OperationKind::Wait,
            &OperationKind::DeviceToHost(bytes),
            &OperationKind::Event,
        ]
    );
    let [started, kernel, reached, wait, download, stopped] = of_device[..] else { unreachable!() };
    assert!(started.end_ns <= kernel.start_ns && kernel.end_ns == reached.end_ns);
    assert!(wait.start_ns < wait.end_ns && wait.end_ns == kernel.end_ns);
    assert!(kernel.end_ns <= download.start_ns && download.end_ns == stopped.end_ns);
    approx::assert_abs_diff_eq!(
        stopped.end_ns - started.end_ns,
        elapsed_ns,
        epsilon = 1e-6 * elapsed_ns
    );
    assert_eq!((kernel.stream, wait.stream), (started.stream, stopped.stream));
    assert_ne!(kernel.stream, wait.stream);
    let calls = told.iter().filter(|one| one.stream.is_none());
    assert!(calls.clone().all(|one| matches!(one.kind, OperationKind::Call(_))), "{told:?}");
    assert!(calls.count() >= 6);

    let launches = virtual_gpu::launches();
    let recorded = launches[0].report.instructions.iter().flat_map(|one| &one.requests);
    // Thread 64 of block 1 is number 320.
    let first = buffer.as_device_ptr().as_raw() + 4 * 320;
    let starts: Vec<Option<u64>> = recorded.map(|request| request.lanes[0]).collect();
    assert_eq!(starts, [Some(first), Some(first)]);
}
