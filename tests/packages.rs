//! Packages for publication: each library's package is whole, and a library with kernels is used from its own.

use crate::house::published;
use crate::kernels_source::root;
use crate::stranger::{Project, assert_says};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The output of the program [`USER`].
pub(crate) const SAYS: &str =
    "virtual NVIDIA H200, as asked: results and counts are exact, times are predictions: 7 and 7";
/// A program that launches a kernel of somebody's library, and depends on nothing else.
pub(crate) const USER: &str = r#"
use saxpy_app::cuda_host::Gpu;
use saxpy_app::cuda_host::cust::memory::{CopyDestination, DeviceBuffer};
use saxpy_app::kernels::saxpy::{THREADS_PER_BLOCK, saxpy_coalesced};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::auto(saxpy_app::IMAGES)?;
    let x = DeviceBuffer::from_slice(&[2.0_f32; 1000])?;
    let y = DeviceBuffer::from_slice(&[1.0_f32; 1000])?;
    let mut z = DeviceBuffer::<f32>::zeroed(1000)?;
    let blocks = 1000_u32.div_ceil(THREADS_PER_BLOCK);
    gpu.launcher().run(saxpy_coalesced, blocks, (3.0, &x, &y, &mut z))?;
    let mut result = vec![0.0; 1000];
    z.copy_to(&mut result)?;
    println!("{}: {} and {}", gpu.origin(), result[0], result[999]);
    Ok(())
}
"#;

/// A compiler of kernels that is not there: a build that looks for it ends with an error.
const NO_COMPILER: &str = "/nonexistent/rustc";

fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What a test of this workspace has from its cargo, and a user has not.
    cargo.current_dir(folder).env_remove("CUDA_LIBRARY_PATH").env("COALESCE_DEVICE", "virtual");
    // Nobody debugs what is built here.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    cargo
}

/// Returns what a command prints when all is well.
fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let printed = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{command:?}:\n{printed}\n{}", String::from_utf8_lossy(&stderr));
    printed
}

/// The paths that code includes, tests and documentation of the checkout aside.
fn included(code: &str) -> BTreeSet<&str> {
    let code = ["#[cfg(test)]", "#[cfg(doctest)]"]
        .iter()
        .fold(code, |code, tests| code.split(tests).next().unwrap_or_default());
    let of =
        |call: &'static str| code.split(call).skip(1).filter_map(|rest| rest.split('"').next());
    of("include_str!(\"").chain(of("include_bytes!(\"")).chain(of("#[path = \"")).collect()
}

/// A path of a package without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        if part.as_os_str() == ".." {
            assert!(path.pop(), "a file outside of the package");
        } else {
            path.push(part);
        }
        path
    })
}

#[test]
fn a_package_has_every_file_that_its_library_reads() {
    let packages = published();
    assert_eq!(packages.len(), 20, "the libraries that can be published");
    let mut read = 0;
    for package in packages {
        let mut list = cargo(&root());
        list.args(["package", "--list", "--offline", "--allow-dirty", "--package", &package.name]);
        let list = done(&mut list);
        let files: BTreeSet<&Path> = list.lines().map(Path::new).collect();
        let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
        let code = |file: &&&Path| file.extension().is_some_and(|it| it == "rs");
        for file in files.iter().filter(code).filter(|file| !file.starts_with("tests")) {
            let text = std::fs::read_to_string(folder.as_std_path().join(file));
            let text = text.expect("cargo lists it");
            for path in included(&text) {
                let path = normal(&file.parent().unwrap_or(Path::new("")).join(path));
                read += 1;
                assert!(
                    files.contains(path.as_path()),
                    "{}: {} includes {}, which the package does not have",
                    package.name,
                    file.display(),
                    path.display()
                );
            }
        }
    }
    assert!(read > 25, "only {read} files are included");
}

#[test]
fn what_is_included_is_found() {
    let code = "a(include_str!(\"../x.md\"));\n#[cfg(test)]\nmod tests { include_bytes!(\"y\") }";
    assert_eq!(included(code), BTreeSet::from(["../x.md"]));
    assert_eq!(normal(Path::new("src/command/../../template/a")), Path::new("template/a"));
}

/// A registry in a folder: other libraries as cargo vendors them, ours as they are packaged.
struct Registry {
    folder: PathBuf,
    /// cargo's setting that puts it in the place of the registry.
    config: PathBuf,
}

impl Registry {
    fn new(folder: &Path) -> Registry {
        let registry =
            Registry { folder: folder.join("registry"), config: folder.join("source.toml") };
        let mut vendor = cargo(&root());
        vendor.args(["vendor", "--locked", "--versioned-dirs"]).arg(&registry.folder);
        done(&mut vendor);
        let config = format!(
            "[source.crates-io]\nreplace-with = \"packages\"\n[source.packages]\ndirectory = {:?}\n",
            registry.folder
        );
        std::fs::write(&registry.config, config).expect("a writable folder");
        registry
    }

    /// Adds the packaged files of a folder.
    fn publish(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).expect("cargo made it").flatten() {
            let file = entry.path();
            if file.extension().is_none_or(|extension| extension != "crate") {
                continue;
            }
            done(Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(&self.folder));
            let name = file.file_stem().expect("it has a name");
            let sums = self.folder.join(name).join(".cargo-checksum.json");
            std::fs::write(sums, "{\"files\":{}}").expect("tar made the folder");
        }
    }
}

/// The PTX of the instruments' kernels, which is in the checkout only while packages are made.
struct OwnPtx(PathBuf);

impl Drop for OwnPtx {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes what cargo has unpacked and built of earlier packages of ours: it takes a version for what it was.
fn forget_earlier(packages: &[cargo_metadata::Package], target: &Path) {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registries = home.expect("cargo has a folder").join("registry/src");
    let built = target.join("debug/.fingerprint");
    for folder in [registries, built.clone()] {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            for package in packages {
                let unpacked = entry.path().join(format!("{}-{}", package.name, package.version));
                let _ = std::fs::remove_dir_all(unpacked);
                let name = entry.file_name().to_string_lossy().into_owned();
                if folder == built && name.starts_with(package.name.as_str()) {
                    let _ = std::fs::remove_dir_all(entry.path());
                }
            }
        }
    }
}

/// The long proof. Its builds are in a folder that a second run finds.
#[test]
#[ignore = "builds each package and three programs, for many minutes; `cargo xtask prove packages` runs it"]
fn a_library_with_kernels_is_used_by_path_and_from_its_package() {
    let target = root().join("target/packages");
    let packages = published();
    forget_earlier(&packages, &target);
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let _own = OwnPtx(root().join("crates/coalesce/ptx"));
    let stub = root().join("crates/cuda_driver/link_stub");
    let ours = |arguments: &[&str]| {
        let mut cargo = cargo(&root());
        cargo.args(arguments).args(["--offline"]).env("CARGO_TARGET_DIR", &target);
        // Of the published libraries some use cust.
        cargo.env("CUDA_LIBRARY_PATH", &stub).env("COALESCE_WRITE_PTX", "coalesce-instruments");
        done(&mut cargo)
    };
    ours(&["check", "--package", "coalesce-instruments"]);
    let all = names.iter().flat_map(|name| ["--package", name]);
    ours(&["package", "--allow-dirty"].into_iter().chain(all).collect::<Vec<_>>());

    let project = Project::new(&["--source", &root().to_string_lossy()]);
    let work = project.root.parent().expect("it lies in a folder");
    let registry = Registry::new(work);
    registry.publish(&target.join("package"));

    // By path, with the compiler of kernels and without the variable of cust's build script.
    let lock = root().join("Cargo.lock");
    let user = |name: &str, add: &[&str]| {
        let folder = work.join(name);
        done(cargo(work).args(["new", "--quiet", "--vcs", "none", name]));
        std::fs::write(folder.join("src/main.rs"), USER).expect("a writable folder");
        std::fs::copy(&lock, folder.join("Cargo.lock")).expect("a writable folder");
        done(cargo(&folder).args(["add", "--quiet", "--offline"]).args(add));
        folder
    };
    let path = project.root.join("host").display().to_string();
    let by_path = user("by-path", &["--path", &path]);
    let ran = done(
        cargo(&by_path)
            .args(["run", "--offline"])
            .env("CARGO_TARGET_DIR", target.join("users"))
            // For what comes next.
            .env("COALESCE_WRITE_PTX", "saxpy_app"),
    );
    assert_says(&ran, &[SAYS]);

    // With the sources of kernels and without a compiler: the PTX that was written, as long as it is of these sources.
    // The distribution's compiler is hidden from the command alone, which takes root's rights; rustup's builds none.
    let without = |arguments: &[&str]| {
        let hide = "mount --bind /dev/null \"$(readlink -f /usr/bin/rustc)\" && exec \"$@\"";
        let mut hidden = Command::new("unshare");
        hidden.args(["--mount", "sh", "-c", hide, "sh"]).arg(cargo(&by_path).get_program());
        hidden.args(arguments).current_dir(&by_path).env_remove("CUDA_LIBRARY_PATH");
        hidden.env("COALESCE_DEVICE", "virtual").env("CARGO_PROFILE_DEV_DEBUG", "0");
        hidden.env("CARGO_TARGET_DIR", target.join("users"));
        hidden
    };
    assert_says(&done(&mut without(&["run", "--offline"])), &[SAYS]);
    let source = project.file("kernels/src/saxpy.rs");
    project.write("kernels/src/saxpy.rs", &format!("{source}\n// changed\n"));
    let refused = without(&["build", "--offline"]).output().expect("it starts");
    assert!(!refused.status.success(), "PTX of other sources is used");
    assert_says(&String::from_utf8_lossy(&refused.stderr), &["saxpy.rs"]);
    project.write("kernels/src/saxpy.rs", &source);

    // From its package, without either.
    let config = registry.config.display().to_string();
    let without_compiler = |folder: &Path, arguments: &[&str]| {
        let mut cargo = cargo(folder);
        cargo.args(arguments).args(["--offline", "--config", &config]);
        cargo.env("CARGO_TARGET_DIR", target.join("users"));
        cargo.env("COALESCE_RUSTC", NO_COMPILER);
        cargo
    };
    for package in ["saxpy_app_kernels", "saxpy_app"] {
        let package = ["package", "--allow-dirty", "--registry", "crates-io", "--package", package];
        done(&mut without_compiler(&project.root, &package));
        registry.publish(&target.join("users/package"));
    }
    let packaged = work.join("from-package");
    std::fs::create_dir_all(packaged.join("src")).expect("a writable folder");
    std::fs::write(packaged.join("src/main.rs"), USER).expect("a writable folder");
    let manifest = "[package]\nname = \"from-package\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    std::fs::write(packaged.join("Cargo.toml"), manifest).expect("a writable folder");
    done(&mut without_compiler(&packaged, &["add", "--quiet", "saxpy_app"]));
    assert_says(&done(&mut without_compiler(&packaged, &["run"])), &[SAYS]);
    let tree = done(&mut without_compiler(&packaged, &["tree", "--prefix", "none"]));
    assert!(!tree.contains("cust_raw") && !tree.contains("clap"), "{tree}");
    println!(
        "{} packages built from what they hold; a library with kernels ran by path and from its package",
        names.len()
    );
}
