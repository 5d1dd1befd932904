//! Teaching docs and documentation as parts of a page.
//!
//! ```
//! let doc = report::markdown::doc("# Transpose\n\nA row becomes a *column*.");
//! assert_eq!(doc.title, "Transpose");
//! assert!(doc.body.0.contains("<em>column</em>"));
//! ```

use crate::glossary;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A teaching doc: its title, and the rest as HTML.
#[derive(Debug)]
pub struct Doc {
    /// The first heading, without marks.
    pub title: String,
    /// Body behind it.
    pub body: Markup,
}

/// Works that docs cite and the network has.
pub const CITED: [(&str, &str); 6] = [
    ("CUDA C++ Best Practices Guide", "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/"),
    ("CUDA C++ Programming Guide", "https://docs.nvidia.com/cuda/cuda-c-programming-guide/"),
    ("PTX ISA", "https://docs.nvidia.com/cuda/parallel-thread-execution/"),
    ("CUDA Driver API", "https://docs.nvidia.com/cuda/cuda-driver-api/"),
    ("CUTLASS documentation", "https://docs.nvidia.com/cutlass/"),
    ("Nsight Compute", "https://docs.nvidia.com/nsight-compute/"),
];

/// A text whose paragraph of sources has links to the documents that it names.
fn with_citations(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        if !paragraph.starts_with("Source:") && !paragraph.starts_with("Sources:") {
            return paragraph.to_owned();
        }
        let mut line = paragraph.replace('\n', " ");
        for (name, address) in CITED {
            line = line.replacen(name, &format!("[{name}]({address})"), 1);
        }
        line
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Renders a doc whose first heading is its title; the headings after it become those of parts of a page.
pub fn doc(text: &str) -> Doc {
    let text = &with_citations(text);
    let mut events = Parser::new_ext(text, Options::ENABLE_TABLES);
    let mut title = String::new();
    if text.starts_with("# ") {
        for event in events.by_ref() {
            match event {
                Event::End(TagEnd::Heading(_)) => break,
                Event::Text(text) | Event::Code(text) => title += &text,
                _ => {}
            }
        }
    }
    Doc { title, body: render(events) }
}

/// Renders a text.
pub fn body(text: &str) -> Markup {
    render(Parser::new_ext(text, Options::ENABLE_TABLES))
}

/// A sentence with `code` in it, without a paragraph around it.
pub fn sentence(text: &str) -> Markup {
    let events = Parser::new_ext(text, Options::empty()).filter(|event| {
        !matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph))
    });
    render(events)
}

fn render<'a>(events: impl Iterator<Item = Event<'a>>) -> Markup {
    let mut out = String::new();
    html::push_html(&mut out, events.map(adapted));
    // A table is wider than a phone, and headers belong to columns.
    let out = out
        .replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
        .replace("<th>", "<th scope=\"col\">")
        .replace("<th style", "<th scope=\"col\" style")
        .replace("<pre>", "<pre tabindex=\"0\">");
    PreEscaped(out)
}

/// Headings of a doc are below those of its page; links to terms lead to the page of the glossary; what looks like HTML
/// is text, but for comments.
fn adapted(event: Event<'_>) -> Event<'_> {
    let lower = |level| match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        _ => HeadingLevel::H3,
    };
    match event {
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let term = dest_url.strip_prefix(glossary::TARGET);
            let page = term.map(|anchor| format!("{}#{anchor}", glossary::PAGE).into());
            Event::Start(Tag::Link { link_type, dest_url: page.unwrap_or(dest_url), title, id })
        }
        Event::Html(text) if text.starts_with("<!--") => Event::Text("".into()),
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_is_a_title_and_a_body() {
        let found = doc(
            "# Tiles: `a` and b\n\nShows: <b>x</b>.\n\n## More\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n",
        );
        assert_eq!(found.title, "Tiles: a and b");
        let body = found.body.into_string();
        assert!(body.contains("&lt;b&gt;x&lt;/b&gt;"), "{body}");
        assert!(body.contains("<h3>More</h3>"), "{body}");
        assert!(body.contains("<th scope=\"col\" style"), "{body}");
        assert!(!body.contains("<h1>"), "{body}");
    }

    #[test]
    fn terms_are_links_to_the_glossary_and_comments_are_left_out() {
        let text =
            "A [warp].\n\n<!-- measured -->\n| a |\n|---|\n\n[warp]: cuda_std::glossary#warp\n";
        let body = body(text).into_string();
        assert!(body.contains("A <a href=\"glossary.html#warp\">warp</a>."), "{body}");
        assert!(!body.contains("--") && body.contains("<table>"), "{body}");
    }

    #[test]
    fn cited_documents_are_links() {
        let text = "# T\n\nThe PTX ISA.\n\nSource: CUDA C++ Programming\nGuide, \"Arrays\"; PTX ISA, `ld`.\n";
        let body = doc(text).body.into_string();
        assert!(body.contains("<p>The PTX ISA.</p>"), "{body}");
        for (name, address) in [CITED[1], CITED[2]] {
            assert!(body.contains(&format!("<a href=\"{address}\">{name}</a>")), "{name}: {body}");
        }
    }

    #[test]
    fn a_sentence_has_no_paragraph() {
        assert_eq!(sentence("a `b` & c").into_string().trim(), "a <code>b</code> &amp; c");
    }
}
