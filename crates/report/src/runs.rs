//! The result files of a report: the main one, and those it is compared with.

use crate::tabulate;
use anyhow::{Result, bail};
use maud::{Markup, html};
use results::{
    CountedPattern, CountedVariant, Counts, Measured, Pair, Renamed, Results, Row, RowOutcome,
    Spread, differences, pairs, plain, unranked,
};
use std::path::{Path, PathBuf};

/// A result file.
#[derive(Debug)]
pub struct Run {
    /// Name of its figures.
    pub name: String,
    /// The file without its folder and its ending.
    pub file: String,
    /// Its content.
    pub results: Results,
}

/// The files of a report.
#[derive(Debug)]
pub struct Runs {
    /// The file that the report is of.
    pub main: Run,
    /// The files beside it.
    pub others: Vec<Run>,
    /// Counts of the patterns, if there are any.
    pub counts: Option<Counts>,
    /// Address of the sources, such as `https://github.com/owner/name`, if that was said.
    pub repository: Option<String>,
}

/// A pattern of the report.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// Counts of the pattern.
    pub pattern: Option<&'a CountedPattern>,
}

/// The name of a file without its folder and its endings.
pub fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    plain(name.trim_end_matches(".gz").trim_end_matches(".json")).into_owned()
}

impl Runs {
    /// Reads the files; the first is the main one.
    ///
    /// # Errors
    /// A file that this program cannot read, or one that has no row in common with the first.
    pub fn load(files: &[PathBuf], renamed: &[Renamed], counts: Option<Counts>) -> Result<Runs> {
        let mut runs = Vec::new();
        for file in files {
            let results = Results::load(file, renamed)?;
            // They become names of files and of places in pages.
            for row in &results.rows {
                for name in [Some(&row.pattern), row.sweep.as_ref()].into_iter().flatten() {
                    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                    if !is_name || name.is_empty() || name == "index" {
                        bail!(
                            "{} is damaged: `{name}` names no pattern or dimension",
                            file.display()
                        );
                    }
                }
            }
            let kind = if results.environment.is_prediction { "predicted" } else { "measured" };
            let stem = stem(file);
            let is_alone = files.len() == 1 || runs.iter().all(|run: &Run| run.name != kind);
            let name = if is_alone { kind.to_owned() } else { format!("{kind}, {stem}") };
            runs.push(Run { name, file: stem, results });
        }
        let mut runs = runs.into_iter();
        let Some(main) = runs.next() else {
            bail!("name a result file of `coalesce bench --json`")
        };
        let others: Vec<Run> = runs.collect();
        for (run, file) in others.iter().zip(&files[1..]) {
            if pairs(&main.results, &run.results).0.is_empty() {
                bail!(
                    "{} and {} have no row in common: report runs of the same patterns and sizes",
                    files[0].display(),
                    file.display()
                );
            }
        }
        let mut of_files = std::iter::once(&main).chain(&others);
        let counts = counts.or_else(|| of_files.find_map(|run| run.results.counts.clone()));
        Ok(Runs { main, others, counts, repository: None })
    }

    /// Returns what was counted of a row's variant.
    pub fn counted(&self, row: &Row) -> Option<&CountedVariant> {
        self.counts.as_ref()?.pattern(&row.pattern)?.variant(&row.variant)
    }

    /// The patterns that were counted, then those that only the main file knows.
    pub fn subjects(&self) -> Vec<Subject<'_>> {
        let known = self.counts.iter().flat_map(|counts| &counts.patterns);
        let known = known.map(|pattern| Subject { name: &pattern.name, pattern: Some(pattern) });
        let mut subjects: Vec<_> = known.collect();
        for row in &self.main.results.rows {
            if subjects.iter().all(|subject| subject.name != row.pattern) {
                subjects.push(Subject { name: &row.pattern, pattern: None });
            }
        }
        subjects
    }

    /// A place in a source at the commit that was counted: a link where the repository is known, else only its name.
    pub fn source_link(&self, file: &str, line: Option<u32>, name: &str) -> Markup {
        let commit = self.counts.as_ref().map(|counts| counts.commit.as_str());
        let is_known = |commit: &&str| !commit.is_empty() && *commit != "unknown";
        match (&self.repository, commit.filter(is_known)) {
            (Some(repository), Some(commit)) => {
                let line = line.map_or_else(String::new, |line| format!("#L{line}"));
                let repository = repository.trim_end_matches('/');
                html! { a href=(format!("{repository}/blob/{commit}/{file}{line}")) rel="noreferrer" { (name) } }
            }
            _ => html! { code { (name) } },
        }
    }

    /// The rows of a pattern's ladder.
    pub fn ladder(&self, pattern: &str) -> Vec<&Row> {
        self.main.results.ladders().filter(|row| row.pattern == pattern).collect()
    }

    /// The same row in the other files, as far as it was measured there.
    pub fn beside(&self, row: &Row) -> Vec<Option<&Measured>> {
        let rows = self.others.iter().map(|run| &run.results.rows);
        rows.map(|rows| rows.iter().find(|other| other.is_same_work(row))?.measured()).collect()
    }

    /// Returns the predicted milliseconds of a row of the main file: of a file of predictions, or else of the row.
    pub fn predicted_ms(&self, row: &Row) -> Option<f64> {
        let beside = self.beside(row);
        let files = self.others.iter().zip(beside);
        let mut predictions = files.filter(|(run, _)| run.results.environment.is_prediction);
        let of_file = predictions.find_map(|(_, measured)| Some(measured?.time_ms.median));
        of_file.or(row.predicted_ms)
    }

    /// The rows of the ladders with what the model says of them, as the first time.
    pub fn predicted_pairs(&self) -> Vec<Pair<'_>> {
        let rows = self.main.results.ladders().filter(|row| !row.peer);
        let pair = |row| {
            let second = Row::measured(row)?.time_ms;
            let first = Spread::of(&[self.predicted_ms(row)?]);
            Some(Pair { row, first, second, launch_ms: 0.0 })
        };
        rows.filter_map(pair).collect()
    }

    /// Returns whether the times of a pattern are a ranking: predictions whose order a measurement refutes are none.
    pub fn is_ranked(&self, pattern: &str) -> bool {
        !unranked(&self.main.results).contains(pattern)
    }

    /// Returns whether the prediction of a row and its measured time are apart by more than a third of the shorter.
    pub fn misses(&self, row: &Row) -> bool {
        let ratio = self.predicted_ms(row).zip(row.measured());
        ratio.is_some_and(|(predicted, measured)| {
            let ratio = predicted / measured.time_ms.median;
            !(1.0 / tabulate::NEAR..=tabulate::NEAR).contains(&ratio)
        })
    }

    /// The time of a row's baseline over its own: of the first variant of ours that must move as many bytes.
    pub fn speed_up(&self, row: &Row) -> Option<f64> {
        let baseline = self.main.results.baseline(row)?.measured()?;
        Some(baseline.time_ms.median / row.measured()?.time_ms.median)
    }

    /// The first file beside the main one that is of the same kind: a measurement beside a measurement.
    pub fn compared(&self) -> Option<&Run> {
        let is_prediction = |run: &Run| run.results.environment.is_prediction;
        self.others.iter().find(|run| is_prediction(run) == is_prediction(&self.main))
    }

    /// Claims that the catalogue's figures refute, if it has any.
    pub fn myths(&self) -> Option<&str> {
        self.counts.as_ref().map(|counts| counts.myths.as_str()).filter(|text| !text.is_empty())
    }

    /// Returns what a reader must know before the first figure.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let environment = &self.main.results.environment;
        if environment.is_prediction {
            notes.push(
                "Nothing here was measured: the device was virtual, and every time is the prediction of a model."
                    .to_owned(),
            );
            notes.extend(tabulate::not_predicted(&self.main.results));
        }
        for run in std::iter::once(&self.main).chain(&self.others) {
            if run.results.interrupted {
                notes.push(format!("The run “{}” was interrupted: rows are missing.", run.name));
            }
        }
        for run in &self.others {
            let mut differing = differences(environment, &run.results.environment);
            if environment.is_prediction != run.results.environment.is_prediction {
                // A prediction is of a device of that name, which it is not.
                let model = |run: &Run| run.results.environment.device.model().to_owned();
                let is_same = model(&self.main) == model(run);
                differing.retain(|difference| !(is_same && difference.starts_with("the GPU ")));
            }
            if !differing.is_empty() {
                notes.push(format!(
                    "“{}” and “{}” were not measured under the same conditions: {}.",
                    self.main.name,
                    run.name,
                    differing.join("; ")
                ));
            }
        }
        let wrong = self.main.results.rows.iter();
        let wrong = wrong.filter(|row| matches!(row.outcome, RowOutcome::Wrong { .. })).count();
        if wrong > 0 {
            notes.push(format!("Wrong results: {wrong}. The tables say which and why."));
        }
        notes
    }

    /// Returns what differs between the kernels that were timed and those that were counted, if anything does.
    pub fn older_kernels(&self) -> Option<String> {
        let timed = &self.main.results.environment;
        let counts = self.counts.as_ref()?;
        let is_same = counts.images.iter().any(|image| image.hash == timed.ptx_hash);
        (!is_same).then(|| {
            format!(
                "Times are of the kernels of commit {} (PTX {}). Sources, counts, arithmetic and registers are of the kernels \
                 of commit {}. A variant that was changed in between may take another time today.",
                timed.commit, timed.ptx_hash, counts.commit
            )
        })
    }
}
