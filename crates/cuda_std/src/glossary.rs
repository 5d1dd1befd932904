//! Lesson zero, as documentation: docs of kernels link a term as `[sector]: cuda_std::glossary#sector`.
#![doc = include_str!("glossary.md")]

/// The glossary, Markdown: a `## ` heading per term.
pub const TEXT: &str = include_str!("glossary.md");
