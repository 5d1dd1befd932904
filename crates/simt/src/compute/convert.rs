//! `cvt`: every conversion between integers and floats, with rounding and saturation.

use super::half::Half;
use super::rounding::{Rounding, integral, to_brain, to_half, to_single};
use super::special::{canonical, flush, saturate};
use super::{ComputeFunction, Meaning, exact, lanes};
use crate::compute::half::{Bf16, F16};
use ptx::Modifiers;
use ptx::Type;

const SATURATE: u32 = 8;
const FLUSH: u32 = 16;
const RELU: u32 = 32;
const TO_INTEGER: u32 = 64;

/// `cvt` instructions; the types are destination first.
pub(crate) fn meaning(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    if opcode != "cvt" {
        return None;
    }
    if modifiers.has("pack") {
        return pack(modifiers);
    }
    if modifiers.types.len() == 1 {
        return super::narrow::meaning(modifiers);
    }
    let &[to, from] = &modifiers.types[..] else { return None };
    let mut flags = 0;
    for (name, flag) in [("sat", SATURATE), ("ftz", FLUSH), ("relu", RELU)] {
        if modifiers.take(name) {
            flags |= flag;
        }
    }
    let float_mode = modifiers.take_any(&["rn", "rz", "rm", "rp", "rna"]);
    let integer_mode = modifiers.take_any(&["rni", "rzi", "rmi", "rpi"]);
    let mode = match float_mode.or(integer_mode) {
        Some("rz" | "rzi") => Rounding::Zero,
        Some("rm" | "rmi") => Rounding::Down,
        Some("rp" | "rpi") => Rounding::Up,
        Some("rna") => Rounding::Away,
        _ => Rounding::Nearest,
    };
    flags |= mode.code();
    if integer_mode.is_some() {
        flags |= TO_INTEGER;
    }
    let function = match (to.is_float(), from.is_float()) {
        (false, false) => integers(to, from, flags & SATURATE != 0)?,
        (true, false) => integer_to_float(to, from, mode, flags)?,
        (false, true) => float_to_integer(to, from)?,
        (true, true) => return floats(to, from, flags),
    };
    Some(Meaning::new(function, to, &[from]).with(flags))
}

macro_rules! integers_from {
    ($to:expr, $from:ty, $saturate:expr, $($variant:pat => $t:ty),*) => {
        match $to {
            $($variant if $saturate => Some(lanes!(|a: $from| -> $t {
                (a as i128).clamp(<$t>::MIN as i128, <$t>::MAX as i128) as $t
            })),
            $variant => Some(lanes!(|a: $from| -> $t { a as $t })),)*
            _ => None,
        }
    };
    ($to:expr, $from:ty, $saturate:expr) => {
        integers_from!($to, $from, $saturate, Type::U8 => u8, Type::S8 => i8, Type::U16 => u16,
            Type::S16 => i16, Type::U32 => u32, Type::S32 => i32, Type::U64 => u64,
            Type::S64 => i64)
    };
}

fn integers(to: Type, from: Type, saturate: bool) -> Option<ComputeFunction> {
    match from {
        Type::U8 => integers_from!(to, u8, saturate),
        Type::S8 => integers_from!(to, i8, saturate),
        Type::U16 => integers_from!(to, u16, saturate),
        Type::S16 => integers_from!(to, i16, saturate),
        Type::U32 => integers_from!(to, u32, saturate),
        Type::S32 => integers_from!(to, i32, saturate),
        Type::U64 => integers_from!(to, u64, saturate),
        Type::S64 => integers_from!(to, i64, saturate),
        _ => None,
    }
}

/// An integer as f64 with the sign of the rest.
fn integer_exactly(value: i128) -> (f64, i32) {
    let nearest = value as f64;
    (nearest, (value - nearest as i128).signum() as i32)
}

macro_rules! float_from {
    ($from:expr, $to:ty, |$value:ident, $flags:ident| $body:expr) => {
        match $from {
            Type::U8 => Some(lanes!($flags; |a: u8| -> $to { let $value = a as i128; $body })),
            Type::S8 => Some(lanes!($flags; |a: i8| -> $to { let $value = a as i128; $body })),
            Type::U16 => Some(lanes!($flags; |a: u16| -> $to { let $value = a as i128; $body })),
            Type::S16 => Some(lanes!($flags; |a: i16| -> $to { let $value = a as i128; $body })),
            Type::U32 => Some(lanes!($flags; |a: u32| -> $to { let $value = a as i128; $body })),
            Type::S32 => Some(lanes!($flags; |a: i32| -> $to { let $value = a as i128; $body })),
            Type::U64 => Some(lanes!($flags; |a: u64| -> $to { let $value = a as i128; $body })),
            Type::S64 => Some(lanes!($flags; |a: i64| -> $to { let $value = a as i128; $body })),
            _ => None,
        }
    };
}

fn integer_to_float(to: Type, from: Type, mode: Rounding, flags: u32) -> Option<ComputeFunction> {
    if mode == Rounding::Nearest && flags & SATURATE == 0 {
        match (to, from) {
            (Type::F32, Type::U16) => return Some(lanes!(|a: u16| -> f32 { a as f32 })),
            (Type::F32, Type::S32) => return Some(lanes!(|a: i32| -> f32 { a as f32 })),
            (Type::F32, Type::U32) => return Some(lanes!(|a: u32| -> f32 { a as f32 })),
            (Type::F32, Type::S64) => return Some(lanes!(|a: i64| -> f32 { a as f32 })),
            (Type::F32, Type::U64) => return Some(lanes!(|a: u64| -> f32 { a as f32 })),
            (Type::F64, Type::S32) => return Some(lanes!(|a: i32| -> f64 { a as f64 })),
            (Type::F64, Type::U32) => return Some(lanes!(|a: u32| -> f64 { a as f64 })),
            (Type::F64, Type::S64) => return Some(lanes!(|a: i64| -> f64 { a as f64 })),
            (Type::F64, Type::U64) => return Some(lanes!(|a: u64| -> f64 { a as f64 })),
            _ => {}
        }
    }
    match to {
        Type::F32 => float_from!(from, f32, |value, flags| {
            let result = to_single(integer_exactly(value), Rounding::from_code(flags));
            if flags & SATURATE != 0 { saturate(result) } else { result }
        }),
        Type::F64 => float_from!(from, f64, |value, flags| {
            exact::integer(value, Rounding::from_code(flags))
        }),
        Type::F16 => float_from!(from, F16, |value, flags| {
            F16::nearest(to_half(integer_exactly(value), Rounding::from_code(flags)))
        }),
        Type::Bf16 => float_from!(from, Bf16, |value, flags| {
            Bf16::nearest(to_brain(integer_exactly(value), Rounding::from_code(flags)))
        }),
        _ => None,
    }
}

/// A NaN becomes 0, but the sign bit alone where either side has 64 bits.
macro_rules! integer_from {
    ($to:expr, $from:ty, $wide:expr, |$x:ident, $flags:ident| $value:expr) => {
        match $to {
            Type::U8 => Some(lanes!($flags; |$x: $from| -> u8 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() && $wide { 1 << 7 } else { v as u8 }
            })),
            Type::S8 => Some(lanes!($flags; |$x: $from| -> i8 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() && $wide { i8::MIN } else { v as i8 }
            })),
            Type::U16 => Some(lanes!($flags; |$x: $from| -> u16 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() && $wide { 1 << 15 } else { v as u16 }
            })),
            Type::S16 => Some(lanes!($flags; |$x: $from| -> i16 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() && $wide { i16::MIN } else { v as i16 }
            })),
            Type::U32 => Some(lanes!($flags; |$x: $from| -> u32 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() && $wide { 1 << 31 } else { v as u32 }
            })),
            Type::S32 => Some(lanes!($flags; |$x: $from| -> i32 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() && $wide { i32::MIN } else { v as i32 }
            })),
            Type::U64 => Some(lanes!($flags; |$x: $from| -> u64 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() { 1 << 63 } else { v as u64 }
            })),
            Type::S64 => Some(lanes!($flags; |$x: $from| -> i64 {
                let v: f64 = integral($value, Rounding::from_code($flags));
                if v.is_nan() { i64::MIN } else { v as i64 }
            })),
            _ => None,
        }
    };
}

fn float_to_integer(to: Type, from: Type) -> Option<ComputeFunction> {
    match from {
        Type::F32 => integer_from!(to, f32, false, |x, flags| {
            (if flags_flush(flags) { flush(x) } else { x }) as f64
        }),
        Type::F64 => integer_from!(to, f64, true, |x, flags| x),
        Type::F16 => integer_from!(to, F16, false, |x, flags| x.value() as f64),
        Type::Bf16 => integer_from!(to, Bf16, false, |x, flags| x.value() as f64),
        _ => None,
    }
}

fn flags_flush(flags: u32) -> bool {
    flags & FLUSH != 0
}

/// Saturation, relu and canonical NaN of an f32 result.
fn finish(value: f32, flags: u32) -> f32 {
    let value = if flags & SATURATE != 0 { saturate(value) } else { value };
    if flags & RELU != 0 && value < 0.0 { 0.0 } else { canonical(value) }
}

fn single_to_half(value: f32, flags: u32) -> F16 {
    let value = if flags & FLUSH != 0 { flush(value) } else { value };
    let value = finish(value, flags);
    match Rounding::from_code(flags) {
        Rounding::Nearest => F16::nearest(value),
        mode => F16::nearest(to_half((value as f64, 0), mode)),
    }
}

fn single_to_brain(value: f32, flags: u32) -> Bf16 {
    let value = finish(value, flags);
    match Rounding::from_code(flags) {
        Rounding::Nearest => Bf16::nearest(value),
        mode => Bf16::nearest(to_brain((value as f64, 0), mode)),
    }
}

/// A NaN of f64 as one of f32: with its sign and its higher bits, quiet. Seen on an H100 for NaNs of either sign without
/// further bits.
fn narrow(nan: f64) -> f32 {
    let bits = nan.to_bits();
    f32::from_bits(
        (bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x3f_ffff,
    )
}

/// Float to float; `None` for pairs that PTX does not have.
fn floats(to: Type, from: Type, flags: u32) -> Option<Meaning> {
    let f = match (to, from) {
        (Type::F32, Type::F16) => lanes!(flags; |a: F16| -> f32 { finish(a.value(), flags) }),
        (Type::F32, Type::Bf16) => lanes!(flags; |a: Bf16| -> f32 { finish(a.value(), flags) }),
        (Type::F64, Type::F16) => lanes!(|a: F16| -> f64 { a.value() as f64 }),
        (Type::F64, Type::Bf16) => lanes!(|a: Bf16| -> f64 { a.value() as f64 }),
        (Type::F64, Type::F32) => lanes!(flags; |a: f32| -> f64 {
            (if flags & FLUSH != 0 { flush(a) } else { a }) as f64
        }),
        (Type::F32, Type::F64) if flags & 0x1f == 0 => {
            lanes!(|a: f64| -> f32 { if a.is_nan() { narrow(a) } else { a as f32 } })
        }
        (Type::F32, Type::F64) => lanes!(flags; |a: f64| -> f32 {
            if a.is_nan() && flags & SATURATE == 0 {
                narrow(a)
            } else {
                let result = to_single((a, 0), Rounding::from_code(flags));
                finish(if flags & FLUSH != 0 { flush(result) } else { result }, flags)
            }
        }),
        (Type::F32, Type::F32) => lanes!(flags; |a: f32| -> f32 {
            let a = if flags & FLUSH != 0 { flush(a) } else { a };
            let a = if flags & TO_INTEGER != 0 {
                integral(a as f64, Rounding::from_code(flags)) as f32
            } else {
                a
            };
            finish(a, flags)
        }),
        (Type::F64, Type::F64) => lanes!(flags; |a: f64| -> f64 {
            let a = if flags & TO_INTEGER != 0 { integral(a, Rounding::from_code(flags)) } else { a };
            if flags & SATURATE != 0 { if a > 0.0 { a.min(1.0) } else { 0.0 } } else { a }
        }),
        (Type::F16, Type::F16) => lanes!(flags; |a: F16| -> F16 {
            let value = a.value() as f64;
            let value = if flags & TO_INTEGER != 0 {
                integral(value, Rounding::from_code(flags))
            } else {
                value
            };
            F16::nearest(finish(value as f32, flags))
        }),
        (Type::F16, Type::F32) => lanes!(flags; |a: f32| -> F16 { single_to_half(a, flags) }),
        (Type::F16, Type::F64) => lanes!(flags; |a: f64| -> F16 {
            F16::nearest(finish(to_half((a, 0), Rounding::from_code(flags)), flags))
        }),
        (Type::Bf16, Type::F32) => lanes!(flags; |a: f32| -> Bf16 { single_to_brain(a, flags) }),
        (Type::Bf16, Type::F64) => lanes!(flags; |a: f64| -> Bf16 {
            Bf16::nearest(finish(to_brain((a, 0), Rounding::from_code(flags)), flags))
        }),
        (Type::Bf16, Type::F16) => lanes!(flags; |a: F16| -> Bf16 {
            single_to_brain(a.value(), flags)
        }),
        (Type::F16, Type::Bf16) => lanes!(flags; |a: Bf16| -> F16 {
            single_to_half(a.value(), flags)
        }),
        (Type::Bf16, Type::Bf16) => lanes!(flags; |a: Bf16| -> Bf16 {
            let value = a.value() as f64;
            let value = if flags & TO_INTEGER != 0 {
                integral(value, Rounding::from_code(flags))
            } else {
                value
            };
            Bf16::nearest(finish(value as f32, flags))
        }),
        (Type::F16x2, Type::F32) => {
            let f = lanes!(flags; |a: f32, b: f32| -> [F16; 2] {
                [single_to_half(b, flags), single_to_half(a, flags)]
            });
            return Some(Meaning::new(f, to, &[from, from]).with(flags));
        }
        (Type::Bf16x2, Type::F32) => {
            let f = lanes!(flags; |a: f32, b: f32| -> [Bf16; 2] {
                [single_to_brain(b, flags), single_to_brain(a, flags)]
            });
            return Some(Meaning::new(f, to, &[from, from]).with(flags));
        }
        (Type::Tf32, Type::F32) => lanes!(flags; |a: f32| -> u32 {
            // The f32 with 10 fraction bits; the low bits read as zero.
            let bits = a.to_bits();
            if a.is_nan() {
                return_nan()
            } else if Rounding::from_code(flags) == Rounding::Zero {
                bits & !0x1fff
            } else if Rounding::from_code(flags) == Rounding::Away {
                bits.wrapping_add(0x1000) & !0x1fff
            } else {
                bits.wrapping_add(0xfff + (bits >> 13 & 1)) & !0x1fff
            }
        }),
        _ => return None,
    };
    Some(Meaning::new(f, to, &[from]).with(flags))
}

fn return_nan() -> u32 {
    0x7fff_ffff
}

/// `cvt.pack.sat.u8.s32.b32 d, a, b, c`: two saturated values, above the low half of `c`.
fn pack(modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    modifiers.take("pack");
    modifiers.take("sat");
    let (to, from) = match modifiers.types[..] {
        [to, from] | [to, from, Type::B32] => (to, from),
        _ => return None,
    };
    if from != Type::S32 {
        return None;
    }
    fn narrow(value: i32, to: u32) -> u32 {
        (match to {
            0 => value.clamp(0, 0xff) & 0xff,
            1 => value.clamp(-0x80, 0x7f) & 0xff,
            2 => value.clamp(0, 0xffff) & 0xffff,
            _ => value.clamp(-0x8000, 0x7fff) & 0xffff,
        }) as u32
    }
    let code = match to {
        Type::U8 => 0,
        Type::S8 => 1,
        Type::U16 => 2,
        Type::S16 => 3,
        _ => return None,
    };
    let three = modifiers.types.len() == 3;
    let f = if three && code < 2 {
        lanes!(to; |a: i32, b: i32, c: u32| -> u32 {
            narrow(b, to) | narrow(a, to) << 8 | c << 16
        })
    } else if !three && code >= 2 {
        lanes!(to; |a: i32, b: i32| -> u32 { narrow(b, to) | narrow(a, to) << 16 })
    } else {
        return None;
    };
    let sources = if three { &[from, from, Type::B32][..] } else { &[from, from][..] };
    Some(Meaning::new(f, Type::B32, sources).with(code))
}
