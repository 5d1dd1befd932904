//! Kernels of cuda-samples with a waste, and the edits that follow the advice on them (`cases.toml`).

use anyhow::{Context, Result};
use serde::Deserialize;

/// A replacement in a file of a sample.
#[derive(Deserialize)]
pub struct Edit {
    /// The fragment is the first after this text.
    pub after: String,
    pub fragment: String,
    pub by: String,
}

/// A kernel, its launch, and the advice applied.
#[derive(Deserialize)]
pub struct Case {
    /// The sample's folder below `Samples`.
    pub folder: String,
    pub unit: String,
    pub file: String,
    /// The kernel as the table names it.
    pub name: String,
    /// A name that chooses it, as `coalesce explain FILE.ptx:NAME` takes it.
    pub kernel: String,
    /// The launch, as `coalesce explain` takes it.
    pub launch: String,
    pub change: String,
    pub edits: Vec<Edit>,
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// All of them, in the order of the table.
pub fn cases() -> Result<Vec<Case>> {
    let cases: Cases = toml::from_str(include_str!("cases.toml")).context("cases.toml")?;
    Ok(cases.case)
}
