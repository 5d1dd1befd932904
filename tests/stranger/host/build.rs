//! Compiles the kernels to PTX, which the program carries.

use cuda_builder::{Images, NvvmArch};

fn main() {
    // PTX for older devices, too, without this choice; each architecture takes its time to build.
    Images::new("../kernels").architectures(&[NvvmArch::Compute90]).write_or_exit();
}
