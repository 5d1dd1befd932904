use super::build;
use crate::{kernels, workspace};
use anyhow::{Context, Result};
use cuda_builder::NvvmArch;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Build peers/peers.cu with nvcc and time CUDA C++ and NVIDIA's libraries beside our kernels.
    #[arg(long)]
    peers: bool,
    /// Passed on to `coalesce bench`; see its --help.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    bench: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    kernels::setup()?;
    build::coalesce()?;
    let mut bench = Command::new(workspace::coalesce());
    bench.arg("bench").args(&arguments.bench);
    if arguments.peers {
        bench.arg("--peers").arg(build_peers()?);
    }
    let status = workspace::status(&mut bench)?;
    if status.success() && arguments.bench.is_empty() && cuda_driver::status().is_err() {
        without_gpu()?;
    }
    Ok(workspace::code_of(status))
}

fn build_peers() -> Result<PathBuf> {
    let nvcc = which::which("nvcc").context(
        "nvcc is not on PATH: peers are CUDA C++, put the CUDA toolkit's bin folder on PATH or leave out --peers",
    )?;
    let library = workspace::target_dir().join("libpeers.so");
    // The toolkit's libraries lie beside its programs, where the loader does not look.
    let toolkit = nvcc.canonicalize()?;
    let libraries = toolkit.ancestors().nth(2).map(|toolkit| toolkit.join("lib64"));
    let mut build = Command::new(nvcc);
    build.args(["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC"]);
    // Hopper has instructions that only code for Hopper alone may use.
    let capability = Command::new("nvidia-smi")
        .args(["--query-gpu=compute_cap", "--format=csv,noheader", "--id=0"])
        .output();
    if capability.is_ok_and(|output| output.stdout.starts_with(b"9.0")) {
        build.args(["-gencode", "arch=compute_90a,code=sm_90a", "-DCOALESCE_SM_90A"]);
    } else {
        build.arg("-arch=native");
    }
    if let Some(libraries) = libraries {
        build.arg("-Xlinker").arg(format!("-rpath,{}", libraries.display()));
    }
    workspace::succeed(
        build.arg(workspace::root().join("peers/peers.cu")).args(["-lcublas", "-o"]).arg(&library),
    )?;
    Ok(library)
}

/// Tells what is known about the kernels on a machine that cannot run them. A terminal keeps the screen of `bench`.
fn without_gpu() -> Result<()> {
    if std::io::stdout().is_terminal() {
        println!("The traffic, which is exact without a GPU: coalesce list --traffic.");
        return Ok(());
    }
    println!(
        "\nThe times above are predictions. What is exact without a GPU is the traffic, counted by executing the kernels:\n"
    );
    workspace::succeed(Command::new(workspace::coalesce()).args(["list", "--traffic"]))?;
    match kernels::ptxas() {
        Some(ptxas) => {
            println!("\nResources on sm_90, assembled by {}:\n", ptxas.display());
            println!(
                "{:32} {:>9} {:>8} {:>7} {:>7}",
                "kernel", "registers", "shared B", "local B", "spill B"
            );
            for kernel in
                kernels::resources(&ptxas, NvvmArch::Compute90).context("assembling the kernels")?
            {
                let spilled = kernel.spill_store_bytes + kernel.spill_load_bytes;
                println!(
                    "{:32} {:>9} {:>8} {:>7} {:>7}",
                    kernel.kernel,
                    kernel.registers,
                    kernel.shared_bytes,
                    kernel.local_bytes,
                    spilled
                );
            }
        }
        None => println!(
            "\nRegisters and shared memory: `cargo xtask setup --sass` installs the assembler that tells."
        ),
    }
    println!(
        "\nOn a machine with an NVIDIA GPU the same command measures what is predicted here. `cargo xtask dist` \
         makes a folder to carry there; it needs neither Rust nor a CUDA toolkit."
    );
    Ok(())
}
