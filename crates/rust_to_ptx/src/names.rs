//! Names and constants of `core` and `cuda_std` that kernels of tasks use.

use crate::tree::{Expr, Int, Kind, Place, Type};

/// Names that `use PATH::*` brings.
pub fn glob(path: &str) -> &'static [&'static str] {
    match canonical(path).as_str() {
        "cuda_std" | "cuda_std::prelude" => {
            &["thread", "warp", "shared", "atomic", "async_copy", "memory", "vector"]
        }
        _ => &[],
    }
}

/// One name for one thing: `std` and `alloc` are `core`.
pub fn canonical(path: &str) -> String {
    let path = path.trim_start_matches("::");
    match path.split_once("::") {
        Some(("std" | "alloc", rest)) => format!("core::{rest}"),
        _ => path.to_owned(),
    }
}

/// A constant of a library.
pub fn constant(path: &str, at: Place) -> Option<Expr> {
    let made = |kind, of| Some(Expr { kind, of, at });
    if path == "cuda_std::warp::FULL_MASK" {
        return made(Kind::Int(0xffff_ffff), Type::U32);
    }
    if let Some(name) = path.strip_prefix("core::sync::atomic::Ordering::") {
        return (name == "Relaxed").then_some(Expr { kind: Kind::Int(0), of: Type::Ordering, at });
    }
    let (of, name) = path.rsplit_once("::")?;
    let of = of.strip_prefix("core::").unwrap_or(of);
    if let Some(int) = Int::named(of) {
        let most = if int.bits == 64 { u64::MAX } else { (1 << int.bits) - 1 };
        let value = match (name, int.signed) {
            ("MAX", false) => most,
            ("MAX", true) => most >> 1,
            ("MIN", false) => 0,
            ("MIN", true) => 1 << (int.bits - 1),
            ("BITS", _) => return made(Kind::Int(u64::from(int.bits)), Type::U32),
            _ => return None,
        };
        return made(Kind::Int(value), Type::Int(int));
    }
    let value = |name: &str| match name {
        "INFINITY" => Some((f64::INFINITY, f32::INFINITY)),
        "NEG_INFINITY" => Some((f64::NEG_INFINITY, f32::NEG_INFINITY)),
        "NAN" => Some((f64::NAN, f32::NAN)),
        "MAX" => Some((f64::MAX, f32::MAX)),
        "MIN" => Some((f64::MIN, f32::MIN)),
        "EPSILON" => Some((f64::EPSILON, f32::EPSILON)),
        _ => None,
    };
    let of = match of {
        "f32" => Type::F32,
        "f64" => Type::F64,
        _ => return None,
    };
    let (long, short) = value(name)?;
    made(Kind::Float(long, short), of)
}
