//! Counts: what a catalogue's patterns are, and what their kernels do, found by executing them.
//!
//! With these a report needs no GPU, no executor and no source file.

use crate::counters::{Counters, RequestCounts};
use crate::error::{FileKind, Result};
use crate::read::read_json;
use crate::timeline::Timeline;
use crate::write;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the format of counts.
pub const COUNTS_SCHEMA: u32 = 1;

/// What was counted of a catalogue, or of a part of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// [`COUNTS_SCHEMA`].
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
    /// Whether all its work is the host's.
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
    /// What it is the number of.
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
    /// What changed from the variant before.
    pub summary: String,
    /// How the expected counts come about.
    pub arithmetic: String,
    /// The bytes that it has to move at this size.
    pub bytes: usize,
    /// The sums over all its kernels.
    pub counters: Counters,
    /// Single-precision additions and multiplications, lane by lane; a fused one is two.
    pub flops_f32: u64,
    /// Its own kernel first, then others that it launches; none for work of the host.
    pub kernels: Vec<CountedKernel>,
    /// What ran when, for work of the host.
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

/// What one instruction did.
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
    /// What was counted.
    pub counters: Counters,
    /// The first request of the first warp, one of each kind; of local memory and matrices none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestRecord>,
}

/// Where an instruction comes from in the source that was compiled to PTX.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SourceLocation {
    /// The file as the compiler names it.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The places that the code was inlined into, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined_at: Vec<(String, u32)>,
}

/// What a request does.
#[derive(
    Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Hash,
)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// A load of global memory.
    GlobalLoad,
    /// A store to global memory.
    GlobalStore,
    /// An atomic on global memory, with or without a result.
    GlobalAtomic,
    /// The global side of an asynchronous copy.
    AsyncCopySource,
    /// A bulk copy: one lane has many bytes of global memory copied.
    BulkCopy,
    /// The shared side of an asynchronous copy.
    AsyncCopyTarget,
    /// A load of shared memory.
    SharedLoad,
    /// A store to shared memory.
    SharedStore,
    /// An atomic on shared memory.
    SharedAtomic,
    /// A load of constant memory, or of a kernel parameter with an index.
    ConstantLoad,
}

/// One request of a warp.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RequestRecord {
    /// What it does.
    pub kind: RequestKind,
    /// The bytes that each lane asks for.
    pub bytes: u32,
    /// The address of each lane that takes part: in device memory, or from the start of the block's shared memory.
    pub lanes: [Option<u64>; 32],
    /// What was counted of this request.
    pub traffic: RequestCounts,
    /// The words that each wavefront serves, for shared and constant memory. Which of the words of one bank comes first
    /// is not documented: here it is the lowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<Vec<ServedWord>>,
}

/// A word that a wavefront serves, with the lanes that want it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ServedWord {
    /// The word's address / 4.
    pub index: u64,
    /// The lanes, one bit each.
    pub lanes: u32,
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

impl SourceLocation {
    /// The place that a kernel's author sees: the call site of inlined code.
    pub fn outermost(&self) -> (&str, u32) {
        match self.inlined_at.last() {
            Some((file, line)) => (file, *line),
            None => (&self.file, self.line),
        }
    }

    /// The innermost of its places that lies in a file whose name ends like this. The compiler gives code that belongs
    /// to no line of a file the line 0, which is not a place.
    pub fn line_in(&self, file: &str) -> Option<u32> {
        let own = (&self.file, self.line);
        let around = self.inlined_at.iter().map(|(file, line)| (file, *line));
        let mut places = std::iter::once(own).chain(around);
        places.find(|(name, line)| name.ends_with(file) && *line > 0).map(|(_, line)| line)
    }
}

impl ServedWord {
    /// The bank of shared memory that the word lies in.
    pub fn bank(&self) -> u32 {
        (self.index % 32) as u32
    }
}

impl RequestRecord {
    /// The 32-byte sectors of global memory that the lanes touch, by number, ascending.
    pub fn sectors(&self) -> Vec<u64> {
        let mut sectors: Vec<u64> = self
            .lanes
            .iter()
            .flatten()
            .flat_map(|address| address / 32..(address + u64::from(self.bytes)).div_ceil(32))
            .collect();
        sectors.sort_unstable();
        sectors.dedup();
        sectors
    }
}
