//! Safe Rust for what cust lacks of the CUDA driver API.
