//! [`Images`]: the PTX of a crate of kernels as Rust source, for the crate that launches them.

use crate::arch::NvvmArch;
use crate::builder::CudaBuilder;
use crate::carried::{self, Carried, Origin};
use crate::error::CudaBuilderError;
use crate::facts::{KernelFacts, kernel_facts};
use crate::files;
use crate::options::{PanicStrategy, WRITE_PTX_VARIABLE};
use crate::ptxas::Resources;
use crate::toolchain::Toolchain;
use crate::{limits, local_memory};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The architectures whose PTX a program carries when it does not say otherwise: each later GPU runs that of an older one.
const ARCHITECTURES: [NvvmArch; 3] =
    [NvvmArch::Compute70, NvvmArch::Compute80, NvvmArch::Compute90];

/// Builds a crate of kernels for several architectures, from a build script, and writes them down as one Rust expression.
///
/// The whole of a `build.rs`:
///
/// ```no_run
/// cuda_builder::Images::new("../kernels").write_or_exit();
/// ```
///
/// or, for kernels whose panics only trap and a program that names the compiler of its kernels:
///
/// ```no_run
/// use cuda_builder::{Images, PanicStrategy, toolchain::Toolchain};
///
/// Images::new("../kernels").panic(PanicStrategy::Trap).write_or_exit();
/// let compiler = Toolchain::find().expect("it has just built the kernels").version;
/// println!("cargo::rustc-env=KERNEL_COMPILER={compiler}");
/// ```
///
/// What the crate does with the file:
///
/// ```text
/// /// The kernels, once per architecture.
/// pub static IMAGES: &[cuda_host::Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));
/// ```
///
/// The file holds `&[::cuda_host::Image, ..]`, oldest architecture first, so the crate depends on `cuda_host`.
///
/// cargo is told to run the build script again when a source of the kernels changes. One architecture
/// is lowered to PTX while the next is compiled.
///
/// A package can carry its PTX, for users who have no compiler of kernels: `COALESCE_WRITE_PTX=PACKAGE cargo build`
/// writes it into the folder `ptx` beside the build script. It is used where the kernels' crate, as in a package from a
/// registry, or a compiler is not there. A build that made other PTX than the package carries warns.
#[derive(Clone, Debug)]
pub struct Images {
    builder: CudaBuilder,
    architectures: Vec<NvvmArch>,
    registers: Option<PathBuf>,
    at_run_time: bool,
}

/// Bytes from which on a program carries PTX compressed: a catalogue's is tens of MiB, mostly lines of source.
const PACKED_FROM: usize = 1 << 20;

/// The variable that leaves PTX out of programs, see [`Images::or_at_run_time`].
pub const AT_RUN_TIME_VARIABLE: &str = "COALESCE_PTX_AT_RUN_TIME";

/// The variable that leaves kernels out of programs for good: what is installed on a machine without a compiler of
/// kernels then does all that needs none, and says so of the rest.
pub const WITHOUT_KERNELS_VARIABLE: &str = "COALESCE_WITHOUT_KERNELS";

impl Images {
    /// The kernels of the crate in folder `path`, relative to the folder of the build script's own manifest, for
    /// `compute_70`, `compute_80` and `compute_90`.
    pub fn new(path: impl AsRef<Path>) -> Images {
        Images {
            builder: CudaBuilder::new(path),
            architectures: ARCHITECTURES.to_vec(),
            registers: None,
            at_run_time: false,
        }
    }

    /// The architectures, instead of those of [`Self::new`].
    pub fn architectures(mut self, architectures: &[NvvmArch]) -> Images {
        self.architectures = architectures.to_vec();
        self.architectures.sort_unstable();
        self.architectures.dedup();
        self
    }

    /// Returns what a panic does.
    pub fn panic(self, panic: PanicStrategy) -> Images {
        self.configure(|builder| builder.panic(panic))
    }

    /// Any other option of the builder. Its architecture and the place of its copy are set here, later.
    pub fn configure(mut self, change: impl FnOnce(CudaBuilder) -> CudaBuilder) -> Images {
        self.builder = change(self.builder);
        self
    }

    /// A file of what NVIDIA's assembler gave each kernel, in lines such as `sm_90 NAME: 34 registers, ...`: the
    /// virtual device then knows how many blocks fit a multiprocessor. Without it, an installed assembler is asked.
    pub fn registers(mut self, file: impl AsRef<Path>) -> Images {
        self.registers = Some(file.as_ref().to_owned());
        self
    }

    /// Leaves the PTX out when the variable [`AT_RUN_TIME_VARIABLE`] is set: the list is empty then, and the program is
    /// told at run time which PTX to load. A kernel can then be changed without building the program again.
    pub fn or_at_run_time(mut self) -> Images {
        self.at_run_time = true;
        self
    }

    /// Builds everything, writes `images.rs` and the PTX into cargo's `OUT_DIR`, and returns the path of the former.
    ///
    /// # Errors
    /// [`CudaBuilderError::NoOutDir`] outside of a build script, and what [`CudaBuilder::build`] may return.
    pub fn write(self) -> Result<PathBuf, CudaBuilderError> {
        let folder = std::env::var_os("OUT_DIR").ok_or(CudaBuilderError::NoOutDir)?;
        self.write_into(Path::new(&folder))
    }

    /// [`Self::write`] whose error is printed as one sentence and ends the build script.
    pub fn write_or_exit(self) -> PathBuf {
        self.write().unwrap_or_else(|error| {
            eprintln!("error: {error}");
            std::process::exit(1)
        })
    }

    #[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
    fn write_into(self, folder: &Path) -> Result<PathBuf, CudaBuilderError> {
        let path = folder.join("images.rs");
        println!("cargo::rerun-if-env-changed={WITHOUT_KERNELS_VARIABLE}");
        if std::env::var_os(WITHOUT_KERNELS_VARIABLE).is_some() {
            files::write_changed(&path, b"&[]\n")?;
            return Ok(path);
        }
        if self.at_run_time {
            println!("cargo::rerun-if-env-changed={AT_RUN_TIME_VARIABLE}");
            if std::env::var_os(AT_RUN_TIME_VARIABLE).is_some() {
                files::write_changed(&path, b"&[]\n")?;
                return Ok(path);
            }
        }
        let carried = Carried::of_build_script();
        carried.watch();
        if !self.builder.path().join("Cargo.toml").exists() {
            if !carried.exists() {
                return Err(carried.missing(self.builder.path()));
            }
            return self.write_carried(&carried, &path);
        }
        let toolchain = match Toolchain::find() {
            Err(CudaBuilderError::NoToolchain { .. }) if carried.exists() => {
                let (_, sources) = carried.read()?;
                carried::watch(&sources, self.builder.path());
                if let Some(changed) =
                    carried::changed(&sources, self.builder.path(), &self.options())
                {
                    return Err(carried.stale(changed));
                }
                return self.write_carried(&carried, &path);
            }
            found => found?,
        };
        let mut origin = Origin {
            compiler: toolchain.version.clone(),
            commit: commit(),
            registers: self.registers.as_deref().map(registers).transpose()?.unwrap_or_default(),
        };
        let file = |arch: NvvmArch| folder.join(format!("kernels_{}.ptx", arch.processor()));
        // Where a file says what each kernel needs, nobody has to ask.
        let asks = self.registers.is_none();
        let mut sources = Vec::new();
        let texts: Vec<Result<(String, Vec<Resources>), CudaBuilderError>> =
            std::thread::scope(|scope| {
                let mut threads = Vec::new();
                for arch in &self.architectures {
                    let builder = self.builder.clone().arch(*arch).copy_to(file(*arch));
                    // rustc's messages are those of the first architecture that does not compile, not of all at once.
                    let compiled = match builder.compile(&toolchain) {
                        Ok(compiled) => compiled,
                        Err(error) => return vec![Err(error)],
                    };
                    sources.extend(compiled.sources());
                    let toolchain = &toolchain;
                    threads.push(scope.spawn(move || {
                        let ptx = builder.lower(toolchain, &compiled)?;
                        let resources =
                            if asks { limits::resources(&ptx, *arch) } else { Vec::new() };
                        let text = std::fs::read_to_string(&ptx);
                        Ok((text.map_err(CudaBuilderError::io("read", ptx))?, resources))
                    }));
                }
                let joined = threads.into_iter().map(|thread| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
                joined.collect()
            });
        let mut images = String::from("&[\n");
        let mut warnings = BTreeMap::new();
        let mut limits_warnings = BTreeMap::new();
        for (arch, text) in self.architectures.iter().zip(texts) {
            let (text, resources) = text?;
            let of = |found: &Resources| {
                ((arch.processor().to_owned(), found.kernel.clone()), found.registers)
            };
            origin.registers.extend(resources.iter().map(of));
            // One warning of a kernel, for whichever architecture.
            let tree = ptx::parse(&text)?;
            warnings.extend(local_memory::warnings(&text, &tree));
            limits_warnings.extend(limits::warnings(&tree, &resources));
            let carried = carry(&text, &file(*arch), folder)?;
            images += &image(&origin, *arch, &carried, &kernel_facts(&tree));
        }
        local_memory::warn(warnings.values());
        local_memory::warn(limits_warnings.values());
        images += "]\n";
        files::write_changed(&path, images.as_bytes())?;
        self.compare_carried(&carried, &origin, &sources, file)?;
        Ok(path)
    }

    /// Returns what decides the PTX besides the sources and the compiler.
    fn options(&self) -> String {
        let architectures = self.architectures.iter().map(|arch| arch.processor());
        let architectures = architectures.collect::<Vec<_>>().join(" ");
        format!("{architectures} {}", self.builder.options())
    }

    /// Writes the list of the images that the package carries.
    fn write_carried(&self, carried: &Carried, path: &Path) -> Result<PathBuf, CudaBuilderError> {
        let (origin, _) = carried.read()?;
        let mut images = String::from("&[\n");
        for arch in &self.architectures {
            let text = carried.ptx(*arch)?;
            let included = carry(&text, &carried.file(*arch), path.parent().unwrap_or(path))?;
            images += &image(&origin, *arch, &included, &kernel_facts(&ptx::parse(&text)?));
        }
        images += "]\n";
        files::write_changed(path, images.as_bytes())?;
        Ok(path.to_owned())
    }

    /// Writes the PTX that the package carries when that is asked for; warns when it is that of other sources.
    #[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
    fn compare_carried(
        &self,
        carried: &Carried,
        origin: &Origin,
        sources: &[PathBuf],
        built: impl Fn(NvvmArch) -> PathBuf,
    ) -> Result<(), CudaBuilderError> {
        let kernels = self.builder.path();
        let kernels = kernels.canonicalize().map_err(CudaBuilderError::io("find", kernels))?;
        let sources = carried::sources(&kernels, &self.options(), sources)?;
        if carried.is_asked_for() {
            return carried.write(origin, &sources, &self.architectures, built);
        }
        if carried.exists() && carried.read()?.1 != sources {
            println!(
                "cargo::warning=the folder ptx is not of these kernels: write it anew by \
                 {WRITE_PTX_VARIABLE}={} cargo build before you hand the package on",
                std::env::var("CARGO_PKG_NAME").unwrap_or_default()
            );
        }
        Ok(())
    }
}

/// Returns the PTX as a Rust expression: the file as it is, or, where that is long, what it is compressed to.
fn carry(text: &str, file: &Path, folder: &Path) -> Result<String, CudaBuilderError> {
    if text.len() < PACKED_FROM {
        return Ok(format!("::cuda_host::Ptx::text(include_str!({file:?}))"));
    }
    let packed = folder.join(file.with_added_extension("deflate").file_name().unwrap_or_default());
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let bytes = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    files::write_changed(&packed, &bytes.map_err(CudaBuilderError::io("compress", file))?)?;
    Ok(format!("::cuda_host::Ptx::packed(include_bytes!({packed:?}))"))
}

/// One image as a Rust expression, with a comma behind it.
fn image(origin: &Origin, arch: NvvmArch, carried: &str, kernels: &[KernelFacts]) -> String {
    let Origin { compiler, commit, registers } = origin;
    let mut text = format!(
        "    ::cuda_host::Image::of_build_script({}, {carried}, &[\n",
        arch.capability_value()
    );
    for KernelFacts { kernel, instructions, shared_bytes, local_bytes, .. } in kernels {
        let instructions: Vec<(&String, &usize)> = instructions.iter().collect();
        // An image for one generation alone repeats the kernels of the one that newer devices run, too.
        let of = |target: String| registers.get(&(target, kernel.clone()));
        let general = format!("sm_{}", arch.capability_value());
        let registers = of(arch.processor().to_owned()).or_else(|| of(general));
        let _ = writeln!(
            text,
            "        ::cuda_host::KernelFacts {{ kernel: {kernel:?}, instructions: &{instructions:?}, \
             shared_bytes: {shared_bytes}, local_bytes: {local_bytes}, registers: {registers:?} }},"
        );
    }
    text + &format!("    ], {compiler:?}, {commit:?}),\n")
}

/// Returns what NVIDIA's assembler gave kernels, from a file of lines such as `sm_90 NAME: 34 registers, ...`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_an_expression_of_cuda_host_s_types() {
        let facts = KernelFacts {
            kernel: "scale".to_owned(),
            instructions: [("bar.sync".to_owned(), 2), ("ld.global.b32".to_owned(), 1)].into(),
            shared_bytes: 128,
            ..KernelFacts::default()
        };
        let short = carry("text", Path::new("/out/k.ptx"), Path::new("/out"));
        let carried = short.expect("nothing is written");
        let origin = Origin {
            compiler: "rustc".to_owned(),
            commit: "1a2b".to_owned(),
            registers: [(("sm_80".to_owned(), "scale".to_owned()), 16)].into(),
        };
        assert_eq!(
            image(&origin, NvvmArch::Compute80, &carried, &[facts]),
            "    ::cuda_host::Image::of_build_script(80, ::cuda_host::Ptx::text(include_str!(\"/out/k.ptx\")), &[\n        \
             ::cuda_host::KernelFacts { kernel: \"scale\", instructions: &[(\"bar.sync\", 2), (\"ld.global.b32\", 1)], \
             shared_bytes: 128, local_bytes: 0, registers: Some(16) },\n    ], \"rustc\", \"1a2b\"),\n"
        );
    }

    #[test]
    fn long_ptx_is_compressed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = "\tmov.u32 %r1, %r2;\n".repeat(PACKED_FROM / 16);
        let file = folder.path().join("k.ptx");
        let carried = carry(&text, &file, folder.path()).expect("a writable folder");
        let packed = folder.path().join("k.ptx.deflate");
        assert_eq!(carried, format!("::cuda_host::Ptx::packed(include_bytes!({packed:?}))"));
        let bytes = std::fs::read(packed).expect("it was written");
        assert!(bytes.len() < text.len() / 20, "{}", bytes.len());
        let mut back = String::new();
        let mut decoder = flate2::read::DeflateDecoder::new(&bytes[..]);
        std::io::Read::read_to_string(&mut decoder, &mut back).expect("it is text");
        assert!(back == text);
    }

    #[test]
    fn architectures_are_sorted_and_each_is_built_once() {
        let images = Images::new("kernels").architectures(&[
            NvvmArch::Compute90,
            NvvmArch::Compute70,
            NvvmArch::Compute90,
        ]);
        assert_eq!(images.architectures, [NvvmArch::Compute70, NvvmArch::Compute90]);
    }

    #[test]
    fn outside_of_a_build_script_the_error_says_so() {
        // cargo gives OUT_DIR to tests of crates with a build script, and this crate has none.
        let error = Images::new("kernels").write().expect_err("there is no OUT_DIR").to_string();
        assert!(error.contains("from a build script"), "{error}");
    }
}
