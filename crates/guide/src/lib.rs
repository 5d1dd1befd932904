//! The reader's own crate, as the pages of the guide assume it. Their Rust is run by `tests/pages.rs`.

/// The kernels, once per architecture.
pub static IMAGES: &[cuda_host::Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

// As a library does that is handed on.
pub use cuda_host;
pub use my_app_kernels as kernels;
