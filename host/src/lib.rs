//! The catalogue of Coalesce: memory patterns in teaching order, each a ladder of variants from naive to fastest.
//!
//! This crate is the host's half: inputs, CPU references, launches, expected traffic. The device's half, with the teaching
//! docs, is the crate `kernels`; how patterns are verified, measured and shown is `coalesce`'s.

pub mod patterns;

use coalesce::Catalogue;

mod kernels_ptx {
    include!(concat!(env!("OUT_DIR"), "/images.rs"));
}

/// The catalogue.
pub const CATALOGUE: Catalogue =
    Catalogue { name: "coalesce", patterns: patterns::ALL, images: kernels_ptx::IMAGES };
