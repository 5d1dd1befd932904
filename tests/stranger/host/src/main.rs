//! A program that lists, verifies, counts, measures and explains the kernels of this project.

mod saxpy;

/// The kernels, once per architecture.
static IMAGES: &[cuda_host::Image] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

fn main() -> std::process::ExitCode {
    coalesce::main(&coalesce::Catalogue::new("saxpy", &[&saxpy::PATTERN], IMAGES))
}
