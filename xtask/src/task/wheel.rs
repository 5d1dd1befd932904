//! `cargo xtask wheel`: the program, its libraries and the Python module in one file that pip installs.

use super::build;
use crate::{kernels, licences, workspace};
use anyhow::{Context, Result, bail};
use cuda_builder::{toolchain::Toolchain, write_whole};
use sha2::{Digest, Sha256};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The system that the program was built for, such as aarch64-unknown-linux-gnu: the program is then taken from that target's folder. Without it, it is built for this one.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// The program, where it is elsewhere.
    #[arg(long, value_name = "FILE", requires = "target")]
    program: Option<PathBuf>,
    /// The folder to write to.
    #[arg(long, default_value = "dist")]
    output: PathBuf,
    /// Install it into a fresh environment of Python, and run the module's tests there.
    #[arg(long)]
    check: bool,
}

/// The module's name, and that of the package with `-` for `_`.
const NAME: &str = "coalesce_gpu";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The most bytes of a program without symbols.
const MAX_BYTES: usize = 25_000_000;
const MODULE: [(&str, &str); 3] = [
    ("__init__.py", include_str!("../../../crates/coalesce/src/python/coalesce_gpu/__init__.py")),
    ("__main__.py", include_str!("../../../crates/coalesce/src/python/coalesce_gpu/__main__.py")),
    ("py.typed", ""),
];
const README: &str = include_str!("../../../crates/coalesce/src/python/README.md");
const TESTS: &str = include_str!("../../../crates/coalesce/src/python/test_coalesce_gpu.py");
/// Libraries that `coalesce run` puts in front of a program, by the names of an archive and those that cargo builds.
const LIBRARIES: [(&str, &str); 2] =
    [("libcuda.so.1", "libvirtual_libcuda.so"), ("libcudart.so.13", "libvirtual_libcudart.so")];

/// A file of a wheel.
struct Member {
    path: String,
    content: Vec<u8>,
    is_program: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let host = this_system();
    let target = arguments.target.as_deref().unwrap_or(&host);
    let built = match &arguments.target {
        None => {
            kernels::setup()?;
            build::for_others()?;
            workspace::target_dir().join("dist")
        }
        Some(target) => workspace::target_dir().join(target).join("dist"),
    };
    let file = if target.contains("windows") { "coalesce.exe" } else { "coalesce" };
    let program = arguments.program.clone().unwrap_or_else(|| built.join(file));
    let folder = program.parent().unwrap_or(&built).to_owned();
    let small = stripped(&program)?;
    let size = small.len();
    if size > MAX_BYTES {
        bail!(
            "{} has {size} bytes when it is stripped, and {MAX_BYTES} are the most that a wheel carries: see what has grown by `llvm-size`",
            program.display()
        );
    }
    let mut programs = vec![(format!("{NAME}/bin/{file}"), small)];
    if target.contains("linux") {
        for (name, built) in LIBRARIES {
            let places = [folder.join("deps").join(built), folder.join(built)];
            // A static program has none, and `run` says so.
            if let Some(library) = places.iter().find(|place| place.exists()) {
                programs.push((format!("{NAME}/bin/lib/{name}"), stripped(library)?));
            }
        }
    }
    let platform = platform(target, programs.iter().map(|(_, content)| content.as_slice()))?;
    let wheel = format!("{NAME}-{VERSION}-py3-none-{platform}.whl");
    let output = workspace::root().join(&arguments.output);
    std::fs::create_dir_all(&output)
        .with_context(|| format!("cannot create {}", output.display()))?;
    let path = output.join(&wheel);
    let bytes = packed(members(programs, &platform, &licences::third_party(target)?)?)?;
    write_whole(&path, &bytes)?;
    println!("{}: {} KiB", path.display(), bytes.len() / 1024);
    if arguments.check {
        check(&path, size)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs a wheel as a user does, and runs what it brings.
fn check(wheel: &Path, program: usize) -> Result<()> {
    let begin = Instant::now();
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let environment = folder.path().join("environment");
    workspace::succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let bin = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = bin.join("python").with_extension(std::env::consts::EXE_EXTENSION);
    workspace::succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).arg(wheel))?;
    let seconds = begin.elapsed().as_secs();
    // Nothing of this checkout is where they run, and no other program is named.
    let outside = |command: &mut Command| {
        command.current_dir(folder.path()).env_remove("COALESCE_PROGRAM").env_remove("PYTHONPATH");
        workspace::succeed(command)
    };
    let tests = folder.path().join("test_coalesce_gpu.py");
    std::fs::write(&tests, TESTS).context("cannot write the tests")?;
    outside(Command::new(&python).arg(&tests))?;
    let (example, kernel) = example();
    for (name, text) in [("example.py", example), ("saxpy.ptx", &kernel)] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    outside(Command::new(&python).arg("example.py"))?;
    outside(Command::new(bin.join("coalesce")).arg("--version"))?;
    let size = std::fs::metadata(wheel).context("it was written")?.len() as f64 / 1e6;
    let program = program as f64 / 1e6;
    let tests = TESTS.matches("    def test_").count();
    println!(
        "wheel of {size:.1} MB, its program of {program:.1} MB, installed in a fresh environment after {seconds} s: {tests} tests of the module passed, its page's example runs, and `coalesce` starts"
    );
    Ok(())
}

/// Returns the example of the module's page, and the PTX of its kernel, which is that of the tests under other names.
fn example() -> (&'static str, String) {
    let between = |text: &'static str, start: &str, end: &str| {
        let rest = text.split_once(start).map_or("", |(_, rest)| rest);
        rest.split(end).next().unwrap_or_default()
    };
    let names = [("scale", "saxpy"), ("data", "x"), (" by", " a"), ("[by]", "[a]")];
    let kernel = between(TESTS, "SCALE = \"\"\"", "\"\"\"").to_owned();
    let kernel = names.iter().fold(kernel, |text, (old, new)| text.replace(old, new));
    (between(README, "```python\n", "```"), kernel)
}

/// The target that cargo builds for here.
pub fn this_system() -> String {
    let system = match std::env::consts::OS {
        "windows" => "pc-windows-msvc",
        "macos" => "apple-darwin",
        _ => "unknown-linux-gnu",
    };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// Returns a program without its symbols and line tables.
fn stripped(file: &Path) -> Result<Vec<u8>> {
    if !file.exists() {
        bail!(
            "there is no {}: build it first by `cargo build --profile dist --target TRIPLE --package host`, or name it by --program",
            file.display()
        );
    }
    let strip =
        Toolchain::find()?.llvm.join("llvm-strip").with_extension(std::env::consts::EXE_EXTENSION);
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let small = folder.path().join("stripped");
    workspace::succeed(Command::new(strip).arg("-o").arg(&small).arg(file))?;
    std::fs::read(&small).with_context(|| format!("cannot read {}", small.display()))
}

/// Returns the tag of the systems that a wheel is for.
fn platform<'a>(target: &str, files: impl Iterator<Item = &'a [u8]>) -> Result<String> {
    let processor = target.split('-').next().unwrap_or_default();
    Ok(match target {
        "x86_64-pc-windows-gnu" | "x86_64-pc-windows-msvc" => "win_amd64".to_owned(),
        "aarch64-apple-darwin" => "macosx_11_0_arm64".to_owned(),
        "x86_64-apple-darwin" => "macosx_10_12_x86_64".to_owned(),
        _ if target.contains("linux") => {
            let newest = files.filter_map(glibc).max().unwrap_or(0).max(17);
            format!("manylinux_2_{newest}_{processor}")
        }
        _ => bail!(
            "pip knows no systems of the target {target}: name one of Linux, Windows or macOS"
        ),
    })
}

/// Returns the newest minor version of glibc whose functions a file asks for; nothing for a static one.
fn glibc(file: &[u8]) -> Option<u32> {
    const PREFIX: &[u8] = b"\0GLIBC_2.";
    let starts = (0..file.len()).filter(|at| file[*at..].starts_with(PREFIX));
    let versions = starts.filter_map(|at| {
        let digits = file[at + PREFIX.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        String::from_utf8(digits.copied().collect()).ok()?.parse().ok()
    });
    versions.max()
}

/// The files of a wheel, the list of them last.
fn members(
    programs: Vec<(String, Vec<u8>)>,
    platform: &str,
    licences: &str,
) -> Result<Vec<Member>> {
    let about = format!("{NAME}-{VERSION}.dist-info");
    let text = |path: String, text: &str| Member {
        path,
        content: text.as_bytes().to_vec(),
        is_program: false,
    };
    let mut all: Vec<Member> =
        MODULE.iter().map(|(name, content)| text(format!("{NAME}/{name}"), content)).collect();
    all.extend(programs.into_iter().map(|(path, content)| Member {
        path,
        content,
        is_program: true,
    }));
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let path = workspace::root().join(licence);
        let licence_text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        all.push(text(format!("{about}/licenses/{licence}"), &licence_text));
    }
    all.push(text(format!("{about}/licenses/{}", licences::FILE), licences));
    let package = NAME.replace('_', "-");
    all.push(text(
        format!("{about}/METADATA"),
        &format!(
            "Metadata-Version: 2.1\nName: {package}\nVersion: {VERSION}\nSummary: Run and check CUDA kernels without a GPU: exact results, memory traffic, races\nLicense: MIT OR Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: numpy>=1.21\nDescription-Content-Type: text/markdown\n\n{README}"
        ),
    ));
    all.push(text(
        format!("{about}/WHEEL"),
        &format!(
            "Wheel-Version: 1.0\nGenerator: cargo xtask wheel\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
        ),
    ));
    let entry = format!("[console_scripts]\ncoalesce = {NAME}.__main__:main\n");
    all.push(text(format!("{about}/entry_points.txt"), &entry));
    let mut record = String::new();
    for one in &all {
        let digest = url_base64(&Sha256::digest(&one.content));
        record += &format!("{},sha256={digest},{}\n", one.path, one.content.len());
    }
    let path = format!("{about}/RECORD");
    record += &format!("{path},,\n");
    all.push(text(path, &record));
    Ok(all)
}

/// Packs files, the same bytes for the same files.
fn packed(members: Vec<Member>) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for Member { path, content, is_program } in members {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .unix_permissions(if is_program { 0o755 } else { 0o644 });
        archive.start_file(path, options)?;
        archive.write_all(&content)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Base64 with the letters of addresses and without padding, as RECORD has it.
fn url_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3)
            .fold(0, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or_default()));
        for letter in 0..=group.len() {
            text.push(LETTERS[(bits >> (18 - 6 * letter)) as usize % 64].into());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::io::Read;

    #[test]
    fn a_wheel_lists_what_it_holds_and_its_programs_may_be_started() {
        let program = || vec![("coalesce_gpu/bin/coalesce".to_owned(), b"ELF".to_vec())];
        let pack =
            || packed(members(program(), "any", "a licence").expect("the licences are here"));
        let bytes = pack().expect("memory takes it");
        assert_eq!(bytes, pack().expect("memory takes it"), "the same bytes for the same files");
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("it is an archive");
        let mut files = BTreeMap::new();
        for at in 0..archive.len() {
            let mut file = archive.by_index(at).expect("it is there");
            let name = file.name().expect("it is text").into_owned();
            let mode = file.unix_mode().expect("it has a mode") & 0o777;
            assert_eq!(mode, if name.contains("/bin/") { 0o755 } else { 0o644 });
            let mut content = Vec::new();
            file.read_to_end(&mut content).expect("it can be read");
            files.insert(name, content);
        }
        let about = format!("{NAME}-{VERSION}.dist-info");
        let record = String::from_utf8(files[&format!("{about}/RECORD")].clone()).expect("text");
        assert_eq!(record.lines().count(), files.len());
        for line in record.lines().filter(|line| !line.ends_with(",,")) {
            let [path, digest, bytes] = *line.split(',').collect::<Vec<_>>() else {
                panic!("{line}")
            };
            let content = &files[path];
            assert_eq!(bytes, content.len().to_string());
            assert_eq!(digest, format!("sha256={}", url_base64(&Sha256::digest(content))));
        }
        let module = String::from_utf8(files["coalesce_gpu/__init__.py"].clone()).expect("text");
        assert!(module.contains("def check("));
    }

    #[test]
    fn the_page_has_an_example_and_the_tests_its_kernel() {
        let (example, kernel) = example();
        assert!(example.contains("check(Path(\"saxpy.ptx\"), \"saxpy\""), "{example}");
        let entry = ".entry saxpy(.param .u64 x, .param .f32 a, .param .u32 n)";
        assert!(kernel.contains(entry) && kernel.contains("[a];"), "{kernel}");
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("\u{3ff}", "z78")]
        {
            assert_eq!(url_base64(bytes.as_bytes()), text);
        }
        assert_eq!(url_base64(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn the_tag_says_which_systems_take_it() {
        let of = |target: &str, file: &[u8]| platform(target, [file].into_iter());
        let linux = of("x86_64-unknown-linux-gnu", b"..\0GLIBC_2.5\0GLIBC_2.34\0GLIBC_2.3.4\0");
        assert_eq!(linux.expect("it is known"), "manylinux_2_34_x86_64");
        let fixed = of("aarch64-unknown-linux-gnu", b"no names");
        assert_eq!(fixed.expect("it is known"), "manylinux_2_17_aarch64");
        assert_eq!(of("x86_64-pc-windows-gnu", b"MZ").expect("it is known"), "win_amd64");
        let error = of("sparc-sun-solaris", b"").expect_err("pip has no such tag").to_string();
        assert!(error.contains("sparc-sun-solaris"), "{error}");
    }
}
