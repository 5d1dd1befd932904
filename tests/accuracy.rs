//! The accuracy of the model, row by row: no prediction gets worse unnoticed behind a median.
//!
//! The test reads predictions that were made before, so that CI makes them once.

use crate::kernels_source::root;
use crate::snapshots::blessing;
use results::{Accuracy, Results, pairs};
use std::collections::BTreeMap;

/// Made by `cargo xtask bench --json target/predicted.json`, without a GPU.
const PREDICTED: &str = "target/predicted.json";
const MEASURED: &str = "results/nvidia-h200/reference.json";
/// The ratio of each row of the ladders as it was when the model was last changed on purpose.
const RECORDED: &str = "results/nvidia-h200/accuracy.csv";
/// The factor by which a row may be further off than recorded.
const MARGIN: f64 = 1.05;

#[test]
#[ignore = "needs predictions"]
fn no_row_is_predicted_worse_than_before() {
    let load = |path: &str| {
        Results::load(&root().join(path), host::CATALOGUE.renamed).unwrap_or_else(|error| {
            panic!("{error:#}: `cargo xtask bench --json {PREDICTED}` makes predictions")
        })
    };
    let (predicted, measured) = (load(PREDICTED), load(MEASURED));
    assert!(predicted.environment.is_prediction, "{PREDICTED} was measured on a GPU");
    let (found, _) = pairs(&predicted, &measured);
    let ladders = found.iter().filter(|pair| pair.row.sweep.is_none() && !pair.row.peer);
    let ratios: BTreeMap<String, f64> =
        ladders.map(|pair| (pair.row.name(), 1.0 / pair.ratio())).collect();
    let path = root().join(RECORDED);
    if blessing() {
        let device = measured.environment.device.name.clone();
        let table = Accuracy { device, ratios };
        std::fs::write(path, table.to_text()).expect("a writable checkout");
        return;
    }
    let text = std::fs::read_to_string(path).expect("the table is committed");
    let recorded = Accuracy::parse(&text).expect("the table is whole").ratios;
    let problems = worse(&recorded, &ratios);
    assert!(
        problems.is_empty(),
        "{}\nIf it is meant, set COALESCE_BLESS=1 and run this test again: it rewrites {RECORDED}.",
        problems.join("\n")
    );
    println!("{} rows are predicted no worse than recorded", ratios.len());
}

/// Rows that are further off than recorded, are not recorded, or are no more.
fn worse(recorded: &BTreeMap<String, f64>, ratios: &BTreeMap<String, f64>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, now) in ratios {
        match recorded.get(name) {
            None => problems.push(format!("{name} is not in {RECORDED}")),
            Some(before) if now.ln().abs() > before.ln().abs() + MARGIN.ln() => problems.push(
                format!("{name}: {now:.3} of the measured time is predicted, {before:.3} before"),
            ),
            Some(_) => {}
        }
    }
    let gone = recorded.keys().filter(|name| !ratios.contains_key(*name));
    problems.extend(gone.map(|name| format!("{name} is in {RECORDED} and was not predicted")));
    problems
}

#[test]
fn a_worse_row_a_new_row_and_a_lost_row_are_said() {
    let of = |rows: &[(&str, f64)]| -> BTreeMap<String, f64> {
        rows.iter().map(|(name, ratio)| ((*name).to_owned(), *ratio)).collect()
    };
    let recorded = of(&[("a/fast", 0.9), ("a/slow", 1.1)]);
    // As far off on the other side, or a little further, is no worse.
    assert!(worse(&recorded, &of(&[("a/fast", 1.11), ("a/slow", 1.15)])).is_empty());
    for (now, part) in [
        (of(&[("a/fast", 0.85), ("a/slow", 1.1)]), "a/fast: 0.850"),
        (of(&[("a/fast", 0.9)]), "a/slow is in"),
        (of(&[("a/fast", 0.9), ("a/slow", 1.1), ("b/new", 1.0)]), "b/new is not in"),
    ] {
        let problems = worse(&recorded, &now);
        assert!(problems.len() == 1 && problems[0].contains(part), "{problems:?}");
    }
}
