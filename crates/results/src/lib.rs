//! Result files: what was measured (`coalesce bench`), what was counted by executing kernels (`coalesce count`), what a
//! program of others did (`coalesce run`), their JSON schema, and the comparison of two files.
//!
//! Plain data: no driver, no executor and no kernel compiler is needed to read or write them.

mod accuracy;
mod advice;
mod compare;
mod compared;
mod counts;
mod error;
mod fidelity;
pub mod fleet;
mod listing;
mod os;
mod plain;
mod predictions;
mod profile;
mod read;
mod renamed;
mod resource;
mod run;
mod sarif;
mod schemas;
mod spread;
mod timeline;
mod traffic;
mod write;

pub use accuracy::{Accuracy, Misordered, misordered, unranked};
pub use advice::{Advice, AdviceKind, Promise};
pub use compare::{Agreement, Checked, Pair, Verdict, agreement, check, differences, pairs};
pub use compared::{
    COMPARED_SCHEMA, ComparedRow, Comparison, FleetReport, JudgedBoard, JudgedFleet, SlowBoard,
    UnsoundBoard,
};
pub use counters::{
    Counters, Engine, Hazard, MisuseKind, OperationKind, RequestCounts, RequestKind, RequestRecord,
    ServedWord, SourceLocation,
};
pub use counts::{
    COUNTS_SCHEMA, CountedDimension, CountedKernel, CountedPattern, CountedVariant, Counts,
    InstructionCounts, PtxImage, PtxLine, place,
};
pub use error::{Error, FileKind, Result};
pub use fidelity::Fidelity;
pub use listing::{
    CHECKED_SCHEMA, CheckedCount, CheckedTask, CheckedTasks, LISTED_SCHEMA, LaunchOutcome,
    ListedPattern, ListedVariant, PatternList, VERIFIED_SCHEMA, VerifiedDevice, VerifiedLaunch,
    VerifiedMisuse, VerifyReport,
};
pub use plain::plain;
pub use predictions::add_predictions;
pub use profile::{
    CodePlace, FailOn, Mistake, PROFILE_SCHEMA, ParseFailOnError, ProfiledFault, ProfiledHazard,
    ProfiledInstruction, ProfiledKernel, ProgramProfile,
};
pub use read::read_text;
pub use renamed::{Renamed, twin};
pub use resource::{Resource, fp32_lanes, tensor_bf16_per_clock};
pub use run::{
    Board, DeviceFacts, Environment, Host, Measured, MeasuredPeak, MinimumTime, Resources, Results,
    Row, RowOutcome, SCHEMA, json_schema,
};
pub use sarif::{Sarif, SarifLevel};
pub use schemas::schemas;
pub use spread::Spread;
pub use timeline::{Interval, Origin, Timeline};
pub use traffic::Traffic;
pub use write::{check_writable, is_file, write, write_json, write_somewhere};

/// The old name of [`OperationKind`].
#[deprecated(since = "0.2.0", note = "it is `OperationKind`")]
pub type Kind = OperationKind;
