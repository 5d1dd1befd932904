//! Compiles the kernels crate to PTX, once per architecture, and leaves the texts for `src/ptx.rs`.
#![allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]

use cuda_builder::toolchain::Toolchain;
use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, PanicStrategy};
use std::path::PathBuf;

/// The architectures a binary carries PTX for. The driver runs PTX of its own or of an older one.
const ARCHITECTURES: [NvvmArch; 3] =
    [NvvmArch::Compute70, NvvmArch::Compute80, NvvmArch::Compute90];

fn main() {
    if let Err(error) = build() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), CudaBuilderError> {
    println!("cargo::rerun-if-changed=build.rs");
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut images = String::from("&[\n");
    for arch in ARCHITECTURES {
        let file = out_dir.join(format!("kernels_{}.ptx", arch.processor()));
        CudaBuilder::new("../kernels")
            .panic(PanicStrategy::Trap)
            .arch(arch)
            .copy_to(&file)
            .build()?;
        let text = std::fs::read_to_string(&file).expect("the builder wrote it");
        images += &format!(
            "    Image {{ capability: {}, text: include_str!({file:?}), kernels: &{} }},\n",
            arch.capability_value(),
            kernels(&text),
        );
    }
    images += "]";
    std::fs::write(out_dir.join("images.rs"), images).expect("cargo's OUT_DIR is writable");
    let compiler = Toolchain::find()?.version;
    println!("cargo::rustc-env=COALESCE_KERNEL_COMPILER={compiler}");
    println!("cargo::rustc-env=COALESCE_COMMIT={}", commit());
    Ok(())
}

/// What each kernel consists of, as Rust source for `ptx::KernelFacts`.
fn kernels(ptx: &str) -> String {
    let kernels = cuda_builder::facts::of(ptx).into_iter().map(|facts| {
        let instructions: Vec<(String, usize)> = facts.instructions.into_iter().collect();
        format!(
            "KernelFacts {{ kernel: {:?}, instructions: &{instructions:?}, shared_bytes: {}, local_bytes: {} }},",
            facts.kernel, facts.shared_bytes, facts.local_bytes
        )
    });
    format!("[{}]", kernels.collect::<String>())
}

/// The commit the binary was built from, or `unknown` outside a checkout.
fn commit() -> String {
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
    std::process::Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}
