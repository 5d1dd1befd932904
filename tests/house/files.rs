//! Files that can be read at one sitting.

use crate::kernels_source::{files, root};

/// The lines of a file that needs no reason.
const ENOUGH: usize = 500;

/// The files that are longer, and why.
const LONGER: &[(&str, &str)] = &[
    (
        "kernels/src/collectives/scan.rs",
        "a pattern is one file: eight variants, and the lesson with its measured table on top",
    ),
    (
        "kernels/src/collectives/histogram.rs",
        "a pattern is one file: nine variants, and the lesson with its measured table on top",
    ),
    (
        "kernels/src/collectives/atomics.rs",
        "a pattern is one file: ten variants, and the lesson with its measured table on top",
    ),
    (
        "kernels/src/caches/cache_operators.rs",
        "a pattern is one file: sixteen variants, one line each, and the lesson on top",
    ),
    (
        "kernels/src/shared/matmul.rs",
        "a pattern is one file: ten variants, and the lesson with its measured table on top",
    ),
    (
        "kernels/src/shared/stencil.rs",
        "a pattern is one file: thirteen variants, which share their helpers",
    ),
    (
        "kernels/src/shared/async_copy.rs",
        "a pattern is one file: eight variants, and the lesson with its measured table on top",
    ),
    (
        "host/src/patterns/shared/stencil.rs",
        "a pattern is one file: thirteen variants, and the requests of each, counted by hand",
    ),
    (
        "host/src/patterns/collectives/scan.rs",
        "a pattern is one file: eight variants, and the requests of each, counted by hand",
    ),
    (
        "host/src/patterns/transfer/pinned_memory.rs",
        "a pattern is one file: twenty variants, and the lesson with its measured table on top",
    ),
    (
        "host/src/patterns/caches/texture.rs",
        "a pattern is one file: ten variants, and the places and sectors of each walk",
    ),
    (
        "host/src/patterns/streams/overlap.rs",
        "a pattern is one file: thirteen variants, and the lesson with its measured table on top",
    ),
    (
        "host/src/patterns/memory_management/managed_memory.rs",
        "a pattern is one file: ten variants, and the lesson with its measured table on top",
    ),
    ("crates/virtual_gpu/src/executor.rs", "how one operation is executed and timed, by its kind"),
    ("crates/virtual_gpu/src/profile.rs", "the figures of a device, each with its source"),
    (
        "crates/virtual_gpu/src/exports/kernel.rs",
        "a list: the driver's functions of modules and kernels",
    ),
    ("crates/simt/src/module.rs", "what a parsed text is: kernels, parameters and variables"),
    ("crates/simt/src/compute/approximate/tables.rs", "numbers, one table per function"),
    (
        "crates/cuda_std/src/atomic/instruction.rs",
        "one instruction for each type, operation, order and scope",
    ),
    ("crates/cuda_std_tests/tests/codegen.rs", "a list: what each kernel's PTX has to contain"),
    (
        "crates/cuda_std_tests/tests/upstream_api.rs",
        "a list that a command writes: a line for each item",
    ),
    ("crates/cuda_builder/src/ir.rs", "one pass, and half of it is its tests"),
];

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

/// The most bytes of a file that is kept: the largest is a result file of two megabytes.
const LARGEST: u64 = 4 << 20;

/// Paths of files that are larger.
fn too_large(sizes: &[(String, u64)]) -> Vec<&str> {
    sizes.iter().filter(|(_, bytes)| *bytes > LARGEST).map(|(path, _)| path.as_str()).collect()
}

#[test]
fn nothing_large_is_kept() {
    let git = std::process::Command::new("git").arg("ls-files").current_dir(root()).output();
    let listed = git.expect("git lists what is kept").stdout;
    let paths = String::from_utf8(listed).expect("paths are text");
    let size = |path: &str| Some((path.to_owned(), root().join(path).metadata().ok()?.len()));
    let sizes: Vec<_> = paths.lines().filter_map(size).collect();
    assert!(sizes.len() > 500 || !root().join(".git").exists(), "only {} files", sizes.len());
    assert_eq!(too_large(&sizes), [""; 0], "somebody's download, not a source");
    assert_eq!(too_large(&[("a.whl".to_owned(), LARGEST + 1), ("b".to_owned(), 1)]), ["a.whl"]);
}
