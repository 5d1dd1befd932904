//! Compiles the instruments' kernels to PTX, which the library carries.

fn main() {
    cuda_builder::Images::new("../measurement_kernels")
        .panic(cuda_builder::PanicStrategy::Trap)
        .registers("../measurement_kernels/resources.txt")
        .write_or_exit();
}
