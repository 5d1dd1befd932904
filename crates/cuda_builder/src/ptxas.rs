//! Assembles PTX with NVIDIA's `ptxas`, where there is one, and reads what each kernel needs.
//!
//! ```no_run
//! use cuda_builder::ptxas;
//!
//! let found = ptxas::find_tool("ptxas", "target".as_ref()).expect("NVIDIA's assembler");
//! for kernel in ptxas::assemble(&found, "kernels.ptx".as_ref(), "sm_90", None)? {
//!     println!("{}: {} registers", kernel.kernel, kernel.registers);
//! }
//! # Ok::<(), cuda_builder::CudaBuilderError>(())
//! ```

use crate::error::CudaBuilderError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest version of PTX that the assembler knows of those that `xtask setup --sass` installs.
const NEWEST: (u32, u32) = (9, 0);

/// The resources of one kernel on one processor, as `ptxas` reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// The kernel's entry name.
    pub kernel: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of static shared memory per block.
    pub shared_bytes: u32,
    /// Bytes of local memory per thread (the stack frame, spills included).
    pub local_bytes: u32,
    /// Bytes stored to local memory because registers ran out.
    pub spill_store_bytes: u32,
    /// Bytes loaded back.
    pub spill_load_bytes: u32,
    /// Bytes of constant memory the module declares.
    pub constant_bytes: u32,
    /// Hardware barriers used.
    pub barriers: u32,
}

/// Finds one of NVIDIA's tools: the folder of `xtask setup --sass` below `target_dir`, PATH,
/// `CUDA_HOME`, `CUDA_PATH`, then `/usr/local/cuda`.
pub fn find_tool(name: &str, target_dir: &Path) -> Option<PathBuf> {
    let wheels = crate::install::sass_tools_dir(target_dir);
    let own = ["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin", "bin"]
        .map(|folder| wheels.join(folder).join(name));
    let toolkits = ["CUDA_HOME", "CUDA_PATH"]
        .iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from)
        .chain([PathBuf::from("/usr/local/cuda")])
        .map(|root| root.join("bin").join(name));
    own.into_iter()
        .find(|path| path.exists())
        .or_else(|| which::which(name).ok())
        .or_else(|| toolkits.into_iter().find(|path| path.exists()))
}

/// Assembles `ptx` for `processor` (`sm_90`), writes the machine code to `cubin` when asked, and
/// returns what each kernel needs, in the order of the file. What kernels wish of a newer assembler, this one is told.
///
/// # Errors
/// [`CudaBuilderError::ToolFailed`] with ptxas's message, which names the line.
pub fn assemble(
    ptxas: &Path,
    ptx: &Path,
    processor: &str,
    cubin: Option<&Path>,
) -> Result<Vec<Resources>, CudaBuilderError> {
    let temporary = || {
        tempfile::NamedTempFile::new().map_err(CudaBuilderError::io("create", "a temporary file"))
    };
    let scratch = temporary()?;
    let text = std::fs::read_to_string(ptx).map_err(CudaBuilderError::io("read", ptx))?;
    let directed = match ::ptx::shared_spills::directed(&text, NEWEST) {
        Some(text) => {
            let file = temporary()?;
            std::fs::write(file.path(), text)
                .map_err(CudaBuilderError::io("write", file.path()))?;
            Some(file)
        }
        None => None,
    };
    let done = Command::new(ptxas)
        .args(["-v", "-O3", "-lineinfo", "-arch", processor])
        .arg(directed.as_ref().map_or(ptx, |file| file.path()))
        .arg("-o")
        .arg(cubin.unwrap_or(scratch.path()))
        .output()
        .map_err(CudaBuilderError::io("start", ptxas))?;
    let report =
        String::from_utf8_lossy(&done.stderr).into_owned() + &String::from_utf8_lossy(&done.stdout);
    if !done.status.success() {
        return Err(CudaBuilderError::ToolFailed {
            tool: format!("{} -arch {processor}", ptxas.display()),
            input: ptx.to_owned(),
            output: report,
        });
    }
    Ok(resources(&report))
}

/// The machine code of one kernel of a `cubin`, by `cuobjdump`, which calls `nvdisasm` by name: the two
/// lie in one folder or `nvdisasm` is on PATH.
///
/// # Errors
/// [`CudaBuilderError::ToolFailed`] with cuobjdump's message.
pub fn disassemble(
    cuobjdump: &Path,
    cubin: &Path,
    kernel: &str,
) -> Result<String, CudaBuilderError> {
    let folder = cuobjdump.parent().unwrap_or(Path::new(".")).to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
    let mut command = Command::new(cuobjdump);
    command
        .env("PATH", std::env::join_paths(folders).unwrap_or(path.clone()))
        .args(["--dump-sass", "--function", kernel])
        .arg(cubin);
    printed(command, cuobjdump, cubin)
}

/// The machine code of all kernels of a `cubin`, by `nvdisasm`, with comments that say which line of which file each
/// instruction comes from.
///
/// # Errors
/// [`CudaBuilderError::ToolFailed`] with nvdisasm's message.
pub fn disassemble_all(nvdisasm: &Path, cubin: &Path) -> Result<String, CudaBuilderError> {
    let mut command = Command::new(nvdisasm);
    command.args(["--print-code", "--print-line-info-inline"]).arg(cubin);
    printed(command, nvdisasm, cubin)
}

/// Returns what a tool prints of a file.
fn printed(mut command: Command, tool: &Path, input: &Path) -> Result<String, CudaBuilderError> {
    let done = command.output().map_err(CudaBuilderError::io("start", tool))?;
    if !done.status.success() {
        return Err(CudaBuilderError::ToolFailed {
            tool: tool.display().to_string(),
            input: input.to_owned(),
            output: String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn resources(report: &str) -> Vec<Resources> {
    let mut kernels: Vec<Resources> = Vec::new();
    for line in report.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            let kernel = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(Resources {
                kernel,
                registers: 0,
                shared_bytes: 0,
                local_bytes: 0,
                spill_store_bytes: 0,
                spill_load_bytes: 0,
                constant_bytes: 0,
                barriers: 0,
            });
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        if line.contains("bytes stack frame") {
            kernel.local_bytes = number_before(line, "bytes stack frame");
            kernel.spill_store_bytes = number_before(line, "bytes spill stores");
            kernel.spill_load_bytes = number_before(line, "bytes spill loads");
        } else if line.contains("Used ") {
            kernel.registers = number_before(line, "registers");
            kernel.barriers = number_before(line, "barriers");
            kernel.shared_bytes = number_before(line, "bytes smem");
            kernel.constant_bytes = number_before(line, "bytes cmem[3]");
        }
    }
    kernels
}

/// The number that stands before `unit` in `line`, or 0.
fn number_before(line: &str, unit: &str) -> u32 {
    line.find(unit)
        .and_then(|at| line[..at].split_whitespace().last())
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_per_kernel() {
        let report = "ptxas info    : 16 bytes gmem, 64 bytes cmem[3]\n\
            ptxas info    : Compiling entry function 'first' for 'sm_90'\n\
            ptxas info    : Function properties for first\n    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 32 registers, used 1 barriers, 4224 bytes smem, 64 bytes cmem[3]\n\
            ptxas info    : Compiling entry function 'second' for 'sm_90'\n\
            ptxas info    : Function properties for second\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers, used 0 barriers\n";
        let found = resources(report);
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0],
            Resources {
                kernel: "first".into(),
                registers: 32,
                shared_bytes: 4224,
                local_bytes: 8,
                spill_store_bytes: 4,
                spill_load_bytes: 12,
                constant_bytes: 64,
                barriers: 1
            }
        );
        assert_eq!(
            (found[1].kernel.as_str(), found[1].registers, found[1].shared_bytes),
            ("second", 8, 0)
        );
    }
}
