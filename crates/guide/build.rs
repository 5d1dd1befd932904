//! Compiles the kernels of the guide's pages to PTX, and writes what the pages do on the host as tests.

mod blocks;

fn main() {
    blocks::write("pages.rs", &blocks::programs());
    let images = cuda_builder::Images::new("../guide_kernels");
    images.panic(cuda_builder::PanicStrategy::Trap).write_or_exit();
}
