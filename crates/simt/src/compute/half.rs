use super::rounding::{Rounding, product_sum, to_brain, to_half};
use super::{Meaning, lanes};
use ptx::Modifiers;
use ptx::Type;

/// The bits of an IEEE binary16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct F16(pub u16);

/// The bits of a bfloat16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bf16(pub u16);

/// The operations that f16 and bf16 share; arithmetic is exact in f64, then rounded once.
pub(crate) trait Half: Copy {
    fn bits(self) -> u16;
    fn from_bits(bits: u16) -> Self;
    fn value(self) -> f32;
    /// Rounds to nearest even; NaN becomes the canonical 0x7fff.
    fn nearest(value: f32) -> Self;
    fn from_exact(value: f64, rest: i32, mode: Rounding) -> Self;
    const ONE: u16;
    const SUBNORMAL_LIMIT: u16;
}

impl Half for F16 {
    const ONE: u16 = 0x3c00;
    const SUBNORMAL_LIMIT: u16 = 0x0400;

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn from_bits(bits: u16) -> F16 {
        F16(bits)
    }

    #[inline(always)]
    fn value(self) -> f32 {
        let sign = ((self.0 & 0x8000) as u32) << 16;
        let magnitude = (self.0 & 0x7fff) as u32;
        if magnitude >= 0x7c00 {
            return f32::from_bits(sign | 0x7f80_0000 | (magnitude & 0x3ff) << 13);
        }
        // The f16 exponent is rebiased by a multiplication, which also handles subnormals.
        let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
        f32::from_bits(sign | scaled.to_bits())
    }

    /// Without branches, so that a vector of them is rounded at once.
    #[inline(always)]
    fn nearest(value: f32) -> F16 {
        let bits = value.to_bits();
        let sign = (bits >> 16) & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        // Adding 0.5 puts the unit of a subnormal at the f32's last bit.
        let small = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        let odd = (magnitude >> 13) & 1;
        let normal = (magnitude + 0xfff + odd).wrapping_sub(0x3800_0000) >> 13;
        let rounded = if magnitude < 0x3880_0000 { small } else { normal };
        let finite = if magnitude >= 0x477f_f000 { 0x7c00 } else { rounded };
        F16(if magnitude > 0x7f80_0000 { 0x7fff } else { sign | finite } as u16)
    }

    fn from_exact(value: f64, rest: i32, mode: Rounding) -> F16 {
        F16::nearest(to_half((value, rest), mode))
    }
}

impl Half for Bf16 {
    const ONE: u16 = 0x3f80;
    const SUBNORMAL_LIMIT: u16 = 0x0080;

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn from_bits(bits: u16) -> Bf16 {
        Bf16(bits)
    }

    #[inline(always)]
    fn value(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }

    #[inline(always)]
    fn nearest(value: f32) -> Bf16 {
        if value.is_nan() {
            return Bf16(0x7fff);
        }
        let bits = value.to_bits();
        Bf16(((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16)
    }

    fn from_exact(value: f64, rest: i32, mode: Rounding) -> Bf16 {
        Bf16::nearest(to_brain((value, rest), mode))
    }
}

/// Flags in the immediate of half instructions.
const SATURATE: u32 = 1;
const FLUSH: u32 = 2;
const RELU: u32 = 4;

fn flush<H: Half>(value: H, flags: u32) -> H {
    let bits = value.bits();
    if flags & FLUSH != 0 && bits & 0x7fff < H::SUBNORMAL_LIMIT {
        H::from_bits(bits & 0x8000)
    } else {
        value
    }
}

fn finish<H: Half>(value: H, flags: u32) -> H {
    let value = flush(value, flags);
    let is_nan = value.value().is_nan();
    if flags & SATURATE != 0 {
        let number = value.value();
        if is_nan || number <= 0.0 {
            return H::from_bits(0);
        }
        if number > 1.0 {
            return H::from_bits(H::ONE);
        }
    }
    if flags & RELU != 0 && !is_nan && value.bits() & 0x8000 != 0 {
        return H::from_bits(0);
    }
    value
}

pub(crate) fn add<H: Half>(a: H, b: H, flags: u32) -> H {
    let (a, b) = (flush(a, flags).value(), flush(b, flags).value());
    // An f32 sum of two bf16 may round; f64 holds every sum of halves to within one rounding.
    finish(round_sum(a as f64, b as f64), flags)
}

fn round_sum<H: Half>(a: f64, b: f64) -> H {
    let (value, rest) = super::rounding::sum(a, b);
    if value.is_nan() {
        H::from_bits(0x7fff)
    } else {
        H::from_exact(value, rest, Rounding::Nearest)
    }
}

pub(crate) fn multiply<H: Half>(a: H, b: H, flags: u32) -> H {
    let product = flush(a, flags).value() as f64 * flush(b, flags).value() as f64;
    if product.is_nan() {
        return H::from_bits(0x7fff);
    }
    finish(H::from_exact(product, 0, Rounding::Nearest), flags)
}

pub(crate) fn multiply_add<H: Half>(a: H, b: H, c: H, flags: u32) -> H {
    let [a, b, c] = [a, b, c].map(|x| flush(x, flags).value() as f64);
    let (value, rest) = product_sum(a, b, c);
    if value.is_nan() {
        return H::from_bits(0x7fff);
    }
    finish(H::from_exact(value, rest, Rounding::Nearest), flags)
}

pub(crate) fn negate<H: Half>(a: H) -> H {
    H::from_bits(a.bits() ^ 0x8000)
}

/// `min` (`largest` false) and `max`; `nan` asks that a NaN operand wins.
fn extreme<H: Half>(a: H, b: H, largest: bool, nan: bool) -> H {
    let (x, y) = (a.value(), b.value());
    match (x.is_nan(), y.is_nan()) {
        (true, true) => return H::from_bits(0x7fff),
        (true, false) | (false, true) if nan => return H::from_bits(0x7fff),
        (true, false) => return b,
        (false, true) => return a,
        _ => {}
    }
    let a_wins = if x == y { (a.bits() & 0x8000 == 0) == largest } else { (x > y) == largest };
    if a_wins { a } else { b }
}

macro_rules! by_half {
    ($type:expr, $immediate:ident, |$($p:ident),+| $body:expr) => {
        match $type {
            Type::F16 => Some(lanes!($immediate; |$($p: F16),+| -> F16 { $body })),
            Type::Bf16 => Some(lanes!($immediate; |$($p: Bf16),+| -> Bf16 { $body })),
            Type::F16x2 => Some(lanes!($immediate; |$($p: [F16; 2]),+| -> [F16; 2] {
                std::array::from_fn(|i| { $(let $p = $p[i];)+ $body })
            })),
            Type::Bf16x2 => Some(lanes!($immediate; |$($p: [Bf16; 2]),+| -> [Bf16; 2] {
                std::array::from_fn(|i| { $(let $p = $p[i];)+ $body })
            })),
            _ => None,
        }
    };
}

pub(crate) fn meaning(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let t = modifiers.only_type()?;
    if !matches!(t, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) {
        return None;
    }
    let nan = modifiers.take("NaN");
    modifiers.take("rn");
    modifiers.take("approx");
    let mut flags = 0;
    for (name, flag) in [("sat", SATURATE), ("ftz", FLUSH), ("relu", RELU)] {
        if modifiers.take(name) {
            flags |= flag;
        }
    }
    let one = &[t][..];
    let (function, sources) = match opcode {
        "add" => (by_half!(t, f, |a, b| add(a, b, f))?, &[t, t][..]),
        "sub" => (by_half!(t, f, |a, b| add(a, negate(b), f))?, &[t, t][..]),
        "mul" => (by_half!(t, f, |a, b| multiply(a, b, f))?, &[t, t][..]),
        "fma" | "mad" => (by_half!(t, f, |a, b, c| multiply_add(a, b, c, f))?, &[t, t, t][..]),
        "neg" => (by_half!(t, _f, |a| negate(a))?, one),
        "abs" => (by_half!(t, _f, |a| Half::from_bits(a.bits() & 0x7fff))?, one),
        "min" if nan => (by_half!(t, _f, |a, b| extreme(a, b, false, true))?, &[t, t][..]),
        "min" => (by_half!(t, _f, |a, b| extreme(a, b, false, false))?, &[t, t][..]),
        "max" if nan => (by_half!(t, _f, |a, b| extreme(a, b, true, true))?, &[t, t][..]),
        "max" => (by_half!(t, _f, |a, b| extreme(a, b, true, false))?, &[t, t][..]),
        "ex2" => (by_half!(t, _f, |a| from_single(a.value().exp2()))?, one),
        "tanh" => (by_half!(t, _f, |a| from_single((a.value() as f64).tanh() as f32))?, one),
        _ => return None,
    };
    let meaning = Meaning::new(function, t, sources).with(flags);
    Some(if matches!(opcode, "ex2" | "tanh") { meaning.approximate() } else { meaning })
}

fn from_single<H: Half>(value: f32) -> H {
    H::nearest(value)
}
