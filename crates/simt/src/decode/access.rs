//! The modifiers that accesses of memory share: hints, scopes, state spaces, what an atomic does.

use crate::operation::{AtomicOperation, Scope, Semantics, Space};
use ptx::Modifiers;

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

/// Takes the scope; `default` when none is named.
pub(super) fn take_scope(modifiers: &mut Modifiers<'_>, default: Scope) -> Scope {
    match modifiers.take_any(&["cta", "cluster", "gpu", "sys", "gl"]) {
        Some("cta") => Scope::Block,
        Some("cluster") => Scope::Cluster,
        Some(_) => Scope::Device,
        None => default,
    }
}

/// Takes the order and scope of an access. Without these modifiers a load or a store is weak, and an atomic relaxed.
pub(super) fn take_semantics(modifiers: &mut Modifiers<'_>, is_atomic: bool) -> Semantics {
    let volatile = modifiers.take_any(&["volatile", "mmio"]);
    let order = modifiers.take_any(&["relaxed", "acquire", "release", "acq_rel"]);
    let system = volatile.is_some() || modifiers.has("sys");
    let scope = take_scope(modifiers, Scope::Device);
    let strong = match (volatile, order) {
        (Some(_), _) => Some(Scope::Device),
        (None, Some(_)) => Some(scope),
        (None, None) => is_atomic.then_some(scope),
    };
    Semantics {
        strong,
        acquire: matches!(order, Some("acquire" | "acq_rel")),
        release: matches!(order, Some("release" | "acq_rel")),
        sequential: false,
        volatile: volatile == Some("volatile"),
        system,
    }
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
