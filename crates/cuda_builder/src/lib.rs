//! Builds a Rust crate into PTX with rustc's own NVPTX backend: no CUDA toolkit, no linker.
//!
//! The surface is that of rust-cuda's `cuda_builder`; what stands behind it is different:
//!
//! ```text
//! kernels crate --cargo/rustc, fat LTO--> LLVM bitcode          (compile)
//!               --llvm-dis--> text --address spaces,
//!                 launch bounds, line tables--> text            (ir)
//!               --opt O3, llc--> PTX                            (lower)
//!               --ptxas, when there is one--> resource report   (ptxas)
//! ```
//!
//! A build script needs three lines:
//!
//! ```no_run
//! use cuda_builder::CudaBuilder;
//! CudaBuilder::new("../kernels").copy_to("kernels.ptx").build_or_exit();
//! ```

mod arch;
mod builder;
mod compile;
mod error;
pub mod facts;
mod files;
mod fresh;
pub mod install;
mod ir;
mod lower;
mod means;
mod options;
pub mod ptxas;
pub mod toolchain;

pub use arch::NvvmArch;
pub use builder::CudaBuilder;
pub use error::CudaBuilderError;
pub use options::{DebugInfo, PanicStrategy};
