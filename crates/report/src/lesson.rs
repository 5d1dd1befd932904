//! The page of the glossary, to which the pages of patterns link.

use super::glossary::{TEXT, terms};
use super::markdown;
use maud::{Markup, html};

/// The content of the page.
pub fn content() -> Markup {
    let introduction = TEXT.split("\n## ").next().unwrap_or(TEXT);
    let definitions: String =
        terms(TEXT).iter().map(|term| format!("[{}]: #{}\n", term.name, term.anchor())).collect();
    let doc = markdown::doc(&format!("{introduction}\n\n{definitions}"));
    // What comes after the last term.
    let end = TEXT.rfind("\n# ").map_or("", |at| &TEXT[at..]);
    html! {
        h1 { (doc.title) }
        div.prose {
            (doc.body)
            @for term in terms(TEXT) {
                h2 id=(term.anchor()) { (term.name) }
                (markdown::body(&format!("{}\n\n{definitions}", term.text)))
            }
            (markdown::body(end))
        }
    }
}
