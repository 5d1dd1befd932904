//! The device standard library for kernels written in Rust.
