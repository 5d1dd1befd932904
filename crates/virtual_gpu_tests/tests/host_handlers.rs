//! Programs with a handler of `SIGSEGV` of their own, from before and from behind the first asynchronous call.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use cust::memory::DeviceBuffer;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use simt::Checks;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use support::done;
use virtual_gpu::{MisuseKind, Options, Profile, misuse};

static CALLS: AtomicU32 = AtomicU32::new(0);

/// Gives the page back, as programs do that guard pages themselves.
extern "C" fn handle(_signal: c_int, about: *mut libc::siginfo_t, _context: *mut c_void) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the system gives what is valid; the page is the test's.
    unsafe {
        let page = (*about).si_addr() as usize & !4095;
        libc::mprotect(std::ptr::with_exposed_provenance_mut(page), 4096, libc::PROT_READ);
    }
}

fn install() {
    // SAFETY: an action whose handler lives as long as the program.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        action.sa_sigaction =
            handle as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()), 0);
    }
}

/// Touches a page of the program's own that has no rights.
fn touch_own() {
    // SAFETY: a new page, which the handler gives back.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(null_mut(), 4096, libc::PROT_NONE, flags, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        page.cast::<u8>().read_volatile();
    }
}

#[test]
fn a_handler_from_before_is_called_and_one_from_behind_has_the_signal() {
    let options = Options { checks: Checks::all(), ..Options::default() };
    let _context = support::open(Profile::named("h200").unwrap(), options);
    let device = DeviceBuffer::<u32>::zeroed(4096).unwrap();
    let mut host = HostBuffer::from_slice(&[7u32; 4096], HostFlags::MAPPED).unwrap();
    let pointer = host.as_mut_ptr();
    let mut stream = null_mut();
    done!(cuStreamCreate(&mut stream, 1));
    done!(cuCtxSynchronize());
    let found = || {
        done!(cuMemcpyDtoHAsync_v2(
            pointer.cast(),
            device.as_device_ptr().as_raw(),
            1 << 14,
            stream
        ));
        // SAFETY: the buffer has the word; that it reads too early is what is tested.
        unsafe { pointer.read_volatile() };
        done!(cuStreamSynchronize(stream));
        misuse()
    };
    install();
    let before = found();
    assert_eq!(before.len(), 1, "{before:?}");
    assert_eq!((before[0].kind, CALLS.load(Ordering::Relaxed)), (MisuseKind::MissingOrder, 0));
    touch_own();
    assert_eq!(CALLS.load(Ordering::Relaxed), 1, "what is not ours is the program's");
    install();
    let behind = found();
    assert_eq!((behind, CALLS.load(Ordering::Relaxed)), (Vec::new(), 1), "no page is taken away");
    touch_own();
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
}
