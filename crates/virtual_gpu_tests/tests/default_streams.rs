//! The default stream of a thread: what `cuGetProcAddress` gives a program that asks for it, and what it is ordered with.

mod support;

use cuda_driver::{ReturnCode, api};
use cust::context::{ContextHandle, CurrentContext};
use cust::memory::DeviceBuffer;
use cust::prelude::{Stream, StreamFlags};
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use virtual_gpu::{MisuseKind, Options, Profile, misuse};

type Fill = unsafe extern "C" fn(u64, u8, usize, *mut c_void) -> ReturnCode;
type Synchronize = unsafe extern "C" fn(*mut c_void) -> ReturnCode;

/// Two functions as a program gets them that asks with these flags: 1 for the legacy default stream, 2 for a thread's own.
fn functions(flags: u64) -> (Fill, Synchronize) {
    let find = |name: &std::ffi::CStr| {
        let (mut address, mut status): (*mut c_void, c_uint) = (null_mut(), 9);
        // SAFETY: the name ends with a zero byte, and both results have a place.
        let code = unsafe {
            api::cuGetProcAddress_v2(
                name.as_ptr(),
                &raw mut address,
                12_000,
                flags,
                &raw mut status,
            )
        };
        assert_eq!((code, status), (ReturnCode::SUCCESS, 0), "{name:?}");
        address
    };
    // SAFETY: these are the functions' types in the driver's header.
    unsafe {
        (
            std::mem::transmute::<*mut c_void, Fill>(find(c"cuMemsetD8Async")),
            std::mem::transmute::<*mut c_void, Synchronize>(find(c"cuStreamSynchronize")),
        )
    }
}

/// Fills the same memory on stream 0 and, with nothing between, on another; waits for the other only.
fn two_fills(first: impl FnOnce(), second: impl FnOnce()) -> usize {
    first();
    second();
    CurrentContext::synchronize().unwrap();
    let found = misuse();
    assert!(found.iter().all(|one| one.kind == MisuseKind::MissingOrder), "{found:?}");
    found.len()
}

#[test]
fn stream_zero_is_the_threads_own_where_the_program_asks_for_it() {
    let context = support::open(Profile::named("h200").unwrap(), Options::default());
    let memory = DeviceBuffer::<u8>::zeroed(64).unwrap();
    CurrentContext::synchronize().unwrap();
    let address = memory.as_device_ptr().as_raw();
    let blocking = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    let zero = null_mut();
    // SAFETY: the memory has 64 bytes and outlives the waits; the streams exist.
    let fill = |with: Fill, stream: *mut c_void| unsafe {
        assert_eq!(with(address, 1, 64, stream), ReturnCode::SUCCESS);
    };
    // SAFETY: as above.
    let wait = |with: Synchronize, stream: *mut c_void| unsafe {
        assert_eq!(with(stream), ReturnCode::SUCCESS);
    };
    let other: *mut c_void = blocking.as_inner().cast();

    for (flags, missing) in [(0, 0), (1, 0), (2, 1)] {
        let (set, synchronize) = functions(flags);
        let found = two_fills(
            || fill(set, zero),
            || {
                fill(set, other);
                wait(synchronize, other);
            },
        );
        assert_eq!(found, missing, "flags {flags}: a blocking stream follows the legacy one alone");
    }

    let (own, wait_own) = functions(2);
    let found = two_fills(|| fill(own, zero), || wait(wait_own, zero));
    assert_eq!(found, 0, "the thread waits for its own");
    let (legacy, _) = functions(1);
    let found = two_fills(|| fill(own, zero), || fill(legacy, zero));
    assert_eq!(found, 0, "the legacy default stream follows it");

    // Another thread has another.
    fill(own, zero);
    let raw = context.get_inner().expose_provenance();
    std::thread::spawn(move || {
        let context = std::ptr::with_exposed_provenance_mut(raw);
        // SAFETY: the context lives until the thread has ended, and so does the memory.
        unsafe {
            assert_eq!(api::cuCtxSetCurrent(context), ReturnCode::SUCCESS);
            assert_eq!(own(address, 2, 64, null_mut()), ReturnCode::SUCCESS);
            assert_eq!(wait_own(null_mut()), ReturnCode::SUCCESS);
        }
    })
    .join()
    .unwrap();
    CurrentContext::synchronize().unwrap();
    assert_eq!(misuse().len(), 1, "two threads' default streams are not ordered");
}
