//! Builds of crates of this repository: what one choice of options writes is not taken for that of another, and a build
//! of some kernels gives the PTX of a build of all.

use cuda_builder::toolchain::Toolchain;
use cuda_builder::{CudaBuilder, CudaBuilderError, DebugInfo, NvvmArch, PanicStrategy};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The target folder of the cargo that runs this test, where dependencies of device code may be built already.
fn target_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder")
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(path).expect("the builder wrote it")
}

/// The repository's kernels, as its own builds make them.
fn kernels() -> CudaBuilder {
    CudaBuilder::new(root().join("kernels"))
        .arch(NvvmArch::Compute90)
        .panic(PanicStrategy::Trap)
        .target_dir(target_dir())
}

/// A label, or a name of local memory, without the number that counts through its module, such as `$L__tmp17`,
/// `$L__BB5_2` or `__local_depot3`.
fn without_label_numbers(line: &str) -> String {
    let line = line.replace("__local_depot", "$L__depot");
    let mut parts = line.split("$L__");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len());
        let (kind, number) = part.split_at(digits);
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        assert!(
            ["BB", "tmp", "func_begin", "func_end", "depot"].contains(&kind),
            "a new label: {part}"
        );
        out += &format!("$L__{kind}#{rest}");
    }
    out
}

/// The text of each kernel, with names of source files for their numbers, without numbers of labels and comments.
fn entries(ptx: &str) -> BTreeMap<String, String> {
    let files: BTreeMap<&str, &str> = ptx
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".file\t")?.split_once(' '))
        .collect();
    let mut entries = BTreeMap::new();
    let mut current: Option<(String, String)> = None;
    for line in ptx.lines() {
        if let Some(name) = line.strip_prefix(".visible .entry ") {
            current = Some((name.trim_end_matches(['(', ')']).to_owned(), String::new()));
        }
        let Some((_, text)) = &mut current else { continue };
        let code = line.split("//").next().unwrap_or_default().trim_end();
        let code = match code.trim_start().strip_prefix(".loc\t").and_then(|at| at.split_once(' '))
        {
            Some((file, place)) => format!(".loc {} {place}", files[file]),
            None => without_label_numbers(code),
        };
        *text += &(code + "\n");
        if line == "}" {
            entries.extend(current.take());
        }
    }
    entries
}

#[test]
fn every_target_is_built_for_or_refused_in_a_sentence() {
    let kernels = |arch: NvvmArch| {
        let kernels = root().join("crates/cuda_builder/tests/regressions");
        let kernels = CudaBuilder::new(kernels).arch(arch);
        kernels.target_dir(target_dir()).build()
    };
    // A build takes some seconds: the newest of each kind, unless all are asked for.
    let sample =
        [NvvmArch::Compute87, NvvmArch::Compute121, NvvmArch::Compute103f, NvvmArch::Compute120a];
    let all = std::env::var_os("BUILDS_ALL").is_some();
    for arch in NvvmArch::ALL {
        if arch.ptx_version().is_none() {
            let error = kernels(*arch).expect_err("there is no PTX for it").to_string();
            assert!(
                error.contains(arch.target_feature()) && error.contains("80, 86, 87"),
                "{error}"
            );
        } else if all || sample.contains(arch) {
            let ptx = read(kernels(*arch).unwrap_or_else(|error| panic!("{arch}: {error}")));
            let target = format!("\n.target {}\n", arch.processor());
            assert!(ptx.contains(&target), "{arch}: {}", ptx.lines().take(20).collect::<String>());
            // It asks for the family of 10.0.
            let has = arch.all_target_features().contains(&NvvmArch::Compute100f);
            assert_eq!(ptx.contains(".entry only_of_a_family("), has, "{arch}");
        }
    }
}

#[test]
fn the_compiler_in_use_is_not_newer_than_those_that_were_tried() {
    let toolchain = Toolchain::find().expect("a compiler that can build kernels");
    assert!(
        !toolchain.is_newer_than_tried(),
        "{}: if all other tests pass with it, add its release to TRIED_RELEASES in crates/cuda_builder/src/toolchain.rs",
        toolchain.describe()
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "the proof records this line")]
fn a_build_of_some_kernels_gives_their_ptx_in_a_build_of_all() {
    let all = entries(&read(kernels().build().expect("the kernels compile")));
    // The names of a pattern's kernels begin alike.
    let patterns: BTreeSet<&str> = all
        .keys()
        .map(|kernel| &kernel[..=kernel.find('_').expect("a pattern and a variant")])
        .collect();
    assert!(patterns.len() > 10, "{patterns:?}");
    // Every tenth, unless all are asked for: a build takes a second or two.
    let step = if std::env::var_os("BUILDS_ALL").is_some() { 1 } else { 10 };
    let sample: Vec<&str> = patterns.iter().copied().step_by(step).collect();
    let mut compared = 0;
    for prefix in &sample {
        let some = kernels().only_kernels(*prefix).build().expect("the kernels compile");
        let some = entries(&read(some));
        let expected: Vec<_> =
            all.iter().filter(|(kernel, _)| kernel.starts_with(*prefix)).collect();
        assert!(
            some.iter().eq(expected),
            "the kernels {prefix}* differ from those of the full build"
        );
        compared += some.len();
    }
    if step == 1 {
        assert_eq!(compared, all.len(), "every kernel belongs to a pattern");
    }
    println!("{compared} kernels of {} patterns are alike in both builds", sample.len());

    let error = kernels().only_kernels("no_such_pattern").build().expect_err("no such kernels");
    assert!(error.to_string().contains("begins with `no_such_pattern`"), "{error}");
}

/// A crate `name` with one kernel, which stores what a crate that it uses says, plus a number.
struct Small {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl Small {
    fn new(name: &'static str) -> Small {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
        let small = Small { folder, name };
        let manifest = |name: &str, rest: &str| {
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n{rest}"
            )
        };
        small.write("used/Cargo.toml", &manifest("used", ""));
        let uses =
            "[lib]\nname = \"of_another_name\"\n[dependencies]\nused = { path = \"../used\" }\n";
        small.write(&format!("{name}/Cargo.toml"), &manifest(name, uses));
        small.used_says(71);
        small.kernel_adds(0);
        small
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        std::fs::write(path, text).expect("a writable folder");
    }

    fn used_says(&self, value: u32) {
        let text = format!("#![no_std]\npub fn value() -> u32 {{ {value} }}\n");
        self.write("used/src/lib.rs", &text);
    }

    fn kernel_adds(&self, added: u32) {
        let text = format!(
            "#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n\
             #[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn entry(target: *mut u32) {{\n\
             unsafe {{ target.write(used::value() + {added}) }}\n}}\n"
        );
        self.write(&format!("{}/src/lib.rs", self.name), &text);
    }

    /// The place of intermediate files is the crate's own, but `core` is shared with other builds.
    fn builder(&self, arch: NvvmArch) -> CudaBuilder {
        let path = self.folder.path().join(self.name);
        CudaBuilder::new(path).arch(arch).target_dir(target_dir())
    }

    fn build(&self, arch: NvvmArch) -> String {
        read(self.builder(arch).build().expect("the kernel compiles"))
    }

    /// Returns the time at which each file of bitcode was written.
    fn compiled(&self) -> BTreeMap<PathBuf, SystemTime> {
        let folder = target_dir().join("ptx").join(self.name);
        let files = std::fs::read_dir(folder).expect("the builder made it");
        let files = files.map(|entry| entry.expect("an entry"));
        let bitcode = files.filter(|file| file.path().extension().is_some_and(|name| name == "bc"));
        let time = |file: &std::fs::DirEntry| file.metadata().and_then(|data| data.modified());
        bitcode.map(|file| (file.path(), time(&file).expect("a time"))).collect()
    }
}

#[test]
fn builds_with_other_options_do_not_take_each_others_files() {
    let small = Small::new("two-choices");
    let build = |debug: DebugInfo| {
        let builder = small.builder(NvvmArch::Compute70).debug(debug);
        read(builder.build().expect("the kernel compiles"))
    };
    for _ in 0..2 {
        assert!(build(DebugInfo::LineTables).contains("\t.loc\t"));
        assert!(!build(DebugInfo::None).contains("\t.loc\t"));
    }
}

#[test]
fn what_changed_is_compiled_and_nothing_else() {
    let small = Small::new("what-changed");
    let both = || [NvvmArch::Compute70, NvvmArch::Compute90].map(|arch| small.build(arch));
    let stores = |ptx: &str, value: u32| ptx.contains(&format!(", {value};"));
    assert!(both().iter().all(|ptx| stores(ptx, 71)));
    // The first build made the lock file.
    both();
    let times = small.compiled();
    assert!(both().iter().all(|ptx| stores(ptx, 71)));
    assert_eq!(small.compiled(), times, "nothing changed, and nothing was compiled");

    small.kernel_adds(1);
    assert!(stores(&small.build(NvvmArch::Compute70), 72));
    small.used_says(81);
    assert!(stores(&small.build(NvvmArch::Compute90), 82), "the kernel and what it uses changed");
    assert!(stores(&small.build(NvvmArch::Compute70), 82), "what it uses changed");
    let times = small.compiled();
    both();
    assert_eq!(small.compiled(), times);
}

/// The only kernel of the catalogue with an array in local memory says that it is meant, and its PTX passes that on.
#[test]
fn local_memory_and_spills_that_are_meant_are_marked_in_the_ptx() {
    let ptx = read(kernels().only_kernels("local_memory_").build().expect("it compiles"));
    let marks = "\n// local memory is meant: local_memory_indexed\n// spills to shared memory: local_memory_spilled_shared\n";
    assert!(ptx.ends_with(marks), "{}", &ptx[ptx.len() - 100..]);
}

/// The builder brings what every crate of kernels needs; a crate that says it all the same is not told twice.
#[test]
fn a_crate_may_say_itself_what_the_builder_brings() {
    let small = Small::new("says-it-itself");
    let path = "says-it-itself/src/lib.rs";
    let text = std::fs::read_to_string(small.folder.path().join(path)).expect("it was written");
    small.write(
        path,
        &format!("#![no_std]\n#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx))]\n{text}"),
    );
    assert!(small.build(NvvmArch::Compute70).contains(".entry entry"));
}

/// Builds a crate of kernels with this source, which may use the crate `used_kernels` with that source.
fn build(source: &str, used: &str) -> Result<PathBuf, CudaBuilderError> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
    let cuda_std = root().join("crates/cuda_std").canonicalize().expect("it is there");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a writable folder");
        std::fs::write(path, text).expect("a writable folder");
    };
    let manifest = |name: &str, more: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n{more}\n\
             [dependencies]\ncuda_std = {{ package = \"coalesce-cuda-std\", path = {cuda_std:?} }}\n"
        )
    };
    // By the workspace's profile: what its own kernels use is not compiled anew.
    let uses =
        "used_kernels = { path = \"used\" }\n[profile.release.package.\"*\"]\ndebug = false\n";
    write("Cargo.toml", &(manifest("own_kernels", "[workspace]") + uses));
    write("src/lib.rs", source);
    write("used/Cargo.toml", &manifest("used_kernels", ""));
    write("used/src/lib.rs", used);
    std::fs::copy(root().join("Cargo.lock"), folder.path().join("Cargo.lock"))
        .expect("it is there");
    CudaBuilder::new(folder.path()).target_dir(target_dir()).build()
}

const HEAD: &str = "#![no_std]\nuse cuda_std::prelude::*;\nuse cuda_std::safe::PerThread;\n";

fn error_of(body: &str) -> String {
    let built = build(&format!("{HEAD}{body}"), "#![no_std]\n");
    built.expect_err("the kernels are refused").to_string()
}

#[test]
fn kernels_of_two_crates_may_have_one_name() {
    let kernel = |value: u32| {
        format!(
            "{HEAD}#[kernel(block = 1)]\npub fn mark(mut out: PerThread<u32>) {{\n    \
             if let Some(out) = out.mine() {{ *out = {value}; }}\n}}\n"
        )
    };
    // The crate that is used has to be there for its kernels to be.
    let own = kernel(1) + "pub use used_kernels as used;\n";
    let path = build(&own, &kernel(2)).expect("both compile");
    let ptx = read(path);
    for expected in
        [".entry mark(", ".entry used_kernels_mark(", " own_kernels$mark$", " used_kernels$mark$"]
    {
        assert!(ptx.contains(expected), "{expected}: {ptx}");
    }
}

#[test]
fn two_kernels_of_one_name_in_one_crate_are_told_with_both_places() {
    let kernel = "#[kernel]\npub unsafe fn mark(out: *mut u32) {}\n";
    let body = format!(
        "pub mod a {{\nuse super::*;\n{kernel}}}\npub mod b {{\nuse super::*;\n{kernel}}}\n"
    );
    let error = error_of(&body);
    assert!(
        error.contains("two kernels of `own_kernels` are called `mark`, at lines 12 and 7"),
        "{error}"
    );
}

#[test]
fn an_unsafe_operation_of_a_safe_kernel_needs_the_word_on_the_device_too() {
    let error = error_of(
        "#[kernel(block = 1)]\npub fn reads(x: &[u32], mut out: PerThread<u32>) {\n    let mut value = 0;\n    \
         #[cfg(target_arch = \"nvptx64\")]\n    { value = *x.get_unchecked(1_000_000_000); }\n    \
         #[cfg(not(target_arch = \"nvptx64\"))]\n    { value += x[0]; }\n    \
         if let Some(out) = out.mine() { *out = value; }\n}\n",
    );
    assert!(error.contains("does not compile; rustc's messages are above"), "{error}");
}

#[test]
fn a_safe_kernel_that_reaches_a_barrier_of_whole_warps_is_refused_with_its_line() {
    let error = error_of(
        "fn meet() {\n    thread::sync_threads();\n}\n#[kernel(block = 32)]\npub fn waits(x: &[u32]) {\n    \
         if x[0] > 5 {\n        meet();\n    }\n}\n",
    );
    assert!(
        error.contains("kernel `waits` is a safe function, and reaches `bar.sync` at "),
        "{error}"
    );
    assert!(error.contains("src/lib.rs:10, which may only stand"), "{error}");
}
