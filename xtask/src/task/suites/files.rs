use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The entries of a folder with this extension, in order; folders where it is empty.
pub fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_meant = match extension {
            "" => path.is_dir(),
            _ => path.extension().is_some_and(|it| it == extension),
        };
        if is_meant {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

pub fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
