//! Compiles the instruments' kernels to PTX, which the library carries.

fn main() {
    cuda_builder::Images::new("../measurement_kernels")
        .registers("../measurement_kernels/resources.txt")
        .write();
}
