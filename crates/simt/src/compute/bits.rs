use super::{Meaning, lanes};
use ptx::Modifiers;
use ptx::Type;

macro_rules! by_bits {
    ($type:expr, |$($p:ident),+| $body:expr) => {
        match $type.bytes() {
            _ if $type == Type::Pred => None,
            1 => Some(lanes!(|$($p: u8),+| -> u8 { $body })),
            2 => Some(lanes!(|$($p: u16),+| -> u16 { $body })),
            4 => Some(lanes!(|$($p: u32),+| -> u32 { $body })),
            8 => Some(lanes!(|$($p: u64),+| -> u64 { $body })),
            _ => None,
        }
    };
}

macro_rules! logic {
    ($type:expr, |$($p:ident),+| $body:expr) => {
        if $type == Type::Pred {
            Some(lanes!(|$($p: bool),+| -> bool { $body }))
        } else {
            by_bits!($type, |$($p),+| $body)
        }
    };
}

pub(crate) fn meaning(opcode: &str, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    match opcode {
        "slct" => return select_by_sign(modifiers),
        "shf" => return funnel(modifiers),
        "prmt" => return permute(modifiers),
        _ => {}
    }
    let t = modifiers.only_type()?;
    let u32s = Type::U32;
    Some(match opcode {
        "mov" => Meaning::new(logic!(t, |a| a)?, t, &[t]),
        "not" if t == Type::Pred => Meaning::new(lanes!(|a: bool| -> bool { !a }), t, &[t]),
        "not" => Meaning::new(by_bits!(t, |a| !a)?, t, &[t]),
        "and" => Meaning::new(logic!(t, |a, b| a & b)?, t, &[t, t]),
        "or" => Meaning::new(logic!(t, |a, b| a | b)?, t, &[t, t]),
        "xor" => Meaning::new(logic!(t, |a, b| a ^ b)?, t, &[t, t]),
        "cnot" => Meaning::new(by_bits!(t, |a| (a == 0).into())?, t, &[t]),
        "lop3" if t == Type::B32 && !modifiers.has("and") && !modifiers.has("or") => {
            // The table comes as the fourth operand; `decode` moves it into the immediate.
            Meaning::new(
                lanes!(table; |a: u32, b: u32, c: u32| -> u32 {
                    let term = |bit: u32, value: u32| if table >> bit & 1 != 0 { value } else { 0 };
                    term(0, !a & !b & !c) | term(1, !a & !b & c) | term(2, !a & b & !c)
                        | term(3, !a & b & c) | term(4, a & !b & !c) | term(5, a & !b & c)
                        | term(6, a & b & !c) | term(7, a & b & c)
                }),
                t,
                &[t, t, t],
            )
        }
        "shl" => Meaning::new(shift_left(t)?, t, &[t, u32s]),
        "shr" => Meaning::new(shift_right(t)?, t, &[t, u32s]),
        "selp" => {
            let f = match t.bytes() {
                _ if t == Type::Pred => return None,
                2 => lanes!(|a: u16, b: u16, p: bool| -> u16 { if p { a } else { b } }),
                4 => lanes!(|a: u32, b: u32, p: bool| -> u32 { if p { a } else { b } }),
                8 => lanes!(|a: u64, b: u64, p: bool| -> u64 { if p { a } else { b } }),
                _ => return None,
            };
            Meaning::new(f, t, &[t, t, Type::Pred])
        }
        "popc" => match t.bytes() {
            4 => Meaning::new(lanes!(|a: u32| -> u32 { a.count_ones() }), u32s, &[t]),
            _ => Meaning::new(lanes!(|a: u64| -> u32 { a.count_ones() }), u32s, &[t]),
        },
        "clz" => match t.bytes() {
            4 => Meaning::new(lanes!(|a: u32| -> u32 { a.leading_zeros() }), u32s, &[t]),
            _ => Meaning::new(lanes!(|a: u64| -> u32 { a.leading_zeros() }), u32s, &[t]),
        },
        "brev" => Meaning::new(by_bits!(t, |a| a.reverse_bits())?, t, &[t]),
        "bfind" => find(t, modifiers)?,
        "bfe" => extract(t)?,
        "bfi" => {
            let f = match t.bytes() {
                4 => lanes!(packed; |a: u32, b: u32, c: u32| -> u32 {
                    let _ = packed;
                    insert(a as u64, b as u64, c & 0xff, c >> 8 & 0xff, 32) as u32
                }),
                8 => lanes!(|a: u64, b: u64, c: u32| -> u64 {
                    insert(a, b, c & 0xff, c >> 8 & 0xff, 64)
                }),
                _ => return None,
            };
            // Position and length are packed into one register by `decode`.
            Meaning::new(f, t, &[t, t, u32s])
        }
        "bmsk" => {
            let wrap = modifiers.take_any(&["wrap", "clamp"])? == "wrap";
            let f = lanes!(wrap; |a: u32, b: u32| -> u32 {
                let (a, b) = if wrap != 0 { (a & 31, b & 31) } else { (a.min(32), b.min(32)) };
                ((((1u64 << b) - 1) << a) & 0xffff_ffff) as u32
            });
            Meaning::new(f, t, &[u32s, u32s]).with(wrap as u32)
        }
        "szext" => {
            let wrap = modifiers.take_any(&["wrap", "clamp"])? == "wrap";
            let flags = wrap as u32 | (t.is_signed() as u32) << 1;
            let f = lanes!(flags; |a: u32, b: u32| -> u32 {
                let n = if flags & 1 != 0 { b & 31 } else { b.min(32) };
                let shift = 32 - n;
                if n == 0 {
                    0
                } else if flags & 2 != 0 {
                    ((a << shift) as i32 >> shift) as u32
                } else {
                    a << shift >> shift
                }
            });
            Meaning::new(f, t, &[t, u32s]).with(flags)
        }
        "fns" => {
            let f = lanes!(|mask: u32, base: u32, offset: i32| -> u32 {
                find_nth_set(mask, base, offset)
            });
            Meaning::new(f, t, &[t, u32s, Type::S32])
        }
        _ => return None,
    })
}

fn shift_left(t: Type) -> Option<super::ComputeFunction> {
    Some(match t.bytes() {
        2 => lanes!(|a: u16, n: u32| -> u16 { if n > 15 { 0 } else { a << n } }),
        4 => lanes!(|a: u32, n: u32| -> u32 { if n > 31 { 0 } else { a << (n & 31) } }),
        8 => lanes!(|a: u64, n: u32| -> u64 { if n > 63 { 0 } else { a << (n & 63) } }),
        _ => return None,
    })
}

fn shift_right(t: Type) -> Option<super::ComputeFunction> {
    Some(match (t.bytes(), t.is_signed()) {
        (2, false) => lanes!(|a: u16, n: u32| -> u16 { if n > 15 { 0 } else { a >> n } }),
        (2, true) => lanes!(|a: i16, n: u32| -> i16 { a >> n.min(15) }),
        (4, false) => lanes!(|a: u32, n: u32| -> u32 { if n > 31 { 0 } else { a >> (n & 31) } }),
        (4, true) => lanes!(|a: i32, n: u32| -> i32 { a >> n.min(31) }),
        (8, false) => lanes!(|a: u64, n: u32| -> u64 { if n > 63 { 0 } else { a >> (n & 63) } }),
        (8, true) => lanes!(|a: i64, n: u32| -> i64 { a >> n.min(63) }),
        _ => return None,
    })
}

fn insert(a: u64, b: u64, position: u32, length: u32, bits: u32) -> u64 {
    if position >= bits || length == 0 {
        return b;
    }
    let length = length.min(bits - position);
    let field = if length >= 64 { u64::MAX } else { ((1u64 << length) - 1) << position };
    (b & !field) | ((a << position) & field)
}

fn extract_unsigned(a: u64, position: u32, length: u32, bits: u32) -> u64 {
    if position >= bits || length == 0 {
        return 0;
    }
    let value = a >> position;
    if length >= 64 { value } else { value & ((1u64 << length) - 1) }
}

fn extract_signed(a: i64, position: u32, length: u32, bits: u32) -> i64 {
    if length == 0 {
        return 0;
    }
    // Bits beyond the top repeat the sign.
    let value = a >> position.min(bits - 1).min(63);
    if length >= 64 { value } else { value << (64 - length) >> (64 - length) }
}

/// `bfe`: position and length are packed into one register by `decode`.
fn extract(t: Type) -> Option<Meaning> {
    let f = match (t.bytes(), t.is_signed()) {
        (4, false) => lanes!(|a: u32, n: u32| -> u32 {
            extract_unsigned(a as u64, n & 0xff, n >> 8 & 0xff, 32) as u32
        }),
        (4, true) => lanes!(|a: i32, n: u32| -> i32 {
            extract_signed(a as i64, n & 0xff, n >> 8 & 0xff, 32) as i32
        }),
        (8, false) => {
            lanes!(|a: u64, n: u32| -> u64 { extract_unsigned(a, n & 0xff, n >> 8 & 0xff, 64) })
        }
        (8, true) => {
            lanes!(|a: i64, n: u32| -> i64 { extract_signed(a, n & 0xff, n >> 8 & 0xff, 64) })
        }
        _ => return None,
    };
    Some(Meaning::new(f, t, &[t, Type::U32]))
}

fn find(t: Type, modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let amount = modifiers.take("shiftamt") as u32;
    let f = match t {
        Type::U32 => lanes!(amount; |a: u32| -> u32 {
            if a == 0 { u32::MAX } else if amount != 0 { a.leading_zeros() }
            else { 31 - a.leading_zeros() }
        }),
        Type::S32 => lanes!(amount; |a: i32| -> u32 {
            let a = (if a < 0 { !a } else { a }) as u32;
            if a == 0 { u32::MAX } else if amount != 0 { a.leading_zeros() }
            else { 31 - a.leading_zeros() }
        }),
        Type::U64 => lanes!(amount; |a: u64| -> u32 {
            if a == 0 { u32::MAX } else if amount != 0 { a.leading_zeros() }
            else { 63 - a.leading_zeros() }
        }),
        Type::S64 => lanes!(amount; |a: i64| -> u32 {
            let a = (if a < 0 { !a } else { a }) as u64;
            if a == 0 { u32::MAX } else if amount != 0 { a.leading_zeros() }
            else { 63 - a.leading_zeros() }
        }),
        _ => return None,
    };
    Some(Meaning::new(f, Type::U32, &[t]).with(amount))
}

fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let base = base & 31;
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let mut left = offset.unsigned_abs();
    let mut at = base as i32;
    while (0..32).contains(&at) {
        if mask >> at & 1 != 0 {
            left -= 1;
            if left == 0 {
                return at as u32;
            }
        }
        at += offset.signum();
    }
    u32::MAX
}

fn select_by_sign(modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    modifiers.take("ftz");
    let &[t, by] = &modifiers.types[..] else { return None };
    let f = match (t.bytes(), by) {
        (4, Type::S32) => lanes!(|a: u32, b: u32, c: i32| -> u32 { if c >= 0 { a } else { b } }),
        (8, Type::S32) => lanes!(|a: u64, b: u64, c: i32| -> u64 { if c >= 0 { a } else { b } }),
        (4, Type::F32) => lanes!(|a: u32, b: u32, c: f32| -> u32 { if c >= 0.0 { a } else { b } }),
        (8, Type::F32) => lanes!(|a: u64, b: u64, c: f32| -> u64 { if c >= 0.0 { a } else { b } }),
        _ => return None,
    };
    Some(Meaning::new(f, t, &[t, t, by]))
}

fn funnel(modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let t = modifiers.only_type().filter(|t| t.bytes() == 4)?;
    let left = modifiers.take_any(&["l", "r"])? == "l";
    let wrap = modifiers.take_any(&["wrap", "clamp"])? == "wrap";
    let f = match (left, wrap) {
        (true, true) => lanes!(|a: u32, b: u32, c: u32| -> u32 {
            ((((b as u64) << 32 | a as u64) << (c & 31)) >> 32) as u32
        }),
        (true, false) => lanes!(|a: u32, b: u32, c: u32| -> u32 {
            ((((b as u64) << 32 | a as u64) << c.min(32)) >> 32) as u32
        }),
        (false, true) => lanes!(|a: u32, b: u32, c: u32| -> u32 {
            (((b as u64) << 32 | a as u64) >> (c & 31)) as u32
        }),
        (false, false) => lanes!(|a: u32, b: u32, c: u32| -> u32 {
            (((b as u64) << 32 | a as u64) >> c.min(32)) as u32
        }),
    };
    Some(Meaning::new(f, t, &[t, t, Type::U32]))
}

fn permute(modifiers: &mut Modifiers<'_>) -> Option<Meaning> {
    let t = modifiers.only_type()?;
    let modes = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];
    let mode = modifiers.take_any(&modes);
    let code = mode.map_or(6, |m| modes.iter().position(|x| *x == m).unwrap_or(6) as u32);
    let f = if mode.is_none() {
        lanes!(|a: u32, b: u32, c: u32| -> u32 {
            let both = (b as u64) << 32 | a as u64;
            let mut result = 0;
            for i in 0..4 {
                let selector = c >> (4 * i);
                let byte = (both >> (8 * (selector & 7))) as u8;
                let byte = if selector & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
                result |= (byte as u32) << (8 * i);
            }
            result
        })
    } else {
        lanes!(mode; |a: u32, b: u32, c: u32| -> u32 {
            let both = (b as u64) << 32 | a as u64;
            let n = c & 3;
            let mut result = 0;
            for i in 0..4u32 {
                let pick = match mode {
                    0 => n + i,
                    1 => n.wrapping_sub(i) & 7,
                    2 => n,
                    3 => i.max(n),
                    4 => i.min(n),
                    _ => (n & 1) * 2 + (i & 1),
                };
                result |= ((both >> (8 * pick)) as u8 as u32) << (8 * i);
            }
            result
        })
    };
    Some(Meaning::new(f, t, &[t, t, Type::U32]).with(code))
}
