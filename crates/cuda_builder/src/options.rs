//! Options of a build, step by step: each step sees its own options and nothing else.

use crate::load_caching::LoadCaching;
use std::path::PathBuf;

/// The variable that makes the build script of the package it names write the folder `ptx`, see [`crate::Images`].
pub const WRITE_PTX_VARIABLE: &str = "COALESCE_WRITE_PTX";

/// The amount of debug information in the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugInfo {
    /// None.
    None,
    /// `.loc` directives: profilers and the executor name Rust lines.
    LineTables,
}

/// The effect of a panic on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanicStrategy {
    /// Prints file, line and message, then traps.
    Print,
    /// Only traps: the smallest code.
    Trap,
}

/// Options that decide the bitcode of a crate for one architecture.
#[derive(Clone, Debug)]
pub(crate) struct CompileOptions {
    /// Cargo's release profile, or its dev profile.
    pub(crate) release: bool,
    pub(crate) debug: DebugInfo,
    pub(crate) panic: PanicStrategy,
    /// More arguments for `cargo rustc`.
    pub(crate) arguments: Vec<String>,
}

/// Options that decide the PTX of a file of bitcode.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoweringOptions {
    pub(crate) ftz: bool,
    pub(crate) fast_sqrt: bool,
    pub(crate) fast_div: bool,
    pub(crate) fma_contraction: bool,
    pub(crate) load_caching: LoadCaching,
    /// The folder for the final LLVM IR.
    pub(crate) llvm_ir_to: Option<PathBuf>,
    /// True when the final LLVM IR goes beside the copy of the PTX, too.
    pub(crate) emit_llvm_ir: bool,
    /// True when rustc's bitcode does.
    pub(crate) emit_llvm_bitcode: bool,
    pub(crate) final_module: Option<PathBuf>,
    /// Kernels whose name does not begin so are left out.
    pub(crate) only: Option<String>,
}
