//! Turns result files into HTML pages, tables, plots and pictures that people can read without a network.
//!
//! Everything is a pure function of result files and counts: no device, no executor and no source file is needed. A
//! report has a summary, a page per pattern and the glossary. A page contains its style, its plots and its script;
//! without the script only the sorting of tables is missing.
//!
//! ```no_run
//! let files = ["today.json".into(), "yesterday.json".into()];
//! report::write(&files, &[], None, &report::Options::default(), "report".as_ref())?;
//! # anyhow::Ok(())
//! ```

mod before_after;
pub mod chart;
mod cost;
mod environment;
pub mod first_screen;
pub mod fleet;
pub mod foreign;
pub mod glossary;
mod ladder;
pub mod lesson;
pub mod machine_code;
pub mod markdown;
pub mod measured;
mod method;
mod myths;
pub mod page;
pub mod picture;
pub mod plot;
pub mod profile;
pub mod publish;
mod roofline;
mod runs;
pub mod screen;
pub mod source;
mod step;
mod subject;
mod summary;
mod sweep;
pub mod tabulate;
mod verdict;

use anyhow::Result;
use machine_code::MachineCode;
use page::Link;
use publish::Page;
use results::{Counts, Renamed};
pub use runs::stem;
use runs::{Runs, Subject};
use std::path::{Path, PathBuf};

/// Additions of a report to the figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The kernels' machine code, as `nvdisasm --print-code --print-line-info-inline` prints it.
    pub machine_code: Option<&'a Path>,
    /// Address of the sources, such as `https://github.com/owner/name`: a report has no links to them without it.
    pub repository: Option<&'a str>,
}

/// Writes a report of the first file, compared with the others, as a folder of pages; `index.html` is the first.
///
/// What is known of the patterns is `counts`, or else what the first file that has counts says.
///
/// # Errors
/// A file that is no result file or has no row in common with the first, one that is no machine code, a folder that
/// cannot be written or holds something else than a report; a folder that was there stays as it was.
pub fn write(
    files: &[PathBuf],
    renamed: &[Renamed],
    counts: Option<Counts>,
    options: &Options<'_>,
    folder: &Path,
) -> Result<()> {
    let mut runs = Runs::load(files, renamed, counts)?;
    runs.repository = options.repository.map(str::to_owned);
    let machine_code = options.machine_code.map(MachineCode::load).transpose()?.unwrap_or_default();
    publish::check(folder)?;
    publish::publish(folder, &pages(&runs, &machine_code))
}

/// Fails if a report cannot be written into a folder: to be asked before long work, not after it.
///
/// # Errors
/// Something else than a report is there, or the folder around it takes no files.
pub fn check_folder(folder: &Path) -> Result<()> {
    publish::check(folder).map(drop)
}

/// The plot of each pattern's ladder as an SVG file: its name and its text.
///
/// # Errors
/// What is no result file.
pub fn plots(file: &Path, renamed: &[Renamed]) -> Result<Vec<(String, String)>> {
    let runs = Runs::load(&[file.to_owned()], renamed, None)?;
    let drawn = runs.subjects().into_iter().filter_map(|subject| {
        let plot = ladder::plot(&runs, subject.name)?;
        Some((format!("{}.svg", subject.name), plot::alone(&plot)))
    });
    Ok(drawn.collect())
}

/// All pages.
fn pages(runs: &Runs, machine_code: &MachineCode) -> Vec<Page> {
    let subjects = runs.subjects();
    let first = Link { file: "index.html".to_owned(), name: "all patterns".to_owned() };
    let link = |subject: &Subject<'_>| Link {
        file: format!("{}.html", subject.name),
        name: subject.name.to_owned(),
    };
    let title = format!("Memory patterns on {}", runs.main.results.environment.device.name);
    let summary = summary::content(runs, &subjects);
    let mut pages =
        vec![Page { file: first.file.clone(), text: page::page(&title, &[], &summary) }];
    let words =
        page::page(&format!("glossary: {title}"), &[("", first.clone())], &lesson::content());
    pages.push(Page { file: glossary::PAGE.to_owned(), text: words });
    if let Some(text) = runs.myths() {
        let content = myths::content(text);
        let text = page::page(&format!("myths: {title}"), &[("", first.clone())], &content);
        pages.push(Page { file: myths::PAGE.to_owned(), text });
    }
    if let Some(other) = runs.compared() {
        let content = before_after::content(runs, other);
        let title = format!("{} and {}", runs.main.file, other.file);
        let text = page::page(&title, &[("", first.clone())], &content);
        pages.push(Page { file: before_after::PAGE.to_owned(), text });
    }
    for (index, subject) in subjects.iter().enumerate() {
        let mut links = vec![("", first.clone())];
        let before = index.checked_sub(1).and_then(|before| subjects.get(before));
        links.extend(before.map(|before| ("← ", link(before))));
        links.extend(subjects.get(index + 1).map(|after| ("→ ", link(after))));
        let content = subject::content(runs, *subject, machine_code);
        let Link { file, name } = link(subject);
        pages.push(Page { file, text: page::page(&format!("{name}: {title}"), &links, &content) });
    }
    pages
}
