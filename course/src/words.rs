//! Findings in the words of a learner's file.

use crate::grade::Submission;
use simt::Finding;

/// A hazard by its kind and its lines.
pub(crate) fn hazard(submission: &Submission, finding: &Finding) -> String {
    let other = finding.other.as_ref().and_then(|place| place.source.as_deref());
    let other = other.and_then(|place| submission.line_of(place));
    let other = other.map_or_else(String::new, |(line, text)| {
        format!("; the other access is line {line}, `{text}`")
    });
    format!("{:?}: {}{other}", finding.hazard, finding.message)
}

/// What is said of a kernel that passes though several threads store one word.
pub(crate) fn same_value(submission: &Submission, finding: &Finding) -> String {
    let place = finding.place.source.as_deref().and_then(|place| submission.line_of(place));
    let line = place.map_or_else(String::new, |(line, _)| format!(" in line {line}"));
    format!(
        "several threads store the same value to one word{line}: right in every order, and traffic that one of them could spare"
    )
}
