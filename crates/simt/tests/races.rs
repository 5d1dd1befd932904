//! A corpus of races: a matrix of memory space x scope x form of synchronization. Each case is a bug
//! and its repaired twin; the bug is found with both accesses named and the twin is silent, in every
//! schedule and on one thread and on four.

#[path = "races/kernels.rs"]
mod kernels;
#[path = "races/others.rs"]
mod others;
#[path = "races/passing.rs"]
mod passing;

use kernels::{Grid, HEAD, entry, outcome, ways};
use simt::{Finding, Hazard};

/// What has to be found, whichever access came first.
pub struct Expected {
    hazard: Hazard,
    instructions: [String; 2],
}

/// A bug and its repaired twin.
pub struct Case {
    name: String,
    grid: Grid,
    broken: String,
    expected: Expected,
    repaired: String,
}

impl Expected {
    fn is(&self, finding: &Finding) -> bool {
        let [a, b] = &self.instructions;
        let other = finding.other.as_ref().map(|place| &place.instruction);
        let these = (&finding.place.instruction, other);
        finding.hazard == self.hazard && (these == (a, Some(b)) || these == (b, Some(a)))
    }
}

fn all() -> Vec<Case> {
    passing::cases().into_iter().chain(others::cases()).collect()
}

#[test]
fn every_race_is_found_and_nothing_else() {
    let (mut missed, mut accused) = (Vec::new(), Vec::new());
    let cases = all();
    for case in &cases {
        for way in ways() {
            match outcome(&case.broken, case.grid, way) {
                Ok(report) if report.findings.iter().any(|found| case.expected.is(found)) => {}
                Ok(report) => missed.push(format!("{}, {way:?}: {:?}", case.name, report.findings)),
                Err(error) => missed.push(format!("{}, {way:?}: {error}", case.name)),
            }
            match outcome(&case.repaired, case.grid, way) {
                Ok(report) => {
                    let found = report.findings.iter();
                    accused.extend(found.map(|f| format!("{}, {way:?}: {f}", case.name)));
                }
                Err(error) => accused.push(format!("{}, {way:?}: {error}", case.name)),
            }
        }
    }
    println!("{} pairs", cases.len());
    let show = |list: &[String]| list.iter().map(|line| format!("\n  {line}")).collect::<String>();
    assert!(missed.is_empty(), "{} missed:{}", missed.len(), show(&missed));
    assert!(accused.is_empty(), "{} accused:{}", accused.len(), show(&accused));
    assert!(cases.len() >= 280);
}

/// Writes the corpus as one module, `races.ptx`, and as a table of its launches, `races.tsv`, into the folder that
/// `COALESCE_RACES` names, for a GPU and compute-sanitizer (`tests/race_runs.rs`).
#[test]
#[ignore = "writes files"]
fn the_corpus_is_written_as_a_module() {
    let folder = std::env::var_os("COALESCE_RACES").expect("COALESCE_RACES names a folder");
    let (mut module, mut table) = (HEAD.to_owned(), String::new());
    for (index, case) in all().iter().enumerate() {
        for (kind, body) in [("broken", &case.broken), ("repaired", &case.repaired)] {
            let (name, Grid(blocks, threads, cluster)) =
                (format!("races_{index}_{kind}"), case.grid);
            module += &entry(&name, body);
            table += &format!("{name}\t{blocks}\t{threads}\t{cluster}\t{}\n", case.name);
        }
    }
    let folder = std::path::Path::new(&folder);
    std::fs::write(folder.join("races.ptx"), module).expect("a writable folder");
    std::fs::write(folder.join("races.tsv"), table).expect("a writable folder");
}
