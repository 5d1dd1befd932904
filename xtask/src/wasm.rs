//! The executor as a WebAssembly module: built with the compiler that builds kernels, from its library's sources.

use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::toolchain::Toolchain;
use std::path::PathBuf;
use std::process::Command;

/// The largest module of the executor that a page carries, bytes.
const MAX_BYTES: u64 = 1104 << 10;
/// The same of the course: the executor, the compiler of kernels, the grader and all tasks.
const MAX_COURSE_BYTES: u64 = 2160 << 10;
/// The size of the page's stack: expressions and control flow of PTX are followed by recursion.
const STACK: &str = "link-arg=-zstack-size=4194304";
/// Numbers of functions and addresses become as short as they are: the linker pads each to five bytes otherwise.
const SHORT: &str = "link-arg=--compress-relocations";

/// Builds the executor's module.
///
/// # Errors
/// There is no compiler with the sources of its library, no linker, or the module is too large for a page.
pub fn module() -> Result<PathBuf> {
    build("simt_page", MAX_BYTES)
}

/// Builds the module of the course, which a page of its own loads.
///
/// # Errors
/// As [`module`].
pub fn course_module() -> Result<PathBuf> {
    build("course_page", MAX_COURSE_BYTES)
}

fn build(package: &str, most: u64) -> Result<PathBuf> {
    let compiler = Toolchain::find()?;
    let target = workspace::target_dir().join("wasm");
    let mut build = Command::new(&compiler.cargo);
    build.current_dir(workspace::root());
    build.args([
        "rustc",
        "--quiet",
        "--release",
        "--package",
        package,
        "--lib",
        "--crate-type",
        "cdylib",
    ]);
    build.args(["--target", "wasm32-unknown-unknown", "-Zbuild-std=std,panic_abort"]);
    build.arg("-Zbuild-std-features=optimize_for_size").arg("--target-dir").arg(&target);
    build.args(["--config", &format!("target.wasm32-unknown-unknown.linker={:?}", linker()?)]);
    build.args(["--", "-C", STACK, "-C", SHORT]);
    build.env("RUSTC", &compiler.rustc).env("RUSTC_BOOTSTRAP", "1");
    // Nobody reads a place of the executor's source, or a panic's words, in a page.
    build.env("RUSTFLAGS", "-Zlocation-detail=none -Zunstable-options -Cpanic=immediate-abort");
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
    let module = target.join(format!("wasm32-unknown-unknown/release/{package}.wasm"));
    let bytes = std::fs::metadata(&module)
        .with_context(|| format!("cannot read {}", module.display()))?
        .len();
    if bytes > most {
        bail!(
            "{} has {bytes} bytes, a page carries at most {most}: make it smaller",
            module.display()
        );
    }
    println!("{}: {} KiB", module.display(), bytes / 1024);
    Ok(module)
}

/// A linker for WebAssembly: that of the LLVM that builds kernels, one on PATH, or that of rustup's compiler.
pub fn linker() -> Result<PathBuf> {
    let llvm = Toolchain::find()?.llvm;
    let version = llvm.to_string_lossy().split("llvm-").nth(1).unwrap_or_default().to_owned();
    let version: String = version.chars().take_while(char::is_ascii_digit).collect();
    let names = [format!("wasm-ld-{version}"), "wasm-ld".to_owned()];
    let on_path = || names.iter().find_map(|name| which::which(name).ok());
    // What rustup installs has it, whatever else it lacks.
    let of_rustup = || {
        let output = Command::new("rustc").args(["--print", "target-libdir"]).output().ok()?;
        let libraries = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        Some(libraries.parent()?.join("bin/rust-lld"))
    };
    let exists = |path: &PathBuf| path.exists();
    let beside = Some(llvm.join("wasm-ld")).filter(exists);
    beside.or_else(on_path).or_else(|| of_rustup().filter(exists)).with_context(|| {
        format!("there is no linker for WebAssembly: install the package lld-{version}, or lld")
    })
}
