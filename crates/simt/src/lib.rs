//! Runs PTX kernels without a GPU and counts their memory traffic.
#![doc = include_str!("../README.md")]

mod compute;
mod counters;
mod cpu;
mod decode;
mod error;
mod execute;
mod findings;
mod launch;
mod listing;
mod memory;
mod metrics;
mod module;
mod program;
mod registers;
mod requests;
mod syntax;
mod types;

pub use counters::{COUNTERS, Counters, Traffic, Trust};
pub use error::{Error, Place, Position};
pub use findings::{Checks, Finding, Hazard};
pub use launch::{
    Estimate, InstructionReport, L2, Latencies, Launch, Limits, Options, Pieces, Report, Schedule,
    SourceLocation, Window, run, validate,
};
pub use listing::{ListedLine, listing};
pub use memory::{Allocation, Memory};
pub use metrics::{METRICS, Metric};
pub use module::{
    Coverage, Kernel, Module, ModuleVariable, Parameter, ParameterKind, VariableSpace,
};
pub use requests::{RequestKind, RequestRecord, ServedWord, Watched};
