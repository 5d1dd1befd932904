//! Runs codes and compares what was found with their labels.

use super::job::{Counts, Job, Metric, Outcome, Run, SCHEDULES};
use super::rows::{COST, Row, Verdict};
use super::{Bug, Code, Suite};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The faults that no correct code may have, whatever labels speak of.
const HANGS: [&str; 2] = ["Deadlock", "OutOfFuel"];

impl Bug {
    /// The findings and faults that show it.
    fn shown_by(self) -> &'static [&'static str] {
        match self {
            Bug::Race => &[
                "GlobalRace",
                "GlobalRaceInWarp",
                "SharedRace",
                "SharedRaceInWarp",
                "ConflictingStore",
                "ReadOnlyWritten",
                "UnorderedVolatile",
            ],
            // The last one is a call of an address that is no function's.
            Bug::Bounds => &["IllegalAddress", "SharedOverrun", "IllegalInstruction"],
            Bug::Alignment => &["MisalignedAddress"],
            Bug::Barrier => &[
                "DivergentBarrier",
                "MemberMask",
                "InactiveSource",
                "Deadlock",
                "SkippedBarrier",
                "BarrierCounts",
                "IllegalInstruction",
            ],
            Bug::Uninitialized => &[
                "UninitializedRegister",
                "UninitializedShared",
                "UninitializedLocal",
                "UninitializedGlobal",
            ],
            Bug::Assertion => &["Trap"],
        }
    }

    fn is_shown(self, run: &Run) -> bool {
        kinds(run).any(|kind| self.shown_by().contains(&kind))
    }
}

/// Kinds that a run found, noted or failed with.
fn kinds(run: &Run) -> impl Iterator<Item = &str> {
    let fault = run.error.iter().map(|fault| &*fault.kind);
    run.found.keys().chain(run.notes.keys()).map(String::as_str).chain(fault)
}

/// Runs all codes and returns a row for each label of each.
pub fn rows(suite: &Suite, scratch: &Path, codes: &[Code], is_told: bool) -> Result<Vec<Row>> {
    let jobs = codes.iter().map(|code| code.job.clone()).collect();
    let mut outcomes = execute(scratch, jobs)?;
    let missed = |outcome: &Outcome, bug: Bug| {
        outcome.refused.is_none() && !outcome.runs.iter().any(|run| bug.is_shown(run))
    };
    // A fault ends a kernel here, and what would have raced afterwards does not. A GPU mostly goes on.
    let ended = |(code, outcome): (&Code, &Outcome)| {
        let is_ended = outcome.runs.iter().any(|run| run.error.is_some());
        is_ended && code.bugs.len() > 1 && code.bugs.iter().any(|bug| missed(outcome, *bug))
    };
    let again = |job: Job| Job { is_one_allocation: true, ..job };
    rerun(scratch, codes, &mut outcomes, &ended, &again)?;
    // What is still missed may be what this input does not exercise.
    let unseen =
        |(code, outcome): (&Code, &Outcome)| code.bugs.iter().any(|bug| missed(outcome, *bug));
    let touch = |job: Job| Job {
        is_one_allocation: true,
        conflicts: true,
        schedules: SCHEDULES[..1].to_vec(),
        ..job
    };
    rerun(scratch, codes, &mut outcomes, &unseen, &touch)?;
    if is_told {
        codes.iter().zip(&outcomes).for_each(|(code, outcome)| tell(code, outcome));
    }
    let each = codes.iter().zip(&outcomes).map(|(code, outcome)| of_code(suite, code, outcome));
    Ok(each.flatten().collect())
}

/// Prints what a code was told, once for each sentence.
fn tell(code: &Code, outcome: &Outcome) {
    let faults = outcome.runs.iter().filter_map(|run| Some(&run.error.as_ref()?.text));
    let firsts = outcome.runs.iter().filter_map(|run| run.first.as_ref());
    let texts: BTreeSet<&String> = faults.chain(firsts).chain(&outcome.refused).collect();
    texts.into_iter().for_each(|text| println!("{} ({}): {text}", code.name, code.input));
}

/// Runs codes again in another way; their outcome becomes that of all runs.
fn rerun(
    scratch: &Path,
    codes: &[Code],
    outcomes: &mut [Outcome],
    which: &dyn Fn((&Code, &Outcome)) -> bool,
    how: &dyn Fn(Job) -> Job,
) -> Result<()> {
    let numbers: Vec<usize> =
        (0..codes.len()).filter(|number| which((&codes[*number], &outcomes[*number]))).collect();
    let jobs = numbers.iter().map(|number| how(codes[*number].job.clone())).collect();
    for (number, mut outcome) in numbers.into_iter().zip(execute(scratch, jobs)?) {
        outcomes[number].runs.append(&mut outcome.runs);
    }
    Ok(())
}

/// The rows of a code: one for each label, or one that says that it has none.
fn of_code(suite: &Suite, code: &Code, outcome: &Outcome) -> Vec<Row> {
    let row = |bug: Option<Bug>, verdict| Row {
        code: code.name.clone(),
        input: code.input.clone(),
        label: bug.map_or_else(|| "none".to_owned(), Bug::name),
        verdict,
        kinds: code.refusal.as_deref().map_or_else(|| summary(outcome), in_a_cell),
    };
    if outcome.refused.is_some() {
        let all = code.bugs.iter().map(|bug| row(Some(*bug), Verdict::NotRun));
        let all: Vec<Row> = all.collect();
        return if all.is_empty() { vec![row(None, Verdict::NotRun)] } else { all };
    }
    if let Some((metric, stated)) = code.cost {
        let counts = outcome.runs.first().and_then(|run| run.counts.first());
        let counted = counts.map_or(f64::NAN, |counts| cost_of(metric, counts));
        let is_equal = counted == stated as f64;
        let verdict = if is_equal { Verdict::Found } else { Verdict::Missed };
        let (label, kinds) = (COST.to_owned(), format!("stated {stated} counted {counted}"));
        return vec![Row { label, kinds, ..row(None, verdict) }];
    }
    if code.bugs.is_empty() {
        let is_silent = !outcome.runs.iter().any(|run| {
            HANGS.iter().any(|kind| kinds(run).any(|it| it == *kind))
                || suite.speaks_of.iter().any(|bug| bug.is_shown(run))
        });
        return vec![row(None, if is_silent { Verdict::Silent } else { Verdict::Accused })];
    }
    let touched = outcome.runs.iter().filter_map(|run| run.conflicts.as_ref()).next_back();
    let verdict = |bug: Bug| {
        let counted = touched.filter(|touched| touched.touched > 0);
        let is_unexercised = counted.is_some_and(|touched| match bug {
            Bug::Race => code.races_are_global && touched.conflicting == 0,
            Bug::Bounds => touched.outside == 0,
            _ => false,
        });
        match outcome.runs.iter().any(|run| bug.is_shown(run)) {
            true => Verdict::Found,
            false if is_unexercised => Verdict::NotExercised,
            false => Verdict::Missed,
        }
    };
    code.bugs.iter().map(|bug| row(Some(*bug), verdict(*bug))).collect()
}

/// The cost of a warp.
fn cost_of(metric: Metric, counts: &Counts) -> f64 {
    let per = |amount: u64, of: u64| amount as f64 / of as f64;
    match metric {
        Metric::Conflicts => {
            let requests = counts.load_requests + counts.store_requests;
            per(counts.load_wavefronts + counts.store_wavefronts - requests, counts.warps)
        }
        Metric::Loads => per(counts.load_wavefronts, counts.load_requests),
        Metric::Stores => per(counts.store_wavefronts, counts.store_requests),
        Metric::Sectors => per(counts.sectors, counts.warps),
    }
}

impl Bug {
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// The kinds of what was found, each with the number of runs that found it.
fn summary(outcome: &Outcome) -> String {
    if let Some(why) = &outcome.refused {
        return in_a_cell(why);
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let checked = || outcome.runs.iter().filter(|run| run.conflicts.is_none());
    for kind in checked().flat_map(kinds) {
        *counts.entry(kind).or_default() += 1;
    }
    let all = checked().count();
    let each = counts.iter().map(|(kind, count)| format!("{kind} {count}/{all}"));
    each.collect::<Vec<_>>().join(" ")
}

fn in_a_cell(text: &str) -> String {
    text.replace([',', '|', '\n'], ";")
}

/// Runs jobs, as many at a time as there are processors.
fn execute(scratch: &Path, mut jobs: Vec<Job>) -> Result<Vec<Outcome>> {
    for (number, job) in jobs.iter_mut().enumerate() {
        job.name = number.to_string();
    }
    let file = scratch.join("jobs.json");
    std::fs::write(&file, serde_json::to_vec(&jobs)?)?;
    let line = "run --release --quiet -p coalesce-simt --example run_jobs --";
    let output = workspace::cargo(line).arg(&file).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`run_jobs` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let lines = text.lines().map(serde_json::from_str::<Outcome>);
    let outcomes: Vec<Outcome> = lines.collect::<Result<_, _>>()?;
    if outcomes.len() != jobs.len() {
        bail!("`run_jobs` answered {} of {} jobs", outcomes.len(), jobs.len());
    }
    Ok(outcomes)
}

/// The cost of the checks: the time of codes with this input with checks over their time without.
pub fn cost(scratch: &Path, codes: &[Code], input: &str) -> Result<String> {
    let codes = codes.iter().filter(|code| code.input == input);
    let pair = |code: &Code| {
        let schedules = SCHEDULES[..1].to_vec();
        [false, true].map(|unchecked| Job {
            unchecked,
            is_one_allocation: true,
            schedules: schedules.clone(),
            ..code.job.clone()
        })
    };
    let outcomes = execute(scratch, codes.flat_map(pair).collect())?;
    let seconds = |first: usize| -> f64 {
        let runs = outcomes.iter().skip(first).step_by(2).flat_map(|outcome| &outcome.runs);
        runs.map(|run| run.seconds).sum()
    };
    Ok(format!(
        "{:.1} times, {:.1} s over {:.1} s",
        seconds(0) / seconds(1),
        seconds(0),
        seconds(1)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::suites::compile::Unit;

    /// Judges a code with these labels by its runs, each a list of kinds and the fault behind it.
    fn verdicts(bugs: &[Bug], runs: &str) -> Vec<Verdict> {
        let outcome: Outcome = serde_json::from_str(runs).expect("an outcome");
        let suite =
            Suite { speaks_of: &[Bug::Race, Bug::Bounds], ..crate::task::suites::indigo::SUITE };
        let code = Code {
            bugs: bugs.to_vec(),
            races_are_global: true,
            ..Code::new("a", "b", Unit::default(), Job::default())
        };
        of_code(&suite, &code, &outcome).into_iter().map(|row| row.verdict).collect()
    }

    /// A run as the runner writes it.
    fn run(found: &str, notes: &str, fault: &str, conflicts: &str) -> String {
        let list = |names: &str| {
            let each = names.split_whitespace().map(|name| format!("\"{name}\": 1"));
            each.collect::<Vec<_>>().join(",")
        };
        let (found, notes) = (list(found), list(notes));
        let error = match fault {
            "" => "null".to_owned(),
            kind => format!("{{\"kind\": \"{kind}\", \"text\": \"\"}}"),
        };
        format!(
            "{{\"seconds\": 1.0, \"found\": {{{found}}}, \"notes\": {{{notes}}}, \"first\": null, \"error\": {error},
               \"conflicts\": {conflicts}, \"counts\": []}}"
        )
    }

    fn of(bugs: &[Bug], runs: &[String]) -> Vec<Verdict> {
        verdicts(bugs, &format!("{{\"runs\": [{}]}}", runs.join(",")))
    }

    #[test]
    fn a_bug_is_found_by_any_schedule_and_by_its_kind() {
        let silent = || run("", "", "", "null");
        let race = || run("GlobalRace", "", "", "null");
        assert_eq!(of(&[Bug::Race], &[silent(), race()]), [Verdict::Found]);
        assert_eq!(of(&[Bug::Race], &[silent()]), [Verdict::Missed]);
        let fault = run("", "", "IllegalAddress", "null");
        let both = [Bug::Race, Bug::Bounds];
        assert_eq!(of(&both, &[fault]), [Verdict::Missed, Verdict::Found]);
        let note = run("", "UnorderedVolatile", "", "null");
        assert_eq!(of(&[Bug::Race], &[note]), [Verdict::Found]);
    }

    #[test]
    fn a_correct_code_is_accused_by_what_its_suite_speaks_of_and_by_what_never_ends() {
        let with = |found, notes, fault| of(&[], &[run(found, notes, fault, "null")]);
        assert_eq!(with("", "", ""), [Verdict::Silent]);
        assert_eq!(with("", "SameValue", ""), [Verdict::Silent]);
        assert_eq!(with("SharedRace", "", ""), [Verdict::Accused]);
        assert_eq!(with("UninitializedLocal", "", ""), [Verdict::Silent]);
        assert_eq!(with("", "", "OutOfFuel"), [Verdict::Accused]);
    }

    #[test]
    fn what_an_input_does_not_exercise_is_counted() {
        let touched = |touched, conflicting, outside| {
            let text = format!(
                "{{\"touched\": {touched}, \"conflicting\": {conflicting}, \"outside\": {outside}}}"
            );
            of(&[Bug::Race, Bug::Bounds], &[run("", "", "", &text)])
        };
        assert_eq!(touched(9, 0, 1), [Verdict::NotExercised, Verdict::Missed]);
        assert_eq!(touched(9, 1, 0), [Verdict::Missed, Verdict::NotExercised]);
        // Nothing was counted.
        assert_eq!(touched(0, 0, 0), [Verdict::Missed, Verdict::Missed]);
    }

    #[test]
    fn what_is_refused_is_not_run() {
        let refused = r#"{"refused": "no, never"}"#;
        assert_eq!(verdicts(&[Bug::Race], refused), [Verdict::NotRun]);
        assert_eq!(verdicts(&[], refused), [Verdict::NotRun]);
    }
}
