use crate::arch::NvvmArch;
use std::path::PathBuf;

/// The bytes of constant memory that one module may declare (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
pub(crate) const MAX_CONSTANT_BYTES: usize = 64 << 10;

/// Why a kernels crate was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// No compiler on this machine can build for nvptx64, and none may be installed.
    #[error("no Rust compiler here can build kernels: {}. {fix}", tried.join("; "))]
    NoToolchain {
        /// Each compiler looked at and what it lacks.
        tried: Vec<String>,
        /// The command that gives one.
        fix: String,
    },
    /// A variable of the environment names a compiler or tools that cannot build kernels.
    #[error("{variable} is `{}`, which {problem}: set it to {fix}, or unset it", value.display())]
    ChosenToolUnusable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: PathBuf,
        /// The fault of that value.
        problem: String,
        /// The value to set.
        fix: String,
    },
    /// LLVM wrote PTX that is none, which inline assembly can cause.
    #[error("the PTX of the kernels cannot be read at {0}: check the text of `asm!`")]
    Ptx(#[from] ptx::Error),
    /// The kernels crate has no manifest.
    #[error("there is no kernels crate at {}: it has no Cargo.toml", path.display())]
    NoCrate {
        /// The folder that was given.
        path: PathBuf,
    },
    /// No PTX can be written for the architecture.
    #[error(
        "kernels cannot be built for {arch}: the oldest target is compute_70, and there is no GPU of 7.3. Choose one of {}",
        NvvmArch::buildable()
    )]
    NoSuchTarget {
        /// The architecture that was asked for.
        arch: NvvmArch,
    },
    /// A package has neither the kernels nor their PTX.
    #[error(
        "there is no kernels crate at {}, and {package} carries no PTX: its author writes the folder `ptx` by \
         `{}={package} cargo build`, and includes it in the package",
        path.display(), crate::options::WRITE_PTX_VARIABLE
    )]
    NoKernels {
        /// The folder that was given.
        path: PathBuf,
        /// The package.
        package: String,
    },
    /// The PTX that a package carries is that of other sources, and no compiler can make it anew.
    #[error(
        "the PTX that {package} carries was made before {changed} changed, and no Rust compiler here can build kernels: \
         take `ptx` and the sources of one commit, or install what `cargo xtask setup` or the guide says"
    )]
    StalePtx {
        /// The change.
        changed: String,
        /// The package.
        package: String,
    },
    /// A file of PTX that a package carries is not what was written.
    #[error(
        "{} is not what {package} was packaged with: fetch the package again, or write the folder anew by `{}={package} cargo build`",
        path.display(), crate::options::WRITE_PTX_VARIABLE
    )]
    ChangedPtx {
        /// The file.
        path: PathBuf,
        /// The package.
        package: String,
    },
    /// The file that tells of carried PTX cannot be understood.
    #[error("{} does not say what the PTX beside it was made of: write the folder anew", path.display())]
    MalformedPtx {
        /// The file.
        path: PathBuf,
    },
    /// rustc rejected the kernels; its own messages have been printed as they are.
    #[error("the kernels crate at {} does not compile; rustc's messages are above", path.display())]
    KernelsDoNotCompile {
        /// The crate.
        path: PathBuf,
    },
    /// Building `core` for the GPU failed; cargo's own messages have been printed.
    #[error("building `core` for nvptx64 with {rustc} failed; cargo's messages are above")]
    CoreDoesNotCompile {
        /// The compiler used.
        rustc: String,
    },
    /// A `#[address_space(shared)]` static has an initial value.
    #[error(
        "shared memory cannot have an initial value, but `{name}` has one: \
         declare it as `MaybeUninit::uninit()` and let the block write it"
    )]
    SharedInitialized {
        /// The static.
        name: String,
    },
    /// A static asks for a section that is no address space.
    #[error(
        "the static `{name}` asks for address space `{section}`; known are shared, constant, global and managed"
    )]
    UnknownAddressSpace {
        /// The static.
        name: String,
        /// The section it names.
        section: String,
    },
    /// The statics in constant memory do not fit into it together.
    #[error(
        "constant memory has {MAX_CONSTANT_BYTES} bytes, but the kernels' constant statics need {bytes}, \
         `{largest}` alone {largest_bytes}: pass the largest as a slice, or make it \
         `#[address_space(global)]`"
    )]
    ConstantTooLarge {
        /// The bytes of all of them.
        bytes: usize,
        /// The largest static.
        largest: String,
        /// Its bytes.
        largest_bytes: usize,
    },
    /// [`crate::CudaBuilder::only_kernels`] would leave nothing.
    #[error("no kernel of {} has a name that begins with `{prefix}`", path.display())]
    NoSuchKernels {
        /// The crate.
        path: PathBuf,
        /// The beginning that was asked for.
        prefix: String,
    },
    /// Two kernels of one crate have one name.
    #[error(
        "two kernels of `{krate}` are called `{name}`, at lines {lines} of their files: rename one, because a launch finds a \
         kernel by its name"
    )]
    DuplicateKernel {
        /// The name.
        name: String,
        /// The crate.
        krate: String,
        /// The lines where they are.
        lines: String,
    },
    /// A safe kernel reaches a barrier that only whole warps may come to.
    #[error(
        "kernel `{kernel}` is a safe function, and reaches `{barrier}`{}, which may only stand where whole warps come \
         together: use `cuda_std::safe::Block`, or make the kernel an `unsafe fn`",
        place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default()
    )]
    AlignedBarrier {
        /// The kernel.
        kernel: String,
        /// The instruction.
        barrier: String,
        /// Its line in the source, as `path:line`, if it is known.
        place: Option<String>,
    },
    /// LLVM has no PTX for what a function does.
    #[error("`{function}`{place} cannot be compiled to PTX: {operation}")]
    NotLowered {
        /// The function.
        function: String,
        /// Place as ` at path:line`, if it is known.
        place: String,
        /// The operation without PTX.
        operation: String,
    },
    /// A tool of the build ended with an error.
    #[error("{tool} failed on {}:\n{output}", input.display())]
    ToolFailed {
        /// The tool's path.
        tool: String,
        /// The file it worked on; it is kept.
        input: PathBuf,
        /// The tool's output.
        output: String,
    },
    /// A command of an installation ended with an error.
    #[error("`{command}` failed: {output}")]
    InstallFailed {
        /// The command line.
        command: String,
        /// The end of what it printed.
        output: String,
    },
    /// An installation could not reach where the packages are.
    #[error(
        "`{command}` could not reach the package index ({reason}): check the network and the proxy, or name an index \
         that can be reached (PIP_INDEX_URL for pip), and try again"
    )]
    IndexUnreachable {
        /// The command line.
        command: String,
        /// Its words about the connection.
        reason: String,
    },
    /// The function is for build scripts, which cargo gives a folder for what they write.
    #[error("OUT_DIR is not set: call this from a build script, which cargo runs with it")]
    NoOutDir,
    /// A file could not be read or written, or a tool not be started.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl CudaBuilderError {
    /// A closure for `map_err` on file operations.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> CudaBuilderError {
        let path = path.into();
        move |source| CudaBuilderError::Io { action, path, source }
    }
}
