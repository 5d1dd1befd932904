//! The second half of a build: from LLVM bitcode to PTX text.

use crate::arch::NvvmArch;
use crate::error::{CudaBuilderError, MAX_CONSTANT_BYTES};
use crate::options::LoweringOptions;
use crate::toolchain::Toolchain;
use crate::{ir, kernels, load_caching, local_memory, unsupported, version};
use std::path::{Path, PathBuf};

/// Rewrites, optimizes and lowers the `bitcode` of the crate in folder `path`; returns the PTX text, which is going to
/// `output`. Beside it lie the files of the steps, of which `.ll` is the LLVM IR that became PTX.
pub(crate) fn ptx(
    path: &Path,
    own_crate: &str,
    options: &LoweringOptions,
    toolchain: &Toolchain,
    arch: NvvmArch,
    bitcode: &Path,
    output: &Path,
) -> Result<String, CudaBuilderError> {
    let processor = format!("-mcpu={}", arch.processor());
    let step = |name: &str| output.with_extension(name);

    let compiled = step("rustc.ll");
    run(toolchain, "llvm-dis", bitcode, &compiled, &[])?;
    let placed = step("spaces.ll");
    let (compiled, records) = kernels::name(&read(&compiled)?, own_crate)?;
    let kept = match &options.only {
        Some(prefix) => ir::only_kernels(&compiled, prefix).ok_or_else(|| {
            CudaBuilderError::NoSuchKernels { path: path.to_owned(), prefix: prefix.clone() }
        })?,
        None => compiled,
    };
    let rewritten = ir::rewrite(&kept)?;
    write(&placed, &rewritten)?;

    let optimized = step("optimized.ll");
    run(toolchain, "opt", &placed, &optimized, &["-S", "-passes=default<O3>", &processor])?;
    let unprotected = step("unprotected.ll");
    write(&unprotected, &ir::without_used_lists(&read(&optimized)?))?;
    let final_ir = step("ll");
    run(toolchain, "opt", &unprotected, &final_ir, &["-S", "-passes=globaldce", &processor])?;

    let Some(version) = arch.ptx_version() else {
        return Err(CudaBuilderError::NoSuchTarget { arch });
    };
    let version = format!("-mattr={version}");
    let mut flags = vec!["-O3", processor.as_str(), version.as_str()];
    if options.fma_contraction {
        flags.push("-fp-contract=fast");
    }
    if options.ftz {
        flags.push("-denormal-fp-math-f32=preserve-sign");
    }
    if options.fast_sqrt {
        flags.push("-nvptx-prec-sqrtf32=0");
    }
    if options.fast_div {
        flags.push("-nvptx-prec-divf32=0");
    }
    let lowered = step("lowered.ptx");
    run(toolchain, "llc", &final_ir, &lowered, &flags).map_err(|error| match &error {
        CudaBuilderError::ToolFailed { output, .. } => {
            let module = std::fs::read_to_string(&final_ir).unwrap_or_default();
            unsupported::error(output, &module).unwrap_or(error)
        }
        _ => error,
    })?;
    let mut ptx = read(&lowered)?;
    let tree = ptx::parse(&ptx)?;
    check_constants(&tree)?;
    kernels::check_barriers(&tree, &records)?;
    let entries = tree.entries().map(|entry| entry.name.to_owned()).collect();
    if let Some(needed) = version::needed(&tree) {
        version::write(&mut ptx, needed);
    }
    align_tensor_maps(&mut ptx);
    load_caching::mark(&mut ptx, options.load_caching);
    kernels::note(&mut ptx, &entries, &records);
    local_memory::mark(&mut ptx, &ir::with_attribute(&rewritten, ir::LOCAL_MEMORY));
    ptx::shared_spills::mark(&mut ptx, &ir::with_attribute(&rewritten, ir::SHARED_SPILLS));
    Ok(ptx)
}

/// Aligns parameters of 128 bytes whose address a kernel takes to 64 bytes: tensor maps need it, and rustc gives a parameter
/// at most 16.
fn align_tensor_maps(ptx: &mut String) {
    const HEAD: &str = ".param .align 8 .b8 ";
    let names = ptx.lines().filter_map(|line| {
        let name = line.trim().trim_end_matches(',').strip_prefix(HEAD)?.strip_suffix("[128]")?;
        ptx.contains(&format!("mov.b64 p, {name};")).then(|| name.to_owned())
    });
    for name in names.collect::<Vec<_>>() {
        let aligned = format!(".param .align 64 .b8 {name}[128]");
        *ptx = ptx.replace(&format!("{HEAD}{name}[128]"), &aligned);
    }
}

/// Refuses more constant memory than there is: the driver would, without a name, when it loads.
fn check_constants(tree: &ptx::tree::Tree<'_>) -> Result<(), CudaBuilderError> {
    let constants = tree.variables.iter().filter(|variable| variable.space == "const");
    let bytes = constants.clone().map(|variable| variable.bytes() as usize).sum();
    match constants.max_by_key(|variable| variable.bytes()) {
        Some(largest) if bytes > MAX_CONSTANT_BYTES => Err(CudaBuilderError::ConstantTooLarge {
            bytes,
            largest: largest.name.to_owned(),
            largest_bytes: largest.bytes() as usize,
        }),
        _ => Ok(()),
    }
}

/// Runs one of LLVM's tools on a file; what it prints is kept for the error.
fn run(
    toolchain: &Toolchain,
    tool: &str,
    input: &Path,
    output: &Path,
    flags: &[&str],
) -> Result<(), CudaBuilderError> {
    let program = toolchain.llvm_tool(tool);
    let done = toolchain
        .clean_command(&program)
        .args(flags)
        .arg(input)
        .arg("-o")
        .arg(output)
        .output()
        .map_err(CudaBuilderError::io("start", &program))?;
    if done.status.success() {
        return Ok(());
    }
    Err(CudaBuilderError::ToolFailed {
        tool: program.display().to_string(),
        input: input.to_owned(),
        output: String::from_utf8_lossy(&done.stderr).into_owned(),
    })
}

fn read(path: &Path) -> Result<String, CudaBuilderError> {
    std::fs::read_to_string(path).map_err(CudaBuilderError::io("read", path))
}

fn write(path: &PathBuf, text: &str) -> Result<(), CudaBuilderError> {
    std::fs::write(path, text).map_err(CudaBuilderError::io("write", path))
}
