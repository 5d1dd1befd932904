//! Gives the library the name that programs ask the loader for, and keeps it loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // A thread of the library may run when a program closes it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
