//! The mark of a process that has launched something and has not ended: a file in the folder of `coalesce run`.
//!
//! It says how many launches nobody has awaited, and the last one's kernel. It lies in memory, so that it is right however
//! the process ends, and costs no call of the system.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::id;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The ending of the file's name.
const RUNS: &str = "runs";
/// Words of the file: a count, and a name that ends with a zero.
const WORDS: usize = 512;

pub struct Mark {
    file: PathBuf,
    /// The process whose mark it is: one that forks has none yet.
    pub process: u32,
    words: &'static [AtomicU64; WORDS],
}

impl Mark {
    /// Makes the mark of this process.
    pub fn new(folder: &Path) -> std::io::Result<Mark> {
        let process = id();
        let file = folder.join(format!("{process}.{RUNS}"));
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&file)?;
        let bytes = WORDS * size_of::<AtomicU64>();
        open.set_len(bytes as u64)?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&open);
        // SAFETY: a new mapping of a file that has these bytes, at an address that the system chooses.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the mapping begins with a page, has so many words, is never unmapped, and is only used by atomics.
        let words = unsafe { &*start.cast::<[AtomicU64; WORDS]>() };
        Ok(Mark { file, process, words })
    }

    /// A kernel was launched that runs later.
    pub fn launched(&self, kernel: &str) {
        let mut bytes = kernel.as_bytes().chunks(8);
        for word in &self.words[1..WORDS - 1] {
            let part = bytes.next().unwrap_or_default();
            let mut whole = [0; 8];
            whole[..part.len()].copy_from_slice(part);
            word.store(u64::from_le_bytes(whole), Relaxed);
            if part.len() < 8 {
                break;
            }
        }
        self.words[0].fetch_add(1, Relaxed);
    }

    /// A kernel begins to run.
    pub fn begins(&self) {
        // One that was launched before the mark was made is not counted.
        let _ = self.words[0].fetch_update(Relaxed, Relaxed, |count| count.checked_sub(1));
    }

    /// The process ends as it should.
    pub fn remove(&self) {
        // That the folder is gone already changes nothing.
        let _ = std::fs::remove_file(&self.file);
    }
}
