//! Builds a kernels crate from the command line: `cargo run --example ptx -- PATH [CAPABILITY [PREFIX]]`, where
//! PREFIX is what the names of the kernels that are wanted begin with.

use cuda_builder::{CudaBuilder, NvvmArch};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: ptx PATH [CAPABILITY [PREFIX]]");
        std::process::exit(2);
    };
    let capability = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(70);
    let Some(arch) = NvvmArch::from_capability(capability) else {
        eprintln!("error: this builder does not know compute capability {capability}");
        std::process::exit(2);
    };
    let mut builder = CudaBuilder::new(path).arch(arch).announce(true);
    if let Some(prefix) = arguments.next() {
        builder = builder.only_kernels(prefix);
    }
    let ptx = builder.build_or_exit();
    eprintln!("{}", ptx.display());
}
