use super::page::time_with_unit;
use super::runs::Runs;
use super::tabulate;
use results::{Measured, Row};

/// Returns what to say of a pattern before anything else; `None` when nothing of it was measured.
pub fn of(runs: &Runs, pattern: &str) -> Option<String> {
    let rows = runs.ladder(pattern);
    let ours: Vec<(&Row, &Measured)> = rows
        .iter()
        .filter(|row| !row.peer)
        .filter_map(|row| Some((*row, row.measured()?)))
        .collect();
    let (naive, first) = *ours.first()?;
    let is_prediction = runs.main.results.environment.is_prediction;
    if !runs.is_ranked(pattern) {
        return Some(
            "The model has the order of this ladder wrong, so it says nothing about which variant is faster.".to_owned(),
        );
    }
    let alike = ours.iter().filter(|(row, _)| {
        runs.main.results.baseline(row).is_some_and(|baseline| std::ptr::eq(baseline, naive))
    });
    let (best, figures) =
        *alike.min_by(|a, b| a.1.time_ms.median.total_cmp(&b.1.time_ms.median))?;
    let is = if is_prediction { "is predicted to be" } else { "is" };
    let faster = first.time_ms.median / figures.time_ms.median;
    let mut said = if std::ptr::eq(best, naive) || faster < 1.005 {
        let time = time_with_unit(first.time_ms.median);
        format!("No variant {is} faster than `{}` ({time})", naive.variant)
    } else {
        format!(
            "`{}` {is} {} times as fast as `{}` ({} instead of {})",
            best.variant,
            tabulate::factor(faster),
            naive.variant,
            time_with_unit(figures.time_ms.median),
            time_with_unit(first.time_ms.median),
        )
    };
    if let Some(minimum) = figures.minimum_time {
        said += &format!(
            " and runs at {:.0} % of the measured peak of {}",
            minimum.percent,
            minimum.resource.name()
        );
    }
    said += ".";
    let missed: Vec<&str> = ours
        .iter()
        .filter(|(row, _)| runs.misses(row))
        .map(|(row, _)| row.variant.as_str())
        .collect();
    match (&missed[..], is_prediction) {
        ([], _) | (_, true) => {}
        ([one], _) => said += &format!(" The prediction of `{one}` misses by more than a third."),
        (more, _) => {
            said += &format!(
                " The predictions of {} of {} variants miss by more than a third.",
                more.len(),
                ours.len()
            );
        }
    }
    Some(said)
}
