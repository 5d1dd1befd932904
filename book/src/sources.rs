use crate::answers::Answers;
use anyhow::{Context, Result};
use results::{CountedPattern, CountedVariant, Counts, Results, Row};
use std::path::Path;

pub struct Sources {
    /// Docs, sources, pictures and counts of the catalogue.
    pub counts: Counts,
    pub results: Results,
    /// The text of the model of time, which says what it gets wrong.
    pub model: String,
    /// Distance of each prediction from that measurement, as a table.
    pub accuracy: String,
    /// The answers to the questions of the tasks.
    pub answers: Answers,
}

impl Sources {
    /// Reads them: `counts` is a file of `coalesce count`, or one of `bench` that has counts.
    pub fn load(root: &Path, counts: &Path, measured: &Path, answers: Answers) -> Result<Sources> {
        let of_bench = Results::load(counts, &[]).ok().and_then(|results| results.counts);
        let counts = match of_bench {
            Some(counts) => counts,
            None => Counts::load(counts)?,
        };
        let read = |path: &str| {
            let path = root.join(path);
            std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))
        };
        Ok(Sources {
            counts,
            results: Results::load(measured, &[])?,
            model: read("crates/gpu_model/MODEL.md")?,
            accuracy: read("results/nvidia-h200/accuracy.csv")?,
            answers,
        })
    }

    pub fn pattern(&self, name: &str) -> Result<&CountedPattern> {
        self.counts.pattern(name).with_context(|| format!("there is no pattern `{name}`"))
    }

    pub fn variant(&self, name: &str) -> Result<(&CountedPattern, &CountedVariant)> {
        let (pattern, variant) =
            name.split_once('/').with_context(|| format!("`{name}` is no pattern/variant"))?;
        let pattern = self.pattern(pattern)?;
        let found = pattern.variant(variant);
        Ok((
            pattern,
            found.with_context(|| format!("`{}` has no variant `{variant}`", pattern.name))?,
        ))
    }

    /// The row of the ladder that `pattern/variant` names.
    pub fn row(&self, name: &str) -> Result<&Row> {
        let mut rows = self.results.ladders();
        rows.find(|row| !row.peer && row.name() == name)
            .with_context(|| format!("`{name}` was not measured"))
    }

    pub fn time_ms(&self, name: &str) -> Result<f64> {
        let row = self.row(name)?;
        let measured = row.measured().with_context(|| format!("`{name}` has no time"))?;
        Ok(measured.time_ms.median)
    }

    /// The device of measured times, and the commit of the program that took them.
    pub fn device(&self) -> String {
        let environment = &self.results.environment;
        format!("{}, commit {}", environment.device.name, environment.commit)
    }
}
