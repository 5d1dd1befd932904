use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler's command for a file of this folder; architecture and files are still missing.
pub fn command(nvcc: &Path, include: &[PathBuf], checkout: &Path, own: &Path) -> Command {
    let mut build = Command::new(nvcc);
    build.args(["-ptx", "-std=c++17", "-w"]);
    let own = [checkout.join("Common"), own.to_owned(), own.join("inc"), own.join("../inc")];
    for folder in include.iter().chain(&own) {
        build.arg("-I").arg(folder);
    }
    build
}
