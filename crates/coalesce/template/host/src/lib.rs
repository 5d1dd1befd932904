//! The host half of my-app: the PTX of its kernels, and how each is launched, checked and measured.

#[cfg(feature = "instruments")]
pub mod patterns;

/// The library that opens a device and launches; `cuda_host::cust` has its buffers, streams and events.
pub use cuda_host;
/// The kernels that are launched.
pub use my_app_kernels as kernels;

/// The kernels, once per architecture.
pub static IMAGES: &[cuda_host::Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// The catalogue that the instruments work on.
#[cfg(feature = "instruments")]
pub static CATALOGUE: coalesce::Catalogue =
    coalesce::Catalogue::new("my_app", patterns::ALL, IMAGES);
