//! The first half of a build: from a Rust crate to one file of LLVM bitcode.

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;
use crate::files;
use crate::fingerprint::{self, Dependencies};
use crate::options::{CompileOptions, DebugInfo, PanicStrategy};
use crate::toolchain::{Core, Toolchain};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const TARGET: &str = "nvptx64-nvidia-cuda";
const CUDA_STD: &str = "coalesce-cuda-std";

/// Compiles the crate in the folder `path` and everything it uses; the bitcode is whole-program optimized.
///
/// `work` is a folder of ours that persists between builds.
pub(crate) fn bitcode(
    path: &Path,
    options: &CompileOptions,
    toolchain: &Toolchain,
    arch: NvvmArch,
    work: &Path,
) -> Result<PathBuf, CudaBuilderError> {
    let cargo_target = cargo_target(work);
    // This pass copies a barrier into both sides of a branch, where only a part of the block meets
    // each copy.
    let mut flags = vec!["-Zmir-enable-passes=-JumpThreading".to_owned()];
    if toolchain.core == Core::FromSource {
        flags.push(format!("--sysroot={}", core_from_source(toolchain, work)?.display()));
    }
    flags.push(paths_from_workspace(path, work)?);
    let own_flags = own_flags(options, arch);

    let mut command = toolchain.clean_command(&toolchain.cargo);
    command
        .current_dir(path)
        .args(["rustc", "--lib", "--crate-type=cdylib", "--target", TARGET])
        // Sources are compared by their bytes: one may come back with the time that it had.
        .arg("-Zchecksum-freshness")
        .arg("--target-dir")
        .arg(&cargo_target)
        .args(["--profile", if options.release { "release" } else { "dev" }])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    for profile in ["RELEASE", "DEV"] {
        command
            .env(format!("CARGO_PROFILE_{profile}_LTO"), "fat")
            .env(format!("CARGO_PROFILE_{profile}_CODEGEN_UNITS"), "1")
            .env(format!("CARGO_PROFILE_{profile}_PANIC"), "abort")
            .env(format!("CARGO_PROFILE_{profile}_INCREMENTAL"), "false")
            .env(format!("CARGO_PROFILE_{profile}_OPT_LEVEL"), "3")
            .env(
                format!("CARGO_PROFILE_{profile}_DEBUG"),
                match options.debug {
                    DebugInfo::None => "none",
                    DebugInfo::LineTables => "line-tables-only",
                },
            );
    }
    command.args(&options.arguments);
    let attributes = crate_attributes(path)?;
    // A file of its own for each choice of compiler and options: cargo holds a build fresh whose file another choice
    // would have written over.
    let mut choice = std::hash::DefaultHasher::new();
    (&toolchain.version, format!("{options:?}"), &flags, &own_flags, &attributes).hash(&mut choice);
    let name = format!("{}-{:08x}.bc", arch.target_feature(), choice.finish() as u32);
    let output = work.join(name);
    if fingerprint::is_up_to_date(&output) {
        return Ok(output);
    }
    command.args(for_device_crates(path, toolchain, &own_flags)?).arg("--");
    command.arg("-Zno-link").arg(format!("--emit=llvm-bc={}", output.display()));
    command.arg(format!("-Ctarget-cpu={}", arch.processor())).args(attributes);
    // Of cargos at work in one folder all but one wait; what is forgotten must not be at work.
    let _turn = files::lock_path(&cargo_target)?;
    fingerprint::forget(&output)?;
    if !output.exists() {
        // cargo does not know of this file: a build it holds fresh would not write it again.
        forget(path, &cargo_target)?;
    }
    let started = SystemTime::now();
    let status = command.status().map_err(CudaBuilderError::io("start", &toolchain.cargo))?;
    if !status.success() {
        return Err(CudaBuilderError::KernelsDoNotCompile { path: path.to_owned() });
    }
    let profile = if options.release { "release" } else { "debug" };
    let read = Dependencies::read(&cargo_target.join(TARGET).join(profile), &library(path)?);
    fingerprint::note(&output, started, path, &read)?;
    Ok(output)
}

/// Cargo's target folder for device code, one for all crates, architectures and options: cargo tells their
/// outputs apart by the flags, and builds what runs on the host, the macros, once.
fn cargo_target(work: &Path) -> PathBuf {
    work.with_file_name("device")
}

/// The flags of the kernels and of what they use that is made for the device: the architecture, and what a panic does.
/// Symbols' names depend on them, so no path may be among them.
fn own_flags(options: &CompileOptions, arch: NvvmArch) -> Vec<String> {
    let features = arch.all_target_features();
    let mut flags: Vec<String> =
        features.iter().map(|feature| format!("--cfg=target_feature=\"{feature}\"")).collect();
    // Naming a target feature by `--cfg` is what upstream's compiler does; rustc warns about it, and of asking for one
    // that it does not know.
    flags.push("-Aexplicit_builtin_cfgs_in_flags".to_owned());
    flags.push("--check-cfg=cfg(target_feature, values(any()))".to_owned());
    // What only newer targets use is dead on this one; what nobody uses the host's compiler tells.
    flags.push("-Adead_code".to_owned());
    flags.push("--check-cfg=cfg(cuda_std_panic, values(\"trap\"))".to_owned());
    if options.panic == PanicStrategy::Trap {
        flags.push("--cfg=cuda_std_panic=\"trap\"".to_owned());
    }
    flags
}

/// Cargo's arguments that give flags to the crates of the kernels' workspace and to all that use `cuda_std`. No other
/// crate knows the architecture, so it is compiled once, and not again for each.
fn for_device_crates(
    path: &Path,
    toolchain: &Toolchain,
    flags: &[String],
) -> Result<Vec<String>, CudaBuilderError> {
    let mut tree = toolchain.clean_command(&toolchain.cargo);
    tree.current_dir(path).args(["tree", "--quiet", "--target", TARGET, "--prefix", "none"]);
    tree.args(["--edges", "normal", "--invert", CUDA_STD]);
    // Without `cuda_std` in the tree it fails, and no crate needs to be named.
    let tree = tree.output().map_err(CudaBuilderError::io("start", &toolchain.cargo))?;
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let mut all = BTreeMap::new();
    // The first line is `cuda_std`, which asks for its features itself; the crate that is built is asked for with it.
    for line in tree.lines() {
        // `name v1.0.0 (/a folder) (*)`, without the folder for what lies in a registry.
        let name = line.split(' ').next().unwrap_or_default();
        let folder = line.split_once(" (").and_then(|(_, rest)| Some(rest.split_once(')')?.0));
        let folder = folder.map(Path::new);
        let mut flags = flags.to_vec();
        if name != CUDA_STD && folder != Some(path) {
            // What lies in a registry is not read: it compiles for the host, so it asks for no feature.
            let folder = folder.filter(|folder| folder.join("Cargo.toml").exists());
            flags.extend(folder.map_or(Ok(attributes_but(|_| false)), crate_attributes)?);
        }
        all.insert(format!(".package.{name}"), format!("{flags:?}"));
    }
    all.insert(String::new(), format!("{flags:?}"));
    for others in [".package.\"*\"", ".build-override"] {
        all.insert(others.to_owned(), "[]".to_owned());
    }
    let mut arguments = vec!["-Zprofile-rustflags".to_owned()];
    for (crates, flags) in all {
        for profile in ["release", "dev"] {
            arguments.push(format!("--config=profile.{profile}{crates}.rustflags={flags}"));
        }
    }
    Ok(arguments)
}

/// Returns what every crate of kernels needs on the device and does not say itself: no `std`, and the features of
/// the compiler behind `#[kernel]` and inline PTX. A feature must not be asked for twice.
fn crate_attributes(path: &Path) -> Result<Vec<String>, CudaBuilderError> {
    let root = path.join(root_in(&manifest(path)?).unwrap_or("src/lib.rs".to_owned()));
    let text = std::fs::read_to_string(&root).map_err(CudaBuilderError::io("read", root))?;
    let own: Vec<&str> =
        text.split("#![").skip(1).filter_map(|rest| rest.split(']').next()).collect();
    Ok(attributes_but(|name| own.iter().any(|attribute| attribute.contains(name))))
}

/// Those attributes that a crate does not say, as rustc's arguments.
fn attributes_but(says: impl Fn(&str) -> bool) -> Vec<String> {
    let mut attributes = Vec::new();
    if !says("no_std") {
        attributes.push("-Zcrate-attr=no_std".to_owned());
    }
    for feature in ["abi_ptx", "asm_experimental_arch"] {
        if !says(feature) {
            attributes.push(format!("-Zcrate-attr=feature({feature})"));
        }
    }
    // A crate without inline PTX does not use the second.
    attributes.push("-Aunused_features".to_owned());
    attributes
}

fn manifest(path: &Path) -> Result<String, CudaBuilderError> {
    let manifest = path.join("Cargo.toml");
    std::fs::read_to_string(&manifest).map_err(CudaBuilderError::io("read", manifest))
}

pub(crate) fn library(path: &Path) -> Result<String, CudaBuilderError> {
    let manifest = manifest(path)?;
    let name = name_in(&manifest, "lib").or_else(|| name_in(&manifest, "package"));
    Ok(name.unwrap_or_default().replace('-', "_"))
}

/// The name that a section of a manifest, such as `package`, gives.
fn name_in(manifest: &str, section: &str) -> Option<String> {
    value_in(manifest, section, "name")
}

/// Returns the crate's root as the manifest names it.
fn root_in(manifest: &str) -> Option<String> {
    value_in(manifest, "lib", "path")
}

/// The value of a key in a section of a manifest.
fn value_in(manifest: &str, section: &str, wanted: &str) -> Option<String> {
    let lines = manifest.lines().map(str::trim);
    let section = lines.skip_while(|line| *line != format!("[{section}]")).skip(1);
    let mut values = section.take_while(|line| !line.starts_with('[')).filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == wanted).then(|| value.trim().trim_matches('"').to_owned())
    });
    values.next()
}

/// The arguments that turn on those features of the kernels crate in `path` that the crate of the build script that runs us
/// has, too: what the host compiles with a feature, the device does as well.
pub(crate) fn features_of_build(path: &Path) -> Result<Vec<String>, CudaBuilderError> {
    if std::env::var_os("OUT_DIR").is_none() {
        return Ok(Vec::new());
    }
    let is_on = |feature: &String| {
        let name = feature.to_uppercase().replace('-', "_");
        feature != "default" && std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
    };
    let on = features_in(&manifest(path)?).into_iter().filter(is_on).collect::<Vec<_>>();
    Ok(if on.is_empty() { Vec::new() } else { vec![format!("--features={}", on.join(","))] })
}

fn features_in(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[features]").skip(1);
    let section = lines.take_while(|line| !line.starts_with('['));
    let named = section.filter_map(|line| line.split_once('='));
    named.map(|(name, _)| name.trim().trim_matches('"').to_owned()).collect()
}

/// Makes cargo build the crate itself again.
fn forget(path: &Path, cargo_target: &Path) -> Result<(), CudaBuilderError> {
    let Some(name) = name_in(&manifest(path)?, "package") else { return Ok(()) };
    for profile in ["release", "debug"] {
        let folder = cargo_target.join(TARGET).join(profile).join(".fingerprint");
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let entry_name = entry.file_name();
            let stem = entry_name.to_string_lossy();
            if stem.rsplit_once('-').is_some_and(|(stem, _)| stem == name) {
                std::fs::remove_dir_all(entry.path())
                    .map_err(CudaBuilderError::io("remove", entry.path()))?;
            }
        }
    }
    Ok(())
}

/// The flag that makes paths in line tables and panic messages relative to the crate's workspace.
///
/// It is in a file because cargo, when it sees `--remap-path-prefix` among the flags, no longer tells the outputs of
/// one architecture from those of another by their flags, and builds each dependency again at every change. Its name
/// says its contents, so that all crates of a workspace have the same flags and share their dependencies.
fn paths_from_workspace(path: &Path, work: &Path) -> Result<String, CudaBuilderError> {
    let mut above = path.ancestors().skip(1);
    let root = above.find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(path);
    let flag = format!("--remap-path-prefix={}{}=\n", root.display(), std::path::MAIN_SEPARATOR);
    let mut contents = std::hash::DefaultHasher::new();
    flag.hash(&mut contents);
    let file = work.with_file_name(format!("rustc-flags-{:08x}", contents.finish() as u32));
    files::write_whole(&file, flag.as_bytes())?;
    Ok(format!("@{}", file.display()))
}

/// Builds `core` for the GPU once per compiler and lays it out as a sysroot.
///
/// `-Zbuild-std` alone would build it again for each architecture, because their flags differ.
/// `core` itself does not: its code is generic, and the architecture is chosen after linking.
fn core_from_source(toolchain: &Toolchain, work: &Path) -> Result<PathBuf, CudaBuilderError> {
    let name: String = toolchain
        .version
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let folder = work.with_file_name(format!("core-alloc-{}", name.trim_end_matches('-')));
    let libraries = folder.join("lib/rustlib").join(TARGET).join("lib");
    let _turn = files::lock_path(&folder)?;
    let built = || files_in(&libraries);
    files::make(&folder.join("complete"), &toolchain.version, built, || {
        build_core(toolchain, &folder, &libraries)
    })?;
    Ok(folder)
}

/// The files of a folder; none where it cannot be read.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Builds `core` and `alloc` anew in `folder`, and puts them into `libraries`.
fn build_core(
    toolchain: &Toolchain,
    folder: &Path,
    libraries: &Path,
) -> Result<(), CudaBuilderError> {
    eprintln!("building `core` and `alloc` for the GPU with {} (once)", toolchain.version);
    let source = folder.join("build");
    for leftover in [&source, &folder.join("lib")] {
        if leftover.exists() {
            std::fs::remove_dir_all(leftover).map_err(CudaBuilderError::io("remove", leftover))?;
        }
    }
    let write = |path: PathBuf, text: &str| {
        std::fs::write(&path, text).map_err(CudaBuilderError::io("write", path))
    };
    std::fs::create_dir_all(source.join("src")).map_err(CudaBuilderError::io("create", &source))?;
    std::fs::create_dir_all(libraries).map_err(CudaBuilderError::io("create", libraries))?;
    write(
        source.join("Cargo.toml"),
        "[package]\nname = \"only_core\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[profile.release]\npanic = \"abort\"\ncodegen-units = 1\nopt-level = \"z\"\n",
    )?;
    // What of `core` is generic is compiled in the kernels crate, at its level. The rest is formatting and panics, which is
    // four times as long if it is optimized for speed.
    write(source.join("src/lib.rs"), "#![no_std]\n")?;
    let status = toolchain
        .clean_command(&toolchain.cargo)
        .current_dir(&source)
        .args(["build", "--release", "-Zbuild-std=core,alloc", "--target", TARGET, "--target-dir"])
        .arg(source.join("target"))
        // rustc would not inline in what it compiles for size, and that is what generic code begins with.
        .env("RUSTFLAGS", "-Zinline-mir=yes")
        .status()
        .map_err(CudaBuilderError::io("start", &toolchain.cargo))?;
    if !status.success() {
        return Err(CudaBuilderError::CoreDoesNotCompile { rustc: toolchain.version.clone() });
    }
    let built = source.join("target").join(TARGET).join("release/deps");
    for path in files_in(&built) {
        let name = path.file_name().unwrap_or_default();
        let text = name.to_string_lossy();
        if (["libcore-", "liballoc-", "libcompiler_builtins-"]
            .iter()
            .any(|name| text.starts_with(name)))
            && text.ends_with(".rlib")
        {
            let target = libraries.join(name);
            std::fs::copy(&path, &target).map_err(CudaBuilderError::io("write", target))?;
        }
    }
    std::fs::remove_dir_all(source.join("target"))
        .map_err(CudaBuilderError::io("remove", source.join("target")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_their_section() {
        let manifest = "[dependencies]\nname = \"x\"\n[package]\nversion = \"1.0.0\"\nname=\"a-b\"\n[lib]\npath = \"l.rs\"\n";
        assert_eq!(name_in(manifest, "package").as_deref(), Some("a-b"));
        assert_eq!(name_in(manifest, "lib"), None);
        assert_eq!(root_in(manifest).as_deref(), Some("l.rs"));
        let featured = "[features]\ndefault = []\nf-64 = [\n  \"x/y\"\n]\n\n[lib]\nname = \"x\"\n";
        assert_eq!(features_in(featured), ["default", "f-64"]);
        assert!(features_in(manifest).is_empty());
        let named = format!("{manifest}name = \"other\"\n");
        assert_eq!(name_in(&named, "lib").as_deref(), Some("other"));
    }
}
