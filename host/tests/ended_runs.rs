//! Runs that end before their end: what they have is kept, and another run goes on with it.

use crate::chosen::chosen;
use crate::program::*;
use results::{Results, RowOutcome};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Patterns that take seconds, of kernels and of the host's work.
const BENCH: [&str; 8] = [
    "bench",
    "coalescing",
    "stride",
    "aos_soa",
    "transpose",
    "reduction",
    "batching",
    "--device=virtual:h200",
];

fn start(arguments: &[&str], path: &Path) -> Child {
    let mut program = program(&BENCH);
    program.args(arguments).arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    program.spawn().expect("the program starts")
}

fn signal(child: &Child, name: &str) {
    let sent = std::process::Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

/// A result without its times, which are in another array. A prediction's depend a little on what ran before, as a GPU's
/// caches do; all else is the same in each run.
fn without_times(mut results: Results) -> (Results, Vec<f64>) {
    let mut times = Vec::new();
    results.environment.started_unix_s = 0;
    results.environment.duration_s = 0.0;
    for row in &mut results.rows {
        row.timeline = None;
        let RowOutcome::Measured(measured) = &mut row.outcome else { continue };
        times.extend([measured.time_ms.median, measured.speed_up, measured.bandwidth_gb_s]);
        measured.time_ms = measured.time_ms.scaled(0.0);
        (measured.speed_up, measured.bandwidth_gb_s) = (0.0, 0.0);
        if let Some(minimum) = &mut measured.minimum_time {
            times.extend([minimum.time_ms, minimum.percent]);
            (minimum.time_ms, minimum.percent) = (0.0, 0.0);
        }
    }
    let counted = results.counts.iter_mut().flat_map(|counts| &mut counts.patterns);
    for variant in counted.flat_map(|pattern| &mut pattern.variants) {
        variant.timeline = None;
        // The addresses of one warp's requests are where memory lay in that process.
        let kernels = variant.kernels.iter_mut().flat_map(|kernel| &mut kernel.instructions);
        kernels.for_each(|instruction| instruction.requests.clear());
    }
    (results, times)
}

#[test]
#[expect(clippy::print_stdout, reason = "the list of what was killed when is the proof")]
fn a_run_that_is_killed_and_resumed_has_the_result_of_an_unbroken_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [whole, parts] = ["whole.json", "parts.json"].map(|name| folder.path().join(name));
    let begin = Instant::now();
    assert!(start(&["--json"], &whole).wait().expect("it ends").success());
    let takes = begin.elapsed();
    let whole = load(&whole);

    // A generator of Lehmer's: the moments are random, and the same in each test run.
    let mut random = 20_261_125_u64;
    let rows_of = |path: &Path| if path.exists() { load(path).rows.len() } else { 0 };
    let (mut rows, mut in_the_middle) = (0, 0);
    // Behind the harness's own words.
    println!();
    let kills = chosen(1..=10);
    for kill in &kills {
        let mut child = start(&["--resume"], &parts);
        let runs = |child: &mut Child| child.try_wait().expect("it can be asked").is_none();
        // A run that is killed before it has another row shows nothing.
        while rows_of(&parts) <= rows && runs(&mut child) {
            std::thread::sleep(Duration::from_millis(5));
        }
        random = random * 48_271 % 0x7fff_ffff;
        let after = takes.mul_f64(0.08 * random as f64 / f64::from(0x7fff_ffff));
        std::thread::sleep(after);
        let was_running = runs(&mut child);
        in_the_middle += usize::from(was_running);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let now = rows_of(&parts);
        assert!(now > rows || !was_running, "{rows} rows became {now}");
        rows = now;
        println!(
            "kill {kill}: {:.2} s after its first row, {}, {rows} of {} rows are there",
            after.as_secs_f64(),
            if was_running { "in the middle" } else { "when it had ended" },
            whole.rows.len()
        );
    }
    assert!(2 * in_the_middle >= kills.len(), "{in_the_middle} of the kills came in the middle");
    assert!(start(&["--resume"], &parts).wait().expect("it ends").success());
    let parts = load(&parts);
    assert!(!parts.interrupted);
    let ((parts, times), (whole, of_whole)) = (without_times(parts), without_times(whole));
    assert_eq!(times.len(), of_whole.len());
    for (time, of_whole) in times.iter().zip(of_whole) {
        assert!((time / of_whole - 1.0).abs() < 0.05, "{time} instead of {of_whole}");
    }
    assert_eq!(parts.environment, whole.environment);
    assert_eq!(parts.measured_peaks, whole.measured_peaks);
    for (part, row) in parts.rows.iter().zip(&whole.rows) {
        assert_eq!(part, row);
    }
    assert!(parts == whole, "the resumed run has other counts");
    println!(
        "killed {} times and resumed: the {} rows of an unbroken run",
        kills.len(),
        whole.rows.len()
    );
}

#[test]
fn signals_that_end_programs_keep_what_was_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["-TERM", "-HUP", "-INT"] {
        let path = folder.path().join(name);
        let mut child = start(&["--json"], &path);
        wait_for_rows(&path);
        signal(&child, name);
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{name}");
        assert!(load(&path).interrupted, "{name}");
    }
    // What nobody can catch leaves what was saved on the way.
    let path = folder.path().join("killed.json");
    let mut child = start(&["--json"], &path);
    wait_for_rows(&path);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    assert!(load(&path).interrupted);
}

#[test]
fn a_run_whose_reader_has_gone_is_saved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.json");
    let mut program = program(&["bench", "coalescing", "--quick", "--device=virtual", "--json"]);
    let mut child = program.arg(&path).stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    child.wait().expect("it ends");
    assert!(!load(&path).interrupted);
}

#[test]
fn a_result_that_cannot_be_written_is_kept_elsewhere_and_that_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let csv = folder.path().join("out.csv").display().to_string();
    let bench = ["bench", "coalescing", "--quick", "--device=virtual", "--json=/dev/full", "--csv"];
    let mut program = program(&bench);
    program.arg(&csv).env("TMPDIR", folder.path());
    let [message, _] = assert_program_fails(&mut program, 1, "cannot write /dev/full: No space");
    let place = message.split(" instead: ").next().and_then(|text| text.split(" is in ").nth(1));
    assert!(!load(place.expect("a place is named").as_ref()).interrupted, "{message}");
    assert!(Path::new(&csv).exists(), "the other file is written all the same");
}

#[test]
fn a_run_goes_on_with_its_own_results_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.json").display().to_string();
    let bench = ["bench", "--quick", "--resume", &path];
    let sound = [&bench[..], &["coalescing", "stride", "--device=virtual:h200"]].concat();
    assert!(coalesce(&sound).status.success(), "it begins where there is no file yet");
    assert!(coalesce(&sound).status.success(), "and has nothing left to do after that");
    let text = std::fs::read_to_string(&path).expect("it was written");
    for (arguments, reason) in [
        (["coalescing", "stride", "--device=virtual:a100", "--seed=1"], "another device"),
        (["coalescing", "stride", "--device=virtual:h200", "--seed=2"], "another seed"),
        (["coalescing", "aos_soa", "--device=virtual:h200", "--seed=1"], "would be lost"),
    ] {
        assert_fails(&[&bench[..], &arguments].concat(), 2, reason);
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
    }
    let changed = text.replacen("\"ptx_hash\": \"", "\"ptx_hash\": \"0", 1);
    std::fs::write(&path, changed).expect("ours");
    assert_fails(&sound, 2, "another PTX");
}

#[test]
fn two_forms_in_one_file_are_refused() {
    let both = ["bench", "coalescing", "--json=x.out", "--csv=x.out"];
    assert_fails(&both, 2, "x.out is named twice");
}

#[test]
fn a_full_standard_output_is_one_sentence() {
    for arguments in [&["list"][..], &["verify", "coalescing", "--device=virtual"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let output = program(arguments).stdout(full).output().expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(
            message.ends_with(
                "error: cannot write to stdout: No space left on device (os error 28)\n"
            ),
            "{message}"
        );
        assert!(!message.contains("panicked"), "{message}");
    }
}

#[test]
fn a_folder_gets_a_file_of_each_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().display().to_string();
    let run = || {
        let bench = ["bench", "stride", "--quick", "--device=virtual:h200", "--json", &path];
        assert!(coalesce(&bench).status.success());
        let files = std::fs::read_dir(folder.path()).expect("it is there").flatten();
        files.map(|file| file.path()).collect::<Vec<_>>()
    };
    let first = run();
    let [file] = &first[..] else { panic!("{first:?}") };
    assert!(file.extension().is_some_and(|extension| extension == "json"), "{first:?}");
    let text = std::fs::read(file).expect("it is written");
    // The next run begins in another second.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(run().len(), 2);
    assert_eq!(std::fs::read(file).expect("it is there"), text);
    assert!(!load(file).rows.is_empty());
}
