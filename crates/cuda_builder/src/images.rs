//! [`Images`]: the PTX of a crate for several architectures, as Rust source that a program includes.

use crate::arch::NvvmArch;
use crate::builder::{CudaBuilder, PanicStrategy};
use crate::error::CudaBuilderError;
use crate::facts;
use crate::toolchain::Toolchain;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Compiles a crate of kernels for several architectures and writes them as `images.rs` into cargo's `OUT_DIR`.
///
/// The whole of a `build.rs`:
/// ```no_run
/// fn main() {
///     cuda_builder::Images::new("../kernels").write();
/// }
/// ```
/// and in the program, whose crate depends on `cuda_host`:
/// ```text
/// mod kernels_ptx {
///     include!(concat!(env!("OUT_DIR"), "/images.rs"));
/// }
/// // kernels_ptx::IMAGES: &[cuda_host::Image]
/// ```
#[derive(Clone, Debug)]
pub struct Images {
    path: PathBuf,
    architectures: Vec<NvvmArch>,
    panic: PanicStrategy,
    registers: Option<PathBuf>,
}

impl Images {
    /// Those of the crate in folder `path`, relative to the folder of the build script's manifest, for `sm_70`, `sm_80`
    /// and `sm_90`, with panics that only trap.
    pub fn new(path: impl AsRef<Path>) -> Images {
        Images {
            path: path.as_ref().to_owned(),
            architectures: vec![NvvmArch::Compute70, NvvmArch::Compute80, NvvmArch::Compute90],
            panic: PanicStrategy::Trap,
            registers: None,
        }
    }

    /// For these architectures. A driver runs PTX of its own or of an older one.
    pub fn architectures(mut self, architectures: &[NvvmArch]) -> Images {
        self.architectures = architectures.to_vec();
        self.architectures.sort();
        self
    }

    /// What a panic on the device does.
    pub fn panic(mut self, panic: PanicStrategy) -> Images {
        self.panic = panic;
        self
    }

    /// A file of what NVIDIA's assembler gave each kernel, in lines such as `sm_90 NAME: 34 registers, ...`: the virtual
    /// device then knows how many blocks fit.
    pub fn registers(mut self, file: impl AsRef<Path>) -> Images {
        self.registers = Some(file.as_ref().to_owned());
        self
    }

    /// Writes the file, and tells cargo what to watch. An error is printed as one sentence and ends the script.
    pub fn write(self) {
        if let Err(error) = self.try_write() {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }

    #[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
    fn try_write(&self) -> Result<(), CudaBuilderError> {
        println!("cargo::rerun-if-changed=build.rs");
        let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        let compiler = Toolchain::find()?.version;
        let commit = commit();
        let registers = self.registers.as_deref().map(registers).transpose()?.unwrap_or_default();
        let mut source = String::from(
            "/// The kernels as PTX, oldest architecture first.\npub const IMAGES: &[::cuda_host::Image] = &[\n",
        );
        for arch in &self.architectures {
            let file = out_dir.join(format!("kernels_{}.ptx", arch.processor()));
            CudaBuilder::new(&self.path).panic(self.panic).arch(*arch).copy_to(&file).build()?;
            let text =
                std::fs::read_to_string(&file).map_err(CudaBuilderError::io("read", &file))?;
            source += &format!(
                "    ::cuda_host::Image {{ capability: {}, text: include_str!({file:?}), compiler: {compiler:?}, commit: {commit:?}, kernels: &[\n",
                arch.capability_value(),
            );
            for facts in facts::of(&text) {
                let instructions: Vec<(String, usize)> = facts.instructions.into_iter().collect();
                let assembled = registers.get(&(arch.processor(), facts.kernel.clone()));
                source += &format!(
                    "        ::cuda_host::KernelFacts {{ kernel: {:?}, instructions: &{instructions:?}, shared_bytes: {}, local_bytes: {}, registers: {assembled:?} }},\n",
                    facts.kernel, facts.shared_bytes, facts.local_bytes
                );
            }
            source += "    ] },\n";
        }
        source += "];\n";
        let target = out_dir.join("images.rs");
        std::fs::write(&target, source).map_err(CudaBuilderError::io("write", target))
    }
}

/// Registers by target and kernel.
#[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
fn registers(file: &Path) -> Result<BTreeMap<(String, String), u32>, CudaBuilderError> {
    println!("cargo::rerun-if-changed={}", file.display());
    let text = std::fs::read_to_string(file).map_err(CudaBuilderError::io("read", file))?;
    let line = |line: &str| {
        let (target, rest) = line.split_once(' ')?;
        let (kernel, rest) = rest.split_once(": ")?;
        let registers = rest.split(' ').next()?.parse().ok()?;
        target.starts_with("sm_").then(|| ((target.to_owned(), kernel.to_owned()), registers))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// The commit of the checkout, or `unknown` outside of one.
#[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        Some(text.trim().to_owned())
    };
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["describe", "--always", "--dirty", "--abbrev=12"]).unwrap_or_else(|| "unknown".to_owned())
}
