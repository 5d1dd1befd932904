//! The program behind `cargo xtask learn`.

fn main() {}
