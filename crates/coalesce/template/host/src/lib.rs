//! The host half of my-app: the PTX of its kernels, and how each is launched, checked and measured.

pub mod patterns;

/// The kernels, once per architecture.
pub static IMAGES: &[cuda_host::Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// What the instruments work on.
pub static CATALOGUE: coalesce::Catalogue =
    coalesce::Catalogue::new("my_app", patterns::ALL, IMAGES);
