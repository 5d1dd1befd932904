//! Lesson zero, as documentation: docs of kernels link a term as `[sector]: cuda_std::glossary#sector`.
//!
//! ```
//! assert!(cuda_std::glossary::TEXT.contains("\n## sector\n"));
//! ```
#![doc = include_str!("glossary.md")]

/// The glossary, Markdown: a `## ` heading per term.
pub const TEXT: &str = include_str!("glossary.md");
