//! The text of source lines, where the compiler's files are there.

use std::collections::HashMap;
use std::path::Path;

/// A file larger than this is no source that a person wrote.
const MAX_BYTES: u64 = 4 << 20;

/// Source files by the names that the compiler gave them, read when they are first asked for.
#[derive(Debug, Default)]
pub struct Sources {
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    /// The text of a line without its indentation; empty when the file is not there.
    pub fn line(&mut self, file: &str, line: u32) -> String {
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), lines(Path::new(file)));
        }
        let place = (line as usize).checked_sub(1);
        place.and_then(|place| self.files[file].get(place)).cloned().unwrap_or_default()
    }
}

fn lines(file: &Path) -> Vec<String> {
    let is_small = std::fs::metadata(file).is_ok_and(|facts| facts.len() <= MAX_BYTES);
    let text = is_small.then(|| std::fs::read_to_string(file).ok()).flatten().unwrap_or_default();
    text.lines().map(|line| line.trim().to_owned()).collect()
}
