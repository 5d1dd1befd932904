//! The CUDA runtime's public API over the driver's, as a library that programs load as `libcudart.so.12` or `.so.13`.
//!
//! NVIDIA's own runtime asks the driver by undocumented means whether it is NVIDIA's. A program that is linked with
//! `-cudart shared` asks its runtime for the public API and for what the compiler's output registers, and a library that
//! has these is a runtime: it works over the virtual GPU and over NVIDIA's driver.
//!
//! Most functions are the driver's under another name. What the runtime adds is here: kernels and variables by the host's
//! names (`registration`), a device for each thread whose context comes by itself (`context`), the last error
//! (`error`), and structures that are laid out otherwise.

#![allow(non_snake_case)]

mod absent;
mod array;
mod batch;
mod context;
mod copy;
mod define;
mod device;
mod driver;
mod error;
mod external;
mod graph;
mod kernel;
mod library;
mod memory;
mod pool;
mod record;
mod registration;
mod stream;
mod version;
