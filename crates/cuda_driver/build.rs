//! Tells the linker where an empty `libcuda.so` is: cust's bindings ask for one, and this crate defines what they use.

#![allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-search=native={}/link_stub/lib64", env!("CARGO_MANIFEST_DIR"));
}
