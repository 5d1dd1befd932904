//! The fidelity of a report: the exact, the modelled and the refused parts.

use crate::profile::ProgramProfile;
use counters::MisuseKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The trust that each part of a report deserves, by what ran.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Fidelity {
    /// Instructions of PTX that ran.
    pub instructions: usize,
    /// Those of them whose results are within a documented error of the hardware's, each opcode once.
    pub approximate: BTreeSet<String>,
    /// Instructions in loops that wait for other threads: how often they run depends on timing.
    pub timing_dependent: usize,
    /// Figures that a model made.
    pub modelled: Vec<String>,
    /// Calls and instructions that were asked for and are not supported.
    pub unsupported: BTreeSet<String>,
}

impl ProgramProfile {
    /// Returns what of this profile is exact, what a model, and what was refused.
    pub fn fidelity(&self) -> Fidelity {
        let all = || self.kernels.iter().flat_map(|kernel| &kernel.instructions);
        let approximate = all().filter(|one| one.is_approximate).map(|one| one.text.clone());
        let has_times = !self.kernels.is_empty() || !self.timeline.intervals.is_empty();
        let modelled = if has_times { &["times", "warps that fit at once"][..] } else { &[] };
        let refused = self.misuse.iter().filter(|one| one.kind == MisuseKind::Unsupported);
        let unsupported = refused.map(|one| {
            let call = one.message.split(':').next().unwrap_or_default();
            call.to_owned()
        });
        Fidelity {
            instructions: all().count(),
            approximate: approximate.collect(),
            timing_dependent: all().filter(|one| one.counts.depends_on_timing).count(),
            modelled: modelled.iter().map(|one| (*one).to_owned()).collect(),
            unsupported: unsupported.collect(),
        }
    }
}

impl fmt::Display for Fidelity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &BTreeSet<String>| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let nothing = || "nothing".to_owned();
        write!(
            f,
            "Fidelity: {} instructions of PTX ran. Exact: counts and results",
            self.instructions
        )?;
        if !self.approximate.is_empty() {
            write!(f, ", but for {} within a documented error", list(&self.approximate))?;
        }
        f.write_str(". ")?;
        if self.timing_dependent > 0 {
            let count = self.timing_dependent;
            write!(f, "How often {count} in loops that wait ran depends on timing. ")?;
        }
        let modelled =
            if self.modelled.is_empty() { nothing() } else { self.modelled.join(" and ") };
        let refused = if self.unsupported.is_empty() { nothing() } else { list(&self.unsupported) };
        write!(f, "Modelled: {modelled}. Unsupported: {refused}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_exact_what_a_model_and_what_was_refused() {
        let none = ProgramProfile::new("./program".to_owned(), "X".to_owned(), false).fidelity();
        assert_eq!(
            none.to_string(),
            "Fidelity: 0 instructions of PTX ran. Exact: counts and results. Modelled: nothing. Unsupported: nothing."
        );
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let some = Fidelity {
            instructions: 9,
            approximate: names(&["tanh.approx.f32"]),
            timing_dependent: 2,
            modelled: vec!["times".to_owned(), "copies".to_owned()],
            unsupported: names(&["cuMulticastCreate"]),
        };
        assert_eq!(
            some.to_string(),
            "Fidelity: 9 instructions of PTX ran. Exact: counts and results, but for `tanh.approx.f32` within a documented \
             error. How often 2 in loops that wait ran depends on timing. Modelled: times and copies. Unsupported: \
             `cuMulticastCreate`."
        );
    }
}
