//! Faial's examples: races by the names of files, and the costs of bank conflicts and uncoalesced accesses of its own
//! tests.

use super::compile::{UNOPTIMIZED, Unit};
use super::files::{files, stem};
use super::job::Metric;
use super::source::{PRELUDE, array, at_most, extents, job, required};
use super::{Bug, Checkout, Code, Suite};
use anyhow::{Context, Result};
use std::path::Path;

pub const SUITE: Suite = Suite {
    name: "faial",
    title: "Faial",
    repository: "elliotsayes/faial",
    marker: "examples/bc/test.ml",
    codes,
    published: &[],
    disputed: &[
        (
            "racy-loop-comma-in-cond",
            "all threads store the same value, which is a note, SameValue, and no finding",
        ),
        ("loops-1-div.cu", POWERS),
        ("loops-1-rsh.cu", POWERS),
        ("loops-1-pow*", POWERS),
        (
            "loops-1-tid-*",
            "the cost of the thread that loops longest is stated, the mean of all warps is counted",
        ),
        ("ifs-1.cu", "the cost of the first warp is stated, the mean of all warps is counted"),
    ],
    speaks_of: &[Bug::Race],
    timed: None,
};

/// A cost that a test states.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stated {
    file: String,
    options: String,
    metric: Metric,
    cost: u64,
}

const THREADS: u32 = 1024;

const POWERS: &str = "a loop over powers of two runs once more than the stated cost has it: 512, 256 .. 1 are 10 values";

/// The value of a number that nothing gives.
const NUMBER: i64 = 41;

fn codes(checkout: &Checkout) -> Result<Vec<Code>> {
    let array = array(checkout)?;
    let folder = checkout.folder.join("examples");
    let mut codes = Vec::new();
    for path in files(&folder.join("drf"), "cu")? {
        let name = stem(&path);
        let bugs = match name.split('-').next() {
            Some("racy") => vec![Bug::Race],
            Some("drf") => Vec::new(),
            _ => continue,
        };
        let text = read(&path)?;
        let shape = |option| text.lines().find_map(|line| extents(line, option));
        let threads = if name.contains("warp") { 32 } else { 64 };
        let block = at_most(shape("blockDim").unwrap_or([threads, 1, 1]), THREADS);
        // Its labels speak of the threads of a block, but for one name.
        let grid = [1 + u32::from(name.contains("grid-level")), 1, 1];
        let value = |name: &str| match name {
            // One of an enumeration.
            "mode" => 1,
            _ => required(&text, name, block[0]).unwrap_or(NUMBER),
        };
        let Some(mut job) = job(&text, &array, (grid, block), &value) else { continue };
        job.launches[0].shared = 4096;
        let unit = unit(&path);
        let races_are_global = !text.contains("__shared__");
        codes.push(Code { bugs, races_are_global, ..Code::new(&name, "drf", unit, job) });
    }
    for stated in stated(&read(&folder.join("bc/test.ml"))?) {
        let path = folder.join("bc").join(&stated.file);
        let text = read(&path)?;
        let shape = |option| {
            extents(&stated.options, option)
                .or_else(|| text.lines().find_map(|line| extents(line, option)))
        };
        let block = at_most(shape("blockDim").unwrap_or([THREADS, 1, 1]), THREADS);
        let given = |name: &str| {
            let mut words = stated.options.split(' ').filter_map(|word| word.split_once('='));
            words.find(|(left, _)| *left == name).and_then(|(_, value)| value.parse().ok())
        };
        let value =
            |name: &str| given(name).or_else(|| required(&text, name, block[0])).unwrap_or(NUMBER);
        let grid = at_most(shape("gridDim").unwrap_or([1; 3]), THREADS);
        let Some(mut job) = job(&text, &array, (grid, block), &value) else { continue };
        job.counters = true;
        // Their arrays are too small for the threads that the costs are stated for, and nothing but the cost is asked.
        job.unchecked = true;
        job.launches[0].shared = 160 << 10;
        job.schedules.truncate(1);
        let name = format!("{} {}", stated.file, stated.options);
        let cost = Some((stated.metric, stated.cost));
        codes.push(Code {
            cost,
            ..Code::new(&name.trim().replace(',', "x"), "bc", unit(&path), job)
        });
    }
    Ok(codes)
}

fn unit(path: &Path) -> Unit {
    let mut unit = Unit::of_file(path.to_owned());
    unit.text = PRELUDE.to_owned() + &unit.text;
    unit.arguments = vec![UNOPTIMIZED.to_owned()];
    unit
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The costs that the suite's tests state as numbers.
fn stated(tests: &str) -> Vec<Stated> {
    let mut metric = None;
    let mut all = Vec::new();
    for line in tests.lines().map(str::trim) {
        match line {
            "let per_request_tests = [" => metric = Some(Metric::Loads),
            "let bc_tests = [" => metric = Some(Metric::Conflicts),
            "let ua_tests = [" => metric = Some(Metric::Sectors),
            "]" => metric = None,
            _ => {}
        }
        let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        let [file, options @ .., cost] = &quoted[..] else { continue };
        if let (Some(metric), true, Ok(cost)) = (metric, file.ends_with(".cu"), cost.parse()) {
            let options = options.join(" ").replace("--block-dim ", "--blockDim=");
            let is_of_stores = options == "--only-writes";
            let metric = if is_of_stores { Metric::Stores } else { metric };
            all.push(Stated { file: (*file).to_owned(), options, metric, cost });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_that_are_numbers_are_read() {
        let text = "let per_request_tests = [\n \"a.cu\", [\"--only-writes\"], \"32\";\n]\n\"no.cu\", [], \"1\";\n\
                    let bc_tests = [\n (* x *)\n \"b.cu\", [\"--blockDim=64\"; \"-p\"; \"n=3\";], \"7\";\n \"c.cu\", [], \"n + 1\";\n]";
        let stated = stated(text);
        let seen: Vec<_> =
            stated.iter().map(|it| (&*it.file, &*it.options, it.metric, it.cost)).collect();
        let expected = [
            ("a.cu", "--only-writes", Metric::Stores, 32),
            ("b.cu", "--blockDim=64 -p n=3", Metric::Conflicts, 7),
        ];
        assert_eq!(seen, expected);
    }
}
