//! What `cargo xtask` and the tests both know.

pub mod proofs;
