//! Builds a Rust crate into PTX with rustc's own NVPTX backend: no CUDA toolkit.
