//! A chapter as HTML: its text, and in it what its directives name.

use crate::chapter::{CHAPTERS, Chapter, Section};
use crate::directive::{Directive, Piece, Places, directives, inline, pieces};
use crate::sources::Sources;
use crate::{bug, check, table, task, widget};
use anyhow::{Context, Result, bail};
use maud::{Markup, PreEscaped, html};
use report::glossary::{self, anchor};
use report::{markdown, picture, source};
use std::collections::BTreeSet;

pub fn content(sources: &Sources, places: &Places, chapter: &Chapter) -> Result<Markup> {
    let (introduction, sections) = chapter.parts();
    let is_measured = ["{{measured ", "{{times ", "{{ladder ", "{{peak "]
        .iter()
        .any(|name| chapter.text.contains(name));
    let introduction = blocks(sources, places, introduction)?;
    let sections = sections
        .into_iter()
        .map(|Section { title, text }| {
            let body = section(sources, places, text).with_context(|| format!("`{title}`"))?;
            Ok(html! {
                section {
                    h2 id=(anchor(title)) { (markdown::sentence(title)) }
                    (body)
                }
            })
        })
        .collect::<Result<Vec<Markup>>>()?;
    Ok(html! {
        h1 { @if !["0", ""].contains(&chapter.number) { span.number { (chapter.number) } " " } (chapter.title()) }
        (introduction)
        @for section in &sections { (section) }
        @if is_measured {
            p.origin { "Times were measured on one " (sources.device()) ". Counts are the executor's, of commit " (sources.counts.commit) ", and the same on every machine." }
        }
    })
}

/// A section: where it has a task, the bet comes first, and what answers it is folded by the script until there is one.
fn section(sources: &Sources, places: &Places, text: &str) -> Result<Markup> {
    let task = directives(text).find(|one| one.name == "task").map(|one| one.argument);
    let bet = text.find(BET).and_then(|at| Some(at + text[at..].find("\n\n")?));
    let (Some(id), Some(bet)) = (task, bet) else { return blocks(sources, places, text) };
    let (before, after) = text.split_at(bet);
    let (answer, rest) = after.split_at(after.find("{{task ").unwrap_or(after.len()));
    Ok(html! {
        (blocks(sources, places, before)?)
        (task::bets(sources, id)?)
        div.after-bet { (blocks(sources, places, answer)?) }
        (blocks(sources, places, rest)?)
    })
}

/// Begins the paragraph that asks.
const BET: &str = "**Your bet.**";

/// Markdown with what its directives name in their place.
pub fn blocks(sources: &Sources, places: &Places, text: &str) -> Result<Markup> {
    let (mut out, mut open) = (String::new(), String::new());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => open.push_str(text),
            Piece::Directive(directive) => match inline(sources, places, directive)? {
                Some(text) => open.push_str(&text),
                None => {
                    flush(&mut open, &mut out)?;
                    out.push_str(&block(sources, places, directive)?.into_string());
                }
            },
        }
    }
    flush(&mut open, &mut out)?;
    Ok(PreEscaped(out))
}

/// Renders what has come together, with links to the glossary.
fn flush(open: &mut String, out: &mut String) -> Result<()> {
    if !open.trim().is_empty() {
        let terms = glossary::terms(glossary::TEXT);
        let links = terms.iter().map(|term| {
            let (anchor, definition) = (term.anchor(), definition(term.text));
            format!("[{}]: {}{anchor} \"{definition}\"\n", term.name, glossary::TARGET)
        });
        let text = format!("{open}\n\n{}", links.collect::<String>());
        out.push_str("<div class=\"prose\">");
        let html = markdown::body(&text).into_string();
        if let Some(name) = check::brackets(&html).first() {
            bail!("`[{name}]` is no term of docs/glossary.md");
        }
        out.push_str(&html);
        out.push_str("</div>");
    }
    open.clear();
    Ok(())
}

/// The first sentence of a term's text without marks, for who points at a link to it.
fn definition(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = words.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let (mut plain, mut before, mut is_target) = (String::new(), ' ', false);
    for letter in sentence.chars() {
        match letter {
            '[' => is_target = before == ']',
            ']' => is_target = false,
            '`' | '"' | '*' | '\\' => {}
            _ if is_target => {}
            _ => plain.push(letter),
        }
        before = letter;
    }
    plain
}

fn block(sources: &Sources, places: &Places, directive: Directive<'_>) -> Result<Markup> {
    let Directive { name, argument } = directive;
    let words: Vec<&str> = argument.split_whitespace().collect();
    Ok(match (name, &words[..]) {
        ("doc", [pattern]) => {
            let pattern = sources.pattern(pattern)?;
            let doc = markdown::doc(&pattern.doc);
            html! {
                details.lesson id=(format!("pattern-{}", pattern.name)) {
                    summary { "The whole lesson: " (doc.title) }
                    div.prose { (doc.body) }
                    p { "Source: " code { (pattern.file) } ". In the terminal: " code { "coalesce explain " (pattern.name) } }
                }
            }
        }
        ("kernel", [variant]) => {
            let (pattern, found) = sources.variant(variant)?;
            let kernel =
                found.kernels.first().with_context(|| format!("`{variant}` has no kernel"))?;
            let text = with_helpers(&pattern.source, &kernel.name);
            let text =
                text.with_context(|| format!("{} has no `fn {}`", pattern.file, kernel.name))?;
            html! { figure.code { pre tabindex="0" { code { (text) } } figcaption { code { (variant) } ", from " code { (pattern.file) } } } }
        }
        ("ladder", [pattern, variants @ ..]) => table::ladder(sources, pattern, variants)?,
        (how @ ("picture" | "moving"), [variant]) => {
            let (pattern, found) = sources.variant(variant)?;
            let draw = if how == "moving" { picture::moving } else { picture::of };
            let picture = draw(pattern, found);
            let picture = picture.with_context(|| format!("`{variant}` has no picture"))?;
            html! { figure.scroll tabindex="0" { (PreEscaped(picture)) } }
        }
        ("task", [id]) => task::task(id)?,
        ("bug", [id]) => bug::lanes_of_time(sources, id)?,
        ("bet", [id, index]) => task::bet(sources, places, id, index)?,
        ("score", []) => html! { div.score hidden {} },
        ("myth", _) => table::myth(sources, argument)?,
        ("myths", []) => table::myths(sources),
        ("widget", [name]) => widget::widget(sources, name)?,
        ("counters", []) => table::counters(),
        ("wrong", []) => table::wrong(sources)?,
        ("accuracy", []) => table::accuracy(sources)?,
        ("contents", []) => contents(places.has_playground),
        ("playground", []) if places.has_playground => html! {
            p { a href="playground.html" { "Open the playground" } ": type an address and see its sectors and banks at once, or paste any PTX." }
        },
        ("playground", []) => html! {
            p { "The playground was not built with this copy: " code { "cargo xtask playground" } " makes it where a linker for WebAssembly is installed." }
        },
        _ => bail!("there is no directive `{name}` with {} words: see book/README.md", words.len()),
    })
}

/// A kernel, and the functions of its file that it calls: the barrier may be in one of them.
fn with_helpers(source: &str, kernel: &str) -> Option<String> {
    let mut text = source::function(source, kernel)?;
    let names = text.split(|letter: char| !letter.is_alphanumeric() && !"_(:<".contains(letter));
    let called = names.filter_map(|word| word.split(['(', ':', '<']).next());
    let mut called: Vec<String> = called.map(str::to_owned).collect();
    let mut seen = BTreeSet::from([kernel.to_owned()]);
    called.retain(|name| seen.insert(name.clone()));
    for helper in called.iter().filter_map(|name| source::function(source, name)) {
        text += "\n\n";
        text += &helper;
    }
    Some(text)
}

fn contents(playground: bool) -> Markup {
    html! {
        ol.chapters {
            @for chapter in &CHAPTERS[1..] {
                @let number = chapter.number.parse::<u32>().ok();
                li value=[number] class=[number.is_none().then_some("appendix")] {
                    @if number.is_none() && !chapter.number.is_empty() { "Appendix " (chapter.number) ": " }
                    a href=(chapter.file()) { (chapter.title()) }
                }
            }
        }
        @if playground {
            p { a href="playground.html" { "The playground" } ": the executor in this page, for any address and any PTX." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_a_sentence_without_marks() {
        let text = "32 [threads][thread] of a\n[block], with `x`.\nThe warp is more.";
        assert_eq!(definition(text), "32 threads of a block, with x");
    }
}
