use crate::error::GpuError;
use cuda_driver::Target;
use flate2::read::DeflateDecoder;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::sync::{Mutex, PoisonError};

/// The kernels of a crate, compiled for one architecture.
///
/// `cuda_builder::Images` writes a list of these from a build script. A launch without `unsafe` believes what the PTX says
/// of its kernels, so no other safe code can make one:
///
/// ```compile_fail,E0639
/// static MINE: &[cuda_host::Image] =
///     &[cuda_host::Image { capability: 70, kernels: &[], compiler: "", commit: "" }];
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Image {
    /// The compute capability times ten: 90 for 9.0.
    pub capability: u32,
    ptx: Ptx,
    /// Facts of each of its kernels.
    pub kernels: &'static [KernelFacts],
    /// The compiler that made it.
    pub compiler: &'static str,
    /// The commit that it was made from, or `unknown`.
    pub commit: &'static str,
}

/// PTX as a program carries it: as it is, or compressed where it is long.
#[doc(hidden)]
#[derive(Debug)]
pub struct Ptx(Form);

#[derive(Debug)]
enum Form {
    Text(&'static str),
    /// In raw DEFLATE.
    Packed(&'static [u8]),
}

/// The texts that somebody has asked for, by their bytes. A list of images is a constant, so none can keep its own.
static UNPACKED: Mutex<Vec<(&[u8], &str)>> = Mutex::new(Vec::new());

impl Ptx {
    /// PTX as it is.
    pub const fn text(text: &'static str) -> Ptx {
        Ptx(Form::Text(text))
    }

    /// PTX that `cuda_builder` compressed.
    pub const fn packed(bytes: &'static [u8]) -> Ptx {
        Ptx(Form::Packed(bytes))
    }

    fn whole(&self) -> &'static str {
        let bytes = match self.0 {
            Form::Text(text) => return text,
            Form::Packed(bytes) => bytes,
        };
        let mut known = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = known.iter().find(|(packed, _)| std::ptr::eq(*packed, bytes)) {
            return text;
        }
        let mut text = String::new();
        let read = DeflateDecoder::new(bytes).read_to_string(&mut text);
        read.expect("the build script compressed a text");
        // Once per process: what the program carries lives as long.
        let text: &str = text.leak();
        known.push((bytes, text));
        text
    }

    /// The first lines, with version and target; they are all that is unpacked for them.
    fn head(&self) -> String {
        match self.0 {
            Form::Text(text) => text.chars().take(HEAD as usize).collect(),
            Form::Packed(bytes) => {
                let mut head = Vec::new();
                let read = DeflateDecoder::new(bytes).take(HEAD).read_to_end(&mut head);
                read.expect("the build script compressed a text");
                String::from_utf8_lossy(&head).into_owned()
            }
        }
    }
}

/// Bytes of a text of PTX in which its target is.
const HEAD: u64 = 4 << 10;

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
        Image { capability, ptx: Ptx::text(text), kernels, compiler, commit }
    }

    /// An image as `cuda_builder::Images` writes it, for its file alone: it upholds the contract of [`Image::new`].
    #[doc(hidden)]
    pub const fn of_build_script(
        capability: u32,
        ptx: Ptx,
        kernels: &'static [KernelFacts],
        compiler: &'static str,
        commit: &'static str,
    ) -> Image {
        Image { capability, ptx, kernels, compiler, commit }
    }

    /// The PTX.
    pub fn text(&self) -> &'static str {
        self.ptx.whole()
    }

    /// The target of its PTX; none where the text has none.
    fn ptx_target(&self) -> Option<Target> {
        Target::of_ptx(&self.ptx.head())
    }

    /// Returns whether it runs on devices of its own capability alone: its target is `sm_90a` or the like.
    pub fn is_specific(&self) -> bool {
        self.ptx_target().is_some_and(Target::is_specific)
    }

    /// The version of PTX that it asks the driver for, such as 8.0; none where the text has none.
    pub(crate) fn version(&self) -> Option<(u32, u32)> {
        let head = self.ptx.head();
        let version = head.lines().find_map(|line| line.strip_prefix(".version "))?;
        let (major, minor) = version.trim().split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    /// The newest image that a device of this capability runs, with a driver that assembles PTX up to a version.
    pub(crate) fn for_driver(
        images: &'static [Image],
        capability: u32,
        newest: (u32, u32),
    ) -> Option<&'static Image> {
        let is_known = |image: &Image| image.version().is_none_or(|version| version <= newest);
        images.iter().rfind(|image| image.runs_on(capability) && is_known(image))
    }

    /// The newest image that a device of this capability runs.
    pub fn for_capability(images: &'static [Image], capability: u32) -> Option<&'static Image> {
        images.iter().rfind(|image| image.runs_on(capability))
    }

    fn runs_on(&self, capability: u32) -> bool {
        match self.ptx_target() {
            Some(target) => target.runs_on(capability),
            // Nothing but its capability is known.
            None => self.capability <= capability,
        }
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
            ptx: Ptx::text(text),
            kernels: &[],
            compiler: "unknown",
            commit: "unknown",
        }))))
    }

    /// The first 16 hexadecimal digits of a SHA-256 of the code, to say what was run. Comments and line tables do not count:
    /// they change with every line of a source's docs.
    pub fn hash(&self) -> String {
        let mut digest = Sha256::new();
        for line in self.text().lines().filter(|line| is_code(line)) {
            digest.update(line);
            digest.update("\n");
        }
        digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
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

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !["//", ".loc", ".file"].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_older_driver_takes_an_older_image() {
        let image =
            |capability, text| Image::of_build_script(capability, Ptx::text(text), &[], "", "");
        let images = vec![
            image(80, "//\n.version 8.0\n.target sm_80\n"),
            image(90, "//\n.version 8.1\n.target sm_90\n"),
        ];
        let images: &'static [Image] = images.leak();
        let taken = |capability, newest| {
            Image::for_driver(images, capability, newest).map(|image| image.capability)
        };
        assert_eq!(taken(90, (8, 1)), Some(90));
        assert_eq!(taken(90, (8, 0)), Some(80));
        assert_eq!(taken(80, (9, 0)), Some(80));
        assert_eq!(taken(90, (7, 8)), None);
    }

    #[test]
    fn the_hash_is_of_the_code() {
        let hash = |text| Image::of_build_script(80, Ptx::text(text), &[], "", "").hash();
        let plain = hash(".version 8.0\n.target sm_80\n\tret;\n");
        let documented =
            ".version 8.0\n.file 1 \"a.rs\"\n.target sm_80\n\t// Leaves.\n\t.loc 1 7 3\n\tret;\n";
        assert_eq!(hash(documented), plain);
        assert_ne!(hash(".version 8.0\n.target sm_80\n\texit;\n"), plain);
    }

    #[test]
    fn packed_ptx_is_the_text() {
        let text = format!(".version 8.0\n.target sm_80\n{}", "// a line\n".repeat(9999));
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Default::default());
        encoder.write_all(text.as_bytes()).expect("memory takes it");
        let bytes = encoder.finish().expect("memory takes it").leak();
        let image = Image::of_build_script(80, Ptx::packed(bytes), &[], "", "");
        let plain = Image::of_build_script(80, Ptx::text(text.leak()), &[], "", "");
        assert_eq!((image.target(), plain.target()), ("sm_80".to_owned(), "sm_80".to_owned()));
        assert_eq!(image.text(), plain.text());
        assert!(std::ptr::eq(image.text(), image.text()), "it is unpacked once");
        assert_eq!((image.hash(), image.target()), (plain.hash(), "sm_80".to_owned()));
    }
}
