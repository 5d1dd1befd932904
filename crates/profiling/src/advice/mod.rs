//! Advice: rules over the counters of a profile. Each names what was counted, the line, the lanes that show it, and the
//! change that cures it, with the count that follows where it can be computed.
//!
//! A rule is a function from a kernel, or from the whole profile, to pieces of advice. The gain is the model's: the
//! predicted time of the kernel, less its time when the part of the device that the waste keeps busy were busy only with
//! the rest.

mod banks;
mod global;
mod kernel;
mod program;
mod requests;

use results::{Advice, AdviceKind, ProfiledInstruction, ProfiledKernel, ProgramProfile, Promise};

/// Gains below this part of the program's predicted time are not worth a reader's time.
const SMALLEST_GAIN: f64 = 0.01;
/// Parts of a device that are nearly as long disturb each other: the exponent of the norm that joins them.
const TOGETHER: f64 = 4.0;

/// What would make a program faster, the largest gain first.
pub fn advice(profile: &ProgramProfile) -> Vec<Advice> {
    let of_kernel = |kernel: &ProfiledKernel| {
        let mut found = global::advice(kernel);
        found.extend(banks::advice(kernel));
        found.extend(kernel::advice(kernel));
        let least = SMALLEST_GAIN * kernel.predicted_us;
        found.retain(|advice| advice.gain_us >= least);
        found
    };
    let mut found: Vec<Advice> = profile.kernels.iter().flat_map(of_kernel).collect();
    found.extend(program::advice(profile));
    found.sort_by(|one, other| other.gain_us.total_cmp(&one.gain_us));
    found
}

/// Which parts of a device something keeps busy, as [`ProfiledKernel::busy_us`] names them.
const MEMORY: &[&str] = &["device memory", "L2", "requests to L2", "L1 and shared memory"];
const SHARED: &[&str] = &["L1 and shared memory"];
const ATOMICS: &[&str] = &["atomics", "L1 and shared memory"];
const CONSTANT: &[&str] = &["constant cache"];
const ISSUE: &[&str] = &["issuing instructions"];
const WAITING: &[&str] = &["waiting for results"];

/// The time that a kernel saves when `share` of what keeps these parts busy is gone. What waits for them waits as much
/// less.
fn gain_us(kernel: &ProfiledKernel, parts: &[&str], share: f64) -> f64 {
    let time = |left: &dyn Fn(&str) -> f64| -> f64 {
        let busy = kernel.busy_us.iter().map(|(part, busy)| (busy * left(part)).powf(TOGETHER));
        busy.sum::<f64>().powf(1.0 / TOGETHER)
    };
    let left = |part: &str| {
        let is_meant = parts.contains(&part) || WAITING.contains(&part);
        if is_meant { 1.0 - share.clamp(0.0, 1.0) } else { 1.0 }
    };
    time(&|_| 1.0) - time(&left)
}

/// Advice on one instruction.
fn on_instruction(
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
fn on_kernel(kind: AdviceKind, kernel: &ProfiledKernel, seen: String, cure: String) -> Advice {
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

fn promise(counter: &str, from: f64, to: f64) -> Option<Promise> {
    Some(Promise { counter: counter.to_owned(), from, to })
}

/// A count with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn ratio(amount: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { amount as f64 / of as f64 }
}
