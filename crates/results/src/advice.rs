use crate::counts::place;
use counters::SourceLocation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of waste. A catalogue says which of its variants teach the cure.
#[derive(
    Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Hash,
)]
#[serde(rename_all = "snake_case")]
pub enum AdviceKind {
    /// The lanes of a request are a fixed distance apart, so that each touches a sector of its own.
    StridedAccess,
    /// The lanes of a request use small parts of many sectors, without a fixed distance.
    ScatteredAccess,
    /// A request begins in the middle of a sector and touches one more than it needs.
    MisalignedAccess,
    /// Neighbouring loads of 4 or 8 bytes could be loads of 16 bytes.
    NarrowAccess,
    /// Lanes want different words of one bank of shared memory.
    BankConflict,
    /// Lanes update one address by an atomic instruction.
    ContendedAtomic,
    /// Lanes read different words of constant memory.
    DivergentConstant,
    /// The kernel keeps an array in local memory.
    LocalMemory,
    /// Lanes of a warp go different ways.
    Divergence,
    /// Too few warps are resident to hide the latency of memory.
    LowOccupancy,
    /// An asynchronous copy uses pageable memory.
    PageableCopy,
    /// Many copies are so small that their latency is most of their time.
    SmallCopies,
    /// Copies and kernels take turns that could overlap.
    MissingOverlap,
}

/// A piece of advice.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// The kind of waste.
    pub kind: AdviceKind,
    /// The kernel's name in the PTX; none where the program as a whole is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The line of the PTX, where one instruction is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx_line: Option<u32>,
    /// Its place in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLocation>,
    /// The count, as a sentence.
    pub seen: String,
    /// The lanes that show it, such as `lanes 0 and 1 read bytes 0 and 4096`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lanes: String,
    /// The change that cures it, as a sentence.
    pub cure: String,
    /// The count that the cure changes, where it can be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// Model: the time that the cure saves at most, in microseconds.
    pub gain_us: f64,
}

/// A promise that a count falls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The count, such as `sectors per request`.
    pub counter: String,
    /// The value now.
    pub from: f64,
    /// The value to come.
    pub to: f64,
}

impl Advice {
    /// The place that is meant, as a person reads it; empty where the program as a whole is meant.
    pub fn place(&self) -> String {
        let of_line = |line| place(self.source.as_ref(), line);
        self.ptx_line.map_or_else(String::new, of_line)
    }
}
