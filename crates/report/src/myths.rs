use super::{glossary, markdown};
use maud::{Markup, html};

/// The page's file.
pub const PAGE: &str = "myths.html";

/// The content of the page: a section of the text for each claim, whose title is the claim.
pub fn content(text: &str) -> Markup {
    // In the repository the glossary is a file beside it.
    let text = text.replace("(glossary.md)", &format!("({})", glossary::PAGE));
    let mut sections = text.split("\n## ");
    let introduction = markdown::doc(sections.next().unwrap_or_default());
    let myths = sections.map(|section| section.split_once('\n').unwrap_or((section, "")));
    html! {
        h1 { (introduction.title) }
        div.prose {
            (introduction.body)
            @for (claim, refuted) in myths {
                h2 { (markdown::sentence(claim)) }
                (markdown::body(refuted))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_headings_and_figures_tables() {
        let text = "# Myths\n\nSee [it](glossary.md).\n\n## A is `b`\n\n| figure | is |\n|---|--:|\n| c | 4 |\n";
        let page = content(text).into_string();
        for part in ["<h1>Myths</h1>", "glossary.html", "<h2>A is <code>b</code></h2>", "<td", "4"]
        {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
