//! Counts: what a catalogue's patterns are, and what their kernels do, found by executing them.
//!
//! With these a report needs no GPU, no executor and no source file.

use crate::error::{FileKind, Result};
use crate::read::read_json;
use crate::timeline::Timeline;
use crate::write;
use counters::{Counters, RequestRecord, SourceLocation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the format of counts.
pub const COUNTS_SCHEMA: u32 = 1;

/// Counts of a catalogue, or of a part of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// [`COUNTS_SCHEMA`].
    #[serde(rename = "schema", alias = "counts_schema")]
    pub counts_schema: u32,
    /// The catalogue's name.
    pub catalogue: String,
    /// The commit of the binary.
    pub commit: String,
    /// The PTX that the binary carries, oldest target first.
    pub images: Vec<PtxImage>,
    /// In teaching order.
    pub patterns: Vec<CountedPattern>,
    /// Claims that the catalogue's figures refute, in Markdown; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub myths: String,
}

/// A PTX text for one target.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PtxImage {
    /// Such as `sm_90`.
    pub target: String,
    /// The start of the SHA-256 of the text.
    pub hash: String,
}

/// A pattern, and what its variants did at one size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CountedPattern {
    /// Its name.
    pub name: String,
    /// The one claim that a reader leaves with.
    pub claim: String,
    /// The teaching doc, Markdown.
    pub doc: String,
    /// True when all its work is the host's.
    pub is_host_work: bool,
    /// The file that the source is in, below the workspace.
    pub file: String,
    /// That file's text.
    pub source: String,
    /// The numbers of a size.
    pub dimensions: Vec<CountedDimension>,
    /// The size at which it was counted, such as `rows=64, columns=96`.
    pub size: String,
    /// Naive first.
    pub variants: Vec<CountedVariant>,
}

/// One number of a size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CountedDimension {
    /// Its name.
    pub name: String,
    /// The meaning of the number.
    pub meaning: String,
    /// The names of its values, where they are choices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// A variant, and what it did.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CountedVariant {
    /// Its name.
    pub name: String,
    /// The change from the variant before.
    pub summary: String,
    /// The arithmetic of the expected counts.
    pub arithmetic: String,
    /// The bytes that it has to move at this size.
    pub bytes: usize,
    /// The sums over all its kernels.
    pub counters: Counters,
    /// Single-precision additions and multiplications, lane by lane; a fused one is two.
    pub flops_f32: u64,
    /// Its own kernel first, then others that it launches; none for work of the host.
    pub kernels: Vec<CountedKernel>,
    /// The timeline of work of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
}

/// A kernel, and what its instructions did.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CountedKernel {
    /// Its name.
    pub name: String,
    /// The target of its PTX, such as `sm_90`.
    pub target: String,
    /// Registers per thread that NVIDIA's assembler gave it for that target, if that is known.
    pub registers: Option<u32>,
    /// Its PTX without comments and line tables.
    pub ptx: Vec<PtxLine>,
    /// The instructions that asked something of memory, in the order of the PTX.
    pub instructions: Vec<InstructionCounts>,
}

/// A line of PTX.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct PtxLine(
    /// Its number in the whole text, from 1.
    pub u32,
    /// The line.
    pub String,
);

/// Counts of one instruction.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct InstructionCounts {
    /// Its line in the PTX.
    pub ptx_line: u32,
    /// Its place in the source, from `.loc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLocation>,
    /// Other threads write what it reads, and that decides whether a loop around it goes on: how often that loop runs
    /// depends on timing, on a GPU more than in the executor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub depends_on_timing: bool,
    /// The counts.
    pub counters: Counters,
    /// The first request of the first warp, one of each kind; of local memory and matrices none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestRecord>,
}

/// A place as a person reads it: the line of the source, or that of the PTX.
pub fn place(source: Option<&SourceLocation>, ptx_line: u32) -> String {
    match source.map(SourceLocation::outermost) {
        Some((file, line)) if line > 0 => format!("{file}:{line}"),
        _ => format!("PTX line {ptx_line}"),
    }
}

impl Counts {
    /// Reads a file of `coalesce count`.
    ///
    /// # Errors
    /// A file that is none, or one of another version.
    pub fn load(path: &Path) -> Result<Counts> {
        read_json(path, FileKind::Counts, [COUNTS_SCHEMA; 2])
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// When the folder or the disk does not take it.
    pub fn save(&self, path: &Path) -> Result<()> {
        write::write(path, &serde_json::to_vec(self)?)
    }

    /// A pattern by its name.
    pub fn pattern(&self, name: &str) -> Option<&CountedPattern> {
        self.patterns.iter().find(|pattern| pattern.name == name)
    }
}

impl CountedPattern {
    /// A variant by its name.
    pub fn variant(&self, name: &str) -> Option<&CountedVariant> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}
