//! The catalogue of Coalesce: memory patterns in teaching order, each a ladder of variants from naive to fastest.
//!
//! This crate is the host's half: inputs, CPU references, launches, expected traffic. The device's half, with the teaching
//! docs, is the crate `kernels`; how patterns are verified, measured and shown is `coalesce`'s.

#![allow(missing_docs)]

mod cases;
pub mod patterns;
mod prelude;

use coalesce::Catalogue;
use cuda_host::Image;

static IMAGES: &[Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

pub static CATALOGUE: Catalogue = Catalogue {
    renamed: patterns::RENAMED,
    memory_spaces: patterns::MEMORY_SPACES,
    accuracy: include_str!("../../results/nvidia-h200/accuracy.csv"),
    myths: include_str!("../../docs/myths.md"),
    teaches: patterns::TEACHES,
    exercises: patterns::EXERCISES,
    ..Catalogue::new("coalesce", patterns::ALL, IMAGES)
};
