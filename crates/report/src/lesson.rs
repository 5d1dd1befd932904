//! The page of the glossary, to which the pages of patterns link.
//!
//! ```
//! assert!(report::lesson::content().0.contains("<h2"));
//! ```

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_has_its_place_and_every_link_leads_to_one() {
        let page = content().into_string();
        for term in terms(TEXT) {
            assert!(page.contains(&format!("<h2 id=\"{}\">", term.anchor())), "{}", term.name);
        }
        let links = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
        let links: Vec<&str> = links.collect();
        for link in &links {
            assert!(page.contains(&format!(" id=\"{link}\"")), "nothing has the id {link}");
        }
        assert!(links.len() > 100, "only {} links were read", links.len());
        assert!(!page.contains("&lt;!--"), "comments are not shown");
    }
}
