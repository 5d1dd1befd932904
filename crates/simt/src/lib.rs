//! Runs PTX kernels without a GPU and counts their memory traffic.
#![doc = include_str!("../README.md")]

mod compute;
mod cpu;
mod decode;
mod error;
mod execute;
mod findings;
mod folds;
mod fragment;
#[cfg(all(windows, target_env = "gnu"))]
mod fused;
mod hash;
mod heap;
mod image;
mod launch;
mod location;
mod memory;
mod module;
mod observer;
mod operation;
mod options;
mod pipes;
mod pressure;
mod printf;
mod program;
mod progress;
mod region;
mod register;
mod registers;
mod relevant;
mod report;
mod spin_loops;
mod tensor_map;
mod texture;
mod trace;
mod uninitialized;
mod unroll;
mod windows;

pub use counters::{
    Counters, RequestCounts, RequestKind, RequestRecord, ServedWord, SourceLocation,
};
pub use decode::contraction::Contraction;
pub use error::{Error, Place, Position};
pub use execute::{Sharer, run, run_observed, stop};
pub use findings::{Checks, Finding, Hazard, Remedy};
pub use launch::{Launch, Limits, validate};
pub use location::Location;
pub use memory::Memory;
pub use module::{
    Coverage, Kernel, Module, ModuleVariable, Parameter, ParameterKind, VariableSpace,
};
pub use observer::{
    AccessKind, AtomicKind, InstructionClass, InstructionFacts, MemorySpace, Observer, WarpAccess,
};
pub use operation::Builtin;
pub use options::{Options, Schedule};
pub use pipes::Pipes;
pub use progress::{Progress, under_way};
pub use races::{Footprint, Scope};
pub use region::Allocation;
pub use report::{DeviceWork, DeviceWorkKind, InstructionReport, KernelLaunch, Report};
pub use tensor_map::{MAX_RANK, PixelBox, TensorMap};
pub use texture::{AddressMode, Format, Image, Level, Sampler, Shape, Texture};
pub use trace::{Step, Trace, TracedRegister, Watched};

/// The old name of [`TracedRegister`].
#[deprecated(since = "0.2.0", note = "it is `TracedRegister`")]
pub type Register = TracedRegister;

/// The old name of [`RequestCounts`].
#[deprecated(since = "0.2.0", note = "it is `RequestCounts`")]
pub type Traffic = RequestCounts;

/// The old name of [`run_observed`] without an observer.
///
/// # Errors
/// As for [`run`].
#[deprecated(since = "0.2.0", note = "it is `run_observed`")]
pub fn run_printing(
    module: &Module,
    memory: &mut Memory,
    launch: &Launch,
    options: &Options,
    printed: &mut String,
) -> Result<Report, Error> {
    let mut before_failure = Report::default();
    let ran = run_observed(module, memory, launch, options, &mut before_failure, None);
    *printed = before_failure.printed;
    ran
}
