use crate::error::{Error, Result};
use crate::run::{Results, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The predicted time of each row of the ladders over the time that one device took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// The device, such as `NVIDIA H200`.
    pub device: String,
    /// By `pattern/variant`.
    pub ratios: BTreeMap<String, f64>,
}

/// The header's words before the device.
const HEADER: &str = "pattern/variant,predicted / measured on ";

/// Neighbours of a ladder whose times differ by more than this part have an order.
pub(crate) const ORDERED: f64 = 0.1;

impl Accuracy {
    /// Reads a table: its header names the device, each line has a row's name and its ratio.
    ///
    /// # Errors
    /// A line that is neither; the message quotes it.
    pub fn parse(text: &str) -> Result<Accuracy> {
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let Some(device) = header.strip_prefix(HEADER) else {
            return Err(Error::NoHeader { found: header.to_owned(), expected: HEADER });
        };
        let row = |line: &str| -> Result<(String, f64)> {
            let none = |source| Error::NoRatio { line: line.to_owned(), source };
            let (name, ratio) = line.split_once(',').ok_or_else(|| none(None))?;
            let ratio: f64 = ratio.parse().map_err(|error| none(Some(error)))?;
            Ok((name.to_owned(), ratio))
        };
        let ratios = lines.map(row).collect::<Result<_>>()?;
        Ok(Accuracy { device: device.to_owned(), ratios })
    }

    /// The text that [`Accuracy::parse`] reads.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}{}\n", self.device);
        for (name, ratio) in &self.ratios {
            let _ = writeln!(text, "{name},{ratio:.6}");
        }
        text
    }
}

/// Two neighbours of a ladder that a model orders the wrong way round.
#[derive(Clone, Copy, Debug)]
pub struct Misordered<'a> {
    /// The one that is predicted faster, and was measured slower.
    pub predicted_faster: &'a Row,
    /// The one that was measured faster.
    pub measured_faster: &'a Row,
}

/// The neighbours of ladders that these predictions have in another order than the measurement that they are known by;
/// none in a file of measurements.
pub fn misordered(results: &Results) -> Vec<Misordered<'_>> {
    let known = |row: &&Row| row.known_ratio.is_some() && row.measured().is_some();
    let ladder: Vec<&Row> = results.ladders().filter(known).collect();
    // What was predicted, and what was measured according to the comparison.
    let times = |row: &Row| -> Option<(f64, f64)> {
        let predicted = row.measured()?.time_ms.median;
        Some((predicted, predicted / row.known_ratio?))
    };
    let mut found = Vec::new();
    for two in ladder.windows(2) {
        let [a, b] = [two[0], two[1]];
        let (Some(of_a), Some(of_b)) = (times(a), times(b)) else { continue };
        let (predicted, measured) = ((of_b.0 / of_a.0).ln(), (of_b.1 / of_a.1).ln());
        if a.pattern == b.pattern && measured.abs() > ORDERED.ln_1p() && predicted * measured <= 0.0
        {
            let (predicted_faster, measured_faster) = if measured > 0.0 { (b, a) } else { (a, b) };
            found.push(Misordered { predicted_faster, measured_faster });
        }
    }
    found
}

/// The patterns whose ladders are no ranking, because the model has neighbours in the wrong order.
pub fn unranked(results: &Results) -> BTreeSet<&str> {
    misordered(results).iter().map(|two| two.predicted_faster.pattern.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Measured, RowOutcome};
    use crate::spread::Spread;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let ratios = [("a/b".to_owned(), 0.5), ("a/c".to_owned(), 2.0)];
        let accuracy = Accuracy { device: "NVIDIA X".to_owned(), ratios: ratios.into() };
        assert_eq!(Accuracy::parse(&accuracy.to_text()).unwrap(), accuracy);
        for (text, part) in
            [("a,b\n", "header"), ("", "header"), (&format!("{HEADER}X\na/b\n"), "a/b")]
        {
            let error = Accuracy::parse(text).unwrap_err().sentence();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn neighbours_in_the_wrong_order_are_found() {
        let committed =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        let mut results = Results::load(committed.as_ref(), &[]).expect("it is committed");
        assert_eq!(misordered(&results).len(), 0, "measurements have no known ratio");
        results.rows.retain(|row| row.pattern == "transpose" && !row.peer && row.sweep.is_none());
        results.rows.truncate(3);
        // Measured: 10, 5, 5.2; predicted: 8, 9, 4.
        for (row, (predicted, measured)) in
            results.rows.iter_mut().zip([(8.0, 10.0), (9.0, 5.0), (4.0, 5.2)])
        {
            row.known_ratio = Some(predicted / measured);
            if let RowOutcome::Measured(Measured { time_ms, .. }) = &mut row.outcome {
                *time_ms = Spread::of(&[predicted]);
            }
        }
        let found = misordered(&results);
        // The last two differ by 4 %: they have no order.
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].predicted_faster.variant, results.rows[0].variant);
        assert_eq!(found[0].measured_faster.variant, results.rows[1].variant);
        assert_eq!(unranked(&results), ["transpose"].into());
    }
}
