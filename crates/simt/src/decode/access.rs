//! The modifiers that accesses of memory share: hints, scopes, state spaces, what an atomic does.

use crate::operation::{AtomicOperation, Space};
use crate::syntax::modifiers::Modifiers;

/// Cache and eviction hints, which change no result.
pub(super) fn is_hint(modifier: &str) -> bool {
    matches!(modifier, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "unified")
        || modifier.starts_with("L1::")
        || modifier.starts_with("L2::")
        || modifier.starts_with("level::")
}

pub(super) fn is_scope(modifier: &str) -> bool {
    matches!(modifier, "cta" | "cluster" | "gpu" | "sys")
}

/// Elements of a vector access.
pub(super) fn take_elements(modifiers: &mut Modifiers<'_>) -> usize {
    match modifiers.take_any(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    }
}

/// The read-modify-write that an atomic or a reducing copy names.
pub(super) fn take_operation(modifiers: &mut Modifiers<'_>) -> Option<AtomicOperation> {
    use AtomicOperation as Op;
    let names = ["add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"];
    Some(match modifiers.take_any(&names)? {
        "add" => Op::Add,
        "inc" => Op::Increment,
        "dec" => Op::Decrement,
        "min" => Op::Minimum,
        "max" => Op::Maximum,
        "and" => Op::And,
        "or" => Op::Or,
        "xor" => Op::Xor,
        "exch" => Op::Exchange,
        _ => Op::CompareSwap,
    })
}

/// Takes the state space; generic when none is named.
pub(super) fn take_space(modifiers: &mut Modifiers<'_>) -> Space {
    match modifiers.take_any(&[
        "global",
        "shared::cta",
        "shared::cluster",
        "shared",
        "local",
        "const",
        "param::entry",
        "param::func",
        "param",
    ]) {
        Some("global") => Space::Global,
        Some("local") => Space::Local,
        Some("const") => Space::Constant,
        Some("param" | "param::entry" | "param::func") => Space::Parameter,
        Some(_) => Space::Shared,
        None => Space::Generic,
    }
}
