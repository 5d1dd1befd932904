//! Many boards of one model: which of them is slow, at what, and against what.
//!
//! A row's time on a board is compared with the median over all boards. What a row tells of a part of the device, such
//! as its memory or its link to the host, is the same for all rows that this part bounds, so a board has one figure per
//! part: the median of its ratios. Another figure is that of each resource, such as H2D copies, since the median of a part
//! does not move as long as less than half of its rows do. A board is an outlier when that figure is both larger than what boards differ by
//! here ([`DEVIATIONS`] robust standard deviations, from the median absolute deviation) and large enough to matter
//! ([`LEAST_PERCENT`]). Medians are not moved by the outliers themselves, as long as most boards are sound.
//!
//! ```no_run
//! # fn main() -> results::Result<()> {
//! let boards = ["node1.json", "node2.json"].map(|file| results::Results::load(file.as_ref(), &[]));
//! let boards = boards.into_iter().collect::<results::Result<Vec<_>>>()?;
//! # Ok(())
//! # }
//! ```

use crate::resource::Resource;
use crate::run::{Environment, Results, Row, RowOutcome};
use std::collections::BTreeMap;

/// Boards of one model below which nothing can be said: of three, one that is odd makes a third of them.
pub const LEAST_BOARDS: usize = 4;
/// Robust standard deviations from the median from which on a board is an outlier.
pub const DEVIATIONS: f64 = 6.0;
/// The least slowdown of an outlier against the median, percent.
pub const LEAST_PERCENT: f64 = 3.0;
/// No part is known better than this: the standard deviation is at least so much, percent.
const LEAST_DEVIATION_PERCENT: f64 = 0.25;
/// From the median absolute deviation of a normal distribution to its standard deviation.
const OF_NORMAL: f64 = 1.4826;
/// Rows that a part has at least, so that one odd row accuses nobody.
const LEAST_ROWS: usize = 3;

/// A part of the device and its machine that bounds rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Device memory.
    Memory,
    /// Caches and shared memory.
    OnChip,
    /// Arithmetic.
    Arithmetic,
    /// The link to the host.
    Link,
    /// Kernels that no measured peak bounds.
    OtherKernels,
    /// Launches, and the host's own work.
    Host,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 6] =
        [Part::Memory, Part::OnChip, Part::Arithmetic, Part::Link, Part::OtherKernels, Part::Host];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Part::Memory => "device memory",
            Part::OnChip => "caches and shared memory",
            Part::Arithmetic => "arithmetic",
            Part::Link => "PCIe",
            Part::OtherKernels => "other kernels",
            Part::Host => "launches and host",
        }
    }

    /// Returns whether a board answers for it: the host's processor decides the rest, whose times vary from run to run.
    pub fn is_the_boards(self) -> bool {
        self != Part::Host
    }

    fn of_resource(resource: Resource) -> Part {
        match resource {
            Resource::Copy | Resource::Read | Resource::Write => Part::Memory,
            Resource::L2 | Resource::Shared => Part::OnChip,
            Resource::Fp32 | Resource::TensorBf16 => Part::Arithmetic,
            Resource::HostToDevice | Resource::DeviceToHost | Resource::Bidirectional => Part::Link,
            Resource::Launch => Part::Host,
        }
    }

    /// The part that bounds a row.
    fn of_row(row: &Row) -> Part {
        match resource_of(row) {
            Some(resource) => Part::of_resource(resource),
            None if row.is_host_work() => Part::Host,
            None => Part::OtherKernels,
        }
    }
}

/// The resource that bounds a row; one that runs at less than half of its peak is bounded by something else.
fn resource_of(row: &Row) -> Option<Resource> {
    let minimum = row.measured()?.minimum_time?;
    (minimum.percent >= 50.0).then_some(minimum.resource)
}

/// A board of the fleet: what its file is called, and what is in it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Such as `node07-gpu3`.
    pub name: String,
    /// The measurement.
    pub results: Results,
}

/// A board's figure for a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Its time over the median board's.
    pub ratio: f64,
    /// Robust standard deviations from the median; positive is slow.
    pub deviations: f64,
    /// The rows that it rests on.
    pub rows: usize,
}

impl Score {
    /// Returns whether it is slow beyond what boards differ by.
    pub fn is_slow(&self) -> bool {
        self.rows >= LEAST_ROWS
            && self.deviations > DEVIATIONS
            && self.ratio > 1.0 + LEAST_PERCENT / 100.0
    }
}

/// A board that is slower than the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Number of the node, counted as the nodes were given.
    pub node: usize,
    /// At what.
    pub part: Part,
    /// At which resource of the part, where the whole part is not slow.
    pub resource: Option<Resource>,
    /// By how much.
    pub score: Score,
}

impl Outlier {
    /// Returns what it is slow at, in words.
    pub fn slow_at(&self) -> &'static str {
        self.resource.map_or(self.part.name(), Resource::name)
    }
}

/// A board that has not the rows that most boards have: its figures tell nothing of what it cannot do.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsound {
    /// Number of the node, counted as the nodes were given.
    pub node: usize,
    /// Rows that were wrong there, each with the reason.
    pub wrong: Vec<(String, String)>,
    /// Rows that could not run there, each with the reason, or that its file does not have.
    pub absent: Vec<(String, String)>,
    /// True when its run was interrupted.
    pub interrupted: bool,
}

/// A row over all boards that have it.
#[derive(Clone, Debug)]
pub struct FleetRow {
    /// `pattern/variant`, or a measured peak.
    pub name: String,
    /// The size, as text.
    pub size: String,
    /// The part that bounds it on the first board that has it.
    pub part: Part,
    /// The resource of that part, if a measured peak bounds it.
    pub resource: Option<Resource>,
    /// The median over the boards, milliseconds.
    pub median_ms: f64,
    /// The robust standard deviation over the boards, as a percentage of the median.
    pub deviation_percent: f64,
    /// The time of each node, milliseconds, as far as it has one.
    pub times_ms: Vec<Option<f64>>,
}

/// Boards of one model.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The model.
    pub model: String,
    /// Nodes that have such a board.
    pub nodes: Vec<usize>,
    /// The rows that all of them ran.
    pub rows: Vec<FleetRow>,
    /// Each node's figures, in the order of [`Fleet::nodes`].
    pub scores: Vec<BTreeMap<Part, Score>>,
    /// The slowest first.
    pub outliers: Vec<Outlier>,
    /// Those with the most wrong rows first. They are found among any number of boards.
    pub unsound: Vec<Unsound>,
}

/// The fleets among nodes, one per model of GPU. One with fewer than [`LEAST_BOARDS`] boards has no outliers.
pub fn fleets(nodes: &[Node]) -> Vec<Fleet> {
    let mut models: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let model = node.results.environment.device.model();
        match models.iter_mut().find(|(name, _)| name == model) {
            Some((_, all)) => all.push(index),
            None => models.push((model.to_owned(), vec![index])),
        }
    }
    models.into_iter().map(|(model, members)| fleet(nodes, model, members)).collect()
}

fn fleet(nodes: &[Node], model: String, members: Vec<usize>) -> Fleet {
    let rows = rows(nodes, &members);
    let mut scores: Vec<BTreeMap<Part, Score>> = vec![BTreeMap::new(); members.len()];
    for part in Part::ALL {
        let of_part = rows.iter().filter(|row| row.part == part);
        for (scores, score) in scores.iter_mut().zip(figures(of_part, members.len())) {
            scores.extend(score.map(|score| (part, score)));
        }
    }
    let mut outliers = Vec::new();
    if members.len() >= LEAST_BOARDS {
        let of_resources = Resource::ALL.map(|resource| {
            let of_resource = rows.iter().filter(|row| row.resource == Some(resource));
            (resource, figures(of_resource, members.len()))
        });
        for (place, (node, scores)) in members.iter().zip(&scores).enumerate() {
            for part in Part::ALL.into_iter().filter(|part| part.is_the_boards()) {
                let of_part = |resource| Part::of_resource(resource) == part;
                let known: Vec<(Resource, Score)> = (of_resources.iter())
                    .filter(|(resource, _)| of_part(*resource))
                    .filter_map(|(resource, scores)| Some((*resource, scores[place]?)))
                    .collect();
                let slow: Vec<_> = known.iter().filter(|(_, score)| score.is_slow()).collect();
                // A part of which one resource alone is slow is not slow, however many rows are that resource's.
                let is_one_of_several = slow.len() == 1 && known.len() > 1;
                let of_part = scores.get(&part).filter(|score| score.is_slow());
                match of_part.filter(|_| !is_one_of_several) {
                    Some(score) => {
                        outliers.push(Outlier { node: *node, part, resource: None, score: *score });
                    }
                    None => outliers.extend(slow.iter().map(|(resource, score)| Outlier {
                        node: *node,
                        part,
                        resource: Some(*resource),
                        score: *score,
                    })),
                }
            }
        }
    }
    outliers.sort_by(|a, b| b.score.ratio.total_cmp(&a.score.ratio));
    let unsound = unsound(nodes, &members);
    Fleet { model, nodes: members, rows, scores, outliers, unsound }
}

/// Each board's figure over some rows: the median of its ratios, if it has one of the rows.
fn figures<'a>(
    rows: impl Iterator<Item = &'a FleetRow> + Clone,
    boards: usize,
) -> Vec<Option<Score>> {
    let ratios = |place: usize| {
        let ratios = rows.clone().filter_map(|row| Some(row.times_ms[place]? / row.median_ms));
        let ratios: Vec<f64> = ratios.collect();
        (!ratios.is_empty()).then(|| (ratios.len(), median(ratios)))
    };
    let all: Vec<Option<(usize, f64)>> = (0..boards).map(ratios).collect();
    let known: Vec<f64> = all.iter().flatten().map(|(_, ratio)| *ratio).collect();
    let (middle, deviation) = robust(&known);
    let deviation = deviation.max(LEAST_DEVIATION_PERCENT / 100.0 * middle);
    let score = |(rows, ratio): (usize, f64)| {
        let deviations = (ratio - middle) / deviation;
        Score { ratio: ratio / middle, deviations, rows }
    };
    all.into_iter().map(|one| one.map(score)).collect()
}

/// The boards that have not what most of the members have, or whose run is unfinished.
fn unsound(nodes: &[Node], members: &[usize]) -> Vec<Unsound> {
    type Key = (String, String, Option<String>);
    let key = |row: &Row| -> Key { (row.name(), row.show_size(), row.sweep.clone()) };
    let rows_of = |node: usize| nodes[node].results.rows.iter().filter(|row| !row.peer);
    let mut measured: BTreeMap<Key, usize> = BTreeMap::new();
    for row in members.iter().flat_map(|node| rows_of(*node)) {
        *measured.entry(key(row)).or_default() += usize::from(row.measured().is_some());
    }
    let board = |node: usize| {
        let own: BTreeMap<Key, &Row> = rows_of(node).map(|row| (key(row), row)).collect();
        let (mut wrong, mut absent) = (Vec::new(), Vec::new());
        for (of, count) in &measured {
            let name = || format!("{} at {}", of.0, of.1);
            let most_have_it = 2 * count > members.len();
            match own.get(of).map(|row| &row.outcome) {
                Some(RowOutcome::Measured(_)) => {}
                // Nobody's rows may be wrong, whatever the others have.
                Some(RowOutcome::Wrong { reason }) => wrong.push((name(), reason.clone())),
                Some(RowOutcome::NotRun { reason }) if most_have_it => {
                    absent.push((name(), reason.clone()));
                }
                None if most_have_it => absent.push((name(), "it is not in the file".to_owned())),
                Some(RowOutcome::NotRun { .. }) | None => {}
            }
        }
        let interrupted = nodes[node].results.interrupted;
        Unsound { node, wrong, absent, interrupted }
    };
    let boards = members.iter().map(|node| board(*node));
    let is_unsound = |it: &Unsound| it.interrupted || !it.wrong.is_empty() || !it.absent.is_empty();
    let mut unsound: Vec<Unsound> = boards.filter(is_unsound).collect();
    unsound.sort_by_key(|it| std::cmp::Reverse((it.wrong.len(), it.absent.len())));
    unsound
}

/// The rows and the measured peaks that at least [`LEAST_BOARDS`] boards have, or all if there are fewer boards.
fn rows(nodes: &[Node], members: &[usize]) -> Vec<FleetRow> {
    type Key = (String, String, String);
    let mut order: Vec<(Key, Part, Option<Resource>)> = Vec::new();
    let mut times: BTreeMap<Key, Vec<Option<f64>>> = BTreeMap::new();
    for (place, node) in members.iter().enumerate() {
        let results = &nodes[*node].results;
        let peaks = results.measured_peaks.iter().map(|peak| {
            let name = format!("peak of {}", peak.resource.name());
            let key = (name, format!("{} {}", peak.amount, peak.resource.unit()), String::new());
            (key, Part::of_resource(peak.resource), Some(peak.resource), peak.time_ms.min)
        });
        let rows = results.rows.iter().filter(|row| !row.peer).filter_map(|row| {
            let key = (row.name(), row.show_size(), row.sweep.clone().unwrap_or_default());
            Some((key, Part::of_row(row), resource_of(row), row.measured()?.time_ms.median))
        });
        for (key, part, resource, time_ms) in peaks.chain(rows) {
            let of_key = times.entry(key.clone()).or_insert_with(|| {
                order.push((key, part, resource));
                vec![None; members.len()]
            });
            of_key[place] = Some(time_ms);
        }
    }
    let rows = order.into_iter().filter_map(|(key, part, resource)| {
        let times_ms = times.remove(&key)?;
        let known: Vec<f64> = times_ms.iter().flatten().copied().collect();
        if known.len() < LEAST_BOARDS.min(members.len()) {
            return None;
        }
        let (median_ms, deviation) = robust(&known);
        let deviation_percent = 100.0 * deviation / median_ms;
        let (name, size, _) = key;
        Some(FleetRow { name, size, part, resource, median_ms, deviation_percent, times_ms })
    });
    rows.collect()
}

/// The median, and the standard deviation that the median absolute deviation stands for.
fn robust(values: &[f64]) -> (f64, f64) {
    let middle = median(values.to_vec());
    let distances = values.iter().map(|value| (value - middle).abs()).collect();
    (middle, OF_NORMAL * median(distances))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => (values[half - 1] + values[half]) / 2.0,
        _ => values[half],
    }
}

/// Returns what of the files makes a comparison of boards doubtful, in sentences: one board twice, boards without an
/// id, several commits or PTX of several hashes.
pub fn doubts(nodes: &[Node], fleet: &Fleet) -> Vec<String> {
    let environment = |node: &usize| &nodes[*node].results.environment;
    let mut doubts = Vec::new();
    let mut boards: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut nameless = Vec::new();
    for node in &fleet.nodes {
        let id = environment(node).board.as_ref().and_then(|board| board.id.as_deref());
        match id {
            Some(id) => boards.entry(id).or_default().push(&nodes[*node].name),
            None => nameless.push(nodes[*node].name.as_str()),
        }
    }
    for (id, names) in boards.iter().filter(|(_, names)| names.len() > 1) {
        doubts.push(format!("{} are of one board, {id}", names.join(", ")));
    }
    if !nameless.is_empty() {
        let names = nameless.join(", ");
        doubts.push(format!("{names}: no id of a board, so it may be there twice"));
    }
    for (what, of) in [
        ("commit", (|environment| &environment.commit) as fn(&Environment) -> &String),
        ("PTX hash", |environment| &environment.ptx_hash),
    ] {
        let mut values: BTreeMap<&str, usize> = BTreeMap::new();
        for node in &fleet.nodes {
            *values.entry(of(environment(node))).or_default() += 1;
        }
        if values.len() > 1 {
            let values: Vec<String> =
                values.iter().map(|(value, count)| format!("{value} on {count} boards")).collect();
            doubts.push(format!("the programs differ in their {what}: {}", values.join(", ")));
        }
    }
    doubts
}

/// Returns what a person checks first of a slow board: driver, clocks, ECC, link, temperature. Names and values.
pub fn facts(environment: &Environment) -> Vec<(&'static str, String)> {
    let mut facts = vec![("ECC", if environment.device.ecc { "on" } else { "off" }.to_owned())];
    facts.push(("highest clock", format!("{} MHz", environment.device.clock_khz / 1000)));
    let Some(board) = &environment.board else { return facts };
    facts.insert(0, ("driver", board.driver.clone()));
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    let link = board.pcie_generation.zip(board.pcie_lanes);
    let best =
        board.max_pcie_generation.zip(board.max_pcie_lanes).filter(|best| Some(*best) != link);
    let best = best
        .map_or_else(String::new, |(generation, lanes)| format!(" of PCIe {generation} x{lanes}"));
    add("link", link.map(|(generation, lanes)| format!("PCIe {generation} x{lanes}{best}")));
    add("power limit", board.power_limit_w.map(|watts| format!("{watts:.0} W")));
    add("temperature", board.temperature_c.map(|degrees| format!("{degrees} °C")));
    let reasons = board.throttle_reasons.join(", ");
    add("throttled by", (!reasons.is_empty()).then_some(reasons));
    add("board", board.id.clone());
    facts
}

/// The facts of a board that most boards of its fleet do not share, in words; those that differ anyway are left out.
pub fn odd_facts(nodes: &[Node], fleet: &Fleet, node: usize) -> Vec<String> {
    let of = |node: usize| facts(&nodes[node].results.environment);
    let of_all: Vec<_> = fleet.nodes.iter().map(|node| of(*node)).collect();
    let mut odd = Vec::new();
    for (name, value) in of(node) {
        if matches!(name, "temperature" | "board") {
            continue;
        }
        let alike = of_all.iter().filter(|facts| facts.contains(&(name, value.clone()))).count();
        if 2 * alike >= of_all.len() {
            continue;
        }
        let mut values: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, value) in of_all.iter().flatten().filter(|(of, _)| *of == name) {
            *values.entry(value).or_default() += 1;
        }
        let most = values.into_iter().max_by_key(|(_, count)| *count);
        let most = most.filter(|(_, count)| 2 * count > of_all.len());
        let most = most.map_or_else(String::new, |(value, _)| format!(", most have {value}"));
        odd.push(format!("{name} {value}{most}"));
    }
    odd
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
