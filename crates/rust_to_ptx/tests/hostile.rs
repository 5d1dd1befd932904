//! Files that nobody means: each is compiled or refused, soon, without a panic and in a small stack.

use std::time::{Duration, Instant};

/// The stack of a page's module.
const STACK: usize = 1 << 20;
/// The time that a file may take, in a debug build on a busy machine.
const MOST: Duration = Duration::from_secs(10);

fn kernel(body: &str) -> String {
    format!(
        "use cuda_std::prelude::*;\n#[kernel]\npub unsafe fn k(x: *mut u32, n: u32) {{\n{body}\n}}\n"
    )
}

/// The same text around another, again and again.
fn around(before: &str, within: &str, after: &str, times: usize) -> String {
    before.repeat(times) + within + &after.repeat(times)
}

#[test]
fn every_file_is_compiled_or_refused() {
    let value = |text: &str| kernel(&format!("let y = {text};"));
    let statement = |text: &str| kernel(&format!("let mut y = n; {text} unsafe {{ *x = y }}"));
    let files = [
        ("parentheses", value(&around("(", "n", ")", 50_000))),
        ("brackets", value(&around("[", "n", "]", 50_000))),
        ("blocks", kernel(&around("{", "", "}", 50_000))),
        ("blocks as values", value(&around("{", "n", "}", 50_000))),
        ("calls", value(&around("f(", "n", ")", 50_000))),
        ("unsafe blocks", kernel(&around("unsafe {", "", "}", 20_000))),
        ("ifs", kernel(&around("if n == 0 {", "", "}", 20_000))),
        ("loops", kernel(&around("loop {", "", "}", 20_000))),
        ("closures", value(&around("|z: u32| ", "n", "", 50_000))),
        ("negations", value(&around("!", "n", "", 50_000))),
        ("signs", value(&around("- ", "1_i32", "", 50_000))),
        (
            "dereferences",
            kernel(&format!("unsafe {{ let y = {}; }}", around("*", "x", "", 50_000))),
        ),
        ("sums", value(&around("n + ", "n", "", 50_000))),
        ("conditions", value(&around("n == 0 && ", "true", "", 50_000))),
        ("casts", value(&("n".to_owned() + &" as u32".repeat(50_000)))),
        ("methods", value(&("n".to_owned() + &".min(n)".repeat(20_000)))),
        ("fields", value(&("n".to_owned() + &".0".repeat(50_000)))),
        ("places", value(&("n".to_owned() + &"[0]".repeat(50_000)))),
        (
            "else after else",
            statement(
                &("if n == 0 { y = 1; }".to_owned() + &" else if n == 2 { y += 1; }".repeat(5_000)),
            ),
        ),
        ("types", kernel(&format!("let y: {}u32 = 0;", "*const ".repeat(50_000)))),
        (
            "arrays of arrays",
            kernel(&format!("let y: {} = 0;", around("[", "u32", "; 2]", 20_000))),
        ),
        ("assignments", statement(&"y += n;".repeat(50_000))),
        ("functions", kernel("") + &around("fn f() {", "", "}", 20_000)),
        ("a function after the other", {
            let calls =
                |k: usize| format!("fn f{k}(n: u32) -> u32 {{ f{}(n) + f{}(n) }}\n", k + 1, k + 1);
            let all: String = (0..40).map(calls).collect();
            statement("y = f0(n);") + &all + "fn f40(n: u32) -> u32 { n }"
        }),
        (
            "turns within turns",
            statement(
                "for a in 0..1000 { for b in 0..1000 { for c in 0..1000 { y += a * b + c; } } }",
            ),
        ),
        ("all turns", statement("for a in 0..u32::MAX { y ^= a; }")),
        ("turns of a type's end", statement("for a in 0..=255_u8 { y += a as u32; }")),
        ("no turn at all", statement("for a in 9..3 { y += a; }")),
        ("steps of nothing", statement("for a in (0..9).step_by(0) { y += a; }")),
        (
            "a constant without end",
            kernel("const fn f(n: u32) -> u32 { f(n + 1) } const C: u32 = f(0);"),
        ),
        (
            "a constant that loops",
            kernel("const fn f() -> u32 { let mut n = 0; loop { n += 1; } } const C: u32 = f();"),
        ),
        ("a constant of itself", kernel("const C: u32 = C + 1; let y = C;")),
        ("two constants of each other", kernel("const C: u32 = D; const D: u32 = C; let y = C;")),
        ("a division by zero", statement("y = n / 0;")),
        ("a constant division by zero", kernel("const C: u32 = 1 / 0; let y = C;")),
        ("the least number by minus one", kernel("let y = i32::MIN / -1;")),
        ("the rest of it", kernel("const C: i32 = i32::MIN % -1; let y = C;")),
        ("a shift too far", statement("y = n << 40;")),
        ("a constant shift too far", kernel("const C: u32 = 1 << 40; let y = C;")),
        ("a sum too large", kernel("const C: u8 = 255 + 1; let y = C;")),
        ("a negated least number", kernel("const C: i32 = -i32::MIN; let y = C;")),
        ("a number of many digits", value(&"9".repeat(100_000))),
        ("a float of many digits", value(&("0.".to_owned() + &"9".repeat(100_000)))),
        ("an infinite float", value("1e999_f32")),
        ("a wrong suffix", value("1_u77")),
        ("a large array", statement("let z = [n; 65_536]; y = z[n as usize];")),
        ("arrays of a large array", kernel("let z = [[[[n; 256]; 256]; 256]; 256];")),
        ("an array of minus one", kernel("let z = [n; -1];")),
        ("a place before an array", kernel("let z = [1, 2]; let y = z[0 - 1];")),
        ("a name many times", statement(&"let y = y + 1; let mut y = y;".repeat(5_000))),
        ("a kernel twice", kernel("") + &kernel("")),
        ("a generic kernel", "#[kernel] pub unsafe fn k<T>(x: *mut T) {}".to_owned()),
        ("a kernel that returns", "#[kernel] pub unsafe fn k() -> u32 { 1 }".to_owned()),
        ("nothing", String::new()),
        ("a space", " ".repeat(1 << 20)),
        ("a remark", "//".to_owned() + &"x".repeat(1 << 20)),
        ("an open remark", "/*".repeat(50_000)),
        ("an open text", kernel("let y = \"")),
        ("an open brace", "#[kernel] pub unsafe fn k() {".to_owned()),
        ("closed braces", "}".repeat(50_000)),
        ("no text", "\0\u{feff}\u{202e}#[kernel]".to_owned()),
        ("other letters", kernel("let größe = n; let 変数 = größe; unsafe { *x = 変数 }")),
        ("raw names", kernel("let r#let = n; unsafe { *x = r#let }")),
        ("attributes", "#[cfg(any())]\n".repeat(20_000) + &kernel("")),
        ("modules", around("mod m {", "", "}", 20_000)),
        ("arms", value(&(around("match n { 0 => ", "1", ", _ => 2 }", 10_000)))),
        (
            "an arm after the other",
            statement(&format!("match n {{ {} _ => {{}} }}", "1 => y += 1,".repeat(5_000))),
        ),
        (
            "patterns",
            statement(&format!(
                "match n {{ {} => {{}} _ => {{}} }}",
                around("1 | ", "2", "", 10_000)
            )),
        ),
        ("references", value(&around("&", "n", "", 50_000))),
        ("a struct of itself", kernel("struct S { x: S } let y = 1;")),
        ("structs that double", {
            let twice = |k: usize| format!("struct S{} {{ a: S{k}, b: S{k} }}\n", k + 1);
            "struct S0 { a: u32 }\n".to_owned() + &(0..60).map(twice).collect::<String>()
        }),
        ("asserts", statement(&"assert!(y == n);".repeat(5_000))),
        ("an assert in an assert", kernel(&around("assert!(", "true", ")", 20_000))),
        ("generics", format!("type T = {};", around("A<", "u32", ">", 20_000))),
    ];
    for (what, text) in files {
        is_settled_soon(what, text, rust_to_ptx::compile);
    }
}

/// Compiles a file in a small stack; what is said of it is one line.
fn is_settled_soon(
    what: &str,
    text: String,
    compile: fn(&str, &str) -> Result<String, rust_to_ptx::Refusal>,
) {
    let begin = Instant::now();
    let compiled = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || compile(&text, "k").map(|ptx| ptx.len()))
        .expect("a thread starts")
        .join();
    let compiled = compiled.unwrap_or_else(|_| panic!("{what} is a panic"));
    let took = begin.elapsed();
    assert!(took < MOST, "{what} took {took:?}");
    match compiled {
        Ok(length) => assert!(length < 8 << 20, "{what} is {length} bytes of PTX"),
        Err(refusal) => {
            let message = refusal.to_string();
            assert!(message.len() < 300 && !message.contains('\n'), "{what}: {message}");
        }
    }
}

#[test]
fn every_file_of_cuda_is_compiled_or_refused() {
    let kernel = |body: &str| {
        format!("extern \"C\" __global__ void k(unsigned *x, unsigned n) {{\n{body}\n}}\n")
    };
    let value = |text: &str| kernel(&format!("unsigned y = {text};"));
    let files = [
        ("parentheses", value(&around("(", "n", ")", 20_000))),
        ("blocks", kernel(&around("{", "", "}", 20_000))),
        ("calls", value(&around("f(", "n", ")", 15_000))),
        ("ifs", kernel(&around("if (n) {", "", "}", 7_000))),
        ("ifs without braces", kernel(&("if (n) ".repeat(8_000) + ";"))),
        (
            "else after else",
            kernel(&("if (n) n = 1;".to_owned() + &" else if (n) n = 2;".repeat(3_000))),
        ),
        ("loops", kernel(&around("for (;;) {", "", "}", 6_000))),
        ("do within do", kernel(&around("do ", "n++;", " while (n);", 4_000))),
        ("negations", value(&around("!", "n", "", 60_000))),
        ("signs", value(&around("- ", "n", "", 30_000))),
        ("stars", value(&around("*", "x", "", 60_000))),
        ("addresses", value(&around("&", "n", "", 30_000))),
        ("sums", value(&around("n + ", "n", "", 15_000))),
        ("conditions", value(&around("n ? n : ", "n", "", 8_000))),
        ("assignments", kernel(&(around("n = ", "n", "", 15_000) + ";"))),
        ("casts", value(&around("(unsigned)", "n", "", 6_000))),
        ("places", value(&("x".to_owned() + &"[0]".repeat(20_000)))),
        ("steps", kernel(&("n".to_owned() + &"++".repeat(30_000) + ";"))),
        ("commas", kernel(&(around("n, ", "n", "", 15_000) + ";"))),
        ("lists", kernel(&("unsigned y = ".to_owned() + &around("{", "n", "}", 20_000) + ";"))),
        ("arrays of arrays", kernel(&("unsigned y".to_owned() + &"[2]".repeat(20_000) + ";"))),
        ("a large array", kernel("unsigned y[65536]; y[n] = 1; x[0] = y[n / 2];")),
        ("a negative length", kernel("unsigned y[-1];")),
        ("a macro of itself", "#define A A + A\n".to_owned() + &value("A")),
        ("two macros of each other", "#define A B\n#define B A\n".to_owned() + &value("A")),
        ("macros that double", {
            let doubled = |k: usize| format!("#define A{} A{k} + A{k}\n", k + 1);
            "#define A0 n\n".to_owned() + &(0..40).map(doubled).collect::<String>() + &value("A40")
        }),
        ("a macro without a name", "#define".to_owned()),
        ("functions of each other", {
            let calls = |k: usize| {
                format!(
                    "__device__ unsigned f{}(unsigned n) {{ return f{k}(n) + f{k}(n); }}\n",
                    k + 1
                )
            };
            "__device__ unsigned f0(unsigned n) { return n; }\n".to_owned()
                + &(0..40).map(calls).collect::<String>()
                + &value("f40(n)")
        }),
        (
            "a function of itself",
            "__device__ unsigned f(unsigned n) { return f(n); }\n".to_owned() + &value("f(n)"),
        ),
        (
            "turns within turns",
            kernel(
                "for (int a = 0; a < 1000; a++) for (int b = 0; b < 1000; b++) for (int c = 0; c < 1000; c++) n += c;",
            ),
        ),
        ("a loop without end", kernel("while (true) n++;")),
        ("a loop of nothing", kernel("for (;;);")),
        ("a division by zero", kernel("const int a = 1 / 0; x[0] = 1 % 0;")),
        ("the least number by minus one", value("(-2147483647 - 1) / -1")),
        (
            "the least long by minus one",
            kernel("long a = (-9223372036854775807 - 1) / -1; x[0] = a % -1;"),
        ),
        ("a shift too far", value("1 << 100")),
        ("a shift backwards", value("n >> -1")),
        ("products of products", value(&around("9223372036854775807 * ", "1", "", 200))),
        ("a number of many digits", value(&"9".repeat(60_000))),
        ("a float of many digits", value(&("0.".to_owned() + &"9".repeat(60_000)))),
        ("an infinite float", value("1e999")),
        ("an odd number", value("0x")),
        ("another odd number", value("1e+")),
        ("letters behind a number", value("1zz")),
        ("an empty letter", value("''")),
        ("half a letter", value("'")),
        ("half a letter with its escape", value("'\\")),
        ("other letters", value("größe + 'ß' + 変数")),
        ("an open remark", "/*".repeat(30_000)),
        ("an open text", value("\"")),
        ("an open brace", "extern \"C\" __global__ void k() {".to_owned()),
        ("an open list", "extern \"C\" __global__ void k(".to_owned()),
        ("closed braces", "}".repeat(50_000)),
        ("words of types", "unsigned ".repeat(7_000)),
        ("extern alone", "extern".to_owned()),
        ("no text", "\0\u{feff}\u{202e}#define".to_owned()),
        ("a line that goes on", "\\\n".repeat(20_000) + &kernel("")),
        ("nothing", String::new()),
        ("a kernel twice", kernel("") + &kernel("")),
        (
            "an address that changes",
            kernel(
                "unsigned a, b; unsigned *p = &a; for (; n; n--) p = n % 2 ? &a : &b; x[0] = *p;",
            ),
        ),
        (
            "an address far away",
            kernel("unsigned a[2]; x[0] = *(a + 1000000000000); x[1] = *(a - 9);"),
        ),
        (
            "a table of itself",
            "__constant__ int a[2] = {a[0], 1};".to_owned() + &kernel("x[0] = a[n];"),
        ),
        ("a lambda of itself", kernel("auto f = [&](unsigned k) { return f(k); }; x[0] = f(n);")),
    ];
    for (what, text) in files {
        is_settled_soon(what, text, rust_to_ptx::compile_cuda);
    }
}
