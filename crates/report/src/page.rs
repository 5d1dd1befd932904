//! Parts that all pages share: the frame, the style, and the words of tables.
//!
//! ```
//! assert_eq!(report::page::time_with_unit(0.0125), "12.5 us");
//! ```

use super::plot::figure;
use super::publish::GENERATOR;
use super::{glossary, picture};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of all pages: the colours and the plots', which plots in files of their own have, too, and the rest.
const STYLE: &str =
    concat!(include_str!("palette.css"), include_str!("plot.css"), include_str!("style.css"));
/// Sorts tables and finds patterns; everything else works without it.
const SCRIPT: &str = include_str!("script.js");

/// A page asks nothing of any network, whatever is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A link of the navigation: the page's file, and its name.
#[derive(Clone, Debug)]
pub struct Link {
    /// Such as `transpose.html`.
    pub file: String,
    /// Such as `transpose`.
    pub name: String,
}

/// Additions of one page to the parts that all share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions<'a> {
    /// Follows the style of all pages.
    pub style: &'a str,
    /// Follows the script of all pages.
    pub script: &'a str,
    /// Appended to its policy, whose last directive is that of scripts; never a network.
    pub policy: &'a str,
    /// A sentence for search engines and for who is sent a link.
    pub description: &'a str,
    /// Markup behind the links before the content.
    pub navigation: &'a str,
}

/// A whole page. `links` go before and after its content. Its parts, the headings of the second level that have an id,
/// are listed beside it, and each has a link to itself.
pub fn page(title: &str, links: &[(&str, Link)], content: &Markup) -> String {
    page_with(title, links, content, Additions::default())
}

/// A whole page with additions.
pub fn page_with(
    title: &str,
    links: &[(&str, Link)],
    content: &Markup,
    additions: Additions<'_>,
) -> String {
    let navigation = html! {
        @for (relation, link) in links {
            a href=(link.file) { (relation) (link.name) }
            " "
        }
    };
    let sections = sections(&content.0);
    let content = with_permalinks(&content.0, &sections);
    let has_pictures = content.contains("<svg class=\"coalesce\"");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                (PreEscaped(GENERATOR))
                meta http-equiv="Content-Security-Policy" content={ (POLICY) (additions.policy) };
                title { (title) }
                @if !additions.description.is_empty() {
                    meta name="description" content=(additions.description);
                    meta property="og:title" content=(title);
                    meta property="og:description" content=(additions.description);
                    meta property="og:type" content="article";
                }
                style { (PreEscaped(STYLE)) @if has_pictures { (PreEscaped(picture::style())) } (PreEscaped(additions.style)) }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    @if !links.is_empty() { nav.links aria-label="pages" { (navigation) } }
                    (PreEscaped(additions.navigation))
                    @if sections.len() > 1 {
                        nav.sections aria-label="sections of this page" {
                            @for (id, name) in &sections { a href=(format!("#{id}")) { (PreEscaped(name)) } " " }
                        }
                    }
                }
                main id="content" { (PreEscaped(content)) }
                @if !links.is_empty() { footer { p.links { (navigation) } } }
                script { (PreEscaped(SCRIPT)) (PreEscaped(additions.script)) }
            }
        }
    };
    page.into_string()
}

const HEADING: &str = "<h2 id=\"";

/// The headings of the second level that have an id: the id, and the text without marks.
fn sections(content: &str) -> Vec<(&str, String)> {
    let headings = content.split(HEADING).skip(1).filter_map(|rest| {
        let (id, rest) = rest.split_once("\">")?;
        let (text, _) = rest.split_once("</h2>")?;
        Some((id, without_marks(text)))
    });
    headings.collect()
}

fn without_marks(text: &str) -> String {
    text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

/// The content with a link to itself at the end of each heading.
fn with_permalinks(content: &str, sections: &[(&str, String)]) -> String {
    let mut parts = content.split(HEADING);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (part, (id, name)) in parts.zip(sections) {
        let link = format!(
            " <a class=\"permalink\" href=\"#{id}\" aria-label=\"link to {name}\">#</a></h2>"
        );
        out += HEADING;
        out += &part.replacen("</h2>", &link, 1);
    }
    out
}

/// Returns what a reader must know before the first figure.
pub fn notes(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            aside aria-label="notes" {
                @for note in notes { p { (note) } }
            }
        }
    }
}

/// A remark that is no warning, folded.
pub fn older_kernels(difference: Option<&str>) -> Markup {
    html! {
        @if let Some(difference) = difference {
            details.remark {
                summary { "Timed at an older commit; counts and sources are today's." }
                p { (difference) }
            }
        }
    }
}

/// A cell with a figure of four digits that count.
pub fn number(value: Option<f64>) -> Markup {
    cell(value, figure)
}

/// A figure, or nothing.
pub fn figure_of(value: Option<f64>) -> String {
    value.map_or_else(String::new, figure)
}

/// A cell with a time, in milliseconds.
pub fn time(value: Option<f64>) -> Markup {
    cell(value, time_in_words)
}

/// A time in milliseconds with four digits.
pub fn time_in_words(time_ms: f64) -> String {
    let decimals =
        usize::try_from(3_i32.saturating_sub(time_ms.log10().floor() as i32)).unwrap_or(0).min(9);
    format!("{time_ms:.decimals$}")
}

/// A cell with a figure of so many decimals and a unit.
pub fn fixed(value: Option<f64>, decimals: usize, unit: &str) -> Markup {
    cell(value, |value| format!("{value:.decimals$}{unit}"))
}

/// A cell with a figure: shown short, held in full for sorting.
pub fn cell(value: Option<f64>, show: impl Fn(f64) -> String) -> Markup {
    match value {
        Some(value) => html! { td.figure data-value=(value) { (show(value)) } },
        None => html! { td.figure data-value="" {} },
    }
}

/// A plot in its frame.
pub fn plot(svg: &str, below: &str) -> Markup {
    html! {
        figure {
            (PreEscaped(svg))
            figcaption { (below) }
        }
    }
}

/// A plot as wide as the page, which scrolls where that is narrow.
pub fn wide_plot(svg: &str, below: &str) -> Markup {
    html! {
        figure.wide {
            div.scroll tabindex="0" { (PreEscaped(svg)) }
            figcaption { (below) }
        }
    }
}

/// A time in the unit that suits it, with four digits.
pub fn time_with_unit(time_ms: f64) -> String {
    match time_ms {
        _ if time_ms >= 1e3 => format!("{} s", figure(time_ms / 1e3)),
        _ if time_ms >= 1.0 => format!("{} ms", figure(time_ms)),
        _ => format!("{} us", figure(1e3 * time_ms)),
    }
}

/// Bytes in the unit that suits them, such as `512 MiB`.
pub fn bytes_with_unit(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let index = ((bytes.max(1.0).log2() / 10.0) as usize).min(units.len() - 1);
    format!("{} {}", figure(bytes / f64::from(1 << (10 * index))), units[index])
}

/// A table in a box that scrolls when it is wider than the page.
pub fn table(caption: &str, header: &Markup, body: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.sortable {
                caption { (caption) }
                thead { tr { (header) } }
                tbody { (body) }
            }
        }
    }
}

/// Header cells; a column that needs an explanation shows it under a pointer and leads to its term in the glossary.
pub fn headers(names: &[&str]) -> Markup {
    html! {
        @for name in names {
            @match explained(name) {
                Some((_, term, meaning)) => th scope="col" title=(meaning) {
                    a href=(format!("{}#{}", glossary::PAGE, glossary::anchor(term))) { (name) }
                },
                None => th scope="col" { (name) },
            }
        }
    }
}

/// Columns, their terms of the glossary, and what they hold.
const EXPLAINED: [(&str, &str, &str); 16] = [
    (
        "% of peak",
        "measured-peak",
        "The minimum time over the time: 100 % is as fast as the measured peak allows.",
    ),
    ("bound by", "measured-peak", "The resource of the machine that bounds the time from below."),
    ("minimum time, ms", "minimum-time", "The time that the bytes take at the measured peak."),
    ("speed-up", "speed-up", "The time of the baseline over this one's."),
    (
        "registers",
        "register",
        "Registers per thread, as NVIDIA's assembler gave them; with ~ an estimate.",
    ),
    (
        "occupancy, %",
        "Occupancy",
        "Warps that fit on a multiprocessor over those that it can hold.",
    ),
    ("sectors, load / store", "sector", "Sectors of 32 bytes per request of a warp."),
    ("in a graph, ms", "graph", "Time per run as one of several in a graph."),
    ("load sectors / request", "sector", "Sectors of 32 bytes that a load of a warp touches."),
    ("store sectors / request", "sector", "Sectors of 32 bytes that a store of a warp touches."),
    (
        "shared load wavefronts / request",
        "wavefront",
        "Passes through the banks that a load of a warp takes.",
    ),
    (
        "shared store wavefronts / request",
        "wavefront",
        "Passes through the banks that a store of a warp takes.",
    ),
    (
        "shared atomic wavefronts / request",
        "wavefront",
        "Passes through the banks that an atomic of a warp takes.",
    ),
    (
        "constant wavefronts / request",
        "constant-memory",
        "Different words that a load of a warp asks for.",
    ),
    ("global atomics", "atomic", "Atomics on global memory, lane by lane."),
    ("FLOP per byte", "roofline", "Operations over the bytes that any implementation must move."),
];

fn explained(name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    EXPLAINED.iter().find(|(column, ..)| *column == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_listed_and_link_to_themselves() {
        let content = html! { h1 { "t" } h2 id="a" { "One " code { "x" } } p { "p" } h2 { "none" } h2 id="b" { "Two" } };
        let page = page("t", &[], &content);
        for part in [
            "<a href=\"#a\">One x</a>",
            "<a href=\"#b\">Two</a>",
            "<code>x</code> <a class=\"permalink\" href=\"#a\" aria-label=\"link to One x\">#</a></h2>",
            "<h2>none</h2>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn explained_columns_are_terms_of_the_glossary() {
        let terms: Vec<String> =
            glossary::terms(glossary::TEXT).iter().map(|term| term.anchor()).collect();
        for (column, term, _) in EXPLAINED {
            assert!(terms.contains(&glossary::anchor(term)), "{column}: no term {term}");
        }
    }

    #[test]
    fn units_suit_their_figures() {
        assert_eq!([0.0021, 1.2131, 2500.0].map(time_with_unit), ["2.1 us", "1.213 ms", "2.5 s"]);
        let bytes = [12.0, 8_388_608.0, 1.5 * f64::from(1 << 30)].map(bytes_with_unit);
        assert_eq!(bytes, ["12 B", "8 MiB", "1.5 GiB"]);
    }
}
