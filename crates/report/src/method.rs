use super::markdown;
use super::runs::Runs;
use maud::{Markup, html};
use results::agreement;

const TEXT: &str = include_str!("method.md");

/// The section of the summary.
pub fn section(runs: &Runs) -> Markup {
    html! {
        h2 id="method" { "How this was measured" }
        div.prose {
            (markdown::body(TEXT))
            @if let Some(accuracy) = accuracy(runs) { p { (accuracy) } }
        }
    }
}

/// Returns how far the predictions of this report are from its measurements.
fn accuracy(runs: &Runs) -> Option<String> {
    let pairs = runs.predicted_pairs();
    if pairs.is_empty() || runs.main.results.environment.is_prediction {
        return None;
    }
    let found = agreement(&pairs);
    Some(format!(
        "In this report the median prediction is off by {:.0} %, and a tenth of the {} rows by more than {:.0} %; {} of \
         {} pairs of neighbours that differ by more than 10 % are predicted in the measured order.",
        found.error_percent,
        pairs.len(),
        found.worst_tenth_percent,
        found.in_order,
        found.neighbours
    ))
}
