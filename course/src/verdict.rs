//! What grading came to.

use crate::task::{Bound, FailureKind, Limits};

/// What was counted of a run, with its limits at that size.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// The bound.
    pub bound: Bound,
    /// Its limits.
    pub limits: Limits,
    /// The count.
    pub value: f64,
}

/// What grading came to.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The stages that passed, each with a sentence.
    pub passed: Vec<(&'static str, String)>,
    /// What did not.
    pub failure: Option<Failure>,
    /// What was counted at the count size, where it came to that.
    pub counts: Vec<Tally>,
    /// What is worth knowing of what passes.
    pub remarks: Vec<String>,
}

/// The first thing that did not pass.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The stage.
    pub stage: &'static str,
    /// Its kind.
    pub because: FailureKind,
    /// What happened.
    pub message: String,
    /// The line of the source, and its text.
    pub line: Option<(u32, String)>,
    /// Lanes and sectors, or lanes and banks.
    pub strip: Vec<String>,
    /// One thing to do next.
    pub next: String,
}

impl Verdict {
    /// Whether everything passed.
    pub fn is_pass(&self) -> bool {
        self.failure.is_none()
    }

    pub(crate) fn failed(mut self, failure: Failure) -> Verdict {
        self.failure = Some(failure);
        self
    }
}
