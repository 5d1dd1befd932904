//! Builds a kernels crate from the command line: `cargo run --example ptx -- PATH [CAPABILITY]`.

use cuda_builder::{CudaBuilder, NvvmArch};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: ptx PATH [CAPABILITY]");
        std::process::exit(2);
    };
    let capability = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(70);
    let Some(arch) = NvvmArch::from_capability(capability) else {
        eprintln!("error: this builder does not know compute capability {capability}");
        std::process::exit(2);
    };
    let ptx = CudaBuilder::new(path).arch(arch).announce(true).build_or_exit();
    eprintln!("{}", ptx.display());
}
