//! Gives the library what programs expect of their runtime's library, besides its functions.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=versions.map");
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    // The driver's names come with `cuda_driver`; a program gets them from the driver's library, not from here.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Programs ask for versions of symbols. glibc takes functions without one, and warns where the library defines none.
    // Only LLVM's linker takes these definitions beside those that rustc writes.
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let target = std::env::var("TARGET").unwrap_or_default();
    if target == "x86_64-unknown-linux-gnu" && !flags.contains("link") {
        let folder = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
        let file = Path::new(&folder).join("versions.map");
        println!("cargo::rustc-cdylib-link-arg=-Wl,--version-script={}", file.display());
    }
}
