//! Expressions and statements mean what rustc gives them, and in CUDA C++ what the same in Rust does: each is compiled
//! twice, and executed on the same values.

use simt::{Launch, Memory, Module, Options};

/// A value as bytes; all that are no number are one.
trait Bytes: Copy {
    fn bytes(self) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($of:ty),*) => { $(impl Bytes for $of {
        fn bytes(self) -> Vec<u8> {
            #[allow(clippy::eq_op, reason = "NaN is not itself")]
            if self == self { self.to_le_bytes().to_vec() } else { vec![0xff; size_of::<$of>()] }
        }
        fn read(bytes: &[u8]) -> $of {
            <$of>::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))
        }
    })* };
}
bytes!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, usize);

/// Executes a body for each pair of values.
fn executed<T: Bytes>(
    of: [&str; 2],
    body: &str,
    pairs: &[(T, T)],
    result_bytes: usize,
) -> Vec<Vec<u8>> {
    let source = rust_kernel(of, body);
    let ptx =
        rust_to_ptx::compile(&source, "k.rs").unwrap_or_else(|error| panic!("{body}: {error}"));
    run(&ptx, body, pairs, result_bytes)
}

fn rust_kernel(of: [&str; 2], body: &str) -> String {
    format!(
        "use cuda_std::prelude::*;\nconst LEAST: i32 = 3;\n#[kernel]\npub unsafe fn k(first: *const {0}, second: *const {0}, target: *mut {1}, n: u32) {{\n\
         let i = thread::index_1d() as usize;\nif i < n as usize {{ unsafe {{\nlet (a, b) = (*first.add(i), *second.add(i));\n\
         *target.add(i) = {2};\n}} }} }}",
        of[0], of[1], body
    )
}

/// Executes a kernel `k(first, second, target, n)`.
fn run<T: Bytes>(ptx: &str, body: &str, pairs: &[(T, T)], result_bytes: usize) -> Vec<Vec<u8>> {
    let module = Module::parse(ptx).unwrap_or_else(|error| panic!("{body}: {error}\n{ptx}"));
    let mut memory = Memory::new(1 << 30);
    module.load(&mut memory).expect("it is loaded");
    let mut put = |data: Vec<u8>| {
        let address = memory.allocate(data.len() as u64).expect("there is memory");
        memory.write(address, &data).expect("it was allocated");
        address
    };
    let first = put(pairs.iter().flat_map(|(a, _)| a.bytes()).collect());
    let second = put(pairs.iter().flat_map(|(_, b)| b.bytes()).collect());
    let target = put(vec![0; result_bytes * pairs.len()]);
    let count = pairs.len() as u32;
    let launch = Launch::new("k", [count.div_ceil(64), 1, 1], [64, 1, 1]);
    let launch = launch.address(first).address(second).address(target).u32(count);
    let options = Options { threads: 1, fuel: 10_000_000, ..Options::default() };
    simt::run(&module, &mut memory, &launch, &options)
        .unwrap_or_else(|error| panic!("{body}: {error}\n{ptx}"));
    let mut bytes = vec![0; result_bytes * pairs.len()];
    memory.read(target, &mut bytes).expect("it was allocated");
    bytes.chunks(result_bytes).map(<[u8]>::to_vec).collect()
}

/// Bodies over `a` and `b`, which are compiled here as well.
macro_rules! same {
    ($($of:ty => $result:ty: |$a:ident, $b:ident| $body:expr;)*) => { $({
        let values: Vec<$of> = <$of as Values>::values();
        let pairs: Vec<($of, $of)> =
            values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
        let pairs: Vec<_> = pairs.into_iter().filter(|(_, b)| b.bytes().iter().any(|byte| *byte != 0)).collect();
        let body = stringify!($body);
        let of = [stringify!($of), stringify!($result)];
        let found = executed(of, body, &pairs, size_of::<$result>());
        for ((a, b), found) in pairs.into_iter().zip(found) {
            #[allow(unused_variables, clippy::all)]
            let expected: $result = (|$a: $of, $b: $of| $body)(a, b);
            let found = <$result as Bytes>::read(&found).bytes();
            assert_eq!(found, expected.bytes(), "{body} with a = {a:?}, b = {b:?}: {expected:?}");
        }
    })* };
}

trait Values: Sized {
    fn values() -> Vec<Self>;
}

macro_rules! values {
    ($($of:ty),*) => { $(impl Values for $of {
        fn values() -> Vec<$of> {
            let ends = [<$of>::MIN, <$of>::MIN + 1, <$of>::MAX, <$of>::MAX - 1, <$of>::MAX / 2];
            ends.into_iter().chain([0, 1, 2, 3, 7, 16, 31, 33, 97, 100]).collect()
        }
    })* };
}
values!(u8, i8, u16, i16, u32, i32, u64, i64, usize);

impl Values for f32 {
    fn values() -> Vec<f32> {
        vec![
            1.0,
            -1.0,
            0.1,
            3.5,
            -7.25,
            1e10,
            -1e10,
            255.5,
            1e-40,
            f32::MAX,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -0.0,
            16_777_217.0,
        ]
    }
}

impl Values for f64 {
    fn values() -> Vec<f64> {
        vec![
            1.0,
            -1.0,
            0.1,
            3.5,
            -7.25,
            1e10,
            -1e19,
            255.5,
            1e-310,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            -0.0,
        ]
    }
}

#[test]
fn whole_numbers_wrap_and_are_cut_off() {
    macro_rules! of_each {
        ($($of:ty),*) => { $(same! {
            $of => $of: |a, b| a.wrapping_add(b).wrapping_mul(3);
            $of => $of: |a, b| a.wrapping_sub(b) ^ (a & b) | 5;
            $of => $of: |a, b| a.wrapping_mul(b);
            $of => $of: |a, b| a / (b | 1).max(1);
            $of => $of: |a, b| a % (b | 1).max(1);
            $of => $of: |a, b| a << (b & 7);
            $of => $of: |a, b| a >> (b & 7);
            $of => $of: |a, b| !a;
            $of => $of: |a, b| a.min(b).wrapping_add(a.max(b));
            $of => u32: |a, b| a as u32;
            $of => i64: |a, b| a as i64;
            $of => u8: |a, b| a as u8;
            $of => i16: |a, b| a as i16;
            $of => f32: |a, b| a as f32;
            $of => f64: |a, b| a as f64;
            $of => u32: |a, b| u32::from(a < b) + 2 * u32::from(a >= b) + 4 * u32::from(a == b);
            $of => u32: |a, b| a.count_ones();
        })* };
    }
    of_each!(u8, i8, u16, i16, u32, i32, u64, i64);
    same! {
        i32 => i32: |a, b| (-(a >> 1)).wrapping_add(b);
        u32 => u32: |a, b| a.div_ceil(b);
        u32 => u32: |a, b| a.abs_diff(b);
        u32 => u32: |a, b| a.saturating_sub(b);
        u64 => u32: |a, b| a.leading_zeros() + 100 * b.trailing_zeros();
        usize => usize: |a, b| (a + 3) % 4 + (b + 4) % 4 + (a / 8) * 8;
        u8 => u8: |a, b| a.to_ascii_uppercase().wrapping_add(b.to_ascii_lowercase());
    }
}

#[test]
fn floats_are_rounded_once_and_casts_of_them_saturate() {
    same! {
        f32 => f32: |a, b| a * b + 0.1;
        f32 => f32: |a, b| (a - b) / (b + 0.5);
        f32 => f32: |a, b| -a.abs() + b.max(a) - b.min(a);
        f32 => f32: |a, b| a.mul_add(b, 1.5);
        f32 => u8: |a, b| a as u8;
        f32 => i8: |a, b| a as i8;
        f32 => u32: |a, b| a as u32;
        f32 => i32: |a, b| a as i32;
        f32 => u64: |a, b| a as u64;
        f32 => f64: |a, b| a as f64 * 3.0;
        f32 => u32: |a, b| u32::from(a < b) + 2 * u32::from(a != b) + 4 * u32::from(a == a);
        f32 => u32: |a, b| ((a.abs() as u32) as f32 + 0.5).to_bits();
        f32 => u32: |a, b| u32::from(a <= b) + 2 * u32::from(!(a >= b)) + 4 * u32::from(a > b || b == a);
        f32 => i64: |a, b| a as i64;
        f64 => u8: |a, b| a as u8;
        f64 => f64: |a, b| a * b - a / b;
        f64 => f32: |a, b| a as f32;
        f64 => i64: |a, b| a as i64;
        f64 => u32: |a, b| b as u32;
    }
}

#[test]
fn control_flow_does_what_it_does_in_rust() {
    same! {
        u32 => u32: |a, b| {
            let mut sum = 0_u32;
            for k in (0..a % 17).rev() {
                if k == 3 { continue; }
                if k == b % 5 { break; }
                sum = sum.wrapping_mul(31).wrapping_add(k);
            }
            sum
        };
        u32 => u32: |a, b| {
            let mut sum = 0_u32;
            for k in (a % 9..40).step_by(7) { sum = sum * 2 + k % 3; }
            for k in 0..=b % 6 { sum = sum.wrapping_add(k * k); }
            for k in [a % 4, 1, b % 4] { sum ^= k; }
            sum
        };
        u32 => u32: |a, b| {
            let mut sum = a % 7;
            for k in 250..=255_u8 { sum = sum * 3 + k as u32; }
            for k in (u32::MAX - 9..u32::MAX).step_by(4) { sum ^= k; }
            for k in (b % 5..3).rev() { sum = sum.wrapping_mul(5).wrapping_add(k); }
            for k in (9..b % 4).rev() { sum += k; }
            for k in -3..=a as i32 % 3 { sum = sum.wrapping_add(k as u32); }
            sum
        };
        u32 => u32: |a, b| {
            let a = a.wrapping_add(1);
            let b = { let a = b ^ a; a % 9 };
            let pair = if a > b { (a, b) } else { (b, a) };
            let (a, rest) = pair;
            if rest == 0 { a } else if a / rest > 3 && rest > 1 { a % rest } else { 77 }
        };
        i32 => i32: |a, b| {
            let mut x = a;
            let mut steps = 0;
            while x != 0 && steps < 40 {
                x = if x & 1 == 1 { x - (x >> 31 | 1) } else { x >> 1 };
                steps += 1;
            }
            steps * 1000 + (b % 7) * 3 + i32::from(x == -1)
        };
        u32 => u32: |a, b| {
            let (mut x, mut y) = (a % 50, b % 50 + 1);
            while y != 0 {
                let rest = x % y;
                x = y;
                y = rest;
            }
            x
        };
        u32 => u32: |a, b| {
            let mut turns = 0_u32;
            let mut x = a;
            loop {
                if x < 10 || turns > 40 { break; }
                x /= if turns % 2 == 0 { 2 } else { 3 };
                turns += 1;
            }
            turns * 100 + x
        };
        u32 => u32: |a, b| {
            let mut all = [1_u32, 2, 3, 4];
            for k in 0..4 { all[k] += a % 7; }
            all[(b % 4) as usize] = 9;
            let pick = |at: u32| all[(at % 4) as usize];
            pick(a) * 10 + pick(b)
        };
        u32 => u32: |a, b| {
            const fn squared(x: u32) -> u32 { x * x }
            fn clamped(x: u32, most: u32) -> u32 {
                if x > most { return most; }
                let half = x / 2;
                if half > 3 { return half; }
                x
            }
            const SIX: u32 = squared(2) + 2;
            clamped(a % 40, 30) + SIX * clamped(b, 3)
        };
        u32 => u32: |a, b| {
            let mut sum = 0_u32;
            let mut k = 0;
            'outer: while k < 6 {
                k += 1;
                let mut l = 0;
                while l < 6 {
                    l += 1;
                    if l == a % 7 { continue 'outer; }
                    if k * l > b % 30 { break 'outer; }
                    sum += k * l;
                }
            }
            sum
        };
    }
}

#[test]
fn choices_structs_and_references_do_what_they_do_in_rust() {
    same! {
        u32 => u32: |a, b| match a % 11 {
            0 => b,
            1 | 3 => a ^ 5,
            4..=6 if b % 2 == 0 => a.wrapping_mul(2),
            4..7 => 40 + b % 7,
            k @ 7..=8 => k * 3,
            k if k == b % 11 => 900,
            _ => match (a % 2, b % 3) {
                (0, 1) => 10,
                (1, k) => 20 + k,
                _ => 30,
            },
        };
        i32 => i32: |a, b| match a % 5 {
            -4..=-1 => b ^ 3,
            0 => match b > 3 { true => 1, false => 2 },
            LEAST => -7,
            4.. => 9,
            _ => 10,
        };
        u32 => u32: |a, b| {
            const SIX: u32 = 6;
            let mut sum = 0_u32;
            let mut k = a % 13;
            loop {
                match k {
                    SIX => { sum += 100; k += 2; continue; }
                    12.. => break,
                    other => sum += other,
                }
                k += 1 + b % 2;
            }
            sum * 20 + k
        };
        u32 => u32: |a, b| {
            let (mut x, mut y) = (a, b);
            (x, y) = (y, x);
            let mut all = [1_u32, 2, 3];
            ((all[0], _), all[2]) = ((x % 7, 5), y % 9);
            x.wrapping_mul(3).wrapping_add(y) ^ (all[0] * 100 + all[1] * 10 + all[2])
        };
        u32 => u32: |a, b| {
            #[derive(Clone, Copy)]
            struct Pair { first: u32, second: u32 }
            struct Both(Pair, f32);
            fn turned(pair: Pair) -> Pair {
                let Pair { first, second } = pair;
                if first > 1000 { return Pair { second: 3, first }; }
                Pair { first: second, second: first }
            }
            let mut pair = turned(Pair { first: a % 5000, second: b % 50 });
            let mut k = 0;
            while k < b % 4 { pair.first += pair.second; pair = turned(pair); k += 1; }
            let both = Both(pair, 1.5);
            match both.0 {
                Pair { first: 0..=9, second } => second,
                Pair { first, .. } => first.wrapping_mul(7) + both.0.second + both.1 as u32,
            }
        };
        u32 => u32: |a, b| {
            fn order(x: &mut u32, y: &mut u32) {
                if *x <= *y { return; }
                let z = *x;
                *x = *y;
                *y = z;
            }
            fn sum(all: &[u32], most: usize) -> u32 {
                let mut sum = 0;
                for k in 0..all.len().min(most) { sum += all[k]; }
                sum
            }
            fn twice(all: &mut [u32; 3]) {
                for k in 0..3 { all[k] *= 2; }
            }
            let (mut x, mut y) = (a % 100, b % 100);
            let mut k = 0;
            while k < b % 3 { order(&mut x, &mut y); y /= 2; k += 1; }
            let mut all = [x, y, 5];
            twice(&mut all);
            let last = &mut all[2];
            *last += 1;
            let r = &x;
            sum(&all, (b % 4) as usize) * 100 + *r + all[(a % 3) as usize]
        };
        u32 => u32: |a, b| {
            assert!(a == a, "a number is itself");
            debug_assert!(a == a, "which a release build does not look at");
            assert_eq!(a & b, b & a);
            let k = if a > b { a - b } else if a == b { 0 } else { b - a };
            if k > u32::MAX - 0 { panic!("more than there are") }
            k
        };
    }
}

const LEAST: i32 = 3;

/// A promise that is not kept ends the kernel, as a panic does on a GPU.
#[test]
fn an_assertion_that_fails_ends_the_kernel() {
    for body in ["assert!(a < 3, \"{}\", a); a", "match a { 0 => 1, 1 => 2, _ => unreachable!() }"]
    {
        let source = rust_kernel(["u32", "u32"], &format!("{{ {body} }}"));
        let ptx =
            rust_to_ptx::compile(&source, "k.rs").unwrap_or_else(|error| panic!("{body}: {error}"));
        assert!(ptx.contains("trap;"), "{ptx}");
    }
}

#[test]
fn what_is_not_read_is_refused_with_its_place() {
    let kernel = |body: &str| {
        format!(
            "use cuda_std::prelude::*;\n#[kernel]\npub unsafe fn k(x: *mut u32, n: u32) {{\n{body}\n}}\n"
        )
    };
    for (body, line, why) in [
        ("match n { 0 => {} }", 4, "end it with `_ => ..`"),
        ("match n { 0.5 => {} _ => {} }", 4, "`u32` is wanted"),
        ("let y = &(n + 1);", 4, "give the value a name first"),
        ("let y = &n;\n*y = 2;", 5, "take `&mut`"),
        ("let y = &mut n;", 4, "`n` is not mutable"),
        ("struct S<T> { x: T }", 4, "a struct with generics"),
        ("struct S { x: u32 }\nlet y = S { z: 1 };", 5, "`S` has no field `z`"),
        ("struct S { x: u32, z: u32 }\nlet y = S { x: 1 };", 5, "has no value"),
        ("impl S { }", 4, "this kind of item is not read here"),
        ("assert!(n);", 4, "`bool` is wanted"),
        ("let y = vec![n];", 4, "`vec!` is not read here"),
        ("let mut y = 1_u32;\n(y, _) = (2.0, 3);", 5, "`u32` is wanted"),
        ("fn f(x: &[u32]) -> u32 { x[2] }\nf(&[1, 2]);", 5, "give the value a name first"),
        (
            "let y = [1_u32, 2];\nlet mut r = &y[0];\nfor k in 0..n { r = &y[1]; }",
            6,
            "another variable in each turn",
        ),
        ("let y = 1;\ny = 2;", 5, "`y` is not mutable"),
        ("let y: f32 = 1;", 4, "`f32` is wanted"),
        ("let y = n + 1_u64;", 4, "`u32` is wanted"),
        ("let y = n.rotate_left(3);", 4, "the method `rotate_left` of `u32` is not known"),
        ("let y = [1, 2];\nlet z = y.iter();", 5, "write a `for` over a range of indexes"),
        ("thread::dance();", 4, "`thread::dance` is not known"),
        ("println!();", 4, "other macros are not"),
        ("let y = -n;", 4, "a number with a sign"),
        ("let y: u8 = 256;", 4, "256 does not fit into `u8`"),
        ("let y = [1, 2];\nlet z = y[2];", 5, "outside of its array"),
        ("fn f(x: *const u32) -> u32 { *x }", 4, "put it into an `unsafe` block"),
        ("let y = z;", 4, "`z` is not known here"),
        ("if n { }", 4, "`bool` is wanted"),
        ("fn f(n: u32) -> u32 { f(n) }\n*x = f(n);", 5, "call themselves"),
        ("let y = [0; 1_000_000_000];", 4, "at most 65536 elements"),
        ("let y = ", 5, "expected"),
    ] {
        let refusal = rust_to_ptx::compile(&kernel(body), "k.rs").expect_err(body);
        let at = refusal.place.line;
        assert!(refusal.message.contains(why), "{body}: {refusal}");
        assert!(at == line || why == "call themselves", "{body}: {refusal}");
    }
    let nothing = rust_to_ptx::compile("fn f() {}", "k.rs").expect_err("there is no kernel");
    assert!(nothing.message.contains("no kernel"), "{nothing}");
}

/// Bodies in CUDA C++ over `a` and `b`, and the same in Rust; with `COALESCE_NVCC`, nvcc's kernels are executed as well.
macro_rules! same_in_cuda {
    ($($of:ty, $cuda:literal => $result:ty, $cuda_result:literal: |$a:ident, $b:ident| $body:expr, $text:literal;)*) => { $({
        let values: Vec<$of> = <$of as Values>::values();
        let pairs: Vec<($of, $of)> =
            values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
        let pairs: Vec<_> = pairs.into_iter().filter(|(_, b)| b.bytes().iter().any(|byte| *byte != 0)).collect();
        let source = cuda_kernel([$cuda, $cuda_result], $text);
        let ptx = rust_to_ptx::compile_cuda(&source, "k.cu").unwrap_or_else(|error| panic!("{}: {error}", $text));
        let all = [Some(ptx), of_nvcc(&source)];
        for ptx in all.into_iter().flatten() {
            let found = run(&ptx, $text, &pairs, size_of::<$result>());
            for ((a, b), found) in pairs.iter().zip(found) {
                #[allow(unused_variables, clippy::all)]
                let expected: $result = (|$a: $of, $b: $of| $body)(*a, *b);
                let found = <$result as Bytes>::read(&found).bytes();
                assert_eq!(found, expected.bytes(), "{} with a = {a:?}, b = {b:?}: {expected:?}\n{ptx}", $text);
            }
        }
    })* };
}

fn cuda_kernel(of: [&str; 2], body: &str) -> String {
    // What stands before `@` is outside of the function.
    let (outside, body) = body.split_once('@').unwrap_or(("", body));
    format!(
        "{outside}\n__device__ {1} f({0} a, {0} b) {{ {body} }}\n\
         extern \"C\" __global__ void k(const {0} *first, const {0} *second, {1} *target, unsigned n) {{\n\
         unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) target[i] = f(first[i], second[i]);\n}}\n",
        of[0], of[1]
    )
}

fn of_nvcc(source: &str) -> Option<String> {
    let nvcc = std::env::var_os("COALESCE_NVCC")?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, ptx) = (folder.path().join("k.cu"), folder.path().join("k.ptx"));
    std::fs::write(&file, source).expect("a writable folder");
    let options = ["-ptx", "-arch=sm_80", "-std=c++17", "-fmad=false", "-w", "-o"];
    let status = std::process::Command::new(nvcc).args(options).arg(&ptx).arg(&file).status();
    assert!(status.expect("nvcc starts").success(), "nvcc refuses\n{source}");
    Some(std::fs::read_to_string(ptx).expect("nvcc wrote it"))
}

#[test]
fn numbers_in_cuda_are_promoted_as_in_c() {
    same_in_cuda! {
        u8, "unsigned char" => u32, "unsigned": |a, b| (a as i32 + b as i32) as u32, "return a + b;";
        u8, "unsigned char" => u8, "unsigned char": |a, b| a.wrapping_mul(b).wrapping_add(3), "a *= b; a += 3; return a;";
        u8, "unsigned char" => i32, "int": |a, b| !(a as i32) - (b as i32), "return ~a - b;";
        i8, "signed char" => i32, "int": |a, b| (a as i32) * (b as i32) >> 3, "return a * b >> 3;";
        i8, "char" => u32, "unsigned": |a, b| u32::from(i32::from(a) < i32::from(b)) + a as u32, "return (a < b) + a;";
        i16, "short" => i16, "short": |a, b| a.wrapping_sub(b) ^ 77, "return (a - b) ^ 77;";
        u16, "unsigned short" => i32, "int": |a, b| (a as i32) - (b as i32), "return a - b;";
        u32, "unsigned" => u32, "unsigned": |a, b| u32::from(a > u32::MAX - 1) + 2 * u32::from(b < 7), "return (a > -2) + 2 * (b < 7);";
        u32, "unsigned" => u32, "unsigned": |a, b| a.wrapping_neg() / b, "return -a / b;";
        u32, "unsigned" => i64, "long long": |a, b| a as i64 - b as i64, "return (long)a - b;";
        u32, "unsigned" => u64, "size_t": |a, b| a as u64 * b as u64 + 5, "return (size_t)a * b + 5u;";
        i32, "int" => u64, "unsigned long long": |a, b| (a as i64 as u64).wrapping_add(b as u32 as u64), "return a + (unsigned long)(unsigned)b;";
        i32, "int" => i32, "int": |a, b| a.wrapping_mul(3).wrapping_add(b >> 2), "return a * 3 + (b >> 2);";
        i32, "int" => i32, "int": |a, b| a % (b | 1).max(1) + a / (b | 1).max(1), "int d = max(b | 1, 1); return a % d + a / d;";
        i32, "int" => i32, "int": |a, b| a.wrapping_abs().wrapping_add(b.wrapping_abs()), "return abs(a) + abs(b);";
        i32, "int" => f32, "float": |a, b| a as f32 * 0.5 + b as f32, "return a * 0.5f + b;";
        i64, "long" => i64, "long": |a, b| (a & b) | (a ^ 5), "return (a & b) | (a ^ 5);";
        u64, "unsigned long" => u32, "unsigned": |a, b| (a >> (b & 63)) as u32, "return a >> (b & 63);";
        u32, "unsigned" => u32, "unsigned": |a, b| a.count_ones() + 100 * a.leading_zeros() + b, "return __popc(a) + 100 * __clz(a) + b;";
        u32, "unsigned" => i32, "int": |a, b| if b == 0 { 0 } else { b.trailing_zeros() as i32 + 1 }, "return __ffs(b);";
        u32, "unsigned" => f32, "float": |a, b| f32::from_bits(a), "return __uint_as_float(a);";
        f32, "float" => f32, "float": |a, b| (a as f64 * 0.1 + b as f64) as f32, "return a * 0.1 + b;";
        f32, "float" => f32, "float": |a, b| -a.abs() + a.max(b) - b.min(a), "return -fabsf(a) + fmaxf(a, b) - fminf(b, a);";
        f32, "float" => f32, "float": |a, b| a.mul_add(b, 1.5) + a * b, "return fmaf(a, b, 1.5f) + a * b;";
        f32, "float" => u32, "unsigned": |a, b| u32::from(a < b) + 2 * u32::from(a != b) + 4 * u32::from(!(a >= b)), "return (a < b) + 2 * (a != b) + 4 * !(a >= b);";
        f32, "float" => u32, "unsigned": |a, b| u32::from(a != 0.0 && !(b != 0.0)) + 2 * u32::from(a != 0.0), "return (a && !b) + 2 * (bool)a;";
        f64, "double" => f64, "double": |a, b| a * b - a / b, "return a * b - a / b;";
        f64, "double" => f32, "float": |a, b| a as f32 + b as f32, "return (float)a + float(b);";
        u32, "unsigned" => u32, "unsigned": |a, b| a.min(b) * 2 + 'A' as u32, "return min(a, b) * 2 + 'A';";
        u32, "unsigned" => u32, "unsigned": |a, b| if a % 2 == 0 { a } else { b }, "return a % 2 ? b : a;";
        i32, "int" => u32, "unsigned": |a, b| u32::from((a as u32) < 7) + 4 * sizes(), "return (a < 7u) + 4 * (sizeof(float4) + sizeof(unsigned char));";
    }
}

fn sizes() -> u32 {
    17
}

#[test]
fn statements_in_cuda_do_what_they_do_in_c() {
    same_in_cuda! {
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let (mut sum, mut k) = (0_u32, 0);
            while k < a % 17 {
                let one = k;
                k += 1;
                if one == 3 { continue; }
                if one == b % 5 { break; }
                sum = sum.wrapping_mul(31).wrapping_add(one);
            }
            sum
        }, "unsigned sum = 0; for (unsigned k = 0; k < a % 17; k++) { if (k == 3) continue; if (k == b % 5) break; sum = sum * 31 + k; } return sum;";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let (mut x, mut turns) = (a, 0);
            loop {
                turns += 1;
                if x % 3 != 1 { x = x / 3 + b % 2; } else { x /= 2; }
                if !(x > 10 && turns < 40) { break; }
            }
            turns * 1000 + x
        }, "unsigned x = a; int turns = 0; do { ++turns; if (x % 3 == 1) { x /= 2; continue; } x = x / 3 + b % 2; } while (x > 10 && turns < 40); return turns * 1000 + x;";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let (x, y) = (a % 50 + 1, b % 50);
            let (first, second) = (x, x + 1);
            first.wrapping_mul(100) + second * 7 + (y + 1) + (y + 1)
        }, "unsigned x = a % 50 + 1, y = b % 50; unsigned first = x++; unsigned second = x; unsigned third = ++y; return first * 100 + second * 7 + third + y;";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let z = b % 9;
            let y = z + 1;
            a.wrapping_add(y).wrapping_add(z * 3)
        }, "unsigned x, y, z; x = y = (z = b % 9) + 1; x += a; return x + z * 3;";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let clamped = |x: u32, most: u32| if x > most { most } else if x / 2 > 3 { x / 2 } else { x };
            clamped(a % 40, 30) + 6 * clamped(b, 3)
        }, "__device__ unsigned clamped(unsigned x, unsigned most) { if (x > most) return most; unsigned half = x / 2; if (half > 3) return half; return x; }@return clamped(a % 40, 30) + 6 * clamped(b, 3);";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let mut all = [1_u32, 2, 3, 0];
            for k in 0..4 { all[k] += a % 7; }
            all[(b % 4) as usize] = 9;
            all[(a % 4) as usize] * 10 + all[(b % 4) as usize]
        }, "unsigned all[4] = {1, 2, 3}; for (int k = 0; k < 4; k++) all[k] += a % 7; all[b % 4] = 9; return all[a % 4] * 10 + all[b % 4];";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let (x, y) = if a > b { (b, a) } else { (a, b) };
            x.wrapping_mul(3).wrapping_add(y)
        }, "__device__ void order(unsigned &x, unsigned &y) { if (x <= y) return; unsigned z = x; x = y; y = z; }@order(a, b); return a * 3 + b;";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let mut all = [a % 5, b % 5, 2, 3];
            for k in 0..(b % 6) { for one in &mut all { *one = *one * 2 + k; } }
            all[0] + 3 * all[1] + 5 * all[2] + 7 * all[3]
        }, "__device__ void twice(unsigned *all, unsigned k) { for (int i = 0; i < 4; i++) { *all = *all * 2 + k; all++; } }@unsigned all[4] = {a % 5, b % 5, 2, 3}; for (unsigned k = 0; k < b % 6; k++) twice(all, k); return all[0] + 3 * all[1] + 5 * all[2] + 7 * all[3];";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let mut sum = 0_u32;
            for k in 0..a % 9 { sum += k * (b % 3); }
            sum + 10
        }, "unsigned sum = 0; auto add = [&](unsigned k) { sum += k * (b % 3); }; for (unsigned k = 0; k < a % 9; k++) add(k); auto ten = [=](int x) { return x + 3; }; sum += ten(7); return sum;";
        u32, "unsigned" => u32, "unsigned": |a, b| (a % 7) * 10 + (b % 7) * 3 + 4, "#define SEVEN (3 + 4)\n#define TWO_WORDS unsigned\n@const TWO_WORDS ten = 10; constexpr int four = ten - 6; unsigned tile[four - 2] = {a % SEVEN, b % SEVEN}; return tile[0] * ten + tile[1] * 3 + four;";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let mut grid = [[0_u32; 3]; 2];
            for row in 0..2 { for column in 0..3 { grid[row][column] = a % 5 + (row * 3 + column) as u32; } }
            grid[(a % 2) as usize][(b % 3) as usize] * 7 + grid[1][2]
        }, "unsigned grid[2][3]; for (int row = 0; row < 2; row++) for (int column = 0; column < 3; column++) grid[row][column] = a % 5 + row * 3 + column; return grid[a % 2][b % 3] * 7 + grid[1][2];";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let mut x = a % 13;
            let mut k = 0;
            while k < 5 {
                if x % 2 == 0 { x += 3; } else if x > 9 { x -= 2; } else { x = x * 2 + b % 3; }
                k += 1;
            }
            x
        }, "unsigned x = a % 13; for (int k = 0; k < 5; ++k) if (x % 2 == 0) x += 3; else if (x > 9) x -= 2; else x = x * 2 + b % 3; return x;";
        f32, "float" => f32, "float": |a, b| (a + 1.0) + (b + 2.0) * 3.0, "float2 pair = make_float2(a, b); pair.x += 1; pair.y = pair.y + 2; return pair.x + pair.y * 3;";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let bytes = a.to_le_bytes();
            bytes[1] as u32 * 1000 + bytes[(b % 4) as usize] as u32
        }, "const unsigned char *bytes = (const unsigned char *)&a; return bytes[1] * 1000 + bytes[b % 4];";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let table = [1_u32, 2, 4, 8];
            table[(a % 4) as usize] + table[(b % 4) as usize]
        }, "__constant__ unsigned table[4] = {1, 2, 4, 8};@return table[a % 4] + table[b % 4];";
        u32, "unsigned" => u32, "unsigned": |a, b| b % 100 + (a % 100 + 1) * 2, "unsigned x[3] = {1, 2, b % 100}; int i = 0; x[i] += (i = 2) * 1.0f * (a % 100 + 1); return x[2];";
        u32, "unsigned" => u32, "unsigned": |a, b| (7 + b % 5) * 10 + a % 3, "unsigned char h[2] = {5, 7}; h[0] = a % 3; unsigned c = 0; h[c] += c++ + b % 5; return h[1] * 10 + h[0];";
        u32, "unsigned" => u32, "unsigned": |_a, _b| 12, "return sizeof(fmin((float)a, (float)b)) + sizeof(fmin((int)a, 2));";
        u32, "unsigned" => u32, "unsigned": |a, b| {
            let mut product = 1_u32;
            let mut k = 9_u32;
            loop {
                if k == a % 9 { break; }
                product = product.wrapping_mul(k | 1);
                k -= 1;
                if k == 0 { break; }
            }
            product.wrapping_add(k)
        }, "unsigned product = 1, k = 9; for (;;) { if (k == a % 9) break; product *= k | 1; if (--k == 0) break; } return product + k;";
    }
}

#[test]
fn what_is_not_read_in_cuda_is_refused_with_its_place() {
    let kernel = |body: &str| {
        format!(
            "extern \"C\" __global__ void k(const unsigned *x, unsigned *y, unsigned n) {{\n{body}\n}}\n"
        )
    };
    for (body, line, why) in [
        ("switch (n) { case 1: break; }", 2, "write `if` and `else if`"),
        ("struct S { int a; };", 2, "`struct` is not read here"),
        ("\nprintf(\"%d\", n);", 3, "a text is not read here"),
        ("y[0] = rsqrtf(2.0f);", 2, "write `1.0f / sqrtf(x)`"),
        ("y[0] = dance(n);", 2, "the function `dance` is not known here"),
        ("y[0] = z;", 2, "`z` is not known here"),
        ("x[0] = n;", 2, "nothing is written through a pointer to `const`"),
        ("const unsigned a = 1;\na = 2;", 3, "this cannot be assigned to"),
        (
            "unsigned *z = x;",
            2,
            "`unsigned int *` is wanted here, and `const unsigned int *` is found",
        ),
        ("extern __shared__ float tile[];", 2, "declare the array with its length"),
        ("__shared__ float tile[n];", 2, "the length of an array is a number"),
        ("y[0] = n / 0;", 2, "this divides by zero"),
        ("y[0] = n << 32;", 2, "shifts by 32 bits or more"),
        ("unsigned z[2] = {1, 2};\ny[0] = z[2];", 3, "this part has no value here"),
        ("if (n) {", 4, "`}` is expected here, and the file ends"),
        ("y[0] = n +;", 2, "a value is expected here, and `;` is found"),
        ("goto end;", 2, "write it with `if` and loops"),
        ("n = y[n++]++;", 2, "put its index into a variable first"),
        ("__shfl_down(n, 1);", 2, "write `__shfl_down_sync(0xffffffff, ..)`"),
        ("float4 v = y[0];", 2, "is wanted here, and `unsigned int` is found"),
        ("static int calls = 0;\ncalls += 1;", 2, "a `static` variable outlives its function"),
        ("break;", 2, "there is no loop around this `break`"),
        ("y[0] = ((uint4 *)y)[n].x;", 2, "take the whole vector"),
        ("unsigned z = 5000000000u;", 2, "is wanted"),
    ] {
        let refusal = match rust_to_ptx::compile_cuda(&kernel(body), "k.cu") {
            Err(refusal) => refusal,
            Ok(_) if why == "is wanted" => continue,
            Ok(_) => panic!("{body} is compiled"),
        };
        assert!(refusal.message.contains(why), "{body}: {refusal}");
        assert_eq!(refusal.place.line, line, "{body}: {refusal}");
    }
    for (text, why) in [
        ("__global__ void k(int *x) {}", "without it C++ gives the kernel another name"),
        ("__device__ int f() { return 1; }", "the file has no kernel"),
        ("int f() { return 1; }", "write `__device__` before it"),
        ("template <int N> __device__ int f() { return N; }", "`template` is not read here"),
        ("#define MIN(a, b) a\n", "make `MIN` a `__device__` function"),
        ("#if 1\n", "`#if` is not read here"),
        ("float table[4];", "`__device__` or `__constant__` before it"),
        ("__device__ int f(int n) { if (n) return 1; }", "may end without a `return`"),
    ] {
        let refusal = rust_to_ptx::compile_cuda(text, "k.cu").expect_err(text);
        assert!(refusal.message.contains(why), "{text}: {refusal}");
    }
}
