//! The Rust of the course's kernels to PTX, in pure Rust: it runs where no compiler does, such as in a page.
//!
//! It reads a part of the language, and gives that part the meaning that rustc gives it in a release build. What it does
//! not know it refuses with a place and a sentence. It does not know lifetimes, moves and references, so that it may take
//! a file that rustc refuses; whatever both take has the same results, findings and counts, which
//! `course/tests/front_end.rs` proves of every kernel of the course.
#![allow(missing_docs, reason = "this crate is not published")]

mod check;
mod library;
mod lower;
mod tree;
mod walk;

pub use tree::{Place, Refusal};

/// Compiles a file; `name` is that of its line table.
///
/// # Errors
/// The first thing that is not read here, with its place.
pub fn compile(source: &str, name: &str) -> std::result::Result<String, Refusal> {
    let file: syn::File = syn::parse_str(source).map_err(|error| parse_error(&error))?;
    let mut check = check::check(&file)?;
    lower::ptx(&mut check, name)
}

pub(crate) fn parse_error(error: &syn::Error) -> Refusal {
    Refusal { place: check::place(error.span()), message: error.to_string() }
}

/// A path as it is written.
pub(crate) fn show(path: &syn::Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
    names.join("::")
}
