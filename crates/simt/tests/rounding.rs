//! Arithmetic and conversions in every rounding direction, against LLVM's software floats.

use rustc_apfloat::ieee::{Double, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use simt::{Launch, Memory, Module, Options, run};

const MODES: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

/// Numbers near every limit of f64 and of f32, and others whose exponents lie near each other.
fn numbers() -> Vec<f64> {
    let limits = [
        0.0,
        f64::from_bits(1),
        f64::from_bits((1 << 52) - 1),
        f64::MIN_POSITIVE,
        f64::from(f32::from_bits(1)),
        f64::from(f32::from_bits((1 << 23) - 1)),
        f64::from(f32::MIN_POSITIVE),
        1e-200,
        1.0,
        1.0 + f64::EPSILON,
        1.0 - f64::EPSILON / 2.0,
        1.0 + f64::from(f32::EPSILON),
        1.0 - f64::from(f32::EPSILON) / 2.0,
        3.0,
        f64::from(f32::MAX),
        2f64.powi(128),
        1e200,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    let mut state = 20_261_125_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let others: Vec<f64> = (0..44)
        .map(|_| {
            let exponent = 1023 - 70 + random() % 140;
            f64::from_bits(exponent << 52 | (random() & ((1 << 52) - 1)))
        })
        .collect();
    limits.into_iter().chain(others).flat_map(|number| [number, -number]).collect()
}

/// Returns the result of `instruction` on each row of operands `$a`, `$b`, `$c`: bits of `out`, from bits of `source`.
fn execute(instruction: &str, source: &str, out: &str, rows: &[[u64; 3]]) -> Vec<u64> {
    let (bits, width) = (&source[1..], source[1..].parse::<u64>().unwrap() / 8);
    let (out_bits, out_width) = (&out[1..], out[1..].parse::<usize>().unwrap() / 8);
    let operand =
        |name: &str, index: u64| format!("ld.global.b{bits} {name}, [%rd4+{}]; ", index * width);
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 from, .param .u64 to) {{\n\
         .reg .{source} a, b, c; .reg .{out} d; .reg .b32 %r<5>; .reg .b64 %rd<7>;\n\
         ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r2, 32, %r1;\n\
         mul.wide.u32 %rd3, %r3, {}; add.u64 %rd4, %rd1, %rd3;\n{}{}{}\n\
         {instruction};\n\
         mul.wide.u32 %rd5, %r3, {out_width}; add.u64 %rd6, %rd2, %rd5;\n\
         st.global.b{out_bits} [%rd6], d; ret;\n}}\n",
        3 * width,
        operand("a", 0),
        operand("b", 1),
        operand("c", 2),
    );
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let blocks = rows.len().div_ceil(32);
    let mut memory = Memory::default();
    let from = memory.allocate(96 * blocks as u64 * width).unwrap();
    let to = memory.allocate((32 * blocks * out_width) as u64).unwrap();
    let bytes: Vec<u8> = rows
        .iter()
        .flatten()
        .flat_map(|bits| bits.to_le_bytes()[..width as usize].to_vec())
        .collect();
    memory.write(from, &bytes).unwrap();
    let launch = Launch::new("k", [blocks as u32, 1, 1], [32, 1, 1]).address(from).address(to);
    run(&module, &mut memory, &launch, &Options::default()).unwrap();
    let mut bytes = vec![0; rows.len() * out_width];
    memory.read(to, &mut bytes).unwrap();
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..out_width].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    bytes.chunks(out_width).map(word).collect()
}

/// Compares what the executor makes of `rows` with what the library does; any NaN is one.
fn compare<F: Float>(
    instruction: &str,
    source: &str,
    out: &str,
    rows: &[[u64; 3]],
    expected: impl Fn([u64; 3]) -> F,
) {
    for (row, got) in rows.iter().zip(execute(instruction, source, out, rows)) {
        let (expected, got) = (expected(*row), F::from_bits(u128::from(got)));
        let is_equal = expected.is_nan() && got.is_nan() || expected.bitwise_eq(got);
        assert!(is_equal, "{instruction} of {row:x?}: {got} instead of {expected}");
    }
}

/// All operations on one kind of float.
fn arithmetic<F: Float>(kind: &str, bits: impl Fn(f64) -> u64) {
    let numbers: Vec<u64> = numbers().into_iter().map(bits).collect();
    let float = |bits: u64| F::from_bits(u128::from(bits));
    let pairs: Vec<[u64; 3]> = numbers
        .iter()
        .flat_map(|a| numbers.iter().map(move |b| (*a, *b)))
        .enumerate()
        .map(|(index, (a, b))| [a, b, numbers[index * 7 % numbers.len()]])
        .collect();
    // A product and what nearly cancels it.
    let near = pairs.iter().map(|[a, b, _]| {
        let product = -(float(*a) * float(*b)).value;
        [*a, *b, product.to_bits() as u64]
    });
    let triples: Vec<[u64; 3]> = pairs.iter().copied().chain(near).collect();
    for (name, mode) in MODES {
        let of = |operation: &str| format!("{operation}.{name}.{kind} d, a, b");
        compare(&of("add"), kind, kind, &pairs, |[a, b, _]| float(a).add_r(float(b), mode).value);
        compare(&of("sub"), kind, kind, &pairs, |[a, b, _]| float(a).sub_r(float(b), mode).value);
        compare(&of("mul"), kind, kind, &pairs, |[a, b, _]| float(a).mul_r(float(b), mode).value);
        compare(&of("div"), kind, kind, &pairs, |[a, b, _]| float(a).div_r(float(b), mode).value);
        let fma = format!("fma.{name}.{kind} d, a, b, c");
        compare(&fma, kind, kind, &triples, |[a, b, c]| {
            float(a).mul_add_r(float(b), float(c), mode).value
        });
        let one = F::from_u128(1).value;
        let rcp = format!("rcp.{name}.{kind} d, a");
        compare(&rcp, kind, kind, &pairs, |[a, ..]| one.div_r(float(a), mode).value);
    }
}

#[test]
fn single_precision() {
    arithmetic::<Single>("f32", |number| u64::from((number as f32).to_bits()));
}

#[test]
fn double_precision() {
    arithmetic::<Double>("f64", f64::to_bits);
}

/// The exact square of a float, and the float, in quadruple precision.
fn square<F: FloatConvert<Quad>>(root: F) -> Quad {
    let root = root.convert(&mut false).value;
    (root * root).value
}

/// Roots have no library: the squares of the result and of its neighbour lie on both sides.
fn roots<F: Float + FloatConvert<Quad>>(kind: &str, bits: impl Fn(f64) -> u64) {
    let rows: Vec<[u64; 3]> = numbers()
        .into_iter()
        .filter(|number| *number > 0.0)
        .map(|number| [bits(number); 3])
        .collect();
    for (name, mode) in MODES {
        let got = execute(&format!("sqrt.{name}.{kind} d, a"), kind, kind, &rows);
        for ([a, ..], got) in rows.iter().zip(got) {
            let (a, got) = (F::from_bits(u128::from(*a)), F::from_bits(u128::from(got)));
            if a.is_infinite() || a.is_zero() {
                assert!(got.bitwise_eq(a), "{a}");
                continue;
            }
            let exact = a.convert(&mut false).value;
            let (below, above) = (got.next_down().value, got.next_up().value);
            let is_right = match mode {
                Round::TowardZero | Round::TowardNegative => {
                    square(got) <= exact && exact < square(above)
                }
                Round::TowardPositive => square(below) < exact && exact <= square(got),
                // Of the two beside the root, the nearer one.
                _ => square(below) < exact && exact < square(above),
            };
            assert!(is_right, "sqrt.{name}.{kind} of {a} is {got}");
        }
    }
}

#[test]
fn square_roots() {
    roots::<Single>("f32", |number| u64::from((number as f32).to_bits()));
    roots::<Double>("f64", f64::to_bits);
}

#[test]
fn conversions() {
    let doubles: Vec<[u64; 3]> = numbers().iter().map(|number| [number.to_bits(); 3]).collect();
    let integers: Vec<[u64; 3]> = (0..64)
        .flat_map(|bit| {
            [1_u64 << bit, (1 << bit) - 1, (1_u64 << bit).wrapping_add(1), u64::MAX - (1 << bit)]
        })
        .map(|integer| [integer; 3])
        .collect();
    for (name, mode) in MODES {
        let single = format!("cvt.{name}.f32.f64 d, a");
        compare(&single, "f64", "f32", &doubles, |[a, ..]| -> Single {
            Double::from_bits(u128::from(a)).convert_r(mode, &mut false).value
        });
        for kind in ["u64", "s64"] {
            let value = |a: u64| if kind == "u64" { i128::from(a) } else { i128::from(a as i64) };
            let double = format!("cvt.{name}.f64.{kind} d, a");
            compare(&double, kind, "f64", &integers, |[a, ..]| {
                Double::from_i128_r(value(a), mode).value
            });
            let single = format!("cvt.{name}.f32.{kind} d, a");
            compare(&single, kind, "f32", &integers, |[a, ..]| {
                Single::from_i128_r(value(a), mode).value
            });
        }
    }
}

#[test]
fn the_seeds_of_doubles_read_and_write_the_high_word() {
    let seed = |instruction: &str, a: f64| {
        let got = execute(
            &format!("{instruction}.approx.ftz.f64 d, a"),
            "f64",
            "f64",
            &[[a.to_bits(); 3]],
        );
        f64::from_bits(got[0])
    };
    let low = f64::from_bits(2f64.to_bits() | 0xffff_ffff);
    for (instruction, of_two) in [("rcp", 0.5), ("rsqrt", 0.5f64.sqrt())] {
        let got = seed(instruction, low);
        assert_eq!(got.to_bits() & 0xffff_ffff, 0);
        assert_eq!(got.to_bits(), seed(instruction, 2.0).to_bits());
        approx::assert_abs_diff_eq!(got / of_two, 1.0, epsilon = 2f64.powi(-20));
        assert_eq!(seed(instruction, f64::MIN_POSITIVE / 2.0), f64::INFINITY);
        assert_eq!(seed(instruction, f64::INFINITY), 0.0);
    }
    assert_eq!(seed("rcp", -f64::MIN_POSITIVE / 2.0), f64::NEG_INFINITY);
    assert_eq!(seed("rcp", -f64::MAX).to_bits(), (-0.0f64).to_bits());
}

#[test]
fn a_nan_keeps_its_sign_when_it_is_narrowed() {
    for (nan, expected) in [(f64::NAN, 0x7fc0_0000), (-f64::NAN, 0xffc0_0000)] {
        for (mode, _) in MODES {
            let got =
                execute(&format!("cvt.{mode}.f32.f64 d, a"), "f64", "f32", &[[nan.to_bits(); 3]]);
            assert_eq!(got, [expected], "{mode}");
        }
        let saturated = execute("cvt.rn.sat.f32.f64 d, a", "f64", "f32", &[[nan.to_bits(); 3]]);
        assert_eq!(saturated, [0]);
    }
}
