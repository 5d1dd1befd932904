//! Single- and double-precision arithmetic.
//!
//! Results that are NaN are the canonical 0x7fffffff in f32. Of the approximate functions, `tanh`
//! and those of f64 are computed through f64; they are within the documented error of the
//! hardware's, not equal.

use super::rounding::{self, Rounding, to_single};
use super::special::{canonical, flush, saturate};
use super::{Meaning, approximate, exact, lanes};
use ptx::Modifiers;
use ptx::Type;

/// Flags in the immediate, beside the rounding mode in the low three bits.
const SATURATE: u32 = 8;
const FLUSH: u32 = 16;

fn enter(value: f32, flags: u32) -> f32 {
    if flags & FLUSH != 0 { flush(value) } else { value }
}

fn leave(value: f32, flags: u32) -> f32 {
    let value = if flags & FLUSH != 0 { flush(value) } else { value };
    if flags & SATURATE != 0 { saturate(value) } else { canonical(value) }
}

#[inline(always)]
fn minimum(a: f32, b: f32) -> f32 {
    let picked = if a == b {
        f32::from_bits(a.to_bits() | b.to_bits())
    } else if a < b || b.is_nan() {
        a
    } else {
        b
    };
    canonical(picked)
}

#[inline(always)]
fn maximum(a: f32, b: f32) -> f32 {
    let picked = if a == b {
        f32::from_bits(a.to_bits() & b.to_bits())
    } else if a > b || b.is_nan() {
        a
    } else {
        b
    };
    canonical(picked)
}

fn minimum_double(a: f64, b: f64) -> f64 {
    if a == b {
        f64::from_bits(a.to_bits() | b.to_bits())
    } else if a < b || b.is_nan() {
        a
    } else {
        b
    }
}

fn maximum_double(a: f64, b: f64) -> f64 {
    if a == b {
        f64::from_bits(a.to_bits() & b.to_bits())
    } else if a > b || b.is_nan() {
        a
    } else {
        b
    }
}

fn rounding_of(modifiers: &mut Modifiers<'_>) -> Rounding {
    match modifiers.take_any(&["rn", "rz", "rm", "rp"]) {
        Some("rz") => Rounding::Zero,
        Some("rm") => Rounding::Down,
        Some("rp") => Rounding::Up,
        _ => Rounding::Nearest,
    }
}

pub(crate) fn meaning(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    if opcode == "testp" {
        return test_property(modifiers);
    }
    match modifiers.only_type()? {
        Type::F32 => single(opcode, modifiers),
        Type::F64 => double(opcode, modifiers),
        Type::F32x2 => paired(opcode, modifiers),
        _ => None,
    }
}

fn paired(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    modifiers.take("rn");
    let t = Type::F32x2;
    let two = [t, t];
    Some(match opcode {
        "add" => Meaning::new(
            lanes!(|a: [f32; 2], b: [f32; 2]| -> [f32; 2] {
                std::array::from_fn(|i| canonical(a[i] + b[i]))
            }),
            t,
            &two,
        ),
        "mul" => Meaning::new(
            lanes!(|a: [f32; 2], b: [f32; 2]| -> [f32; 2] {
                std::array::from_fn(|i| canonical(a[i] * b[i]))
            }),
            t,
            &two,
        ),
        "fma" => Meaning::new(
            lanes!(|a: [f32; 2], b: [f32; 2], c: [f32; 2]| -> [f32; 2] {
                std::array::from_fn(|i| canonical(a[i].mul_add(b[i], c[i])))
            }),
            t,
            &[t, t, t],
        ),
        _ => return None,
    })
}

fn single(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let t = Type::F32;
    let full = modifiers.take("full");
    let approximates = modifiers.take("approx") || full;
    let nan = modifiers.take("NaN");
    let flags = if modifiers.take("sat") { SATURATE } else { 0 }
        | if modifiers.take("ftz") { FLUSH } else { 0 };
    let xorsign = modifiers.take("xorsign");
    if xorsign {
        modifiers.take("abs");
    }
    let mode = rounding_of(modifiers);
    let plain = flags == 0 && mode == Rounding::Nearest;
    let code = flags | mode.code();
    let one = |f| Meaning::new(f, t, &[t]).with(code);
    let two = |f| Meaning::new(f, t, &[t, t]).with(code);
    let three = |f| Meaning::new(f, t, &[t, t, t]).with(code);
    Some(match opcode {
        "add" if plain => two(lanes!(|a: f32, b: f32| -> f32 { canonical(a + b) })),
        "sub" if plain => two(lanes!(|a: f32, b: f32| -> f32 { canonical(a - b) })),
        "mul" if plain => two(lanes!(|a: f32, b: f32| -> f32 { canonical(a * b) })),
        "fma" | "mad" if plain => {
            three(lanes!(|a: f32, b: f32, c: f32| -> f32 { canonical(a.mul_add(b, c)) }))
        }
        "div" if plain && !approximates => {
            two(lanes!(|a: f32, b: f32| -> f32 { canonical(a / b) }))
        }
        "add" | "sub" | "mul" | "fma" | "mad" => return directed_single(opcode, code),
        "div" if full => two(lanes!(m; |a: f32, b: f32| -> f32 {
            leave(approximate::div(a, b, true, m & FLUSH != 0), m)
        })),
        "div" if approximates => two(lanes!(m; |a: f32, b: f32| -> f32 {
            leave(approximate::div(a, b, false, m & FLUSH != 0), m)
        })),
        "div" => two(lanes!(m; |a: f32, b: f32| -> f32 {
            let exact = rounding::quotient(enter(a, m) as f64, enter(b, m) as f64);
            leave(to_single(exact, Rounding::from_code(m)), m)
        })),
        "rcp" if approximates => one(lanes!(m; |a: f32| -> f32 {
            approximate::rcp(a, m & FLUSH != 0)
        })),
        "rcp" => one(lanes!(m; |a: f32| -> f32 {
            leave(to_single(rounding::quotient(1.0, enter(a, m) as f64), Rounding::from_code(m)), m)
        })),
        "sqrt" if approximates => one(lanes!(m; |a: f32| -> f32 {
            approximate::sqrt(a, m & FLUSH != 0)
        })),
        "sqrt" => one(lanes!(m; |a: f32| -> f32 {
            leave(to_single(rounding::root(enter(a, m) as f64), Rounding::from_code(m)), m)
        })),
        "min" if nan => two(lanes!(m; |a: f32, b: f32| -> f32 {
            let (a, b) = (enter(a, m), enter(b, m));
            if a.is_nan() || b.is_nan() { canonical(f32::NAN) } else { minimum(a, b) }
        })),
        "max" if nan => two(lanes!(m; |a: f32, b: f32| -> f32 {
            let (a, b) = (enter(a, m), enter(b, m));
            if a.is_nan() || b.is_nan() { canonical(f32::NAN) } else { maximum(a, b) }
        })),
        "min" if xorsign => two(lanes!(|a: f32, b: f32| -> f32 {
            let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
            f32::from_bits(minimum(a.abs(), b.abs()).to_bits() | sign)
        })),
        "max" if xorsign => two(lanes!(|a: f32, b: f32| -> f32 {
            let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
            f32::from_bits(maximum(a.abs(), b.abs()).to_bits() | sign)
        })),
        "min" => two(lanes!(m; |a: f32, b: f32| -> f32 { minimum(enter(a, m), enter(b, m)) })),
        "max" => two(lanes!(m; |a: f32, b: f32| -> f32 { maximum(enter(a, m), enter(b, m)) })),
        // Both are additions of zero in SASS, so a NaN becomes the canonical one.
        "abs" => one(lanes!(m; |a: f32| -> f32 { canonical(enter(a, m).abs()) })),
        "neg" => one(lanes!(m; |a: f32| -> f32 { canonical(-enter(a, m)) })),
        "copysign" => two(lanes!(|a: f32, b: f32| -> f32 {
            f32::from_bits((b.to_bits() & 0x7fff_ffff) | (a.to_bits() & 0x8000_0000))
        })),
        "rsqrt" => one(lanes!(m; |a: f32| -> f32 { approximate::rsqrt(a, m & FLUSH != 0) })),
        "ex2" => one(lanes!(m; |a: f32| -> f32 { approximate::ex2(a, m & FLUSH != 0) })),
        "lg2" => one(lanes!(m; |a: f32| -> f32 { approximate::lg2(a, m & FLUSH != 0) })),
        "sin" => one(lanes!(|a: f32| -> f32 { approximate::sin(a) })),
        "cos" => one(lanes!(|a: f32| -> f32 { approximate::cos(a) })),
        "tanh" => one(lanes!(m; |a: f32| -> f32 { leave((enter(a, m) as f64).tanh() as f32, m) }))
            .approximate(),
        _ => return None,
    })
}

/// Arithmetic with a rounding direction, saturation or flushing.
fn directed_single(opcode: &str, code: u32) -> Option<Meaning> {
    let t = Type::F32;
    let nearest = Rounding::from_code(code) == Rounding::Nearest;
    Some(
        match opcode {
            "add" if nearest => Meaning::new(
                lanes!(m; |a: f32, b: f32| -> f32 { leave(enter(a, m) + enter(b, m), m) }),
                t,
                &[t, t],
            ),
            "sub" if nearest => Meaning::new(
                lanes!(m; |a: f32, b: f32| -> f32 { leave(enter(a, m) - enter(b, m), m) }),
                t,
                &[t, t],
            ),
            "mul" if nearest => Meaning::new(
                lanes!(m; |a: f32, b: f32| -> f32 { leave(enter(a, m) * enter(b, m), m) }),
                t,
                &[t, t],
            ),
            "fma" | "mad" if nearest => Meaning::new(
                lanes!(m; |a: f32, b: f32, c: f32| -> f32 {
                    leave(enter(a, m).mul_add(enter(b, m), enter(c, m)), m)
                }),
                t,
                &[t, t, t],
            ),
            "add" => Meaning::new(
                lanes!(m; |a: f32, b: f32| -> f32 {
                    let mode = Rounding::from_code(m);
                    let exact = rounding::sum(enter(a, m) as f64, enter(b, m) as f64);
                    leave(signed_zero(to_single(exact, mode), exact, mode, a, b), m)
                }),
                t,
                &[t, t],
            ),
            "sub" => Meaning::new(
                lanes!(m; |a: f32, b: f32| -> f32 {
                    let mode = Rounding::from_code(m);
                    let exact = rounding::sum(enter(a, m) as f64, -enter(b, m) as f64);
                    leave(signed_zero(to_single(exact, mode), exact, mode, a, -b), m)
                }),
                t,
                &[t, t],
            ),
            "mul" => Meaning::new(
                lanes!(m; |a: f32, b: f32| -> f32 {
                    let product = enter(a, m) as f64 * enter(b, m) as f64;
                    leave(to_single((product, 0), Rounding::from_code(m)), m)
                }),
                t,
                &[t, t],
            ),
            _ => Meaning::new(
                lanes!(m; |a: f32, b: f32, c: f32| -> f32 {
                    let mode = Rounding::from_code(m);
                    let product = enter(a, m) as f64 * enter(b, m) as f64;
                    let exact = rounding::sum(product, enter(c, m) as f64);
                    leave(signed_zero(to_single(exact, mode), exact, mode, product as f32, c), m)
                }),
                t,
                &[t, t, t],
            ),
        }
        .with(code),
    )
}

/// A sum that cancels is -0 when rounding down, +0 otherwise; equal zeros keep their sign.
fn signed_zero(result: f32, exact: (f64, i32), mode: Rounding, a: f32, b: f32) -> f32 {
    if exact.0 != 0.0 || exact.1 != 0 {
        return result;
    }
    if a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative() {
        return a;
    }
    if mode == Rounding::Down { -0.0 } else { 0.0 }
}

/// A number without its low word, 0 where that is subnormal: all that `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` read
/// and write (PTX ISA, "rcp.approx.ftz.f64").
fn high_word(value: f64) -> f64 {
    let value = f64::from_bits(value.to_bits() & 0xffff_ffff_0000_0000);
    if value.is_subnormal() { 0f64.copysign(value) } else { value }
}

fn double(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let t = Type::F64;
    let approximate = modifiers.take("approx");
    let flushes = approximate && modifiers.take("ftz");
    let mode = rounding_of(modifiers);
    let plain = mode == Rounding::Nearest;
    let one = |f| Meaning::new(f, t, &[t]).with(mode.code());
    let two = |f| Meaning::new(f, t, &[t, t]).with(mode.code());
    Some(match opcode {
        "add" if plain => two(lanes!(|a: f64, b: f64| -> f64 { a + b })),
        "sub" if plain => two(lanes!(|a: f64, b: f64| -> f64 { a - b })),
        "mul" if plain => two(lanes!(|a: f64, b: f64| -> f64 { a * b })),
        "div" if plain => two(lanes!(|a: f64, b: f64| -> f64 { a / b })),
        "fma" | "mad" if plain => {
            Meaning::new(lanes!(|a: f64, b: f64, c: f64| -> f64 { a.mul_add(b, c) }), t, &[t, t, t])
        }
        // What is not known of the hardware's seeds is their last bits; the low word of the result is zero.
        "rcp" if approximate => {
            one(lanes!(|a: f64| -> f64 { high_word(1.0 / high_word(a)) })).approximate()
        }
        "rsqrt" if flushes => {
            one(lanes!(|a: f64| -> f64 { high_word(1.0 / high_word(a).sqrt()) })).approximate()
        }
        "rsqrt" => one(lanes!(|a: f64| -> f64 {
            f64::from_bits((1.0 / a.sqrt()).to_bits() & 0xffff_ffff_0000_0000)
        }))
        .approximate(),
        "rcp" if plain => one(lanes!(|a: f64| -> f64 { 1.0 / a })),
        "sqrt" if plain => one(lanes!(|a: f64| -> f64 { a.sqrt() })),
        "add" => {
            two(lanes!(m; |a: f64, b: f64| -> f64 { exact::sum(a, b, Rounding::from_code(m)) }))
        }
        "sub" => {
            two(lanes!(m; |a: f64, b: f64| -> f64 { exact::sum(a, -b, Rounding::from_code(m)) }))
        }
        "mul" => two(lanes!(m; |a: f64, b: f64| -> f64 {
            exact::product(a, b, Rounding::from_code(m))
        })),
        "fma" | "mad" => Meaning::new(
            lanes!(m; |a: f64, b: f64, c: f64| -> f64 {
                exact::product_sum(a, b, c, Rounding::from_code(m))
            }),
            t,
            &[t, t, t],
        )
        .with(mode.code()),
        "div" => two(lanes!(m; |a: f64, b: f64| -> f64 {
            exact::quotient(a, b, Rounding::from_code(m))
        })),
        "rcp" => one(lanes!(m; |a: f64| -> f64 {
            exact::quotient(1.0, a, Rounding::from_code(m))
        })),
        "sqrt" => one(lanes!(m; |a: f64| -> f64 { exact::root(a, Rounding::from_code(m)) })),
        "min" => two(lanes!(|a: f64, b: f64| -> f64 { minimum_double(a, b) })),
        "max" => two(lanes!(|a: f64, b: f64| -> f64 { maximum_double(a, b) })),
        "abs" => one(lanes!(|a: f64| -> f64 { f64::from_bits(a.to_bits() & !(1 << 63)) })),
        "neg" => one(lanes!(|a: f64| -> f64 { f64::from_bits(a.to_bits() ^ (1 << 63)) })),
        "copysign" => two(lanes!(|a: f64, b: f64| -> f64 {
            f64::from_bits((b.to_bits() & !(1 << 63)) | (a.to_bits() & (1 << 63)))
        })),
        _ => return None,
    })
}

fn test_property(modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let t = modifiers.only_type()?;
    let names = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
    let name = modifiers.take_any(&names)?;
    let code = names.iter().position(|n| *n == name)? as u32;
    use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal};
    fn holds(category: std::num::FpCategory, code: u32) -> bool {
        match code {
            0 => !matches!(category, Infinite | Nan),
            1 => category == Infinite,
            2 => category != Nan,
            3 => category == Nan,
            4 => category == Normal,
            _ => category == Subnormal,
        }
    }
    let f = match t {
        Type::F32 => lanes!(code; |a: f32| -> bool { holds(a.classify(), code) }),
        Type::F64 => lanes!(code; |a: f64| -> bool { holds(a.classify(), code) }),
        _ => return None,
    };
    Some(Meaning::new(f, Type::Pred, &[t]).with(code))
}
