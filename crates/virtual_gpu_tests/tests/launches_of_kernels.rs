//! Kernels that kernels launch (dynamic parallelism), as nvcc calls them.

mod support;

use cuda_driver::ReturnCode;
use cuda_driver::api::*;
use simt::Checks;
use std::ffi::c_void;
use std::ptr::null_mut;
use support::done;
use virtual_gpu::{Options, OwnMachine, Profile};

/// `child` adds to the words of an array; thread 0 of each block of `parent` launches it twice, `deep` launches itself, and
/// `wrong` a child of no threads. The others use the rest of the runtime for devices.
fn ptx() -> String {
    let launch_into = |value: u32, threads: u32, stream: &str| {
        format!(
            "{{ .param .b64 p0; st.param.b64 [p0], %rd2; .param .align 4 .b8 p1[12]; st.param.b32 [p1], 1;
              st.param.b32 [p1+4], 1; st.param.b32 [p1+8], 1; .param .align 4 .b8 p2[12]; st.param.b32 [p2], {threads};
              st.param.b32 [p2+4], 1; st.param.b32 [p2+8], 1; .param .b32 p3; st.param.b32 [p3], 0; .param .b64 r;
              call.uni (r), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3); ld.param.b64 %rd3, [r]; }}
              setp.eq.u64 %p1, %rd3, 0; @%p1 bra END;
              st.u64 [%rd3], %rd1; st.u32 [%rd3+8], {value};
              {{ .param .b64 p0; st.param.b64 [p0], %rd3; .param .b64 p1; st.param.b64 [p1], {stream}; .param .b32 r;
              call.uni (r), __cudaCDP2LaunchDeviceV2, (p0, p1); ld.param.b32 %r3, [r]; }}"
        )
    };
    let launch = |value: u32, threads: u32| launch_into(value, threads, "0");
    // A call of the runtime for devices, whose arguments are the parameters' types and values.
    let call = |name: &str, arguments: &[(&str, &str)]| {
        let parameters = arguments.iter().enumerate();
        let stores = parameters.clone().map(|(at, (kind, value))| {
            format!(".param .{kind} p{at}; st.param.{kind} [p{at}], {value};")
        });
        let names: Vec<String> = parameters.map(|(at, _)| format!("p{at}")).collect();
        format!(
            "{{ {} .param .b32 r; call.uni (r), __cudaCDP2{name}, ({}); ld.param.b32 %r3, [r]; }} \
             setp.ne.u32 %p1, %r3, 0; @%p1 bra END;",
            stores.collect::<String>(),
            names.join(", ")
        )
    };
    let stream = |register: &str| {
        call("StreamCreateWithFlags", &[("b64", "%rd4"), ("b32", "1")])
            + &format!("ld.local.u64 {register}, [place];")
    };
    let (one, other) = (stream("%rd5"), stream("%rd6"));
    let end_streams =
        call("StreamDestroy", &[("b64", "%rd5")]) + &call("StreamDestroy", &[("b64", "%rd6")]);
    let take = call("Malloc", &[("b64", "%rd4"), ("b64", "128")]) + "ld.local.u64 %rd5, [place];";
    let give = call("Free", &[("b64", "%rd5")]);
    let fill = call("MemsetAsync", &[("b64", "%rd1"), ("b32", "2"), ("b64", "128"), ("b64", "0")]);
    let copy = |bytes: &str| {
        let parameters =
            [("b64", "%rd5"), ("b64", "%rd1"), ("b64", bytes), ("b32", "3"), ("b64", "0")];
        "add.u64 %rd5, %rd1, 64;".to_owned() + &call("MemcpyAsync", &parameters)
    };
    let attribute = |number: &str, device: &str| {
        call("DeviceGetAttribute", &[("b64", "%rd4"), ("b32", number), ("b32", device)])
    };
    let keep =
        |word: u32| format!("ld.local.u32 %r4, [place]; st.global.u32 [%rd1+{}], %r4;", 4 * word);
    let ask =
        attribute("16", "0") + &keep(0) + &call("GetDeviceCount", &[("b64", "%rd4")]) + &keep(1);
    // Each thread writes its word, which the child of thread 0 changes.
    let own = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;";
    let write = "st.global.u32 [%rd1+8], 9;";
    let read = "ld.global.u32 %r4, [%rd1+8]; st.global.u32 [%rd1+120], %r4;";
    let parent = |name: &str, child: &str, launches: String| parent_of(name, child, "", launches);
    fn parent_of(name: &str, child: &str, before: &str, launches: String) -> String {
        format!(
            ".visible .entry {name}(.param .u64 array, .param .u32 value)\n{{
              .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<7>; .local .align 8 .b8 place[8];
              ld.param.u64 %rd1, [array]; mov.u64 %rd3, place; cvta.local.u64 %rd4, %rd3;
              mov.u32 %r1, %tid.x; {before} setp.ne.u32 %p2, %r1, 0; @%p2 bra END; mov.u64 %rd2, {child};
              {launches}\nEND: ret;\n}}\n"
        )
    }
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64
         .extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
         (.param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
         .extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a, .param .b64 b);
         .extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags (.param .b64 a, .param .b32 b);
         .extern .func (.param .b32 r) __cudaCDP2StreamDestroy (.param .b64 a);
         .extern .func (.param .b32 r) __cudaCDP2Malloc (.param .b64 a, .param .b64 b);
         .extern .func (.param .b32 r) __cudaCDP2Free (.param .b64 a);
         .extern .func (.param .b32 r) __cudaCDP2MemsetAsync
         (.param .b64 a, .param .b32 b, .param .b64 c, .param .b64 d);
         .extern .func (.param .b32 r) __cudaCDP2MemcpyAsync
         (.param .b64 a, .param .b64 b, .param .b64 c, .param .b32 d, .param .b64 e);
         .extern .func (.param .b32 r) __cudaCDP2GetDeviceCount (.param .b64 a);
         .extern .func (.param .b32 r) __cudaCDP2DeviceGetAttribute (.param .b64 a, .param .b32 b, .param .b32 c);
         .visible .entry child(.param .u64 array, .param .u32 value)\n{{
         .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [array]; ld.param.u32 %r1, [value];
         mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
         ld.global.u32 %r3, [%rd3]; mul.lo.u32 %r3, %r3, 10; add.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret;\n}}\n{}\0",
        [
            parent("parent", "child", launch(5, 32) + &launch(7, 32)),
            parent("deep", "deep", launch(0, 32)),
            parent("wrong", "child", launch(0, 0)),
            parent(
                "same_stream",
                "child",
                one.clone() + &launch_into(5, 32, "%rd5") + &launch_into(7, 32, "%rd5")
            ),
            parent(
                "two_streams",
                "child",
                one + &other
                    + &launch_into(5, 32, "%rd5")
                    + &launch_into(7, 32, "%rd6")
                    + &end_streams
            ),
            parent("takes", "child", take.clone() + "st.global.u32 [%rd5+124], 3; ld.global.u32 %r4, [%rd5+124]; st.global.u32 [%rd1], %r4;" + &give),
            parent("takes_less", "child", take.clone() + "st.global.u32 [%rd5+128], 3;" + &give),
            parent("gives_twice", "child", take + &give + &give),
            parent("gives_the_hosts", "child", "mov.u64 %rd5, %rd1;".to_owned() + &give),
            parent("fills", "child", fill.clone() + &launch(7, 16) + &copy("64")),
            parent("copies_too_much", "child", fill.clone() + &copy("68")),
            parent("writes_before", "child", write.to_owned() + &launch(7, 16)),
            parent("writes_after", "child", launch(7, 16) + write),
            parent("reads_after", "child", launch(7, 16) + read),
            parent("reads_beside_last", "child", launch_into(7, 16, "3") + read),
            parent("writes_a_fill", "child", fill + write),
            parent("launches_launcher", "writes_before", launch(0, 1) + write),
            parent_of("others_met", "child", &(own.to_owned() + "bar.sync 0;"), launch(7, 32)),
            parent_of("others", "child", own, launch(7, 32)),
            parent("asks", "child", ask + &attribute("16", "7") + &keep(2)),
        ]
        .concat()
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
fn endless_launches_end_and_failures_are_told() {
    let (code, _, found) = run("deep", 1);
    assert_ne!(code, ReturnCode::SUCCESS);
    assert!(found.iter().any(|one| one.contains("more than 64 deep")), "{found:?}");
    // On an H100 the kernel gets a code and goes on, and the host learns nothing.
    let (code, words, found) = run("wrong", 1);
    assert_eq!((code, words), (ReturnCode::SUCCESS, [1; 32]));
    assert!(
        found.iter().any(|one| one.contains("launches kernel `child`, which fails")),
        "{found:?}"
    );
}

/// NVIDIA's programming guide, "Dynamic Parallelism": work of one stream is in order, that of two may run at the same time.
#[test]
fn streams_of_kernels_order_what_is_launched_into_them() {
    let (code, words, found) = run("same_stream", 1);
    assert_eq!((code, words, found), (ReturnCode::SUCCESS, [157; 32], Vec::new()));
    let (code, _, found) = run("two_streams", 1);
    assert_eq!(code, ReturnCode::SUCCESS, "{found:?}");
    let races = found.iter().filter(|one| one.contains("kernel `child` may run at the same time"));
    assert_eq!(races.count(), found.len(), "{found:?}");
    assert!(!found.is_empty());
}

#[test]
fn kernels_take_memory_and_give_it_back_once() {
    let (code, words, found) = run("takes", 1);
    assert_eq!((code, words[0], found), (ReturnCode::SUCCESS, 3, Vec::new()));
    let (code, _, found) = run("takes_less", 1);
    assert_ne!(code, ReturnCode::SUCCESS);
    assert!(found.iter().any(|one| one.contains("gave, which has 128 bytes")), "{found:?}");
    // The codes of an H200, of memory that came from `malloc` and from the host: `results/nvidia-h200/codes.txt`.
    let (code, _, found) = run("gives_the_hosts", 1);
    assert_eq!(code, ReturnCode(700));
    assert!(found.iter().any(|one| one.contains("did not give")), "{found:?}");
    let (code, _, found) = run("gives_twice", 1);
    assert_eq!(code, ReturnCode(719));
    assert!(found.iter().any(|one| one.contains("given back already")), "{found:?}");
}

#[test]
fn kernels_copy_and_fill_in_the_order_of_their_streams() {
    let (code, words, found) = run("fills", 1);
    let word = 0x0202_0202u32;
    let expected: [u32; 32] = [word.wrapping_mul(10) + 7; 32];
    assert_eq!((code, words, found), (ReturnCode::SUCCESS, expected, Vec::new()));
    let (code, _, found) = run("copies_too_much", 1);
    assert_eq!(code, ReturnCode::SUCCESS);
    assert!(found.iter().any(|one| one.contains("copies 68 bytes")), "{found:?}");
}

/// NVIDIA's programming guide, "Dynamic Parallelism", "Memory Coherence and Consistency": a child sees what its launching
/// thread did before the launch, and what that thread had waited for. Nothing else orders the two while both run.
#[test]
fn what_a_kernel_does_beside_its_launches_is_compared_with_them() {
    for right in ["writes_before", "reads_beside_last", "others_met"] {
        let (code, _, found) = run(right, 1);
        assert_eq!((code, found), (ReturnCode::SUCCESS, Vec::new()), "{right}");
    }
    let wrong = [
        ("writes_after", "kernel `child`"),
        ("reads_after", "kernel `child`"),
        ("writes_a_fill", "a copy or fill"),
        ("launches_launcher", "kernel `child`"),
        ("others", "kernel `child`"),
    ];
    for (kernel, who) in wrong {
        let (code, _, found) = run(kernel, 1);
        assert_eq!(code, ReturnCode::SUCCESS, "{found:?}");
        let told = format!(
            "{who} may run at the same time as the rest of kernel `{kernel}`, which enqueued it"
        );
        assert!(found.iter().any(|one| one.starts_with(&told)), "{kernel}: {found:?}");
    }
}

#[test]
fn kernels_ask_for_devices_and_their_attributes() {
    let (code, words, found) = run("asks", 1);
    assert_eq!((code, found), (ReturnCode::SUCCESS, Vec::new()));
    // There is no device 7: the kernel ends before it keeps an answer.
    assert_eq!(words[..3], [132, 1, 1]);
}
