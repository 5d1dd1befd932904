//! The PTX this binary carries.

use sha2::{Digest, Sha256};

/// The kernels, compiled for one architecture.
#[derive(Debug)]
pub struct Image {
    /// The compute capability times ten: 90 for 9.0.
    pub capability: u32,
    /// The PTX.
    pub text: &'static str,
    /// What each kernel in it consists of.
    pub kernels: &'static [KernelFacts],
}

/// The instructions and memory of one kernel, counted when it was built.
#[derive(Debug)]
pub struct KernelFacts {
    /// The kernel's name.
    pub kernel: &'static str,
    /// How often each memory, barrier, warp and multiply-add instruction occurs.
    pub instructions: &'static [(&'static str, usize)],
    /// Bytes of static shared memory per block.
    pub shared_bytes: usize,
    /// Bytes of local memory per thread.
    pub local_bytes: usize,
}

/// Every image, oldest architecture first.
pub const IMAGES: &[Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// The compiler that made the images.
pub const COMPILER: &str = env!("COALESCE_KERNEL_COMPILER");

/// The commit they were made from.
pub const COMMIT: &str = env!("COALESCE_COMMIT");

impl Image {
    /// The newest image that a device of this capability runs.
    pub fn for_capability(capability: u32) -> Option<&'static Image> {
        IMAGES.iter().rfind(|image| image.capability <= capability)
    }

    /// The first 16 hexadecimal digits of the text's SHA-256, to say what was measured.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.text.as_bytes());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// What one kernel consists of.
    pub fn facts(&self, kernel: &str) -> Option<&'static KernelFacts> {
        self.kernels.iter().find(|facts| facts.kernel == kernel)
    }
}
