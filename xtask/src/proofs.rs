//! Proofs that take too long for CI, as data, and what came of them: `results/proofs.toml`.

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Proof {
    /// Names it on the command line and in the file.
    pub name: &'static str,
    pub shows: &'static str,
    /// Cargo's arguments in the workspace's root, separated by blanks.
    pub command: &'static str,
    /// The command's environment besides `PROOF_INPUTS`, the hash of its inputs, and `PROOF_SECONDS`, when
    /// it should end before it is complete.
    pub environment: &'static [(&'static str, &'static str)],
    /// Folders and files, from the root, on whose contents it depends.
    pub inputs: &'static [&'static str],
    /// The figure is every line of the output that has this in it.
    pub figure: &'static str,
    /// The part of it that CI runs every time.
    pub sample: &'static str,
}

/// The executor, which depends on no other crate of ours.
const EXECUTOR: &[&str] = &["crates/simt", "crates/ptx", "crates/races", "crates/counters"];
/// Whatever a change of a kernel or of a host half builds.
const LOOP: &[&str] = &["crates", "host", "kernels", "xtask", "Cargo.toml", "Cargo.lock"];
/// The course, and what executes its kernels.
const COURSE: &[&str] = &[
    "course",
    "crates/simt",
    "crates/ptx",
    "crates/races",
    "crates/virtual_gpu",
    "crates/cuda_std",
];
/// The course's page: the compiler without a compiler, and what grades.
const COURSE_PAGE: &[&str] = &[
    "course",
    "crates/rust_to_ptx",
    "crates/simt",
    "crates/ptx",
    "crates/races",
    "crates/cuda_std",
];
/// Code that reads files and command lines, and its tests.
const FILES: &[&str] = &[
    "crates/results",
    "crates/report/src/machine_code.rs",
    "crates/gpu_model/src/profile.rs",
    "crates/coalesce/src/measure/axis.rs",
    "tests/fuzz.rs",
];
const REPORT: &[&str] = &[
    "crates/report",
    "crates/results",
    "results/nvidia-h200/reference.json",
    "xtask/src/browser.rs",
];
const ON_A_GPU: &[&str] =
    &["crates", "host", "kernels", "tests/device.rs", "tests/measurement.rs", "Cargo.lock"];

/// Sources of a page's executor, and of what it is compared with.
const PAGE: &[&str] = &[
    "crates/simt",
    "crates/ptx",
    "crates/races",
    "crates/counters",
    "crates/simt_page",
    "book/src/pairs.rs",
    "book/src/compare.js",
];

/// Code that measures, saves and goes on.
const RUNS: &[&str] = &[
    "crates/coalesce/src/measure",
    "crates/coalesce/src/command",
    "crates/results",
    "host/tests/ended_runs.rs",
];
/// Code that writes findings.
const SARIF: &[&str] = &[
    "crates/results/src/sarif.rs",
    "crates/results/src/profile.rs",
    "crates/counters/src/hazard.rs",
    "host/tests/findings.rs",
];
/// Code that measures and compares a fleet.
const FLEET: &[&str] = &[
    "crates/coalesce/src/measure",
    "crates/coalesce/src/command",
    "crates/results",
    "docs/fleet",
    "host/tests/slurm.rs",
];

/// The integration tests of that name which only a proof runs.
macro_rules! ignored_test {
    ($name:literal) => {
        concat!("test --release --test integration -- --ignored --nocapture ", $name)
    };
}

pub const PROOFS: &[Proof] = &[
    Proof {
        name: "page",
        shows: "the executor in WebAssembly answers every launch of the fixtures as the program does, counter by counter",
        command: "xtask playground --check",
        environment: &[],
        inputs: PAGE,
        figure: " answers in WebAssembly equal",
        sample: "all of it",
    },
    Proof {
        name: "killed-builds",
        shows: "a build of kernels that is killed at any of its steps is followed by one that gives the PTX of its sources",
        command: "test --release --package coalesce-cuda-builder --test killed -- --nocapture no_build_after",
        environment: &[],
        inputs: &["crates/cuda_builder"],
        figure: " kinds of killed builds",
        sample: "a third of the steps, another for each commit",
    },
    Proof {
        name: "resume",
        shows: "a run that is killed ten times at random moments and resumed has the result of an unbroken one",
        command: "test --release --workspace --test it -- --nocapture killed_and_resumed",
        environment: &[],
        inputs: RUNS,
        figure: " rows",
        sample: "a third of the kills, which the commit chooses",
    },
    Proof {
        name: "fleet",
        shows: "of four nodes under Slurm, one that is killed, one that is requeued and one that is wrong are named; needs root and slurm-wlm",
        command: "test --release --package host --test it -- --nocapture --ignored nodes_die",
        environment: &[],
        inputs: FLEET,
        figure: "all are named",
        sample: "none of it; the comparison of boards that are planted",
    },
    Proof {
        name: "fuzz",
        shows: "no text makes the parser, the decoder or the executor panic or take much memory or time: 10^8 texts, 10^6 kernels",
        command: "test --release --package coalesce-simt --test fuzz -- --nocapture --ignored the_long_run",
        environment: &[
            ("SIMT_FUZZ_INPUTS", "100000000"),
            ("SIMT_FUZZ_KERNELS", "1000000"),
            ("SIMT_FUZZ_SEED", "20261122"),
            ("SIMT_FUZZ_STATE", concat!(env!("CARGO_MANIFEST_DIR"), "/../target/fuzz/state")),
        ],
        inputs: EXECUTOR,
        figure: " kernels executed, ",
        sample: "300000 texts, always the same",
    },
    Proof {
        name: "fixtures",
        shows: "the executor gives the bits and counters that a GPU gave, in every sweep, tile and request that was recorded",
        command: "test --release --workspace --test simt_it -- --nocapture",
        environment: &[],
        inputs: EXECUTOR,
        figure: " passed; ",
        sample: "a third of the sweeps, of the tiles of bytes and of the requests of large launches, which the commit chooses",
    },
    Proof {
        name: "litmus",
        shows: "of every history of up to four steps by two or three threads only what races by the axioms of the PTX memory model is accused",
        command: "test --release --package coalesce-races --test histories -- --nocapture --ignored axioms::",
        environment: &[],
        inputs: &["crates/races"],
        figure: "that does not race by the axioms",
        sample: "200000 drawn histories of up to eight steps, with barriers and scopes",
    },
    Proof {
        name: "fuzz-files",
        shows: "no result file, profile, listing of machine code or command line makes its reader panic or take long: 10^6 of each",
        command: "test --release --test integration -- --nocapture fuzz::nothing_that_is_read",
        environment: &[("FILES_FUZZ_INPUTS", "1000000")],
        inputs: FILES,
        figure: " inputs of each kind",
        sample: "5000 of each, always the same",
    },
    Proof {
        name: "sanitizers",
        shows: "the executor's unsafe code passes its tests under AddressSanitizer",
        // The runtime comes with the compiler; the standard library is the compiler's own, so what it does with memory
        // inside is not seen. Miri sees more (`cargo +nightly miri test -p coalesce-simt`, where somebody has it): not run here.
        command: "test --release --package coalesce-simt --package unit_tests --target x86_64-unknown-linux-gnu \
            --target-dir target/sanitizers --test simt_it --test fuzz -- --nocapture --test-threads 1 sanitized:: corpus:: \
            hazards:: threads:: clusters:: smoke:: errors:: seeds mutations coverage_guides random_bytes",
        environment: &[
            ("RUSTC_BOOTSTRAP", "1"),
            ("RUSTFLAGS", "-Zsanitizer=address"),
            ("SIMT_SANITIZER", "address"),
        ],
        inputs: EXECUTOR,
        figure: "test result: ok",
        sample: "nothing: it builds the executor anew, for some minutes",
    },
    Proof {
        name: "partial-builds",
        shows: "a build of one pattern's kernels gives the PTX of a build of all, for each pattern",
        command: "test --release --package coalesce-cuda-builder --test builds -- --nocapture a_build_of_some_kernels",
        environment: &[("BUILDS_ALL", "1")],
        inputs: &["crates/cuda_builder/src", "crates/ptx/src", "crates/cuda_std", "kernels"],
        figure: " are alike in both builds",
        sample: "every tenth pattern",
    },
    Proof {
        name: "course",
        shows: "the grader of the course rejects every wrong solution that changing one thing of a right one gives",
        command: "test --release --workspace --test proofs -- --nocapture --include-ignored",
        environment: &[],
        inputs: COURSE,
        figure: " wrong solutions of ",
        sample: "a third of the tasks, which the commit chooses",
    },
    Proof {
        name: "class",
        shows: "a class of sixty is graded as it deserves: one submission is broken, one hostile, one late, and no other is touched by them",
        command: "test --release --workspace --test session -- --nocapture --include-ignored a_class_of_sixty a_host_file",
        environment: &[],
        inputs: COURSE,
        figure: " submissions of ",
        sample: "a third of what a host file tries; a class of six, with unchanged, missing, linked and hostile files",
    },
    Proof {
        name: "cuda-course",
        shows: "each kernel task in CUDA C++, compiled by nvcc, fails as it is given and passes solved, at the stages of the Rust file; needs nvcc, on PATH or named in COALESCE_NVCC",
        command: "test --release --workspace --test session -- --nocapture --ignored twins_in_cuda",
        environment: &[],
        inputs: COURSE,
        figure: " tasks in CUDA C++ fail and pass",
        sample: "that each task has its twin, with its regions and its kernel",
    },
    Proof {
        name: "course-page",
        shows: "every kernel task's files, compiled by the page, have rustc's verdicts, findings and counts, and `learn`'s words",
        command: "test --release --workspace --test front_end -- --nocapture --ignored --skip in_cuda",
        environment: &[],
        inputs: COURSE_PAGE,
        figure: " files are equal to rustc's",
        sample: "every seventh file and every sixth task",
    },
    Proof {
        name: "cuda-page",
        shows: "every kernel task's files in CUDA C++, compiled by the page, have nvcc's verdicts, findings and counts; needs nvcc, on PATH or named in COALESCE_NVCC",
        command: "test --release --workspace --test front_end -- --nocapture --ignored all_kernels_in_cuda",
        environment: &[],
        inputs: COURSE_PAGE,
        figure: " files in CUDA C++ are equal to nvcc's",
        sample: "that each of these files fails and passes as the Rust file does",
    },
    Proof {
        name: "loop-times",
        shows: "one changed line is verified in less than 5 s, one changed number in less than 10 s",
        command: "xtask loop-times --check",
        environment: &[],
        inputs: LOOP,
        figure: " s median of ",
        sample: "nothing: times on a shared machine say little",
    },
    Proof {
        name: "executor-speed",
        shows: "hazard checks leave the executor at least a third of its speed, on each workload, with one thread and two",
        command: "xtask executor-speed --against b847889",
        environment: &[],
        inputs: EXECUTOR,
        figure: " times slower with checks",
        sample: "a looser bound, with one thread",
    },
    Proof {
        name: "new-from-git",
        shows: "a project by `coalesce new` from a revision of a repository passes its tests outside of the checkout",
        command: ignored_test!("revision::a_project"),
        environment: &[],
        inputs: &["crates", "rust-toolchain.toml", "Cargo.lock"],
        figure: "from a revision: tested after ",
        sample: "the same project from this checkout, and what is written for a revision",
    },
    Proof {
        name: "install",
        shows: "`cargo install --git` makes a program that works by itself, with and without a compiler for kernels",
        command: ignored_test!("revision::what_cargo_installs"),
        environment: &[],
        inputs: &["crates", "host", "kernels", "rust-toolchain.toml", "Cargo.lock"],
        figure: "installed from a revision, ",
        sample: "nothing: each part is tested in the checkout",
    },
    Proof {
        name: "platforms",
        shows: "the program builds for Windows, aarch64 Linux and macOS; tests, verification and counts are right under Wine and QEMU",
        command: "xtask platforms",
        environment: &[],
        inputs: &["crates", "host", "kernels", "Cargo.toml", "Cargo.lock"],
        figure: "platform ",
        sample: "nothing: three builds of everything; results/platforms.md has the table",
    },
    Proof {
        name: "wheel",
        shows: "`pip install` of the wheel brings the program, its libraries and the module, which pass its tests in a fresh environment",
        command: "xtask wheel --check",
        environment: &[],
        inputs: &[
            "crates",
            "host",
            "kernels",
            "xtask/src/task/wheel.rs",
            "Cargo.toml",
            "Cargo.lock",
        ],
        figure: " installed in a fresh environment",
        sample: "the module's tests without pip and NumPy, and what a wheel holds",
    },
    Proof {
        name: "packages",
        shows: "every published library builds from its package, and a library with kernels is used by path and from its package, without a variable, cust or, there, a compiler of kernels",
        command: ignored_test!("packages::a_library"),
        environment: &[],
        inputs: &["crates", "tests/packages.rs", "rust-toolchain.toml", "Cargo.toml", "Cargo.lock"],
        figure: " packages built from what they hold",
        sample: "each package has the files that its library reads, and names what can be published",
    },
    Proof {
        name: "sarif",
        shows: "what run, explain and verify write by --sarif is valid by the schema of SARIF 2.1.0, which a library of others reads",
        command: "test --release --package host --test it -- --nocapture --ignored files_are_of_the_schema",
        environment: &[],
        inputs: SARIF,
        figure: " are valid by the schema of SARIF",
        sample: "the parts of a file that the standard and its readers ask for",
    },
    Proof {
        name: "report",
        shows: "every page of the report fits and asks for nothing in a browser",
        command: "xtask report --check-in-browser --output target/report results/nvidia-h200/reference.json",
        environment: &[],
        inputs: REPORT,
        figure: "pages",
        sample: "all of it",
    },
    Proof {
        name: "predictions",
        shows: "an H100 that nothing was fitted to is predicted from its own calibration: order and errors of all patterns",
        command: ignored_test!("other_devices::an_h100"),
        environment: &[],
        inputs: &[
            "crates/simt",
            "crates/ptx",
            "crates/races",
            "crates/counters",
            "crates/gpu_model",
            "crates/virtual_gpu",
            "host",
            "kernels",
            "results/nvidia-h100",
        ],
        figure: "an H100: ",
        sample: "three runs of an H200, with bounds for each and for each row of one",
    },
    Proof {
        name: "gpu",
        shows: "every variant is correct at every size on a GPU, and measuring notices what is planted",
        command: ignored_test!("device::"),
        environment: &[],
        inputs: ON_A_GPU,
        figure: " correct, ",
        sample: "the same on the virtual device, with the outputs of the last run on a GPU",
    },
];

#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Proved {
    /// The lines of its output that say how much was shown.
    pub figure: String,
    /// The day, as 2026-11-22.
    pub date: String,
    /// SHA-256 over its inputs, see [`hash`].
    pub inputs: String,
}

/// The outcomes of the proofs, by name.
pub type Record = BTreeMap<String, Proved>;

/// The file of what came of the proofs.
pub const FILE: &str = "results/proofs.toml";
const HEADER: &str = "# Written by `cargo xtask prove NAME`. `inputs` is a hash over the contents of what the proof depends on.\n\n";

pub fn named(name: &str) -> Result<&'static Proof> {
    PROOFS.iter().find(|proof| proof.name == name).with_context(|| {
        format!("there is no proof `{name}`: `cargo xtask prove --list` names all")
    })
}

/// Returns what the text of the file says.
///
/// # Errors
/// It is not such a file, or names a proof that there is not.
pub fn parse(text: &str) -> Result<Record> {
    let record: Record = toml::from_str(text).with_context(|| format!("{FILE} is malformed"))?;
    for (name, proved) in &record {
        named(name).with_context(|| format!("{FILE} is wrong"))?;
        let is_hash =
            proved.inputs.len() == 64 && proved.inputs.bytes().all(|b| b.is_ascii_hexdigit());
        let digits = proved.date.split('-').map(|part| part.parse::<u32>().map(|_| part.len()));
        if !is_hash || !digits.eq([Ok(4), Ok(2), Ok(2)]) || proved.figure.is_empty() {
            bail!(
                "{FILE} is malformed: `{name}` needs a figure, a date such as 2026-11-22 and a hash"
            );
        }
    }
    Ok(record)
}

/// The record as the text of the file.
pub fn text(record: &Record) -> Result<String> {
    Ok(format!("{HEADER}{}", toml::to_string(record)?))
}

/// Returns what the file says; nothing when there is none yet.
pub fn load(root: &Path) -> Result<Record> {
    match std::fs::read_to_string(root.join(FILE)) {
        Ok(text) => parse(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Record::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {FILE}")),
    }
}

/// Why a proof does not hold for this checkout; nothing when it does.
pub fn staleness(root: &Path, record: &Record, proof: &Proof) -> Result<Option<String>> {
    Ok(match record.get(proof.name) {
        None => Some("it never ran".to_owned()),
        Some(proved) if proved.inputs != hash(root, proof.inputs)? => {
            Some(format!("{} has changed since {}", proof.inputs.join(" or "), proved.date))
        }
        Some(_) => None,
    })
}

/// SHA-256 over the paths and contents of files and of all files below folders.
pub fn hash(root: &Path, inputs: &[&str]) -> Result<String> {
    let mut files = Vec::new();
    for input in inputs {
        collect(&root.join(input), &mut files)?;
    }
    files.sort();
    let mut all = Sha256::new();
    for file in files {
        let contents =
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let path = file.strip_prefix(root).unwrap_or(&file);
        all.update(path.to_string_lossy().replace('\\', "/"));
        all.update([0]);
        all.update(Sha256::digest(contents));
    }
    Ok(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        let cannot = || format!("cannot read {}", path.display());
        for entry in std::fs::read_dir(path).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            let name = entry.file_name();
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                collect(&entry.path(), files)?;
            }
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
