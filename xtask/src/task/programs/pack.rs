//! Built programs in a folder for a machine that has a GPU, and neither cargo nor a compiler.

use super::build::Start;
use super::suite::Program;
use super::trial::words;
use crate::workspace;
use anyhow::{Context, Result};
use cuda_builder::write_whole;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs each program there, and records what it prints.
const SCRIPT: &str = include_str!("record.sh");
/// Files of a program's folder that it does not read when it runs.
const KINDS: [&str; 13] =
    ["o", "cu", "cuh", "h", "hpp", "c", "cc", "cpp", "inc", "md", "log", "dvc", "txt.gz"];
/// Bytes of a file that are no small input any more.
const LARGE: u64 = 16 << 20;

pub struct Pack {
    folder: PathBuf,
}

impl Pack {
    pub fn new(folder: &Path) -> Result<Pack> {
        let runtime = folder.join("runtime");
        std::fs::create_dir_all(&runtime)
            .with_context(|| format!("cannot create {}", runtime.display()))?;
        write_whole(&folder.join("record.sh"), SCRIPT.as_bytes())?;
        for version in [12, 13] {
            copy(
                &workspace::virtual_libcudart(),
                &runtime.join(format!("libcudart.so.{version}")),
            )?;
        }
        Ok(Pack { folder: folder.to_owned() })
    }

    /// Adds a program: its folder's files but sources, those that its arguments name, and a line of the list.
    pub fn add(
        &self,
        mirror: &Path,
        program: &Program,
        start: &Start,
        arguments: &str,
    ) -> Result<String> {
        let own = walkdir::WalkDir::new(&program.folder).sort_by_file_name().into_iter().flatten();
        let own = own.map(walkdir::DirEntry::into_path).filter(|path| {
            let kind = path.extension().unwrap_or_default().to_string_lossy();
            !KINDS.contains(&&*kind)
        });
        let folder = program.folder.join(&start.folder);
        let words = words(arguments);
        let named = words.iter().map(|word| word.rsplit('=').next().unwrap_or(word));
        let named = named.filter(|word| word.starts_with("../")).map(|word| folder.join(word));
        for path in own.chain(named) {
            let is_small = path.metadata().is_ok_and(|it| it.is_file() && it.len() < LARGE);
            let Ok(inner) = normal(&path).strip_prefix(mirror).map(Path::to_owned) else {
                continue;
            };
            if is_small {
                copy(&path, &self.folder.join(inner))?;
            }
        }
        let inner = normal(&folder);
        let inner = inner.strip_prefix(mirror).context("it lies in the mirror")?.display();
        let line = format!("{}\t{inner}\t{} {arguments}\n", program.name, start.file);
        let list = self.folder.join("list");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&list);
        let written = file.as_mut().map(|file| file.write_all(line.as_bytes()));
        match written {
            Ok(Ok(())) => Ok("packed".to_owned()),
            _ => Err(anyhow::anyhow!("cannot write {}", list.display())),
        }
    }
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// Copies a file, or what a link leads to.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().context("a file lies in a folder")?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::copy(from, to))
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}
