//! `cvt` to and from floats of 4, 6 and 8 bits, two at a time.
//!
//! CUDA's `cuda_fp8.hpp`, `cuda_fp6.hpp` and `cuda_fp4.hpp` compute on the host what these instructions do.

use super::half::{Bf16, F16, Half};
use super::rounding::{self, Rounding};
use super::{Meaning, lanes};
use ptx::Modifiers;
use ptx::Type;

const RELU: u32 = 32;
/// A scale that is too large becomes the largest one.
const SATURATE: u32 = 8;
/// Shift of the format's number in the immediate.
const FORMAT: u32 = 8;

/// A float of few bits.
struct Narrow {
    name: &'static str,
    /// The compute capability that has it.
    since: u32,
    exponent: u32,
    fraction: u32,
    /// The code of NaN; without one it becomes the largest number.
    nan: Option<u8>,
    /// The code of the largest number.
    largest: u8,
}

const FORMATS: [Narrow; 5] = [
    Narrow { name: "e4m3x2", since: 89, exponent: 4, fraction: 3, nan: Some(0x7f), largest: 0x7e },
    Narrow { name: "e5m2x2", since: 89, exponent: 5, fraction: 2, nan: Some(0x7f), largest: 0x7b },
    Narrow { name: "e2m3x2", since: 100, exponent: 2, fraction: 3, nan: None, largest: 0x1f },
    Narrow { name: "e3m2x2", since: 100, exponent: 3, fraction: 2, nan: None, largest: 0x1f },
    Narrow { name: "e2m1x2", since: 100, exponent: 2, fraction: 1, nan: None, largest: 0x7 },
];

impl Narrow {
    fn of(flags: u32) -> &'static Narrow {
        &FORMATS[(flags >> FORMAT) as usize % FORMATS.len()]
    }

    /// Returns the least exponent of a normal number.
    fn least(&self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }

    /// Returns the value of a code: a number, NaN, or an infinity of e5m2.
    fn value(&self, bits: u8) -> f32 {
        let magnitude = bits & ((1 << (self.exponent + self.fraction)) - 1);
        let (exponent, fraction) =
            (i32::from(magnitude >> self.fraction), magnitude & ((1 << self.fraction) - 1));
        let one = 1 << self.fraction;
        let number = if self.nan.is_some() && magnitude > self.largest {
            if self.exponent == 5 && fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else {
            let number = if exponent == 0 { fraction } else { one + fraction };
            let unit = self.least() + (exponent - 1).max(0) - self.fraction as i32;
            f64::from(number) * rounding::power(unit)
        };
        let is_negative = bits >> (self.exponent + self.fraction) & 1 == 1;
        (if is_negative { -number } else { number }) as f32
    }

    /// Rounds to the nearest number, or to the next one towards zero; what is too large becomes the largest.
    fn bits(&self, value: f32, flags: u32) -> u8 {
        if value.is_nan() {
            return self.nan.unwrap_or(self.largest);
        }
        if flags & RELU != 0 && value.is_sign_negative() {
            return 0;
        }
        let precision = self.fraction as i32 + 1;
        let magnitude = f64::from(value.abs().min(f32::MAX));
        let mode = Rounding::from_code(flags);
        let magnitude = rounding::round((magnitude, 0), mode, precision, self.least());
        // In units of the subnormal numbers, which are whole numbers of them.
        let mut number = magnitude / rounding::power(self.least() - self.fraction as i32);
        let mut exponent = 0;
        while number >= f64::from(2 << self.fraction) {
            (number, exponent) = (number / 2.0, exponent + 1);
        }
        let code = exponent * (1 << self.fraction) + number as u64;
        let code = code.min(u64::from(self.largest)) as u8;
        code | u8::from(value.is_sign_negative()) << (self.exponent + self.fraction)
    }
}

/// Returns the number of a code of `e4m3`, `e5m2`, `e2m3`, `e3m2` or `e2m1`.
pub(crate) fn number(format: &str, code: u8) -> f64 {
    let narrow = FORMATS.iter().find(|narrow| narrow.name.strip_suffix("x2") == Some(format));
    narrow.map_or(f64::NAN, |narrow| f64::from(narrow.value(code)))
}

/// Joins the two of a pair: bytes of a half-word, or halves of a byte.
fn joined(flags: u32, low: f32, high: f32) -> u16 {
    let narrow = Narrow::of(flags);
    let [low, high] = [low, high].map(|value| u16::from(narrow.bits(value, flags)));
    low | high << width(narrow)
}

fn width(narrow: &Narrow) -> u32 {
    if narrow.exponent + narrow.fraction == 3 { 4 } else { 8 }
}

fn split<H: Half>(flags: u32, pair: u16) -> [H; 2] {
    let narrow = Narrow::of(flags);
    let width = width(narrow);
    [pair, pair >> width].map(|bits| {
        let value = narrow.value((bits & ((1 << width) - 1)) as u8);
        let is_clamped = flags & RELU != 0 && value.is_sign_negative() && !value.is_nan();
        H::nearest(if is_clamped { 0.0 } else { value })
    })
}

/// Returns the scale of a number: its exponent without sign, the next one upwards for `rp`.
fn scale(value: f32, flags: u32) -> u16 {
    let magnitude = value.to_bits() & 0x7fff_ffff;
    let rises = Rounding::from_code(flags) == Rounding::Up && magnitude & 0x7f_ffff != 0;
    let is_finite = magnitude < 0x7f80_0000;
    // 2^-127, the least scale, is a subnormal f32.
    let code = (magnitude >> 23) + u32::from(rises && is_finite && magnitude > 0x40_0000);
    let is_clamped = flags & SATURATE != 0 && !value.is_nan();
    code.min(if is_clamped { 0xfe } else { 0xff }) as u16
}

fn scaled(code: u16) -> Bf16 {
    Bf16(match code {
        0xff => 0x7fff,
        0 => 0x40,
        code => code << 7,
    })
}

/// Decodes `cvt` with such a type; the other one is in `modifiers.types`.
pub(super) fn meaning(modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let other = modifiers.only_type()?;
    if modifiers.take("ue8m0x2") {
        return scales(other, modifiers);
    }
    let number = FORMATS.iter().position(|format| modifiers.take(format.name))?;
    let format = &FORMATS[number];
    let narrows = modifiers.take("satfinite");
    let mut flags = (number as u32) << FORMAT;
    if modifiers.take("relu") {
        flags |= RELU;
    }
    match modifiers.take_any(&["rn", "rz"])? {
        "rz" if format.nan.is_none() && narrows => flags |= Rounding::Zero.code(),
        "rn" => {}
        _ => return None,
    }
    let pair = if width(format) == 4 { Type::B8 } else { Type::B16 };
    let (function, to, from) = match (other, narrows) {
        (Type::F32, true) => (
            lanes!(flags; |a: f32, b: f32| -> u16 { joined(flags, b, a) }),
            pair,
            &[other, other][..],
        ),
        (Type::F16x2, true) => (
            lanes!(flags; |a: [F16; 2]| -> u16 { joined(flags, a[0].value(), a[1].value()) }),
            pair,
            &[other][..],
        ),
        (Type::Bf16x2, true) => (
            lanes!(flags; |a: [Bf16; 2]| -> u16 { joined(flags, a[0].value(), a[1].value()) }),
            pair,
            &[other][..],
        ),
        (Type::F16x2, false) => {
            (lanes!(flags; |a: u16| -> [F16; 2] { split(flags, a) }), other, &[pair][..])
        }
        (Type::Bf16x2, false) => {
            (lanes!(flags; |a: u16| -> [Bf16; 2] { split(flags, a) }), other, &[pair][..])
        }
        _ => return None,
    };
    Some(Meaning::new(function, to, from).with(flags).since(format.since))
}

/// Decodes `cvt` to and from pairs of powers of two.
fn scales(other: Type, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let mut flags = if modifiers.take("satfinite") { SATURATE } else { 0 };
    let mode = modifiers.take_any(&["rn", "rz", "rp"])?;
    if (mode, other, flags) == ("rn", Type::Bf16x2, 0) {
        let function = lanes!(|a: u16| -> [Bf16; 2] { [a & 0xff, a >> 8].map(scaled) });
        return Some(Meaning::new(function, other, &[Type::B16]).since(100));
    }
    flags |= match mode {
        "rz" => Rounding::Zero.code(),
        "rp" => Rounding::Up.code(),
        _ => return None,
    };
    let (function, from) = match other {
        Type::F32 => (
            lanes!(flags; |a: f32, b: f32| -> u16 { scale(b, flags) | scale(a, flags) << 8 }),
            &[other, other][..],
        ),
        Type::Bf16x2 => (
            lanes!(flags; |a: [Bf16; 2]| -> u16 {
                scale(a[0].value(), flags) | scale(a[1].value(), flags) << 8
            }),
            &[other][..],
        ),
        _ => return None,
    };
    Some(Meaning::new(function, Type::B16, from).with(flags).since(100))
}
