//! `cargo xtask samples CHECKOUT --advice`: the first advice on kernels of cuda-samples, applied by an edit of ours,
//! compiled and run again: the counter has to fall to the number that the advice named.

use super::cases::{Case, Edit, cases};
use super::nvcc;
use crate::workspace;
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A count equals the promised one when it differs by less.
const TOLERANCE: f64 = 0.05;
/// Counters of one kind of memory instruction, as a profile names them.
const FAMILIES: [&[&str]; 7] = [
    &["global_load"],
    &["global_store"],
    &["global_atomic", "global_reduction"],
    &["shared_load"],
    &["shared_store"],
    &["shared_atomic"],
    &["constant_load"],
];

/// The part that is read of a profile that `coalesce explain --json` writes.
#[derive(Deserialize)]
struct Profile {
    kernels: Vec<Kernel>,
    #[serde(default)]
    advice: Vec<Advice>,
}

#[derive(Deserialize)]
struct Kernel {
    instructions: Vec<Instruction>,
}

#[derive(Deserialize)]
struct Instruction {
    counts: Counts,
}

#[derive(Deserialize)]
struct Counts {
    ptx_line: u32,
    source: Option<Source>,
    counters: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Source {
    file: String,
    line: u32,
    #[serde(default)]
    inlined_at: Vec<(String, u32)>,
}

#[derive(Deserialize)]
struct Advice {
    kind: String,
    ptx_line: Option<u32>,
    seen: String,
    promise: Option<Promise>,
}

#[derive(Deserialize)]
struct Promise {
    counter: String,
    from: f64,
    to: f64,
}

struct Row {
    kernel: String,
    change: String,
    seen: String,
    promise: Promise,
    /// None where the line has no such instruction any more.
    after: Option<f64>,
    is_kept: bool,
}

impl Source {
    /// The name of the file and the line of the kernel itself, through all inlining.
    fn place(&self) -> (&str, u32) {
        let (file, line) = match self.inlined_at.last() {
            Some((file, line)) => (file, *line),
            None => (&self.file, self.line),
        };
        (file.rsplit('/').next().unwrap_or(file), line)
    }
}

/// Applies the advice on every kernel; the section of the document, and whether every promise was kept.
pub fn section(
    nvcc: &Path,
    include: &[PathBuf],
    checkout: &Path,
    about: &str,
) -> Result<(String, bool)> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for (number, case) in cases()?.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        let profile = |name: &str, edits: &[Edit]| {
            let own = place.join(name);
            copy_sample(checkout, case, &own, edits)?;
            let ptx = own.join("sample.ptx");
            let mut build = nvcc::command(nvcc, include, checkout, &own);
            build.args(["-arch=sm_80", "-lineinfo"]).arg(own.join(&case.unit)).arg("-o").arg(&ptx);
            let output = build.output().context("cannot start nvcc")?;
            if !output.status.success() {
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                bail!("{} of {} does not compile: {errors}", case.unit, case.folder);
            }
            explain(case, &ptx, &own.join("profile.json"))
        };
        let row = profile("before", &[])
            .and_then(|before| Ok((before, profile("after", &case.edits)?)))
            .and_then(|(before, after)| row(case, before, &after))
            .with_context(|| format!("the advice on `{}` cannot be tried", case.name))?;
        eprintln!("{}: {} {}", row.kernel, row.promise.counter, outcome(&row));
        rows.push(row);
    }
    Ok((table(about, &rows), rows.iter().all(|row| row.is_kept)))
}

/// Copies the sources of a sample, with edits.
fn copy_sample(checkout: &Path, case: &Case, target: &Path, edits: &[Edit]) -> Result<()> {
    let folder = checkout.join("Samples").join(&case.folder);
    std::fs::create_dir_all(target)?;
    let entries = std::fs::read_dir(&folder)
        .with_context(|| format!("cannot read the sample {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let is_source = path.extension().is_some_and(|one| {
            ["cu", "cuh", "h", "hpp", "inl"].iter().any(|extension| one == *extension)
        });
        if let Some(name) = path.file_name().filter(|_| is_source) {
            std::fs::copy(&path, target.join(name))
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    let file = target.join(&case.file);
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("the sample {} has no {}", case.folder, case.file))?;
    let text = edited(&text, edits).with_context(|| format!("{}/{}", case.folder, case.file))?;
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn edited(text: &str, edits: &[Edit]) -> Result<String> {
    let mut text = text.to_owned();
    for edit in edits {
        let missing = |what: &str| {
            anyhow!("`{what}` is not there: the edits are for cuda-samples of September 2025")
        };
        let start = text.find(&edit.after).ok_or_else(|| missing(&edit.after))?;
        let place = text[start..].find(&edit.fragment).ok_or_else(|| missing(&edit.fragment))?;
        let place = start + place;
        text.replace_range(place..place + edit.fragment.len(), &edit.by);
    }
    Ok(text)
}

fn explain(case: &Case, ptx: &Path, json: &PathBuf) -> Result<Profile> {
    let mut command = workspace::cargo("run --release --quiet --bin coalesce -- explain");
    command.arg(format!("{}:{}", ptx.display(), case.kernel));
    command.args(case.launch.split(' ')).args(["--device", "virtual"]).arg("--json").arg(json);
    let output = command.output().context("cannot start `coalesce explain`")?;
    if !output.status.success() {
        bail!("`coalesce explain` says: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = std::fs::read_to_string(json)
        .with_context(|| format!("`coalesce explain` did not write {}", json.display()))?;
    serde_json::from_str(&text).context("the profile of `coalesce explain` is not as expected")
}

/// The first advice on a kernel, and what the counter is after the edit.
fn row(case: &Case, before: Profile, after: &Profile) -> Result<Row> {
    let advice = before.advice.into_iter().next().context("there is no advice on it")?;
    let promise = advice.promise.context("the first advice on it promises no count")?;
    let line = advice.ptx_line.context("the first advice on it names no line")?;
    let instructions = before.kernels.iter().flat_map(|kernel| &kernel.instructions);
    let meant = instructions.clone().find(|one| one.counts.ptx_line == line);
    let meant = &meant.context("the line of the advice is not in the profile")?.counts;
    let place = meant.source.as_ref().context("the PTX has no line table")?.place();
    let family = FAMILIES.into_iter().find(|family| sum(meant, family, "requests") > 0.0);
    let family = family.context("the advice is on no access of memory")?;
    let at_place = |profile: &Profile, what: &str| -> f64 {
        let all = profile.kernels.iter().flat_map(|kernel| &kernel.instructions);
        let there = all
            .filter(|one| one.counts.source.as_ref().is_some_and(|source| source.place() == place));
        there.map(|one| sum(&one.counts, family, what)).sum()
    };
    let requests = at_place(after, "requests");
    let ratio = match promise.counter.as_str() {
        "requests of the group" => {
            let all = instructions.filter(|one| {
                one.counts.source.as_ref().is_some_and(|source| source.place() == place)
            });
            let all: f64 = all.map(|one| sum(&one.counts, family, "requests")).sum();
            promise.from * requests / all
        }
        counter => {
            let amount = match (counter, family[0]) {
                ("sectors per request", _) => "sectors",
                ("passes per request", "global_atomic") => "sector_passes",
                _ => "wavefronts",
            };
            at_place(after, amount) / requests
        }
    };
    let after = (requests > 0.0).then_some(ratio);
    // Constants move to another memory; every other access stays where it is.
    let is_kept = match after {
        Some(after) => promise.from > promise.to && (after - promise.to).abs() < TOLERANCE,
        None => advice.kind == "divergent_constant",
    };
    let (kernel, change) = (case.name.clone(), case.change.clone());
    Ok(Row { kernel, change, seen: advice.seen, promise, after, is_kept })
}

/// An amount of an instruction's counters.
fn sum(counts: &Counts, family: &[&str], amount: &str) -> f64 {
    let counters = family.iter().filter_map(|name| counts.counters.get(*name));
    counters.filter_map(|counter| counter.get(amount)?.as_f64()).sum()
}

/// A count with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn outcome(row: &Row) -> String {
    let after = row.after.map_or_else(|| "none left".to_owned(), number);
    let promised = number(row.promise.to);
    match row.is_kept {
        true => format!("{} -> {after}, as promised", number(row.promise.from)),
        false => format!("{} -> {after}, but {promised} was promised", number(row.promise.from)),
    }
}

fn table(about: &str, rows: &[Row]) -> String {
    let kept = rows.iter().filter(|row| row.is_kept).count();
    let mut text = format!(
        "\n{about}. The first advice of `coalesce explain` on each of these kernels was applied by a small edit, compiled\n\
         and run again: {kept} of {} counters became what the advice promised. A count is that of the advice's line.\n\
         `cargo xtask samples CHECKOUT --nvcc FILE --advice` writes this table.\n\n\
         | kernel | what the advice has seen | edit | counter | before | promised | after |\n\
         |---|---|---|---|--:|--:|--:|\n",
        rows.len()
    );
    for row in rows {
        let after = row.after.map_or_else(|| "none left".to_owned(), number);
        let after = if row.is_kept { after } else { format!("**{after}**") };
        let Promise { counter, from, to } = &row.promise;
        let (from, to) = (number(*from), number(*to));
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {counter} | {from} | {to} | {after} |",
            row.kernel, row.seen, row.change
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        cases().expect("they are read").swap_remove(0)
    }

    /// A profile whose line 7 does so many requests of shared memory by so many wavefronts.
    fn profile(requests: u32, wavefronts: u32, advice: &str) -> Profile {
        let text = format!(
            r#"{{"kernels": [{{"instructions": [
                {{"counts": {{"ptx_line": 3, "source": {{"file": "/x/k.cu", "line": 6}}, "counters": {{
                    "shared_load": {{"requests": 9, "wavefronts": 99}}}}}}}},
                {{"counts": {{"ptx_line": 4, "source": {{"file": "h.h", "line": 1, "inlined_at": [["/x/k.cu", 7]]}},
                    "counters": {{"shared_load": {{"requests": {requests}, "wavefronts": {wavefronts}}}, "branches": 1}}}}}}
            ]}}], "advice": [{advice}]}}"#
        );
        serde_json::from_str(&text).expect("a profile")
    }

    fn advice(kind: &str, counter: &str, from: u32) -> String {
        format!(
            r#"{{"kind": "{kind}", "ptx_line": 4, "seen": "it", "promise": {{"counter": "{counter}", "from": {from}, "to": 1}}}}"#
        )
    }

    #[test]
    fn a_promise_is_kept_by_the_count_of_its_line() {
        let before = || profile(10, 320, &advice("bank_conflict", "wavefronts per request", 32));
        let tried = |after| row(&case(), before(), &after).expect("a row");
        let kept = tried(profile(10, 10, ""));
        assert_eq!((kept.after, kept.is_kept), (Some(1.0), true));
        let broken = tried(profile(10, 20, ""));
        assert_eq!((broken.after, broken.is_kept), (Some(2.0), false));
        // Where nothing is left, the edit has removed more than the advice was about.
        assert!(!tried(profile(0, 0, "")).is_kept);
        let text = table("here", &[kept, broken]);
        assert!(text.contains("1 of 2 counters became"), "{text}");
        assert!(text.contains("| wavefronts per request | 32 | 1 | 1 |"), "{text}");
        assert!(text.contains("| 32 | 1 | **2** |"), "{text}");
    }

    #[test]
    fn groups_of_requests_are_compared_and_constants_may_move() {
        let before = profile(40, 40, &advice("narrow_access", "requests of the group", 4));
        assert!(row(&case(), before, &profile(10, 10, "")).expect("a row").is_kept);
        let text = advice("divergent_constant", "words per request", 16);
        let moved = row(&case(), profile(10, 160, &text), &profile(0, 0, "")).expect("a row");
        assert_eq!((moved.after, moved.is_kept), (None, true));
    }

    #[test]
    fn a_kernel_without_advice_is_no_row() {
        let error = row(&case(), profile(1, 1, ""), &profile(1, 1, "")).err().expect("an error");
        assert_eq!(error.to_string(), "there is no advice on it");
    }

    #[test]
    fn an_edit_finds_its_fragment_after_its_place_or_says_that_it_is_missing() {
        let edits = [Edit {
            after: "void two(".to_owned(),
            fragment: "[32]".to_owned(),
            by: "[33]".to_owned(),
        }];
        let source = "void one() { tile[32]; } void two() { tile[32]; }";
        let text = edited(source, &edits).expect("it is there");
        assert_eq!(text, "void one() { tile[32]; } void two() { tile[33]; }");
        let error = edited("void two() {}", &edits).expect_err("no fragment").to_string();
        assert!(error.starts_with("`[32]` is not there"), "{error}");
        let error = edited("tile[32]", &edits).expect_err("no such kernel").to_string();
        assert!(error.starts_with("`void two(` is not there"), "{error}");
    }

    #[test]
    fn edits_keep_the_lines() {
        let cases = cases().expect("they are read");
        assert!(cases.len() >= 10);
        for edit in cases.iter().flat_map(|case| &case.edits) {
            let lines = |text: &str| text.matches('\n').count();
            assert_eq!(lines(&edit.by), lines(&edit.fragment), "{}", edit.by);
        }
    }
}
