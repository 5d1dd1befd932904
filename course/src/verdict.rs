use crate::task::{Bound, FailureKind, Limits};

/// One count of a run, with its limits at that size.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    pub bound: Bound,
    pub limits: Limits,
    pub value: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The stages that passed, each with a sentence.
    pub passed: Vec<(&'static str, String)>,
    pub failure: Option<Failure>,
    /// Counts at the count size, if the file came that far.
    pub counts: Vec<Tally>,
    pub remarks: Vec<String>,
}

/// The first thing that did not pass.
#[derive(Clone, Debug)]
pub struct Failure {
    pub stage: &'static str,
    pub because: FailureKind,
    pub message: String,
    /// The line of the source, and its text.
    pub line: Option<(u32, String)>,
    /// Lanes and sectors, or lanes and banks.
    pub strip: Vec<String>,
    /// One thing to do next.
    pub next: String,
}

impl Verdict {
    pub fn is_pass(&self) -> bool {
        self.failure.is_none()
    }

    pub(crate) fn failed(mut self, failure: Failure) -> Verdict {
        self.failure = Some(failure);
        self
    }
}
