//! Corpora of races as sources with pairs of kernels, `NAME_broken` and `NAME_repaired`: a comment `// race` marks the
//! lines that a finding has to name. Also for `tests/race_kernels.rs` of the workspace.

use simt::{
    Checks, Error, Finding, Hazard, Launch, Memory, Module, Options, Report, Schedule, run,
};
use std::collections::BTreeSet;

/// A pair, its blocks, threads of a block and blocks of a cluster, and what is wrong.
pub type Pair = (&'static str, [u32; 3], Hazard);

/// A source, and how it is read.
pub struct Corpus {
    pub source: &'static str,
    /// Name of the file in a place.
    pub file: &'static str,
    /// The start of the line that begins a pair.
    pub begin: fn(&str) -> String,
    pub end: &'static str,
}

impl Corpus {
    /// The lines of a pair that its source marks.
    fn marked(&self, pair: &str) -> BTreeSet<usize> {
        let begin = (self.begin)(pair);
        let lines =
            self.source.lines().enumerate().skip_while(|(_, line)| !line.starts_with(&begin));
        let own = lines.take_while(|(_, line)| *line != self.end);
        own.filter(|(_, line)| line.ends_with("// race")).map(|(index, _)| index + 1).collect()
    }

    /// Returns whether a finding is the pair's, with both accesses at marked lines.
    fn is_expected(&self, found: &Finding, pair: &str, hazard: Hazard) -> bool {
        let (marked, file) = (self.marked(pair), format!("{}:", self.file));
        let is_marked = |source: &Option<String>| {
            let places = source.iter().flat_map(|source| source.split(&file).skip(1));
            let mut lines = places
                .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
            lines.any(|line: usize| marked.contains(&line))
        };
        let other = found.other.as_ref();
        found.hazard == hazard
            && is_marked(&found.place.source)
            && other.is_some_and(|other| is_marked(&other.source))
    }

    /// Fails unless each broken kernel is found by its lines and no repaired one is accused, on every schedule and
    /// thread count.
    pub fn check(&self, module: &Module, pairs: &[Pair]) {
        let ways = [Schedule::Forward, Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];
        let ways = ways.into_iter().flat_map(|schedule| [(schedule, 1), (schedule, 4)]);
        let (mut missed, mut accused) = (Vec::new(), Vec::new());
        for (pair, grid, hazard) in pairs {
            assert!(!self.marked(pair).is_empty(), "{pair} marks its accesses");
            for way in ways.clone() {
                match outcome(module, &format!("{pair}_broken"), *grid, way) {
                    Ok(report)
                        if report.findings.iter().any(|f| self.is_expected(f, pair, *hazard)) => {}
                    other => {
                        missed.push(format!("{pair}, {way:?}: {:?}", other.map(|r| r.findings)))
                    }
                }
                match outcome(module, &format!("{pair}_repaired"), *grid, way) {
                    Ok(report) if report.findings.is_empty() => {}
                    other => {
                        accused.push(format!("{pair}, {way:?}: {:?}", other.map(|r| r.findings)))
                    }
                }
            }
        }
        assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
        assert!(accused.is_empty(), "accused:\n{}", accused.join("\n"));
    }
}

fn outcome(
    module: &Module,
    kernel: &str,
    grid: [u32; 3],
    way: (Schedule, usize),
) -> Result<Report, Error> {
    let mut memory = Memory::default();
    memory.track_initialization();
    let [data, flag] = [memory.allocate_named(4096, "data")?, memory.allocate_named(4096, "flag")?];
    memory.fill(data, 0, 4096)?;
    memory.fill(flag, 0, 4096)?;
    let [blocks, threads, cluster] = grid;
    let launch = Launch::new(kernel, [blocks, 1, 1], [threads, 1, 1]).clusters([cluster, 1, 1]);
    let launch = launch.address(data).address(flag);
    let (schedule, threads) = way;
    let options =
        Options { checks: Checks::all(), schedule, threads, fuel: 2_000_000, ..Options::default() };
    run(module, &mut memory, &launch, &options)
}
