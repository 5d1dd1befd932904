//! Uses of the repository without a checkout: a project that takes the libraries from a revision
//! (`cargo xtask prove new-from-git`), and the program by `cargo install --git` (`cargo xtask prove install`).

use crate::kernels_source::root;
use crate::packages::{SAYS, USER};
use crate::stranger::{Project, assert_says};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

/// Returns this repository's path and its revision.
fn repository() -> (String, String) {
    let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root()).output();
    let head = head.expect("git is there");
    let revision = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    (format!("file://{}", root().display()), revision)
}

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.env("COALESCE_DEVICE", "virtual").env_remove("CUDA_LIBRARY_PATH");
    cargo
}

#[test]
#[ignore = "builds everything from a revision, for minutes; `cargo xtask prove new-from-git` runs it"]
fn a_project_from_a_revision_passes_its_tests_and_runs() {
    let (url, revision) = repository();
    let project = Project::new(&["--source", &url, "--revision", &revision]);
    // Its own settings, and a folder that a second run finds: what it costs is said, not how a cache does.
    let cargo = |arguments: &[&str]| {
        let begin = Instant::now();
        let output = cargo()
            .args(arguments)
            .current_dir(&project.root)
            .env("CARGO_TARGET_DIR", project.root.join("target"))
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

    // Its owner puts it into a repository, and somebody adds it from there, with nothing but `cargo add`.
    let git = |arguments: &[&str]| {
        let who = ["-c", "user.name=owner", "-c", "user.email=owner@example.org"];
        let git = Command::new("git").args(who).args(arguments).current_dir(&project.root).output();
        assert!(git.is_ok_and(|git| git.status.success()), "git {arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "A library"]);
    let address = format!("file://{}", project.root.display());
    let user = project.root.parent().expect("it lies in a folder").join("user");
    let by_user = |folder: &Path, arguments: &[&str]| {
        let output = self::cargo()
            .args(arguments)
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", project.root.join("target/user"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "cargo {arguments:?}: {}", printed(&output));
        printed(&output)
    };
    let parent = user.parent().expect("it lies in a folder");
    by_user(parent, &["new", "--quiet", "--vcs", "none", "user"]);
    by_user(&user, &["add", "--quiet", "--git", &address, "saxpy_app"]);
    std::fs::write(user.join("src/main.rs"), USER).expect("a writable folder");
    assert_says(&by_user(&user, &["run"]), &[SAYS]);
    println!(
        "from a revision: tested after {first} s, {again} s after a change, on {} processors; its kernel runs in a program that adds it from its repository",
        std::thread::available_parallelism().map_or(1, usize::from)
    );
}

fn printed(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

#[test]
#[ignore = "builds everything from a revision twice, for minutes; `cargo xtask prove install` runs it"]
fn what_cargo_installs_from_a_revision_works_by_itself() {
    let (url, revision) = repository();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let begin = Instant::now();
    for (name, with_kernels) in [("whole", true), ("without-kernels", false)] {
        let place = folder.path().join(name);
        // The arguments and variables of docs/guide/install.md, in a folder with nothing in it.
        let mut install = cargo();
        install
            .args(["install", "--git", &url, "--rev", &revision, "host", "--locked"])
            .args(["--features", "bundled-libcuda", "--root"])
            .arg(&place)
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            .env("CUDA_LIBRARY_PATH", "/usr");
        if !with_kernels {
            install.env("COALESCE_WITHOUT_KERNELS", "1");
        }
        let installed = install.output().expect("cargo runs");
        assert!(installed.status.success(), "{name}: {}", printed(&installed));
        // The client is linked to it; what it loads is what the installed program carries.
        let built = folder.path().join("target/release/deps/libvirtual_libcuda.so");
        std::fs::copy(&built, folder.path().join("libcuda.so")).expect("it was built");
        works(&place.join("bin/coalesce"), folder.path(), with_kernels);
    }
    println!(
        "installed from a revision, whole and without kernels: {} s",
        begin.elapsed().as_secs()
    );
}

/// Returns what the installed program says, alone in its folder.
fn works(program: &Path, folder: &Path, with_kernels: bool) {
    let coalesce = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env("COALESCE_DEVICE", "virtual");
        command.output().expect("it starts")
    };
    let foreign = root().join("host/tests/foreign");
    let client = folder.join("client");
    let compiled = Command::new("cc")
        .arg("-o")
        .arg(&client)
        .arg(foreign.join("program.c"))
        .arg("-L")
        .args([folder, Path::new("-lcuda")])
        .status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let ptx = foreign.join("program.ptx").display().to_string();
    let client = client.display().to_string();
    let ran = coalesce(&["run", "--check", "--", &client, &ptx, "race"]);
    assert_eq!(ran.status.code(), Some(4), "{}", printed(&ran));
    assert_says(&printed(&ran), &["HAZARD SharedRace", "program.cu:11"]);
    let explained = coalesce(&["explain", &format!("{ptx}:twice"), "--grid", "1", "--block", "32"]);
    assert_says(&printed(&explained), &["twice"]);
    let verified = coalesce(&["verify", "coalescing"]);
    if with_kernels {
        assert!(verified.status.success(), "{}", printed(&verified));
    } else {
        assert_says(&printed(&verified), &["carries no kernels"]);
    }
}
