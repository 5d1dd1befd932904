//! What the pages of the guide take to be the reader's own crate. Their Rust is run by `tests/pages.rs`.

/// The kernels, once per architecture.
pub static IMAGES: &[cuda_host::Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));
