//! Faults of a chapter: a typed figure, a task left out, a part of a section left out, a dead link.

use crate::chapter::Chapter;
use crate::directive::{Piece, directives, pieces};
use course::tasks::TASKS;
use report::markdown::CITED;
use report::publish::Page;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers that are facts of the hardware's design and no figures: with the word that follows.
const DESIGN: &[(&str, &[&str])] = &[
    ("32", &["lanes", "threads", "banks", "bytes", "neighbouring", "bits", "words", "rows"]),
    ("128", &["bytes", "aligned"]),
    ("4", &["bytes", "byte", "sectors"]),
    ("8", &["bytes", "byte"]),
    ("16", &["bytes", "byte"]),
    ("1", &["thread", "element"]),
    ("64", &["KiB"]),
    ("100", &["%"]),
    ("0", &["or"]),
];

/// Figures that somebody typed: each word of a text that begins with a digit and is no number of `DESIGN`.
pub fn typed(text: &str) -> Vec<String> {
    let mut plain = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => plain.push_str(text),
            Piece::Directive(_) => plain.push_str("DIRECTIVE"),
        }
    }
    // What is quoted as code is a name or a text of the program.
    let plain = plain.split("```").step_by(2).collect::<String>();
    let plain: String = plain.split('`').step_by(2).collect::<Vec<_>>().join("CODE");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let number = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        if !number.starts_with(|letter: char| letter.is_ascii_digit()) {
            continue;
        }
        let next = words
            .get(index + 1)
            .map_or("", |next| next.trim_end_matches([',', '.', ':', ';', ')']));
        let is_item = index + 1 < words.len() && number.len() == 1 && word.ends_with('.');
        let is_design =
            DESIGN.iter().any(|(known, after)| *known == number && after.contains(&next));
        if !is_item && !is_design {
            found.push(format!("{word} {next}"));
        }
    }
    found
}

/// Parts of every section that has a task.
const PARTS: [&str; 3] = ["**Your bet.**", "**The rule.**", "**Where it is not true.**"];
/// Headings of the places where NVIDIA's tools show a count or a hazard.
const TOOLS: [&str; 3] = ["**In ncu.**", "**In compute-sanitizer.**", "**In Nsight Systems.**"];

pub fn chapter(chapter: &Chapter) -> Vec<String> {
    let name = format!("book/text/{}.md", chapter.stem);
    let mut faults = Vec::new();
    for figure in typed(chapter.text) {
        faults
            .push(format!("{name}: `{figure}` is a figure that somebody typed: write a directive"));
    }
    for section in chapter.parts().1 {
        let tasks = directives(section.text).filter(|one| one.name == "task").count();
        if tasks == 0 {
            continue;
        }
        if tasks > 1 {
            faults.push(format!(
                "{name}: `{}` has {tasks} tasks: one section is one idea and one task",
                section.title
            ));
        }
        let missing = PARTS.iter().filter(|part| !section.text.contains(**part));
        faults.extend(missing.map(|part| format!("{name}: `{}` has no `{part}`", section.title)));
        if !TOOLS.iter().any(|part| section.text.contains(part)) {
            faults.push(format!("{name}: `{}` has no `{}`", section.title, TOOLS.join("` or `")));
        }
    }
    faults
}

/// Tasks of the course that are in no chapter, or in two places.
pub fn tasks(chapters: &[Chapter]) -> Vec<String> {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for chapter in chapters {
        for directive in directives(chapter.text).filter(|one| one.name == "task") {
            *seen.entry(directive.argument).or_default() += 1;
        }
    }
    let times = |id: &str| seen.get(id).copied().unwrap_or(0);
    let wrong = TASKS.iter().filter(|task| times(task.id()) != 1);
    wrong
        .map(|task| {
            format!(
                "the task `{}` is {} times in the book: write `{{{{task {}}}}}` into one section of book/text",
                task.id(),
                times(task.id()),
                task.id()
            )
        })
        .collect()
}

/// Links of the pages that lead nowhere, or out of the book to what no doc cites.
pub fn links(pages: &[Page]) -> Vec<String> {
    let ids: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|page| (page.file.as_str(), values(&page.text, " id=\"").collect()))
        .collect();
    let mut faults = Vec::new();
    for page in pages {
        for link in values(&page.text, "href=\"") {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { page.file.as_str() } else { file };
            let known = ids.get(file).is_some_and(|ids| anchor.is_empty() || ids.contains(anchor))
                || CITED.iter().any(|(_, address)| *address == link);
            if !known {
                faults.push(format!(
                    "{}: a link leads to `{link}`, which is not in the book",
                    page.file
                ));
            }
        }
    }
    faults
}

/// Brackets of a rendered text that became no link: `[sektor]`.
pub fn brackets(html: &str) -> Vec<String> {
    let outside = html
        .split("<code>")
        .map(|part| part.split_once("</code>").map_or(part, |(_, after)| after));
    let text: String = outside.collect();
    let found = text.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0.to_owned()));
    found.collect()
}

/// Returns what stands in quotes behind each of these.
fn values<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
}
