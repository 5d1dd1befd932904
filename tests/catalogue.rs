//! Facts of a catalogue's patterns: names, sizes that do not fit, sweeps, twins of peers.

use coalesce::Selection;
use coalesce::measure::{Axes, Plan};
use coalesce::pattern::Size;
use host::CATALOGUE;
use results::Results;

fn selection(text: &str) -> Selection {
    CATALOGUE.select(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_misspelt_name_gets_the_nearest_one() {
    let error = CATALOGUE.select("transpse").expect_err("no such pattern");
    assert_eq!(
        error.to_string(),
        "there is no pattern `transpse`, did you mean `transpose`?; `list` shows them all"
    );
    let error = CATALOGUE.select("transpose/paded").expect_err("no such variant");
    assert!(error.to_string().contains("did you mean `padded`?"), "{error}");
    let error = CATALOGUE.select("xyzzy").expect_err("no such pattern");
    assert!(!error.to_string().contains("did you mean"), "{error}");
}

/// The largest sizes that are accepted may have more tiles in one direction than a grid has blocks there.
#[test]
fn a_variant_says_that_its_grid_would_be_too_high() {
    for (name, size) in [
        ("matmul_ab/naive", [1 << 27, 16]),
        ("matmul_ab/register_tiled", [1 << 27, 16]),
        ("transpose/tiled", [1 << 22, 4]),
        ("transpose/column_read", [4, 1 << 22]),
        ("transpose/vectorized", [1 << 23, 4]),
        ("transpose/block_order", [4, 1 << 23]),
    ] {
        let variant = selection(name).variant.expect("a variant was named");
        assert!((variant.precondition)(&Size::new(&size)).is_err(), "{name}");
        assert_eq!((variant.precondition)(&Size::new(&[1024, 1024])), Ok(()), "{name}");
    }
}

#[test]
fn a_kernel_belongs_to_the_pattern_of_its_name() {
    let name = |kernel| CATALOGUE.owner_of(kernel).map(|pattern| pattern.name);
    assert_eq!(name("matmul_ab_naive"), Some("matmul_ab"));
    assert_eq!(name("stride_copy"), Some("stride"));
    assert_eq!(name("strides_copy"), None);
}

#[test]
fn a_selection_names_a_pattern_or_one_variant() {
    let all = selection("transpose");
    assert_eq!(all.variants().count(), all.pattern.variants.len());
    let one = selection("transpose/padded");
    assert_eq!(one.variants().map(|variant| variant.name).collect::<Vec<_>>(), ["padded"]);
}

#[test]
fn an_axis_of_several_values_is_a_curve_in_place_of_the_patterns_own() {
    let of_stride = selection("stride");
    let mut plan = Plan::new(vec![of_stride]);
    let own = plan.points(&of_stride).expect("it fits").len();
    assert_eq!(own, 1 + of_stride.pattern.sweeps[0].values.len());
    let axes = |text: &str| text.parse::<Axes>().expect("axes").0;
    plan.axes = axes("2^20,stride=2,4");
    let points = plan.points(&of_stride).expect("it fits");
    let sizes: Vec<_> = points.iter().map(|point| point.size.values().to_vec()).collect();
    assert_eq!(sizes, [[1 << 20, 8], [1 << 20, 2], [1 << 20, 4]]);
    assert_eq!(points[2].sweep, Some("stride"));
    plan.axes = axes("width=2");
    assert!(plan.points(&of_stride).is_err());
}

/// A rename once took the minimum time from eleven variants, whose names it is chosen by.
#[test]
fn every_variant_still_has_the_minimum_time_that_it_was_measured_with() {
    let path = crate::kernels_source::root().join("results/nvidia-h200/reference.json");
    let results = Results::load(&path, CATALOGUE.renamed).expect("it is committed");
    let mut compared = 0;
    for row in results.ladders().filter(|row| !row.peer) {
        let name = format!("{}/{}", row.pattern, row.variant);
        let selection = selection(&name);
        let variant = selection.variant.expect("a variant was named");
        let size = Size::new(selection.pattern.bench_size);
        let now = (selection.pattern.minimum_time)(variant, &size);
        // A peak that was not yet measured then gave no row a minimum time.
        if now.is_some_and(|(resource, _)| results.peak(resource).is_none()) {
            continue;
        }
        // One GPU measures nothing of several.
        let Some(measured) = row.measured() else {
            let is_not_run = matches!(row.outcome, results::RowOutcome::NotRun { .. });
            assert!(is_not_run, "{name}: all that could run was measured");
            continue;
        };
        let then = measured.minimum_time.map(|time| (time.resource, time.amount));
        assert_eq!(now, then, "{name}");
        compared += 1;
    }
    assert!(compared > 100, "only {compared} variants were compared");
}
