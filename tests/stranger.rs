//! A project of somebody else, as `coalesce new` writes it: two crates outside of this workspace, which use what is public
//! and nothing more.
//!
//! It is made in a temporary folder, is built there as its owner would, and every command of its program is run. The
//! libraries are built for it once more, because cargo tells a member of a workspace from a dependency: that takes a minute
//! of a processor once, and seconds later.

use crate::kernels_source::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A project in a folder of its own.
pub(crate) struct Project {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    target: PathBuf,
}

/// Our C libraries, put aside: the project builds its own into the same folder, under the same names, because cargo
/// gives such libraries no hash. Ours come back with their times, so that nothing is built once more.
struct Aside(Vec<PathBuf>);

impl Aside {
    fn put(target: &Path) -> Aside {
        let files = ["virtual_libcuda", "virtual_libcudart"].into_iter().flat_map(|name| {
            [format!("lib{name}.rlib"), format!("lib{name}.so"), format!("{name}.d")]
        });
        let files = files.map(|file| target.join("release/deps").join(file));
        let ours = files.filter(|file| std::fs::rename(file, aside(file)).is_ok());
        Aside(ours.collect())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for file in &self.0 {
            if let Err(error) = std::fs::rename(aside(file), file) {
                eprintln!("{} is not back, and will be built again: {error}", file.display());
            }
        }
    }
}

fn aside(file: &Path) -> PathBuf {
    file.with_added_extension("ours")
}

/// The folder of this test's own program, in which `coalesce` lies, too.
fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    test.ancestors().nth(3).expect("it is target/release/deps/NAME").to_owned()
}

/// Returns what `coalesce new` says with these arguments, in this folder.
fn new(folder: &Path, arguments: &[&str]) -> Output {
    let program = target().join("release/coalesce");
    let mut command = Command::new(program);
    command.arg("new").args(arguments).current_dir(folder).output().expect("the program was built")
}

impl Project {
    /// A project that takes the libraries from this source.
    pub(crate) fn new(source: &[&str]) -> Project {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let written = new(folder.path(), &[&["saxpy-app"], source].concat());
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        let root = folder.path().join("saxpy-app");
        Project { _folder: folder, root, target: target() }
    }

    /// Gives the profile `dev` the settings with which this workspace has built the crates of others, so that they serve
    /// here, too. Our own libraries are built for this test alone, which gives them little to compute.
    fn share_what_is_built(&self) {
        let ours = std::fs::read_to_string(crate::kernels_source::root().join("Cargo.toml"));
        let ours = ours.expect("it can be read");
        let start = ours.find("[profile.release]").expect("the workspace has settings");
        let end = ours.find("[profile.dev").unwrap_or(ours.len());
        let is_ours = |line: &&str| line.starts_with("coalesce-");
        let settings: Vec<&str> = ours[start..end].lines().filter(|line| !is_ours(line)).collect();
        let names =
            ours.lines().filter_map(|line| line.split("package = \"").nth(1)?.split('"').next());
        let quickly: String =
            names.filter(is_ours).map(|name| format!("{name}.opt-level = 0\n")).collect();
        let heading = "[profile.release.package]\n";
        let settings = settings.join("\n").replace(heading, &(heading.to_owned() + &quickly));
        let manifest = self.root.join("Cargo.toml");
        let own = std::fs::read_to_string(&manifest).expect("it was written");
        let own = own.split("[profile.dev]").next().unwrap_or_default();
        std::fs::write(&manifest, format!("{own}\n{settings}")).expect("it can be written");
    }

    fn cargo(&self, arguments: &str) -> Output {
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(arguments.split(' '))
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("COALESCE_DEVICE", "virtual")
            // With the project's own folder, `cust` and all that uses it would be built anew, now and for this workspace
            // afterwards. So that folder is only looked for here, and not built with.
            .env("CUDA_LIBRARY_PATH", root().join("crates/cuda_driver/link_stub"))
            .output()
            .expect("cargo runs")
    }

    /// Returns what cargo's command prints when all is well.
    fn done(&self, arguments: &str) -> String {
        let output = self.cargo(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "cargo {arguments}:\n{printed}\n{errors}");
        printed.into_owned()
    }

    /// Returns what a command of the project's instruments prints and returns.
    fn output(&self, arguments: &str) -> Output {
        let mut command = Command::new(self.target.join("release/coalesce-of-a-stranger"));
        command.args(arguments.split(' ')).current_dir(&self.root);
        command.env("COALESCE_DEVICE", "virtual").output().expect("the program was built")
    }

    /// Returns what a command prints when all is well.
    fn run(&self, arguments: &str) -> String {
        let output = self.output(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "coalesce {arguments}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.root.join(path), text).expect("it can be written");
    }
}

/// Each part of a text is there.
pub(crate) fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
}

#[test]
#[ignore = "builds the libraries once more; `cargo xtask test` runs it"]
fn a_project_of_somebody_else_has_every_command() {
    let project = Project::new(&["--ci", "--source", &root().to_string_lossy()]);
    project.share_what_is_built();
    let _ours = Aside::put(&project.target);
    assert!(project.root.join(".cargo/cuda/lib64").is_dir(), "what cust's build script asks for");
    // Its program of instruments has the name of ours, which it must not replace in the folder that both share.
    let manifest = project.file("host/Cargo.toml");
    let renamed = manifest.replace("name = \"coalesce\"", "name = \"coalesce-of-a-stranger\"");
    assert_ne!(renamed, manifest);
    project.write("host/Cargo.toml", &renamed);

    let tested = project.done("test --release");
    assert_says(
        &tested,
        &["test saxpy_equals_a_loop ... ok", "test traffic_keeps_to_its_budget ... ok"],
    );
    let ran = project.done("run --release");
    assert_says(&ran, &["device: virtual NVIDIA H200, as asked", "z[0] = 7, z[1048575] = 7"]);

    let claim = "each element is read and written once, by lanes that are neighbours";
    assert_says(&project.run("list"), &["saxpy", claim, "3 patterns, "]);
    assert_says(&project.run("list saxpy"), &[claim, "coalesced"]);
    assert_says(&project.run("list transpose"), &["direct", "tiled"]);
    let traffic = project.run("list --traffic");
    assert_says(&traffic, &["direct   32            4", "tiled    4             4"]);
    assert_says(&project.run("verify --check"), &["16 correct, 0 wrong, 0 not run, 0 hazards"]);
    the_planted_race_is_found(&project);

    assert_says(&project.run("count -o counts.json"), &["4 kernels of 3 patterns counted"]);
    let counts: serde_json::Value =
        serde_json::from_str(&project.file("counts.json")).expect("it is JSON");
    let counted = &counts["patterns"][0];
    assert_eq!(counted["claim"], claim);
    assert_eq!(counted["file"], "kernels/src/saxpy.rs", "the file that the compiler names");

    project.run("bench --json predicted.json");
    let results = results::Results::load(&project.root.join("predicted.json"), &[]);
    let results = results.expect("bench writes a result file");
    assert!(results.environment.is_prediction);
    let time = |variant: &str| {
        let mut rows = results.rows.iter().filter(|row| row.variant == variant);
        rows.find_map(|row| Some(row.measured()?.time_ms.median)).expect("it has a time")
    };
    let (direct, tiled) = (time("direct"), time("tiled"));
    assert!(direct > tiled, "{direct} ms and {tiled} ms");
    let compared = project.run("compare predicted.json predicted.json --fail-on slower");
    assert_says(&compared, &["transpose/tiled", "SAME", "0 FASTER, 0 SLOWER, 0 AMBIGUOUS"]);

    assert_says(&project.run("explain saxpy"), &["z = a x + y", "sectors per load"]);
    project.run("explain transpose --svg pictures");
    for name in ["transpose_direct.svg", "transpose_tiled.svg"] {
        assert_says(&project.file(&format!("pictures/{name}")), &["<svg", "source.get("]);
    }
    project.run("report predicted.json -o pages");
    assert_says(&project.file("pages/index.html"), &["saxpy.html", claim]);
    assert_says(&project.file("pages/saxpy.html"), &["kernels/src/saxpy.rs", "saxpy_coalesced"]);
    assert_says(&project.run("results predicted.json"), &["| `saxpy` | `coalesced` |"]);

    let unknown = project.output("verify saxpi");
    assert_eq!(unknown.status.code(), Some(2));
    let message = String::from_utf8_lossy(&unknown.stderr);
    assert_says(&message, &["error: there is no pattern `saxpi`", "did you mean `saxpy`?"]);
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    assert_says(&project.run("verify --help"), &["  saxpy_app verify PATTERN/VARIANT"]);

    // A fault that a correctness test of values alone might not see, and a change of traffic.
    let kernel = project.file("kernels/src/transpose.rs");
    let unpadded = kernel.replace("Tile<f32, 33, 32>", "Tile<f32, 32, 32>");
    // A condition of the device, of which the host's compiler has nothing to say.
    let since =
        unpadded.replace("block(TILE, STRIP)", "block(TILE, STRIP), min_compute_capability = 80");
    assert_ne!(since, unpadded);
    project.write("kernels/src/transpose.rs", &since);
    let unpadded = project.cargo("test --release");
    assert!(!unpadded.status.success());
    let errors = String::from_utf8_lossy(&unpadded.stderr);
    assert!(!errors.contains("unexpected"), "{errors}");
    let said = "transpose_tiled: wavefronts_per_shared_load is 32, more than 1";
    assert_says(&String::from_utf8_lossy(&unpadded.stdout), &[said]);
}

/// The Action's step on the planted kernel writes a race with both of its lines.
fn the_planted_race_is_found(project: &Project) {
    std::fs::create_dir(project.root.join(".git")).expect("a new folder");
    let mut action = Command::new(root().join(".ci/action"));
    action.arg("check").current_dir(&project.root).env("INPUT_SARIF", "planted.sarif");
    action.env("INPUT_PROGRAM", project.target.join("release/planted"));
    action.env("INPUT_COMMAND", "verify --check --device virtual");
    for file in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        action.env(file, project.root.join(file));
    }
    let output = action.output().expect("bash is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_says(&project.file("GITHUB_OUTPUT"), &["code=1\n", "findings="]);
    let found: serde_json::Value =
        serde_json::from_str(&project.file("planted.sarif")).expect("it is JSON");
    let mut results = found["runs"][0]["results"].as_array().expect("results").iter();
    let race = results.find(|one| one["ruleId"] == "SharedRace");
    let race = race.unwrap_or_else(|| panic!("{found}"));
    let kernel = project.file("kernels/src/planted.rs");
    let lines = [&race["locations"][0], &race["relatedLocations"][0]].map(|location| {
        let place = &location["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "kernels/src/planted.rs", "{race}");
        let line = place["region"]["startLine"].as_u64().expect("a line") as usize;
        kernel.lines().nth(line - 1).expect("it is there").trim()
    });
    assert!(
        lines.iter().all(|line| line.contains("*tile.add(")) && lines[0] != lines[1],
        "{lines:?}"
    );
}

/// The same project, with the libraries from a revision of a repository. It is not built: that takes minutes, and a network.
#[test]
fn a_project_takes_the_libraries_from_a_repository() {
    let git = |arguments: &[&str]| Command::new("git").args(arguments).current_dir(root()).output();
    let head = git(&["rev-parse", "HEAD"]).expect("git is there");
    if !head.status.success() {
        println!("not run: this is no git checkout");
        return;
    }
    let revision = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    let url = format!("file://{}", root().display());
    let project = Project::new(&["--source", &url, "--revision", &revision]);
    let manifest = project.file("Cargo.toml");
    assert_says(&manifest, &[&format!("git = \"{url}\", rev = \"{revision}\"")]);
    assert!(!manifest.contains("CHECKOUT"), "{manifest}");
}

#[test]
fn a_project_that_cannot_be_written_is_one_sentence_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("taken")).expect("a folder");
    let wrong: [(&[&str], &str); 6] = [
        (&["taken"], "taken exists already"),
        (&["2d"], "`2d` cannot be the name of a project"),
        (&["cuda-std"], "is the name of a library that the project uses"),
        (&["a", "--source", "/nowhere"], "/nowhere has no checkout of Coalesce"),
        (&["a", "--source", ".", "--revision", "1a"], "--revision is for the address"),
        (&["nowhere/a"], "cannot create a folder in nowhere"),
    ];
    for (arguments, says) in wrong {
        let output = new(folder.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_says(&message, &[says]);
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    }
    let left = std::fs::read_dir(folder.path()).expect("it can be read").count();
    assert_eq!(left, 1, "nothing but the folder that was there");
}
