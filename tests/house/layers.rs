//! Layers of crates: the table of ARCHITECTURE.md.

use crate::kernels_source::{files, root};
use cargo_metadata::{Dependency, DependencyKind, MetadataCommand, Package, Target};
use std::collections::BTreeSet;
use std::process::Command;

/// The crates of the workspace that each may name, tests aside; what those name it may reach through them.
const MAY_NAME: &[(&str, &str)] = &[
    // Facts that everybody shares.
    ("counters", ""),
    ("ptx", ""),
    ("races", "counters"),
    // The device.
    ("cuda_std_macros", ""),
    ("cuda_std", "cuda_std_macros"),
    ("cuda_std_tests", "cuda_std"),
    ("regressions", "cuda_std"),
    ("measurement_kernels", "cuda_std"),
    ("glossary_kernels", "cuda_std"),
    ("race_kernels", "cuda_std"),
    ("my_app_kernels", "cuda_std"),
    ("safe_kernels", "cuda_std"),
    ("kernels", "cuda_std"),
    ("course_kernels", "cuda_std"),
    ("cuda_builder", "ptx"),
    // The executor, what watches it, and the driver.
    ("simt", "counters ptx races"),
    ("unit_tests", "counters cuda_driver gpu_model ptx races results rust_to_ptx simt"),
    ("simt_page", "simt"),
    ("gpu_model", "counters simt"),
    ("cuda_driver", "counters ptx"),
    ("virtual_gpu", "counters cuda_driver gpu_model ptx simt"),
    ("virtual_gpu_tests", ""),
    ("virtual_libcuda", "cuda_driver profiling report results simt virtual_gpu"),
    ("virtual_libcudart", "cuda_driver"),
    ("driver_owners", "cuda_driver"),
    ("cust_ext", "cuda_driver driver_owners"),
    ("cuda_host", "cuda_driver cuda_std cust_ext driver_owners simt virtual_gpu"),
    // Files, pages and instruments.
    ("results", "counters"),
    ("report", "results"),
    ("profiling", "counters results simt virtual_gpu"),
    (
        "coalesce",
        "cuda_driver cuda_host cust_ext measurement_kernels profiling ptx report results simt \
         virtual_gpu virtual_libcuda virtual_libcudart",
    ),
    // The course and the book.
    ("course_host", "cuda_host cust_ext virtual_gpu"),
    (
        "course",
        "coalesce course_host course_kernels cuda_builder cuda_host cuda_std cust_ext profiling ptx report results \
         simt virtual_gpu",
    ),
    // The Rust of a page, and the course's files over the executor.
    ("rust_to_ptx", ""),
    ("course_page", "counters ptx rust_to_ptx simt"),
    (
        "book",
        "counters course course_page cuda_builder gpu_model report results simt simt_page virtual_gpu",
    ),
    ("start", ""),
    ("xtask", "counters cuda_builder cuda_driver ptx start"),
];

/// Crates at the top: these may know everything.
/// `my_app` is the library of `crates/guide`, whose pages name it so.
const TOP: [&str; 3] = ["host", "tests", "my_app"];

/// Crates of others that only these may name.
const ONLY: &[(&str, &[&str])] = &[
    // The host tasks of the course are programs of learners.
    (
        "cust",
        &["cust_ext", "cuda_host", "coalesce", "course", "course_host", "host", "tests", "my_app"],
    ),
    ("cust_raw", &["cuda_driver"]),
    // `cuda_driver` opens the driver, and `coalesce` libraries of peers.
    ("libloading", &["cuda_driver", "coalesce"]),
];

/// The dependencies that these crates name themselves: the shape that a user expects of a catalogue's two halves.
const NAMES: &[(&str, DependencyKind, &[&str])] = &[
    ("kernels", DependencyKind::Normal, &["cuda_std"]),
    ("host", DependencyKind::Normal, &["cust", "bytemuck", "anyhow", "kernels"]),
    ("host", DependencyKind::Build, &["cuda_builder"]),
    ("tests", DependencyKind::Normal, &["approx"]),
];

/// The crates of the workspace, as their manifests have them.
pub fn workspace() -> Vec<Package> {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .expect("cargo reads the manifests");
    metadata.packages
}

/// The crates that can be published.
pub fn published() -> Vec<Package> {
    let mut packages = workspace();
    packages.retain(|package| package.publish.is_none());
    packages
}

/// The name that code knows a crate by: that of its library, which a package for the registry does not share.
fn name(package: &Package) -> &str {
    let is_library = |target: &&Target| target.src_path.ends_with("src/lib.rs");
    let library = package.targets.iter().filter(|target| !target.is_test()).find(is_library);
    library.map_or(package.name.as_str(), |library| &library.name)
}

/// Returns what a crate names, tests aside.
fn dependencies(package: &Package, kind: DependencyKind) -> BTreeSet<&str> {
    let of_kind = package.dependencies.iter().filter(|dependency| dependency.kind == kind);
    of_kind.map(known_as).collect()
}

/// The name under which code knows a dependency.
fn known_as(dependency: &Dependency) -> &str {
    dependency.rename.as_deref().unwrap_or(&dependency.name)
}

#[test]
fn crates_know_only_what_is_below_them() {
    let packages = workspace();
    let known: BTreeSet<&str> = packages.iter().map(name).collect();
    for package in packages.iter().filter(|package| !TOP.contains(&name(package))) {
        let user = name(package);
        let (_, may) = MAY_NAME.iter().find(|(named, _)| *named == user).unwrap_or_else(|| {
            panic!("{user} is a new crate: say in tests/house/layers.rs and in ARCHITECTURE.md what it may know")
        });
        for other in dependencies(package, DependencyKind::Normal).intersection(&known) {
            assert!(
                may.split_whitespace().any(|may| may == *other),
                "{user} names {other}, which it may not know: move what it needs into a crate below both"
            );
        }
    }
    for (name, _) in MAY_NAME {
        assert!(known.contains(name), "{name} is gone: take it out of tests/house/layers.rs");
    }
}

#[test]
fn the_virtual_device_can_be_left_out_of_a_user_s_program() {
    let packages = workspace();
    let package = packages.iter().find(|package| name(package) == "cuda_host");
    for dependency in &package.expect("it is in the workspace").dependencies {
        let is_virtual = ["simt", "virtual_gpu"].contains(&known_as(dependency));
        assert!(
            !is_virtual || dependency.optional,
            "cuda_host: make {} optional, for the feature `virtual`",
            known_as(dependency)
        );
    }
}

/// A library with kernels builds wherever Rust does: cust's build script asks for an installation of CUDA, so that only
/// who asks for cust may have it.
#[test]
fn launching_needs_no_installation_of_cuda() {
    let tree = |features: &str| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["tree", "--offline", "--package", "coalesce-cuda-host", "--prefix", "none"]);
        cargo.args(["--edges", "normal,build", "--features", features]).current_dir(root());
        let tree = cargo.output().expect("cargo starts");
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        String::from_utf8_lossy(&tree.stdout).into_owned()
    };
    assert!(tree("virtual").contains("coalesce-virtual-gpu"));
    assert!(
        !tree("virtual").contains("cust_raw"),
        "cuda_host reaches cust_raw without its feature `cust`"
    );
    assert!(tree("cust").contains("cust_raw"), "the name of what must not be there");
}

#[test]
fn crates_of_others_stay_behind_ours() {
    for package in workspace() {
        for kind in [DependencyKind::Normal, DependencyKind::Build] {
            let user = name(&package);
            for name in dependencies(&package, kind) {
                // libm is for MinGW alone, whose fused multiply-add rounds twice.
                assert!(
                    user != "simt" || ["counters", "libm", "ptx", "races"].contains(&name),
                    "simt has no dependencies but these: take {name} out"
                );
                let Some((_, may)) = ONLY.iter().find(|(only, _)| *only == name) else { continue };
                assert!(may.contains(&user), "{user}: only {may:?} may name {name}");
            }
        }
    }
    for (path, text) in files("crates/coalesce/src", "rs") {
        assert!(
            path.ends_with("peers.rs") || !text.contains("libloading::"),
            "{}: of coalesce only peers.rs opens libraries",
            path.display()
        );
    }
}

#[test]
fn a_catalogue_has_the_shape_that_its_users_expect() {
    let packages = workspace();
    for (half, kind, expected) in NAMES {
        let package = packages.iter().find(|package| name(package) == *half);
        let named = dependencies(package.expect("it is in the workspace"), *kind);
        for other in *expected {
            assert!(named.contains(other), "{half}/Cargo.toml: it names {other} itself");
        }
        assert!(
            *half != "kernels" || named.len() == 1,
            "kernels: device code needs cuda_std alone"
        );
    }
    let build = std::fs::read_to_string(root().join("host/build.rs")).expect("host has one");
    assert!(build.contains("cuda_builder::"), "host/build.rs: build the kernels by cuda_builder");
}

/// Work of the host is what its patterns teach, so they show it as cust has it.
#[test]
fn patterns_show_streams_pinned_buffers_and_events_as_cust_has_them() {
    let patterns = files("host/src/patterns", "rs");
    let code = |line: &&str| !line.trim_start().starts_with("//");
    for (what, names) in [
        ("streams", &["cust::stream::"][..]),
        ("events", &["cust::event::"]),
        ("page-locked buffers", &["LockedBuffer", "cust_ext::host_memory::"]),
        ("device buffers", &["cust::memory::"]),
    ] {
        let shows = |text: &String| {
            text.lines().filter(code).any(|line| names.iter().any(|name| line.contains(name)))
        };
        assert!(
            patterns.iter().any(|(_, text)| shows(text)),
            "host/src/patterns: no pattern shows {what} as {}",
            names.join(" or ")
        );
    }
}

/// Categories of the registry that ours are of.
const CATEGORIES: [&str; 16] = [
    "api-bindings",
    "command-line-utilities",
    "concurrency",
    "development-tools::build-utils",
    "development-tools::debugging",
    "development-tools::profiling",
    "development-tools::testing",
    "emulators",
    "encoding",
    "hardware-support",
    "no-std",
    "parser-implementations",
    "science",
    "simulation",
    "visualization",
    "development-tools",
];

/// The registry has the names of rust-cuda's libraries, and a package there names the versions that it was built with.
#[test]
fn what_can_be_published_has_names_of_our_own_and_versions() {
    let packages = published();
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    for package in &packages {
        assert!(package.name.starts_with("coalesce-"), "{}: call it coalesce-..", package.name);
        let (user, count) = (&package.name, package.keywords.len());
        assert!(package.description.is_some(), "{user}: it has a description");
        assert_eq!(package.license.as_deref(), Some("MIT OR Apache-2.0"), "{user}");
        assert!((1..=5).contains(&count), "{user}: the registry takes one to five keywords");
        for category in &package.categories {
            assert!(CATEGORIES.contains(&category.as_str()), "{user}: there is no {category}");
        }
        assert!(!package.categories.is_empty(), "{user}: it has a category");
        let readme = package.readme().expect("it has a README");
        assert!(readme.is_file(), "{user}: {readme} is not there");
        assert!(package.metadata["docs"]["rs"]["targets"].is_array(), "{user}: docs.rs builds one");
        let manifest = std::fs::read_to_string(&package.manifest_path).expect("it was read");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{user}: it warns of missing docs");
        let used = package.dependencies.iter();
        for dependency in used.filter(|it| it.path.is_some()) {
            let (user, name) = (&package.name, &dependency.name);
            let has_version = !dependency.req.comparators.is_empty();
            if dependency.kind == DependencyKind::Development {
                assert!(!has_version, "{user}: name {name} by its path alone, for tests");
            } else {
                assert!(names.contains(name.as_str()), "{user}: {name} cannot be published");
                assert!(has_version, "{user}: {name} has no version");
            }
        }
    }
}
