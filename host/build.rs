//! Compiles the kernels to PTX, which the program carries.

use cuda_builder::NvvmArch;

fn main() {
    cuda_builder::Images::new("../kernels")
        .architectures(&[
            NvvmArch::Compute70,
            NvvmArch::Compute80,
            NvvmArch::Compute90,
            NvvmArch::Compute90a,
        ])
        .panic(cuda_builder::PanicStrategy::Trap)
        .registers("../kernels/resources.txt")
        .or_at_run_time()
        .write_or_exit();
}
