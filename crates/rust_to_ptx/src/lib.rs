//! The Rust and the CUDA C++ of the course's kernels to PTX, in pure Rust: it runs where no compiler does, such as in a
//! page.
//!
//! It reads a part of each language, and gives that part the meaning that rustc gives it in a release build, and nvcc.
//! Anything else is refused with a place and a sentence. Lifetimes, moves and overloads are not looked at, so that it may
//! take a file that those refuse; whatever both take has the same results, findings and counts, which
//! `course/tests/front_end.rs` proves of every kernel of the course. Both languages become one tree, which is lowered.
#![allow(missing_docs, reason = "this crate is not published")]

mod check;
mod cuda;
mod library;
mod lower;
mod names;
mod tree;
mod walk;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};
pub use tree::{Place, Refusal};

/// Compiles a file; `name` is that of its line table.
///
/// # Errors
/// The first thing that is not read here, with its place.
pub fn compile(source: &str, name: &str) -> std::result::Result<String, Refusal> {
    refuse_deep(source)?;
    let file: syn::File = syn::parse_str(source).map_err(|error| parse_error(&error))?;
    let mut check = check::check(&file)?;
    lower::ptx(&mut check, name)
}

/// Compiles a file of CUDA C++.
///
/// # Errors
/// As [`compile`].
pub fn compile_cuda(source: &str, name: &str) -> std::result::Result<String, Refusal> {
    refuse_long(source)?;
    let (checked, types) = cuda::check(source)?;
    lower::ptx(&mut check::checked(checked, types), name)
}

/// The longest file.
const MAX_BYTES: usize = 1 << 16;
/// The most brackets around something, and the most words of a statement together with those around it: what reads a file
/// recurses, and a page has a stack of 1 MiB.
const MAX_BRACKETS: usize = 32;
const MAX_WORDS: usize = 600;

fn refuse_long(source: &str) -> std::result::Result<(), Refusal> {
    if source.len() <= MAX_BYTES {
        return Ok(());
    }
    let place = Place { line: 1, column: 1 };
    Err(Refusal { place, message: format!("a file has at most {MAX_BYTES} bytes here") })
}

/// Refuses a file that would take more stack than there is.
fn refuse_deep(source: &str) -> std::result::Result<(), Refusal> {
    let refuse = |place, message: String| Err(Refusal { place, message });
    refuse_long(source)?;
    let tokens: TokenStream =
        source.parse().map_err(|error: LexError| parse_error(&error.into()))?;
    // Groups under way: their tokens, the words of the present statement, and whether it may have ended.
    let mut groups = vec![(tokens.into_iter(), 0, false)];
    while let Some((tokens, words, has_ended)) = groups.last_mut() {
        let Some(token) = tokens.next() else {
            groups.pop();
            continue;
        };
        let is_else = matches!(&token, TokenTree::Ident(word) if word == "else");
        if std::mem::take(has_ended) && !is_else {
            *words = 0;
        }
        *words += 1;
        match &token {
            TokenTree::Punct(mark) => *has_ended = matches!(mark.as_char(), ';' | ','),
            TokenTree::Group(group) => {
                *has_ended = group.delimiter() == Delimiter::Brace;
                groups.push((group.stream().into_iter(), 0, false));
            }
            _ => {}
        }
        if groups.len() > MAX_BRACKETS
            || groups.iter().map(|group| group.1).sum::<usize>() > MAX_WORDS
        {
            let message = "this is nested too deep, or too long for a statement, here".to_owned();
            return refuse(check::place(token.span()), message);
        }
    }
    Ok(())
}

pub(crate) fn parse_error(error: &syn::Error) -> Refusal {
    Refusal { place: check::place(error.span()), message: error.to_string() }
}

/// A path as it is written.
pub(crate) fn show(path: &syn::Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
    names.join("::")
}
