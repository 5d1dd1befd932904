//! Advice: rules over the counters of a profile. Each names what was counted, the line, the lanes that show it, and the
//! change that cures it, with the count that follows where it can be computed.
//!
//! A rule is a function from a kernel, or from the whole profile, to pieces of advice. The gain is the model's: the
//! predicted time of the kernel, less its time when the part of the device that the waste keeps busy were busy only with
//! the rest.
//!
//! ```no_run
//! let profile = results::ProgramProfile::load("profile.json".as_ref())?;
//! for advice in profiling::advice::advice(&profile) {
//!     println!("{:.1} us: {}", advice.gain_us, advice.seen);
//! }
//! # Ok::<(), results::Error>(())
//! ```

mod banks;
mod global;
mod kernel;
mod piece;
mod program;
mod requests;
pub(crate) mod triton;

use results::{Advice, AdviceKind, ProfiledKernel, ProgramProfile, Promise, SourceLocation};

/// Gains below this part of the program's predicted time are not worth a reader's time.
const SMALLEST_GAIN: f64 = 0.01;
/// A conflict of so many times the wavefronts that would do is named whatever it gains: another part hides it for now.
const LARGE_CONFLICT: f64 = 8.0;
/// The part of a kernel's predicted time that all of its gains together are, at the most.
const LARGEST_GAIN: f64 = 0.95;

/// Returns what would make a program faster, the largest gain first.
pub fn advice(profile: &ProgramProfile) -> Vec<Advice> {
    let of_kernel = |kernel: &ProfiledKernel| {
        let mut found = global::advice(kernel);
        found.extend(banks::advice(kernel));
        found.extend(kernel::advice(kernel));
        if kernel.is_triton {
            found = found.into_iter().filter_map(triton::in_its_words).collect();
        }
        let mut found = merged(found);
        // Each is the gain if it were the only cure: together they cannot save more than there is.
        let sum: f64 = found.iter().map(|advice| advice.gain_us).sum();
        let most = LARGEST_GAIN * kernel.predicted_us;
        if sum > most {
            found.iter_mut().for_each(|advice| advice.gain_us *= most / sum);
        }
        let least = SMALLEST_GAIN * kernel.predicted_us;
        let hidden_by = kernel.busy_us.first().map_or("another part", |(part, _)| part.as_str());
        for advice in found.iter_mut().filter(|advice| advice.gain_us < least) {
            advice.cure +=
                &format!("; this gains next to nothing before there is less of {hidden_by}");
        }
        found.retain(|advice| advice.gain_us >= least || is_large_conflict(advice));
        found
    };
    let mut found: Vec<Advice> = profile.kernels.iter().flat_map(of_kernel).collect();
    found.extend(program::advice(profile));
    found.sort_by(|one, other| other.gain_us.total_cmp(&one.gain_us));
    found
}

/// Returns whether it is about a bank conflict that no kernel should have.
fn is_large_conflict(advice: &Advice) -> bool {
    let falls = |promise: &Promise| promise.from >= LARGE_CONFLICT * promise.to;
    advice.kind == AdviceKind::BankConflict && advice.promise.as_ref().is_some_and(falls)
}

/// Advice on several instructions of one line, such as those of an unrolled loop, is one piece.
fn merged(found: Vec<Advice>) -> Vec<Advice> {
    let mut merged: Vec<(Advice, usize)> = Vec::new();
    for one in found {
        let place = |advice: &Advice| {
            let source = advice.source.as_ref().map(SourceLocation::outermost);
            source.map(|(file, line)| (file.to_owned(), line))
        };
        let same = |(other, _): &&mut (Advice, usize)| {
            (other.kind, &other.cure, place(other)) == (one.kind, &one.cure, place(&one))
        };
        match merged.iter_mut().find(same) {
            Some((known, count)) => {
                known.gain_us += one.gain_us;
                *count += 1;
            }
            None => merged.push((one, 1)),
        }
    }
    let with_count = |(advice, count): (Advice, usize)| match count {
        1 => advice,
        _ => Advice { seen: format!("{} ({count} such instructions)", advice.seen), ..advice },
    };
    merged.into_iter().map(with_count).collect()
}
