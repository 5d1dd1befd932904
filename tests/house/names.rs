//! The instruments work for any catalogue: none of them names a pattern of ours.
//!
//! No crate below `host` reaches the patterns, so code cannot name them, and texts are what is left: the strings of a
//! program. Tests and comments may take a pattern as their example.

use crate::kernels_source::{files, root};
use host::patterns::ALL as PATTERNS;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// Patterns whose names are words of the field, too: in a sentence they stand for themselves.
const WORDS: [&str; 15] = [
    "atomics",
    "allocation",
    "batching",
    "coalescing",
    "coarsening",
    "divergence",
    "graphs",
    "histogram",
    "occupancy",
    "overlap",
    "reduction",
    "scan",
    "stride",
    "texture",
    "transpose",
];

/// Strings that are right as they are, by their files.
const RIGHT: [(&str, &str); 9] = [
    // The column of a table.
    ("crates/report/src/tabulate.rs", "\"occupancy\""),
    // A region of memory that a program allocated, and that has no other name.
    ("crates/simt/src/location.rs", "\"allocation\""),
    // The kind of an object.
    ("crates/virtual_gpu/src/objects.rs", "\"texture\""),
    // A module of `cuda_std`.
    ("crates/rust_to_ptx/src/names.rs", "\"async_copy\""),
    ("crates/rust_to_ptx/src/library.rs", "\"async_copy::commit_group\""),
    ("crates/rust_to_ptx/src/library.rs", "\"async_copy::wait_all\""),
    ("crates/rust_to_ptx/src/library.rs", "\"async_copy::copy_4\""),
    ("crates/rust_to_ptx/src/library.rs", "\"async_copy::copy_8\""),
    ("crates/rust_to_ptx/src/library.rs", "\"async_copy::copy_16\""),
];

/// The code without what is only there for tests.
fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if let TokenTree::Group(group) = &token
            && group.delimiter() == Delimiter::Bracket
            && matches!(kept.last(), Some(TokenTree::Punct(mark)) if mark.as_char() == '#')
            && matches!(&words(group.stream())[..], [first, rest @ ..]
                if first == "cfg" && rest.contains(&"test".to_owned()) && !rest.contains(&"not".to_owned()))
        {
            kept.pop();
            let ends_item = |token: &TokenTree| match token {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(mark) => mark.as_char() == ';' || mark.as_char() == ',',
                _ => false,
            };
            let _item = tokens.by_ref().find(ends_item);
            continue;
        }
        kept.push(token);
    }
    kept
}

fn words(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(word) => found.push(word.to_string()),
            TokenTree::Group(group) => found.extend(words(group.stream())),
            _ => {}
        }
    }
    found
}

/// The strings of code, without its docs and its tests.
fn strings(tokens: TokenStream, out: &mut Vec<String>) {
    let mut after_mark = false;
    for token in without_tests(tokens) {
        match &token {
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                out.extend(text.contains('"').then(|| text.replace("\\n", "\n")));
            }
            TokenTree::Group(group) => {
                let first = group.stream().into_iter().next();
                let is_doc = matches!(first, Some(TokenTree::Ident(word)) if word == "doc");
                if !(after_mark && is_doc) {
                    strings(group.stream(), out);
                }
            }
            _ => {}
        }
        after_mark =
            matches!(&token, TokenTree::Punct(mark) if ['#', '!'].contains(&mark.as_char()));
    }
}

/// Returns whether a text has a name as a word.
fn has_word(text: &str, name: &str, accept: impl Fn(&str, &str) -> bool) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_letter) && !after.starts_with(is_letter) && accept(before, after)
    })
}

/// Returns whether a text names a pattern, rather than saying an ordinary word.
fn names_pattern(text: &str, name: &str) -> bool {
    has_word(text, name, |before, after| {
        let is_whole = before.ends_with('"') && after.starts_with('"');
        let is_part = after.starts_with(['/', '.'])
            && after.chars().nth(1).is_some_and(char::is_alphanumeric);
        let is_path = before.ends_with("::") || before.ends_with('/') || after.starts_with("::");
        let line = before.rsplit(['\n', '`', '"']).next().unwrap_or_default().trim_start();
        let is_argument = line.starts_with("coalesce ") || line.starts_with("PROGRAM ");
        !WORDS.contains(&name) || is_whole || is_part || is_path || is_argument
    })
}

#[test]
fn no_instrument_names_a_pattern() {
    let kernels = PATTERNS.iter().flat_map(|pattern| {
        pattern.variants.iter().flat_map(|variant| pattern.kernel_names(variant))
    });
    let kernels: BTreeSet<String> = kernels.collect();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for folder in ["crates", "xtask"] {
        for (path, text) in files(folder, "rs") {
            let path = path.strip_prefix(root()).expect("it is a file of ours");
            let own = ["tests", "benches", "examples", "fixtures", "template"];
            if path.components().any(|part| own.iter().any(|own| part.as_os_str() == *own)) {
                continue;
            }
            let mut found = Vec::new();
            strings(text.parse().expect("the compiler has read it, too"), &mut found);
            seen += found.len();
            for text in found {
                let pattern = PATTERNS.iter().map(|pattern| pattern.name);
                let mut named: Vec<&str> =
                    pattern.filter(|name| names_pattern(&text, name)).collect();
                named.extend(
                    kernels
                        .iter()
                        .map(String::as_str)
                        .filter(|name| has_word(&text, name, |_, _| true)),
                );
                let is_right =
                    RIGHT.iter().any(|(file, right)| path.ends_with(file) && text == *right);
                if !named.is_empty() && !is_right {
                    wrong.push(format!("{}: {} in {text}", path.display(), named.join(", ")));
                }
            }
        }
    }
    assert!(seen > 1000, "only {seen} strings were read");
    assert!(
        wrong.is_empty(),
        "say it for any catalogue, or take it as an argument:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn a_name_is_told_from_a_word() {
    for text in [
        "\"transpose\"",
        "\"coalesce bench transpose --quick\"",
        "\"Examples:\n  coalesce bench\n  coalesce bench transpose\"",
        "\"transpose/padded\"",
        "\"shared::transpose::PATTERN\"",
        "\"report/transpose.html\"",
    ] {
        assert!(names_pattern(text, "transpose"), "{text}");
    }
    for text in ["\"a transpose of columns. What\"", "\"transposed\"", "\"in_transpose\""] {
        assert!(!names_pattern(text, "transpose"), "{text}");
    }
    assert!(names_pattern("\"as in bank_conflicts there\"", "bank_conflicts"));
    let mut found = Vec::new();
    let code = "/// \"docs\"\nfn f() { g(\"code\"); } #[cfg(test)] mod tests { const T: &str = \"test\"; }";
    strings(code.parse().expect("it is code"), &mut found);
    assert_eq!(found, ["\"code\""]);
}
