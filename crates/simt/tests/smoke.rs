//! A rustc-generated and a hand-written kernel, from text to output bytes.

use simt::{Checks, Launch, Memory, Module, Options, run};

const SAXPY: &str = r#"
.version 7.8
.target sm_90
.address_size 64
.visible .entry saxpy(.param .u64 .ptr .align 4 x, .param .u64 .ptr .align 4 y, .param .f32 a, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<9>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    ld.param.b32 %r5, [n];
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra $L__END;
    ld.param.b64 %rd1, [x];
    cvta.to.global.u64 %rd2, %rd1;
    ld.param.b64 %rd3, [y];
    cvta.to.global.u64 %rd4, %rd3;
    mul.wide.u32 %rd5, %r4, 4;
    add.s64 %rd6, %rd2, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.b32 %r6, [%rd6];
    ld.global.b32 %r7, [%rd7];
    ld.param.b32 %r8, [a];
    fma.rn.f32 %r9, %r8, %r6, %r7;
    st.global.b32 [%rd7], %r9;
$L__END:
    ret;
}
"#;

#[test]
fn saxpy_of_every_small_size() {
    let module = Module::parse(SAXPY).unwrap();
    for n in [1u32, 31, 32, 33, 127, 128, 129, 1000] {
        let mut memory = Memory::default();
        let x = memory.allocate(n as u64 * 4).unwrap();
        let y = memory.allocate(n as u64 * 4).unwrap();
        let xs: Vec<f32> = (0..n).map(|i| i as f32 * 0.37 - 5.0).collect();
        let ys: Vec<f32> = (0..n).map(|i| i as f32 * -1.1 + 3.0).collect();
        let bytes = |v: &[f32]| v.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>();
        memory.write(x, &bytes(&xs)).unwrap();
        memory.write(y, &bytes(&ys)).unwrap();
        let launch = Launch::new("saxpy", [n.div_ceil(128), 1, 1], [128, 1, 1])
            .address(x)
            .address(y)
            .f32(2.5)
            .u32(n);
        let report = run(&module, &mut memory, &launch, &Options::default()).unwrap();
        let mut out = vec![0; n as usize * 4];
        memory.read(y, &mut out).unwrap();
        let expected: Vec<f32> = xs.iter().zip(&ys).map(|(x, y)| 2.5f32.mul_add(*x, *y)).collect();
        assert_eq!(out, bytes(&expected), "n = {n}");
        let warps = n.div_ceil(32) as u64;
        assert_eq!(report.counters.global_load.requests, 2 * warps);
        assert_eq!(report.counters.global_store.requests, warps);
        assert_eq!(report.counters.global_store.sectors, (n as u64 * 4).div_ceil(32));
    }
}

#[test]
fn totals_are_sums_over_instructions() {
    let module = Module::parse(SAXPY).unwrap();
    let mut memory = Memory::default();
    let x = memory.allocate(4096).unwrap();
    let launch =
        Launch::new("saxpy", [8, 1, 1], [128, 1, 1]).address(x).address(x).f32(1.0).u32(1024);
    let report = run(&module, &mut memory, &launch, &Options::default()).unwrap();
    let mut sum = simt::Counters::default();
    for instruction in &report.instructions {
        sum += instruction.counters;
    }
    assert_eq!(sum, report.counters);
    // 32 warps: one fused multiply-add each; three moves, mad, setp, two cvta, mul, two adds.
    assert_eq!(report.counters.float_instructions, 32);
    assert_eq!(report.counters.integer_instructions, 32 * 10);
}

/// A parameter at a fixed place is an operand; one with an index is read like constant memory, a wavefront per distinct
/// word.
#[test]
fn an_indexed_parameter_is_a_constant_load() {
    let text = r#"
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 4 .b8 table[64], .param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 7;
    mul.wide.u32 %rd1, %r2, 4;
    mov.b64 %rd2, table;
    add.s64 %rd3, %rd2, %rd1;
    ld.param.b32 %r3, [%rd3];
    ld.param.b64 %rd4, [out];
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd4, %rd4, %rd5;
    st.global.b32 [%rd4], %r3;
    ret;
}
"#;
    let module = Module::parse(text).unwrap();
    let mut memory = Memory::default();
    let out = memory.allocate(128).unwrap();
    let table: Vec<u8> = (0..16_u32).flat_map(|word| (word * 3).to_le_bytes()).collect();
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).argument(&table).address(out);
    let report = run(&module, &mut memory, &launch, &Options::default()).unwrap();
    let counters = report.counters;
    assert_eq!(counters.parameter_loads, 2);
    assert_eq!((counters.constant_load.requests, counters.constant_load.wavefronts), (1, 8));
    let mut words = [0; 128];
    memory.read(out, &mut words).unwrap();
    for (lane, word) in words.chunks_exact(4).enumerate() {
        assert_eq!(word, (lane as u32 % 8 * 3).to_le_bytes());
    }
}

/// An atomic whose result nobody reads is a reduction, as in machine code; 32 lanes that add one to one
/// word of shared memory are then one pass.
#[test]
fn an_unread_result_makes_an_atomic_a_reduction() {
    let kernel = |after: &str| {
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
             .visible .entry count(.param .u64 .ptr .align 4 sums)\n{{\n\
             .reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .align 4 .b8 word[4];\n\
             mov.u32 %r1, 0; st.shared.u32 [word], %r1; bar.sync 0;\n\
             ld.param.u64 %rd1, [sums];\n\
             atom.shared.add.u32 %r2, [word], 1;\n\
             atom.global.add.u32 %r3, [%rd1], 1;\n\
             {after} ret;\n}}\n"
        )
    };
    for (after, passes) in
        [("", 1), ("st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+4], %r3;", 32)]
    {
        let module = Module::parse(&kernel(after)).unwrap();
        let mut memory = Memory::default();
        let sums = memory.allocate(8).unwrap();
        memory.write(sums, &[0; 8]).unwrap();
        let launch = Launch::new("count", [1, 1, 1], [32, 1, 1]).address(sums);
        let counters = run(&module, &mut memory, &launch, &Options::default()).unwrap().counters;
        let mut sum = [0; 4];
        memory.read(sums, &mut sum).unwrap();
        assert_eq!(u32::from_le_bytes(sum), 32);
        assert_eq!(counters.shared_atomic.wavefronts, passes);
        let requests = (counters.global_atomic.requests, counters.global_reduction.requests);
        assert_eq!(requests, if passes == 1 { (0, 1) } else { (1, 0) });
    }
}

/// A limit that is too small is no loop.
#[test]
fn a_kernel_without_a_loop_that_reaches_the_limit_ends() {
    for (body, part) in [
        ("ret;", "the kernel has no loop, so it ends; to fix it: raise the limit"),
        (
            "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 900; @%p1 bra L; ret;",
            "raise the limit where the loop",
        ),
    ] {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b32 %r<3>; .reg .pred %p<2>; mov.u32 %r1, 0; mov.u32 %r2, 1; {body}\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let options = Options { fuel: 1, ..Options::default() };
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]);
        let error = run(&module, &mut Memory::default(), &launch, &options).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        let enough = Options { fuel: 10_000, ..Options::default() };
        run(&module, &mut Memory::default(), &launch, &enough).unwrap();
    }
}

#[test]
fn a_string_of_printf_lies_in_memory() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n\
         .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n\
         .global .align 1 .b8 format[4] = {37, 115, 10, 0};\n\
         .visible .entry k(.param .u64 p) {\n\
         .reg .b64 %rd<4>; .local .align 8 .b8 list[8];\n\
         ld.param.u64 %rd1, [p]; st.local.u64 [list], %rd1; mov.b64 %rd2, list; cvta.local.u64 %rd2, %rd2;\n\
         mov.b64 %rd3, format;\n\
         { .param .b64 format; st.param.b64 [format+0], %rd3;\n\
           .param .b64 arguments; st.param.b64 [arguments+0], %rd2;\n\
           .param .b32 result; call.uni (result), vprintf, (format, arguments); }\n\
         ret;\n}\n";
    let module = Module::parse(text).unwrap();
    let mut memory = Memory::default();
    let string = memory.allocate(4).unwrap();
    memory.write(string, b"abc\0").unwrap();
    let mut printed = |address: u64| {
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).address(address);
        let ran = run(&module, &mut memory, &launch, &Options::default());
        ran.map(|report| (report.printed, report.print_bytes)).map_err(|error| error.to_string())
    };
    // The addresses of format and string, and the string with its end.
    assert_eq!(printed(string), Ok(("abc\n".to_owned(), 8 + 8 + 4)));
    assert_eq!(printed(0), Ok(("(null)\n".to_owned(), 8 + 8)));
    let error = printed(0x123).unwrap_err();
    assert!(error.contains("illegal address 0x123") && error.contains("%s"), "{error}");
}

/// As documented for CUDA's `printf`: the number of arguments, 0 without any, -1 without a format.
#[test]
fn printf_returns_the_number_of_its_arguments() {
    const CALL: &str = "
        { .param .b64 format; st.param.b64 [format+0], FORMAT;
          .param .b64 arguments; st.param.b64 [arguments+0], %rd3;
          .param .b32 result; call.uni (result), vprintf, (format, arguments);
          ld.param.b32 %r1, [result+0]; } st.global.b32 [%rd1+OFFSET], %r1;";
    let call = |format: &str, offset: u32| {
        CALL.replace("FORMAT", format).replace("OFFSET", &offset.to_string())
    };
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n\
         .global .align 1 .b8 three[12] = {{37, 100, 32, 37, 42, 100, 37, 37, 10, 0}};\n\
         .global .align 1 .b8 none[4] = {{46, 10, 0}};\n\
         .visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<3>; .reg .b64 %rd<7>; .local .align 8 .b8 list[16];\n\
         ld.param.u64 %rd1, [p]; mov.b64 %rd2, list; cvta.local.u64 %rd3, %rd2;\n\
         mov.b32 %r2, 5; st.local.b32 [list], %r2; st.local.b32 [list+4], %r2;\n\
         st.local.b32 [list+8], %r2; mov.b64 %rd4, three; mov.b64 %rd5, none; mov.b64 %rd6, 0;\n\
         {} {} {} ret;\n}}\n",
        call("%rd4", 0),
        call("%rd5", 4),
        call("%rd6", 8)
    );
    let module = Module::parse(&text).unwrap();
    let mut memory = Memory::default();
    let out = memory.allocate(12).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).address(out);
    let options = Options { checks: Checks::all(), ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options).unwrap();
    assert_eq!(report.printed, "5     5%\n.\n");
    assert_eq!(report.findings, []);
    let mut results = [0; 12];
    memory.read(out, &mut results).unwrap();
    let results = results.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap()));
    assert_eq!(results.collect::<Vec<_>>(), [3, 0, -1]);
    // The last argument is not passed.
    let fewer = Module::parse(&text.replace("st.local.b32 [list+8], %r2;", "")).unwrap();
    let report = run(&fewer, &mut memory, &launch, &options).unwrap();
    let message = report.findings.first().expect("it is found").to_string();
    assert!(message.contains("asks for an argument number 3, which was not passed"), "{message}");
    assert!(message.contains("to fix it: pass printf an argument"), "{message}");
    // As nvcc passes fewer: a list that ends there, whatever lies behind it, and none at all.
    let short = text.replace("list[16]", "list[8]").replace("st.local.b32 [list+8], %r2;", "");
    let none = text.replace("st.param.b64 [arguments+0], %rd3;", "st.param.b64 [arguments+0], 0;");
    for (text, number) in [(short, 3), (none, 1)] {
        let report = run(&Module::parse(&text).unwrap(), &mut memory, &launch, &options).unwrap();
        let message = report.findings.first().expect("it is found").to_string();
        assert!(message.contains(&format!("argument number {number},")), "{message}");
    }
}

/// A warp that waits at an mbarrier for one that works, and for ever where that one does not arrive.
fn waiting(arrives: bool) -> (Module, Launch) {
    let arrive = if arrives { "mbarrier.arrive.shared.b64 %rd1, [full];" } else { "" };
    let text = format!(
        r#"
.version 8.0
.target sm_90
.address_size 64
.visible .entry waiting()
{{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .shared .align 8 .b64 full;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $L__MADE;
    mbarrier.init.shared.b64 [full], 1;
$L__MADE:
    bar.sync 0;
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra $L__WORK;
$L__WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;
    @!%p3 bra $L__WAIT;
    ret;
$L__WORK:
    mov.u32 %r2, 50000;
$L__LOOP:
    add.u32 %r2, %r2, -1;
    setp.ne.u32 %p3, %r2, 0;
    @%p3 bra $L__LOOP;
    setp.ne.u32 %p3, %r1, 32;
    @%p3 bra $L__END;
    {arrive}
$L__END:
    ret;
}}
"#
    );
    (Module::parse(&text).unwrap(), Launch::new("waiting", [1, 1, 1], [64, 1, 1]))
}

#[test]
fn waiting_at_an_mbarrier_is_sleep() {
    let (module, launch) = waiting(true);
    let report = run(&module, &mut Memory::default(), &launch, &Options::default()).unwrap();
    let waits = report.instructions.iter().find(|one| one.text.contains("try_wait")).unwrap();
    // Once in vain, and once when it is woken.
    assert_eq!(waits.counters.warp_instructions, 2);
    let (module, launch) = waiting(false);
    let options = Options { fuel: 1_000_000, ..Options::default() };
    let error = run(&module, &mut Memory::default(), &launch, &options).unwrap_err().to_string();
    assert!(error.contains("try_wait"), "{error}");
}

#[test]
fn modules_of_one_text_share_its_code_and_have_variables_of_their_own() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 count;\n\
                .visible .entry none() { ret; }\n";
    let module = || Module::parse_once(text).expect("it is PTX");
    let (one, other) = (module(), module());
    assert!(std::ptr::eq(one.kernels(), other.kernels()));
    let mut memory = Memory::default();
    for module in [&one, &other] {
        module.load(&mut memory).expect("it fits");
    }
    let place = |module: &Module| module.symbol(&memory, "count").expect("it is loaded").0;
    assert_ne!(place(&one), place(&other));
}

/// NVIDIA's assembler takes the window's base from any address: null is no address of local memory, of shared memory it is 0.
#[test]
fn null_is_not_the_first_byte_of_local_memory() {
    let text = "
        .version 8.0
        .target sm_90
        .address_size 64
        .visible .entry null(.param .u64 target) {
            .reg .b64 %rd<5>;
            .reg .pred %p<2>;
            ld.param.u64 %rd1, [target];
            mov.u64 %rd2, 0;
            cvta.to.local.u64 %rd3, %rd2;
            setp.eq.u64 %p1, %rd3, 0;
            selp.u64 %rd4, 1, 2, %p1;
            st.global.u64 [%rd1], %rd4;
            cvta.to.shared.u64 %rd3, %rd2;
            st.global.u64 [%rd1+8], %rd3;
            ret;
        }";
    let module = simt::Module::parse(text).expect("it is PTX");
    let mut memory = simt::Memory::default();
    let target = memory.allocate(16).expect("there is memory");
    let launch = simt::Launch::new("null", [1, 1, 1], [1, 1, 1]).address(target);
    simt::run(&module, &mut memory, &launch, &simt::Options::default()).expect("it runs");
    let mut found = [0; 16];
    memory.read(target, &mut found).expect("it is allocated");
    assert_eq!(found, [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}
