//! Output of a program on this machine's GPU, by NVIDIA's runtime and by ours, compared.

use super::build::Start;
use super::likeness::{CLOSE, Likeness};
use super::memory;
use super::suite::Program;
use super::trial::{Trial, output_of, words};
use crate::workspace;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Parts of lines that say how long something took or where it ran.
const TIMES: [&str; 23] = [
    "time",
    "sec",
    "µs",
    "/s",
    "flop",
    "bandwidth",
    "throughput",
    "speed",
    "latency",
    "fps",
    "rate",
    "elapsed",
    "cycle",
    "clock",
    "perf",
    "device",
    "driver",
    "nvidia",
    "multiprocessor",
    "version",
    "0x",
    "global memory",
    "host cpus",
];
/// Words of such lines.
const UNITS: [&str; 5] = ["s", "ms", "us", "ns", "efficiency"];
/// Numbers below this are errors of rounding, of which none is like another.
const ROUNDING: f64 = 1e-12;

/// A program's outputs on the GPU, each with its exit code in front.
pub struct Truth {
    nvidia: [String; 2],
    ours: String,
    memory: Option<Likeness>,
}

impl Truth {
    /// Runs a program on the GPU: by the runtime in the folder, twice, and by ours. Nothing: it takes too long there.
    pub fn run(
        program: &Program,
        start: &Start,
        arguments: &str,
        runtime: &Path,
        limit: Duration,
    ) -> Result<Option<Truth>> {
        let words = words(arguments);
        let nvidia = |name: &str| {
            let mut command = Command::new(&start.file);
            command.args(&words).env("LD_LIBRARY_PATH", runtime);
            output_of(&mut command, program, start, name, limit)
        };
        let (Some(first), Some(second)) = (nvidia("gpu")?, nvidia("gpu-again")?) else {
            return Ok(None);
        };
        let mut command = Command::new(workspace::coalesce());
        command.args(["run", "--device", "gpu", "--", &start.file]).args(&words);
        let ours = output_of(&mut command, program, start, "ours", limit)?.unwrap_or_default();
        let memory = memory::compared(program, start, &words, limit)?;
        Ok(Some(Truth { nvidia: [first, second], ours, memory }))
    }

    /// Reads what the script of `--pack` recorded of a program. Nothing: it recorded nothing.
    pub fn read(
        program: &Program,
        start: &Start,
        arguments: &str,
        folder: &Path,
        limit: Duration,
    ) -> Result<Option<Truth>> {
        let read = |kind: &str| {
            let file = folder.join(&program.name).with_added_extension(kind);
            std::fs::read(file).ok().map(|it| String::from_utf8_lossy(&it).into_owned())
        };
        let (Some(first), Some(second)) = (read("gpu"), read("gpu-again")) else {
            return Ok(None);
        };
        let memory = memory::recorded(program, start, &words(arguments), folder, limit)?;
        Ok(Some(Truth { nvidia: [first, second], ours: read("ours").unwrap_or_default(), memory }))
    }

    /// The word for the virtual device's memory at the end beside the GPU's, where these can be compared.
    pub fn of_memory(&self) -> &'static str {
        self.memory.map_or("", Likeness::word)
    }

    /// The word for our runtime's output beside NVIDIA's.
    pub fn of_our_runtime(&self) -> &'static str {
        self.word(&self.ours)
    }

    /// The word for the virtual device's output beside the GPU's.
    pub fn of_virtual_device(&self, trial: &Trial) -> &'static str {
        self.word(&trial.coded_output())
    }

    fn word(&self, output: &str) -> &'static str {
        // The first line is the exit code.
        if results(&self.nvidia[0]).len() == 1 {
            return "prints none";
        }
        let best = |nvidia: &[String; 2], output: &str| {
            let like = nvidia.each_ref().map(|nvidia| likeness(nvidia, output));
            like[0].min(like[1])
        };
        let found = best(&self.nvidia, output);
        if found != Likeness::Differs
            || likeness(&self.nvidia[0], &self.nvidia[1]) != Likeness::Differs
        {
            return found.word();
        }
        // Lines of threads that do not wait for each other have another order each time.
        let nvidia = self.nvidia.each_ref().map(|nvidia| sorted(nvidia));
        match best(&nvidia, &sorted(output)) {
            Likeness::Differs => "random",
            found => found.word(),
        }
    }
}

/// Returns the name of this machine's first GPU.
pub fn gpu() -> Result<String> {
    let mut asked = Command::new("nvidia-smi");
    let answer = asked.args(["--query-gpu=name", "--format=csv,noheader"]).output();
    let answer = answer.context("cannot start nvidia-smi: `--gpu` needs a GPU of NVIDIA's")?;
    let names = String::from_utf8_lossy(&answer.stdout).into_owned();
    names.lines().next().map(str::to_owned).context("nvidia-smi names no GPU: `--gpu` needs one")
}

/// Returns the name of the GPU on which outputs were recorded.
pub fn recorded_gpu(folder: &Path) -> Result<String> {
    let file = folder.join("device");
    let name = std::fs::read_to_string(&file);
    let name = name.with_context(|| format!("cannot read {}", file.display()))?;
    Ok(name.trim().to_owned())
}

/// The lines that do not say how long something took, and that are not empty.
fn results(output: &str) -> Vec<&str> {
    let lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_result = |line: &&str| {
        let lower = line.to_lowercase();
        let mut words = lower.split(|it: char| !it.is_alphanumeric());
        !TIMES.iter().any(|part| lower.contains(part)) && !words.any(|it| UNITS.contains(&it))
    };
    lines.filter(is_result).collect()
}

fn likeness(one: &str, other: &str) -> Likeness {
    let (one, other) = (results(one), results(other));
    if one.len() != other.len() {
        return Likeness::Differs;
    }
    let words = |line: &str| -> Vec<String> {
        let words = line.split(|it: char| it.is_whitespace() || ",;:()[]=".contains(it));
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let pairs = one.iter().zip(&other).map(|(one, other)| {
        let (one, other) = (words(one), words(other));
        if one.len() != other.len() {
            return Likeness::Differs;
        }
        one.iter()
            .zip(&other)
            .map(|(one, other)| of_words(one, other))
            .max()
            .unwrap_or(Likeness::Equal)
    });
    pairs.max().unwrap_or(Likeness::Equal)
}

/// A text with its lines in alphabetical order.
fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn of_words(one: &str, other: &str) -> Likeness {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        _ if one == other => Likeness::Equal,
        (Ok(one), Ok(other)) if (one - other).abs() <= CLOSE * one.abs().max(other.abs()) => {
            Likeness::Close
        }
        (Ok(one), Ok(other)) if one.abs().max(other.abs()) < ROUNDING => Likeness::Close,
        _ => Likeness::Differs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_do_not_count_and_sums_may_be_in_another_order() {
        for (one, other, expected) in [
            ("sum = 10.0001\nAverage 3 (us)\n", "sum = 10.0002\nAverage 4 (us)\n", Likeness::Close),
            ("sum = 10\n", "sum = 10\n", Likeness::Equal),
            ("sum = 10\n", "sum = 11\n", Likeness::Differs),
            ("PASS\n", "PASS\nPASS\n", Likeness::Differs),
            ("x nan\n", "x 1.0\n", Likeness::Differs),
            ("error 1.5e-18\n", "error 3e-19\n", Likeness::Close),
            ("error 1.5e-8\n", "error 3e-9\n", Likeness::Differs),
        ] {
            assert_eq!(likeness(one, other), expected, "{one} {other}");
        }
        let truth = |ours: &str| {
            let nvidia = ["0\na 1".to_owned(), "0\na 2".to_owned()];
            Truth { nvidia, ours: ours.to_owned(), memory: None }.of_our_runtime()
        };
        assert_eq!([truth("0\na 3"), truth("0\na 2")], ["random", "equal"]);
        let truth = |ours: &str| {
            let nvidia = ["0\nb\na 1\nc", "0\na 1\nb\nc"].map(str::to_owned);
            Truth { nvidia, ours: ours.to_owned(), memory: None }.of_our_runtime()
        };
        assert_eq!([truth("0\nc\nb\na 1"), truth("0\nc\nb\na 2")], ["equal", "random"]);
    }
}
