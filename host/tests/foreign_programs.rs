//! `coalesce run` and `coalesce explain FILE.ptx`: a program and kernels that know nothing of this workspace.

use crate::program::*;
use results::{AdviceKind, ProgramProfile};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub const PTX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/program.ptx");
/// One kernel that runs, and one that has an instruction which does not.
const COLUMN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/column.ptx");

/// The program, compiled once and linked to our library as to NVIDIA's, and the folder that has the library.
pub fn compiled() -> &'static (tempfile::TempDir, PathBuf) {
    static COMPILED: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let built = std::env::current_exe().expect("a test knows where it is");
        let built = built.with_file_name("libvirtual_libcuda.so");
        for name in ["libcuda.so", "libcuda.so.1"] {
            std::os::unix::fs::symlink(&built, folder.path().join(name)).expect("a new folder");
        }
        let program = folder.path().join("program");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign/program.c");
        let mut compiler = Command::new("cc");
        compiler.arg("-o").arg(&program).arg(source).arg("-L").arg(folder.path()).arg("-lcuda");
        let compiled = compiler.output().expect("a C compiler, as Rust's linker is one");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        (folder, program)
    })
}

/// The program in one of its modes, under `coalesce run` with these options.
fn run(options: &[&str], mode: &str) -> Output {
    let mut program = program(&[&["run"], options, &["--"]].concat());
    program.arg(&compiled().1).args([PTX, mode]).output().expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

#[test]
fn what_a_program_does_wrong_is_found_with_its_line_and_fails_the_run() {
    for (mode, part) in [
        ("race", "HAZARD SharedRace: conflicting accesses to shared address"),
        ("race", "program.cu:11"),
        ("outside", "(program.cu:20) of kernel `outside`"),
        ("leak", "Leak: at exit: 256 bytes of device memory"),
    ] {
        let output = run(&["--check"], mode);
        assert_eq!(code(&output), 4, "{mode}: {}", said(&output));
        assert!(said(&output).contains(part), "{mode}: {}", said(&output));
    }
    let clean = run(&["--check"], "clean");
    assert_eq!(code(&clean), 0, "{}", said(&clean));
    assert!(said(&clean).contains("Checked for hazards: none."), "{}", said(&clean));
}

#[test]
fn only_what_is_asked_for_fails_the_run() {
    for (options, mode, expected) in [
        (&["--check", "--fail-on", "none"][..], "outside", 8),
        (&["--check", "--fail-on", "leaks"], "race", 0),
        (&["--fail-on", "hazards"], "leak", 0),
        (&["--fail-on", "leaks"], "leak", 4),
        (&[], "outside", 8),
    ] {
        let output = run(options, mode);
        assert_eq!(code(&output), expected, "{options:?} {mode}: {}", said(&output));
    }
}

#[test]
fn a_program_that_forks_is_written_once_and_one_that_is_killed_up_to_there() {
    let forked = said(&run(&[], "fork"));
    assert_eq!(forked.matches("Kernel `twice`").count(), 1, "{forked}");
    let killed = run(&[], "killed");
    assert_eq!(code(&killed), 128 + 6);
    assert!(said(&killed).contains("Kernel `twice`"), "{}", said(&killed));
    assert!(said(&killed).contains("Signal 6 ended the program"), "{}", said(&killed));
}

/// Expects a sentence on what may not be written down, beside that no kernel was recorded.
#[test]
fn a_program_that_leaves_its_exit_handlers_out_is_shown_up_to_there() {
    let cut_off = |output: &Output| said(output).contains("a tenth of a second before is shown");
    let vanished = run(&[], "vanishes");
    assert_eq!(code(&vanished), 3);
    assert!(said(&vanished).contains("without its exit handlers"), "{}", said(&vanished));
    assert!(cut_off(&vanished) && cut_off(&run(&[], "killed")), "{}", said(&vanished));
    assert!(!said(&vanished).contains("not awaited"), "{}", said(&vanished));
    let forgot = run(&[], "forgets");
    assert_eq!(code(&forgot), 3);
    let sentence = "2 launches, the last of `twice`, were enqueued and not awaited";
    assert!(said(&forgot).contains(sentence), "{}", said(&forgot));
    for mode in ["clean", "fork", "leak"] {
        let output = run(&[], mode);
        assert!(!cut_off(&output), "{mode}: {}", said(&output));
    }
}

/// Starts `coalesce run` on a program that sleeps once it has launched a kernel, and waits until that is written down.
pub fn sleeping(folder: &Path) -> (Child, PathBuf) {
    let mut run = program(&["run", "--"]);
    run.arg(&compiled().1).args([PTX, "sleeps"]).env("TMPDIR", folder);
    // SAFETY: between fork and exec the child only says that signals end it, which background jobs and `nohup` ignore.
    unsafe {
        run.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
    let child = run.stderr(Stdio::piped()).spawn().expect("the program starts");
    let begin = Instant::now();
    let place = loop {
        let written = |place: &PathBuf| {
            let files = std::fs::read_dir(place).into_iter().flatten().flatten();
            let mut texts = files.map(|file| std::fs::read_to_string(file.path()));
            texts.any(|text| text.is_ok_and(|text| text.contains("\"twice\"")))
        };
        let places = std::fs::read_dir(folder).expect("ours").flatten().map(|entry| entry.path());
        if let Some(place) = places.into_iter().find(written) {
            break place;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "nothing is written");
        std::thread::sleep(Duration::from_millis(20));
    };
    (child, place)
}

#[test]
fn a_run_that_is_asked_to_end_shows_what_there_is_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, number) in [("-TERM", 15), ("-HUP", 1)] {
        let (child, place) = sleeping(folder.path());
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(code(&output), 128 + number, "{}", said(&output));
        assert!(said(&output).contains("Kernel `twice`"), "{}", said(&output));
        assert!(said(&output).contains(&format!("Signal {number} ended the program")));
        assert!(!place.exists(), "the folder is gone");
    }
}

/// An interrupt goes to the program, and ends the kernel under way; a signal that ends the program leaves it in the report.
#[test]
fn a_launch_that_a_signal_ends_is_named() {
    let ended = "(program.cu:25) of kernel `counts`";
    for (mode, name, expected, part) in [
        ("patient", "-INT", 130, "still running after"),
        // The signal ends the program, or the program ends first because its kernel failed.
        ("counts", "-INT", 130, ""),
        (
            "counts",
            "-TERM",
            143,
            "the program ended before this launch did: kernel `counts` after ",
        ),
    ] {
        let mut run = program(&["run", "--"]);
        run.arg(&compiled().1).args([PTX, mode]).stderr(Stdio::piped());
        let child = run.spawn().expect("the program starts");
        std::thread::sleep(Duration::from_secs(3));
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
        let output = child.wait_with_output().expect("it ends");
        let text = said(&output);
        assert_eq!(code(&output), expected, "{mode} {name}: {text}");
        assert!(text.contains(part) && text.contains(ended), "{mode} {name}: {text}");
        assert!(text.contains("Kernel `twice`"), "what came before is shown: {text}");
    }
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut killed, left) = sleeping(folder.path());
    killed.kill().expect("it can be killed");
    killed.wait().expect("it ends");
    assert!(left.exists());
    let next = || program(&["run", "--", "true"]).env("TMPDIR", folder.path()).status();
    let no_kernel = Some(5);
    assert_eq!(next().expect("the program starts").code(), no_kernel);
    assert!(!left.exists(), "nobody uses it");
    let (mut lives, used) = sleeping(folder.path());
    assert_eq!(next().expect("the program starts").code(), no_kernel);
    assert!(used.exists(), "a run uses it");
    lives.kill().expect("it can be killed");
    lives.wait().expect("it ends");
}

#[test]
fn a_kernel_that_never_ends_is_ended_by_a_limit_or_an_interrupt() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("endless.ptx");
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry endless() {\n\
                .reg .b64 %rd<2>;\n.reg .pred %p;\n\
                mov.u64 %rd1, 0;\nL: add.u64 %rd1, %rd1, 1;\nsetp.ne.u64 %p, %rd1, 0;\n@%p bra L;\nret;\n}\n";
    std::fs::write(&file, text).expect("a writable folder");
    let launch = ["explain", file.to_str().expect("plain"), "--grid=1", "--block=32"];
    let output = coalesce(&[&launch[..], &["--limit=100000"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 4, "{text}{}", said(&output));
    assert!(text.contains("still running after 100000 warp-instructions"), "{text}");

    let mut explain = program(&launch);
    let child = explain.stdout(Stdio::piped()).spawn().expect("the program starts");
    std::thread::sleep(Duration::from_secs(1));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 130, "{text}");
    assert!(text.contains("still running after") && text.contains("endless"), "{text}");

    let output = run(&["--limit", "1"], "clean");
    assert!(said(&output).contains("still running after 1 warp-inst"), "{}", said(&output));
    let output = coalesce(&["verify", "coalescing", "--limit=1", "--device=virtual"]);
    assert_eq!(code(&output), 1);
    assert!(said(&output).contains("still running after 1 warp-inst"), "{}", said(&output));
}

#[test]
fn a_profile_that_cannot_be_written_where_it_should_is_kept_elsewhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = format!("{COLUMN}:column");
    let options = ["--arg", "n=5", "--json", "/dev/full"];
    let mut full = program(&[&["explain", &file], &COLUMN_LAUNCH[..], &options].concat());
    full.env("TMPDIR", folder.path());
    let [message, _] = assert_program_fails(&mut full, 1, "cannot write /dev/full: No space");
    let place = message.split(" instead: ").next().and_then(|text| text.split(" is in ").nth(1));
    ProgramProfile::load(place.expect("a place is named").as_ref()).expect("a profile");
    // A file that reaches the limit of the shell is an error, and no signal.
    let json = folder.path().join("out.json").display().to_string();
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "ulimit -f 1; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_coalesce"),
        "explain",
    ]);
    shell.arg(&file).args(COLUMN_LAUNCH).args(["--arg", "n=5", "--json", &json]);
    assert_program_fails(&mut shell, 1, "File too large");
}

#[test]
fn what_a_kernel_printed_before_its_trap_is_on_the_terminal() {
    let output = run(&[], "says");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n", "{}", said(&output));
    assert!(said(&output).contains("trap by `trap`"), "{}", said(&output));
}

#[test]
fn files_have_what_the_terminal_has_and_a_filter_leaves_kernels_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [json, trace, pages] = ["p.json", "t.json", "pages"].map(|name| folder.path().join(name));
    let text = |path: &Path| path.to_str().expect("plain").to_owned();
    let files = [text(&json), text(&trace), text(&pages)];
    let options = ["--json", &files[0], "--trace", &files[1], "--report", &files[2]];
    let output = run(&[&options[..], &["--kernel", "rac", "--check"]].concat(), "race");
    assert_eq!(code(&output), 4, "{}", said(&output));
    let profile = ProgramProfile::load(&json).expect("a profile");
    let names: Vec<&str> = profile.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["race"]);
    assert_eq!(profile.kernels[0].counters.shared_load.requests, 2);
    let trace = std::fs::read_to_string(trace).expect("it was written");
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    assert!(events.iter().any(|event| event["name"] == "twice"), "{events:?}");
    let none = run(&["--kernel", "none"], "race");
    assert_eq!(code(&none), 5, "{}", said(&none));
    assert!(said(&none).contains("No kernel whose name has `none` ran."), "{}", said(&none));
    let page = std::fs::read_to_string(pages.join("index.html")).expect("it was written");
    assert!(page.contains("SharedRace") && page.contains("<svg"), "{page}");
}

#[test]
fn variables_do_the_same_without_the_wrapper() {
    let (folder, program) = compiled();
    let json = folder.path().join("alone.json");
    let alone = |variables: &[(&str, &str)], mode: &str| {
        let mut program = Command::new(program);
        program.args([PTX, mode]).env("LD_LIBRARY_PATH", folder.path());
        let output = program.envs(variables.iter().copied()).output();
        output.expect("the program starts")
    };
    let file = json.to_str().expect("plain");
    let output = alone(&[("COALESCE_CHECK", "all"), ("COALESCE_JSON", file)], "race");
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("HAZARD SharedRace"), "{}", said(&output));
    assert_eq!(ProgramProfile::load(&json).expect("a profile").kernels.len(), 2);
    let output = alone(&[("COALESCE_CHECK", "all"), ("COALESCE_FAIL_ON", "hazards")], "race");
    assert_eq!(code(&output), 4, "{}", said(&output));
    for (variable, value, part) in [
        ("COALESCE_CHECK", "some", "COALESCE_CHECK is `some`: write all, no-volatile or none"),
        ("COALESCE_SCHEDULES", "0", "COALESCE_SCHEDULES is `0`: write 1 to 1000"),
        ("COALESCE_FAIL_ON", "some", "`some` is none of hazards, misuse, leaks, any and none"),
        ("COALESCE_JSON", "/none/here.json", "COALESCE_JSON is wrong: cannot write"),
        ("COALESCE_REPORT", "/none/here", "COALESCE_REPORT is wrong: cannot write"),
    ] {
        let output = alone(&[(variable, value)], "clean");
        // The program sees no device.
        assert_eq!(code(&output), 3, "{}", said(&output));
        assert!(said(&output).contains(part), "{}", said(&output));
    }
}

#[test]
fn a_run_that_cannot_be_is_one_sentence() {
    let fails = |arguments: &[&str], code, part: &str| {
        let [message, _] = assert_program_fails(&mut program(arguments), code, part);
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    };
    fails(&["run", "--", "/none/program"], 1, "cannot start `/none/program`");
    fails(&["run", "--json", "/none/a.json", "--", "true"], 2, "cannot write /none/a.json");
    fails(&["run", "--report", "/none/a", "--", "true"], 2, "cannot write /none/a");
    fails(&["run", "--device", "gpu", "--", "true"], 2, "needs no wrapper: start `true` by itself");
    let mut unknown = program(&["run", "--", "true"]);
    unknown.env("COALESCE_VIRTUAL_LIBCUDA", "/none/libcuda.so.1");
    assert_program_fails(&mut unknown, 2, "COALESCE_VIRTUAL_LIBCUDA names /none/libcuda.so.1");
    let mut unknown = program(&["run", "--", "true"]);
    unknown.env("COALESCE_VIRTUAL_LIBCUDART", "/none/libcudart.so");
    assert_program_fails(&mut unknown, 2, "COALESCE_VIRTUAL_LIBCUDART names /none/libcudart.so");
    // A program that does not use the driver runs as ever.
    let mut other = program(&["run", "--", "false"]);
    let output = other.output().expect("the program starts");
    assert_eq!(code(&output), 1);
    assert!(said(&output).contains("`false` never loaded libcuda.so.1"), "{}", said(&output));
}

/// A program whose file is like that of one which nvcc made: with a section of fat binaries, a text, and a library that it is linked to.
fn like_of_nvcc(folder: &Path, name: &str, fat: &[u8], text: &str, library: &str) -> String {
    let place = |name: &str| folder.join(name).display().to_string();
    let bytes: Vec<String> = fat.iter().map(u8::to_string).collect();
    let source = format!(
        "__attribute__((section(\".nv_fatbin\"), aligned(8))) const unsigned char fat[] = {{ {} }};\n\
         const char text[] = \"{text}\";\nint __cudaRegisterFunction(void);\n\
         int main(void) {{ return text[0] == fat[0] ? 9 : __cudaRegisterFunction(); }}\n",
        bytes.join(", ")
    );
    std::fs::write(place("main.c"), source).expect("a writable folder");
    std::fs::write(place("f.c"), "int __cudaRegisterFunction(void) { return 7; }\n")
        .expect("a writable folder");
    let cc = |arguments: &[&str]| {
        let output = Command::new("cc").args(arguments).output().expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (shared, soname) = (place(library), format!("-Wl,-soname,{library}"));
    cc(&["-shared", "-fPIC", "-o", &shared, &place("f.c"), &soname]);
    let program = place(name);
    cc(&["-O1", "-o", &program, &place("main.c"), &shared, "-Wl,-rpath,$ORIGIN"]);
    let stripped = Command::new("strip").args(["-s", &program]).status();
    assert!(stripped.expect("it comes with the linker").success());
    program
}

#[test]
fn what_cannot_run_by_our_runtime_is_said_before_it_starts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let with_ptx = include_bytes!("../../crates/virtual_gpu/fixtures/twice_plain.fatbin");
    // As if the PTX in it were machine code.
    let mut without_ptx = *with_ptx;
    without_ptx[16] = 2;
    let runtime = "cudaLaunchKernel_ptsz";
    for (name, fat, text, library, expected, part) in [
        (
            "static",
            with_ptx,
            runtime,
            "libf.so",
            2,
            "with `-cudart shared` (nvcc) or CUDA_RUNTIME_",
        ),
        ("machine", &without_ptx, "", "libcudart.so.13", 2, "are machine code without PTX"),
        ("old", with_ptx, "", "libcudart.so.11.0", 2, "the runtime of CUDA 11 (libcudart.so.11)"),
        ("blas", with_ptx, "", "libcublas.so.13", 7, "is linked to cuBLAS: the kernels there are"),
        // A fat binary of a program that uses the driver API alone.
        ("driver", with_ptx, "", "libf.so", 7, "never loaded libcuda.so.1"),
    ] {
        let made = like_of_nvcc(folder.path(), name, fat, text, library);
        let output = program(&["run", "--", &made]).output().expect("the program starts");
        assert_eq!(code(&output), expected, "{name}: {}", said(&output));
        assert!(said(&output).contains(part), "{name}: {}", said(&output));
    }
    let on_gpu = |name: &str, part: &str| {
        let made = folder.path().join(name).display().to_string();
        assert_program_fails(&mut program(&["run", "--device", "gpu", "--", &made]), 2, part);
    };
    on_gpu("static", "carries NVIDIA's own CUDA runtime");
    on_gpu("driver", "needs no wrapper");
}

/// A kernel of `column.ptx` on 64 blocks of 32 x 32 threads.
const COLUMN_LAUNCH: [&str; 8] = [
    "--grid",
    "64",
    "--block",
    "32x32",
    "--arg",
    "target:f32*64Ki",
    "--arg",
    "source:f32*2Mi=random",
];

fn explain(kernel: &str, options: &[&str]) -> Output {
    let file = format!("{COLUMN}{kernel}");
    coalesce(&[&["explain", &file], options].concat())
}

#[test]
fn a_kernel_of_any_compiler_is_explained() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [json, pictures] = ["column.json", "pictures"].map(|name| folder.path().join(name));
    let [file, pictures] = [&json, &pictures].map(|path| path.to_str().expect("plain"));
    let options = ["--arg", "n=5", "--check", "--json", file, "--svg", pictures];
    let output = explain(":column", &[&COLUMN_LAUNCH[..], &options].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{text}{}", said(&output));
    for part in [
        "Kernel `column(float*, float const*, int)`",
        "ld.shared.f32      2048                                             65536           63488",
        "Promised: sectors per request from 32 to 4.",
        "pad each row of 32 words by 1: the request then takes 1",
        "this gains next to nothing before there is less of requests to L2.",
        "Measured in: transpose/padded. Exercise of the course: rows_to_lanes.",
        "Measured in: transpose/padded. Exercise of the course: pad_the_tile.",
        "Checked for hazards: none.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let profile = ProgramProfile::load(&json).expect("a profile");
    let kinds: Vec<AdviceKind> = profile.advice.iter().map(|advice| advice.kind).collect();
    // What was copied is in L2, whose requests take longer than the bank conflicts.
    assert_eq!(kinds, [AdviceKind::StridedAccess, AdviceKind::BankConflict]);
    let drawn = std::fs::read_to_string(folder.path().join("pictures/_Z6columnPfPKfi.svg"));
    assert!(drawn.expect("it was written").contains("<svg"));
}

#[test]
fn kernels_are_listed_and_only_the_one_that_cannot_run_is_refused() {
    let output = explain("", &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("column(float*, float const*, int)\n  --arg target: u64"), "{text}");
    assert!(text.contains("later\n") && text.contains("cannot be executed: line"), "{text}");
    let fails = |kernel: &str, options: &[&str], part: &str| {
        let file = format!("{COLUMN}{kernel}");
        let mut program = program(&[&["explain", &file], options].concat());
        let [message, _] = assert_program_fails(&mut program, 2, part);
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    };
    fails(":later", &["--grid", "1", "--block", "1"], "kernel `later` cannot be executed: line");
    fails(":none", &COLUMN_LAUNCH, "the PTX has no kernel `none`; it has `column(");
    fails("", &COLUMN_LAUNCH, "the PTX has several kernels");
    fails(
        ":column",
        &COLUMN_LAUNCH,
        "has 3 parameters (target: u64, source: u64, n: u32) and 2 arguments",
    );
    let named = |[a, b, c]: [&'static str; 3]| {
        ["--grid", "4", "--block", "32x32", "--arg", a, "--arg", b, "--arg", c]
    };
    fails(
        ":column",
        &named(["source:f32*1Mi", "t:f32*4Ki", "n=5"]),
        "argument `source` is number 1 and the parameter of this name number 2",
    );
    fails(
        ":column",
        &named(["target:f32*4Ki", "target:f32*1Mi", "n=5"]),
        "argument `target` is given twice",
    );
    let wide = [&COLUMN_LAUNCH[..], &["--arg", "n:u64=5"]].concat();
    fails(":column", &wide, "does not fit the parameter `n`, which is u32: it has 8 bytes");
    let gpu = [&COLUMN_LAUNCH[..], &["--arg", "n=5", "--device", "gpu"]].concat();
    fails(":column", &gpu, "a GPU counts nothing");
    assert_fails(&["explain", "/none/my.ptx"], 2, "cannot read /none/my.ptx");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a new file");
        path.to_str().expect("plain").to_owned()
    };
    for (odd, reason) in [
        ("/dev/null", "/dev/null is a device of the system"),
        ("/dev", "/dev is a folder"),
        (&file("empty.ptx", b""), "has no line with `.version`"),
        (&file("notes", b"a note\n"), "has no line with `.version`"),
        (&file("cubin.ptx", b"\x7fELF\xff"), "is no text"),
    ] {
        let [message, _] = assert_program_fails(&mut program(&["explain", odd]), 2, reason);
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    }
    assert_fails(&["explain", "transpose", "--grid", "1", "--block", "1"], 2, "is no PTX file");
}

#[test]
fn what_an_array_holds_after_a_launch_is_saved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let file = place("thrice.ptx");
    let text = ".version 7.0\n.target sm_90\n.address_size 64\n.visible .entry thrice(.param .u64 out, .param .u32 n) {\n\
                .reg .b32 %r<3>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.lo.u32 %r1, %r1, 3, 1;\n\
                mov.u32 %r2, %tid.x; mad.wide.u32 %rd1, %r2, 4, %rd1; st.global.u32 [%rd1], %r1; ret;\n}\n";
    std::fs::write(&file, text).expect("a writable folder");
    let explain = |more: &[&str]| {
        let launch = ["explain", &file, "--grid=1", "--block=32", "--arg=out:u32*32", "--arg=n=1"];
        coalesce(&[&launch[..], more].concat())
    };
    let target = place("out.bin");
    for more in [&["--cooperative"][..], &["--cluster=1"], &["--check", "--schedules=9"]] {
        let output = explain(&[&[&format!("--save=out={target}")[..]], more].concat());
        assert_eq!(code(&output), 0, "{}", said(&output));
        let bytes = std::fs::read(&target).expect("it was saved");
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        assert!(words.eq((0..32).map(|thread| 3 * thread + 1)), "{more:?}");
        std::fs::remove_file(&target).expect("it is there");
    }
    for (more, part) in [
        (&["--save=in=x"][..], "there is no array `in` to save: name one of `out`"),
        (&["--save=n=x"], "there is no array `n` to save: name one of `out`"),
        (&["--save=out"], "names no array and file: write ARRAY=FILE"),
        (&["--save=out=/none/here"], "/none"),
        (&["--save=out=/dev/full"], "/dev/full"),
        (&["--check", "--schedules=0"], "0 is not in 1..=1000"),
        (&["--check=some"], "invalid value 'some'"),
        (&["--cluster=3"], "cannot be divided into clusters of 3"),
    ] {
        let output = explain(more);
        assert_ne!(code(&output), 0, "{more:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{more:?}: {}", said(&output));
    }
}

#[test]
fn a_kernel_that_fails_says_where() {
    let small = [
        "--grid",
        "64",
        "--block",
        "32x32",
        "--arg",
        "target:f32*1Ki",
        "--arg",
        "source:f32*2Mi",
        "--arg",
        "n=5",
    ];
    let output = explain(":column", &small);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 4, "{text}");
    assert!(text.contains("FAULT ") && text.contains("past the end of the allocation"), "{text}");
    // An empty array is one that has no element to load.
    let empty = small.map(|text| if text.starts_with("target") { "target:f32*0" } else { text });
    let output = explain(":column", &empty);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(code(&output) == 4 && text.contains("FAULT "), "{text}");
    // What the driver refuses, it refuses here: no line of ours says where.
    let wide = small.map(|text| if text == "32x32" { "32x64" } else { text });
    let output = explain(":column", &wide);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("cannot be launched") && !text.contains("explain.rs"), "{text}");
}

/// The blocks of a page of the guide that are commands.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1);
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_commands_of_the_guide_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = folder.path();
    std::fs::copy(&compiled().1, place.join("program")).expect("it was compiled");
    let sources = Path::new(PTX).parent().expect("a folder");
    for name in ["program.ptx", "column.ptx", "triton.ptx", "numba.ptx"] {
        std::fs::copy(sources.join(name), place.join(name)).expect("it is committed");
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_coalesce")).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    for page in [
        include_str!("../../docs/guide/any_ptx.md"),
        include_str!("../../docs/guide/profile_any_program.md"),
    ] {
        let commands = commands(page);
        assert!(commands.len() > 2, "the page shows how");
        for command in commands {
            let mut shell = Command::new("sh");
            shell.args(["-e", "-c", command]).env("PATH", &path).current_dir(place);
            let output = shell.output().expect("a shell");
            assert!(output.status.success(), "{command}: {}", said(&output));
        }
    }
}

/// Triton asks for an assembler by a variable, for its version first, and loads what that writes.
#[test]
fn triton_gets_its_ptx_back_from_the_assembler() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ptx = folder.path().join("kernel.ptx");
    std::fs::copy(PTX, &ptx).expect("it is committed");
    let script = "\"$TRITON_PTXAS_PATH\" --version | grep 'release [0-9]*[.][0-9]' && \
        \"$TRITON_PTXAS_BLACKWELL_PATH\" -lineinfo -v --gpu-name=sm_90a kernel.ptx -o kernel.o";
    let mut run = Command::new(env!("CARGO_BIN_EXE_coalesce"));
    run.args(["run", "--", "sh", "-c", script]).current_dir(folder.path());
    let output = run.output().expect("a program");
    // No kernel ran.
    assert_eq!(code(&output), 5, "{}", said(&output));
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("it is there");
    assert_eq!(read("kernel.o"), read("kernel.ptx"));
    for (arguments, sentence) in [
        (&["ptxas", "kernel.ptx"][..], "there is no `-o FILE`"),
        (&["ptxas", "-o", "kernel.o"], "there is no file of PTX"),
        (&["run", "--torch", "--", "./program"], "--torch takes a program of Python"),
    ] {
        let mut wrong = Command::new(env!("CARGO_BIN_EXE_coalesce"));
        let output = wrong.args(arguments).current_dir(folder.path()).output().expect("a program");
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(sentence), "{}", said(&output));
    }
}
