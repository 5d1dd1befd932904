//! A report: result files as pages that a browser shows without a network.
//!
//! One page of summary, one page per pattern. All that a page needs is in it: style, plots, and a script without which
//! only the sorting of tables is missing.

mod counts;
mod ladder;
mod machine_code;
mod markdown;
mod page;
mod plot;
mod publish;
mod roofline;
mod runs;
mod source;
mod subject;
mod summary;
mod sweep;

use crate::pattern::Pattern;
use crate::picture;
use anyhow::Result;
use counts::Counts;
use machine_code::MachineCode;
use page::Link;
use publish::Page;
use runs::{Runs, Subject};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Writes a report of the first file, compared with the others, as a folder of pages; `index.html` is the first.
///
/// Kernels are shown with their machine code when a file has it, as `nvdisasm --print-code --print-line-info-inline`
/// prints it.
///
/// # Errors
/// A file that is no result file or has no row in common with the first, one that is no machine code, a folder that
/// cannot be written or holds something else than a report; a folder that was there stays as it was.
pub fn write(files: &[PathBuf], machine_code: Option<&Path>, folder: &Path) -> Result<()> {
    let runs = Runs::load(files)?;
    let machine_code = machine_code.map(MachineCode::load).transpose()?.unwrap_or_default();
    publish::check(folder)?;
    publish::publish(folder, &pages(&runs, &machine_code)?)
}

/// The plot of each pattern's ladder as an SVG file: its name and its text.
///
/// # Errors
/// What is no result file.
pub fn plots(file: &Path) -> Result<Vec<(String, String)>> {
    let runs = Runs::load(&[file.to_owned()])?;
    let drawn = runs.subjects().into_iter().filter_map(|subject| {
        let plot = ladder::plot(&runs, subject.name)?;
        Some((format!("{}.svg", subject.name), plot::alone(&plot)))
    });
    Ok(drawn.collect())
}

/// The pictures of a pattern's variants by their names, SVG elements that are put into the page as they are.
type Pictures = BTreeMap<&'static str, String>;

/// The pictures of a pattern. They take seconds and never change, so that a second report has those of the first.
fn pictures(pattern: &'static Pattern, counts: &Counts) -> Result<Pictures> {
    static DRAWN: Mutex<BTreeMap<&str, Pictures>> = Mutex::new(BTreeMap::new());
    let mut known = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pictures) = known.get(pattern.name) {
        return Ok(pictures.clone());
    }
    let drawn = picture::of(pattern, pattern.variants.iter(), counts)?;
    let pictures: Pictures = drawn.into_iter().map(|(variant, svg)| (variant.name, svg)).collect();
    known.insert(pattern.name, pictures.clone());
    Ok(pictures)
}

/// All pages.
fn pages(runs: &Runs, machine_code: &MachineCode) -> Result<Vec<Page>> {
    let subjects = runs.subjects();
    let counts = counts::count_all(subjects.iter().filter_map(|subject| subject.pattern))?;
    let first = Link { file: "index.html".to_owned(), name: "all patterns".to_owned() };
    let link = |subject: &Subject<'_>| Link {
        file: format!("{}.html", subject.name),
        name: subject.name.to_owned(),
    };
    let title = format!("Memory patterns on {}", runs.main.results.environment.device.name);
    let summary = summary::content(runs, &subjects, &counts);
    let mut pages =
        vec![Page { file: first.file.clone(), text: page::page(&title, &[], &summary) }];
    for (index, subject) in subjects.iter().enumerate() {
        let mut links = vec![("", first.clone())];
        let before = index.checked_sub(1).and_then(|before| subjects.get(before));
        links.extend(before.map(|before| ("← ", link(before))));
        links.extend(subjects.get(index + 1).map(|after| ("→ ", link(after))));
        let pictures = match (subject.pattern, counts.get(subject.name)) {
            (Some(pattern), Some(own)) => pictures(pattern, own)?,
            _ => Pictures::new(),
        };
        let content = subject::content(runs, *subject, &counts, &pictures, machine_code);
        let Link { file, name } = link(subject);
        pages.push(Page { file, text: page::page(&format!("{name}: {title}"), &links, &content) });
    }
    Ok(pages)
}
