//! Puts a report where it is wanted: whole, and over nothing but an older report.
//!
//! ```no_run
//! use report::publish::{GENERATOR, Page, publish};
//!
//! let text = format!("<!DOCTYPE html><head>{GENERATOR}</head><p>One page.");
//! publish("report".as_ref(), &[Page { file: "index.html".to_owned(), text }])?;
//! # anyhow::Ok(())
//! ```

use anyhow::{Context, Result, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Tag in the head of every page of ours.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"coalesce report\">";

/// A page: the name of its file, and its text.
#[derive(Debug)]
pub struct Page {
    /// Such as `index.html`.
    pub file: String,
    /// HTML.
    pub text: String,
}

/// The absolute path, if a report may be written there: the folder does not exist, is empty, or holds only a report.
///
/// # Errors
/// Something else is there, or the folder around it does not exist or takes no files.
pub fn check(folder: &Path) -> Result<PathBuf> {
    let cannot = || format!("cannot write {}: choose another folder", folder.display());
    let absolute = std::path::absolute(folder).with_context(cannot)?;
    // A link to a folder stands for it.
    let absolute = absolute.canonicalize().unwrap_or(absolute);
    let metadata = match std::fs::symlink_metadata(&absolute) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            workplace(folder, &absolute)?;
            return Ok(absolute);
        }
        Err(error) => return Err(refused(folder, &error)),
    };
    if !metadata.is_dir() {
        bail!("{} is not a folder: choose another one for the report", folder.display());
    }
    for entry in std::fs::read_dir(&absolute).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if !is_ours(&path) {
            bail!(
                "{} holds {}, which is no page of a report: choose another folder",
                folder.display(),
                path.file_name().unwrap_or_default().to_string_lossy()
            );
        }
    }
    workplace(folder, &absolute)?;
    Ok(absolute)
}

/// Returns whether a file is a page of a report.
fn is_ours(path: &Path) -> bool {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let is_page = path.extension().is_some_and(|extension| extension == "html");
    is_file && is_page && std::fs::read_to_string(path).is_ok_and(|text| text.contains(GENERATOR))
}

/// A folder beside the target that disappears with the value.
fn workplace(folder: &Path, target: &Path) -> Result<tempfile::TempDir> {
    let parent = target.parent().unwrap_or(target);
    let workplace = tempfile::Builder::new().prefix(".coalesce-report-").tempdir_in(parent);
    workplace.map_err(|error| refused(folder, &error))
}

/// Why a report cannot be in a folder, without the name of a temporary one, which means nothing to the reader.
fn refused(folder: &Path, error: &std::io::Error) -> anyhow::Error {
    let cause = match error.kind() {
        ErrorKind::NotFound => "there is no folder to hold it".to_owned(),
        kind => kind.to_string(),
    };
    anyhow::anyhow!("cannot write {}: {cause}; choose another folder", folder.display())
}

/// Writes the pages into a folder beside `folder` and puts that in its place; what was there stays when this fails.
///
/// # Errors
/// Those of [`check`], and the file system's.
pub fn publish(folder: &Path, pages: &[Page]) -> Result<()> {
    let target = check(folder)?;
    let cannot = || format!("cannot write {}: choose another folder", folder.display());
    let workplace = workplace(folder, &target)?;
    let (new, old) = (workplace.path().join("new"), workplace.path().join("old"));
    std::fs::create_dir(&new).with_context(cannot)?;
    for page in pages {
        std::fs::write(new.join(&page.file), &page.text).with_context(cannot)?;
    }
    let is_there = target.exists();
    if is_there {
        std::fs::rename(&target, &old).with_context(cannot)?;
    }
    if let Err(error) = std::fs::rename(&new, &target) {
        if is_there && let Err(error) = std::fs::rename(&old, &target) {
            let kept = workplace.keep();
            return Err(error).with_context(|| {
                format!("{} could not be put back, it is in {}", folder.display(), kept.display())
            });
        }
        return Err(error).with_context(cannot);
    }
    Ok(())
}
