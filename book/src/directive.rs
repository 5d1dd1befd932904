use crate::chapter::{CHAPTERS, Chapter};
use crate::figure;
use crate::sources::Sources;
use anyhow::{Context, Result, bail};
use report::page::time_in_words;
use report::plot::figure as in_words;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// Such as `count`.
    pub name: &'a str,
    pub argument: &'a str,
}

/// A text that is cut at its directives.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    Text(&'a str),
    /// The text between `{{` and `}}`.
    Directive(Directive<'a>),
}

pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inside, behind)) = after.split_once("}}") else { break };
        pieces.push(Piece::Text(before));
        let (name, argument) = inside.trim().split_once(' ').unwrap_or((inside.trim(), ""));
        pieces.push(Piece::Directive(Directive { name, argument: argument.trim() }));
        rest = behind;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

pub fn directives(text: &str) -> impl Iterator<Item = Directive<'_>> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Directive(directive) => Some(directive),
        Piece::Text(_) => None,
    })
}

/// Addresses of things in the book, for links.
#[derive(Debug, Default)]
pub struct Places {
    /// `kind name` to a link's target.
    targets: BTreeMap<String, String>,
    /// True when there is a page of the executor.
    pub has_playground: bool,
}

impl Places {
    pub fn of(chapters: &[Chapter], has_playground: bool) -> Places {
        let mut targets = BTreeMap::new();
        for chapter in chapters {
            targets.insert(format!("chapter {}", chapter.stem), chapter.file());
            for directive in directives(chapter.text) {
                let Directive { name, argument } = directive;
                let kind = match name {
                    "doc" => "pattern",
                    "task" => "task",
                    _ => continue,
                };
                targets.insert(
                    format!("{kind} {argument}"),
                    format!("{}#{kind}-{argument}", chapter.file()),
                );
            }
        }
        Places { targets, has_playground }
    }

    /// The target of a link to `task NAME`, `pattern NAME` or `chapter STEM`.
    pub fn target(&self, what: &str) -> Result<&str> {
        let target = self.targets.get(what).map(String::as_str);
        target.with_context(|| format!("nothing in the book is called `{what}`"))
    }
}

/// Returns what an inline directive becomes, as Markdown; `None` if it is a block.
pub fn inline(
    sources: &Sources,
    places: &Places,
    directive: Directive<'_>,
) -> Result<Option<String>> {
    let words: Vec<&str> = directive.argument.split_whitespace().collect();
    Ok(Some(match (directive.name, &words[..]) {
        ("count", [variant, count]) => {
            let (_, found) = sources.variant(variant)?;
            let value = (figure::count(count)?.of)(&found.counters);
            in_words(value.with_context(|| format!("`{variant}` has no {count}"))?)
        }
        ("measured", [variant]) => format!("{} ms", time_in_words(sources.time_ms(variant)?)),
        ("times", [slow, fast]) => {
            let ratio = sources.time_ms(slow)? / sources.time_ms(fast)?;
            in_words((10.0 * ratio).round() / 10.0)
        }
        ("peak", [variant]) => {
            let minimum = sources.row(variant)?.measured().and_then(|one| one.minimum_time);
            format!(
                "{} %",
                in_words(
                    minimum
                        .with_context(|| format!("`{variant}` has no minimum time"))?
                        .percent
                        .round()
                )
            )
        }
        ("occupancy", [variant]) => {
            let resources = sources.row(variant)?.resources;
            let resources = resources.with_context(|| format!("`{variant}` is no kernel"))?;
            format!("{} %", in_words(resources.occupancy_percent))
        }
        ("ncu", [counter]) => {
            let found = counters::COUNTERS.iter().find(|(name, ..)| name == counter);
            let names = found.with_context(|| format!("there is no counter `{counter}`"))?.1;
            // What Nsight Compute does not count is said in words.
            let is_metric = |name: &&str| name.contains("__");
            let (metrics, others): (Vec<&str>, Vec<&str>) = names.split(", ").partition(is_metric);
            let mut said = others.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            if !metrics.is_empty() {
                said.insert(0, format!("`ncu --metrics {} ./program`", metrics.join(",")));
            }
            said.join(", ")
        }
        ("link", [kind, name]) => {
            let target = places.target(&format!("{kind} {name}"))?;
            match *kind {
                "chapter" => format!("[{}]({target})", chapter_title(name)?),
                _ => format!("[`{name}`]({target})"),
            }
        }
        ("count" | "measured" | "times" | "peak" | "occupancy" | "ncu" | "link", _) => {
            bail!(
                "`{{{{{} {}}}}}` has too few or too many words",
                directive.name,
                directive.argument
            )
        }
        _ => return Ok(None),
    }))
}

fn chapter_title(stem: &str) -> Result<String> {
    let found = CHAPTERS.iter().find(|chapter| chapter.stem == stem);
    found.map(Chapter::title).with_context(|| format!("there is no chapter `{stem}`"))
}
