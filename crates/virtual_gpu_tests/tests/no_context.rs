//! Calls on a thread without a current context: what names a stream, an event or memory brings its own. The codes are those
//! of an H100's driver.

mod support;

use cuda_driver::{ReturnCode, api};
use cust::context::CurrentContext;
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer};
use cust::module::Module;
use cust_ext::stream::non_blocking;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use virtual_gpu::{Options, Topology};

const INVALID_CONTEXT: ReturnCode = ReturnCode(201);
const SUCCESS: ReturnCode = ReturnCode::SUCCESS;
const WORDS: usize = 32;

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// A place for an answer that nobody reads.
fn any<T>() -> MaybeUninit<T> {
    MaybeUninit::uninit()
}

#[test]
fn a_stream_an_event_and_memory_bring_their_context() {
    support::select(Topology::named("h100x2").unwrap(), Options::default());
    for ordinal in [0, 1] {
        let (_, context) = cust_ext::device::open(ordinal).unwrap();
        let module =
            Module::from_ptx(support::ptx(&[("store", "st.global.u32 [%rd3], %r1;")]), &[])
                .unwrap();
        let store = module.get_function("store").unwrap();
        let stream = non_blocking(None).unwrap();
        let mut event = null_mut();
        // SAFETY: a place for a handle; a context is current.
        assert_eq!(unsafe { api::cuEventCreate(&raw mut event, 0) }, SUCCESS);
        let memory = DeviceBuffer::<u32>::zeroed(WORDS).unwrap();
        let freed = DeviceBuffer::<u32>::zeroed(WORDS).unwrap();
        let host = LockedBuffer::new(&7u32, WORDS).unwrap();
        CurrentContext::synchronize().unwrap();

        let address = memory.as_device_ptr().as_raw();
        let freed = std::mem::ManuallyDrop::new(freed).as_device_ptr().as_raw();
        let (kernel, queue) = (store.to_raw() as usize, stream.as_inner() as usize);
        let (event, source) = (event as usize, host.as_ptr() as usize);
        let answers = std::thread::spawn(move || {
            let created = queue as *mut _;
            let default = null_mut();
            let event = event as *mut _;
            let bytes = WORDS * 4;
            let mut argument = address;
            let mut arguments = [(&raw mut argument).cast::<c_void>()];
            // SAFETY: the handles and buffers live until the thread was joined, and the answers have their types' places.
            unsafe {
                let mut launch = |stream| {
                    let parameters = arguments.as_mut_ptr();
                    api::cuLaunchKernel(
                        kernel as *mut _,
                        1,
                        1,
                        1,
                        32,
                        1,
                        1,
                        0,
                        stream,
                        parameters,
                        null_mut(),
                    )
                };
                let copy =
                    |stream| api::cuMemcpyHtoDAsync_v2(address, source as *const _, bytes, stream);
                let allocate = |stream| api::cuMemAllocAsync(any().as_mut_ptr(), 0, stream);
                vec![
                    ("copy", copy(created), SUCCESS),
                    ("copy, default stream", copy(default), INVALID_CONTEXT),
                    (
                        "copy, synchronous",
                        api::cuMemcpyHtoD_v2(address, source as *const _, bytes),
                        INVALID_CONTEXT,
                    ),
                    ("fill", api::cuMemsetD8Async(address, 0, bytes, created), SUCCESS),
                    ("fill, synchronous", api::cuMemsetD8_v2(address, 0, bytes), INVALID_CONTEXT),
                    ("launch", launch(created), SUCCESS),
                    ("launch, default stream", launch(default), INVALID_CONTEXT),
                    (
                        "host function",
                        api::cuLaunchHostFunc(created, Some(nothing), null_mut()),
                        SUCCESS,
                    ),
                    ("record", api::cuEventRecord(event, created), SUCCESS),
                    ("record, default stream", api::cuEventRecord(event, default), INVALID_CONTEXT),
                    ("wait for the event", api::cuEventSynchronize(event), SUCCESS),
                    ("ask for the event", api::cuEventQuery(event), SUCCESS),
                    ("stream waits", api::cuStreamWaitEvent(created, event, 0), SUCCESS),
                    (
                        "default stream waits",
                        api::cuStreamWaitEvent(default, event, 0),
                        INVALID_CONTEXT,
                    ),
                    ("wait", api::cuStreamSynchronize(created), SUCCESS),
                    ("wait, default stream", api::cuStreamSynchronize(default), INVALID_CONTEXT),
                    ("ask", api::cuStreamQuery(created), SUCCESS),
                    ("flags", api::cuStreamGetFlags(created, any().as_mut_ptr()), SUCCESS),
                    (
                        "flags, default stream",
                        api::cuStreamGetFlags(default, any().as_mut_ptr()),
                        INVALID_CONTEXT,
                    ),
                    ("capture", api::cuStreamBeginCapture_v2(created, 0), SUCCESS),
                    ("capture ends", api::cuStreamEndCapture(created, any().as_mut_ptr()), SUCCESS),
                    ("pool", allocate(created), SUCCESS),
                    ("pool, default stream", allocate(default), INVALID_CONTEXT),
                    (
                        "attribute",
                        api::cuPointerGetAttribute(any::<u32>().as_mut_ptr().cast(), 2, address),
                        SUCCESS,
                    ),
                    (
                        "range",
                        api::cuMemGetAddressRange_v2(null_mut(), any().as_mut_ptr(), address),
                        INVALID_CONTEXT,
                    ),
                    ("allocate", api::cuMemAlloc_v2(any().as_mut_ptr(), bytes), INVALID_CONTEXT),
                    ("free", api::cuMemFree_v2(freed), SUCCESS),
                    ("device", api::cuCtxGetDevice(any().as_mut_ptr()), INVALID_CONTEXT),
                    ("event", api::cuEventCreate(any().as_mut_ptr(), 0), INVALID_CONTEXT),
                ]
            }
        });
        for (call, answer, expected) in answers.join().unwrap() {
            assert_eq!(answer, expected, "{call} on device {ordinal}");
        }
        let mut found = vec![0; WORDS];
        memory.copy_to(&mut found).unwrap();
        assert_eq!(found, vec![1; WORDS]);
        drop(context);
    }
}
