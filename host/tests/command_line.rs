//! The `coalesce` program from outside: exit codes and one clear sentence per mistake.

use crate::program::*;
use results::{LaunchOutcome, SCHEMA};
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn without_a_driver_measuring_says_what_is_missing() {
    for command in ["verify", "bench"] {
        assert_fails(&[command, "--device", "gpu"], 3, "/nonexistent/libcuda.so.1");
    }
}

#[test]
fn without_a_driver_the_virtual_device_is_taken_and_named() {
    let arguments = ["verify", "transpose/padded", "--size", "rows=33,columns=65", "--check"];
    for device in [None, Some(""), Some("virtual:h200")] {
        let mut program = program_without_gpu(&arguments);
        program.envs(device.map(|device| ("COALESCE_DEVICE", device)));
        let output = program.output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{device:?}: {text}");
        assert!(text.contains("device: virtual"), "{text}");
        assert!(text.contains("1 correct, 0 wrong, 0 not run, 0 hazards"), "{text}");
    }
}

#[test]
fn a_variable_that_is_wrong_is_named() {
    let verify = ["verify", "transpose/padded", "--size", "rows=33,columns=65"];
    let chosen = "COALESCE_LIBCUDA is `/nonexistent/libcuda.so.1`";
    assert_program_fails(&mut program(&verify), 3, chosen);
    for (device, reason) in [("tpu", "`tpu` is no device"), ("virtual:z9", "no profile `z9`")] {
        for arguments in [&verify[..], &["bench", "graphs"], &["calibrate"]] {
            let mut program = program(arguments);
            let [message, _] =
                assert_program_fails(program.env("COALESCE_DEVICE", device), 2, reason);
            assert!(message.contains("COALESCE_DEVICE"), "{message}");
            assert!(!message.contains("--device"), "{message}");
        }
    }
    // The command line comes first.
    let mut program = program(&[&verify[..], &["--device", "virtual"]].concat());
    let output = program.env("COALESCE_DEVICE", "tpu").output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_term_is_explained_and_an_unknown_one_gets_the_nearest() {
    let shown = |arguments: &[&str]| {
        let output = coalesce(&[&["explain", "--glossary"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (all, one) = (shown(&[]), shown(&["Bank conflicts"]));
    assert!(one.starts_with("bank conflict\n\n"), "{one}");
    assert!(all.contains(one.trim_end()) && all.len() > 20 * one.len(), "{one}");
    assert!(!all.contains("<!--") && !all.contains("]: "), "{all}");
    let wrong = ["explain", "--glossary", "bank conflct"];
    assert_fails(&wrong, 2, "no term `bank conflct`, the nearest are `bank conflict`");
    // Another name of a term, which only its explanation has.
    assert_fails(&["explain", "--glossary", "SM"], 2, "the nearest are `multiprocessor`");
    assert_fails(&["explain"], 2, "PATTERN[/VARIANT]");
}

#[test]
fn the_memory_spaces_are_a_table_with_the_figures_of_a_file() {
    let shown = |arguments: &[&str]| {
        let output = coalesce(&[&["list", "--hierarchy"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let alone = shown(&[]);
    assert!(alone.contains("shared memory") && alone.contains("list --hierarchy FILE"), "{alone}");
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let measured = shown(&[reference]);
    let host = measured.lines().find(|line| line.contains("host memory, mapped"));
    let figure = |line: &str| line.split_whitespace().last().map(str::parse::<f64>);
    // The measured peak of H2D copies.
    assert!(matches!(host.and_then(figure), Some(Ok(rate)) if rate > 1.0), "{measured}");
    assert_fails(&["list", "--hierarchy", "none.json"], 1, "cannot read none.json");
}

#[test]
fn a_device_that_does_not_exist_is_refused() {
    assert_fails(&["verify", "--device", "virtual:z9"], 2, "there is no profile `z9`");
    assert_fails(&["verify", "--device", "tpu"], 2, "`tpu` is no device");
}

#[test]
fn a_size_that_no_variant_takes_is_no_success() {
    let output =
        coalesce(&["verify", "transpose/vectorized", "--size", "rows=3", "--device", "virtual"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("4 must divide rows and columns"));
}

#[test]
fn unknown_names_get_the_nearest() {
    assert_fails(&["verify", "transpse"], 2, "did you mean `transpose`?");
    assert_fails(&["bench", "transpose/paded"], 2, "did you mean `padded`?");
    assert_fails(&["explain", "nothing"], 2, "there is no pattern `nothing`");
}

#[test]
fn impossible_sizes_are_refused_before_a_device_is_opened() {
    assert_fails(&["verify", "transpose", "--size", "rows=0"], 2, "rows = 0 is too small");
    assert_fails(&["bench", "coalescing", "--size", "n=0"], 2, "n = 0 is too small");
    assert_fails(&["bench", "coalescing", "--size", "n=2^40"], 2, "is too large");
    assert_fails(&["bench", "coalescing", "--size", "width=4"], 2, "has no dimension `width`");
    assert_fails(&["bench", "coalescing", "--size", "n=many"], 2, "n is a number, `many` is none");
    for (size, reason) in [
        ("2^60", "`2^60` is too large: kernels index at most 2^31 elements"),
        ("-1", "`-1` is negative: sizes are numbers from 0 up"),
        ("--seed", "`--seed` is not a number"),
    ] {
        for flag in ["--size", "--axis"] {
            let mut program = program(&["bench", "coalescing", flag, size]);
            let [message, _] = assert_program_fails(&mut program, 2, reason);
            assert!(!message.contains("tip:"), "{message}");
        }
    }
}

#[test]
fn an_unwritable_file_is_refused_before_measuring() {
    assert_fails(
        &["bench", "--json", "/nonexistent/folder/out.json"],
        2,
        "cannot write /nonexistent/folder/out.json",
    );
    let folder = tempfile::Builder::new().prefix("plain").tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a writable folder");
    let folder = folder.path().to_str().expect("a plain path");
    let below_a_file = file.join("x");
    let below_a_file = below_a_file.to_str().expect("a plain path");
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let virtual_bench = ["bench", "graphs", "--device", "virtual"];
    let calibrate = ["calibrate", "--device", "virtual", "-o"];
    let cases: [(&[&str], &[&str], i32); 6] = [
        (&virtual_bench, &["--json"], 2),
        (&virtual_bench, &["--csv"], 2),
        (&virtual_bench, &["--markdown"], 2),
        (&calibrate, &[], 2),
        (&["count", "-o"], &[], 2),
        (&["report", committed, "-o"], &[], 1),
    ];
    for (command, flag, code) in cases {
        for target in [folder, "/nonexistent/x", below_a_file] {
            let takes_folder = command[0] == "report" || flag == ["--json"];
            if takes_folder && target == folder {
                continue;
            }
            let arguments = [command, flag, &[target]].concat();
            let begin = std::time::Instant::now();
            let [message, printed] =
                assert_program_fails(&mut program(&arguments), code, "cannot write");
            assert_eq!(printed, "", "{arguments:?}: no device was opened");
            assert!(begin.elapsed().as_secs() < 5, "{arguments:?}: nothing was executed");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert_eq!(message.matches(target).count(), 1, "{message}");
            for private in [".tmp", ".coalesce-report-", "entity", "os error"] {
                assert!(!message.contains(private), "{message}");
            }
            assert!(message.matches("irectory").count() <= 1, "a cause is said once: {message}");
        }
    }
    // What is read last is looked for first.
    let pages = format!("{folder}/pages");
    let report = ["report", committed, "--sass", "/nonexistent/sass", "-o", &pages];
    let [message, printed] =
        assert_program_fails(&mut program(&report), 1, "cannot read /nonexistent/sass");
    assert_eq!((message.lines().count(), printed.as_str()), (1, ""), "{message}");
    let pictures = ["explain", "graphs", "--svg", below_a_file];
    let [_, printed] = assert_program_fails(&mut program(&pictures), 1, "choose another folder");
    assert_eq!(printed, "");
}

/// A device stays a device, also for who may replace it; it takes nothing, and that is one sentence.
#[test]
#[cfg(target_os = "linux")]
fn a_device_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let bench = ["bench", "batching", "--quick", "--device", "virtual", "--json", "/dev/full"];
    let output = coalesce(&bench);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors: Vec<_> = message.lines().filter(|line| line.starts_with("error")).collect();
    assert_eq!(output.status.code(), Some(1), "{message}");
    let [error] = errors[..] else { panic!("{message}") };
    // What was measured goes to another place, which is named.
    let [place, cause] =
        ["error: the text for it is in ", " instead: cannot write /dev/full: No space left"];
    assert!(error.starts_with(place) && error.contains(cause), "{error}");
    assert!(!message.contains("panicked"), "{message}");
    let full = std::fs::metadata("/dev/full").expect("every Linux has it");
    assert!(full.file_type().is_char_device());
}

#[test]
#[cfg(unix)]
fn a_reader_that_ends_early_ends_the_program_without_a_word() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let commands: [&[&str]; 7] = [
        &["explain", "transpose"],
        &["bench", "batching", "--quick", "--device", "virtual"],
        &["verify", "transpose/padded", "--device", "virtual", "--size", "rows=33,columns=65"],
        &["compare", committed, committed],
        &["list"],
        &["list", "--traffic"],
        &["results", committed],
    ];
    for command in commands {
        // Closed before the program starts, so that its first word finds nobody.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = program(command).stdout(writer).output().expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{command:?} wrote nothing");
        assert!(!message.contains("panicked") && !message.contains("pipe"), "{message}");
        assert!(!message.contains("error"), "{command:?}: {message}");
    }
}

#[test]
fn a_comparison_says_which_limit_is_missed() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let folder = tempfile::tempdir().expect("a folder");
    let predicted = folder.path().join("predicted.json");
    let predicted = predicted.to_str().expect("it is UTF-8");
    let bench = ["bench", "coalescing", "--no-sweeps", "--device", "virtual", "--json", predicted];
    let output = program(&bench).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    let compare = ["compare", predicted, committed, "--least-order", "1", "--most-error", "0"];
    let output = program(&compare).output().expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.starts_with("`--most-error 0` is missed: it is "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn a_bench_without_rows_or_with_a_mistake_is_one_sentence() {
    assert_fails(&["bench", "--filter", "paddle"], 2, "no variant contains `paddle`");
    assert_fails(&["bench", "stride", "--axis", "stride=9..1"], 2, "is not a range");
    assert_fails(&["bench", "histogram", "--size", "distribution=odd"], 2, "none of its values");
    assert_fails(&["bench", "--check", "/nonexistent.json"], 1, "cannot read /nonexistent.json");
    let virtual_peers = ["bench", "coalescing", "--device", "virtual", "--peers", "x.so"];
    assert_fails(&virtual_peers, 2, "--peers needs a GPU");
    assert_fails(&["verify", "coalescing", "--size", "n=1,2"], 2, "one value per dimension");
    assert_fails(&["verify", "--digests", "/nonexistent/x"], 2, "cannot write /nonexistent/x");
}

#[test]
fn a_list_of_a_bench_is_what_it_would_measure() {
    let output =
        coalesce(&["bench", "stride", "--filter", "gather", "--axis", "stride=1..3", "--list"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<_> = text.lines().collect();
    let at = |stride| format!("stride/gather at n=8388608, stride={stride}");
    assert_eq!(lines, [8, 1, 2, 3].map(at));
}

/// Measures a little on the virtual device, with every kind of output.
fn small_bench(folder: &std::path::Path, more: &[&str]) -> Output {
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let files = [file("out.json"), file("out.csv"), file("out.md")];
    let mut arguments = vec!["bench", "transpose", "--size", "rows=512,columns=512"];
    arguments.extend(["--device", "virtual", "--json", &files[0], "--csv", &files[1]]);
    arguments.extend(["--markdown", &files[2]]);
    arguments.extend(more);
    coalesce(&arguments)
}

#[test]
fn every_output_holds_every_row() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = small_bench(folder.path(), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = folder.path().join("out.json");
    let results =
        results::Results::load(&json, host::CATALOGUE.renamed).expect("it can be read again");
    let pattern = host::patterns::ALL.iter().find(|one| one.name == "transpose");
    let variants = pattern.expect("it exists").variants;
    assert_eq!(results.rows.len(), variants.len());
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    let (csv, markdown) = (read("out.csv"), read("out.md"));
    let mut records = csv::Reader::from_reader(csv.as_bytes());
    let column = |name: &str| {
        let header = csv.lines().next().expect("a header");
        header.split(',').position(|one| one == name).expect("a column")
    };
    let (variant, median) = (column("variant"), column("time_ms_median"));
    for (row, record) in results.rows.iter().zip(records.records()) {
        let record = record.expect("a record");
        let measured = row.measured().expect("it is predicted");
        assert_eq!(record[variant], row.variant);
        assert_eq!(record[median].parse::<f64>().expect("a number"), measured.time_ms.median);
        assert!(markdown.contains(&format!("| `{}` |", row.variant)), "{markdown}");
        assert!(row.traffic.is_some() && row.resources.is_some(), "{row:?}");
    }
    // The same machine behaves like itself; one that was twice as fast is not reached.
    let reference = json.to_string_lossy().into_owned();
    let again = small_bench(folder.path(), &["--check", &reference]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
    let mut faster = results.clone();
    for row in &mut faster.rows {
        if let results::RowOutcome::Measured(measured) = &mut row.outcome {
            measured.time_ms = measured.time_ms.scaled(0.5);
        }
    }
    let path = folder.path().join("faster.json");
    faster.save(&path).expect("it is written");
    let slow = small_bench(folder.path(), &["--check", &path.to_string_lossy()]);
    assert_eq!(slow.status.code(), Some(1), "{}", String::from_utf8_lossy(&slow.stdout));
    assert!(String::from_utf8_lossy(&slow.stdout).contains("SLOW"));
    faster.environment.device.name = "another GPU".to_owned();
    faster.save(&path).expect("it is written");
    let other = small_bench(folder.path(), &["--check", &path.to_string_lossy()]);
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("the reference is of another GPU"));
}

/// A limit on the size of files stands for the disk that is full.
#[test]
#[cfg(unix)]
fn a_full_disk_is_one_sentence_and_the_old_file_stays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = folder.path().join("out.json");
    std::fs::write(&json, "old").expect("a writable folder");
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_coalesce"), "bench", "batching", "--device", "virtual"])
        .args(["--quick", "--no-sweeps", "--json"])
        .arg(&json)
        .output()
        .expect("a shell starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = message.lines().last().unwrap_or_default();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(last.starts_with("error: cannot write") && last.contains("too large"), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    assert_eq!(std::fs::read_to_string(&json).expect("it is still there"), "old");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1, "no part of a file is left");
}

#[test]
#[cfg(unix)]
fn an_interrupt_keeps_what_was_measured() {
    use std::process::Stdio;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = folder.path().join("out.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_coalesce"))
        .args(["bench", "--device", "virtual", "--no-sweeps", "--json"])
        .arg(&json)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    wait_for_rows(&json);
    let stderr = child.stderr.take().expect("piped");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(stderr));
    // `timeout -s INT` interrupts the program and its group: once means twice.
    for _ in 0..2 {
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(status.expect("kill starts").success());
    }
    // The pipe must not fill up meanwhile.
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let results = results::Results::load(&json, host::CATALOGUE.renamed).expect("it was saved");
    assert!(results.interrupted && !results.rows.is_empty());
    assert!(results.rows.iter().all(|row| row.measured().is_some()));
}

#[test]
fn a_device_that_disappears_is_one_sentence_and_what_was_measured_is_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [machine, json] =
        ["machine.json", "out.json"].map(|name| folder.path().join(name).display().to_string());
    // The second device runs its first kernels; later ones find it gone.
    let text = r#"{"devices": ["h100", "h100"], "lost": [{"device": 1, "after_kernels": 4}]}"#;
    std::fs::write(&machine, text).expect("the folder is there");
    let device = format!("virtual:{machine}");
    let arguments = ["bench", "peer_to_peer", "--quick", "--no-sweeps", "--size", "n=2^16"];
    let output = coalesce(&[&arguments[..], &["--device", &device, "--json", &json]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("if `nvidia-smi` no longer lists a GPU, it has disappeared"), "{text}");
    let results = results::Results::load(Path::new(&json), host::CATALOGUE.renamed);
    let rows = results.expect("it was saved").rows;
    assert!(rows.first().is_some_and(|row| row.measured().is_some()), "{text}");
    assert!(rows.last().is_some_and(|row| row.measured().is_none()), "{text}");
    assert_fails(&["verify", "peer_to_peer", "--device", &device], 1, "device 1 has disappeared");
}

#[test]
fn a_result_file_that_cannot_be_read_is_one_sentence() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.json");
    let name = path.to_string_lossy().into_owned();
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let good = std::fs::read_to_string(committed).expect("it is there");
    let mut damaged =
        results::Results::load(committed.as_ref(), host::CATALOGUE.renamed).expect("it is sound");
    damaged.measured_peaks[0].amount = 0;
    let schema = |number: u32| format!("\"schema\": {number}");
    let has_newer = format!("has result schema {}", SCHEMA + 1);
    let newer = good.replacen(&schema(damaged.schema), &schema(SCHEMA + 1), 1);
    let cases = [
        (String::new(), "is not a result file"),
        (good[..good.len() / 2].to_owned(), "is not a result file"),
        (newer, &has_newer),
        (serde_json::to_string(&damaged).expect("plain data"), "is damaged"),
        (good.replacen("\"rows\"", "\"lines\"", 1), "is not a result file"),
    ];
    for (text, part) in cases {
        std::fs::write(&path, text).expect("a writable folder");
        assert_fails(&["results", &name], 1, part);
        assert_fails(&["compare", committed, &name], 1, part);
    }
}

#[test]
fn a_report_of_nothing_is_one_sentence() {
    assert_fails(&["report"], 2, "<FILE>");
    assert_fails(&["report", "/nonexistent/a.json"], 1, "cannot read /nonexistent/a.json");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    assert_fails(&["report", manifest], 1, "is not a result file");
}

#[test]
fn unknown_flags_are_refused() {
    assert_fails(&["bench", "--fast"], 2, "--fast");
}

#[test]
fn a_bench_in_a_pipe_prints_each_row_once_and_draws_the_curve_it_was_asked_for() {
    let bench = ["bench", "stride", "--filter", "gather", "--quick", "--device", "virtual"];
    let output = coalesce(&[&bench[..], &["--size", "stride=1,2,32"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.starts_with("Times are predictions"), "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(text.matches(" gather ").count(), 1, "{text}");
    assert!(text.contains("stride: GB/s, higher is better, over stride\n"), "{text}");
    assert!(text.lines().all(|line| !line.contains('|') || line.len() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'), "a pipe has no colours: {text}");
}

#[test]
fn without_a_gpu_a_bench_has_curves_only_when_asked() {
    let list = |asked: &[&str]| {
        let bench = ["bench", "stride", "--list", "--device", "virtual"];
        let output = coalesce(&[&bench[..], asked].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    let ladder = list(&[]);
    assert_eq!(ladder, list(&["--no-sweeps"]));
    assert!(list(&["--sweeps"]) > ladder);
    assert!(list(&["--axis", "stride=1..32"]) > ladder);
    assert_fails(&["bench", "--sweeps", "--no-sweeps"], 2, "cannot be used with");
}

#[test]
fn a_verification_is_json_for_programs() {
    let size = ["--size", "rows=33,columns=64", "--check", "--device", "virtual"];
    let output = coalesce(&[&["verify", "transpose", "--json"], &size[..]].concat());
    let report: results::VerifyReport =
        serde_json::from_slice(&output.stdout).expect("nothing but JSON");
    let report = &report.devices[0];
    let of = |outcome| report.launches.iter().filter(|one| one.outcome == outcome).count();
    let (correct, not_run) = (of(LaunchOutcome::Correct), of(LaunchOutcome::NotRun));
    assert_eq!((report.correct, report.not_run), (correct, not_run));
    assert!(correct > 0 && not_run > 0 && report.hazards == Some(0), "{report:?}");
}

#[test]
fn shells_and_man_are_told_of_every_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pages = folder.path().join("man");
    let output = coalesce(&["man", pages.to_str().expect("a plain path")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for shell in ["bash", "zsh", "fish"] {
        let output = coalesce(&["completions", shell]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for command in ["verify", "bench", "explain", "completions"] {
            assert!(text.contains(command), "{shell}: {command}");
            assert!(pages.join(format!("coalesce-{command}.1")).is_file(), "{command}");
        }
    }
    assert_fails(&["man", "/dev/null"], 2, "/dev/null is not a folder");
}
