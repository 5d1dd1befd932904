use cuda_builder::{CudaBuilder, NvvmArch};
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests lie in the workspace")
        .to_owned()
}

/// A builder of the kernels in a folder, beside all other device code: with it they share `core` and dependencies.
pub fn builder(folder: &str, arch: NvvmArch) -> CudaBuilder {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    CudaBuilder::new(root().join(folder))
        .arch(arch)
        .target_dir(target.unwrap_or_else(|| root().join("target")))
}

/// Every file below `folder` with this extension, with its text.
pub fn files(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                if name != "target" && name != "dist" && !name.to_string_lossy().starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = std::fs::read_to_string(&path).expect("a source file is text");
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}
