//! A host and a kernel that wait for each other by memory that both have, without a call of the driver.

mod support;

use cust::module::Module;
use cust_ext::host_memory::{HostBuffer, HostFlags};
use cust_ext::stream::non_blocking;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use virtual_gpu::{Options, Profile, misuse};

/// `tell` writes 1 to the second word. `answer` waits for 1, 2, .. in the first, writes each to the second, and ends at 5.
const PTX: &str = "
.version 7.8
.target sm_70
.address_size 64
.visible .entry tell(.param .u64 words)
{
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, 1;
    st.release.sys.global.u32 [%rd1+4], %r1;
    ret;
}
.visible .entry answer(.param .u64 words)
{
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, 1;
WAIT:
    ld.acquire.sys.global.u32 %r2, [%rd1];
    setp.ne.u32 %p1, %r2, %r1;
    @%p1 bra WAIT;
    st.release.sys.global.u32 [%rd1+4], %r2;
    add.u32 %r1, %r1, 1;
    setp.ne.u32 %p2, %r2, 5;
    @%p2 bra WAIT;
    ret;
}
";

/// Waits for a value as programs do, but not for ever.
fn poll(word: &AtomicU32, value: u32) {
    let start = Instant::now();
    while word.load(Ordering::Acquire) != value {
        assert!(start.elapsed() < Duration::from_secs(30), "the kernel has not written {value}");
        std::hint::spin_loop();
    }
}

#[test]
fn a_host_and_a_kernel_may_wait_for_each_other() {
    let _context = support::open(Profile::named("h200").unwrap(), Options::default());
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let stream = non_blocking(None).unwrap();
    let mut words = HostBuffer::from_slice(&[0u32; 2], HostFlags::MAPPED).unwrap();
    let device = words.device_pointer().unwrap();
    let pointer: *mut u32 = words.as_mut_ptr();
    // SAFETY: the words live until the end, are aligned, and are used as atomics alone.
    let [ask, told] = [0, 1].map(|word| unsafe { AtomicU32::from_ptr(pointer.add(word)) });
    let launch = |kernel: &str| {
        let function = module.get_function(kernel).unwrap();
        // SAFETY: the kernels take a pointer to two words.
        unsafe { cust::launch!(function<<<1, 1, 0, stream>>>(device)) }.unwrap();
    };
    launch("tell");
    poll(told, 1);
    told.store(0, Ordering::Release);
    launch("answer");
    for turn in 1..=5 {
        // Longer than it takes to prove that the kernel alone would not end.
        thread::sleep(Duration::from_millis(20));
        ask.store(turn, Ordering::Release);
        poll(told, turn);
    }
    stream.synchronize().unwrap();
    assert_eq!(misuse(), []);
    // Nobody asks any more.
    launch("answer");
    stream.synchronize().unwrap_err();
    let found = misuse();
    let message = found.first().expect("a kernel that never ends is a fault").to_string();
    assert!(message.contains("nor has the host"), "{message}");
}
