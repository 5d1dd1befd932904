//! The myths: each figure of `docs/myths.md` is that of the committed measurement, and refutes what it should.

use super::{read, reference};
use crate::kernels_source::root;
use crate::snapshots::blessing;
use report::measured;
use results::{Results, Traffic};

const MYTHS: &str = "docs/myths.md";

const PARTS: [&str; 3] =
    ["**Where it comes from.**", "**The experiment.**", "**Where it is true.**"];

/// A row of a table of figures: what it is of, the figure, and while which values it refutes the myth.
struct Figure<'a> {
    of: &'a str,
    is: &'a str,
    condition: &'a str,
}

fn figure(line: &str) -> Option<Figure<'_>> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let [of, is, condition] = cells[..] else { return None };
    (of != "figure").then_some(Figure { of, is, condition })
}

fn value(results: &Results, of: &str) -> Result<f64, String> {
    let missing = || format!("nobody measured: {of}");
    let row = |name: &str| measured::row(results, "", name).map_err(|error| error.to_string());
    let time = |name: &str| -> Result<f64, String> {
        Ok(row(name)?.measured().ok_or_else(missing)?.time_ms.median)
    };
    let (what, name) = of.split_once(" of `").ok_or_else(|| format!("no figure: {of}"))?;
    let (what, name) = match of.strip_prefix("part of peak of ") {
        Some(rest) => ("part of peak", rest),
        None => (what, &of[of.len() - name.len() - 1..]),
    };
    if what == "time" {
        let (slow, fast) = name.split_once(" over ").ok_or_else(|| format!("over what: {of}"))?;
        return Ok(time(slow)? / time(fast)?);
    }
    let row = row(name.trim_end_matches(", %"))?;
    if what == "occupancy" {
        return Ok(row.resources.ok_or_else(missing)?.occupancy_percent);
    }
    if what == "part of peak" {
        let minimum = row.measured().and_then(|measured| measured.minimum_time);
        return Ok(minimum.ok_or_else(missing)?.percent);
    }
    let traffic = row.traffic.ok_or_else(missing)?;
    let of_traffic: fn(&Traffic) -> Option<f64> = match what {
        "load sectors per request" => |t| t.load_sectors,
        "store sectors per request" => |t| t.store_sectors,
        "shared load wavefronts per request" => |t| t.shared_load_wavefronts,
        "constant wavefronts per request" => |t| t.constant_wavefronts,
        "efficiency" => |t| t.efficiency_percent,
        "load efficiency" => |t| t.load_efficiency_percent,
        _ => return Err(format!("no figure: {of}")),
    };
    of_traffic(&traffic).ok_or_else(missing)
}

/// Returns whether a value refutes the myth.
fn refutes(condition: &str, value: f64) -> Result<bool, String> {
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("no condition: {condition}"));
    Ok(if let Some(bound) = condition.strip_prefix("above ") {
        value > number(bound)?
    } else if let Some(bound) = condition.strip_prefix("below ") {
        value < number(bound)?
    } else if let Some((low, high)) = condition.split_once(" to ") {
        (number(low)?..=number(high)?).contains(&value)
    } else {
        (value - number(condition)?).abs() < 1e-3
    })
}

fn shown(value: f64) -> String {
    let before = value.abs().log10().floor().max(0.0) as usize;
    let text = format!("{value:.*}", 2usize.saturating_sub(before));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A figure as it should be written, or why the myth is not refuted. Tests are figures that pass.
fn written(results: &Results, tests: &str, figure: &Figure<'_>) -> Result<String, String> {
    if let Some(name) = figure.of.strip_prefix("test `") {
        let definition = format!("fn {}()", name.trim_end_matches('`'));
        return if tests.contains(&definition) {
            Ok("passes".to_owned())
        } else {
            Err(format!("there is no test {name}"))
        };
    }
    let value = value(results, figure.of)?;
    if refutes(figure.condition, value)? {
        Ok(shown(value))
    } else {
        Err(format!("{} is {value}, which is not {}", figure.of, figure.condition))
    }
}

/// The document with its figures as they are, and what no longer refutes anything.
fn checked(document: &str, results: &Results, tests: &str) -> (String, Vec<String>) {
    let (mut out, mut faults) = (String::new(), Vec::new());
    for line in document.lines() {
        match figure(line).filter(|figure| !figure.of.starts_with("---")) {
            None => out += line,
            Some(figure) => match written(results, tests, &figure) {
                Ok(is) => out += &format!("| {} | {is} | {} |", figure.of, figure.condition),
                Err(fault) => {
                    faults.push(fault);
                    out += line;
                }
            },
        }
        out.push('\n');
    }
    for myth in document.split("\n## ").skip(1) {
        let title = myth.lines().next().unwrap_or_default();
        let missing = PARTS.iter().filter(|part| !myth.contains(**part));
        faults.extend(missing.map(|part| format!("{title}: no `{part}`")));
        if !myth.lines().any(|line| figure(line).is_some_and(|figure| !figure.is.is_empty())) {
            faults.push(format!("{title}: no figure"));
        }
    }
    (out, faults)
}

/// The sources of the tests that myths name.
fn tests() -> String {
    ["tests/race_kernels.rs", "crates/simt/tests/races.rs"].map(read).concat()
}

#[test]
fn every_myth_is_refuted_by_figures() {
    let document = read(MYTHS);
    let (now, faults) = checked(&document, &reference(), &tests());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(document.matches("\n## ").count() >= 35, "there were more myths");
    if blessing() {
        std::fs::write(root().join(MYTHS), now).expect("a writable checkout");
        return;
    }
    let differs = document.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None, "COALESCE_BLESS=1 writes the figures of the measurement");
}

#[test]
fn a_figure_that_no_longer_refutes_its_myth_is_found() {
    let (document, tests) = (read(MYTHS), tests());
    let figures = document.lines().filter_map(figure).filter(|one| !one.of.starts_with("---"));
    let mut planted = 0;
    for figure in figures {
        let results = &mut reference();
        if figure.of.starts_with("test `") {
            assert!(written(results, "", &figure).is_err(), "{}", figure.of);
        } else {
            // Far from what it was, on the other side of the condition.
            let is = value(results, figure.of).expect("it is measured");
            let wrong = if refutes(figure.condition, is / 50.0) == Ok(true) { 50.0 } else { 0.02 };
            assert_eq!(refutes(figure.condition, is * wrong), Ok(false), "{}", figure.of);
        }
        planted += 1;
    }
    assert!(planted > 70, "only {planted} figures");
    let broken = document.replacen("**The experiment.**", "", 1);
    assert_eq!(checked(&broken, &reference(), &tests).1.len(), 1);
}

#[test]
fn figures_and_conditions_are_read() {
    assert_eq!(
        ["1.234", "12.34", "123.4", "1", "0.5"].map(|n| shown(n.parse().unwrap())),
        ["1.23", "12.3", "123", "1", "0.5"]
    );
    for (condition, value, holds) in
        [("above 2", 2.1, true), ("below 2", 2.1, false), ("1 to 2", 2.0, true), ("4", 4.1, false)]
    {
        assert_eq!(refutes(condition, value), Ok(holds), "{condition}");
    }
    assert!(refutes("about 3", 3.0).is_err());
    let results = reference();
    for wrong in ["time of `coalescing/scalar`", "beauty of `coalescing/scalar`", "time"] {
        assert!(value(&results, wrong).is_err(), "{wrong}");
    }
}
