//! The last screen of `bench`, `verify` and `run`, from committed files, at two widths: what who waits sees.
//!
//! `cargo xtask docs` writes them. The profile of `run` was made by `coalesce run --check --json` of
//! `host/tests/foreign/program.c` in its mode `race`, joined with that of `coalesce explain --json` of `column.ptx` there.

use super::pages::is_written;
use super::{read, reference};
use report::first_screen::{self, Verification};
use report::profile;
use report::screen::Screen;
use results::{Fidelity, ProgramProfile, Results, RowOutcome, Spread};
use std::collections::{BTreeMap, BTreeSet};

/// Writes or compares a screen at both widths; at the narrow one it has at most so many lines.
fn is_shown(name: &str, lines: usize, text: impl Fn(&Screen) -> String) {
    for width in [80, 120] {
        let shown = text(&Screen { width, is_ascii: false });
        let too_long = shown.lines().find(|line| line.chars().count() > width);
        assert_eq!(too_long, None, "{name} at {width} columns");
        assert!(shown.lines().count() <= lines, "{name} at {width} columns: {shown}");
        is_written(&format!("docs/screens/{name}-{width}.txt"), &shown);
    }
}

fn bench(results: &Results, screen: &Screen) -> String {
    let claim = |name: &str| host::CATALOGUE.pattern(name).expect("it is ours").claim();
    first_screen::bench(results, &claim, screen)
}

/// The committed measurement as if its predictions were the run.
fn predicted() -> Results {
    let mut results = reference();
    results.environment.is_prediction = true;
    results.environment.device.name += " (virtual)";
    results.rows.retain(|row| !row.peer);
    for row in &mut results.rows {
        let predicted = row.predicted_ms.take();
        let RowOutcome::Measured(measured) = &mut row.outcome else { continue };
        let Some(predicted) = predicted else { continue };
        let ratio = predicted / measured.time_ms.median;
        row.known_ratio = Some(ratio);
        measured.time_ms = Spread::of(&[predicted]);
        measured.bandwidth_gb_s /= ratio;
        measured.minimum_time.iter_mut().for_each(|minimum| minimum.percent /= ratio);
    }
    results
}

#[test]
fn a_measurement_ends_with_a_screen() {
    is_shown("bench", 60, |screen| bench(&reference(), screen));
}

#[test]
fn a_prediction_ends_with_a_screen() {
    let predicted = predicted();
    is_shown("bench-predicted", 60, |screen| bench(&predicted, screen));
}

#[test]
fn a_verification_ends_with_a_screen() {
    let reasons = ["it needs 2 devices, and the machine has 1", "4 must divide rows and columns"];
    let not_run: BTreeMap<String, usize> = reasons.map(|reason| (reason.to_owned(), 9)).into();
    let approximate = BTreeSet::from(["tanh.approx.f32".to_owned()]);
    let fidelity = Fidelity { instructions: 9000, approximate, ..Fidelity::default() };
    let ended = Verification {
        correct: 2040,
        wrong: 0,
        not_run,
        hazards: Some(0),
        fidelity: Some(fidelity),
        is_verbose: false,
    };
    is_shown("verify", 24, |screen| first_screen::verify(&ended, screen));
}

#[test]
fn a_program_ends_with_a_screen() {
    let profile: ProgramProfile =
        serde_json::from_str(&read("docs/screens/run.json")).expect("it is a profile");
    let taught = |advice: &results::Advice| host::CATALOGUE.taught(advice.kind);
    is_shown("run", 40, |screen| profile::screen(&profile, &taught, screen));
}
