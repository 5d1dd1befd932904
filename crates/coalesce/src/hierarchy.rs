//! The memory spaces of a device in one table: where each is, who sees it, and what an access costs as measured.
//!
//! ```
//! use coalesce::hierarchy::{MemorySpace, markdown};
//!
//! let shared = MemorySpace {
//!     name: "shared",
//!     place: "multiprocessor",
//!     cached: "no",
//!     access: "read, write",
//!     scope: "block",
//!     lifetime: "block",
//!     latency: None,
//!     bandwidth: None,
//! };
//! assert!(markdown(&[shared], None).contains("| shared | multiprocessor |"));
//! ```

use results::{Resource, Results, Row};

/// A place for data.
#[derive(Debug)]
pub struct MemorySpace {
    /// Its name.
    pub name: &'static str,
    /// The part of the machine that holds it.
    pub place: &'static str,
    /// The caches on the way to it.
    pub cached: &'static str,
    /// The accesses that it allows.
    pub access: &'static str,
    /// The threads that see it.
    pub scope: &'static str,
    /// The lifetime of its data.
    pub lifetime: &'static str,
    /// The measure of the time of one access.
    pub latency: Option<Measure>,
    /// The measure of its bytes per second.
    pub bandwidth: Option<Measure>,
}

/// Place of a memory space's figure in a result file.
#[derive(Debug)]
pub enum Measure {
    /// In the time of a variant at a size.
    Row {
        /// The pattern.
        pattern: &'static str,
        /// The variant.
        variant: &'static str,
        /// Dimensions and their values.
        size: &'static [(&'static str, usize)],
        /// The accesses after each other, or the bytes, that take this time.
        amount: f64,
    },
    /// In a measured peak.
    Peak(Resource),
}

impl Measure {
    /// The time of one access, nanoseconds.
    fn latency_ns(&self, results: &Results) -> Option<f64> {
        match self {
            Measure::Row { amount, .. } => Some(1e6 * self.time_ms(results)? / amount),
            Measure::Peak(_) => None,
        }
    }

    /// 10^9 bytes per second.
    fn bandwidth_gb_s(&self, results: &Results) -> Option<f64> {
        match self {
            Measure::Row { amount, .. } => Some(amount / self.time_ms(results)? / 1e6),
            Measure::Peak(resource) => {
                let mut peaks = results.measured_peaks.iter();
                Some(peaks.find(|peak| peak.resource == *resource)?.bandwidth_gb_s())
            }
        }
    }

    fn time_ms(&self, results: &Results) -> Option<f64> {
        let Measure::Row { pattern, variant, size, .. } = self else { return None };
        let is_it = |row: &&Row| {
            let has = |(name, value): &(&str, usize)| row.size.get(*name) == Some(&(*value as f64));
            row.pattern == *pattern && row.variant == *variant && size.iter().all(has)
        };
        let mut rows = results.rows.iter().filter(is_it);
        rows.find_map(|row| Some(row.measured()?.time_ms.median))
    }
}

/// The header of the table.
pub const HEADER: [&str; 8] = [
    "space",
    "where it is",
    "cached in",
    "access",
    "who sees it",
    "lives as long as",
    "latency, ns",
    "bandwidth, GB/s",
];

/// The rows of the table, with the figures of a result file if there is one; what it lacks is a question mark, and what
/// nothing measures a dash.
pub fn rows(spaces: &[MemorySpace], results: Option<&Results>) -> Vec<[String; 8]> {
    let cell = |measure: &Option<Measure>, figure: fn(&Measure, &Results) -> Option<f64>| {
        let Some(measure) = measure else { return "-".to_owned() };
        match results.and_then(|results| figure(measure, results)) {
            Some(value) if value < 100.0 => format!("{value:.1}"),
            Some(value) => format!("{value:.0}"),
            None => "?".to_owned(),
        }
    };
    let row = |space: &MemorySpace| {
        let MemorySpace { name, place, cached, access, scope, lifetime, latency, bandwidth } =
            space;
        let [name, place, cached, access, scope, lifetime] =
            [name, place, cached, access, scope, lifetime].map(|text| (*text).to_owned());
        let figures =
            [cell(latency, Measure::latency_ns), cell(bandwidth, Measure::bandwidth_gb_s)];
        let [latency, bandwidth] = figures;
        [name, place, cached, access, scope, lifetime, latency, bandwidth]
    };
    spaces.iter().map(row).collect()
}

/// The table in Markdown.
pub fn markdown(spaces: &[MemorySpace], results: Option<&Results>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&HEADER.map(str::to_owned));
    text += "|---|---|---|---|---|---|--:|--:|\n";
    text.extend(rows(spaces, results).iter().map(|row| line(row)));
    text
}
