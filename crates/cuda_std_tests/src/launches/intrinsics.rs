//! Launches of the kernels of `intrinsics`.
//!
//! Functions that are code are compared with what the host makes of the same inputs, in every bit; those with a
//! rounding direction with LLVM's software floats; those of the special function unit within their error.

use super::launch::{Launch, per_thread};
use crate::kernels::intrinsics::*;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// Numbers of every kind, and others of moderate size.
fn f64s(seed: u32) -> Vec<f64> {
    const LIMITS: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        -2.5,
        3.5,
        1e-40,
        -1e-310,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e30,
        -1e300,
        4_294_967_295.5,
        -2_147_483_648.5,
        9.3e18,
        0.1,
        16_777_217.0,
    ];
    per_thread(|tid| {
        let tid = (tid * (2 * seed + 1) + 7 * seed) % 64;
        LIMITS.get(tid as usize).copied().unwrap_or((f64::from(tid) - 41.3) * 0.2131)
    })
}

fn f32s(seed: u32) -> Vec<f32> {
    f64s(seed).into_iter().map(|number| number as f32).collect()
}

/// Integers of every size and both signs.
fn i64s(seed: u32) -> Vec<i64> {
    per_thread(|tid| {
        let bits = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(u64::from(tid + 64 * seed)) ^ 0x5a5a;
        (bits as i64) >> (tid % 64)
    })
}

fn i32s(seed: u32) -> Vec<i32> {
    i64s(seed).into_iter().map(|number| (number ^ (number >> 32)) as i32).collect()
}

/// Small integers, as exponents and orders.
fn small(seed: u32) -> Vec<i32> {
    per_thread(|tid| ((tid * 5 + seed) % 13) as i32 - 4)
}

fn i16s(seed: u32) -> Vec<i16> {
    i64s(seed).into_iter().map(|number| number as i16).collect()
}

/// The results of functions for each thread.
fn results<T>(threads: usize, functions: usize, of: impl Fn(usize, usize) -> T) -> Vec<T> {
    (0..threads * functions).map(|place| of(place / functions, place % functions)).collect()
}

/// Results as a kernel must store them.
trait Results: Sized {
    fn written(launch: Launch, expected: Vec<Self>) -> Launch;
}

impl Results for f32 {
    fn written(launch: Launch, expected: Vec<f32>) -> Launch {
        launch.writes_f32(expected, 0.0, 0.0)
    }
}

impl Results for f64 {
    fn written(launch: Launch, expected: Vec<f64>) -> Launch {
        launch.writes_f64(expected, 0.0, 0.0)
    }
}

macro_rules! results_in_every_bit {
    ($($kind:ident)*) => {
        $(impl Results for $kind {
            fn written(launch: Launch, expected: Vec<$kind>) -> Launch {
                launch.writes(&expected)
            }
        })*
    };
}
results_in_every_bit! { i16 i32 i64 }

macro_rules! plain {
    ($($kernel:ident $names:ident $functions:ident ($($argument:ident: $input:expr),*);)*) => {
        vec![$({
            $(let $argument = $input;)*
            // SAFETY: functions without pointers ask for nothing.
            let expected = results(64, $names.len(), |tid, index| unsafe { $functions[index]($($argument[tid]),*) });
            Results::written(Launch::of($kernel)$(.reads(&$argument))*, expected)
        }),*]
    };
}

fn plain() -> Vec<Launch> {
    plain! {
        intrinsics_plain_i32_to_i32 PLAIN_I32_TO_I32 PLAIN_I32_TO_I32_FUNCTIONS (a: i32s(0));
        intrinsics_plain_f64_to_f64 PLAIN_F64_TO_F64 PLAIN_F64_TO_F64_FUNCTIONS (a: f64s(0));
        intrinsics_plain_f32_to_f32 PLAIN_F32_TO_F32 PLAIN_F32_TO_F32_FUNCTIONS (a: f32s(0));
        intrinsics_plain_2_f64_to_f64 PLAIN_2_F64_TO_F64 PLAIN_2_F64_TO_F64_FUNCTIONS (a: f64s(0), b: f64s(1));
        intrinsics_plain_2_f32_to_f32 PLAIN_2_F32_TO_F32 PLAIN_2_F32_TO_F32_FUNCTIONS (a: f32s(0), b: f32s(1));
        intrinsics_plain_i64_to_i64 PLAIN_I64_TO_I64 PLAIN_I64_TO_I64_FUNCTIONS (a: i64s(0));
        intrinsics_plain_3_i32_to_i32 PLAIN_3_I32_TO_I32 PLAIN_3_I32_TO_I32_FUNCTIONS (a: i32s(0), b: i32s(1), c: i32s(2));
        intrinsics_plain_i64_to_i32 PLAIN_I64_TO_I32 PLAIN_I64_TO_I32_FUNCTIONS (a: i64s(0));
        intrinsics_plain_f64_to_i32 PLAIN_F64_TO_I32 PLAIN_F64_TO_I32_FUNCTIONS (a: f64s(0));
        intrinsics_plain_f64_to_i64 PLAIN_F64_TO_I64 PLAIN_F64_TO_I64_FUNCTIONS (a: f64s(0));
        intrinsics_plain_f32_to_i32 PLAIN_F32_TO_I32 PLAIN_F32_TO_I32_FUNCTIONS (a: f32s(0));
        intrinsics_plain_f32_to_i16 PLAIN_F32_TO_I16 PLAIN_F32_TO_I16_FUNCTIONS (a: moderate(0));
        intrinsics_plain_3_f64_to_f64 PLAIN_3_F64_TO_F64 PLAIN_3_F64_TO_F64_FUNCTIONS (a: f64s(0), b: f64s(1), c: f64s(2));
        intrinsics_plain_3_f32_to_f32 PLAIN_3_F32_TO_F32 PLAIN_3_F32_TO_F32_FUNCTIONS (a: f32s(0), b: f32s(1), c: f32s(2));
        intrinsics_plain_2_i32_to_i32 PLAIN_2_I32_TO_I32 PLAIN_2_I32_TO_I32_FUNCTIONS (a: i32s(0), b: i32s(1));
        intrinsics_plain_i16_to_f32 PLAIN_I16_TO_F32 PLAIN_I16_TO_F32_FUNCTIONS (a: i16s(0));
        intrinsics_plain_2_i32_to_f64 PLAIN_2_I32_TO_F64 PLAIN_2_I32_TO_F64_FUNCTIONS (a: i32s(0), b: i32s(1));
        intrinsics_plain_i32_to_f64 PLAIN_I32_TO_F64 PLAIN_I32_TO_F64_FUNCTIONS (a: i32s(0));
        intrinsics_plain_i32_to_f32 PLAIN_I32_TO_F32 PLAIN_I32_TO_F32_FUNCTIONS (a: i32s(0));
        intrinsics_plain_i32_f64_to_f64 PLAIN_I32_F64_TO_F64 PLAIN_I32_F64_TO_F64_FUNCTIONS (a: small(0), b: f64s(1));
        intrinsics_plain_i32_f32_to_f32 PLAIN_I32_F32_TO_F32 PLAIN_I32_F32_TO_F32_FUNCTIONS (a: small(0), b: f32s(1));
        intrinsics_plain_f64_i32_to_f64 PLAIN_F64_I32_TO_F64 PLAIN_F64_I32_TO_F64_FUNCTIONS (a: f64s(0), b: small(1));
        intrinsics_plain_f32_i32_to_f32 PLAIN_F32_I32_TO_F32 PLAIN_F32_I32_TO_F32_FUNCTIONS (a: f32s(0), b: small(1));
        intrinsics_plain_2_i64_to_i64 PLAIN_2_I64_TO_I64 PLAIN_2_I64_TO_I64_FUNCTIONS (a: i64s(0), b: i64s(1));
        intrinsics_plain_f32_to_i64 PLAIN_F32_TO_I64 PLAIN_F32_TO_I64_FUNCTIONS (a: f32s(0));
        intrinsics_plain_i64_to_f64 PLAIN_I64_TO_F64 PLAIN_I64_TO_F64_FUNCTIONS (a: i64s(0));
    }
}

/// The rounding direction at the end of a function's name, and the name without it.
fn mode(name: &str) -> (&str, Round) {
    let (stem, mode) = name.rsplit_once('_').expect("the name ends with a direction");
    let mode = match mode {
        "rn" => Round::NearestTiesToEven,
        "rz" => Round::TowardZero,
        "rd" => Round::TowardNegative,
        _ => Round::TowardPositive,
    };
    (stem, mode)
}

/// Returns what an operation of this name makes of numbers.
fn operate<F: Float>(name: &str, [a, b, c]: [F; 3]) -> F {
    let (stem, mode) = mode(name);
    let one = F::from_u128(1).value;
    match &stem[1..] {
        "add" => a.add_r(b, mode).value,
        "sub" => a.sub_r(b, mode).value,
        "mul" => a.mul_r(b, mode).value,
        "div" => a.div_r(b, mode).value,
        "rcp" => one.div_r(a, mode).value,
        "ma" | "maf" => a.mul_add_r(b, c, mode).value,
        _ => panic!("{name} is no operation"),
    }
}

fn single(bits: f32) -> Single {
    Single::from_bits(u128::from(bits.to_bits()))
}

fn double(bits: f64) -> Double {
    Double::from_bits(u128::from(bits.to_bits()))
}

fn f32_of(number: Single) -> f32 {
    f32::from_bits(number.to_bits() as u32)
}

fn f64_of(number: Double) -> f64 {
    f64::from_bits(number.to_bits() as u64)
}

/// The square root: that to the nearest, moved by the sign of what it misses.
fn root(name: &str, x: f64) -> f64 {
    let (_, mode) = mode(name);
    let near = x.sqrt();
    let misses = (-near).mul_add(near, x);
    match mode {
        Round::TowardNegative | Round::TowardZero if misses < 0.0 => near.next_down(),
        Round::TowardPositive if misses > 0.0 => near.next_up(),
        _ => near,
    }
}

fn of_f64(name: &str, [a, b, c]: [f64; 3]) -> f64 {
    if name.starts_with("dsqrt") {
        return root(name, a);
    }
    f64_of(operate(name, [a, b, c].map(double)))
}

fn of_f32(name: &str, [a, b, c]: [f32; 3]) -> f32 {
    if name.starts_with("fsqrt") {
        let (_, mode) = mode(name);
        return f32_of(double(f64::from(a).sqrt()).convert_r(mode, &mut false).value);
    }
    f32_of(operate(name, [a, b, c].map(single)))
}

/// A float as an integer of 64 bits; what is read from it may be its lower half.
fn integer(name: &str, number: f64) -> i64 {
    let (stem, mode) = mode(name);
    let (from, to) = stem.split_once('2').expect("a conversion");
    if number.is_nan() {
        // The sign bit alone where either side has 64 bits.
        return match (from, to) {
            ("float", "int" | "uint") => 0,
            (_, "int" | "uint") => i64::from(i32::MIN),
            _ => i64::MIN,
        };
    }
    let whole = match mode {
        Round::TowardNegative => number.floor(),
        Round::TowardPositive => number.ceil(),
        Round::TowardZero => number.trunc(),
        _ => number.round_ties_even(),
    };
    match to {
        "int" => i64::from(whole as i32),
        "uint" => i64::from(whole as u32),
        "ll" => whole as i64,
        _ => whole as u64 as i64,
    }
}

/// The integer that the bits stand for in a function of this name.
fn value(name: &str, bits: i64) -> i128 {
    match name.split('2').next() {
        Some("uint") => i128::from(bits as u32),
        Some("ull") => i128::from(bits as u64),
        _ => i128::from(bits),
    }
}

macro_rules! directed {
    ($($kernel:ident $names:ident ($($argument:ident: $input:expr),*) = |$name:ident, $tid:ident| $value:expr;)*) => {
        vec![$({
            $(let $argument = $input;)*
            let expected = results(64, $names.len(), |$tid, index| {
                let $name = $names[index];
                $value
            });
            Results::written(Launch::of($kernel)$(.reads(&$argument))*, expected)
        }),*]
    };
}

fn directed() -> Vec<Launch> {
    directed! {
        intrinsics_directed_f32_to_f32 DIRECTED_F32_TO_F32 (a: f32s(0)) = |name, tid| of_f32(name, [a[tid]; 3]);
        intrinsics_directed_2_f32_to_f32 DIRECTED_2_F32_TO_F32 (a: f32s(0), b: f32s(1)) =
            |name, tid| of_f32(name, [a[tid], b[tid], 0.0]);
        intrinsics_directed_3_f32_to_f32 DIRECTED_3_F32_TO_F32 (a: f32s(0), b: f32s(1), c: f32s(2)) =
            |name, tid| of_f32(name, [a[tid], b[tid], c[tid]]);
        intrinsics_directed_f64_to_f64 DIRECTED_F64_TO_F64 (a: f64s(0)) = |name, tid| of_f64(name, [a[tid]; 3]);
        intrinsics_directed_2_f64_to_f64 DIRECTED_2_F64_TO_F64 (a: f64s(0), b: f64s(1)) =
            |name, tid| of_f64(name, [a[tid], b[tid], 0.0]);
        intrinsics_directed_3_f64_to_f64 DIRECTED_3_F64_TO_F64 (a: f64s(0), b: f64s(1), c: f64s(2)) =
            |name, tid| of_f64(name, [a[tid], b[tid], c[tid]]);
        intrinsics_directed_f64_to_f32 DIRECTED_F64_TO_F32 (a: f64s(0)) =
            |name, tid| f32_of(double(a[tid]).convert_r(mode(name).1, &mut false).value);
        intrinsics_directed_f32_to_i32 DIRECTED_F32_TO_I32 (a: f32s(0)) =
            |name, tid| integer(name, f64::from(a[tid])) as i32;
        intrinsics_directed_f32_to_i64 DIRECTED_F32_TO_I64 (a: f32s(0)) =
            |name, tid| integer(name, f64::from(a[tid]));
        intrinsics_directed_f64_to_i32 DIRECTED_F64_TO_I32 (a: f64s(0)) = |name, tid| integer(name, a[tid]) as i32;
        intrinsics_directed_f64_to_i64 DIRECTED_F64_TO_I64 (a: f64s(0)) = |name, tid| integer(name, a[tid]);
        intrinsics_directed_i32_to_f32 DIRECTED_I32_TO_F32 (a: i32s(0)) =
            |name, tid| f32_of(Single::from_i128_r(value(name, i64::from(a[tid])), mode(name).1).value);
        intrinsics_directed_i64_to_f32 DIRECTED_I64_TO_F32 (a: i64s(0)) =
            |name, tid| f32_of(Single::from_i128_r(value(name, a[tid]), mode(name).1).value);
        intrinsics_directed_i64_to_f64 DIRECTED_I64_TO_F64 (a: i64s(0)) =
            |name, tid| f64_of(Double::from_i128_r(value(name, a[tid]), mode(name).1).value);
    }
}

/// Angles and exponents for which the special function unit has its stated error.
fn moderate(seed: u32) -> Vec<f32> {
    per_thread(|tid| 0.05 + 0.043 * ((tid * (2 * seed + 1)) % 64) as f32)
}

/// The error that the launches of the special function unit may have: that of a tangent near its pole is the largest.
const FAST: f64 = 1e-4;

fn fast() -> Vec<Launch> {
    let (a, b) = (moderate(0), moderate(1));
    // SAFETY: functions without pointers ask for nothing.
    let one = results(64, FAST_F32_TO_F32.len(), |tid, index| unsafe {
        FAST_F32_TO_F32_FUNCTIONS[index](a[tid])
    });
    // SAFETY: as above.
    let two = results(64, FAST_2_F32_TO_F32.len(), |tid, index| unsafe {
        FAST_2_F32_TO_F32_FUNCTIONS[index](a[tid], b[tid])
    });
    vec![
        Launch::of(intrinsics_fast_f32_to_f32).reads(&a).writes_f32(one, FAST, FAST / 10.0),
        Launch::of(intrinsics_fast_2_f32_to_f32).reads(&a).reads(&b).writes_f32(
            two,
            FAST,
            FAST / 10.0,
        ),
    ]
}

fn pointers() -> Launch {
    let (a, b) = (
        per_thread(|tid| (f64::from(tid) - 31.3) * 0.071),
        per_thread(|tid| f64::from(tid) * 0.3 - 7.0),
    );
    let expected = results(64, POINTER_RESULTS, |tid, place| with_pointers(a[tid], b[tid])[place]);
    Launch::of(intrinsics_pointers).reads(&a).reads(&b).writes_f64(expected, 1e-6, 1e-6)
}

pub(super) fn launches() -> Vec<Launch> {
    let mut launches = plain();
    launches.extend(directed());
    launches.extend(fast());
    launches.push(pointers());
    launches
}
