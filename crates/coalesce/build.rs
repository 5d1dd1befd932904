//! Compiles the instruments' kernels to PTX, which the library carries, and says where cargo builds `libcuda.so.1` and `libcudart.so`.

#![allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]

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
    // Cargo builds the dependencies into one folder, three above that of a build script, and both libraries before this
    // crate. Only the feature `bundled-libcuda` reads the files.
    let deps = std::path::PathBuf::from(std::env::var("OUT_DIR").expect("cargo says it"))
        .ancestors()
        .nth(3)
        .expect("a build script's folder is deep")
        .join("deps");
    for (variable, file) in [
        ("COALESCE_BUILT_LIBCUDA", "libvirtual_libcuda.so"),
        ("COALESCE_BUILT_LIBCUDART", "libvirtual_libcudart.so"),
    ] {
        println!("cargo::rustc-env={variable}={}", deps.join(file).display());
    }
}
