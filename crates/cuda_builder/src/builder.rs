use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;
use crate::load_caching::LoadCaching;
use crate::options::{CompileOptions, DebugInfo, LoweringOptions, PanicStrategy};
use crate::toolchain::{LLVM_VARIABLE, RUSTC_VARIABLE, Toolchain};
use crate::{compile, files, fingerprint, limits, local_memory, lower};
use std::path::{Path, PathBuf};

/// Builds a crate of kernels into one PTX file.
///
/// The methods are those of rust-cuda's builder where both have the thing. Defaults: release,
/// line tables, `compute_70`, panics that print, and no contraction of `a * b + c` into one
/// rounding: a kernel that wants a fused multiply-add says so (`mul_add`), and the same PTX then
/// gives the same bits on every device.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    path: PathBuf,
    arch: NvvmArch,
    compile: CompileOptions,
    lowering: LoweringOptions,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    announce: bool,
    /// Sentences about what was asked for and means nothing here.
    without_effect: Vec<&'static str>,
}

/// The first half of a build, done.
pub(crate) struct Compiled {
    path: PathBuf,
    bitcode: PathBuf,
    /// Path of the PTX of all kernels.
    output: PathBuf,
    /// Keeps other builds of this architecture out.
    _turn: std::fs::File,
}

impl Compiled {
    /// The files that were read; none where the compiler did not say.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        fingerprint::made_of(&self.bitcode).0
    }
}

impl CudaBuilder {
    /// A builder for the crate in folder `path`, relative to the current folder (of a build script: its manifest's).
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            arch: NvvmArch::default(),
            compile: CompileOptions {
                release: true,
                debug: DebugInfo::LineTables,
                panic: PanicStrategy::Print,
                arguments: Vec::new(),
            },
            lowering: LoweringOptions::default(),
            copy_to: None,
            target_dir: None,
            announce: false,
            without_effect: Vec::new(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what decides the PTX besides sources, architecture and compiler.
    pub(crate) fn options(&self) -> String {
        format!("{:?} {:?}", self.compile, self.lowering)
    }

    /// The oldest architecture the PTX runs on.
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// Cargo's release profile (the default) or its dev profile. Both are optimized: unoptimized
    /// device code keeps every variable in local memory.
    pub fn release(mut self, release: bool) -> Self {
        self.compile.release = release;
        self
    }

    /// Returns how much debug information to emit.
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.compile.debug = debug;
        self
    }

    /// Returns whether to emit line tables; the same as [`Self::debug`].
    pub fn generate_line_info(self, line_info: bool) -> Self {
        self.debug(if line_info { DebugInfo::LineTables } else { DebugInfo::None })
    }

    /// Returns what a panic does.
    pub fn panic(mut self, panic: PanicStrategy) -> Self {
        self.compile.panic = panic;
        self
    }

    /// Returns whether single-precision denormals are flushed to zero.
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.lowering.ftz = ftz;
        self
    }

    /// Returns whether single-precision square roots may be approximate.
    pub fn fast_sqrt(mut self, fast_sqrt: bool) -> Self {
        self.lowering.fast_sqrt = fast_sqrt;
        self
    }

    /// Returns whether single-precision divisions may be approximate.
    pub fn fast_div(mut self, fast_div: bool) -> Self {
        self.lowering.fast_div = fast_div;
        self
    }

    /// Returns whether `a * b + c` may become one fused operation.
    pub fn fma_contraction(mut self, fma_contraction: bool) -> Self {
        self.lowering.fma_contraction = fma_contraction;
        self
    }

    /// Sets the caches that plain loads of global and generic memory use, in all kernels, as `-dlcm=ca` and `-dlcm=cg`
    /// do for NVIDIA's assembler. A load that names its own caching keeps it.
    pub fn load_caching(mut self, caching: LoadCaching) -> Self {
        self.lowering.load_caching = caching;
        self
    }

    /// Writes the final LLVM IR into `folder` as `compute_NN.ll`.
    pub fn llvm_ir_to(mut self, folder: impl AsRef<Path>) -> Self {
        self.lowering.llvm_ir_to = Some(folder.as_ref().to_owned());
        self
    }

    /// Writes the final LLVM IR beside the copy of the PTX, see [`Self::copy_to`], with the ending `.ll`. Without
    /// a copy it lies beside the PTX anyway.
    pub fn emit_llvm_ir(mut self, emit_llvm_ir: bool) -> Self {
        self.lowering.emit_llvm_ir = emit_llvm_ir;
        self
    }

    /// Writes rustc's bitcode beside the copy of the PTX, see [`Self::copy_to`], with the ending `.bc`.
    pub fn emit_llvm_bitcode(mut self, emit_llvm_bitcode: bool) -> Self {
        self.lowering.emit_llvm_bitcode = emit_llvm_bitcode;
        self
    }

    /// Accepts rust-cuda's switch of NVIDIA's optimizer. LLVM always optimizes here, and a build that asks for less warns.
    pub fn nvvm_opts(self, nvvm_opts: bool) -> Self {
        let says = "`nvvm_opts(false)` has no effect: kernels are built without libNVVM, and always optimized";
        self.says(!nvvm_opts, says)
    }

    /// Accepts rust-cuda's switch to `libdevice`, which is not used here: `libm` stays `libm`, and a build that asks for
    /// `libdevice` warns.
    pub fn override_libm(self, override_libm: bool) -> Self {
        let says = "`override_libm(true)` has no effect: `libm` keeps its own functions, and \
                    `cuda_std::float::approx` and `cuda_std::intrinsics` have the hardware's";
        self.says(override_libm, says)
    }

    /// Accepts rust-cuda's placement of statics in constant memory. Only `#[address_space(constant)]` puts one there, and a
    /// build that asks for more warns.
    pub fn use_constant_memory_space(self, use_constant_memory_space: bool) -> Self {
        let says = "`use_constant_memory_space(true)` has no effect: a static goes to constant memory by \
                    `#[address_space(constant)]`";
        self.says(use_constant_memory_space, says)
    }

    /// Accepts rust-cuda's switch for OptiX, which has nothing here: a build that asks for it warns.
    pub fn optix(self, optix: bool) -> Self {
        let says = "`optix(true)` has no effect: programs of OptiX's pipeline cannot be built";
        self.says(optix, says)
    }

    /// Warns in the build when what was asked for means nothing.
    fn says(mut self, is_asked_for: bool, sentence: &'static str) -> Self {
        self.without_effect.retain(|said| *said != sentence);
        self.without_effect.extend(is_asked_for.then_some(sentence));
        self
    }

    /// Writes the final LLVM IR to this path, under rust-cuda's name for it.
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        self.lowering.final_module = Some(path.as_ref().to_owned());
        self
    }

    /// Leaves out all kernels whose name does not begin with `prefix`, which saves most of a build's second half. The
    /// PTX is another file than that of all kernels, and both stay up to date beside each other.
    ///
    /// What is left is the PTX of the same kernels in a build of all, but for what a module numbers through: its
    /// functions and source files in labels and line tables.
    pub fn only_kernels(mut self, prefix: impl Into<String>) -> Self {
        self.lowering.only = Some(prefix.into());
        self
    }

    /// Copies the PTX to this path as well.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_owned());
        self
    }

    /// The folder for intermediate files; by default `ptx` in the running cargo's target folder, or in the crate's own.
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().to_owned());
        self
    }

    /// More arguments for `cargo rustc`, such as `--features`. In a build script, features of the kernels crate that the
    /// crate of the script has by the same name are passed on by themselves.
    pub fn build_args(mut self, arguments: &[impl AsRef<str>]) -> Self {
        self.compile
            .arguments
            .extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Returns whether to say on standard error which compiler is used and why.
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
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        let toolchain = Toolchain::find()?;
        if self.announce {
            eprintln!("kernels: {}", toolchain.describe());
        }
        let compiled = self.compile(&toolchain)?;
        let path = self.lower(&toolchain, &compiled)?;
        let ptx = std::fs::read_to_string(&path).map_err(CudaBuilderError::io("read", &path))?;
        let tree = ptx::parse(&ptx)?;
        local_memory::warn(local_memory::warnings(&ptx, &tree).values());
        local_memory::warn(limits::warnings(&tree, &[]).values());
        Ok(path)
    }

    /// The first half: bitcode of the whole crate.
    pub(crate) fn compile(&self, toolchain: &Toolchain) -> Result<Compiled, CudaBuilderError> {
        if !self.path.join("Cargo.toml").exists() {
            return Err(CudaBuilderError::NoCrate { path: self.path.clone() });
        }
        if self.arch.ptx_version().is_none() {
            return Err(CudaBuilderError::NoSuchTarget { arch: self.arch });
        }
        local_memory::warn(&self.without_effect);
        let path = self.path.canonicalize().map_err(CudaBuilderError::io("find", &self.path))?;
        let work = self.work_dir(&path);
        std::fs::create_dir_all(&work).map_err(CudaBuilderError::io("create", &work))?;
        // Two builds of one crate (a build script's and xtask's, say) take turns.
        let output = work.join(self.arch.target_feature()).with_extension("ptx");
        let turn = files::lock_path(&output)?;
        let mut options = self.compile.clone();
        options.arguments.extend(compile::features_of_build(&path)?);
        let bitcode = compile::bitcode(&path, &options, toolchain, self.arch, &work)?;
        if std::env::var_os("OUT_DIR").is_some() {
            watch(&path, &bitcode);
        }
        Ok(Compiled { path, bitcode, output, _turn: turn })
    }

    /// The second half: PTX of the bitcode, where it is not there yet.
    pub(crate) fn lower(
        &self,
        toolchain: &Toolchain,
        compiled: &Compiled,
    ) -> Result<PathBuf, CudaBuilderError> {
        let Compiled { path, bitcode, output, .. } = compiled;
        let output = match &self.lowering.only {
            Some(prefix) => output.with_extension(format!("{prefix}.ptx")),
            None => output.clone(),
        };
        let final_ir = output.with_extension("ll");
        let vouched = || vec![bitcode.clone(), output.clone(), final_ir.clone()];
        files::make(
            &output.with_extension("stamp"),
            &self.lowering_inputs(toolchain, bitcode),
            vouched,
            || {
                let own_crate = compile::library(path)?;
                let ptx = lower::ptx(
                    path,
                    &own_crate,
                    &self.lowering,
                    toolchain,
                    self.arch,
                    bitcode,
                    &output,
                )?;
                files::write_whole(&output, ptx.as_bytes())
            },
        )?;
        let in_folder = self.lowering.llvm_ir_to.as_ref().zip(final_ir.file_name());
        let in_folder = in_folder.map(|(folder, name)| folder.join(name));
        for target in in_folder.iter().chain(&self.lowering.final_module) {
            copy(&final_ir, target)?;
        }
        if let Some(target) = &self.copy_to {
            copy(&output, target)?;
            if self.lowering.emit_llvm_ir {
                copy(&final_ir, &target.with_extension("ll"))?;
            }
            if self.lowering.emit_llvm_bitcode {
                copy(bitcode, &target.with_extension("bc"))?;
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

    /// All that decides the PTX besides the bytes of the bitcode and the tools' own behaviour, in one line.
    fn lowering_inputs(&self, toolchain: &Toolchain, bitcode: &Path) -> String {
        format!(
            "{} {} {:?} {} {:?} {bitcode:?}",
            env!("CARGO_PKG_VERSION"),
            toolchain.describe(),
            self.arch,
            self.arch.ptx_version().unwrap_or_default(),
            self.lowering,
        )
        .replace('\n', " ")
    }

    /// Returns the folder of intermediate files, which persists.
    fn work_dir(&self, path: &Path) -> PathBuf {
        let target = self.target_dir.clone().unwrap_or_else(|| {
            enclosing_target_dir().unwrap_or_else(|| {
                let root = path.ancestors().find(|folder| folder.join("Cargo.lock").exists());
                root.unwrap_or(path).join("target")
            })
        });
        let name =
            path.file_name().map_or("kernels".into(), |name| name.to_string_lossy().into_owned());
        target.join("ptx").join(name)
    }
}

/// Copies a file of the build to where it was asked for, unless it is there.
fn copy(file: &Path, target: &Path) -> Result<(), CudaBuilderError> {
    let bytes = std::fs::read(file).map_err(CudaBuilderError::io("read", file))?;
    files::write_changed(target, &bytes)
}

/// The target folder of the cargo that runs us as a build script.
fn enclosing_target_dir() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR") {
        return Some(PathBuf::from(folder));
    }
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR")?);
    out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).map(Path::to_owned)
}

/// Tells cargo which files and variables decide the PTX.
#[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
fn watch(path: &Path, bitcode: &Path) {
    let (files, variables) = fingerprint::made_of(bitcode);
    if files.is_empty() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    for variable in [RUSTC_VARIABLE, LLVM_VARIABLE].map(str::to_owned).into_iter().chain(variables)
    {
        println!("cargo::rerun-if-env-changed={variable}");
    }
}
