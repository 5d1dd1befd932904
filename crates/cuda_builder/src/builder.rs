//! [`CudaBuilder`]: what is asked for, and the order of the steps.

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;
use crate::toolchain::Toolchain;
use crate::{compile, lower};
use std::io::Write;
use std::path::{Path, PathBuf};

/// How much debug information the PTX carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugInfo {
    /// None.
    None,
    /// `.loc` directives: profilers and the executor name Rust lines.
    LineTables,
}

/// What a panic on the device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanicStrategy {
    /// Prints file, line and message, then traps.
    Print,
    /// Only traps: the smallest code.
    Trap,
}

/// Builds a crate of kernels into one PTX file.
///
/// The methods are those of rust-cuda's builder where both have the thing. Defaults: release,
/// line tables, `compute_70`, panics that print, and no contraction of `a * b + c` into one
/// rounding: a kernel that wants a fused multiply-add says so (`mul_add`), and the same PTX then
/// gives the same bits on every device.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    pub(crate) path: PathBuf,
    pub(crate) arch: NvvmArch,
    pub(crate) release: bool,
    pub(crate) debug: DebugInfo,
    pub(crate) panic: PanicStrategy,
    pub(crate) ftz: bool,
    pub(crate) fast_sqrt: bool,
    pub(crate) fast_div: bool,
    pub(crate) fma_contraction: bool,
    pub(crate) emit_llvm_ir: Option<PathBuf>,
    pub(crate) copy_to: Option<PathBuf>,
    pub(crate) target_dir: Option<PathBuf>,
    pub(crate) build_args: Vec<String>,
    pub(crate) announce: bool,
}

impl CudaBuilder {
    /// A builder for the crate in folder `path`, relative to the current folder (for a build
    /// script: the folder of its own manifest).
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            arch: NvvmArch::Compute70,
            release: true,
            debug: DebugInfo::LineTables,
            panic: PanicStrategy::Print,
            ftz: false,
            fast_sqrt: false,
            fast_div: false,
            fma_contraction: false,
            emit_llvm_ir: None,
            copy_to: None,
            target_dir: None,
            build_args: Vec::new(),
            announce: false,
        }
    }

    /// The oldest architecture the PTX runs on.
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// Cargo's release profile (the default) or its dev profile. Both are optimised: unoptimised
    /// device code keeps every variable in local memory.
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// How much debug information to emit.
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.debug = debug;
        self
    }

    /// Whether to emit line tables; the same as [`Self::debug`].
    pub fn generate_line_info(self, line_info: bool) -> Self {
        self.debug(if line_info { DebugInfo::LineTables } else { DebugInfo::None })
    }

    /// What a panic does.
    pub fn panic(mut self, panic: PanicStrategy) -> Self {
        self.panic = panic;
        self
    }

    /// Whether single-precision denormals are flushed to zero.
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.ftz = ftz;
        self
    }

    /// Whether single-precision square roots may be approximate.
    pub fn fast_sqrt(mut self, fast_sqrt: bool) -> Self {
        self.fast_sqrt = fast_sqrt;
        self
    }

    /// Whether single-precision divisions may be approximate.
    pub fn fast_div(mut self, fast_div: bool) -> Self {
        self.fast_div = fast_div;
        self
    }

    /// Whether `a * b + c` may become one fused operation.
    pub fn fma_contraction(mut self, fma_contraction: bool) -> Self {
        self.fma_contraction = fma_contraction;
        self
    }

    /// Writes the final LLVM IR into `folder` as `compute_NN.ll`.
    pub fn emit_llvm_ir(mut self, folder: impl AsRef<Path>) -> Self {
        self.emit_llvm_ir = Some(folder.as_ref().to_owned());
        self
    }

    /// Copies the PTX to this path as well.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_owned());
        self
    }

    /// The folder for intermediate files; without it, `ptx` in the target folder of the cargo that
    /// runs us, or in the crate's own.
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().to_owned());
        self
    }

    /// More arguments for `cargo rustc`, such as `--features`.
    pub fn build_args(mut self, arguments: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Whether to say on standard error which compiler is used and why.
    pub fn announce(mut self, announce: bool) -> Self {
        self.announce = announce;
        self
    }

    /// Builds the PTX and returns its path.
    ///
    /// In a build script, cargo is told which files to watch.
    ///
    /// # Errors
    /// Every variant of [`CudaBuilderError`]; a compile error has been printed by then.
    pub fn build(mut self) -> Result<PathBuf, CudaBuilderError> {
        if !self.path.join("Cargo.toml").exists() {
            return Err(CudaBuilderError::NoCrate { path: self.path });
        }
        self.path = self.path.canonicalize().map_err(CudaBuilderError::io("find", &self.path))?;
        let toolchain = Toolchain::find()?;
        if self.announce {
            eprintln!("kernels: {}", toolchain.describe());
        }
        let work = self.work_dir();
        std::fs::create_dir_all(&work).map_err(CudaBuilderError::io("create", &work))?;
        // Two builds of one crate (a build script's and xtask's, say) take turns.
        let _turn = take_turn(&work.join(self.arch.target_feature()))?;

        let bitcode = compile::bitcode(&self, &toolchain, self.arch, &work)?;
        if std::env::var_os("OUT_DIR").is_some() {
            watch(&self.path, &compile::cargo_target(&work));
        }
        let output = bitcode.with_extension("ptx");
        let stamp = bitcode.with_extension("stamp");
        let inputs = self.lowering_inputs(&toolchain, &bitcode)?;
        if !output.exists() || std::fs::read(&stamp).ok().as_deref() != Some(inputs.as_slice()) {
            let ptx = lower::ptx(&self, &toolchain, self.arch, &bitcode)?;
            write_whole(&output, ptx.as_bytes())?;
            write_whole(&stamp, &inputs)?;
        }
        if let Some(target) = &self.copy_to {
            let ptx = std::fs::read(&output).map_err(CudaBuilderError::io("read", &output))?;
            if std::fs::read(target).ok().as_ref() != Some(&ptx) {
                write_whole(target, &ptx)?;
            }
        }
        Ok(output)
    }

    /// [`Self::build`] for build scripts: an error is printed as one sentence and ends the script.
    pub fn build_or_exit(self) -> PathBuf {
        self.build().unwrap_or_else(|error| {
            eprintln!("error: {error}");
            std::process::exit(1)
        })
    }

    /// All that decides the PTX besides the tools' own behaviour: options, tools and bitcode.
    fn lowering_inputs(
        &self,
        toolchain: &Toolchain,
        bitcode: &Path,
    ) -> Result<Vec<u8>, CudaBuilderError> {
        let mut inputs = format!(
            "{} {} {:?} {} {} {} {} {} {:?}\n",
            env!("CARGO_PKG_VERSION"),
            toolchain.describe(),
            self.arch,
            self.arch.ptx_version(),
            self.ftz,
            self.fast_sqrt,
            self.fast_div,
            self.fma_contraction,
            self.emit_llvm_ir,
        )
        .into_bytes();
        inputs.extend(std::fs::read(bitcode).map_err(CudaBuilderError::io("read", bitcode))?);
        Ok(inputs)
    }

    /// Where intermediate files persist.
    fn work_dir(&self) -> PathBuf {
        let target = self.target_dir.clone().unwrap_or_else(|| {
            enclosing_target_dir().unwrap_or_else(|| {
                let root = self.path.ancestors().find(|folder| folder.join("Cargo.lock").exists());
                root.unwrap_or(&self.path).join("target")
            })
        });
        let name = self
            .path
            .file_name()
            .map_or("kernels".into(), |name| name.to_string_lossy().into_owned());
        target.join("ptx").join(name)
    }
}

/// The target folder of the cargo that runs us as a build script.
fn enclosing_target_dir() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR") {
        return Some(PathBuf::from(folder));
    }
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR")?);
    out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).map(Path::to_owned)
}

/// Tells cargo which files decide the PTX: every source the compiler read.
#[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
fn watch(path: &Path, cargo_target: &Path) {
    println!("cargo::rerun-if-changed={}", path.join("Cargo.toml").display());
    for variable in ["COALESCE_RUSTC", "COALESCE_LLVM"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    for source in crate_sources(cargo_target) {
        println!("cargo::rerun-if-changed={source}");
    }
}

/// The source files named in cargo's dep-info of the finished crates.
fn crate_sources(cargo_target: &Path) -> Vec<String> {
    let mut sources = Vec::new();
    for profile in ["release", "debug"] {
        let folder = cargo_target.join("nvptx64-nvidia-cuda").join(profile);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_none_or(|extension| extension != "d") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            for line in text.lines() {
                if let Some((_, dependencies)) = line.split_once(": ") {
                    sources.extend(dependencies.split(' ').map(str::to_owned));
                }
            }
        }
    }
    sources.sort();
    sources.dedup();
    sources
}

/// Waits until no other process works on `path`, and keeps others out until the file is dropped.
pub(crate) fn take_turn(path: &Path) -> Result<std::fs::File, CudaBuilderError> {
    let path = path.with_extension("lock");
    let lock = std::fs::File::create(&path).map_err(CudaBuilderError::io("create", &path))?;
    lock.lock().map_err(CudaBuilderError::io("lock", &path))?;
    Ok(lock)
}

/// Writes a file so that readers see the old one or the new one, never a part.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CudaBuilderError> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(CudaBuilderError::io("write", path))?;
    file.write_all(bytes).map_err(CudaBuilderError::io("write", path))?;
    file.persist(path).map_err(|error| CudaBuilderError::io("write", path)(error.error))?;
    Ok(())
}
