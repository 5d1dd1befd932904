//! Peers: the same work in CUDA C++ and in NVIDIA's libraries, timed by a program of its own.
//!
//! The program (`peers/peers.cu`) prints one JSON line per case; each becomes a row beside ours.

use crate::measure::gb_s;
use crate::pattern::Size;
use crate::patterns::PATTERNS;
use crate::results::{Outcome, Row, Spread};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A case that a peer timed.
#[derive(Debug, Deserialize)]
struct Case {
    pattern: String,
    variant: String,
    size: BTreeMap<String, usize>,
    times_ms: Vec<f64>,
}

/// Runs the program and adds its cases to the rows, each behind the rows of its pattern.
///
/// # Errors
/// When the program cannot be run, fails, or prints something else.
pub fn add(program: &Path, copy_gb_s: f64, rows: &mut Vec<Row>) -> Result<()> {
    let output = Command::new(program)
        .output()
        .with_context(|| format!("cannot run the peers' program {}", program.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("the peers' program {} failed: {}", program.display(), message.trim());
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let case: Case = serde_json::from_str(line).with_context(|| {
            format!("{} printed a line that is no case: {line}", program.display())
        })?;
        add_case(case, copy_gb_s, rows)?;
    }
    Ok(())
}

fn add_case(case: Case, copy_gb_s: f64, rows: &mut Vec<Row>) -> Result<()> {
    let Some(pattern) = PATTERNS.iter().find(|pattern| pattern.name == case.pattern) else {
        bail!("a peer names a pattern that does not exist: `{}`", case.pattern);
    };
    if case.times_ms.is_empty() {
        bail!("the peer `{}` of `{}` has no times", case.variant, case.pattern);
    }
    let values: Option<Vec<usize>> =
        pattern.dimensions.iter().map(|one| case.size.get(one.name).copied()).collect();
    let Some(values) = values.filter(|values| values.len() == case.size.len()) else {
        bail!(
            "the peer `{}` of `{}` has another size than its pattern",
            case.variant,
            case.pattern
        );
    };
    // Runs of other patterns only have no row to stand beside.
    let Some(last) = rows.iter().rposition(|row| row.pattern == case.pattern) else {
        return Ok(());
    };
    let time_ms = Spread::of(&case.times_ms);
    let size = Size::new(&values);
    let bytes = (pattern.bytes)(&size).total();
    let bandwidth_gb_s = gb_s(bytes, time_ms.median);
    let sweep = values != pattern.bench_size;
    let naive = rows.iter().find_map(|row| match &row.outcome {
        Outcome::Measured { time_ms, .. }
            if row.pattern == case.pattern && row.size == case.size =>
        {
            Some(time_ms.median)
        }
        _ => None,
    });
    let row = Row {
        pattern: case.pattern,
        variant: case.variant,
        size: case.size,
        sweep,
        peer: true,
        outcome: Outcome::Measured {
            time_ms,
            bytes,
            bandwidth_gb_s,
            percent_of_copy: 100.0 * bandwidth_gb_s / copy_gb_s,
            speed_up: naive.map_or(1.0, |naive| naive / time_ms.median),
        },
    };
    rows.insert(last + 1, row);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Row {
        let time_ms = Spread::of(&[2.0]);
        let outcome = Outcome::Measured {
            time_ms,
            bytes: 0,
            bandwidth_gb_s: 0.0,
            percent_of_copy: 0.0,
            speed_up: 1.0,
        };
        let size = BTreeMap::from([("n".to_owned(), 1 << 28)]);
        let (pattern, variant) = ("reduction".to_owned(), "sequential".to_owned());
        Row { pattern, variant, size, sweep: false, peer: false, outcome }
    }

    #[test]
    fn a_peer_stands_behind_the_rows_of_its_pattern() {
        let mut rows = vec![ours(), Row { pattern: "histogram".to_owned(), ..ours() }];
        let line = r#"{"pattern":"reduction","variant":"CUB","size":{"n":268435456},"times_ms":[1.0,0.5,0.5]}"#;
        add_case(serde_json::from_str(line).expect("a case"), 4000.0, &mut rows).expect("it fits");
        assert_eq!((rows.len(), rows[1].variant.as_str(), rows[1].sweep), (3, "CUB", false));
        let Outcome::Measured { bandwidth_gb_s, speed_up, .. } = rows[1].outcome else {
            panic!("a peer is measured")
        };
        // 2^30 bytes in half a millisecond, and the sum; the first of our rows took 2 ms.
        assert!((bandwidth_gb_s - 2_147.483_656).abs() < 1e-6, "{bandwidth_gb_s}");
        assert_eq!(speed_up, 4.0);
    }

    #[test]
    fn a_peer_of_no_pattern_is_an_error() {
        for line in [
            r#"{"pattern":"redaction","variant":"CUB","size":{"n":1},"times_ms":[1.0]}"#,
            r#"{"pattern":"reduction","variant":"CUB","size":{"m":1},"times_ms":[1.0]}"#,
            r#"{"pattern":"reduction","variant":"CUB","size":{"n":1},"times_ms":[]}"#,
        ] {
            let case = serde_json::from_str(line).expect("a case");
            assert!(add_case(case, 4000.0, &mut vec![ours()]).is_err(), "{line}");
        }
    }
}
