//! Video instructions: of whole words, and of two halves or four bytes of a word at once (PTX ISA, "Video Instructions" and
//! "SIMD Video Instructions").

use super::{ComputeFunction, Meaning, lanes};
use ptx::Modifiers;
use ptx::Type;

const OPERATIONS: [&str; 7] = ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"];
const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
/// The number of the first comparison behind the operations.
const FIRST_COMPARISON: u32 = 8;

/// Bits of the immediate, behind the operation: the signs of D, A and B, and the rest.
const SIGNED_D: u32 = 1 << 4;
const SIGNED_A: u32 = 1 << 5;
const SIGNED_B: u32 = 1 << 6;
const HALVES: u32 = 1 << 7;
const SATURATE: u32 = 1 << 8;
const ACCUMULATE: u32 = 1 << 9;
const SMALLER: u32 = 1 << 10;
const LARGER: u32 = 1 << 11;
/// One bit for each lane whose result counts.
const MASK_SHIFT: u32 = 12;

/// Returns the number of lanes, if the opcode is one of these.
pub(crate) fn lanes_of(opcode: &str) -> Option<u32> {
    let (name, lanes) = opcode.split_at_checked(opcode.len().checked_sub(1)?)?;
    let lanes = lanes.parse().ok().filter(|lanes| matches!(lanes, 2 | 4))?;
    OPERATIONS.contains(&name).then_some(lanes)
}

/// Decodes an instruction with the mask of its destination; A, B and C are its sources.
pub(crate) fn meaning(opcode: &str, mask: u32, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let lanes = lanes_of(opcode)?;
    let name = &opcode[..opcode.len() - 1];
    let (d, a, b) = match (name, &modifiers.types[..]) {
        ("vset", [a, b]) => (Type::U32, *a, *b),
        ("vset", _) => return None,
        (_, [d, a, b]) => (*d, *a, *b),
        _ => return None,
    };
    let mut flags = match name {
        "vset" => {
            let comparison = modifiers.take_any(&COMPARISONS)?;
            FIRST_COMPARISON + COMPARISONS.iter().position(|name| *name == comparison)? as u32
        }
        name => OPERATIONS.iter().position(|operation| *operation == name)? as u32,
    };
    for (t, flag) in [(d, SIGNED_D), (a, SIGNED_A), (b, SIGNED_B)] {
        flags |= match t {
            Type::S32 => flag,
            Type::U32 => 0,
            _ => return None,
        };
    }
    for (name, flag) in [("sat", SATURATE), ("add", ACCUMULATE)] {
        flags |= if modifiers.take(name) { flag } else { 0 };
    }
    flags |= if lanes == 2 { HALVES } else { 0 } | mask << MASK_SHIFT;
    let function = lanes!(flags; |a: u32, b: u32, c: u32| -> u32 { all(a, b, c, flags) });
    Some(Meaning::new(function, Type::B32, &[Type::B32; 3]).with(flags))
}

/// Decodes an instruction of whole words, without selectors of their parts: `vsub.u32.u32.u32.add d, a, b, c`.
pub(crate) fn whole(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let operation = OPERATIONS.iter().position(|name| *name == opcode)? as u32;
    let [d, a, b] = modifiers.types[..] else { return None };
    if matches!(opcode, "vavrg" | "vset") {
        return None;
    }
    let mut flags = operation;
    for (t, flag) in [(d, SIGNED_D), (a, SIGNED_A), (b, SIGNED_B)] {
        flags |= match t {
            Type::S32 => flag,
            Type::U32 => 0,
            _ => return None,
        };
    }
    flags |= if modifiers.take("sat") { SATURATE } else { 0 };
    let second = modifiers.take_any(&["add", "min", "max"]);
    flags |= match second {
        Some("add") => ACCUMULATE,
        Some("min") => SMALLER,
        Some(_) => LARGER,
        None => 0,
    };
    let function = lanes!(flags; |a: u32, b: u32, c: u32| -> u32 { word(a, b, c, flags) });
    let sources = if second.is_some() { 3 } else { 2 };
    Some(Meaning::new(function, Type::B32, &[Type::B32; 3][..sources]).with(flags))
}

fn word(a: u32, b: u32, c: u32, flags: u32) -> u32 {
    let value = |word: u32, is_signed: bool| {
        if is_signed { i64::from(word.cast_signed()) } else { i64::from(word) }
    };
    let is_signed = flags & SIGNED_D != 0;
    let mut result = one(value(a, flags & SIGNED_A != 0), value(b, flags & SIGNED_B != 0), flags);
    if flags & SATURATE != 0 {
        result = match is_signed {
            true => result.clamp(i32::MIN.into(), i32::MAX.into()),
            false => result.clamp(0, u32::MAX.into()),
        };
    }
    let (first, second) = (value(result as u32, is_signed), value(c, is_signed));
    let result = match flags & (ACCUMULATE | SMALLER | LARGER) {
        ACCUMULATE => first.wrapping_add(second),
        SMALLER => first.min(second),
        LARGER => first.max(second),
        _ => first,
    };
    result as u32
}

fn all(a: u32, b: u32, c: u32, flags: u32) -> u32 {
    let (count, bits) = if flags & HALVES != 0 { (2, 16) } else { (4, 8) };
    let limit = 1_i64 << bits;
    let mut result = if flags & ACCUMULATE != 0 { c } else { 0 };
    for lane in 0..count {
        let part = |word: u32, is_signed: bool| {
            let value = i64::from(word >> (lane * bits)) & (limit - 1);
            if is_signed && value >= limit / 2 { value - limit } else { value }
        };
        let value = if flags >> (MASK_SHIFT + lane) & 1 == 0 {
            None
        } else {
            let value = one(part(a, flags & SIGNED_A != 0), part(b, flags & SIGNED_B != 0), flags);
            Some(match (flags & SATURATE != 0, flags & SIGNED_D != 0) {
                (true, true) => value.clamp(-limit / 2, limit / 2 - 1),
                (true, false) => value.clamp(0, limit - 1),
                _ => value,
            })
        };
        if flags & ACCUMULATE != 0 {
            result = result.wrapping_add(value.unwrap_or(0) as u32);
        } else {
            let value = value.unwrap_or_else(|| part(c, false));
            result |= ((value & (limit - 1)) as u32) << (lane * bits);
        }
    }
    result
}

fn one(a: i64, b: i64, flags: u32) -> i64 {
    match flags & 0xf {
        0 => a + b,
        1 => a - b,
        2 => (a + b + i64::from(a + b >= 0)) >> 1,
        3 => (a - b).abs(),
        4 => a.min(b),
        5 => a.max(b),
        8 => (a == b).into(),
        9 => (a != b).into(),
        10 => (a < b).into(),
        11 => (a <= b).into(),
        12 => (a > b).into(),
        _ => (a >= b).into(),
    }
}

/// Returns the bytes that a selector such as `b7610` or `h32` names, four bits each, of B above A.
pub(crate) fn selector(name: &str, lanes: u32) -> Option<u32> {
    let digits = name.strip_prefix(if lanes == 2 { 'h' } else { 'b' })?;
    if digits.len() != lanes as usize {
        return None;
    }
    digits.chars().try_fold(0, |selected, digit| {
        let part = digit.to_digit(2 * lanes)?;
        Some(match lanes {
            2 => selected << 8 | (2 * part + 1) << 4 | (2 * part),
            _ => selected << 4 | part,
        })
    })
}

/// Returns the lanes that a mask such as `b20` or `h1` names.
pub(crate) fn mask(name: &str, lanes: u32) -> Option<u32> {
    let digits = name.strip_prefix(if lanes == 2 { 'h' } else { 'b' })?;
    digits.chars().try_fold(0, |mask, digit| Some(mask | 1 << digit.to_digit(lanes)?))
}

/// Returns what picks the bytes of a selector from B above A.
pub(crate) fn pick() -> ComputeFunction {
    lanes!(selected; |a: u32, b: u32| -> u32 {
        let both = u64::from(b) << 32 | u64::from(a);
        (0..4).fold(0, |word, byte| {
            let from = selected >> (4 * byte) & 7;
            word | ((both >> (8 * from) & 0xff) as u32) << (8 * byte)
        })
    })
}
