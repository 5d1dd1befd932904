use crate::{kernels, workspace};
use anyhow::{Context, Result, bail};
use cuda_builder::{NvvmArch, ptxas};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The kernel, such as transpose_padded.
    kernel: String,
    /// The compute capability to build for, such as 90, or 90a for what exists on 9.0 alone.
    #[arg(long, value_name = "CAPABILITY", default_value = "90")]
    arch: String,
    /// Print the machine code instead (needs `cargo xtask setup --sass` or a CUDA toolkit).
    #[arg(long, group = "form")]
    sass: bool,
    /// Print the LLVM IR instead.
    #[arg(long, group = "form")]
    llvm: bool,
    /// Print the Rust source instead.
    #[arg(long, group = "form")]
    rust: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let kernel = &arguments.kernel;
    if arguments.rust {
        println!("{}", rust_source(kernel)?);
        return Ok(ExitCode::SUCCESS);
    }
    let arch = NvvmArch::from_name(&arguments.arch)
        .with_context(|| format!("compute capability {} is not known", arguments.arch))?;
    kernels::setup()?;
    let folder = workspace::target_dir().join("llvm");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let path = kernels::builder(arch).llvm_ir_to(&folder).build()?;
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let tree = ptx::parse(&text)?;
    let Some(entry) = tree.entry(kernel) else { bail!("{}", unknown(kernel, &tree)) };
    if arguments.llvm {
        let path = folder.join(format!("{}.ll", arch.target_feature()));
        let module = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let start = module
            .lines()
            .find(|line| line.starts_with("define ") && line.contains(&format!("@{kernel}(")))
            .context("the kernel is not in the LLVM IR")?;
        println!("{}", between(&module, start, "\n}").unwrap_or_default());
    } else if arguments.sass {
        println!("{}", machine_code(kernel, &path, arch)?);
    } else {
        println!("{}", entry.text);
    }
    Ok(ExitCode::SUCCESS)
}

/// The text from `start` to the first `end` after it.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let from = text.find(start)?;
    let length = text[from..].find(end)? + end.len();
    Some(&text[from..from + length])
}

fn unknown(kernel: &str, tree: &ptx::tree::Tree<'_>) -> String {
    let stem = kernel.split('_').next().unwrap_or(kernel);
    let names = tree.entries().map(|entry| entry.name);
    let similar: Vec<_> = names.filter(|name| name.starts_with(stem)).collect();
    if similar.is_empty() {
        format!("there is no kernel `{kernel}`; `coalesce list --json` names them all")
    } else {
        format!("there is no kernel `{kernel}`; there are {}", similar.join(", "))
    }
}

/// Assembles the PTX and prints one function.
fn machine_code(kernel: &str, ptx: &std::path::Path, arch: NvvmArch) -> Result<String> {
    let missing = "is not here: run `cargo xtask setup --sass`";
    let assembler = kernels::ptxas().with_context(|| format!("ptxas {missing}"))?;
    let cuobjdump = ptxas::find_tool("cuobjdump", &workspace::target_dir());
    let cuobjdump = cuobjdump.with_context(|| format!("cuobjdump {missing}"))?;
    let cubin = ptx.with_extension("cubin");
    let resources = ptxas::assemble(&assembler, ptx, arch.processor(), Some(&cubin))?;
    let code = ptxas::disassemble(&cuobjdump, &cubin, kernel)?;
    let found = resources.into_iter().find(|resources| resources.kernel == kernel);
    let summary = found.map_or_else(String::new, |found| {
        format!(
            "{} registers, {} B shared, {} B local, {} B spilled\n",
            found.registers,
            found.shared_bytes,
            found.local_bytes,
            found.spill_store_bytes + found.spill_load_bytes
        )
    });
    Ok(summary + &code)
}

/// The kernel's function with its documentation.
fn rust_source(kernel: &str) -> Result<String> {
    let folder = workspace::root().join("kernels/src");
    let read = |folder: &Path| {
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))
    };
    let mut files = Vec::new();
    for entry in read(&folder)?.flatten() {
        // Patterns lie in folders, and the kernels of no pattern beside them.
        if entry.path().is_dir() {
            files.extend(read(&entry.path())?.flatten().map(|entry| entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let signature = format!("fn {kernel}(");
        let Some(at) = lines.iter().position(|line| line.contains(&signature)) else { continue };
        let above = lines[..at]
            .iter()
            .rposition(|line| !(line.starts_with("///") || line.starts_with("#[")));
        let start = above.map_or(0, |line| line + 1);
        let end = at + lines[at..].iter().position(|line| *line == "}").unwrap_or(0);
        return Ok(lines[start..=end].join("\n"));
    }
    bail!("there is no kernel `{kernel}` in {}", folder.display())
}
