use crate::error::GpuError;
use cuda_driver::Target;
use sha2::{Digest, Sha256};

/// The kernels of a crate, compiled for one architecture.
///
/// `cuda_builder::Images` writes a list of these from a build script. A launch without `unsafe` believes what the PTX says
/// of its kernels, so no other safe code can make one:
///
/// ```compile_fail,E0639
/// static MINE: &[cuda_host::Image] =
///     &[cuda_host::Image { capability: 70, text: "", kernels: &[], compiler: "", commit: "" }];
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Image {
    /// The compute capability times ten: 90 for 9.0.
    pub capability: u32,
    /// The PTX.
    pub text: &'static str,
    /// Facts of each of its kernels.
    pub kernels: &'static [KernelFacts],
    /// The compiler that made it.
    pub compiler: &'static str,
    /// The commit that it was made from, or `unknown`.
    pub commit: &'static str,
}

/// The instructions and memory of one kernel, counted when it was built.
#[derive(Clone, Debug)]
pub struct KernelFacts {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The number of each memory, barrier, warp and multiply-add instruction.
    pub instructions: &'static [(&'static str, usize)],
    /// Bytes of static shared memory per block.
    pub shared_bytes: usize,
    /// Bytes of local memory per thread.
    pub local_bytes: usize,
    /// Registers per thread that NVIDIA's assembler gives it on this architecture, where that was recorded.
    pub registers: Option<u32>,
}

/// The variable that names a PTX file to run in place of the PTX that the program carries.
pub const PTX_VARIABLE: &str = "COALESCE_PTX";

impl Image {
    /// An image of PTX that no build script wrote.
    ///
    /// # Safety
    /// - Each kernel of the text is what its record, if it has one, says of its parameters.
    /// - The kernels that are recorded as safe access no other memory than that of their parameters and statics.
    pub const unsafe fn new(
        capability: u32,
        text: &'static str,
        kernels: &'static [KernelFacts],
        compiler: &'static str,
        commit: &'static str,
    ) -> Image {
        Image { capability, text, kernels, compiler, commit }
    }

    /// An image as `cuda_builder::Images` writes it, for its file alone: it upholds the contract of [`Image::new`].
    #[doc(hidden)]
    pub const fn of_build_script(
        capability: u32,
        text: &'static str,
        kernels: &'static [KernelFacts],
        compiler: &'static str,
        commit: &'static str,
    ) -> Image {
        Image { capability, text, kernels, compiler, commit }
    }

    /// The target of its PTX; none where the text has none.
    fn ptx_target(&self) -> Option<Target> {
        Target::of_ptx(self.text)
    }

    /// Returns whether it runs on devices of its own capability alone: its target is `sm_90a` or the like.
    pub fn is_specific(&self) -> bool {
        self.ptx_target().is_some_and(Target::is_specific)
    }

    /// The newest image that a device of this capability runs.
    pub fn for_capability(images: &'static [Image], capability: u32) -> Option<&'static Image> {
        images.iter().rfind(|image| match image.ptx_target() {
            Some(target) => target.runs_on(capability),
            // Nothing but its capability is known.
            None => image.capability <= capability,
        })
    }

    /// The image in the file that [`PTX_VARIABLE`] names, if it names one: kernels that have just been compiled, for a
    /// program that was not.
    ///
    /// # Errors
    /// [`GpuError::Ptx`] when the file cannot be read or is no PTX.
    pub fn from_environment() -> Result<Option<&'static Image>, GpuError> {
        let Some(path) = std::env::var_os(PTX_VARIABLE).filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let cannot = |cause: String| GpuError::Ptx { path: path.clone().into(), cause };
        let text = std::fs::read_to_string(&path).map_err(|error| cannot(error.to_string()))?;
        let target = Target::of_ptx(&text);
        let capability =
            target.ok_or_else(|| cannot("it has no `.target sm_NN`".to_owned()))?.capability;
        // Leaked once per process that is told to read a file: what the program carries lives as long.
        let text: &'static str = Box::leak(text.into_boxed_str());
        Ok(Some(Box::leak(Box::new(Image {
            capability,
            text,
            kernels: &[],
            compiler: "unknown",
            commit: "unknown",
        }))))
    }

    /// The first 16 hexadecimal digits of the text's SHA-256, to say what was run.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.text.as_bytes());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Such as `sm_90`.
    pub fn target(&self) -> String {
        self.ptx_target()
            .map_or_else(|| format!("sm_{}", self.capability), |target| target.to_string())
    }

    /// Returns what one kernel consists of.
    pub fn facts(&self, kernel: &str) -> Option<&'static KernelFacts> {
        self.kernels.iter().find(|facts| facts.kernel == kernel)
    }
}
