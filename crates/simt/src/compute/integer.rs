use super::{ComputeFunction, Meaning, lanes};
use crate::registers::{CARRY, LANES, Lane, Registers};
use ptx::Modifiers;
use ptx::Type;

/// A function for every integer type of 16 to 64 bits.
macro_rules! by_integer {
    ($type:expr, |$($p:ident),+| $body:expr) => {
        match $type {
            Type::U16 | Type::B16 => Some(lanes!(|$($p: u16),+| -> u16 { $body })),
            Type::S16 => Some(lanes!(|$($p: i16),+| -> i16 { $body })),
            Type::U32 | Type::B32 => Some(lanes!(|$($p: u32),+| -> u32 { $body })),
            Type::S32 => Some(lanes!(|$($p: i32),+| -> i32 { $body })),
            Type::U64 | Type::B64 => Some(lanes!(|$($p: u64),+| -> u64 { $body })),
            Type::S64 => Some(lanes!(|$($p: i64),+| -> i64 { $body })),
            _ => None,
        }
    };
}

/// A function for signed types only.
macro_rules! by_signed {
    ($type:expr, |$($p:ident),+| $body:expr) => {
        match $type {
            Type::S16 => Some(lanes!(|$($p: i16),+| -> i16 { $body })),
            Type::S32 => Some(lanes!(|$($p: i32),+| -> i32 { $body })),
            Type::S64 => Some(lanes!(|$($p: i64),+| -> i64 { $body })),
            _ => None,
        }
    };
}

/// Sign-independent operations need one function per width.
macro_rules! by_width {
    ($type:expr, |$($p:ident),+| $body:expr) => {
        match $type {
            Type::U16 | Type::S16 | Type::B16 => Some(lanes!(|$($p: u16),+| -> u16 { $body })),
            Type::U32 | Type::S32 | Type::B32 => Some(lanes!(|$($p: u32),+| -> u32 { $body })),
            Type::U64 | Type::S64 | Type::B64 => Some(lanes!(|$($p: u64),+| -> u64 { $body })),
            _ => None,
        }
    };
}

/// Two 16-bit halves at once.
macro_rules! by_pair {
    ($type:expr, |$($p:ident),+| $body:expr) => {
        match $type {
            Type::U16x2 => Some(lanes!(|$($p: [u16; 2]),+| -> [u16; 2] {
                std::array::from_fn(|i| { $(let $p = $p[i];)+ $body })
            })),
            Type::S16x2 => Some(lanes!(|$($p: [i16; 2]),+| -> [i16; 2] {
                std::array::from_fn(|i| { $(let $p = $p[i];)+ $body })
            })),
            _ => None,
        }
    };
}

pub(crate) fn meaning(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    match opcode {
        "dp4a" | "dp2a" => return dot_product(opcode, modifiers),
        _ => {}
    }
    let t = modifiers.only_type()?;
    if t.is_float() || t == Type::Pred {
        return None;
    }
    if matches!(t, Type::U16x2 | Type::S16x2) {
        return paired(opcode, t, modifiers);
    }
    let unary = |f: ComputeFunction| Meaning::new(f, t, &[t]);
    let binary = |f: ComputeFunction| Meaning::new(f, t, &[t, t]);
    Some(match opcode {
        "add" if modifiers.take("cc") => binary(carrying(t, Carry::Add)?),
        "addc" => {
            let out = modifiers.take("cc");
            binary(carrying(t, if out { Carry::AddBoth } else { Carry::AddIn })?)
        }
        "sub" if modifiers.take("cc") => binary(carrying(t, Carry::Subtract)?),
        "subc" => {
            let out = modifiers.take("cc");
            binary(carrying(t, if out { Carry::SubtractBoth } else { Carry::SubtractIn })?)
        }
        "add" if modifiers.take("sat") => binary(by_signed!(t, |a, b| a.saturating_add(b))?),
        "sub" if modifiers.take("sat") => binary(by_signed!(t, |a, b| a.saturating_sub(b))?),
        "add" => binary(by_width!(t, |a, b| a.wrapping_add(b))?),
        "sub" => binary(by_width!(t, |a, b| a.wrapping_sub(b))?),
        "mul" | "mad" | "madc" => return multiply(opcode, t, modifiers),
        "mul24" | "mad24" => return multiply24(opcode, t, modifiers),
        "sad" => {
            let f = by_integer!(t, |a, b, c| {
                c.wrapping_add(if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) })
            })?;
            Meaning::new(f, t, &[t, t, t])
        }
        // Division by zero is unspecified; hardware gives all ones, and the dividend as rest.
        "div" => binary(by_integer!(t, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) })?),
        "rem" => binary(by_integer!(t, |a, b| if b == 0 { a } else { a.wrapping_rem(b) })?),
        "abs" => unary(by_signed!(t, |a| a.wrapping_abs())?),
        "neg" => unary(by_signed!(t, |a| a.wrapping_neg())?),
        "min" if modifiers.take("relu") => binary(by_signed!(t, |a, b| a.min(b).max(0))?),
        "max" if modifiers.take("relu") => binary(by_signed!(t, |a, b| a.max(b).max(0))?),
        "min" => binary(by_integer!(t, |a, b| a.min(b))?),
        "max" => binary(by_integer!(t, |a, b| a.max(b))?),
        _ => return None,
    })
}

fn paired(opcode: &str, t: Type, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let relu = t == Type::S16x2 && modifiers.take("relu");
    let function = match opcode {
        "min" if relu => lanes!(|a: [i16; 2], b: [i16; 2]| -> [i16; 2] {
            std::array::from_fn(|i| a[i].min(b[i]).max(0))
        }),
        "max" if relu => lanes!(|a: [i16; 2], b: [i16; 2]| -> [i16; 2] {
            std::array::from_fn(|i| a[i].max(b[i]).max(0))
        }),
        "add" => by_pair!(t, |a, b| a.wrapping_add(b))?,
        "sub" => by_pair!(t, |a, b| a.wrapping_sub(b))?,
        "min" => by_pair!(t, |a, b| a.min(b))?,
        "max" => by_pair!(t, |a, b| a.max(b))?,
        _ => return None,
    };
    Some(Meaning::new(function, t, &[t, t]))
}

fn multiply(opcode: &str, t: Type, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let is_add = opcode != "mul";
    let part = modifiers.take_any(&["lo", "hi", "wide"])?;
    if opcode == "madc" || (is_add && modifiers.has("cc")) {
        return multiply_carry(opcode, t, part, modifiers);
    }
    if is_add && part == "hi" && modifiers.take("sat") {
        let f = lanes!(|a: i32, b: i32, c: i32| -> i32 {
            (((a as i64 * b as i64) >> 32) as i32).saturating_add(c)
        });
        return (t == Type::S32).then(|| Meaning::new(f, t, &[t, t, t]));
    }
    let wide = match t {
        Type::U16 | Type::B16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 | Type::B32 => Type::U64,
        Type::S32 => Type::S64,
        _ => t,
    };
    if is_add {
        let function = match part {
            "lo" => by_width!(t, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
            "hi" => by_integer_high_add(t),
            _ => match t {
                Type::U16 => Some(lanes!(|a: u16, b: u16, c: u32| -> u32 {
                    (a as u32 * b as u32).wrapping_add(c)
                })),
                Type::S16 => Some(lanes!(|a: i16, b: i16, c: i32| -> i32 {
                    (a as i32 * b as i32).wrapping_add(c)
                })),
                Type::U32 => Some(lanes!(|a: u32, b: u32, c: u64| -> u64 {
                    (a as u64 * b as u64).wrapping_add(c)
                })),
                Type::S32 => Some(lanes!(|a: i32, b: i32, c: i64| -> i64 {
                    (a as i64 * b as i64).wrapping_add(c)
                })),
                _ => None,
            },
        }?;
        let result = if part == "wide" { wide } else { t };
        return Some(Meaning::new(function, result, &[t, t, result]));
    }
    let function = match part {
        "lo" => by_width!(t, |a, b| a.wrapping_mul(b)),
        "hi" => match t {
            Type::U16 => {
                Some(lanes!(|a: u16, b: u16| -> u16 { ((a as u32 * b as u32) >> 16) as u16 }))
            }
            Type::S16 => {
                Some(lanes!(|a: i16, b: i16| -> i16 { ((a as i32 * b as i32) >> 16) as i16 }))
            }
            Type::U32 => {
                Some(lanes!(|a: u32, b: u32| -> u32 { ((a as u64 * b as u64) >> 32) as u32 }))
            }
            Type::S32 => {
                Some(lanes!(|a: i32, b: i32| -> i32 { ((a as i64 * b as i64) >> 32) as i32 }))
            }
            Type::U64 => {
                Some(lanes!(|a: u64, b: u64| -> u64 { ((a as u128 * b as u128) >> 64) as u64 }))
            }
            Type::S64 => {
                Some(lanes!(|a: i64, b: i64| -> i64 { ((a as i128 * b as i128) >> 64) as i64 }))
            }
            _ => None,
        },
        _ => match t {
            Type::U16 => Some(lanes!(|a: u16, b: u16| -> u32 { a as u32 * b as u32 })),
            Type::S16 => Some(lanes!(|a: i16, b: i16| -> i32 { a as i32 * b as i32 })),
            Type::U32 => Some(lanes!(|a: u32, b: u32| -> u64 { a as u64 * b as u64 })),
            Type::S32 => Some(lanes!(|a: i32, b: i32| -> i64 { a as i64 * b as i64 })),
            _ => None,
        },
    }?;
    Some(Meaning::new(function, if part == "wide" { wide } else { t }, &[t, t]))
}

fn by_integer_high_add(t: Type) -> Option<ComputeFunction> {
    Some(match t {
        Type::U16 => lanes!(|a: u16, b: u16, c: u16| -> u16 {
            (((a as u32 * b as u32) >> 16) as u16).wrapping_add(c)
        }),
        Type::S16 => lanes!(|a: i16, b: i16, c: i16| -> i16 {
            (((a as i32 * b as i32) >> 16) as i16).wrapping_add(c)
        }),
        Type::U32 => lanes!(|a: u32, b: u32, c: u32| -> u32 {
            (((a as u64 * b as u64) >> 32) as u32).wrapping_add(c)
        }),
        Type::S32 => lanes!(|a: i32, b: i32, c: i32| -> i32 {
            (((a as i64 * b as i64) >> 32) as i32).wrapping_add(c)
        }),
        Type::U64 => lanes!(|a: u64, b: u64, c: u64| -> u64 {
            (((a as u128 * b as u128) >> 64) as u64).wrapping_add(c)
        }),
        Type::S64 => lanes!(|a: i64, b: i64, c: i64| -> i64 {
            (((a as i128 * b as i128) >> 64) as i64).wrapping_add(c)
        }),
        _ => return None,
    })
}

fn multiply24(opcode: &str, t: Type, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let high = modifiers.take_any(&["lo", "hi"])? == "hi";
    let add = opcode == "mad24";
    let shift = if high { 16 } else { 0 };
    let function = match (t, add) {
        (Type::U32, _) => lanes!(shift; |a: u32, b: u32, c: u32| -> u32 {
            let product = (a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64;
            ((product >> (shift & 31)) as u32).wrapping_add(if shift & 32 != 0 { c } else { 0 })
        }),
        (Type::S32, _) => lanes!(shift; |a: i32, b: i32, c: i32| -> i32 {
            let product = (a << 8 >> 8) as i64 * (b << 8 >> 8) as i64;
            ((product >> (shift & 31)) as i32).wrapping_add(if shift & 32 != 0 { c } else { 0 })
        }),
        _ => return None,
    };
    let sources = if add { &[t, t, t][..] } else { &[t, t][..] };
    Some(Meaning::new(function, t, sources).with(shift | if add { 32 } else { 0 }))
}

/// `dp4a` and `dp2a`: dot products of bytes, accumulated.
fn dot_product(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let &[ta, tb] = &modifiers.types[..] else { return None };
    let signed = |t| match t {
        Type::S32 => Some(1),
        Type::U32 => Some(0),
        _ => None,
    };
    let mut flags = signed(ta)? | signed(tb)? << 1;
    if opcode == "dp2a" && modifiers.take_any(&["lo", "hi"])? == "hi" {
        flags |= 4;
    }
    fn part(value: u32, index: u32, bits: u32, signed: bool) -> i64 {
        let shifted = value >> (index * bits) << (32 - bits);
        if signed {
            (shifted as i32 >> (32 - bits)) as i64
        } else {
            (shifted >> (32 - bits)) as i64
        }
    }
    let function = if opcode == "dp4a" {
        lanes!(flags; |a: u32, b: u32, c: u32| -> u32 {
            let sum: i64 = (0..4)
                .map(|i| part(a, i, 8, flags & 1 != 0) * part(b, i, 8, flags & 2 != 0))
                .sum();
            c.wrapping_add(sum as u32)
        })
    } else {
        lanes!(flags; |a: u32, b: u32, c: u32| -> u32 {
            let first = if flags & 4 != 0 { 2 } else { 0 };
            let sum: i64 = (0..2)
                .map(|i| part(a, i, 16, flags & 1 != 0) * part(b, first + i, 8, flags & 2 != 0))
                .sum();
            c.wrapping_add(sum as u32)
        })
    };
    let t = if ta == Type::S32 || tb == Type::S32 { Type::S32 } else { Type::U32 };
    Some(Meaning::new(function, t, &[ta, tb, t]).with(flags))
}

#[derive(Clone, Copy)]
enum Carry {
    Add,
    AddIn,
    AddBoth,
    Subtract,
    SubtractIn,
    SubtractBoth,
}

/// One lane with carry: `(result, carry out)`; a borrow is a carry of one.
fn with_carry(a: u64, b: u64, carry: bool, subtract: bool, bits: u32) -> (u64, bool) {
    let (a, b) = (a as u128, b as u128);
    if subtract {
        let result = a.wrapping_sub(b).wrapping_sub(carry as u128);
        (result as u64, a < b + carry as u128)
    } else {
        let result = a + b + carry as u128;
        (result as u64, result >> bits != 0)
    }
}

fn carry_row<T: Lane + Copy>(
    registers: &mut Registers,
    operands: &super::Operands,
    mask: u32,
    (subtract, uses, sets): (bool, bool, bool),
    lane_function: impl Fn(T, T, bool, bool) -> (T, bool),
) {
    let a = T::read(registers, operands.a);
    let b = T::read(registers, operands.b);
    let carry = if uses { registers.predicates[CARRY as usize] } else { 0 };
    let mut results = [T::default(); LANES];
    let mut out = 0;
    for lane in 0..LANES {
        let (value, c) = lane_function(a[lane], b[lane], (carry >> lane) & 1 != 0, subtract);
        results[lane] = value;
        out |= (c as u32) << lane;
    }
    T::write(registers, operands.d, results, mask);
    if sets {
        let row = &mut registers.predicates[CARRY as usize];
        *row = (*row & !mask) | (out & mask);
    }
}

fn carrying(t: Type, kind: Carry) -> Option<ComputeFunction> {
    macro_rules! row {
        ($subtract:expr, $uses:expr, $sets:expr) => {
            match t.bytes() {
                4 => |r: &mut Registers, o: &super::Operands, m: u32| {
                    carry_row::<u32>(r, o, m, ($subtract, $uses, $sets), |a, b, c, s| {
                        let (v, c) = with_carry(a as u64, b as u64, c, s, 32);
                        (v as u32, c)
                    })
                },
                8 => |r: &mut Registers, o: &super::Operands, m: u32| {
                    carry_row::<u64>(r, o, m, ($subtract, $uses, $sets), |a, b, c, s| {
                        with_carry(a, b, c, s, 64)
                    })
                },
                _ => return None,
            }
        };
    }
    let function: fn(&mut Registers, &super::Operands, u32) = match kind {
        Carry::Add => row!(false, false, true),
        Carry::AddIn => row!(false, true, false),
        Carry::AddBoth => row!(false, true, true),
        Carry::Subtract => row!(true, false, true),
        Carry::SubtractIn => row!(true, true, false),
        Carry::SubtractBoth => row!(true, true, true),
    };
    Some(function)
}

/// `mad.cc`, `madc` and `madc.cc`; the immediate says high part (1), carry in (2), carry out (4).
fn multiply_carry(
    opcode: &str,
    t: Type,
    part: &str,
    modifiers: &mut Modifiers<'_>,
) -> Option<Meaning> {
    let mut flags = (part == "hi") as u32;
    flags |= if opcode == "madc" { 2 } else { 0 };
    flags |= if modifiers.take("cc") { 4 } else { 0 };
    fn row(r: &mut Registers, o: &super::Operands, mask: u32, signed: bool, long: bool) {
        let bits = if long { 64 } else { 32 };
        let get = |r: &Registers, i: u32| -> [u64; LANES] {
            if long { u64::read(r, i) } else { u32::read(r, i).map(u64::from) }
        };
        let (a, b, c) = (get(r, o.a), get(r, o.b), get(r, o.c));
        let carry = r.predicates[CARRY as usize];
        let extend = |v: u64| match (signed, long) {
            (true, true) => v as i64 as i128,
            (true, false) => v as u32 as i32 as i128,
            _ => v as i128,
        };
        let mut out = 0;
        let mut results = [0u64; LANES];
        for lane in 0..LANES {
            let product = extend(a[lane]).wrapping_mul(extend(b[lane]));
            let piece = if o.immediate & 1 != 0 { product >> bits } else { product } as u64;
            let piece = if long { piece } else { piece as u32 as u64 };
            let carry_in = o.immediate & 2 != 0 && (carry >> lane) & 1 != 0;
            let (value, c) = with_carry(piece, c[lane], carry_in, false, bits);
            results[lane] = value;
            out |= (c as u32) << lane;
        }
        if long {
            u64::write(r, o.d, results, mask);
        } else {
            u32::write(r, o.d, results.map(|v| v as u32), mask);
        }
        if o.immediate & 4 != 0 {
            let row = &mut r.predicates[CARRY as usize];
            *row = (*row & !mask) | (out & mask);
        }
    }
    let function: fn(&mut Registers, &super::Operands, u32) = match t {
        Type::U32 | Type::B32 => |r, o, m| row(r, o, m, false, false),
        Type::S32 => |r, o, m| row(r, o, m, true, false),
        Type::U64 | Type::B64 => |r, o, m| row(r, o, m, false, true),
        Type::S64 => |r, o, m| row(r, o, m, true, true),
        _ => return None,
    };
    Some(Meaning::new(function, t, &[t, t, t]).with(flags))
}
