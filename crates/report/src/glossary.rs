//! The glossary, and what docs owe to it: links to its terms, which a terminal shows as plain text.
//!
//! ```
//! use report::glossary::{TEXT, find};
//!
//! let term = find(TEXT, "Sectors").expect("the glossary explains it");
//! assert_eq!(term.anchor(), "sector");
//! ```

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The glossary, Markdown: a `## ` heading per term.
pub const TEXT: &str = include_str!("glossary.md");

/// Definitions of links to its terms, which every module of a pattern includes.
const LINKS: &str = include_str!("links.md");

/// Beginning of a link to a term in the doc of a pattern, before the term's anchor.
pub const TARGET: &str = "cuda_std::glossary#";

/// The page of the report that holds it.
pub const PAGE: &str = "glossary.html";

/// A term and its explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// The heading.
    pub name: &'a str,
    /// Text behind the heading, up to the next term or to a part that is no term, such as the index.
    pub text: &'a str,
}

impl Term<'_> {
    /// Returns what a link to it ends with.
    pub fn anchor(&self) -> String {
        anchor(self.name)
    }
}

/// The anchor of a heading, the same as rustdoc and GitHub make of it.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The terms of a glossary, in its order.
pub fn terms(glossary: &str) -> Vec<Term<'_>> {
    let sections = glossary.split("\n## ").skip(1);
    sections
        .filter_map(|section| section.split_once('\n'))
        .map(|(name, text)| (name, text.split("\n# ").next().unwrap_or(text)))
        .map(|(name, text)| Term { name: name.trim(), text: text.trim() })
        .collect()
}

/// The term of this name in any spelling of case, or in the plural.
pub fn find<'a>(glossary: &'a str, name: &str) -> Option<Term<'a>> {
    let wanted = anchor(name.trim());
    let singular = wanted.strip_suffix('s').unwrap_or(&wanted);
    let is = |term: &Term<'_>| [wanted.as_str(), singular].contains(&term.anchor().as_str());
    terms(glossary).into_iter().find(is)
}

/// The terms between the lines `<!-- core -->` and `<!-- /core -->`: a doc links each where it uses it first.
pub fn core(glossary: &str) -> Vec<String> {
    let block = block(glossary, "core").map(|range| &glossary[range]).unwrap_or_default();
    let items = block.split(['[', ']']).skip(1).step_by(2);
    items.map(|item| item.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Returns what lies between the lines `<!-- NAME -->` and `<!-- /NAME -->` of a doc.
pub fn block(doc: &str, name: &str) -> Option<Range<usize>> {
    let open = format!("<!-- {name} -->\n");
    let start = doc.find(&open)? + open.len();
    let end = start + doc[start..].find(&format!("<!-- /{name} -->"))?;
    Some(start..end)
}

/// The doc on top of a source file: its `//!` lines.
pub fn doc_of(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}

/// A doc with the definitions of the links to terms that it uses and does not define.
pub fn linked(doc: &str) -> String {
    let mut used = std::collections::BTreeSet::new();
    let mut undefined = |link: BrokenLink<'_>| -> Option<(CowStr<'_>, CowStr<'_>)> {
        let label = link.reference.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let defines = |line: &&str| line.to_lowercase().starts_with(&format!("[{label}]: "));
        used.extend(LINKS.lines().find(defines));
        None
    };
    let options = Options::ENABLE_TABLES;
    Parser::new_with_broken_link_callback(doc, options, Some(&mut undefined)).for_each(drop);
    if used.is_empty() {
        return doc.to_owned();
    }
    let definitions = used.into_iter().flat_map(|line| [line, "\n"]);
    [doc, "\n"].into_iter().chain(definitions).collect()
}

/// A doc as a terminal shows it: without comments, without link definitions, and without the brackets of links.
pub fn plain(doc: &str) -> String {
    let parser = Parser::new_ext(doc, Options::ENABLE_TABLES);
    let mut cuts: Vec<(Range<usize>, &str)> = Vec::new();
    for (_, definition) in parser.reference_definitions().iter() {
        cuts.push((definition.span.clone(), ""));
    }
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(Tag::Link { link_type, .. }) if is_reference(link_type) => {
                let source = &doc[range.clone()];
                let text = source.trim_start_matches('[').split(']').next().unwrap_or(source);
                cuts.push((range, text));
            }
            Event::Html(text) if text.starts_with("<!--") => cuts.push((range, "")),
            _ => {}
        }
    }
    cuts.sort_by_key(|(range, _)| range.start);
    let (mut out, mut done) = (String::new(), 0);
    for (range, text) in cuts {
        out += &doc[done..range.start];
        out += text;
        done = range.end;
        // What was a whole line goes with its end.
        let is_line = doc[..done].ends_with('\n') || !doc[done..].starts_with('\n');
        if text.is_empty() && !is_line {
            done += 1;
        }
    }
    out += &doc[done..];
    let ends = if doc.ends_with('\n') { "\n" } else { "" };
    // What stood around a line that is gone are two empty lines now.
    let mut lines: Vec<&str> = out.lines().collect();
    lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
    lines.join("\n").trim_end().to_owned() + ends
}

fn is_reference(link: LinkType) -> bool {
    matches!(link, LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut)
}

/// Kinds of a doc's text that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocPart {
    /// Paragraphs and lists.
    Prose,
    /// Headings, tables and pictures, too; no code.
    All,
}

/// The text of a doc without its marks: what stands for a code span is `\u{FFFC}`, and paragraphs are lines.
#[derive(Debug, Default)]
pub struct Prose {
    /// The text.
    pub text: String,
    /// Links in the text: the range of each and its target.
    pub links: Vec<(Range<usize>, String)>,
    /// Texts in brackets that are no links, because nothing defines them.
    pub undefined: Vec<String>,
}

/// The text of a doc without its marks.
pub fn prose(doc: &str, part: DocPart) -> Prose {
    let mut undefined = Vec::new();
    // Code in brackets is a link that rustdoc resolves by itself.
    let mut broken = |link: BrokenLink<'_>| -> Option<(CowStr<'_>, CowStr<'_>)> {
        if !link.reference.starts_with('`') {
            undefined.push(link.reference.to_string());
        }
        None
    };
    let options = Options::ENABLE_TABLES;
    let events = Parser::new_with_broken_link_callback(doc, options, Some(&mut broken));
    let mut prose = Prose::default();
    let mut outside = 0_usize;
    let mut link = None;
    for event in events {
        match event {
            Event::Start(tag) if is_outside(&tag, part) => outside += 1,
            Event::End(TagEnd::CodeBlock) if part == DocPart::All && outside == 0 => {
                prose.text += "\n"
            }
            Event::End(
                TagEnd::CodeBlock | TagEnd::Heading(_) | TagEnd::Table | TagEnd::HtmlBlock,
            ) if outside > 0 => {
                outside -= 1;
                prose.text += "\n";
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                link = Some((prose.text.len(), dest_url.to_string()));
            }
            Event::End(TagEnd::Link) => {
                let end = prose.text.len();
                prose.links.extend(link.take().map(|(start, target)| (start..end, target)));
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item) => prose.text += "\n",
            Event::End(TagEnd::TableCell) if outside == 0 => prose.text += "\n",
            Event::Text(text) if outside == 0 => prose.text += &text,
            Event::Code(_) if outside == 0 => prose.text.push('\u{FFFC}'),
            Event::SoftBreak | Event::HardBreak if outside == 0 => prose.text.push(' '),
            _ => {}
        }
    }
    prose.undefined = undefined;
    prose
}

/// Returns whether what a tag begins is not read.
fn is_outside(tag: &Tag<'_>, part: DocPart) -> bool {
    use pulldown_cmark::CodeBlockKind::Fenced;
    match tag {
        Tag::CodeBlock(Fenced(language)) if part == DocPart::All => &**language != "text",
        Tag::Heading { .. } | Tag::Table(_) => part == DocPart::Prose,
        Tag::CodeBlock(_) | Tag::HtmlBlock => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOC: &str = "# T\n\nA [warp] has [lanes][lane]; `a[i]` and [x] stay.\n\n<!-- measured -->\n| a |\n|---|\n| 1 |\n<!-- /measured -->\n\n```text\n[warp]\n```\n\nEnd.\n\n[warp]: cuda_std::glossary#warp\n[lane]: cuda_std::glossary#lane\n";

    #[test]
    fn a_terminal_shows_no_links_and_no_comments() {
        let expected = "# T\n\nA warp has lanes; `a[i]` and [x] stay.\n\n| a |\n|---|\n| 1 |\n\n```text\n[warp]\n```\n\nEnd.\n";
        assert_eq!(plain(DOC), expected);
        assert_eq!(plain(expected), expected);
    }

    #[test]
    fn prose_has_its_links_and_tells_what_nothing_defines() {
        let found = prose(DOC, DocPart::Prose);
        let lines: Vec<_> = found.text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["A warp has lanes; \u{FFFC} and [x] stay.", "End."]);
        let links: Vec<_> =
            found.links.iter().map(|(at, to)| (&found.text[at.clone()], to.as_str())).collect();
        assert_eq!(
            links,
            [("warp", "cuda_std::glossary#warp"), ("lanes", "cuda_std::glossary#lane")]
        );
        assert_eq!(found.undefined, ["x"]);
        assert!(prose(DOC, DocPart::All).text.contains("[warp]"));
    }

    #[test]
    fn a_doc_gets_the_links_that_it_uses() {
        for term in terms(TEXT) {
            let doc = format!("A [word] and\n[{}].\n", term.name);
            let target = format!("]: {TARGET}{}\n", term.anchor());
            let added = linked(&doc)[doc.len()..].to_lowercase();
            assert_eq!(added, format!("\n[{}{target}", term.name).to_lowercase());
        }
        assert_eq!(linked(DOC), DOC, "it defines all that it uses");
    }

    #[test]
    fn a_term_is_found_by_its_name_in_any_case_and_in_the_plural() {
        let glossary = "# G\n\nFirst.\n\n<!-- core -->\n[warp], [bank\nconflict]\n<!-- /core -->\n\n## warp\n\nOne.\n\n## bank conflict\n\nTwo.\n";
        assert_eq!(terms(glossary).len(), 2);
        for name in ["bank conflict", "Bank-conflicts", " bank conflicts"] {
            let found = find(glossary, name).unwrap_or_else(|| panic!("no {name}"));
            assert_eq!((found.anchor().as_str(), found.text), ("bank-conflict", "Two."));
        }
        assert_eq!(find(glossary, "ban"), None);
        assert_eq!(core(glossary), ["warp", "bank conflict"]);
    }
}
