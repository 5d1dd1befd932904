//! Expressions and statements mean what rustc gives them: each is compiled twice, and executed on the same values.

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
    let source = format!(
        "use cuda_std::prelude::*;\n#[kernel]\npub unsafe fn k(first: *const {0}, second: *const {0}, target: *mut {1}, n: u32) {{\n\
         let i = thread::index_1d() as usize;\nif i < n as usize {{ unsafe {{\nlet (a, b) = (*first.add(i), *second.add(i));\n\
         *target.add(i) = {2};\n}} }} }}",
        of[0], of[1], body
    );
    let ptx =
        rust_to_ptx::compile(&source, "k.rs").unwrap_or_else(|error| panic!("{body}: {error}"));
    let module = Module::parse(&ptx).unwrap_or_else(|error| panic!("{body}: {error}\n{ptx}"));
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
fn what_is_not_read_is_refused_with_its_place() {
    let kernel = |body: &str| {
        format!(
            "use cuda_std::prelude::*;\n#[kernel]\npub unsafe fn k(x: *mut u32, n: u32) {{\n{body}\n}}\n"
        )
    };
    for (body, line, why) in [
        ("match n { _ => {} }", 4, "`match` is not read here"),
        ("let y = &n;", 4, "references are not read here"),
        ("let y = 1;\ny = 2;", 5, "`y` is not mutable"),
        ("let y: f32 = 1;", 4, "`f32` is wanted"),
        ("let y = n + 1_u64;", 4, "`u32` is wanted"),
        ("let y = n.rotate_left(3);", 4, "the method `rotate_left` of `u32` is not known"),
        ("thread::dance();", 4, "`thread::dance` is not known"),
        ("println!();", 4, "macros are not read here"),
        ("let y = -n;", 4, "a number with a sign"),
        ("let y: u8 = 256;", 4, "256 does not fit into `u8`"),
        ("let y = [1, 2];\nlet z = y[2];", 5, "outside of its array"),
        ("fn f(x: *const u32) -> u32 { *x }", 4, "put it into an `unsafe` block"),
        ("struct S;", 4, "this kind of item is not read here"),
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
