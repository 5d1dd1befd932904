//! The patterns: launches, sizes and results, a file for each.

mod saxpy;
mod sum;
mod transpose;

/// All of them, in the order in which `cargo coalesce list` shows them.
pub static ALL: &[&coalesce::pattern::Pattern] =
    &[&saxpy::PATTERN, &transpose::PATTERN, &sum::PATTERN];
