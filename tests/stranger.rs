//! A project of somebody else: two crates outside of this workspace, which use what is public and nothing more.
//!
//! `tests/stranger` is the project. It is copied to a temporary folder, is built there from scratch as its owner would,
//! and every command of its program is run. The libraries are built for it once more, because cargo tells a member of a
//! workspace from a dependency: that takes a minute of a processor once, and seconds later.

use crate::kernels_source::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A project in a folder of its own, built.
struct Project {
    folder: TempDir,
    program: PathBuf,
}

/// Copies a folder; `CHECKOUT` becomes the path of this one.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the temporary folder takes folders");
    for entry in std::fs::read_dir(from).expect("the template is there") {
        let path = entry.expect("it can be read").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            let text = std::fs::read_to_string(&path).expect("the template is text");
            let text = text.replace("CHECKOUT", &root().to_string_lossy());
            std::fs::write(target, text).expect("the temporary folder takes files");
        }
    }
}

impl Project {
    fn build() -> Project {
        let folder = tempfile::tempdir().expect("a temporary folder");
        copy(&root().join("tests/stranger"), folder.path());
        for file in ["Cargo.lock", "rust-toolchain.toml"] {
            std::fs::copy(root().join(file), folder.path().join(file)).expect("it can be copied");
        }
        // With the same settings, the crates of others that this workspace has built serve here, too.
        let ours = std::fs::read_to_string(root().join("Cargo.toml")).expect("it can be read");
        let start = ours.find("[profile.release]").expect("the workspace has settings");
        let end = ours.find("[profile.dev").unwrap_or(ours.len());
        let manifest = folder.path().join("Cargo.toml");
        let own = std::fs::read_to_string(&manifest).expect("it was copied");
        // Our own libraries are built for this test alone, which gives them little to compute.
        let quickly = ["coalesce", "report", "results", "simt", "virtual_gpu"]
            .map(|library| format!("{library}.opt-level = 0\n"));
        let settings = ours[start..end].replace("simt.codegen-units = 1\n", &quickly.concat());
        std::fs::write(&manifest, own + "\n" + &settings).expect("it can be written");

        let test = std::env::current_exe().expect("a test knows where it is");
        let target = test.ancestors().nth(3).expect("it is target/release/deps/NAME");
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--offline", "--release"])
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", target)
            // The project says it itself.
            .env_remove("CUDA_LIBRARY_PATH")
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Project { folder, program: target.join("release/saxpy") }
    }

    fn output(&self, arguments: &str) -> Output {
        let mut command = Command::new(&self.program);
        command.args(arguments.split(' ')).current_dir(self.folder.path());
        command.env("COALESCE_DEVICE", "virtual").output().expect("the program was built")
    }

    /// What a command prints when all is well.
    fn run(&self, arguments: &str) -> String {
        let output = self.output(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "saxpy {arguments}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// Each part of a text is there.
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
}

#[test]
#[ignore = "builds the libraries once more; `cargo xtask test` runs it"]
fn a_project_of_somebody_else_has_every_command() {
    let project = Project::build();

    let claim = "a warp whose lanes are far apart moves eight times the sectors that it needs";
    assert_says(&project.run("list"), &["saxpy", claim, "strided", "coalesced"]);
    let traffic = project.run("list --traffic");
    assert_says(&traffic, &["strided    32            32", "coalesced  4             4"]);

    assert_says(&project.run("verify"), &["8 correct, 0 wrong"]);
    let checked = project.run("verify --check");
    assert_says(&checked, &["8 correct, 0 wrong, 0 not run, 0 hazards"]);

    assert_says(&project.run("count -o counts.json"), &["2 kernels of 1 patterns counted"]);
    let counts: serde_json::Value =
        serde_json::from_str(&project.file("counts.json")).expect("it is JSON");
    let counted = &counts["patterns"][0];
    assert_eq!(counted["claim"], claim);
    assert_eq!(counted["file"], "kernels/src/saxpy.rs", "the file that the compiler names");

    project.run("bench --json predicted.json");
    let path = project.folder.path().join("predicted.json");
    let results = results::Results::load(&path, &[]).expect("bench writes a result file");
    assert!(results.environment.is_prediction);
    let times: Vec<f64> =
        results.rows.iter().filter_map(|row| Some(row.measured()?.time_ms.median)).collect();
    let [strided, coalesced, ..] = times[..] else { panic!("{} rows have a time", times.len()) };
    assert!(strided > 2.0 * coalesced, "{strided} ms and {coalesced} ms");
    let compared = project.run("compare predicted.json predicted.json --fail-on slower");
    assert_says(&compared, &["saxpy/strided", "SAME", "0 FASTER, 0 SLOWER, 0 AMBIGUOUS"]);

    assert_says(&project.run("explain saxpy"), &["z = a x + y", "sectors per load"]);
    project.run("explain saxpy --svg pictures");
    for name in ["saxpy_strided.svg", "saxpy_coalesced.svg"] {
        let picture = project.file(&format!("pictures/{name}"));
        // The line of the source that the requests come from.
        assert_says(&picture, &["<svg", "parameters.a * *x.add(i)"]);
    }

    project.run("report predicted.json -o pages");
    assert_says(&project.file("pages/index.html"), &["saxpy.html", claim]);
    assert_says(&project.file("pages/saxpy.html"), &["kernels/src/saxpy.rs", "saxpy_coalesced"]);
    assert_says(&project.run("results predicted.json"), &["| `saxpy` | `strided` |"]);

    let unknown = project.output("verify saxpi");
    assert_eq!(unknown.status.code(), Some(2));
    let message = String::from_utf8_lossy(&unknown.stderr);
    assert_says(&message, &["error: there is no pattern `saxpi`", "did you mean `saxpy`?"]);
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    assert_says(&project.run("verify --help"), &["  saxpy verify PATTERN/VARIANT"]);
}
