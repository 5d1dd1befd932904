//! Runs PTX kernels without a GPU and counts their memory traffic.
#![doc = include_str!("../README.md")]

mod compute;
mod cpu;
mod decode;
mod doubt;
mod error;
mod execute;
mod findings;
mod footprint;
mod hash;
mod heap;
mod image;
mod launch;
mod memory;
mod model;
mod module;
mod operation;
mod options;
mod program;
mod region;
mod registers;
mod report;
mod row;
mod tensor_map;
mod texture;
mod timing;
mod trace;
mod unroll;
mod windows;

pub use counters::{
    Counters, RequestCounts, RequestKind, RequestRecord, ServedWord, SourceLocation,
};
pub use decode::contraction::Contraction;
pub use error::{Error, Place, Position};
pub use execute::{run, run_printing, stop};
pub use findings::{Checks, Finding, Hazard};
pub use footprint::Footprint;
pub use launch::{Launch, Limits, validate};
pub use memory::{Allocation, Memory};
pub use model::{Estimate, L2, Latencies, LinkTraffic, Pieces, Window, piece_bytes};
pub use module::{
    Coverage, Kernel, Module, ModuleVariable, Parameter, ParameterKind, VariableSpace,
};
pub use options::{Options, Schedule, Watched};
pub use report::{InstructionReport, Report};
pub use tensor_map::{MAX_RANK, TensorMap};
pub use texture::{AddressMode, Format, Image, Level, Sampler, Shape, Texture};
pub use trace::{Register, Step, Trace};
