//! Compiles the kernels to PTX, which the program carries.

fn main() {
    cuda_builder::Images::new("../kernels")
        .panic(cuda_builder::PanicStrategy::Trap)
        .registers("../kernels/resources.txt")
        .or_at_run_time()
        .write_or_exit();
}
