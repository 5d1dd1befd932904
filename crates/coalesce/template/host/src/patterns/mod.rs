//! What is launched, at which sizes, and what must come out, a file for each.

mod saxpy;
mod sum;
mod transpose;

/// All of them, in the order in which `cargo coalesce list` shows them.
pub static ALL: &[&coalesce::pattern::Pattern] =
    &[&saxpy::PATTERN, &transpose::PATTERN, &sum::PATTERN];
