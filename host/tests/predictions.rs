//! `coalesce results --predictions`: predictions in a result file are replaced when the model has changed.

use crate::program::*;

#[test]
fn predictions_are_replaced_by_those_of_the_same_device() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (measured, predicted, other) = (path("m.json"), path("p.json"), path("other.json"));
    let bench = |device: &str, file: &str| {
        let arguments =
            ["bench", "batching", "--quick", "--no-sweeps", "--device", device, "--json", file];
        assert!(program(&arguments).status().expect("the program starts").success());
    };
    bench("virtual:h200", &predicted);
    bench("virtual:a100", &other);
    let load = |path: &str| {
        results::Results::load(path.as_ref(), host::CATALOGUE.renamed).expect("it is sound")
    };
    let mut stale = load(&predicted);
    stale.environment.is_prediction = false;
    stale.environment.device.name = stale.environment.device.model().to_owned();
    stale.rows.iter_mut().for_each(|row| row.predicted_ms = Some(1e6));
    stale.save(measured.as_ref()).expect("a writable folder");
    let replace = ["results", &measured, "--predictions", &predicted];
    let check = [&replace[..], &["--check"]].concat();
    assert_fails(&check, 1, "are stale");
    assert!(load(&measured).rows.iter().all(|row| row.predicted_ms == Some(1e6)), "not by --check");
    assert!(program(&replace).status().expect("the program starts").success());
    assert!(program(&check).status().expect("the program starts").success());
    let median = |row: &results::Row| row.measured().map(|measured| measured.time_ms.median);
    for (row, predicted) in load(&measured).rows.iter().zip(&load(&predicted).rows) {
        assert_eq!((row.predicted_ms, median(row)), (median(predicted), median(predicted)));
    }
    assert_fails(&["results", &measured, "--predictions", &other], 1, "the prediction of");
    assert_fails(&["results", &measured, "--predictions", &measured], 1, "was measured");
    assert_fails(
        &["results", &predicted, "--predictions", &predicted],
        1,
        "is a prediction itself",
    );
}
