//! The book: chapters in `book/text`, and everything else from the repository's own sources.
//!
//! A chapter is plain Markdown with directives such as `{{count coalescing/strided load_sectors}}`. Each is bound to a
//! source: a pattern's doc, a kernel's function, a count that executing it gave, a committed measurement, a task of the
//! course, a myth. An unknown name fails the build, and so does a figure that somebody typed. So a wrong number cannot
//! be written, and a right one cannot become stale.
#![allow(missing_docs, reason = "this crate is not published")]

pub mod answers;
mod bug;
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
use directive::directives;
use maud::{Markup, PreEscaped, html};
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
    let myths = table::myth_pages(sources);
    let navigation = navigation(&places, &myths)?;
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
        pages.push(Page {
            file: chapter.file(),
            text: framed(index, chapter, &navigation, &content),
        });
    }
    let first = ("", Link { file: CHAPTERS[0].file(), name: "Contents".to_owned() });
    let additions =
        Additions { style: STYLE, script: SCRIPT, navigation: &navigation, ..Additions::default() };
    let words = lesson::content();
    let text = page_with("Glossary", std::slice::from_ref(&first), &words, additions);
    pages.push(Page { file: glossary::PAGE.to_owned(), text });
    let all = ("← ", Link { file: "myths.html".to_owned(), name: "All myths".to_owned() });
    for myth in myths {
        let title = format!("Myth: {}", myth.claim);
        let description = "A rule about GPU memory, and the figures that refute it.";
        let text = page_with(
            &title,
            &[first.clone(), all.clone()],
            &myth.content,
            Additions { description, ..additions },
        );
        pages.push(Page { file: myth.file, text });
    }
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
fn framed(index: usize, chapter: &Chapter, navigation: &str, content: &Markup) -> String {
    let link = |chapter: &Chapter| Link { file: chapter.file(), name: chapter.title() };
    let mut links = Vec::new();
    if index > 0 {
        links.push(("", Link { file: CHAPTERS[0].file(), name: "Contents".to_owned() }));
        links.push(("← ", link(&CHAPTERS[index - 1])));
    }
    links.extend(CHAPTERS.get(index + 1).map(|after| ("→ ", link(after))));
    links.push(("", Link { file: glossary::PAGE.to_owned(), name: "Glossary".to_owned() }));
    let title = format!("{}: the book of Coalesce", chapter.title());
    let description = "Learn how GPU memory works: bet on what a kernel moves, see it counted, and repair it. No GPU needed.";
    let additions = Additions { style: STYLE, script: SCRIPT, policy: "", description, navigation };
    page_with(&title, &links, content, additions)
}

/// All chapters, how many of their bets are made, and a search over sections, myths and terms.
fn navigation(places: &Places, myths: &[table::MythPage]) -> Result<String> {
    let mut found: Vec<[String; 3]> = Vec::new();
    for chapter in CHAPTERS {
        found.push([chapter.title(), chapter.file(), String::new()]);
        for section in chapter.parts().1 {
            let words: Vec<&str> =
                directives(section.text).flat_map(|one| one.argument.split_whitespace()).collect();
            let target = format!("{}#{}", chapter.file(), glossary::anchor(section.title));
            found.push([section.title.to_owned(), target, words.join(" ")]);
        }
    }
    found.extend(
        myths
            .iter()
            .map(|myth| [format!("Myth: {}", myth.claim), myth.file.clone(), String::new()]),
    );
    found.extend(glossary::terms(glossary::TEXT).iter().map(|term| {
        let target = format!("{}#{}", glossary::PAGE, term.anchor());
        [format!("Term: {}", term.name), target, String::new()]
    }));
    // A name of a pattern may not end the script that holds it.
    let found = serde_json::to_string(&found)?.replace('<', "\\u003c");
    let bets = |chapter: &Chapter| -> String {
        let named = directives(chapter.text).flat_map(|one| match one.name {
            "task" => task::names(one.argument),
            "bet" => vec![one.argument.replace(' ', "-")],
            _ => Vec::new(),
        });
        named.collect::<Vec<_>>().join(" ")
    };
    let markup = html! {
        details.contents {
            summary { "All chapters" }
            p.find hidden {
                label for="find" { "Search" } " "
                input id="find" type="search" autocomplete="off";
            }
            ol.hits id="hits" hidden {}
            ul {
                @for chapter in CHAPTERS {
                    li data-bets=(bets(chapter)) {
                        @if !["0", ""].contains(&chapter.number) { span.number { (chapter.number) } " " }
                        a href=(chapter.file()) { (chapter.title()) } " " span.made {}
                    }
                }
                @if places.has_playground { li { a href="playground.html" { "The playground" } } }
            }
        }
        script id="places" type="application/json" { (PreEscaped(found)) }
    };
    Ok(markup.into_string())
}
