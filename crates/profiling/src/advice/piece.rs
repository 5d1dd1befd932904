//! Parts that the rules share: the device's parts, the gain, and a piece of advice in the making.

use results::{Advice, AdviceKind, ProfiledInstruction, ProfiledKernel, Promise};

/// Parts of a device's memory system, as [`ProfiledKernel::busy_us`] names them.
pub const MEMORY: &[&str] = &["device memory", "L2", "requests to L2", "L1 and shared memory"];
pub const SHARED: &[&str] = &["L1 and shared memory"];
pub const ATOMICS: &[&str] = &["atomic updates", "L1 and shared memory"];
pub const CONSTANT: &[&str] = &["constant cache"];
pub const ISSUE: &[&str] = &["issuing instructions"];
pub const WAITING: &[&str] = &["waiting for results"];

/// The time that a kernel saves without `share` of what keeps these parts busy. What waits for them waits as much less.
pub fn gain_us(kernel: &ProfiledKernel, parts: &[&str], share: f64) -> f64 {
    let time = |left: &dyn Fn(&str) -> f64| -> f64 {
        let busy = kernel.busy_us.iter().map(|(part, busy)| (part.as_str(), busy * left(part)));
        virtual_gpu::together(&busy.collect::<Vec<_>>())
    };
    let left = |part: &str| {
        let is_meant = parts.contains(&part) || WAITING.contains(&part);
        if is_meant { 1.0 - share.clamp(0.0, 1.0) } else { 1.0 }
    };
    time(&|_| 1.0) - time(&left)
}

/// Advice on one instruction.
pub fn on_instruction(
    kind: AdviceKind,
    kernel: &ProfiledKernel,
    instruction: &ProfiledInstruction,
    seen: String,
    cure: String,
) -> Advice {
    Advice {
        ptx_line: Some(instruction.counts.ptx_line),
        source: instruction.counts.source.clone(),
        ..on_kernel(kind, kernel, seen, cure)
    }
}

/// Advice on a kernel as a whole.
pub fn on_kernel(kind: AdviceKind, kernel: &ProfiledKernel, seen: String, cure: String) -> Advice {
    Advice {
        kind,
        kernel: Some(kernel.name.clone()),
        ptx_line: None,
        source: None,
        seen,
        lanes: String::new(),
        cure,
        promise: None,
        gain_us: 0.0,
    }
}

pub fn promise(counter: &str, from: f64, to: f64) -> Option<Promise> {
    Some(Promise { counter: counter.to_owned(), from, to })
}

/// A count with at most two decimals.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub fn ratio(amount: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { amount as f64 / of as f64 }
}
