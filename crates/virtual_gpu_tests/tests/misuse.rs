//! One planted mistake per class, each found and named. The last one breaks the context, so all are one test.

mod support;

use cust::launch;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, LockedBuffer};
use cust::module::Module;
use cust_ext::stream::non_blocking;
use virtual_gpu::{Misuse, MisuseKind, Options, Profile, misuse};

const PTX: &str = r#"
.version 7.8
.target sm_70
.address_size 64
.visible .entry store(.param .u64 target)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [target];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 7;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry contracted(.param .u64 target)
{
    .reg .b64 %rd<3>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd1, [target];
    cvta.to.global.u64 %rd2, %rd1;
    mov.f32 %f1, 0f3F800000;
    mul.f32 %f2, %f1, %f1;
    add.f32 %f3, %f2, %f1;
    st.global.f32 [%rd2], %f3;
    ret;
}
"#;

#[track_caller]
fn only(kind: MisuseKind, found: Vec<Misuse>) -> String {
    assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), [kind], "{found:?}");
    found[0].to_string()
}

#[test]
fn each_planted_mistake_is_found() {
    let context = support::open(Profile::named("a100").unwrap(), Options::default());
    assert_eq!(misuse(), []);

    without_a_context();
    pageable_memory_in_an_asynchronous_copy();
    a_host_buffer_changed_under_a_copy();
    a_host_buffer_freed_under_a_copy();
    streams_that_are_not_ordered();
    a_copy_past_an_allocation();
    a_double_free();
    a_leak();
    a_program_without_mistakes();
    a_kernel_that_the_assembler_may_contract();
    // The last one: it breaks the context.
    a_kernel_that_uses_freed_memory();
    drop(context);
}

fn without_a_context() {
    let error = std::thread::spawn(|| DeviceBuffer::<u8>::zeroed(16).map(drop).unwrap_err())
        .join()
        .unwrap();
    assert_eq!(error, cust::error::CudaError::InvalidContext);
    let found = misuse();
    assert!(
        found[0].location.as_deref().is_some_and(|at| at.contains("tests/misuse.rs:")),
        "{found:?}"
    );
    let message = only(MisuseKind::Context, found);
    let expected = "cuMemAlloc_v2: no context is current on this thread; make one current first \
         [CUDA_ERROR_INVALID_CONTEXT (201)] (at ";
    assert!(message.starts_with(expected), "{message}");
}

fn pageable_memory_in_an_asynchronous_copy() {
    let stream = non_blocking(None).unwrap();
    let values = vec![1u8; 64];
    let mut device = zeroed(64);
    // SAFETY: the buffers outlive the synchronization.
    unsafe { device.async_copy_from(&values, &stream) }.unwrap();
    stream.synchronize().unwrap();
    assert!(only(MisuseKind::PageableAsyncCopy, misuse()).contains("will not overlap"));
}

fn a_host_buffer_changed_under_a_copy() {
    let stream = non_blocking(None).unwrap();
    let mut host = LockedBuffer::new(&1u8, 64).unwrap();
    let mut device = zeroed(64);
    // SAFETY: the buffers outlive the synchronization; that the host writes one is the mistake, and on the virtual
    // device nothing else touches the memory meanwhile.
    unsafe { device.async_copy_from(&host, &stream) }.unwrap();
    host[3] = 9;
    stream.synchronize().unwrap();
    assert!(
        only(MisuseKind::HostMemoryChanged, misuse())
            .starts_with("cuMemcpyHtoDAsync_v2: the host changed memory")
    );
}

fn a_host_buffer_freed_under_a_copy() {
    let stream = non_blocking(None).unwrap();
    let host = LockedBuffer::new(&1u8, 64).unwrap();
    let mut device = zeroed(64);
    // SAFETY: freeing the buffer early is the mistake; the virtual device does the copy first.
    unsafe { device.async_copy_from(&host, &stream) }.unwrap();
    drop(host);
    stream.synchronize().unwrap();
    assert!(
        only(MisuseKind::HostMemoryFreed, misuse())
            .starts_with("cuMemFreeHost: the host frees memory")
    );
}

fn streams_that_are_not_ordered() {
    let stream = non_blocking(None).unwrap();
    let host = LockedBuffer::new(&5u8, 64).unwrap();
    // cust zeroes on the legacy default stream and does not wait, and a non-blocking stream does not wait for it.
    let mut device = DeviceBuffer::<u8>::zeroed(64).unwrap();
    // SAFETY: the buffers outlive the synchronization.
    unsafe { device.async_copy_from(&host, &stream) }.unwrap();
    stream.synchronize().unwrap();
    let message = only(MisuseKind::MissingOrder, misuse());
    assert!(
        message.contains("before an earlier cuMemsetD8_v2 that uses the same memory"),
        "{message}"
    );
}

/// Zeroed memory that any stream may use.
fn zeroed(bytes: usize) -> DeviceBuffer<u8> {
    let buffer = DeviceBuffer::zeroed(bytes).unwrap();
    cust::context::CurrentContext::synchronize().unwrap();
    buffer
}

fn a_copy_past_an_allocation() {
    let device = DeviceBuffer::<u8>::zeroed(100).unwrap();
    let mut host = [0u8; 101];
    // SAFETY: the host side has 101 bytes; that the device side has not is the mistake.
    let code = unsafe {
        cuda_driver::api::cuMemcpyDtoH_v2(
            host.as_mut_ptr().cast(),
            device.as_device_ptr().as_raw(),
            101,
        )
    };
    assert_eq!(code, cuda_driver::ReturnCode::INVALID_VALUE);
    assert!(only(MisuseKind::OutOfBounds, misuse()).contains("101 bytes at"));
}

fn a_double_free() {
    let device = std::mem::ManuallyDrop::new(DeviceBuffer::<u8>::zeroed(100).unwrap());
    let address = device.as_device_ptr().as_raw();
    // SAFETY: the first call frees the buffer, which is not used again; the second is the mistake.
    let codes = unsafe {
        [cuda_driver::api::cuMemFree_v2(address), cuda_driver::api::cuMemFree_v2(address)]
    };
    assert_eq!(codes, [cuda_driver::ReturnCode::SUCCESS, cuda_driver::ReturnCode::INVALID_VALUE]);
    assert!(only(MisuseKind::DoubleFree, misuse()).contains("freed allocation of 100 bytes"));
}

fn a_leak() {
    assert_eq!(virtual_gpu::leaks(), []);
    let leaked = std::mem::ManuallyDrop::new(DeviceBuffer::<u8>::zeroed(100).unwrap());
    assert!(only(MisuseKind::Leak, virtual_gpu::leaks()).contains("100 bytes of device memory"));
    drop(std::mem::ManuallyDrop::into_inner(leaked));
    assert_eq!(virtual_gpu::leaks(), []);
}

fn a_program_without_mistakes() {
    let stream = non_blocking(None).unwrap();
    let host = LockedBuffer::new(&5u8, 64).unwrap();
    let mut back = LockedBuffer::new(&0u8, 64).unwrap();
    let mut device = zeroed(64);
    // SAFETY: the buffers outlive the synchronization, and the host waits for it.
    unsafe {
        device.async_copy_from(&host, &stream).unwrap();
        device.async_copy_to(&mut back, &stream).unwrap();
        // The device itself changes `back` before this copy reads it, which is no mistake.
        device.async_copy_from(&back, &stream).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(back.as_slice(), [5; 64]);
    assert_eq!(misuse(), []);
}

/// Told once, and no error.
fn a_kernel_that_the_assembler_may_contract() {
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let kernel = module.get_function("contracted").unwrap();
    let stream = non_blocking(None).unwrap();
    let buffer = zeroed(4);
    for _ in 0..2 {
        // SAFETY: the kernel writes the buffer's four bytes.
        unsafe { launch!(kernel<<<1, 1, 0, stream>>>(buffer.as_device_ptr())) }.unwrap();
        stream.synchronize().unwrap();
    }
    let told = only(MisuseKind::Contraction, misuse());
    assert!(told.contains("kernel `contracted`: `mul.f32` at PTX line 22 and `add.f32`"), "{told}");
    assert!(MisuseKind::Contraction.is_advice());
}

fn a_kernel_that_uses_freed_memory() {
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let store = module.get_function("store").unwrap();
    let stream = non_blocking(None).unwrap();
    let device = DeviceBuffer::<u32>::zeroed(16).unwrap();
    let pointer = device.as_device_ptr();
    drop(device);
    // SAFETY: using the freed buffer is the mistake; the virtual device touches no memory for it.
    unsafe { launch!(store<<<1, 1, 0, stream>>>(pointer)) }.unwrap();
    assert_eq!(stream.synchronize().unwrap_err(), cust::error::CudaError::IllegalAddress);
    let (since, found) = misuse().into_iter().partition(|one| one.kind == MisuseKind::FailedSince);
    assert!(only(MisuseKind::FailedSince, since).contains("[CUDA_ERROR_ILLEGAL_ADDRESS (700)]"));
    let message = only(MisuseKind::KernelFault, found);
    assert!(message.starts_with("cuLaunchKernel: illegal address"), "{message}");
    assert!(message.contains("freed allocation of 64 bytes"), "{message}");
    // The error is sticky, as on a GPU.
    let mut buffer = [0u8; 4];
    let after = DeviceBuffer::<u8>::zeroed(4).and_then(|device| device.copy_to(&mut buffer));
    assert_eq!(after.unwrap_err(), cust::error::CudaError::IllegalAddress);
}
