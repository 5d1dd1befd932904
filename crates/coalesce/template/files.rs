//! The files of the template: each one's path in a project, and its text. Here some have other names, because cargo leaves
//! folders with a manifest or a dot out of a package.

pub(super) const FILES: &[(&str, &str)] = &[
    (".cargo/config.toml", include_str!("config.toml")),
    (".cargo/cuda/lib64/README", include_str!("lib64.txt")),
    (".github/workflows/ci.yml", include_str!("ci.yml")),
    (".gitignore", include_str!("ignored")),
    ("Cargo.toml", include_str!("manifest.toml")),
    ("README.md", include_str!("README.md")),
    ("kernels/Cargo.toml", include_str!("kernels/manifest.toml")),
    ("kernels/src/lib.rs", include_str!("kernels/src/lib.rs")),
    ("kernels/src/saxpy.rs", include_str!("kernels/src/saxpy.rs")),
    ("kernels/src/sum.rs", include_str!("kernels/src/sum.rs")),
    ("kernels/src/transpose.rs", include_str!("kernels/src/transpose.rs")),
    ("host/Cargo.toml", include_str!("host/manifest.toml")),
    ("host/build.rs", include_str!("host/build.rs")),
    ("host/src/bin/coalesce.rs", include_str!("host/src/bin/coalesce.rs")),
    ("host/src/lib.rs", include_str!("host/src/lib.rs")),
    ("host/src/main.rs", include_str!("host/src/main.rs")),
    ("host/src/patterns/mod.rs", include_str!("host/src/patterns/mod.rs")),
    ("host/src/patterns/saxpy.rs", include_str!("host/src/patterns/saxpy.rs")),
    ("host/src/patterns/sum.rs", include_str!("host/src/patterns/sum.rs")),
    ("host/src/patterns/transpose.rs", include_str!("host/src/patterns/transpose.rs")),
    ("host/tests/kernels.rs", include_str!("host/tests/kernels.rs")),
    ("traffic.toml", include_str!("traffic.toml")),
];

/// Files that `--ci` writes besides, or in place of one of those.
pub(super) const CI_FILES: &[(&str, &str)] = &[
    (".github/workflows/ci.yml", include_str!("ci/ci.yml")),
    ("kernels/src/planted.rs", include_str!("ci/kernels/src/planted.rs")),
    ("host/src/planted.rs", include_str!("ci/host/src/planted.rs")),
    ("host/src/bin/planted.rs", include_str!("ci/host/src/bin/planted.rs")),
];

/// Lines that `--ci` adds at the end of files.
pub(super) const CI_LINES: &[(&str, &str)] = &[
    ("kernels/src/lib.rs", "pub mod planted;\n"),
    ("host/src/lib.rs", "\n#[cfg(feature = \"instruments\")]\npub mod planted;\n"),
    (
        "host/Cargo.toml",
        "\n[[bin]]\nname = \"planted\"\npath = \"src/bin/planted.rs\"\nrequired-features = [\"instruments\"]\n",
    ),
];

/// A line and its successor by `--ci`: the name of the program with the planted race.
pub(super) const CI_ALIAS: (&str, &str) =
    ("[alias]\n", "[alias]\nplanted = \"run --quiet --features instruments --bin planted --\"\n");
