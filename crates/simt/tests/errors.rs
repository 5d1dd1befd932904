use simt::{Error, Launch, Memory, Module, Options, run};

fn module(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{{\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{body}\n}}\n"
    )
}

fn launch() -> Launch {
    Launch::new("k", [1, 1, 1], [64, 1, 1]).u64(0).u32(0)
}

fn outcome(body: &str, launch: &Launch) -> Result<simt::Report, Error> {
    let options = Options { fuel: 100_000, ..Options::default() };
    run(&Module::parse(&module(body))?, &mut Memory::default(), launch, &options)
}

#[test]
fn text_that_is_not_ptx() {
    for text in [
        "hello",
        ".entry",
        ".visible .entry k(",
        ".version x",
        "/* open",
        "\"open",
        ".reg .b32 %r<",
        "\u{1F600}",
    ] {
        let error = Module::parse(text).unwrap_err();
        assert!(matches!(error, Error::Syntax { .. }), "{text}: {error}");
        assert!(error.position().unwrap().line == 1);
    }
}

#[test]
fn constant_memory_has_64_kibibytes_in_all() {
    let with = |bytes: u32| {
        let first = ".visible .const .align 4 .b32 first[8192];";
        let table = format!(".visible .const .align 4 .b8 table[{bytes}];");
        module("ret;").replace(".visible .entry", &format!("{first}\n{table}\n.visible .entry"))
    };
    assert!(Module::parse(&with(32768)).is_ok());
    let error = Module::parse(&with(32769)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 5, column 30: a module has at most 65536 bytes of constant memory, with `table` it \
         would be 65537: put a table into global memory"
    );
}

#[test]
fn every_prefix_of_a_module_is_handled() {
    let text = module("mov.u32 %r1, %tid.x; @%p1 bra L; add.s32 %r2, %r1, 5; L: ret;");
    for end in 0..text.len() {
        let _ = Module::parse(&text[..end]);
    }
}

#[test]
fn unsupported_instructions_are_named_with_their_line() {
    let error = outcome("ret;\ntcgen05.wait::ld.sync.aligned;", &launch()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 8, column 1: `tcgen05.wait::ld.sync.aligned` is not supported by the executor, which has no tensor memory \
         (compute capability 10.0); to fix it: compile the kernel for sm_90a or sm_120, where libraries take `wgmma` or `mma`"
    );
    let error = outcome("ret;\nwgmma.fence.sync.aligned;", &launch()).unwrap_err().to_string();
    assert!(error.contains("compile it for sm_90a"), "{error}");
    let error = outcome("tex.1d.v4.f32.s32 {%r1,%r2,%r3,%r4}, [n];", &launch()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let newer = module("ret;").replace(".version 8.0", ".version 99.0");
    assert!(matches!(Module::parse(&newer), Err(Error::Unsupported { .. })));
}

#[test]
fn instructions_of_newer_devices_name_what_they_need() {
    let vector = "ld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\n\
                  red.relaxed.gpu.global.add.v4.f32 [%rd1], {%r1, %r1, %r1, %r1};\nret;";
    for (body, instruction) in [
        (vector, "red.relaxed.gpu.global.add.v4.f32"),
        ("griddepcontrol.wait;\nret;", "griddepcontrol.wait"),
    ] {
        let supported = |text: &str| {
            let module = Module::parse(text).unwrap();
            module.kernel("k").unwrap().supported().map_err(ToString::to_string)
        };
        assert_eq!(supported(&module(body)), Ok(()));
        let older = module(body).replace(".target sm_90", ".target sm_80");
        let error = supported(&older).unwrap_err();
        assert!(
            error.contains(&format!("`{instruction}` needs compute capability 9.0")),
            "{error}"
        );
    }
}

#[test]
fn wrong_names_and_operands() {
    for body in [
        "add.s32 %r1, %r2;",
        "mov.u32 %r99, 1;",
        "bra nowhere;",
        "ld.global.u32 %r1, [unknown];",
        "@%r1 ret;",
        "selp.u32 %r1, 1, 0, 0f7FC00000;",
        "selp.u32 %r1, 1, 0, WARP_SZ;",
        "selp.u32 %r1, 1, 0, n;",
        "call f, ();",
    ] {
        let error = outcome(body, &launch()).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{body}: {error}");
    }
}

#[test]
fn launches_outside_the_limits() {
    let body = "ret;";
    let with = |f: fn(&mut Launch)| {
        let mut launch = launch();
        f(&mut launch);
        outcome(body, &launch).unwrap_err()
    };
    assert!(matches!(with(|l| l.kernel = "other".into()), Error::UnknownKernel { .. }));
    assert!(matches!(
        with(|l| {
            l.arguments.pop();
        }),
        Error::Arguments { .. }
    ));
    assert!(matches!(with(|l| l.arguments[1] = vec![0; 8]), Error::Arguments { .. }));
    assert!(matches!(with(|l| l.grid = [0, 1, 1]), Error::LaunchConfiguration { .. }));
    assert!(matches!(with(|l| l.grid = [1, 70000, 1]), Error::LaunchConfiguration { .. }));
    assert!(matches!(with(|l| l.block = [1025, 1, 1]), Error::LaunchConfiguration { .. }));
    assert!(matches!(with(|l| l.block = [64, 64, 1]), Error::LaunchConfiguration { .. }));
    assert!(matches!(
        with(|l| l.dynamic_shared_bytes = 1 << 20),
        Error::LaunchConfiguration { .. }
    ));
}

#[test]
fn endless_and_stuck_kernels() {
    let error = outcome("L: add.s32 %r1, %r1, 1; bra L;", &launch()).unwrap_err();
    assert!(matches!(error, Error::OutOfFuel { .. }), "{error}");
    assert!(error.place().unwrap().ptx_line == 7);
    let body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 0, 64; ret;";
    let error = outcome(body, &launch()).unwrap_err();
    assert!(matches!(error, Error::Deadlock { .. }), "{error}");
}

#[test]
fn use_after_free_is_named() {
    let text = module(
        "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; ret;",
    );
    let mut memory = Memory::default();
    let address = memory.allocate(256).unwrap();
    memory.free(address).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).address(address).u32(0);
    let error =
        run(&Module::parse(&text).unwrap(), &mut memory, &launch, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("freed allocation of 256 bytes"), "{error}");
    assert!(memory.free(address).is_err());
    assert!(memory.read(address, &mut [0]).is_err());
    assert!(matches!(Memory::new(100).allocate(101), Err(Error::OutOfMemory { .. })));
}

#[test]
fn a_lock_within_a_warp_ends() {
    // Lanes spin at a lower position than the lane that holds the lock.
    let text = module(
        "ld.param.u64 %rd1, [p];\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L;\nld.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1+4], %r2; membar.gl; atom.global.exch.b32 %r3, [%rd1], 0; ret;",
    );
    let mut memory = Memory::default();
    let address = memory.allocate(8).unwrap();
    let launch = Launch::new("k", [2, 1, 1], [64, 1, 1]).address(address).u32(0);
    run(&Module::parse(&text).unwrap(), &mut memory, &launch, &Options::default()).unwrap();
    let mut out = [0; 8];
    memory.read(address, &mut out).unwrap();
    assert_eq!(out[4], 128);
}

/// A call through a register whose value is the address of no function.
#[test]
fn a_call_of_no_function_is_refused() {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n\
        .visible .func (.param .b64 r) f(.param .b64 a) { .reg .u64 %x; ld.param.u64 %x, [a]; st.param.b64 [r], %x; ret; }\n\
        .visible .entry k(.param .u64 chosen) {\n\
        .reg .u64 %c, %d, %r; .reg .pred %p;\n\
        ld.param.u64 %c, [chosen]; setp.eq.u64 %p, %c, 1; mov.u64 %d, f; selp.u64 %c, %d, %c, %p;\n\
        { .param .b64 a0; st.param.b64 [a0], %d; .param .b64 r0;\n\
        prototype_0 : .callprototype (.param .b64 _) _ (.param .b64 _);\n\
        call (r0), %c, (a0), prototype_0; ld.param.b64 %r, [r0]; }\n\
        ret;\n}\n";
    let module = Module::parse(text).unwrap();
    let outcome = |chosen| {
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).u64(chosen);
        run(&module, &mut Memory::default(), &launch, &Options::default())
    };
    assert!(outcome(1).is_ok());
    for nowhere in [0, 0x1234] {
        let error = outcome(nowhere).unwrap_err().to_string();
        assert!(error.contains(&format!("it calls {nowhere:#x}")), "{error}");
    }
}

/// A call that no function of the module can answer stops only the kernel that reaches it.
#[test]
fn an_indirect_call_without_candidates_traps_when_it_is_reached() {
    let body = "mov.u64 %rd1, 0x1234; ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;\n\
        { .param .b64 a0; st.param.b64 [a0], %rd1;\n\
        prototype_0 : .callprototype _ (.param .b64 _);\n\
        call %rd1, (a0), prototype_0; }\nL: ret;";
    let with = |n: u32| outcome(body, &Launch::new("k", [1, 1, 1], [64, 1, 1]).u64(0).u32(n));
    assert!(with(0).is_ok());
    let error = with(1).unwrap_err().to_string();
    assert!(error.contains("it calls 0x1234"), "{error}");
}

/// `name[0]` is the address that `name` is.
#[test]
fn the_first_element_of_a_variable_is_its_address() {
    let body = "{ .local .align 16 .b8 local0[64]; mov.u64 %rd1, local0[0]; mov.u64 %rd2, local0;\n\
        setp.ne.u64 %p1, %rd1, %rd2; @%p1 trap; ret; }";
    outcome(body, &launch()).unwrap();
    let error = outcome(&body.replace("local0[0]", "local0[4]"), &launch()).unwrap_err();
    assert!(error.to_string().contains("`name+bytes`"), "{error}");
}
