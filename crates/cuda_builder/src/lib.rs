//! Builds a Rust crate into PTX with rustc's own NVPTX backend: no CUDA toolkit, no linker.
//!
//! The surface is that of rust-cuda's `cuda_builder`; what stands behind it is different:
//!
//! ```text
//! kernels crate --cargo/rustc, fat LTO--> LLVM bitcode          (compile)
//!               --llvm-dis--> text --address spaces,
//!                 launch bounds, line tables--> text            (kernels, ir)
//!               --opt O3, llc--> PTX                            (lower)
//!               --ptxas, when there is one--> resource report   (ptxas)
//! ```
//!
//! The build script of a crate that launches the kernels has one line; [`Images`] shows how the crate uses its output:
//!
//! ```no_run
//! cuda_builder::Images::new("../kernels").write_or_exit();
//! ```
//!
//! [`CudaBuilder`] builds for one architecture and gives a file of PTX:
//!
//! ```no_run
//! use cuda_builder::{CudaBuilder, NvvmArch};
//! let ptx = CudaBuilder::new("../kernels").arch(NvvmArch::Compute80).build_or_exit();
//! ```
//!
//! # Environment
//! `COALESCE_RUSTC` chooses the compiler, `COALESCE_LLVM` the folder of LLVM's tools. What was chosen and cannot be used is
//! an error that names the variable; nothing else is tried in its place.

mod arch;
mod builder;
mod carried;
mod compile;
mod error;
mod facts;
mod files;
mod fingerprint;
mod images;
pub mod install;
mod ir;
mod kernels;
mod limits;
mod load_caching;
mod local_memory;
mod lower;
mod options;
mod os;
mod package_manager;
pub mod ptxas;
pub mod toolchain;
mod unsupported;
mod version;

pub use arch::NvvmArch;
pub use builder::CudaBuilder;
pub use error::CudaBuilderError;
pub use facts::{KernelFacts, kernel_facts};
pub use files::write_whole;
pub use images::{AT_RUN_TIME_VARIABLE, Images, WITHOUT_KERNELS_VARIABLE};
pub use load_caching::LoadCaching;
pub use options::{DebugInfo, PanicStrategy, WRITE_PTX_VARIABLE};
