//! The book: chapters in `book/text`, and everything else from the repository's own sources.
//!
//! A chapter is plain Markdown with directives such as `{{count coalescing/strided load_sectors}}`. Each is bound to a
//! source: a pattern's doc, a kernel's function, a count that executing it gave, a committed measurement, a task of the
//! course, a myth. An unknown name fails the build, and so does a figure that somebody typed. So a wrong number cannot
//! be written, and a right one cannot become stale.
#![allow(missing_docs, reason = "this crate is not published")]

pub mod answers;
pub mod chapter;
pub mod check;
mod course_page;
mod directive;
pub mod figure;
pub mod pairs;
mod playground;
mod section;
mod sources;
mod table;
mod task;
mod widget;

pub use course_page::{check_page as course_check_page, page as course_page};
pub use directive::Places;
pub use playground::page as playground;
pub use section::blocks as render;
pub use sources::Sources;

use anyhow::{Result, bail};
use chapter::{CHAPTERS, Chapter};
use maud::Markup;
use report::page::{Additions, Link, page_with};
use report::publish::Page;
use report::{glossary, lesson};

const STYLE: &str = include_str!("book.css");
const SCRIPT: &str = concat!(include_str!("guess.js"), include_str!("widgets.js"));

/// All pages of the book; `playground` is that of the executor, if it was built.
///
/// # Errors
/// One sentence per fault: an unknown name, a figure that was typed, a task without a place, a section without one of
/// its parts, a link that leads nowhere.
pub fn pages(sources: &Sources, playground: Option<Page>) -> Result<Vec<Page>> {
    let places = Places::of(CHAPTERS, playground.is_some());
    let mut faults = check::tasks(CHAPTERS);
    let mut pages = Vec::new();
    for (index, chapter) in CHAPTERS.iter().enumerate() {
        faults.extend(check::chapter(chapter));
        let content = match section::content(sources, &places, chapter) {
            Ok(content) => content,
            Err(error) => {
                faults.push(format!("book/text/{}.md: {error:#}", chapter.stem));
                continue;
            }
        };
        pages.push(Page { file: chapter.file(), text: framed(index, chapter, &content) });
    }
    let words = lesson::content();
    let first = ("", Link { file: CHAPTERS[0].file(), name: "the book".to_owned() });
    let text =
        page_with("Glossary", &[first], &words, Additions { style: STYLE, ..Additions::default() });
    pages.push(Page { file: glossary::PAGE.to_owned(), text });
    pages.extend(playground);
    if faults.is_empty() {
        faults = check::links(&pages);
    }
    if !faults.is_empty() {
        bail!("{} fault(s) in the book:\n  {}", faults.len(), faults.join("\n  "));
    }
    Ok(pages)
}

/// A chapter between the one before and the one after.
fn framed(index: usize, chapter: &Chapter, content: &Markup) -> String {
    let link = |chapter: &Chapter| Link { file: chapter.file(), name: chapter.title() };
    let mut links = Vec::new();
    if index > 0 {
        links.push(("", Link { file: CHAPTERS[0].file(), name: "Contents".to_owned() }));
        links.push(("← ", link(&CHAPTERS[index - 1])));
    }
    links.extend(CHAPTERS.get(index + 1).map(|after| ("→ ", link(after))));
    links.push(("", Link { file: glossary::PAGE.to_owned(), name: "Glossary".to_owned() }));
    let title = format!("{}: the book of Coalesce", chapter.title());
    let additions = Additions { style: STYLE, script: SCRIPT, policy: "" };
    page_with(&title, &links, content, additions)
}
