//! Refusal of texts in a task's file: other files' text, and code that takes effect before it is called.

use anyhow::{Result, bail};

/// Words that a file must not have, and what they do.
const REFUSED: &[(&[&str], &str)] = &[
    (
        &["include", "include_str", "include_bytes", "path"],
        "takes text from another file: a task's file stands by itself",
    ),
    (
        // With some of them a macro makes words that this list does not see.
        &["feature"],
        "turns on a part of the language that is not finished: a task needs none",
    ),
    (
        &["env", "option_env"],
        "asks for what is around the file: what it computes depends on its arguments only",
    ),
    (
        &["extern", "no_mangle", "export_name", "link_section", "global_asm", "naked_asm"],
        "reaches around what the task gives: use the libraries that the file imports",
    ),
];

/// Words that a host file must not have besides: what makes a reference into an address, a number into a file, or one
/// type into another. With them a file could search the memory of the process that counts for it.
const REFUSED_OF_HOST_FILES: &str = "
    AtomicPtr ManuallyDrop MaybeUninit NonNull SyncUnsafeCell UnifiedPointer UnsafeCell align_to align_to_mut
    alloc arch as_mut_ptr as_mut_ptr_range as_ptr as_ptr_range as_raw as_raw_mut asm borrow_raw
    copy_nonoverlapping cuda_malloc_locked cuda_malloc_unified from_ptr from_raw from_raw_fd from_raw_parts
    from_raw_parts_mut into_raw into_raw_parts os ptr raw set_len sys transmute transmute_copy union
";

/// A word, a sign or a literal, with its line.
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// Refuses a file that another file's text would become a part of.
pub fn refuse(source: &str) -> Result<()> {
    let first = source.trim_start_matches('\u{feff}').trim_start();
    let is_for_a_shell =
        first.strip_prefix("#!").is_some_and(|rest| !rest.trim_start().starts_with('['));
    if is_for_a_shell || first.starts_with("---") {
        bail!("line 1: begin with the text or the code: the compiler leaves out what precedes it");
    }
    let tokens = tokens(source);
    for (index, token) in tokens.iter().enumerate() {
        let is_next =
            |by: usize, text: &str| tokens.get(index + by).is_some_and(|token| token.text == text);
        if let Some((_, why)) = REFUSED.iter().find(|(words, _)| words.contains(&token.text)) {
            bail!("line {}: `{}` {why}", token.line, token.text);
        }
        if token.text == "mod" && !is_next(2, "{") {
            bail!("line {}: a module of another file: a task's file stands by itself", token.line);
        }
    }
    Ok(())
}

/// Refuses a host file that could reach what is not its own.
pub fn refuse_host(source: &str) -> Result<()> {
    refuse(source)?;
    let tokens = tokens(source);
    for (index, Token { text, line }) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map_or("", |token| token.text);
        let is_refused = REFUSED_OF_HOST_FILES.split_whitespace().any(|word| word == *text)
            || text.ends_with("_unchecked")
            || text.ends_with("_unchecked_mut")
            || matches!((*text, next), ("*", "const" | "mut") | ("unsafe", "impl" | "trait"));
        if is_refused {
            let word = if ["*", "unsafe"].contains(text) {
                format!("{text} {next}")
            } else {
                (*text).to_owned()
            };
            bail!(
                "line {line}: `{word}` reaches memory or files by their numbers: a host file has references, slices and buffers"
            );
        }
    }
    Ok(())
}

/// A file without what makes no difference: comments and spaces.
pub fn essence(source: &str) -> String {
    let tokens = tokens(source);
    tokens.iter().flat_map(|token| [token.text, " "]).collect()
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let length = length(rest).max(first.len_utf8()).min(rest.len());
        let text = &rest[..length];
        let is_comment = text.starts_with("//") || text.starts_with("/*");
        if !first.is_whitespace() && !is_comment {
            tokens.push(Token { text: text.strip_prefix("r#").unwrap_or(text), line });
        }
        line += text.matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// Returns how many bytes the token, the comment or the space at the start of a text has.
fn length(text: &str) -> usize {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let word = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    // A prefix of a literal, such as `r`, `b` or `br`, is read with it; one of a raw word, too.
    let (prefix, behind) = text.split_at(word);
    if ["r", "br", "cr"].contains(&prefix) && behind.starts_with(['"', '#']) {
        let hashes = behind.len() - behind.trim_start_matches('#').len();
        if behind[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let inside = &behind[hashes + 1..];
            return word + hashes + 1 + inside.find(&end).map_or(inside.len(), |at| at + end.len());
        }
        let raw = behind[hashes..].find(|letter| !is_part(letter));
        return word + hashes + raw.unwrap_or(behind.len() - hashes);
    }
    if word > 0 && !(["b", "c"].contains(&prefix) && behind.starts_with(['"', '\''])) {
        return word;
    }
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return comment(text);
    }
    match behind.chars().next() {
        Some('"') => word + quoted(behind, '"'),
        // A lifetime has no second quote behind its first letter. Its name is read with it: the `r` of `'r` begins no string.
        Some('\'') if behind[1..].starts_with('\\') || behind.chars().nth(2) == Some('\'') => {
            word + quoted(behind, '\'')
        }
        Some('\'') => {
            let name = &behind[1..];
            1 + name.find(|letter: char| !is_part(letter)).unwrap_or(name.len())
        }
        _ => 1,
    }
}

/// The bytes of a literal between two quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}

/// The bytes of a comment, in which others may lie.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let step = match rest {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_other_text_is_refused_however_it_is_written() {
        for (source, part) in [
            ("\n#[path = \"x.rs\"] mod x;", "line 2: `path`"),
            ("#[cfg_attr(all(), path = \"x.rs\")] mod x {}", "`path`"),
            ("include!(\"x.rs\");", "`include`"),
            ("core::r#include /* */ ! (\"x.rs\");", "`include`"),
            ("use core::include as x;", "`include`"),
            ("const X: &str = include_str!(\"x\");", "`include_str`"),
            ("mod other;", "a module of another file"),
            ("macro_rules! m { ($a:tt) => { mod x $a } }", "a module of another file"),
            (
                "#![feature(macro_metavar_expr_concat)]\nmacro_rules! m { ($a:ident, $b:ident) => { ${concat($a, $b)}!(\"x\"); } }",
                "line 1: `feature`",
            ),
            ("fn f() { let _ = option_env!(\"HOME\"); }", "`option_env`"),
            ("extern \"C\" { fn kill(); }", "`extern`"),
            ("'a'; include!()", "`include`"),
            ("fn f<'a>() { include!() }", "`include`"),
            ("let x = '\\''; include!()", "`include`"),
            ("let x = br##\"\"# \"##; include!()", "`include`"),
            ("/* /* */ */ include!()", "`include`"),
            ("\"\\\\\"; include!()", "`include`"),
            ("é; include!()", "`include`"),
            // The compiler leaves out what is for a shell or a package manager.
            ("#!/*\nmod x;\n//*/", "line 1: begin"),
            ("\u{feff}#! /* */ x", "line 1: begin"),
            ("\n---\n/*\n---\nmod x;\n//*/", "line 1: begin"),
            // To the compiler a lifetime and a string that ends behind the blank.
            ("m!{ 'r\"\\\" \" include!(\"x\"); } //\"", "`include`"),
            ("m!{ 'br\"\\\" \" #[path = \"x\"] mod x; } //\"", "`path`"),
        ] {
            let error = refuse(source).expect_err(source).to_string();
            assert!(error.contains(part), "{source}: {error}");
        }
    }

    #[test]
    fn what_only_names_it_is_not() {
        for source in [
            "// include!(\"x\")\n",
            "/* mod x; */ fn f() {}",
            "let text = \"include mod x;\";",
            "let text = r#\"path \" include\"#;",
            "mod inside { pub fn f() {} }",
            "let paths = included;",
            "\u{feff}\n#! [allow(warnings)]",
            "b'\\'' ; 'x' ; c\"include\"",
        ] {
            refuse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        }
    }

    #[test]
    fn a_host_file_has_no_addresses_and_no_numbers_of_files() {
        for (source, part) in [
            ("let file = unsafe { File::from_raw_fd(5) };", "line 1: `from_raw_fd`"),
            ("let at = 4096 as *const u8;", "`* const`"),
            ("use std::{mem::*, io}; transmute::<i32, File>(5);", "`transmute`"),
            ("let at = &raw mut word;", "`raw`"),
            ("slice.get_unchecked(1 << 40)", "`get_unchecked`"),
            ("unsafe impl Pod for File {}", "`unsafe impl`"),
        ] {
            let error = refuse_host(source).expect_err(source).to_string();
            assert!(error.contains(part), "{source}: {error}");
        }
        refuse_host("let x = 2 * constant; unsafe { step() }; rows.raws; // ptr").unwrap();
    }

    #[test]
    fn comments_and_spaces_make_no_difference() {
        assert_eq!(essence("fn f ( ) {} // more"), essence("fn f(){\n}"));
        assert_ne!(essence("fn f() { 1 }"), essence("fn f() { 2 }"));
    }
}
