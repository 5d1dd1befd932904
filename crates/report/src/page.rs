//! What all pages share: the frame, the style, and the words of tables.

use super::plot::figure;
use super::publish::GENERATOR;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of all pages: the colours, which plots in files of their own have, too, and the rest.
const STYLE: &str = concat!(include_str!("palette.css"), include_str!("style.css"));
/// Sorts tables; nothing else needs it.
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

/// What a page has besides what all pages have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions<'a> {
    /// Follows the style of all pages.
    pub style: &'a str,
    /// Follows the script of all pages.
    pub script: &'a str,
    /// Appended to its policy, whose last directive is that of scripts; never a network.
    pub policy: &'a str,
}

/// A whole page. `links` go before and after its content.
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
        @if !links.is_empty() {
            p.links {
                @for (relation, link) in links {
                    a href=(link.file) { (relation) (link.name) }
                    " "
                }
            }
        }
    };
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
                style { (PreEscaped(STYLE)) (PreEscaped(additions.style)) }
            }
            body {
                nav aria-label="pages" { (navigation) }
                main { (content) }
                footer { (navigation) }
                script { (PreEscaped(SCRIPT)) (PreEscaped(additions.script)) }
            }
        }
    };
    page.into_string()
}

/// What a reader must know before the first figure.
pub fn notes(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            aside aria-label="notes" {
                @for note in notes { p { (note) } }
            }
        }
    }
}

/// A cell with a figure of four digits that count.
pub fn number(value: Option<f64>) -> Markup {
    cell(value, figure)
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

/// Header cells.
pub fn headers(names: &[&str]) -> Markup {
    html! { @for name in names { th scope="col" { (name) } } }
}
