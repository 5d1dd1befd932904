//! The kernels' PTX, and NVIDIA's assembler on top of it.

use crate::workspace;
use anyhow::{Context, Result};
use cuda_builder::ptxas::{self, Resources};
use cuda_builder::toolchain::Toolchain;
use cuda_builder::{CudaBuilder, NvvmArch, PanicStrategy, install, write_whole};
use std::path::PathBuf;

pub const TARGETS: [NvvmArch; 3] = [NvvmArch::Compute70, NvvmArch::Compute80, NvvmArch::Compute90];

/// Makes sure there is a compiler; `setup`, `build` and `doctor` say which.
pub fn setup() -> Result<Toolchain> {
    Ok(install::ensure_toolchain()?)
}

pub fn build(arch: NvvmArch) -> Result<PathBuf> {
    Ok(builder(arch).build()?)
}

/// The builder all of our PTX comes from.
pub fn builder(arch: NvvmArch) -> CudaBuilder {
    CudaBuilder::new(workspace::root().join("kernels"))
        .arch(arch)
        .panic(PanicStrategy::Trap)
        .target_dir(workspace::target_dir())
}

/// NVIDIA's assembler, if it is here.
pub fn ptxas() -> Option<PathBuf> {
    ptxas::find_tool("ptxas", &workspace::target_dir())
}

/// A file with the machine code of all kernels for the newest architecture; `None` without NVIDIA's tools.
pub fn machine_code() -> Result<Option<PathBuf>> {
    let tool = |name| ptxas::find_tool(name, &workspace::target_dir());
    let (Some(assembler), Some(disassembler)) = (tool("ptxas"), tool("nvdisasm")) else {
        return Ok(None);
    };
    let newest = TARGETS[TARGETS.len() - 1];
    let ptx = build(newest)?;
    let (cubin, listing) = (ptx.with_extension("cubin"), ptx.with_extension("sass"));
    ptxas::assemble(&assembler, &ptx, newest.processor(), Some(&cubin))?;
    let text = ptxas::disassemble_all(&disassembler, &cubin)?;
    write_whole(&listing, text.as_bytes())?;
    Ok(Some(listing))
}

/// Returns what every kernel needs on one processor, from the newest PTX it runs.
pub fn resources(ptxas: &std::path::Path, processor: NvvmArch) -> Result<Vec<Resources>> {
    let target = TARGETS
        .into_iter()
        .rfind(|target| *target <= processor)
        .context("no PTX for this processor")?;
    Ok(ptxas::assemble(ptxas, &build(target)?, processor.processor(), None)?)
}
