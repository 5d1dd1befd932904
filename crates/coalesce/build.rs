//! Compiles the instruments' kernels to PTX, which the library carries.

use cuda_builder::NvvmArch;

fn main() {
    cuda_builder::Images::new("../measurement_kernels")
        .architectures(&[
            NvvmArch::Compute70,
            NvvmArch::Compute80,
            NvvmArch::Compute90,
            NvvmArch::Compute90a,
        ])
        .panic(cuda_builder::PanicStrategy::Trap)
        .registers("../measurement_kernels/resources.txt")
        .write_or_exit();
}
