//! Output of kernels that is more than the buffer of `printf` holds.

mod support;

use cust::context::{CurrentContext, ResourceLimit};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use simt::Checks;
use virtual_gpu::{Options, Profile, misuse};

/// Prints a number of lines without arguments.
const PTX: &str = "
.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[3] = {46, 10, 0};
.visible .entry prints(.param .u32 lines)
{
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u32 %r1, [lines];
    mov.b64 %rd1, text;
    mov.b64 %rd2, 0;
AGAIN:
    { .param .b64 format; st.param.b64 [format+0], %rd1;
      .param .b64 arguments; st.param.b64 [arguments+0], %rd2;
      .param .b32 result; call.uni (result), vprintf, (format, arguments); }
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    ret;
}
";

#[test]
fn output_that_the_buffer_cannot_hold_is_told() {
    let options = Options { checks: Checks::all(), prints: false, ..Options::default() };
    let _context = support::open(Profile::named("h200").unwrap(), options);
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    let prints = |lines: u32| {
        let function = module.get_function("prints").unwrap();
        // SAFETY: the kernel takes a number.
        unsafe { cust::launch!(function<<<1, 1, 0, stream>>>(lines)) }.unwrap();
        stream.synchronize().unwrap();
        misuse()
    };
    // Each takes at least 8 bytes of the buffer, which has half a MiB at least.
    CurrentContext::set_resource_limit(ResourceLimit::PrintfFifoSize, 4096).unwrap();
    let bytes = CurrentContext::get_resource_limit(ResourceLimit::PrintfFifoSize).unwrap();
    assert_eq!(bytes, 1 << 19);
    assert_eq!(prints(1 << 16), []);
    let found = prints((1 << 16) + 1);
    let message = found.first().expect("the oldest line may be lost").to_string();
    assert!(message.contains("overwrites the oldest"), "{message}");
}
