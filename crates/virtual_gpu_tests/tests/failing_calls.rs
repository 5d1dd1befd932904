//! Calls that fail are listed with reasons, those whose error is an answer are not, and a failure spoils nothing after
//! it.

mod support;

use cuda_driver::{ReturnCode, api};
use cust::context::CurrentContext;
use cust::function::FunctionAttribute;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::prelude::{Event, EventFlags};
use cust_ext::stream::non_blocking;
use simt::Checks;
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use virtual_gpu::{Misuse, MisuseKind, Options, OwnMachine, Profile, misuse};

/// `sh` has 4 bytes of static shared memory, and `two` parameters of 8 and 2 bytes.
const PTX: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry sh(.param .u64 a)
{
    .shared .align 4 .b8 one[4];
    .reg .b64 %rd1; .reg .b32 %r1;
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, 3;
    st.shared.u32 [one], %r1;
    st.shared.u32 [dynamic], %r1;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry two(.param .u64 a, .param .u16 b)
{
    .reg .b64 %rd1; .reg .b16 %h1; .reg .b32 %r1;
    ld.param.u64 %rd1, [a];
    ld.param.u16 %h1, [b];
    cvt.u32.u16 %r1, %h1;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry racy(.param .u64 a)
{
    .shared .align 4 .b8 at[128];
    .reg .b64 %rd<4>; .reg .b32 %r<6>;
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, at;
    shl.b32 %r3, %r1, 2;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    xor.b32 %r4, %r3, 124;
    mov.u32 %r5, at;
    add.u32 %r5, %r5, %r4;
    ld.shared.u32 %r5, [%r5];
    mul.wide.u32 %rd2, %r5, 1048576;
    add.u64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r5;
    ret;
}
"#;

fn open() -> cust::context::Context {
    let options = Options { checks: Checks::all(), ..Options::default() };
    support::open(Profile::named("h100").unwrap(), options)
}

/// The kind, the code and a part of the sentence of the one mistake.
#[track_caller]
fn only(kind: MisuseKind, code: u32, part: &str) {
    let found = misuse();
    let [one] = &found[..] else { panic!("{part}: {found:?}") };
    assert_eq!((one.kind, one.code), (kind, Some(ReturnCode(code))), "{found:?}");
    assert!(one.message.contains(part), "{part}: {found:?}");
}

#[test]
fn a_call_that_fails_is_listed_with_its_reason() {
    let _machine = OwnMachine::new();
    let _context = open();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let out = DeviceBuffer::from_slice(&[0_u32; 32]).unwrap();
    CurrentContext::synchronize().unwrap();
    let address = out.as_device_ptr();
    let stream = non_blocking(None).unwrap();
    let mut shared = module.get_function("sh").unwrap();
    let launch = |function: &cust::function::Function<'_>, bytes: u32| {
        // SAFETY: the kernel takes one pointer, to a word.
        let launched = unsafe { cust::launch!(function<<<1, 32, bytes, stream>>>(address)) };
        stream.synchronize().unwrap();
        launched
    };
    // Static and dynamic shared memory together.
    assert!(launch(&shared, (48 << 10) - 4).is_ok());
    assert_eq!(misuse(), []);
    for bytes in [(48 << 10) - 3, 48 << 10, 64 << 10] {
        assert!(launch(&shared, bytes).is_err());
        only(
            MisuseKind::CallFailed,
            1,
            "MAX_DYNAMIC_SHARED_SIZE_BYTES allows up to 232444 on this device",
        );
    }
    assert_eq!(shared.get_attribute(FunctionAttribute::SharedMemorySizeBytes).unwrap(), 4);
    let set = |bytes| {
        // SAFETY: the handle is that of a living function.
        unsafe { api::cuFuncSetAttribute(shared.to_raw().cast(), 8, bytes) }
    };
    assert_eq!(set(300 << 10), ReturnCode::INVALID_VALUE);
    only(
        MisuseKind::CallFailed,
        1,
        "307200 bytes of dynamic shared memory are asked for; kernel `sh`",
    );
    assert_eq!(set(-1), ReturnCode::INVALID_VALUE);
    only(MisuseKind::CallFailed, 1, "-1 bytes");
    assert_eq!(set(64 << 10), ReturnCode::SUCCESS);
    assert!(launch(&shared, 64 << 10).is_ok());
    shared.set_cache_config(cust::context::CacheConfig::PreferShared).unwrap();
    assert_eq!(misuse(), []);

    assert!(module.get_function("nothere").is_err());
    only(MisuseKind::CallFailed, 500, "`nothere`");
    let newer = PTX.replace(".version 8.0", ".version 9.9");
    assert!(Module::from_ptx(newer, &[]).is_err());
    only(
        MisuseKind::KernelFault,
        222,
        "the PTX is of version 9.9, and this driver loads versions up to 9.",
    );

    let two = module.get_function("two").unwrap();
    for (bytes, refused) in [
        (10_usize, None),
        (16, Some("has 16 bytes and the parameters take 10")),
        (8, Some("has 8 bytes, and `b` ends at byte 10")),
    ] {
        let mut buffer = [0_u8; 16];
        buffer[..8].copy_from_slice(&address.as_raw().to_le_bytes());
        let mut bytes = bytes;
        let mut extra: [*mut c_void; 5] = [
            without_provenance_mut(1),
            (&raw mut buffer).cast(),
            without_provenance_mut(2),
            (&raw mut bytes).cast(),
            null_mut(),
        ];
        let (function, extra) = (two.to_raw().cast(), extra.as_mut_ptr());
        // SAFETY: the list has a buffer and its size, and the kernel takes a pointer to a word and two bytes.
        let code = unsafe {
            api::cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), extra)
        };
        CurrentContext::synchronize().unwrap();
        match refused {
            None => assert_eq!((code, misuse()), (ReturnCode::SUCCESS, vec![])),
            Some(part) => only(MisuseKind::CallFailed, 1, part),
        }
    }
    // Once for a call and a reason, with the number of times.
    for _ in 0..3 {
        // SAFETY: the handle is none.
        let code = unsafe { api::cuStreamSynchronize(without_provenance_mut(0x50)) };
        assert_eq!(code, ReturnCode(400));
    }
    let found = misuse();
    assert_eq!((found.len(), found[0].count), (1, 3), "{found:?}");
    assert!(found[0].to_string().contains("[CUDA_ERROR_INVALID_HANDLE (400)]"), "{found:?}");
}

#[test]
fn an_error_that_is_an_answer_is_no_mistake() {
    let _machine = OwnMachine::new();
    let context = open();
    let event = Event::new(EventFlags::DISABLE_TIMING).unwrap();
    let stream = non_blocking(None).unwrap();
    let memory = DeviceBuffer::<u8>::zeroed(1 << 26).unwrap();
    CurrentContext::synchronize().unwrap();
    // SAFETY: the memory outlives the wait, and each place is one for the result.
    unsafe {
        assert_eq!(
            api::cuMemsetD8Async(
                memory.as_device_ptr().as_raw(),
                1,
                1 << 26,
                stream.as_inner().cast()
            ),
            ReturnCode::SUCCESS
        );
        event.record(&stream).unwrap();
        assert_eq!(event.query().unwrap(), cust::event::EventStatus::NotReady);
        let mut kind = 0_u32;
        let on_stack = (&raw const kind).addr() as u64;
        let asked = api::cuPointerGetAttribute((&raw mut kind).cast(), 2, on_stack);
        assert_eq!(asked, ReturnCode::INVALID_VALUE);
        let (mut address, mut status) = (null_mut(), 0);
        let name = c"cuNoSuchFunction".as_ptr();
        let asked = api::cuGetProcAddress_v2(name, &raw mut address, 12_000, 0, &raw mut status);
        assert_eq!(asked, ReturnCode(500));
        let mut device = 0;
        assert_eq!(api::cuCtxSetCurrent(null_mut()), ReturnCode::SUCCESS);
        assert_eq!(api::cuCtxGetDevice(&raw mut device), ReturnCode(201));
    }
    CurrentContext::set_current(&context).unwrap();
    CurrentContext::synchronize().unwrap();
    assert_eq!(misuse(), []);
}

#[test]
fn what_was_found_before_a_fault_is_told_with_it_and_the_next_machine_is_whole() {
    for _ in 0..2 {
        let _machine = OwnMachine::new();
        let _context = open();
        let module = Module::from_ptx(PTX, &[]).unwrap();
        let racy = module.get_function("racy").unwrap();
        let stream = non_blocking(None).unwrap();
        let out = DeviceBuffer::from_slice(&[0_u32; 4]).unwrap();
        CurrentContext::synchronize().unwrap();
        misuse();
        virtual_gpu::launches();
        let address = out.as_device_ptr();
        // SAFETY: that the kernel leaves the memory is what the test is for.
        unsafe { cust::launch!(racy<<<1, 64, 0, stream>>>(address)) }.unwrap();
        assert!(stream.synchronize().is_err());
        let kinds = |found: &[Misuse]| found.iter().map(|one| one.kind).collect::<Vec<_>>();
        let found = misuse();
        assert!(kinds(&found).starts_with(&[MisuseKind::KernelHazard]), "{found:?}");
        assert!(kinds(&found).contains(&MisuseKind::KernelFault), "{found:?}");
        let launches = virtual_gpu::launches();
        assert_eq!(launches.len(), 1);
        assert!(!launches[0].report.findings.is_empty());
        assert!(launches[0].fault.as_ref().is_some_and(|fault| fault.contains("illegal address")));
        // From here on every call fails, which is no mistake of its own.
        assert!(out.copy_to(&mut [0; 4]).is_err());
        let found = misuse();
        assert_eq!(kinds(&found), [MisuseKind::FailedSince], "{found:?}");
        assert!(found[0].kind.is_advice());
        virtual_gpu::forget_failure();
    }
}

#[test]
fn device_memory_that_nobody_wrote_is_told_when_it_is_read_back() {
    let _machine = OwnMachine::new();
    let _context = open();
    for (written, kind) in [
        (0, Some(MisuseKind::UnwrittenMemory)),
        (24, Some(MisuseKind::PartlyUnwritten)),
        (64, None),
    ] {
        // SAFETY: that bytes are not written is what the test is for; any bytes are a value.
        let memory = unsafe { DeviceBuffer::<u8>::uninitialized(64) }.unwrap();
        // SAFETY: as above.
        let copied = unsafe { DeviceBuffer::<u8>::uninitialized(64) }.unwrap();
        if written > 0 {
            memory.index(..written).copy_from(&vec![1; written][..]).unwrap();
        }
        CurrentContext::synchronize().unwrap();
        for _ in 0..2 {
            memory.copy_to(&mut [0; 64]).unwrap();
        }
        let kinds = misuse().iter().map(|one| one.kind).collect::<Vec<_>>();
        assert_eq!(kinds, kind.into_iter().collect::<Vec<_>>(), "{written}");
        // A copy hands on what it found.
        let mut copied = copied;
        copied.copy_from(&memory).unwrap();
        CurrentContext::synchronize().unwrap();
        copied.copy_to(&mut [0; 64]).unwrap();
        let kinds = misuse().iter().map(|one| one.kind).collect::<Vec<_>>();
        assert_eq!(kinds, kind.into_iter().collect::<Vec<_>>(), "a copy, {written}");
    }
}
