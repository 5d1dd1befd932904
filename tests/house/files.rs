//! Files that can be read at one sitting.

use crate::kernels_source::{files, root};

/// The lines of a file that needs no reason.
const ENOUGH: usize = 500;

/// The files that are longer, and why.
const LONGER: &[(&str, &str)] = &[];

#[test]
fn a_file_is_short_or_has_a_reason() {
    let mut seen = Vec::new();
    for folder in crate::tidy::SOURCES {
        for (path, text) in files(folder, "rs") {
            let path = path
                .strip_prefix(root())
                .expect("it is a file of ours")
                .to_string_lossy()
                .into_owned();
            let lines = text.lines().count();
            let listed = LONGER.iter().any(|(longer, _)| *longer == path);
            assert!(
                listed || lines <= ENOUGH,
                "{path} has {lines} lines: cut it along what changes together"
            );
            assert!(
                !listed || lines > ENOUGH,
                "{path} has {lines} lines and needs no reason any more: take it out of tests/house/files.rs"
            );
            seen.push(path);
        }
    }
    for (path, _) in LONGER {
        assert!(
            seen.iter().any(|seen| seen == path),
            "{path} is gone: take it out of tests/house/files.rs"
        );
    }
}
