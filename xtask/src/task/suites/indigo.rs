//! Indigo: irregular codes on graphs, all of one signature, with their bugs in the names of their files.

use super::compile::Unit;
use super::files::{files, stem};
use super::job::{Argument, Buffer, Job, Launch, SCHEDULES};
use super::source::mangled;
use super::{ALL, Bug, Checkout, Code, Suite};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

pub const SUITE: Suite = Suite {
    name: "indigo",
    title: "Indigo",
    repository: "JohnJacobsonIII/HiRace-Artifact-SC24",
    marker: "indigo/indigo_sources",
    codes,
    published: &[
        (
            "HiRace, SC 2024, table I: races found of 346",
            "DAG_100n_200e 346, DAG_200n_400e 346, DAG_5n_5e 182, counterDAG_200n_1000e 346, counterDAG_5n_5e 295, power_law_200n_1000e 346",
        ),
        ("iGUARD, in the same table", "298, 298, 118, 298, 148, 297"),
        ("Compute Sanitizer, in the same table", "92, 92, 92, 56, 92, 128"),
    ],
    disputed: &[],
    speaks_of: ALL,
    timed: Some("power_law_200n_1000e"),
};

/// The launch that HiRace's artifact makes.
const BLOCKS: u32 = 1024;
const THREADS: u32 = 256;

/// The name that the kernel of each code has.
const KERNEL: &str = "test_kernel";

fn codes(checkout: &Checkout) -> Result<Vec<Code>> {
    let graphs = files(&checkout.folder.join("indigo/input"), "egr")?;
    let graphs: Vec<(String, Vec<Buffer>, i64)> =
        graphs.iter().map(|file| graph(file, checkout)).collect::<Result<_>>()?;
    let mut codes = Vec::new();
    for folder in files(&checkout.folder.join("indigo/indigo_sources"), "")? {
        let sources = files(&folder, "cu")?;
        let unit = unit(&sources);
        for (index, source) in sources.iter().enumerate() {
            let name = stem(source);
            for (input, buffers, nodes) in &graphs {
                let arguments = (0..4).map(Argument::of).chain([Argument::Integer(*nodes)]);
                let arguments: Vec<Argument> = arguments.collect();
                let launch =
                    Launch::of(&mangled(&format!("c{index}"), KERNEL), BLOCKS, THREADS, &arguments);
                codes.push(Code {
                    bugs: bugs(&name),
                    cost: None,
                    refusal: None,
                    races_are_global: !name.contains("syncBug"),
                    name: name.clone(),
                    input: input.clone(),
                    unit: unit.clone(),
                    job: Job {
                        buffers: buffers.clone(),
                        launches: vec![launch],
                        schedules: SCHEDULES.to_vec(),
                        ..Job::default()
                    },
                });
            }
        }
    }
    Ok(codes)
}

pub fn bugs(name: &str) -> Vec<Bug> {
    let is_racy =
        ["atomicBug", "guardBug", "raceBug", "syncBug"].iter().any(|it| name.contains(it));
    let race = is_racy.then_some(Bug::Race);
    race.into_iter().chain(name.contains("boundsBug").then_some(Bug::Bounds)).collect()
}

/// All codes of a folder, each in a namespace. Their header has the host's half, for which there is no use here.
fn unit(sources: &[PathBuf]) -> Unit {
    let each = sources.iter().enumerate().map(|(index, source)| {
        format!("namespace c{index} {{\n#include \"{}\"\n}}\n", source.display())
    });
    let system = "#include <cuda.h>\n#include <cstdlib>\n#include <cstdio>\n".to_owned();
    Unit {
        text: system + &each.collect::<String>(),
        sources: sources.to_vec(),
        headers: vec![("indigo_cuda.h", "")],
        arguments: Vec::new(),
    }
}

/// A graph's name, the four arrays as the suite's host fills them, and the number of nodes.
fn graph(file: &Path, checkout: &Checkout) -> Result<(String, Vec<Buffer>, i64)> {
    let name = stem(file);
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let words: Vec<i32> = bytes
        .chunks_exact(4)
        .map(|word| word.try_into().map(i32::from_le_bytes).unwrap_or_default())
        .collect();
    let at = |index: usize| words.get(index).and_then(|it| usize::try_from(*it).ok());
    let (nodes, edges) = at(0).zip(at(1)).context("a graph begins with two sizes")?;
    ensure!(words.len() == nodes + edges + 3, "{} is no graph of ECL", file.display());
    let size = nodes.max(edges);
    let mut random = Random::new();
    let mut values = |below: usize| -> Vec<i32> {
        let rest = (1..size).map(|_| random.next() % below.max(1) as i32);
        std::iter::once(0).chain(rest).collect()
    };
    let data = [values(nodes), values(edges)];
    let arrays = [&words[2..nodes + 3], &words[nodes + 3..], &data[0], &data[1]];
    let mut buffers = Vec::new();
    for (index, array) in arrays.iter().enumerate() {
        buffers.push(checkout.buffer(&format!("{name}.{index}"), array)?);
    }
    Ok((name, buffers, i64::try_from(nodes)?))
}

/// `rand` of glibc, not seeded: the suite's host fills its arrays with it.
struct Random {
    last: Vec<i32>,
}

impl Random {
    fn new() -> Random {
        let mut last = vec![1_i32];
        for index in 1..31 {
            let value = i64::from(last[index - 1]) * 16_807 % 2_147_483_647;
            last.push(value as i32);
        }
        last.extend_from_within(..3);
        let mut random = Random { last };
        for _ in 0..310 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> i32 {
        let count = self.last.len();
        let value = self.last[count - 31].wrapping_add(self.last[count - 3]);
        self.last.push(value);
        (value.cast_unsigned() >> 1).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_glibc() {
        let mut random = Random::new();
        let first: Vec<i32> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [1_804_289_383, 846_930_886, 1_681_692_777]);
    }

    #[test]
    fn bugs_are_in_the_name() {
        assert_eq!(bugs("a_boundsBug_cond_guardBug_atomicBug"), [Bug::Race, Bug::Bounds]);
        assert_eq!(bugs("a_boundsBug"), [Bug::Bounds]);
        assert_eq!(bugs("a_cond_break"), []);
    }
}
