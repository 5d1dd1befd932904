use crate::accuracy::ORDERED;
use crate::resource::Resource;
use crate::run::{Environment, Results, Row};
use crate::spread::Spread;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Medians that are nearer than this, as a part of the first, are the same.
const CLEAR: f64 = 0.005;
/// The same kernels differed from one process to the next by up to this part of a launch, with spreads that did not show
/// it (docs/findings.md, "From one process to the next"): a smaller difference says nothing.
const OF_A_LAUNCH: f64 = 0.5;
/// Above this noise, in percent, spreads that overlap say nothing.
const NOISY_PERCENT: f64 = 5.0;

/// A row that both files have.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The row of the first file.
    pub row: &'a Row,
    /// Its time.
    pub first: Spread,
    /// The time in the second file.
    pub second: Spread,
    /// Launch overhead in the first file, milliseconds; 0 when it does not say.
    pub launch_ms: f64,
}

/// The relation of the second time to the first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The medians are within half a percent, or the spreads overlap and are narrow.
    Same,
    /// The second is faster: the spreads do not meet, and the medians are apart by more than half a launch.
    Faster,
    /// The second is slower: the spreads do not meet, and the medians are apart by more than half a launch.
    Slower,
    /// The spreads overlap and are wide, or the medians are apart by less than half a launch.
    Ambiguous,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Verdict::Same => "SAME",
            Verdict::Faster => "FASTER",
            Verdict::Slower => "SLOWER",
            Verdict::Ambiguous => "AMBIGUOUS",
        })
    }
}

impl Pair<'_> {
    /// The second median over the first.
    pub fn ratio(&self) -> f64 {
        self.second.median / self.first.median
    }

    /// Returns whether nothing else was to be expected: too little to tell between two processes, or the host's.
    pub fn is_excused(&self) -> bool {
        self.is_within_a_launch() || self.is_bound_by_host()
    }

    fn is_within_a_launch(&self) -> bool {
        (self.second.median - self.first.median).abs() <= OF_A_LAUNCH * self.launch_ms
    }

    /// Returns whether the host's processor bounds it: no limit of the device accounts for half of its time.
    fn is_bound_by_host(&self) -> bool {
        let minimum_time = self.row.measured().and_then(|measured| measured.minimum_time);
        let is_the_devices = minimum_time.is_some_and(|minimum_time| {
            minimum_time.resource != Resource::Launch && minimum_time.percent >= 50.0
        });
        self.row.is_host_work() && !is_the_devices
    }

    /// Returns what the spreads say: the middle halves of the samples, for work of the host all of them. Where
    /// memory lies and which core runs differs from process to process, and no spread of one of them shows it.
    pub fn verdict(&self) -> Verdict {
        let of_the_host = self.row.is_host_work();
        let range = |spread: &Spread| {
            if of_the_host { (spread.min, spread.max) } else { (spread.q1, spread.q3) }
        };
        let (a, b) = (range(&self.first), range(&self.second));
        let noise = self.first.noise_percent().max(self.second.noise_percent());
        let off = (self.ratio() - 1.0).abs();
        let is_wide = noise > NOISY_PERCENT || of_the_host && 100.0 * off > NOISY_PERCENT;
        let are_apart = b.0 > a.1 * (1.0 + CLEAR) || a.0 > b.1 * (1.0 + CLEAR);
        match (are_apart, self.is_within_a_launch()) {
            _ if off <= CLEAR => Verdict::Same,
            (true, false) if self.ratio() > 1.0 => Verdict::Slower,
            (true, false) => Verdict::Faster,
            (true, true) => Verdict::Ambiguous,
            (false, _) if is_wide => Verdict::Ambiguous,
            (false, _) => Verdict::Same,
        }
    }
}

/// The rows that both files measured, in the first file's order, and how many only one of them has of the ladders, curves
/// and peers that both measured: a run of one pattern lacks nothing of the others.
pub fn pairs<'a>(first: &'a Results, second: &'a Results) -> (Vec<Pair<'a>>, usize) {
    let time = |row: &Row| row.measured().map(|measured| measured.time_ms);
    let mut others: BTreeMap<_, _> =
        second.rows.iter().filter_map(|row| Some((row.key(), (row, time(row)?)))).collect();
    let launch = first.measured_peaks.iter().find(|peak| peak.resource == Resource::Launch);
    let launch_ms = launch.map_or(0.0, |peak| peak.minimum_time_ms(1));
    let (mut found, mut alone) = (Vec::new(), Vec::new());
    for row in &first.rows {
        let Some(time) = time(row) else { continue };
        match others.remove(&row.key()) {
            Some((_, second)) => found.push(Pair { row, first: time, second, launch_ms }),
            None => alone.push(row),
        }
    }
    alone.extend(others.into_values().map(|(row, _)| row));
    let part = |row: &'a Row| (row.pattern.as_str(), row.sweep.as_deref(), row.peer);
    let parts: BTreeSet<_> = found.iter().map(|pair| part(pair.row)).collect();
    alone.retain(|row| parts.contains(&part(row)));
    (found, alone.len())
}

/// The agreement of predictions with measurements.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// Neighbours of ladders whose times differ by more than 10 % in the measurement.
    pub neighbours: usize,
    /// Those that the prediction has in the same order.
    pub in_order: usize,
    /// The median of |ln(predicted / measured)| over all rows, as a percentage: 25 is a factor of 1.25.
    pub error_percent: f64,
    /// A tenth of the rows is further off than this, in the same percentage.
    pub worst_tenth_percent: f64,
}

/// Returns how well predictions, the first times, agree with measurements, the second.
pub fn agreement(pairs: &[Pair<'_>]) -> Agreement {
    let ladder: Vec<&Pair<'_>> =
        pairs.iter().filter(|pair| pair.row.sweep.is_none() && !pair.row.peer).collect();
    let (mut neighbours, mut in_order) = (0, 0);
    for two in ladder.windows(2) {
        let [a, b] = [two[0], two[1]];
        let measured = (b.second.median / a.second.median).ln();
        if a.row.pattern != b.row.pattern || measured.abs() <= ORDERED.ln_1p() {
            continue;
        }
        neighbours += 1;
        let predicted = (b.first.median / a.first.median).ln();
        in_order += usize::from(predicted * measured > 0.0);
    }
    let mut errors: Vec<f64> = pairs.iter().map(|pair| pair.ratio().ln().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let index = (part * errors.len() as f64) as usize;
        errors.get(index.min(errors.len().saturating_sub(1))).map_or(0.0, |e| 100.0 * e.exp_m1())
    };
    Agreement { neighbours, in_order, error_percent: at(0.5), worst_tenth_percent: at(0.9) }
}

/// A row of a ladder beside the same row of a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// `pattern/variant`.
    pub name: String,
    /// The reference's median, milliseconds.
    pub reference_ms: f64,
    /// The median here, milliseconds.
    pub here_ms: f64,
    /// The largest ratio of here to the reference that is as it should be.
    pub allowed: f64,
}

impl Checked {
    /// The time here over the reference's.
    pub fn ratio(&self) -> f64 {
        self.here_ms / self.reference_ms
    }

    /// Returns whether it is as fast as it should be. NaN counts as too slow.
    pub fn behaves(&self) -> bool {
        self.ratio() <= self.allowed
    }
}

/// The slowdown that a row may have that the device bounds.
const DEVICE_ALLOWANCE: f64 = 1.1;
/// The same of a row that the host bounds: the very program that measured the reference took up to 1.95 times as long
/// on another day (docs/findings.md, "Work of the host").
const HOST_ALLOWANCE: f64 = 2.0;

/// The ladders' rows that both runs have. Peers are left out: we promise nothing about their speed.
pub fn check(reference: &Results, here: &Results) -> Vec<Checked> {
    let (pairs, _) = pairs(reference, here);
    let ladders = pairs.iter().filter(|pair| pair.row.sweep.is_none() && !pair.row.peer);
    let one = |pair: &Pair<'_>| Checked {
        name: pair.row.name(),
        reference_ms: pair.first.median,
        here_ms: pair.second.median,
        allowed: if pair.is_bound_by_host() { HOST_ALLOWANCE } else { DEVICE_ALLOWANCE },
    };
    ladders.map(one).collect()
}

/// Returns what differs between the places of two measurements, as sentences.
pub fn differences(first: &Environment, second: &Environment) -> Vec<String> {
    let facts = [
        ("GPU", &first.device.name, &second.device.name),
        ("CUDA version", &first.device.driver_version, &second.device.driver_version),
        ("PTX target", &first.ptx_target, &second.ptx_target),
        ("PTX", &first.ptx_hash, &second.ptx_hash),
        ("compiler", &first.compiler, &second.compiler),
    ];
    let differing = facts.into_iter().filter(|(_, a, b)| a != b);
    let mut said: Vec<String> =
        differing.map(|(what, a, b)| format!("the {what} differs: {a} and {b}")).collect();
    let id = |environment: &Environment| environment.board.as_ref()?.id.clone();
    if let (Some(a), Some(b)) = (id(first), id(second))
        && a != b
    {
        said.push(format!(
            "the board differs: {a} and {b}, and boards of one model may differ by some percent"
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Board, Measured, MinimumTime, Resources, RowOutcome};

    /// A row of the host's work.
    fn host_row(pattern: &str, variant: &str) -> Row {
        Row {
            pattern: pattern.to_owned(),
            variant: variant.to_owned(),
            size: BTreeMap::new(),
            sweep: None,
            peer: false,
            resources: None,
            traffic: None,
            predicted_ms: None,
            known_ratio: None,
            timeline: None,
            outcome: RowOutcome::NotRun { reason: String::new() },
        }
    }

    fn row(pattern: &str, variant: &str) -> Row {
        let resources = Resources {
            registers: 10,
            registers_are_estimated: false,
            shared_bytes: 0,
            local_bytes: 0,
            block_threads: 256,
            occupancy_percent: 100.0,
        };
        Row { resources: Some(resources), ..host_row(pattern, variant) }
    }

    fn around(median: f64, half_width: f64) -> Spread {
        Spread::of(&[median - half_width, median, median + half_width])
    }

    #[test]
    fn a_run_of_one_pattern_lacks_nothing_of_the_others() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        let whole = Results::load(path.as_ref(), &[]).expect("it is committed");
        let part = |keep: &dyn Fn(&Row) -> bool| {
            let mut results = whole.clone();
            results.rows.retain(keep);
            let (found, alone) = pairs(&results, &whole);
            (found.len(), alone)
        };
        let of_transpose = |row: &Row| row.pattern == "transpose" && row.sweep.is_none();
        assert_eq!(part(&of_transpose).1, 0);
        assert_eq!(part(&|row| of_transpose(row) && !row.peer).1, 0);
        let (found, alone) = part(&|row| of_transpose(row) && row.variant != "tiled");
        assert!(found > 0);
        assert_eq!(alone, 1, "the ladder of both lacks a variant in one");
    }

    #[test]
    fn verdicts_follow_the_spreads() {
        let row = row("p", "v");
        let verdict = |first, second| Pair { row: &row, first, second, launch_ms: 0.001 }.verdict();
        assert_eq!(verdict(around(1.0, 0.001), around(1.003, 0.001)), Verdict::Same);
        assert_eq!(verdict(around(1.0, 0.001), around(1.03, 0.001)), Verdict::Slower);
        assert_eq!(verdict(around(1.03, 0.001), around(1.0, 0.001)), Verdict::Faster);
        assert_eq!(verdict(around(1.0, 0.02), around(1.015, 0.02)), Verdict::Same);
        assert_eq!(verdict(around(1.0, 0.2), around(1.1, 0.2)), Verdict::Ambiguous);
    }

    #[test]
    fn less_than_half_a_launch_is_no_verdict() {
        let row = row("p", "v");
        let pair = |first, second, launch_ms| Pair { row: &row, first, second, launch_ms };
        let (fast, slow) = (around(0.010, 0.0), around(0.0104, 0.0));
        // Half a launch of 1 us is 0.5 us; the two are 0.4 us apart.
        assert_eq!(pair(fast, slow, 0.001).verdict(), Verdict::Ambiguous);
        assert_eq!(pair(slow, fast, 0.001).verdict(), Verdict::Ambiguous);
        assert!(pair(fast, slow, 0.001).is_excused());
        for launch_ms in [0.0, 0.0007] {
            assert_eq!(pair(fast, slow, launch_ms).verdict(), Verdict::Slower);
            assert_eq!(pair(slow, fast, launch_ms).verdict(), Verdict::Faster);
            assert!(!pair(fast, slow, launch_ms).is_excused());
        }
    }

    #[test]
    fn all_samples_of_the_hosts_work_count() {
        let row = host_row("p", "v");
        let verdict = |first, second| Pair { row: &row, first, second, launch_ms: 0.001 }.verdict();
        let spread = |min, middle, max| Spread::of(&[min, middle, middle, middle, max]);
        assert_eq!(verdict(spread(0.9, 1.0, 1.2), spread(1.1, 1.15, 1.3)), Verdict::Ambiguous);
        assert_eq!(verdict(spread(0.9, 1.0, 1.2), spread(1.0, 1.02, 1.3)), Verdict::Same);
        assert_eq!(verdict(spread(0.9, 1.0, 1.2), spread(1.25, 1.3, 1.4)), Verdict::Slower);
    }

    #[test]
    fn half_the_time_on_a_device_s_limit_is_not_the_hosts() {
        let spread = Spread::of(&[1.0]);
        fn pair(row: &Row) -> Pair<'_> {
            let spread = Spread::of(&[1.0]);
            Pair { row, first: spread, second: spread, launch_ms: 0.0 }
        }
        let bound = |row, resource, percent| {
            let minimum_time =
                MinimumTime { resource, amount: 1, time_ms: percent / 100.0, percent };
            let measured = Measured {
                time_ms: spread,
                hot_ms: None,
                graph_ms: None,
                clock_mhz: None,
                throttled: 0,
                bytes: 1,
                bandwidth_gb_s: 1.0,
                minimum_time: Some(minimum_time),
                speed_up: 1.0,
            };
            let row = Row { outcome: RowOutcome::Measured(measured), ..row };
            pair(&row).is_bound_by_host()
        };
        assert!(bound(host_row("p", "v"), Resource::HostToDevice, 20.0));
        assert!(!bound(host_row("p", "v"), Resource::HostToDevice, 90.0));
        assert!(bound(host_row("p", "v"), Resource::Launch, 90.0));
        assert!(!bound(row("p", "v"), Resource::Read, 20.0), "a kernel");
        assert!(pair(&host_row("p", "v")).is_bound_by_host());
    }

    #[test]
    fn two_boards_of_one_model_are_said() {
        let committed =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        let of = |id: Option<&str>| {
            let results = Results::load(committed.as_ref(), &[]).expect("it is committed");
            let board = results.environment.board.expect("it was measured");
            let board = Some(Board { id: id.map(str::to_owned), ..board });
            Environment { board, ..results.environment }
        };
        let said = differences(&of(Some("1a")), &of(Some("2b")));
        assert!(said.len() == 1 && said[0].contains("1a and 2b"), "{said:?}");
        for same in [of(Some("1a")), of(None)] {
            assert_eq!(differences(&of(Some("1a")), &same), [""; 0]);
        }
    }

    #[test]
    fn agreement_counts_orders_and_errors() {
        let rows = [row("p", "a"), row("p", "b"), row("p", "c"), row("q", "a")];
        let times = [(4.0, 4.0), (2.0, 2.5), (2.4, 1.0), (9.0, 9.0)];
        let pairs: Vec<_> = rows
            .iter()
            .zip(times)
            .map(|(row, (first, second))| Pair {
                row,
                first: around(first, 0.0),
                second: around(second, 0.0),
                launch_ms: 0.0,
            })
            .collect();
        let found = agreement(&pairs);
        // a to b in order, b to c not; q begins anew.
        assert_eq!((found.neighbours, found.in_order), (2, 1));
        approx::assert_abs_diff_eq!(found.error_percent, 25.0, epsilon = 1e-9);
        approx::assert_abs_diff_eq!(found.worst_tenth_percent, 140.0, epsilon = 1e-9);
    }
}
