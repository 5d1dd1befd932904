//! The executor as a WebAssembly module: built with the compiler that builds kernels, from its library's sources.

use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::toolchain::Toolchain;
use std::path::PathBuf;
use std::process::Command;

/// The largest module that a page carries.
const MAX_BYTES: u64 = 1 << 20;
/// What the page's stack takes: expressions and control flow of PTX are followed by recursion.
const STACK: &str = "link-arg=-zstack-size=4194304";

/// Builds the module.
///
/// # Errors
/// There is no compiler with the sources of its library, no linker, or the module is too large for a page.
pub fn module() -> Result<PathBuf> {
    let compiler = Toolchain::find()?;
    let target = workspace::target_dir().join("wasm");
    let mut build = Command::new(&compiler.cargo);
    build.current_dir(workspace::root());
    build.args([
        "rustc",
        "--quiet",
        "--release",
        "--package",
        "simt_page",
        "--lib",
        "--crate-type",
        "cdylib",
    ]);
    build.args(["--target", "wasm32-unknown-unknown", "-Zbuild-std=std,panic_abort"]);
    build.arg("-Zbuild-std-features=optimize_for_size").arg("--target-dir").arg(&target);
    build.args([
        "--config",
        &format!("target.wasm32-unknown-unknown.linker={:?}", linker(&compiler)?),
    ]);
    build.args(["--", "-C", STACK]);
    build.env("RUSTC", &compiler.rustc).env("RUSTC_BOOTSTRAP", "1");
    build.env_remove("RUSTFLAGS");
    for (name, value) in [
        ("OPT_LEVEL", "z"),
        ("LTO", "fat"),
        ("PANIC", "abort"),
        ("CODEGEN_UNITS", "1"),
        ("DEBUG", "0"),
        ("STRIP", "true"),
    ] {
        build.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    workspace::succeed(&mut build)?;
    let module = target.join("wasm32-unknown-unknown/release/simt_page.wasm");
    let bytes = std::fs::metadata(&module)
        .with_context(|| format!("cannot read {}", module.display()))?
        .len();
    if bytes > MAX_BYTES {
        bail!(
            "{} has {bytes} bytes, a page carries at most {MAX_BYTES}: make the executor smaller",
            module.display()
        );
    }
    println!("{}: {} KiB", module.display(), bytes / 1024);
    Ok(module)
}

/// LLVM's linker for WebAssembly: that of the LLVM that builds kernels, or one on PATH.
fn linker(compiler: &Toolchain) -> Result<PathBuf> {
    let version =
        compiler.llvm.to_string_lossy().split("llvm-").nth(1).unwrap_or_default().to_owned();
    let version: String = version.chars().take_while(char::is_ascii_digit).collect();
    let beside = compiler.llvm.join("wasm-ld");
    if beside.exists() {
        return Ok(beside);
    }
    let names = [format!("wasm-ld-{version}"), "wasm-ld".to_owned()];
    names.iter().find_map(|name| which::which(name).ok()).with_context(|| {
        format!("there is no linker for WebAssembly: install the package lld-{version}, or lld")
    })
}
