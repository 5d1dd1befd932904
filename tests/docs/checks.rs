//! Duties of a doc to the glossary and to `docs/style.md`: pure functions of texts, each with a fault that it finds.

use report::glossary::{self, DocPart, TARGET, anchor, prose, terms};
use std::ops::Range;

/// Links to terms that the glossary lacks, and words in brackets that no line of the doc defines.
pub fn dead_links(doc: &str, glossary: &str) -> Vec<String> {
    let known: Vec<String> = terms(glossary).iter().map(|term| term.anchor()).collect();
    let found = prose(doc, DocPart::All);
    let of = |target: &str| {
        let anchor = target.strip_prefix(TARGET).or_else(|| target.strip_prefix('#'))?;
        (!known.iter().any(|known| known == anchor)).then(|| anchor.to_owned())
    };
    let dead = found.links.iter().filter_map(|(_, target)| of(target));
    let dead = dead.map(|anchor| format!("the glossary has no heading for #{anchor}"));
    let undefined = found.undefined.iter();
    let undefined = undefined.map(|word| format!("no line says where [{word}] leads"));
    dead.chain(undefined).collect()
}

/// Terms of the glossary's core list that the doc's prose uses before it links them.
pub fn unlinked_terms(doc: &str, glossary: &str) -> Vec<String> {
    let found = prose(doc, DocPart::Prose);
    let text = found.text.to_lowercase();
    let mut core = glossary::core(glossary);
    // A term of two words is not a use of one of them.
    core.sort_by_key(|term| std::cmp::Reverse(term.len()));
    let mut taken: Vec<Range<usize>> = Vec::new();
    let mut unlinked = Vec::new();
    for term in core {
        let uses: Vec<Range<usize>> = uses(&text, &term)
            .filter(|use_of| !taken.iter().any(|taken| taken.contains(&use_of.start)))
            .collect();
        if let Some(first) = uses.first() {
            let ends = [TARGET, "#"].map(|start| format!("{start}{}", anchor(&term)));
            let is_linked = found.links.iter().any(|(at, target)| {
                at.start <= first.start && first.end <= at.end && ends.contains(target)
            });
            if !is_linked {
                unlinked.push(format!("link `{term}` where it is used first"));
            }
        }
        taken.extend(uses);
    }
    unlinked
}

/// Returns the ranges at which a text in lower case has a word or several, also in the plural.
fn uses<'a>(text: &'a str, words: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words).filter_map(move |(at, _)| {
        let end = at + words.len();
        let rest = &text[end..];
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let is_word = !text[..at].ends_with(is_letter) && !rest.starts_with(is_letter);
        is_word.then_some(at..end)
    })
}

/// Words of a doc that this project has replaced. `words` are pairs of what not to write and what to write instead.
pub fn private_words(doc: &str, words: &[(&str, &str)]) -> Vec<String> {
    let text = prose(doc, DocPart::All).text.to_lowercase();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let has = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let ends = text[at + word.len()..].starts_with(is_letter);
            !text[..at].ends_with(is_letter) && !ends
        })
    };
    let found = words.iter().filter(|(word, _)| has(&word.to_lowercase()));
    found.map(|(word, instead)| format!("`{word}`: write {instead}")).collect()
}

/// The table of words between the markers of `docs/style.md`: what not to write, and what to write instead.
pub fn words(style: &str) -> Vec<(&str, &str)> {
    let table = glossary::block(style, "words").map(|at| &style[at]).unwrap_or_default();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    rows.filter_map(|row| row.split_once("` | "))
        .flat_map(|(words, instead)| words.split("`, `").map(move |word| (word, instead)))
        .collect()
}

/// Rows of two cells, a pattern's name and a sentence, whose sentence is not the pattern's claim.
pub fn other_claims(text: &str, claims: &[(&str, String)]) -> Vec<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let rows = rows.filter_map(|row| row.split_once("` | "));
    rows.filter(|(_, cell)| !cell.contains(" | "))
        .filter_map(|(name, told)| {
            let (_, claim) = claims.iter().find(|(known, _)| *known == name)?;
            (told != claim).then(|| format!("`{name}` is told as \"{told}\", and shows: {claim}"))
        })
        .collect()
}

/// Links from a term of the glossary to one that comes later, so that it cannot be read from top to bottom. A line
/// that begins with `See also` may look ahead.
pub fn forward_links(glossary: &str) -> Vec<String> {
    let all = terms(glossary);
    let definitions: String =
        all.iter().map(|term| format!("[{}]: #{}\n", term.name, term.anchor())).collect();
    let mut found = Vec::new();
    for (place, term) in all.iter().enumerate() {
        let lines = term.text.lines().take_while(|line| !line.starts_with("<!-- index"));
        let lines = lines.filter(|line| !line.starts_with("See also"));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        for (_, target) in prose(&format!("{text}\n{definitions}"), DocPart::All).links {
            let at = all.iter().position(|term| target == format!("#{}", term.anchor()));
            if at.is_some_and(|at| at > place) {
                found.push(format!("`{}` needs {target}, which comes later", term.name));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOSSARY: &str = "# G\n\n<!-- core -->\n[bank], [bank conflict]\n<!-- /core -->\n\n## bank\n\nOne.\n\n## bank conflict\n\nTwo of a [bank].\n\n[bank]: #bank\n";

    #[test]
    fn a_dead_link_is_found() {
        let doc = "A [bank], [banks][bank].\n\n[bank]: cuda_std::glossary#bank\n";
        assert_eq!(dead_links(doc, GLOSSARY), Vec::<String>::new());
        let dead = doc.replace("#bank", "#bnak");
        assert_eq!(dead_links(&dead, GLOSSARY)[0], "the glossary has no heading for #bnak");
        assert_eq!(dead_links("A [bank].", GLOSSARY), ["no line says where [bank] leads"]);
    }

    #[test]
    fn a_term_without_a_link_at_its_first_use_is_found() {
        let links = "\n\n[bank]: cuda_std::glossary#bank\n[bc]: cuda_std::glossary#bank-conflict\n";
        let check = |text: &str| unlinked_terms(&format!("{text}{links}"), GLOSSARY);
        let right = "# Banks\n\nThe `bank`: two [bank\nconflicts][bc] of [banks][bank], then bank.";
        assert_eq!(check(right), Vec::<String>::new());
        assert_eq!(check("Embankment."), Vec::<String>::new());
        for (fault, term) in [
            ("A bank. A [bank].", "bank"),
            ("[Bank conflicts][bank].", "bank conflict"),
            ("Each bank\nconflict.", "bank conflict"),
        ] {
            assert_eq!(check(fault), [format!("link `{term}` where it is used first")], "{fault}");
        }
    }

    #[test]
    fn a_private_word_is_found_and_code_is_left_alone() {
        let style = "<!-- words -->\n| not | but |\n|---|---|\n| `dear`, `s/r` | expensive |\n<!-- /words -->\n";
        let words = words(style);
        assert_eq!(words, [("dear", "expensive"), ("s/r", "expensive")]);
        let right = "# A\n\n`dear` is not dearly.\n\n```rust\nlet dear;\n```\n";
        assert_eq!(private_words(right, &words), Vec::<String>::new());
        for fault in ["It is Dear.", "| dear |\n|---|\n", "```text\ndear\n```", "4 s/r", "# Dear"] {
            assert_eq!(private_words(fault, &words).len(), 1, "{fault}");
        }
    }

    #[test]
    fn a_claim_that_is_told_otherwise_is_found() {
        let claims = [("a", "one thing".to_owned())];
        let right = "| `a` | one thing |\n| `b` | other |\n| `a` | 1 | 2 |\n";
        assert_eq!(other_claims(right, &claims), Vec::<String>::new());
        assert_eq!(other_claims("| `a` | two things |\n", &claims).len(), 1);
    }

    #[test]
    fn a_term_that_needs_a_later_one_is_found() {
        assert_eq!(forward_links(GLOSSARY), Vec::<String>::new());
        let fault = GLOSSARY.replace("One.", "One, see [bank conflict].");
        assert_eq!(forward_links(&fault), ["`bank` needs #bank-conflict, which comes later"]);
        let allowed = GLOSSARY.replace("One.", "One.\n\nSee also: [bank conflict].");
        assert_eq!(forward_links(&allowed), Vec::<String>::new());
    }
}
