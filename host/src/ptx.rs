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

/// A line of a kernel's PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxLine {
    /// Its number in the image, from 1.
    pub number: u32,
    /// The line, without comment.
    pub text: &'static str,
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

    /// The PTX of one kernel as a person reads it: without comments and line tables; empty if it is not in the image.
    pub fn listing(&self, kernel: &str) -> Vec<PtxLine> {
        let Some(start) = self.text.find(&format!(".entry {kernel}(")) else { return Vec::new() };
        let first = self.text[..start].matches('\n').count();
        let start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let length = self.text[start..].find("\n}").map_or(self.text.len() - start, |end| end + 2);
        let lines = self.text[start..start + length].lines().enumerate();
        let lines = lines.map(|(index, line)| PtxLine {
            number: (first + index + 1) as u32,
            text: line.split("//").next().unwrap_or_default().trim_end(),
        });
        let is_for_debuggers = |text: &str| {
            let text = text.trim_start();
            text.starts_with(".loc") || text.starts_with("$L__tmp") || text.starts_with("$L__func")
        };
        lines.filter(|line| !line.text.is_empty() && !is_for_debuggers(line.text)).collect()
    }

    /// What one kernel consists of.
    pub fn facts(&self, kernel: &str) -> Option<&'static KernelFacts> {
        self.kernels.iter().find(|facts| facts.kernel == kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_the_kernel_and_nothing_else() {
        for image in IMAGES {
            let lines: Vec<&str> = image.text.lines().collect();
            for facts in image.kernels {
                let listing = image.listing(facts.kernel);
                let entries = listing.iter().filter(|line| line.text.contains(".entry"));
                assert_eq!(entries.count(), 1, "{}", facts.kernel);
                assert_eq!(listing.last().map(|line| line.text), Some("}"), "{}", facts.kernel);
                for line in listing {
                    assert!(lines[line.number as usize - 1].starts_with(line.text), "{line:?}");
                }
            }
            assert_eq!(image.listing("no_such_kernel"), []);
        }
    }
}
