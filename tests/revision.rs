//! A project of somebody else that takes the libraries from a revision of a repository, as one outside of this checkout
//! does: `cargo xtask prove new-from-git`.

use crate::kernels_source::root;
use crate::stranger::{Project, assert_says};
use std::process::Command;
use std::time::Instant;

#[test]
#[ignore = "builds everything from a revision, for minutes; `cargo xtask prove new-from-git` runs it"]
fn a_project_from_a_revision_passes_its_tests_and_runs() {
    let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root()).output();
    let head = head.expect("git is there");
    let revision = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    let url = format!("file://{}", root().display());
    let project = Project::new(&["--source", &url, "--revision", &revision]);
    // Its own settings, and a folder that a second run finds: what it costs is said, not how a cache does.
    let cargo = |arguments: &[&str]| {
        let begin = Instant::now();
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(arguments)
            .current_dir(&project.root)
            .env("CARGO_TARGET_DIR", project.root.join("target"))
            .env("COALESCE_DEVICE", "virtual")
            .env_remove("CUDA_LIBRARY_PATH")
            .output()
            .expect("cargo runs");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo {arguments:?}:\n{printed}\n{errors}");
        (printed, begin.elapsed().as_secs())
    };
    let (tested, first) = cargo(&["test"]);
    assert_says(
        &tested,
        &["test saxpy_equals_a_loop ... ok", "test traffic_keeps_to_its_budget ... ok"],
    );
    let (ran, _) = cargo(&["run"]);
    assert_says(&ran, &["device: virtual NVIDIA H200, as asked", "z[0] = 7, z[1048575] = 7"]);
    let kernel = project.file("kernels/src/saxpy.rs");
    project.write("kernels/src/saxpy.rs", &format!("{kernel}\n// changed\n"));
    let (tested, again) = cargo(&["test"]);
    assert_says(&tested, &["test saxpy_equals_a_loop ... ok"]);
    println!(
        "from a revision: tested after {first} s, {again} s after a change, on {} processors",
        std::thread::available_parallelism().map_or(1, usize::from)
    );
}
