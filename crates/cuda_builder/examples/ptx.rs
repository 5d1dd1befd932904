//! Builds a crate of kernels and prints where its PTX lies: `cargo run --example ptx -- FOLDER [compute_90]`.

use cuda_builder::{CudaBuilder, NvvmArch};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("error: which crate? Give its folder, and a compute capability if it is not 70");
        std::process::exit(2);
    };
    let arch =
        arguments.next().map_or(Some(NvvmArch::Compute70), |name| NvvmArch::from_name(&name));
    let Some(arch) = arch else {
        eprintln!("error: this compute capability is not known; 70, 80, 90 and 90a are");
        std::process::exit(2);
    };
    let path = CudaBuilder::new(folder).arch(arch).build_or_exit();
    #[allow(clippy::print_stdout, reason = "the path is what was asked for")]
    {
        println!("{}", path.display());
    }
}
