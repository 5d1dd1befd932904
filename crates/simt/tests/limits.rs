//! Texts that would take much time, memory or stack: each is answered in under a second, mostly by
//! one sentence that says what is too large.

#[path = "support/spent.rs"]
mod spent;

use simt::{Error, Launch, Memory, Module, Options, run};
use spent::spent;
use std::fmt::Write;
use std::time::{Duration, Instant};

const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A module with one kernel that has a parameter of 64 bits.
fn kernel(body: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n{body}\nret;\n}}\n"
    )
}

/// Returns what `work` gives, which must take less than four seconds: a slow machine takes one.
fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let before = spent(start);
    let result = work();
    let took = spent(start) - before;
    assert!(took < Duration::from_secs(4), "{what} took {took:?}");
    result
}

fn refusal(what: &str, text: &str) -> String {
    soon(what, || match Module::parse(text) {
        Err(error) => error.to_string(),
        Ok(module) => module.kernels()[0].supported().unwrap_err().to_string(),
    })
}

fn execute(text: &str, threads: u32) -> Result<(simt::Report, Vec<u8>), Error> {
    let module = Module::parse(text)?;
    let mut memory = Memory::new(1 << 24);
    let buffer = memory.allocate(4096)?;
    let launch = Launch::new("k", [1, 1, 1], [threads, 1, 1]).u64(buffer);
    let options = Options { fuel: 4_000_000, ..Options::default() };
    let report = run(&module, &mut memory, &launch, &options)?;
    let mut bytes = vec![0; 4096];
    memory.read(buffer, &mut bytes)?;
    Ok((report, bytes))
}

#[test]
fn nesting_is_limited() {
    let deep = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(100_000), close.repeat(100_000))
    };
    let initial = |value: &str| format!("{HEADER}.global .u64 g[4] = {{{value}}};\n");
    for (what, text) in [
        ("braces", initial(&deep("{", "1", "}"))),
        ("masks", initial(&deep("0xFF(", "g", ")"))),
        ("generic", initial(&deep("generic(", "g", ")"))),
        ("parentheses", initial(&deep("(", "1", ")"))),
        ("signs", initial(&deep("- ", "1", ""))),
        ("casts", initial(&deep("(.u64)", "1", ""))),
        ("choices", initial(&deep("1?", "1", ":1"))),
        ("other choices", initial(&deep("1?1:", "1", ""))),
        ("offsets", kernel(&format!("ld.global.u32 %r1, [%rd1+{}];", deep("(", "1", ")")))),
        ("operands", kernel(&format!("mov.b64 %rd1, {};", deep("{", "%r1", "}")))),
        ("scopes", kernel(&deep("{", "", "}"))),
    ] {
        let error = refusal(what, &text);
        assert!(error.contains("fewer nested") || what == "masks" || what == "generic", "{error}");
    }
    // Not nested, only long.
    let long = kernel(&format!("mov.u32 %r1, {}1;", "1+".repeat(100_000)));
    soon("a long sum", || {
        assert_eq!(Module::parse(&long).unwrap().kernels()[0].supported(), Ok(()));
    });
}

#[test]
fn many_kernels_take_time_in_proportion() {
    let mut text = String::from(HEADER);
    for index in 0..60_000 {
        writeln!(text, ".global .u32 g{index};\n.visible .entry k{index}()\n{{\nret;\n}}").unwrap();
    }
    let module = soon("60000 kernels", || Module::parse(&text).unwrap());
    soon("each by its name", || {
        let names = (0..60_000).map(|index| format!("k{index}"));
        assert!(names.map(|name| module.kernel(&name)).all(|kernel| kernel.is_ok()));
    });
    assert!(Module::parse(&text.replace("k59999(", "k0(")).is_err());
}

/// `count` functions, each of which calls the next.
fn chain(count: usize, kernels: usize) -> String {
    let mut text = String::from(HEADER);
    for index in (0..count).rev() {
        let call = if index + 1 < count { format!("call f{};", index + 1) } else { String::new() };
        writeln!(text, ".func f{index}()\n{{\n.reg .b32 %r<3>;\n{call}\nmov.u32 %r1, {index};\nadd.u32 %r2, %r2, %r1;\nret;\n}}").unwrap();
    }
    for index in 0..kernels {
        let name = if index == 0 { "k".to_owned() } else { format!("k{index}") };
        writeln!(text, ".visible .entry {name}(.param .u64 p)\n{{\ncall f0;\nret;\n}}").unwrap();
    }
    text
}

#[test]
fn deep_calls_take_memory_in_proportion() {
    let text = chain(25_000, 1);
    let (report, _) = soon("25000 calls", || execute(&text, 32)).unwrap();
    assert_eq!(report.counters.warp_instructions, 25_000 * 4 + 1);
}

#[test]
fn kernels_that_call_the_same_functions_are_limited_in_all() {
    let error = soon("2000 x 4000 functions", || {
        let module = Module::parse(&chain(4000, 2000)).unwrap();
        let last = module.kernels().last().unwrap();
        last.supported().unwrap_err().to_string()
    });
    assert!(error.contains("the kernels of this module have too many instructions"), "{error}");
}

#[test]
fn long_kernels_are_refused() {
    let text = kernel(&"add.u32 %r1, %r1, %r2;\n".repeat((1 << 19) + 1));
    let module = Module::parse(&text).unwrap();
    let error = module.kernels()[0].supported().unwrap_err().to_string();
    assert!(error.contains("more than 524288 instructions"), "{error}");
}

#[test]
fn large_branch_tables_are_refused() {
    let targets = vec!["L"; 10_000].join(", ");
    let body = format!("T: .branchtargets {targets};\n{}L:", "brx.idx %r1, T;\n".repeat(10_000));
    let error = refusal("a table for each of many branches", &kernel(&body));
    assert!(error.contains("entries of branch tables"), "{error}");
}

#[test]
fn a_line_of_many_locations_is_read_once() {
    let text = kernel(&".loc 1 1 1 ".repeat(50_000));
    soon("locations", || drop(Module::parse(&text)));
}

#[test]
fn a_long_text_is_refused() {
    let text = " ".repeat((64 << 20) + 1);
    let error = refusal("65 MiB", &text);
    assert_eq!(
        error,
        "line 1, column 1: the text has 67108865 bytes, more than the 67108864 that are read: \
         split the module"
    );
}

#[test]
fn registers_of_a_block_are_limited() {
    let mut body = String::from(".reg .b64 %x<300001>;\n");
    for index in 0..300_000 {
        writeln!(body, "mov.u64 %x{index}, 1;").unwrap();
    }
    let error = execute(&kernel(&body), 1024).unwrap_err().to_string();
    assert!(error.contains("registers") && error.contains("smaller block"), "{error}");
}

#[test]
fn branches_that_meet_are_followed_once() {
    // Each leaves one register undefined on one way.
    let mut body = String::from(".reg .b32 %x<8001>;\nsetp.eq.u32 %p1, 0, 0;\n");
    for index in 0..8000 {
        writeln!(body, "@%p1 bra L{index};\nmov.u32 %x{index}, 1;\nL{index}:").unwrap();
    }
    let text = kernel(&body);
    soon("8000 branches", || execute(&text, 32)).unwrap();
}

#[test]
fn labels_are_defined_once() {
    let error = refusal("labels", &kernel("L: mov.u32 %r1, 1;\nL: mov.u32 %r1, 2;"));
    assert_eq!(error, "line 8, column 1: label `L` is defined twice between the same braces");
    let error = refusal("table", &kernel("L: mov.u32 %r1, 1;\nL: .branchtargets L;"));
    assert!(error.contains("defined twice"), "{error}");
    // Inline assembly has labels of its own between its braces.
    let inner = "{ L: mov.u32 %r1, 2; } { L: mov.u32 %r1, 3; }";
    let module = Module::parse(&kernel(&format!("L: {inner}"))).unwrap();
    assert_eq!(module.kernels()[0].supported(), Ok(()));
}

/// Returns what a kernel stores that moves a constant to a register and stores that.
fn stored<const N: usize>(instructions: &str) -> [u8; N] {
    let text = kernel(&format!("ld.param.u64 %rd1, [p];\n{instructions}"));
    let (_, bytes) = execute(&text, 1).unwrap_or_else(|error| panic!("{instructions}: {error}"));
    bytes[..N].try_into().unwrap()
}

/// Values that NVIDIA's assembler gives for the same text.
#[test]
fn constant_expressions_have_the_assemblers_values() {
    for (expression, value) in [
        ("1+1", 2),
        ("1<<2", 4),
        ("~0", -1),
        ("(3+4)*2", 14),
        ("1?5:6", 5),
        ("0?5:1?6:7", 6),
        ("-7/2", -3),
        ("-7 % 3", 0),
        ("7>3", 1),
        ("!5", 0),
        ("!(0)", 1),
        ("0xF0&0x3C", 0x30),
        ("1|6", 7),
        ("5^1", 4),
        ("1&&0", 0),
        ("2||0", 1),
        ("-1>>1", -1),
        ("(.u64)-1>>1", i64::MAX),
        ("-1<1U", 0),
        ("-1<1", 1),
        ("1<<70", 64),
        ("1 << -1", i64::MIN),
        ("-1/2U", i64::MAX),
        ("(.s64)(.u64)-1/2", 0),
        ("0-1", -1),
        ("2+3*4", 14),
        ("10-3-2", 5),
        ("1<=1", 1),
        ("1!=1", 0),
        ("2>=3==0", 1),
        ("+5", 5),
        ("- - 5", 5),
        ("1.0<2.0", 1),
        ("WARP_SZ-1", 31),
        ("1?WARP_SZ:3", 32),
    ] {
        let move_it = format!("mov.b64 %rd2, {expression};\nst.global.u64 [%rd1], %rd2;");
        assert_eq!(i64::from_le_bytes(stored(&move_it)), value, "{expression}");
        let text = format!("{HEADER}.global .u64 g[2] = {{7, {expression}}};\n");
        let module = Module::parse(&text).unwrap();
        assert_eq!(module.variables()[0].initial[8..], value.to_le_bytes(), "{expression}");
    }
    let sum = "mov.f64 %fd1, 1.0+2.0/4.0;\nst.global.f64 [%rd1], %fd1;";
    assert_eq!(f64::from_le_bytes(stored(sum)), 1.5);
    for (offset, at) in [("+4*2", 8), ("+(1<<2)+-4", 0), ("+4+8", 12), ("+8-4", 4)] {
        let bytes: [u8; 16] =
            stored(&format!("mov.u32 %r1, 9;\nst.global.u32 [%rd1{offset}], %r1;"));
        assert_eq!(bytes[at], 9, "{offset}");
    }
    let vector = "st.global.v2.u32 [%rd1], {1+1, 3};";
    assert_eq!(stored(vector), [2, 0, 0, 0, 3, 0, 0, 0]);
    let text = format!(
        "{HEADER}.func (.reg .b32 r) f(.reg .b32 x)\n{{\nmov.b32 r, x;\nret;\n}}\n{}",
        &kernel("ld.param.u64 %rd1, [p];\ncall (%r1), f, ((1+1)*2);\nst.global.u32 [%rd1], %r1;")
            [HEADER.len()..]
    );
    assert_eq!(execute(&text, 1).unwrap().1[..4], [4, 0, 0, 0]);
}

#[test]
fn constant_expressions_that_have_no_value_are_errors() {
    for (expression, message) in [
        ("1/0", "division by zero"),
        ("5 % 0", "division by zero"),
        ("1+1.0", "integers and floating-point numbers cannot be mixed"),
        ("1?1:2.0", "integers and floating-point numbers cannot be mixed"),
        ("1.0?1:2", "the condition of `?:` is an integer"),
        ("~1.0", "cannot be mixed"),
        ("(1", "expected `)`"),
        ("1+", "expected a number or a constant expression"),
        ("1?2", "expected `:`"),
        ("1+g", "expected a number or a constant expression"),
    ] {
        let text = format!("{HEADER}.global .u64 g[2] = {{7, {expression}}};\n");
        let error = Module::parse(&text).unwrap_err();
        assert!(matches!(error, Error::Syntax { .. }), "{error}");
        assert!(error.to_string().contains(message), "{expression}: {error}");
    }
}

/// A kernel that prints `format` with one double.
fn print(format: &str, value: f64) -> Result<(simt::Report, Vec<u8>), Error> {
    let bytes: Vec<String> = format.bytes().chain([0]).map(|byte| byte.to_string()).collect();
    let text = kernel(
        ".local .align 8 .b8 buffer[16];\n.param .b64 a;\n.param .b64 b;\n.param .b32 c;\n\
         mov.b64 %rd1, buffer;\ncvta.local.u64 %rd1, %rd1;\nst.f64 [%rd1], VALUE;\n\
         st.param.b64 [b], %rd1;\nmov.b64 %rd2, text;\ncvta.global.u64 %rd2, %rd2;\n\
         st.param.b64 [a], %rd2;\ncall.uni (c), vprintf, (a, b);",
    );
    let declared = format!(
        "{HEADER}.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
         .global .align 1 .b8 text[{}] = {{{}}};\n",
        bytes.len(),
        bytes.join(", ")
    );
    let text = text.replace(
        "st.f64 [%rd1], VALUE",
        &format!("mov.f64 %fd1, 0d{:016X};\nst.f64 [%rd1], %fd1", value.to_bits()),
    );
    execute(&text.replacen(HEADER, &declared, 1), 1)
}

#[test]
fn printf_takes_any_precision_and_width() {
    let printed = |format: &str, value| print(format, value).unwrap().0.printed;
    let third = printed("%.70000f", 1.0 / 3.0);
    assert!(third.starts_with("0.333333333333333314829616256247390992939472198486328125000"));
    assert_eq!(third.len(), 70_002);
    for precision in [1, 65_534, 65_535, 65_536, 4_294_967_296_u64, u64::MAX] {
        for kind in ["f", "e", "g", "d", "s"] {
            drop(soon("printf", || print(&format!("%.{precision}{kind}"), 1.5)));
        }
        drop(soon("printf", || print(&format!("%{precision}d"), 1.5)));
    }
    assert_eq!(printed("%.65535g", 1.5), "1.5");
    let exponent = printed("%.1000e", 1.5);
    assert!(exponent.starts_with("1.5000") && exponent.ends_with("000e+00"));
    assert_eq!(exponent.len(), 1006);
    assert_eq!(printed("%70000d", 0.0).len(), 70_000);
    // A block prints a mebibyte at most, however often it asks for more.
    let wide = soon("wide fields", || printed(&"%65535d".repeat(500), 0.0));
    assert!(wide.len() < (1 << 20) + 70_000, "{}", wide.len());
}
