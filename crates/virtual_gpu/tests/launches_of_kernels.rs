//! Kernels that kernels launch (dynamic parallelism), as nvcc calls them.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use simt::Checks;
use std::ffi::c_void;
use std::ptr::null_mut;
use support::done;
use virtual_gpu::{Options, OwnMachine, Profile};

/// `child` adds to the words of an array; thread 0 of each block of `parent` launches it twice, and stores behind that;
/// `deep` launches itself, and `wrong` a child of no threads.
fn ptx() -> String {
    let launch = |value: u32, threads: u32| {
        format!(
            "{{ .param .b64 p0; st.param.b64 [p0], %rd2; .param .align 4 .b8 p1[12]; st.param.b32 [p1], 1;
              st.param.b32 [p1+4], 1; st.param.b32 [p1+8], 1; .param .align 4 .b8 p2[12]; st.param.b32 [p2], {threads};
              st.param.b32 [p2+4], 1; st.param.b32 [p2+8], 1; .param .b32 p3; st.param.b32 [p3], 0; .param .b64 r;
              call.uni (r), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3); ld.param.b64 %rd3, [r]; }}
              setp.eq.u64 %p1, %rd3, 0; @%p1 bra END;
              st.u64 [%rd3], %rd1; st.u32 [%rd3+8], {value};
              {{ .param .b64 p0; st.param.b64 [p0], %rd3; .param .b64 p1; st.param.b64 [p1], 0; .param .b32 r;
              call.uni (r), __cudaCDP2LaunchDeviceV2, (p0, p1); ld.param.b32 %r3, [r]; }}"
        )
    };
    let parent = |name: &str, child: &str, launches: String| {
        format!(
            ".visible .entry {name}(.param .u64 array, .param .u32 value)\n{{
              .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<5>; ld.param.u64 %rd1, [array];
              mov.u32 %r1, %tid.x; setp.ne.u32 %p2, %r1, 0; @%p2 bra END; mov.u64 %rd2, {child};
              {launches}\nEND: ret;\n}}\n"
        )
    };
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64
         .extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
         (.param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
         .extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a, .param .b64 b);
         .visible .entry child(.param .u64 array, .param .u32 value)\n{{
         .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [array]; ld.param.u32 %r1, [value];
         mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
         ld.global.u32 %r3, [%rd3]; mul.lo.u32 %r3, %r3, 10; add.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret;\n}}\n{}{}{}\0",
        parent("parent", "child", launch(5, 32) + &launch(7, 32)),
        parent("deep", "deep", launch(0, 32)),
        parent("wrong", "child", launch(0, 0)),
    )
}

/// Runs a kernel of blocks of 32 threads; gives what it returned, the words of the array, and what was found.
fn run(kernel: &str, blocks: u32) -> (ReturnCode, [u32; 32], Vec<String>) {
    let _own = OwnMachine::new();
    let options = Options { checks: Checks::all(), ..Options::default() };
    let _context = support::open(Profile::named("h200").unwrap(), options);
    let (mut module, mut function, mut array) = (null_mut(), null_mut(), 0u64);
    let (text, name) = (ptx(), format!("{kernel}\0"));
    done!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    done!(cuModuleGetFunction(&mut function, module, name.as_ptr().cast()));
    done!(cuMemAlloc_v2(&mut array, 128));
    done!(cuMemsetD32_v2(array, 1, 32));
    let mut value = 0u32;
    let mut arguments: [*mut c_void; 2] = [(&raw mut array).cast(), (&raw mut value).cast()];
    let stream = null_mut();
    done!(cuLaunchKernel(
        function,
        blocks,
        1,
        1,
        32,
        1,
        1,
        0,
        stream,
        arguments.as_mut_ptr(),
        null_mut()
    ));
    // SAFETY: it takes nothing.
    let code = unsafe { cuCtxSynchronize() };
    let mut words = [0u32; 32];
    if code == ReturnCode::SUCCESS {
        done!(cuMemcpyDtoH_v2((&raw mut words).cast(), array, 128));
    }
    (code, words, virtual_gpu::misuse().into_iter().map(|one| one.message).collect())
}

#[test]
fn launches_of_a_block_follow_each_other() {
    let (code, words, found) = run("parent", 1);
    assert_eq!(code, ReturnCode::SUCCESS, "{found:?}");
    assert_eq!(words, [157; 32], "(1 * 10 + 5) * 10 + 7");
    assert_eq!(found, [""; 0]);
}

#[test]
fn launches_of_two_blocks_may_run_at_the_same_time() {
    let (code, _, found) = run("parent", 2);
    assert_eq!(code, ReturnCode::SUCCESS, "{found:?}");
    let races = found.iter().filter(|one| one.contains("kernel `child` may run at the same time"));
    assert_eq!(races.count(), found.len(), "{found:?}");
    assert!(!found.is_empty());
}

#[test]
fn launches_end_where_cuda_ends_them_and_failures_are_told() {
    let (code, _, found) = run("deep", 1);
    assert_ne!(code, ReturnCode::SUCCESS);
    assert!(found.iter().any(|one| one.contains("24 deep")), "{found:?}");
    let (code, _, found) = run("wrong", 1);
    assert_ne!(code, ReturnCode::SUCCESS);
    assert!(
        found.iter().any(|one| one.contains("launches kernel `child`, which fails")),
        "{found:?}"
    );
}
