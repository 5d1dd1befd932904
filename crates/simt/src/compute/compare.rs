use super::half::Half;
use super::{ComputeFunction, lanes};
use crate::compute::half::{Bf16, F16};
use ptx::Type;

pub(crate) const OPERATORS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan",
];

macro_rules! integer {
    ($operator:expr, $t:ty) => {
        Some(match $operator {
            "eq" => lanes!(|a: $t, b: $t| -> bool { a == b }),
            "ne" => lanes!(|a: $t, b: $t| -> bool { a != b }),
            "lt" | "lo" => lanes!(|a: $t, b: $t| -> bool { a < b }),
            "le" | "ls" => lanes!(|a: $t, b: $t| -> bool { a <= b }),
            "gt" | "hi" => lanes!(|a: $t, b: $t| -> bool { a > b }),
            "ge" | "hs" => lanes!(|a: $t, b: $t| -> bool { a >= b }),
            _ => return None,
        })
    };
}

#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn ordered(a: f32, b: f32, code: u32) -> bool {
    compare(a.partial_cmp(&b), code)
}

/// Decides any operator from an ordering; `None` is unordered.
#[inline(always)]
fn compare(order: Option<std::cmp::Ordering>, code: u32) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match (OPERATORS[code as usize % 18], order) {
        ("num", order) => order.is_some(),
        ("nan", order) => order.is_none(),
        (operator, None) => operator.ends_with('u'),
        ("eq" | "equ", Some(order)) => order == Equal,
        ("ne" | "neu", Some(order)) => order != Equal,
        ("lt" | "ltu", Some(order)) => order == Less,
        ("le" | "leu", Some(order)) => order != Greater,
        ("gt" | "gtu", Some(order)) => order == Greater,
        (_, Some(order)) => order != Less,
    }
}

macro_rules! float {
    ($operator:expr, $t:ty) => {
        match $operator {
            "eq" => lanes!(|a: $t, b: $t| -> bool { a == b }),
            "ne" => lanes!(|a: $t, b: $t| -> bool { a != b && !a.is_nan() && !b.is_nan() }),
            "lt" => lanes!(|a: $t, b: $t| -> bool { a < b }),
            "le" => lanes!(|a: $t, b: $t| -> bool { a <= b }),
            "gt" => lanes!(|a: $t, b: $t| -> bool { a > b }),
            "ge" => lanes!(|a: $t, b: $t| -> bool { a >= b }),
            "neu" => lanes!(|a: $t, b: $t| -> bool { a != b }),
            "nan" => lanes!(|a: $t, b: $t| -> bool { a.is_nan() || b.is_nan() }),
            "num" => lanes!(|a: $t, b: $t| -> bool { !a.is_nan() && !b.is_nan() }),
            _ => lanes!(code; |a: $t, b: $t| -> bool { compare(a.partial_cmp(&b), code) }),
        }
    };
}

/// The function of one comparison; its immediate must be [`code`] of the operator.
pub(crate) fn function(operator: &str, t: Type, flush: bool) -> Option<ComputeFunction> {
    let is_float_operator =
        matches!(operator, "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" | "num" | "nan");
    if is_float_operator && !t.is_float() {
        return None;
    }
    let unsigned = matches!(operator, "lo" | "ls" | "hi" | "hs");
    if unsigned && (t.is_float() || t.is_signed()) {
        return None;
    }
    match t {
        Type::U16 | Type::B16 => integer!(operator, u16),
        Type::S16 => integer!(operator, i16),
        Type::U32 | Type::B32 => integer!(operator, u32),
        Type::S32 => integer!(operator, i32),
        Type::U64 | Type::B64 => integer!(operator, u64),
        Type::S64 => integer!(operator, i64),
        Type::F32 if flush => Some(lanes!(code; |a: f32, b: f32| -> bool {
            ordered(super::special::flush(a), super::special::flush(b), code)
        })),
        Type::F32 => Some(float!(operator, f32)),
        Type::F64 => Some(float!(operator, f64)),
        Type::F16 => Some(lanes!(code; |a: F16, b: F16| -> bool {
            ordered(a.value(), b.value(), code)
        })),
        Type::Bf16 => Some(lanes!(code; |a: Bf16, b: Bf16| -> bool {
            ordered(a.value(), b.value(), code)
        })),
        _ => None,
    }
}

/// Both halves of a pair compared; bit 0 of the immediate's upper part picks the high half.
pub(crate) fn half_of_pair(t: Type) -> Option<ComputeFunction> {
    Some(match t {
        Type::F16x2 => lanes!(code; |a: [F16; 2], b: [F16; 2]| -> bool {
            let i = (code >> 8) as usize & 1;
            ordered(a[i].value(), b[i].value(), code & 0xff)
        }),
        Type::Bf16x2 => lanes!(code; |a: [Bf16; 2], b: [Bf16; 2]| -> bool {
            let i = (code >> 8) as usize & 1;
            ordered(a[i].value(), b[i].value(), code & 0xff)
        }),
        _ => return None,
    })
}

/// The immediate of a comparison.
pub(crate) fn code(operator: &str) -> u32 {
    OPERATORS.iter().position(|o| *o == operator).unwrap_or(0) as u32
}
