//! Compiles the kernels to PTX, which the program carries.

fn main() {
    cuda_builder::Images::new("../kernels").write_or_exit();
}
