//! A learner's session, through the program: guess, fail, ask, paste, pass; and what goes wrong on the way.

#[path = "../../tests/chosen.rs"]
mod chosen;

use chosen::chosen;
use course::compile::{Language, Places};
use course::format;
use course::learn::Progress;
use course::task::{Kind, Task};
use course::tasks::{TASKS, named};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program on a folder.
fn learn(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
    command.arg("--folder").arg(folder).args(arguments).output().expect("the program starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// It fails with one line that says this.
fn assert_fails(folder: &Path, arguments: &[&str], part: &str) {
    let output = learn(folder, arguments);
    let text = text(&output);
    assert!(!output.status.success() && text.contains(part), "{arguments:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn a_learner_guesses_fails_asks_pastes_and_passes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let list = text(&learn(folder, &["list"]));
    assert!(list.contains("rows_to_lanes") && list.contains("0 of "), "{list}");
    assert_fails(folder, &["guess", "rows_to_lanes", "4"], "not that. 4 is the goal");
    assert_fails(folder, &["guess", "rows_to_lanes", "many"], "`many` is no number");
    assert_fails(folder, &["show", "rows_to_lanes"], "after 3 different tries");
    let first = learn(folder, &["check", "rows_to_lanes"]);
    // Behind the heading, which counts the tasks.
    let screen = String::from_utf8_lossy(&first.stdout).into_owned();
    let screen = screen.split_once('\n').map_or("", |(_, rest)| rest);
    assert_eq!(screen, include_str!("session/rows_to_lanes.txt"), "{screen}");
    assert!(
        text(&learn(folder, &["hint", "rows_to_lanes"])).starts_with("hint 1 of 3: Write down")
    );
    // Only texts that differ are tries: the same again, a comment and spaces are none.
    let file = folder.join("rows_to_lanes.rs");
    let given = std::fs::read_to_string(&file).expect("it was written");
    let again = [
        given.clone(),
        format!("{given}// again\n\n"),
        given.replace("2.0 *", "1.0 *"),
        given.replace("2.0 *", "3.0 *"),
        given.replace("2.0 *", "3.0  *"),
    ];
    for text in again {
        std::fs::write(&file, text).expect("a writable folder");
        assert_fails(folder, &["check", "rows_to_lanes"], "NOT YET");
    }
    assert_fails(folder, &["show", "rows_to_lanes"], "3 different tries: 1 to go");
    std::fs::write(&file, given.replace("2.0 *", "4.0 *")).expect("a writable folder");
    let found = folder.join("found.sarif").display().to_string();
    let check = ["check", "rows_to_lanes", "--sarif", &found];
    assert_fails(folder, &check, "`target[0]` is ");
    let found = std::fs::read_to_string(found).expect("it was written");
    let found: serde_json::Value = serde_json::from_str(&found).expect("it is JSON");
    let result = &found["runs"][0]["results"][0];
    assert_eq!(result["level"], "error", "{found}");
    assert!(result["message"]["text"].as_str().is_some_and(|it| it.contains("`target[0]` is ")));
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().is_some_and(|uri| uri.ends_with("rows_to_lanes.rs")), "{uri}");
    let solution = learn(folder, &["show", "rows_to_lanes"]);
    assert!(solution.status.success(), "{}", text(&solution));
    std::fs::write(folder.join("rows_to_lanes.rs"), &solution.stdout).expect("a writable folder");
    let passed = learn(folder, &["check", "--json", "rows_to_lanes"]);
    assert!(passed.status.success(), "{}", text(&passed));
    let verdict: results::CheckedTasks =
        serde_json::from_slice(&passed.stdout).expect("it is of the published schema");
    assert_eq!((verdict.schema, verdict.passed), (results::CHECKED_SCHEMA, 1));
    // The first task is current still, and the questions are about the learner's own kernel.
    assert!(text(&learn(folder, &["open"])).contains("own_element"));
    assert!(text(&learn(folder, &["guess", "rows_to_lanes", "4"])).contains("right. Pixels"));
    let tried = text(&learn(folder, &["try", "rows_to_lanes", "--set", "rows=3,columns=11"]));
    assert!(
        tried.contains("at rows=3, columns=11") && tried.contains("sectors per load"),
        "{tried}"
    );
    let reset = text(&learn(folder, &["reset", "rows_to_lanes"]));
    assert!(reset.contains("rows_to_lanes.rs.bak"), "{reset}");
    assert_eq!(std::fs::read(folder.join("rows_to_lanes.rs.bak")).unwrap(), solution.stdout);
    assert!(text(&learn(folder, &["list"])).contains("1 of "), "what passed stays passed");
}

/// A verdict stands alone: what a kernel prints is shown by `try`, and disturbs no file for an autograder.
#[test]
fn what_a_kernel_prints_is_no_part_of_a_verdict() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    learn(folder, &["list"]);
    let file = folder.join("guard.rs");
    let given = std::fs::read_to_string(&file).expect("it was written");
    let prints = "{\n    cuda_std::println!(\"{{\\\"passed\\\": 1}}\");\n    let i = thread";
    let printing = given.replace("{\n    let i = thread", prints);
    assert_ne!(printing, given);
    std::fs::write(&file, printing).expect("a writable folder");
    let checked = learn(folder, &["check", "guard", "--json"]);
    let verdict: results::CheckedTasks =
        serde_json::from_slice(&checked.stdout).expect("nothing else is printed");
    assert_eq!(verdict.passed, 0);
    let tried = text(&learn(folder, &["try", "guard", "--set", "n=1"]));
    assert_eq!(tried.matches("\"passed\"").count(), 256, "{tried}");
}

/// Questions are about the kernel that was given: another one has other answers.
#[test]
fn answers_to_another_kernel_do_not_pass() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    learn(folder, &["list"]);
    let file = folder.join("first_warp.rs");
    let given = std::fs::read_to_string(&file).expect("it was written");
    let answered = |answers: [&str; 4]| {
        let numbers = (1..).zip(answers);
        numbers.fold(given.clone(), |text, (number, answer)| {
            text.replace(&format!("answer {number}: ?"), &format!("answer {number}: {answer}"))
        })
    };
    // A word for all lanes, loaded 31 times: 35, 39, 63 and 63 sectors in 32 loads.
    let other = answered(["1.09375", "1.21875", "1.96875", "1.96875"]).replace(
        "    if i < n {",
        "    for _ in 0..31 { let _ = unsafe { core::ptr::read_volatile(source) }; }\n    if i < n {",
    );
    std::fs::write(&file, other).expect("a writable folder");
    assert_fails(folder, &["check", "first_warp"], "the kernel is another");
    std::fs::write(&file, answered(["4", "8", "32", "32"])).expect("a writable folder");
    let passed = learn(folder, &["check", "first_warp"]);
    assert!(passed.status.success(), "{}", text(&passed));
}

/// A folder's name has blanks and letters of any language.
#[test]
fn a_folder_has_any_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().join("a b {c} é");
    std::fs::create_dir(&folder).expect("a writable folder");
    assert_fails(&folder, &["check", "guard"], "was written, and `target` has");
}

/// PTX of another compiler is graded without a file of ours.
#[test]
fn ptx_is_graded_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry guard(.param .u64 s, .param .u64 t, .param .u32 n)\n{{\n\
             .reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .f32 %f<3>;\n.reg .b64 %d<6>;\nld.param.u64 %d1, [s];\nld.param.u64 %d2, [t];\n\
             ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.s32 %r5, %r2, %r3, %r4;\n\
             {body}\n@%p1 bra done;\nmul.wide.u32 %d3, %r5, 4;\nadd.s64 %d4, %d1, %d3;\nld.global.f32 %f1, [%d4];\n\
             sub.f32 %f2, 0f3F800000, %f1;\nadd.s64 %d5, %d2, %d3;\nst.global.f32 [%d5], %f2;\ndone:\nret;\n}}\n"
        );
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a writable folder");
        path.to_string_lossy().into_owned()
    };
    let right = write("right.ptx", "setp.ge.u32 %p1, %r5, %r1;");
    let output = learn(folder.path(), &["check", "guard", "--ptx", &right]);
    assert!(output.status.success(), "{}", text(&output));
    let wrong = write("wrong.ptx", "setp.gt.u32 %p1, %r5, %r1;");
    assert_fails(
        folder.path(),
        &["check", "guard", "--ptx", &wrong],
        "was written, and `target` has",
    );
    let list = text(&learn(folder.path(), &["list"]));
    assert!(list.contains("0 of "), "PTX of others is not the learner's progress: {list}");
}

/// PTX by nvcc 13.0 of CUDA C++ (`nvcc -ptx -lineinfo -arch=sm_80`, the paths of its line tables cut to the name).
#[test]
fn kernels_of_nvcc_are_graded_with_their_lines() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let nvcc = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session/nvcc");
    for (task, parts) in [
        ("guard", &["was written, and `target` has"][..]),
        ("rows_to_lanes", &["32 counted, at most 4", "line 12  `target[at] = 2.0f * source[at];`"]),
    ] {
        let ptx = |kind: &str| nvcc.join(format!("{task}_{kind}.ptx")).display().to_string();
        for part in parts {
            assert_fails(folder.path(), &["check", task, "--ptx", &ptx("shipped")], part);
        }
        let solved = learn(folder.path(), &["check", task, "--ptx", &ptx("solved")]);
        assert!(text(&solved).contains(&format!("{task} passes.")), "{}", text(&solved));
    }
}

/// Watching: a guess, a verdict, a hint, a save that passes, the next task.
#[test]
fn watch_grades_every_save() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
    command.arg("--folder").arg(folder.path()).args(["watch", "guard"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let mut keys = child.stdin.take().expect("it is piped");
    let mut screen = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut wait_for = |part: &str| {
        let found = screen.find(|line| line.as_ref().is_ok_and(|line| line.contains(part)));
        assert!(found.is_some(), "`{part}` is shown");
    };
    wait_for("What is wrong with this kernel?");
    keys.write_all(b"8\n").expect("it reads");
    wait_for("right. That is what");
    keys.write_all(b"\n").expect("it reads");
    wait_for("how many threads have no element?");
    keys.write_all(b"255\n").expect("it reads");
    wait_for("right. Two blocks");
    wait_for("NOT YET: `target[");
    wait_for("[h]int");
    let other = learn(folder.path(), &["watch", "guard"]);
    assert!(text(&other).contains("another `cargo xtask learn` watches"), "{}", text(&other));
    keys.write_all(b"h\n").expect("it reads");
    wait_for("hint 1 of 3");
    let file = folder.path().join("guard.rs");
    let shipped = std::fs::read_to_string(&file).expect("it was written");
    std::fs::write(&file, shipped.replace("i <= n", "i < n")).expect("a writable folder");
    wait_for("guard passes.");
    wait_for("next: first_warp");
    keys.write_all(b"n\n").expect("it reads");
    wait_for("# First warp");
    keys.write_all(b"q\n").expect("it reads");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn bad_input_is_one_sentence_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    learn(folder, &["list"]);
    let file = folder.join("guard.rs");
    let shipped = std::fs::read_to_string(&file).expect("it was written");
    let endless = shipped.replace("let i = thread", "let mut k = 1;\n    while k != n + 2 { k = (k + 2) % 2 + 1; unsafe { *target = k as f32 } }\n    let i = thread");
    for (bytes, part) in [
        (b"".to_vec(), "is empty"),
        (b"\xff\xfe\0/".to_vec(), "is not UTF-8"),
        (vec![b'/'; 2 << 20], "has 2097152 bytes"),
        (
            shipped.replace("fn guard", "fn other").into_bytes(),
            "there is no kernel `guard` (found: other)",
        ),
        (
            shipped.replace("n: u32", "n: u64").replace("i <= n", "i <= n as u32").into_bytes(),
            "keep the signature",
        ),
        (shipped.replace("let i", "let let i").into_bytes(), "the compiler's messages are above"),
        (endless.into_bytes(), "it loops, and loads nothing that could end the"),
    ] {
        std::fs::write(&file, &bytes).expect("a writable folder");
        assert_fails(folder, &["check", "guard"], part);
        assert_eq!(std::fs::read(&file).expect("it is still there"), bytes);
    }
    std::fs::remove_file(&file).expect("a writable folder");
    assert_fails(folder, &["check", "guard"], "was written, and `target` has");
    for (arguments, part) in [
        (&["check", "gard"][..], "there is no task `gard`"),
        (&["try", "guard", "--set", "m=3"], "`m` is no number of guard: it has n"),
        (&["try", "guard", "--set", "n=4000000000"], "choose a smaller one"),
        (&["try", "guard", "--set", "n=0"], "must be at least 1"),
        (&["check", "guard", "--ptx", "/nonexistent.ptx"], "cannot read /nonexistent.ptx"),
        (&["new", "Guard"], "is no name of a task"),
        (&["new", "guard"], "is there already"),
    ] {
        assert_fails(folder, arguments, part);
    }
    assert_fails(Path::new("/dev/null/learn"), &["list"], "cannot read /dev/null/learn");
    std::fs::write(folder.join("progress.toml"), "version = 9\n").expect("a writable folder");
    assert_fails(folder, &["list"], "newer course");
    assert_eq!(std::fs::read_to_string(folder.join("progress.toml")).unwrap(), "version = 9\n");
}

/// Writing fails as on a full disk: what is there stays as it was, and the verdict is shown all the same.
#[cfg(unix)]
#[test]
fn on_a_full_disk_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    assert!(learn(folder, &["hint", "guard"]).status.success());
    let file = folder.join("guard.rs");
    let progress = folder.join("progress.toml");
    let earlier = "what the learner had before that";
    std::fs::write(folder.join("guard.rs.bak"), earlier).expect("a writable folder");
    let before = [&file, &progress].map(|path| std::fs::read(path).expect("it was written"));
    // No file may grow, as on a disk without space; the signal that would end the program is ignored.
    let full = |arguments: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
        shell.arg(env!("CARGO_BIN_EXE_learn")).arg("--folder").arg(folder).args(arguments);
        text(&shell.output().expect("there is a shell"))
    };
    for arguments in
        [&["hint", "guard"][..], &["reset", "guard"], &["guess", "guard", "8", "1", "255"]]
    {
        let said = full(arguments);
        assert!(said.contains("cannot write "), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert_eq!([&file, &progress].map(|path| std::fs::read(path).expect("it is there")), before);
    assert_eq!(std::fs::read_to_string(folder.join("guard.rs.bak")).unwrap(), earlier);
    let left = std::fs::read_dir(folder).expect("a folder").flatten();
    let left = left.filter(|one| one.file_name().to_string_lossy().starts_with(".tmp"));
    assert_eq!(left.count(), 0, "nothing half-written stays");
}

/// Two learners, or a learner and an editor's task, use one folder at the same time: neither writes over the other.
#[test]
fn learners_in_one_folder_do_not_lose_each_others_progress() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    learn(folder, &["list"]);
    let tasks = ["guard", "tree", "spilled", "pinned", "graph", "lockstep", "wide_loads", "pool"];
    let children = tasks.map(|task| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--folder").arg(folder).args(["hint", task]).stdout(Stdio::null());
        command.spawn().expect("the program starts")
    });
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let progress = std::fs::read_to_string(folder.join("progress.toml")).expect("it was written");
    for task in tasks {
        assert!(progress.contains(&format!("[tasks.{task}]")), "{task} is lost: {progress}");
    }
}

/// Ctrl-C while watching: the files are whole, and the folder is free again.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_the_folder_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    // Whoever runs the tests in the background has them ignore interrupts, and so would the program.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(env!("CARGO_BIN_EXE_learn"));
    command.arg("--folder").arg(folder).args(["watch", "first_warp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut screen = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let keys = screen.find(|line| line.as_ref().is_ok_and(|line| line.contains("[h]int")));
    assert!(keys.is_some(), "it watches");
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.expect("there is `kill`").success());
    let ended = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let noted = format!("0 of {} done, noted in {}", TASKS.len(), Progress::path(folder).display());
    assert!(said.contains(&noted), "{said}");
    assert!(learn(folder, &["hint", "first_warp"]).status.success());
    let text = std::fs::read_to_string(folder.join("first_warp.rs")).expect("it is there");
    assert!(text.contains("fn first_warp("), "{text}");
}

/// A host task through the program: questions, hint, a verdict with the timeline, the solution, `try`.
#[test]
fn a_host_task_is_graded_like_any_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    assert_fails(folder, &["guess", "batch", "1000"], "the result is brought back");
    assert_fails(folder, &["check", "batch"], "1025 counted, at most 2");
    let file = folder.join("batch.rs");
    let shipped = std::fs::read_to_string(&file).expect("it was written");
    for (from, to, part) in [
        ("pub fn run(", "fn other(", "keep the signature"),
        ("source: &[u32]", "source: &[f32]", "the compiler's messages are above"),
        // More memory than a program of a learner's may have, at once and bit by bit; asking for it counts, so that no
        // test waits for a slow machine to hand it out.
        (
            "let rows = ",
            "drop(vec![1_u8; 1 << 40]);\n    let rows = ",
            "memory is limited to 1 GiB",
        ),
        (
            "let rows = ",
            "let mut all = Vec::new();\n    while all.len() < 1 << 40 { all.push(Vec::<u8>::with_capacity(1 << 20)) }\n    let rows = ",
            "memory is limited to 1 GiB",
        ),
    ] {
        std::fs::write(&file, shipped.replace(from, to)).expect("a writable folder");
        assert_fails(folder, &["check", "batch"], part);
    }
    std::fs::write(&file, shipped).expect("a writable folder");
    assert_fails(folder, &["check", "batch", "--ptx", "/dev/null"], "has no kernel of its own");
    let tried = text(&learn(folder, &["try", "batch", "--set", "rows=10"]));
    assert!(
        tried.contains("rows=10, data of seed 1")
            && tried.contains("11  copies")
            && tried.contains("H2D  "),
        "{tried}"
    );
    assert_fails(folder, &["check", "batch"], "NOT YET");
    let solution = learn(folder, &["show", "batch"]);
    std::fs::write(&file, &solution.stdout).expect("a writable folder");
    let passed = learn(folder, &["check", "batch"]);
    assert!(text(&passed).contains("batch passes."), "{}", text(&passed));
    assert!(text(&learn(folder, &["guess", "batch", "256000"])).contains("right."));
}

/// A bug is named before it is repaired: which hazard, which lines.
#[test]
fn a_bug_is_diagnosed_first() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let asked = text(&learn(folder, &["guess", "missing_barrier"]));
    assert!(asked.starts_with("What is wrong with this kernel?"), "{asked}");
    let source =
        std::fs::read_to_string(folder.join("missing_barrier.rs")).expect("it was written");
    let line = |part: &str| {
        1 + source.lines().position(|line| line.contains(part)).expect("the kernel has the line")
    };
    let (store, load) = (line("*tile.add(thread) = "), line("*tile.add(thread - 32)"));
    let lines = format!("{load} {store}");
    let right = text(&learn(folder, &["guess", "missing_barrier", "1", &lines, "8"]));
    assert_eq!(right.matches("right.").count(), 3, "{right}");
    let wrong = format!("{store} {}", load + 1);
    assert_fails(folder, &["guess", "missing_barrier", "3", &wrong, "8"], "not that;");
    assert_fails(folder, &["guess", "missing_barrier", "1", "here", "8"], "is not one line or two");
    // An access outside of an array has a line, too, and a mistake of the host's has a call.
    let guard = std::fs::read_to_string(folder.join("guard.rs")).expect("it was written");
    let access = 1 + guard.lines().position(|line| line.contains("*target.add(")).expect("a store");
    let right = text(&learn(folder, &["guess", "guard", "8", &access.to_string(), "255"]));
    assert_eq!(right.matches("right.").count(), 3, "{right}");
    for (task, mistake, call) in [("lost_order", "1", "2"), ("reused_buffer", "2", "1")] {
        let right = text(&learn(folder, &["guess", task, mistake, call]));
        assert_eq!(right.matches("right.").count(), 2, "{task}: {right}");
        assert_fails(folder, &["guess", task, "3", call], "not that;");
    }
}

/// Outputs of the guide are those of a run.
#[test]
fn the_verdicts_of_the_guide_are_those_of_a_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let guide = include_str!("../../docs/guide/learn.md");
    let example = guide.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let example = example.expect("the guide has an example");
    assert!(include_str!("session/rows_to_lanes.txt").starts_with(example), "{example}");
    let overlap = learn(folder.path(), &["check", "overlap"]);
    let overlap = String::from_utf8_lossy(&overlap.stdout).into_owned();
    let counts = overlap.find("  counts").and_then(|at| overlap[at..].split("  next").next());
    let counts = counts.expect("a count is not within its limits");
    assert!(guide.contains(counts), "{counts}");
}

/// Imports for a solution give no warning, and the next question depends on what there is too much of.
#[test]
fn an_untouched_kernel_is_told_what_to_ask_and_not_what_it_imports() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    learn(folder, &["list"]);
    let imports = text(&learn(folder, &["check", "every_third"]));
    assert!(imports.contains("sectors per load") && !imports.contains("warning"), "{imports}");
    let requests = text(&learn(folder, &["check", "wide_loads"]));
    assert!(requests.contains("could a lane move more bytes at once here"), "{requests}");
}

/// Forbidden work of a host file ends as one clear sentence, and leaves nothing behind.
#[test]
fn a_host_file_reaches_nothing_but_the_device() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    learn(folder, &["list"]);
    let file = folder.join("batch.rs");
    let given = std::fs::read_to_string(&file).expect("it was written");
    let kept = folder.join("guard.rs");
    let kept = kept.display();
    for (text, part) in chosen([
        ("loop { println!(\"{}\", \"x\".repeat(1 << 16)); }".to_owned(), "printed without end"),
        ("loop { eprintln!(\"{}\", \"x\".repeat(1 << 16)); }".to_owned(), "printed without end"),
        (
            "std::process::Command::new(\"sleep\").arg(\"77\").spawn()?;".to_owned(),
            "Operation not permitted",
        ),
        // What to do next is said by the kind of the error.
        (format!("std::fs::remove_file(\"{kept}\")?;"), "calls the driver; it opens"),
        (format!("std::fs::write(\"{kept}\", \"mine\")?;"), "Operation not permitted"),
        ("std::net::TcpListener::bind(\"127.0.0.1:0\")?;".to_owned(), "Operation not permitted"),
        ("std::thread::sleep(std::time::Duration::from_secs(99));".to_owned(), "within its time"),
        (
            "let all: Vec<_> = (0..64).map(|_| vec![1_u8; 1 << 28]).collect(); drop(all);"
                .to_owned(),
            "memory allocation",
        ),
        ("std::process::exit(0);".to_owned(), "return instead of"),
    ]) {
        let whole = given.replacen("-> Result<()> {\n", &format!("-> Result<()> {{\n{text}\n"), 1);
        std::fs::write(&file, whole).expect("a writable folder");
        assert_fails(folder, &["check", "batch"], part);
    }
    assert!(folder.join("guard.rs").exists());
    for (text, part) in [
        ("include!(\"guard.rs\");\n", "line 1: `include` takes text from another file"),
        ("mod guard;\n", "line 1: a module of another file"),
    ] {
        std::fs::write(&file, format!("{text}{given}")).expect("a writable folder");
        assert_fails(folder, &["check", "batch"], part);
    }
    std::fs::write(&file, given.replace("let rows", "let let rows")).expect("a writable folder");
    assert_fails(folder, &["check", "batch"], "the compiler's messages are above");
    std::fs::remove_file(&file).expect("a writable folder");
    std::fs::create_dir(&file).expect("a writable folder");
    assert_fails(folder, &["check", "batch"], "is no plain file");
}

/// A compiler that computes without end is ended with all that it started, when the program is interrupted.
#[test]
fn an_interrupt_ends_the_compiler() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    learn(folder, &["list"]);
    let file = folder.join("guard.rs");
    let given = std::fs::read_to_string(&file).expect("it was written");
    let endless = "#![allow(long_running_const_eval)]\nconst FOREVER: u32 = { let mut n: u32 = 0; while n < 9 { n = n & 1; } n };\n";
    let whole = given.replacen("#[kernel]", "#[used] static KEPT: u32 = FOREVER;\n#[kernel]", 1);
    let (attribute, constant) = endless.split_once('\n').expect("two lines");
    let begin = whole.find("use ").expect("it imports");
    let whole = format!("{}{attribute}\n{constant}{}", &whole[..begin], &whole[begin..]);
    std::fs::write(&file, whole).expect("a writable folder");
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(env!("CARGO_BIN_EXE_learn"));
    command.arg("--folder").arg(folder).args(["check", "guard"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let path = file.display().to_string();
    let compiles = || {
        let processes = std::fs::read_dir("/proc").expect("there is /proc").flatten();
        let lines = processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
        let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
        lines.filter(|line| line.contains("rustc") && line.contains(&path)).count()
    };
    let begin = std::time::Instant::now();
    let within = |is: bool| {
        while (compiles() > 0) != is && begin.elapsed().as_secs() < 120 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        (compiles() > 0) == is
    };
    assert!(within(true), "the compiler starts");
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.expect("there is `kill`").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(within(false), "the compiler ends");
}

/// A reader of the first line only, such as `head`, ends the program, and sees no panic.
#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
    command.arg("--folder").arg(folder.path()).args(["try", "tree"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{errors}");
}

/// A class: right, unchanged, missing, linked and hostile files; nothing is written into a submission.
#[test]
fn submissions_are_graded_as_they_are() {
    let class = tempfile::tempdir().expect("a temporary folder");
    let own = tempfile::tempdir().expect("a temporary folder");
    let given = learn(own.path(), &["list"]);
    assert!(given.status.success(), "{}", text(&given));
    let file = |student: &str, text: &str| {
        let folder = class.path().join(student);
        std::fs::create_dir_all(&folder).expect("a writable folder");
        std::fs::write(folder.join("rows_to_lanes.rs"), text).expect("a writable folder");
        folder.display().to_string()
    };
    let task = TASKS.iter().find(|task| task.id() == "rows_to_lanes").expect("it is a task");
    let given = std::fs::read_to_string(own.path().join("rows_to_lanes.rs")).expect("it is there");
    let right = [file("ada", task.solved()), file("bob <b>", task.solved())];
    let unchanged = file("cem", &format!("{given}// late\n"));
    // Answers are comments, and a file that has them is not as it was given.
    let question = TASKS.iter().find(|task| task.id() == "any_order").expect("it is a task");
    let answered = format::solution(question.solved()).expect("well-formed");
    std::fs::write(class.path().join("bob <b>/any_order.rs"), answered).expect("a writable folder");
    let hostile = file("dan", "#[path = \"/etc/passwd\"] mod it;");
    let absent = class.path().join("nobody").display().to_string();
    let linked = class.path().join("eve");
    std::fs::create_dir(&linked).expect("a writable folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        class.path().join("ada/rows_to_lanes.rs"),
        linked.join("rows_to_lanes.rs"),
    )
    .expect("links are possible here");
    let page = class.path().join("class.html").display().to_string();
    let linked = linked.display().to_string();
    let submissions = [&right[0], &right[1], &unchanged, &hostile, &absent, &linked];
    let arguments: Vec<&str> = ["report", "--output", &page]
        .into_iter()
        .chain(submissions.into_iter().map(String::as_str))
        .collect();
    let said = learn(own.path(), &arguments);
    assert_eq!(said.status.code(), Some(1), "a folder is missing: {}", text(&said));
    let said = text(&said);
    assert!(said.contains("ada: 1 of ") && said.contains("cem: 0 of "), "{said}");
    assert!(said.contains("bob <b>: 2 of "), "{said}");
    assert!(said.contains("nobody: not graded: ") && said.contains("is no folder"), "{said}");
    let html = std::fs::read_to_string(&page).expect("the page was written");
    assert!(html.contains("bob &lt;b&gt;") && !html.contains("bob <b>"), "names are text");
    assert!(html.contains("`#[path]`") || html.contains("is refused"), "{said}");
    #[cfg(unix)]
    assert!(html.contains("is a link"), "{said}");
    let count = |student: &str| std::fs::read_dir(class.path().join(student)).unwrap().count();
    assert_eq!(["ada", "cem", "dan"].map(count), [1, 1, 1], "nothing is written into them");

    let check = |form: &str| {
        let check = ["check", "rows_to_lanes", "--submission", &right[0], form];
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command.args(check).output().expect("the program starts")
    };
    let points: serde_json::Value = serde_json::from_slice(&check("--gradescope").stdout).unwrap();
    assert_eq!(points["tests"][0]["score"], 1, "{points}");
    let verdicts: results::CheckedTasks = serde_json::from_slice(&check("--json").stdout).unwrap();
    assert!(verdicts.tasks[0].present && verdicts.tasks[0].kind == "kernel", "{verdicts:?}");
}

/// Files of a hostile student: the task, what is replaced in the given file, and by what.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("guard", "use cuda_std", "#[path = \"/etc/passwd\"] mod it;\nuse cuda_std"),
    (
        "own_element",
        "/// The kernel",
        "macro_rules! m { ($a:lifetime $b:literal $($c:tt)*) => { $($c)* } }\nm! { 'r\"\\\" \" include!(\"/etc/passwd\"); } //\"\n/// The kernel",
    ),
    ("small_grid", "if i < n {", "while core::hint::black_box(true) {}\n    if i < n {"),
    ("tree", "{\n", "{\n    loop { cuda_std::println!(\"passed\"); }\n"),
    (
        "grid_stride",
        "use cuda_std",
        "#![allow(long_running_const_eval)]\nconst FOREVER: u32 = { let mut n: u32 = 0; while n < 9 { n = n & 1; } n };\n#[used] static KEPT: u32 = FOREVER;\nuse cuda_std",
    ),
    ("pinned", "{\n", "{\n    let _ = std::fs::read(\"/etc/passwd\")?;\n"),
    ("batch", "{\n", "{\n    loop { std::thread::sleep(std::time::Duration::from_secs(9)); }\n"),
    ("overlap", "{\n", "{\n    let _ = std::process::Command::new(\"sh\").spawn()?;\n"),
    ("pool", "{\n", "{\n    loop { println!(\"passed\"); }\n"),
    ("graph", "{\n", "{\n    let _ = std::hint::black_box(vec![1_u8; 1 << 40]);\n"),
];

/// The long proof: a whole class, with a submission that is broken, one that is hostile and one that is late.
#[test]
#[expect(clippy::print_stdout, reason = "the proof records the line")]
#[ignore = "takes minutes; `cargo xtask prove class` runs it"]
fn a_class_of_sixty_is_graded() {
    let class = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| class.path().join(name).display().to_string();
    let write = |student: &str, id: &str, text: &str| {
        let file = class.path().join(student).join(format!("{id}.rs"));
        std::fs::write(file, text).expect("a writable folder");
    };
    let names: Vec<String> = (0..60).map(|number| format!("student{number:02}")).collect();
    let init = |name: &str| {
        let said = learn(class.path(), &["init", &path(name), "--student", name]);
        assert!(said.status.success(), "{}", text(&said));
    };
    let (broken, hostile) = (names[13].as_str(), names[29].as_str());
    // Everybody else solves every other task of their own forms; one of the files is unlike all others.
    let hand_in = |name: &str, number: usize| {
        init(name);
        for (index, task) in course::student::tasks_of(name).into_iter().enumerate() {
            if (index + number).is_multiple_of(2) {
                let own = if index / 2 == number % 20 { number.to_string() } else { String::new() };
                let own = format!("\n#[allow(dead_code)]\nconst MINE{own}: u32 = 1;\n");
                let solved = format::solution(task.solved()).expect("well-formed");
                let is_unlike = task.kind != Kind::Question;
                write(name, task.id(), &(solved + if is_unlike { &own } else { "" }));
            }
        }
    };
    let (late, in_time) = names.split_last().expect("there are sixty");
    for (number, name) in in_time.iter().enumerate() {
        match name.as_str() {
            name if name == broken => {
                init(name);
                std::fs::write(class.path().join(name).join("class.toml"), "show").unwrap();
            }
            name if name == hostile => {
                init(name);
                for (id, from, to) in HOSTILE {
                    let given = format::shipped(of_student(name, id).solved()).unwrap();
                    let changed = given.replacen(from, to, 1);
                    assert_ne!(changed, given, "{id} has `{from}`");
                    write(name, id, &changed);
                }
                std::fs::write(class.path().join(name).join("guard.rs.bak"), [0xff; 99]).unwrap();
                let file = class.path().join(name).join("every_third.rs");
                std::fs::remove_file(&file).expect("it was written");
                std::fs::create_dir(file).expect("a writable folder");
            }
            name => hand_in(name, number),
        }
    }
    let page = path("class.html");
    let graded = |names: &[String]| {
        let begin = std::time::Instant::now();
        let folders = names.iter().map(|name| path(name));
        let arguments = ["report", "--output", &page].map(str::to_owned);
        let arguments: Vec<String> = arguments.into_iter().chain(folders).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = learn(class.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "one is not graded: {said}");
        for (number, name) in names.iter().enumerate() {
            let line = said.lines().find(|line| line.starts_with(&path(name)));
            let line = line.unwrap_or_else(|| panic!("{name} has no line: {said}"));
            let expected = match name.as_str() {
                name if name == broken => "not graded: ".to_owned(),
                name if name == hostile => format!(": 0 of {} ", TASKS.len()),
                _ => format!(
                    ": {} of {} ",
                    TASKS.len() / 2 + TASKS.len() % 2 * (1 - number % 2),
                    TASKS.len()
                ),
            };
            assert!(line.contains(&expected), "{expected}: {line}");
        }
        begin.elapsed().as_secs()
    };
    let first = graded(in_time);
    hand_in(late, names.len() - 1);
    let second = graded(&names);
    let html = std::fs::read_to_string(&page).expect("the page was written");
    assert_eq!(html.matches("<h2>").count(), names.len(), "a part for each");
    let tasks = TASKS.len();
    println!(
        "60 submissions of {tasks} tasks are graded as they deserve, one broken, one hostile and one late: {first} s, and {second} s with the late one"
    );
}

/// The plan of a class has every task once, in the order of the course.
#[test]
fn the_plan_for_teachers_has_every_task() {
    let page = include_str!("../../docs/guide/teaching.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains(". "));
    let planned: Vec<&str> = rows
        .filter_map(|row| row.rsplit_once("| `"))
        .flat_map(|(_, tasks)| tasks.trim_end_matches([' ', '|', '`']).split("` `"))
        .collect();
    let tasks: Vec<&str> = TASKS.iter().map(|task| task.id()).collect();
    assert_eq!(planned, tasks);
    assert!(page.contains(&format!("has {} tasks", tasks.len())));
}

/// The long proof: each kernel task in CUDA C++ fails and passes as in Rust.
#[test]
#[expect(clippy::print_stdout, reason = "the proof records the line")]
#[ignore = "needs nvcc; `cargo xtask prove cuda-course` runs it"]
fn twins_in_cuda_are_graded_as_in_rust() {
    course::cuda::nvcc().unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let verdicts = |language: &str| {
        let all = ["--lang", language, "check", "--all", "--json"];
        let output = learn(folder.path(), &all);
        let verdicts: results::CheckedTasks =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
        verdicts.tasks
    };
    let of = |id: &str| *TASKS.iter().find(|task| task.id() == id).expect("it is a task");
    let kernels = || TASKS.iter().filter(|task| !matches!(task.kind, Kind::Host { .. }));
    let given = [verdicts("rust"), verdicts("cuda")];
    for (language, extension) in [(Language::Rust, "rs"), (Language::Cuda, "cu")] {
        let places = Places {
            root: "".into(),
            learn: folder.path().to_owned(),
            target: "".into(),
            language,
        };
        for task in kernels() {
            let solved = format::solution(&places.solved(task).unwrap()).unwrap();
            let file = folder.path().join(format!("{}.{extension}", task.id()));
            std::fs::write(file, solved).expect("a writable folder");
        }
    }
    let solved = [verdicts("rust"), verdicts("cuda")];
    let same = |both: &[Vec<results::CheckedTask>; 2]| {
        let rust = both[0].iter().filter(|it| !matches!(of(&it.id).kind, Kind::Host { .. }));
        let pairs: Vec<_> = rust.zip(&both[1]).collect();
        assert_eq!(pairs.len(), kernels().count());
        for (rust, cuda) in &pairs {
            assert_eq!((&rust.id, &rust.stage), (&cuda.id, &cuda.stage), "{rust:?}\n{cuda:?}");
        }
        let counts = |task: &results::CheckedTask| -> Vec<f64> {
            task.counts.iter().map(|count| count.value).collect()
        };
        pairs.iter().filter(|(rust, cuda)| counts(rust) == counts(cuda)).count()
    };
    let equal = [same(&given), same(&solved)];
    assert!(solved[1].iter().all(|task| task.passed), "{solved:?}");
    let tasks = kernels().count();
    println!(
        "{tasks} tasks in CUDA C++ fail and pass as in Rust; every count is equal in {} as given and in {} solved",
        equal[0], equal[1]
    );
}

/// The repository of a class is whole, has no solution, and is graded as it is.
#[test]
fn a_class_has_a_repository_without_solutions() {
    let class = tempfile::tempdir().expect("a temporary folder");
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let folder = class.path().join("class");
    let dir = folder.display().to_string();
    let said = learn(elsewhere.path(), &["init", &dir]);
    assert!(said.status.success() && text(&said).contains("is written"), "{}", text(&said));
    // The command that it prints is one, and starts with the first task.
    let printed = text(&said);
    let command = printed.lines().find_map(|line| line.split_once("cargo xtask learn "));
    let words: Vec<&str> = command.unwrap_or_else(|| panic!("{printed}")).1.split(' ').collect();
    assert_eq!(words, ["--folder", &dir, "watch", TASKS[0].id()], "{printed}");
    for name in ["README.md", "class.toml", ".gitignore", ".github/workflows/check.yml"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it was written");
    for task in TASKS {
        let file = read(&format!("{}.rs", task.id()));
        assert_eq!(file, format::shipped(task.solved()).unwrap(), "{}", task.id());
        let solution = format::solution(task.solved()).unwrap();
        assert!(task.kind == Kind::Question || file != solution, "{}", task.id());
    }
    // The name of this machine's folders is in none of them.
    let all = ["README.md", ".github/workflows/check.yml"].map(read).concat();
    assert!(!all.contains(env!("CARGO_MANIFEST_DIR")) && !all.contains("{first}"), "{all}");
    assert!(read("README.md").lines().count() <= 10);
    assert_fails(elsewhere.path(), &["init", &dir], "is not empty");
    assert_fails(&folder, &["show", "guard"], "shows no solutions: ask your teacher");

    // A workflow installs the compiler that its language needs, before it grades, and no other.
    let (rust, cuda) = (read(".github/workflows/check.yml"), class.path().join("cuda"));
    let said = learn(elsewhere.path(), &["--lang", "cuda", "init", &cuda.display().to_string()]);
    assert!(said.status.success(), "{}", text(&said));
    let cuda = std::fs::read_to_string(cuda.join(".github/workflows/check.yml")).expect("written");
    let (nvcc, grades) = (cuda.find("COALESCE_NVCC="), cuda.find("--lang cuda check"));
    assert!(nvcc.is_some() && nvcc < grades, "{cuda}");
    assert!(!rust.contains("nvcc") && ![rust, cuda].concat().contains("{compiler}"));

    // What the workflow runs, before and after the first task is done.
    let due = TASKS[0];
    assert!(read(".github/workflows/check.yml").contains(&format!("DUE: {}\n", due.id())));
    let check = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
        command.args(["check", due.id(), "--submission", &dir]);
        command.output().expect("the program starts")
    };
    let given = check();
    assert_eq!(given.status.code(), Some(1), "{}", text(&given));
    let solved = format::solution(due.solved()).unwrap();
    std::fs::write(folder.join(format!("{}.rs", due.id())), solved).expect("a writable folder");
    let solved = check();
    assert!(solved.status.success(), "{}", text(&solved));
    std::fs::write(folder.join("class.toml"), "show = 3").expect("a writable folder");
    assert_fails(&folder, &["show", "guard"], "class.toml is damaged");
}

/// Each student has forms of the tasks that the name chooses; another's file does not pass.
#[test]
fn students_have_tasks_of_their_own() {
    let class = tempfile::tempdir().expect("a temporary folder");
    let id = "every_third";
    let read = |name: &str| {
        let file = class.path().join(name).join(format!("{id}.rs"));
        std::fs::read_to_string(file).expect("it was written")
    };
    let init = |name: &str| {
        let dir = class.path().join(name).display().to_string();
        let said = learn(class.path(), &["init", &dir, "--student", name]);
        assert!(said.status.success(), "{}", text(&said));
        read(name)
    };
    let first = init("ada");
    // The name decides, on every machine.
    assert_eq!(first, format::shipped(of_student("ada", id).solved()).unwrap());
    let other = ["bob", "cleo", "dan", "eve"].into_iter().find(|name| init(name) != first);
    let other = other.expect("there are three forms");

    let solved = |name: &str| format::solution(of_student(name, id).solved()).unwrap();
    let hand_in = |name: &str, text: &str| {
        let file = class.path().join(name).join(format!("{id}.rs"));
        std::fs::write(file, text).expect("a writable folder");
    };
    hand_in("ada", &solved("ada"));
    hand_in(other, &solved("ada"));
    let ada = learn(&class.path().join("ada"), &["check", id]);
    assert!(ada.status.success(), "{}", text(&ada));
    assert_fails(&class.path().join(other), &["check", id], "must be");
    // What graded Ada's file does not grade the copy.
    let page = class.path().join("class.html").display().to_string();
    let folder = |name: &str| class.path().join(name).display().to_string();
    let report =
        learn(class.path(), &["report", &folder("ada"), &folder(other), "--output", &page]);
    let said = text(&report);
    assert!(said.contains("ada: 1 of ") && said.contains(&format!("{other}: 0 of ")), "{said}");
    // Nobody becomes somebody else by a word in a file of their own.
    let settings = class.path().join(other).join("class.toml");
    std::fs::write(settings, "show = false\nstudent = \"ada\"\n").expect("a writable folder");
    let report = learn(class.path(), &["report", &folder(other), "--output", &page]);
    assert!(text(&report).contains("has the tasks of `ada`: name the folder so"));
    // Nor by none: the copy is of the form that students without a name have.
    let nameless = ["x", "y", "z", "u", "v", "w"]
        .into_iter()
        .find(|name| of_student(name, id).solved() != named(id).expect("a task").solved());
    let nameless = nameless.expect("there are three forms");
    init(nameless);
    hand_in(nameless, &format::solution(named(id).expect("a task").solved()).unwrap());
    std::fs::remove_file(class.path().join(nameless).join("class.toml")).expect("it was written");
    let report =
        learn(class.path(), &["report", &folder("ada"), &folder(nameless), "--output", &page]);
    assert!(text(&report).contains(&format!("{nameless}: 0 of ")), "{}", text(&report));
    assert_fails(class.path(), &["--student", "ada", "--tasks", "x", "list"], "cannot be used");
    for name in ["", "a/b", "a\nb"] {
        assert_fails(class.path(), &["--student", name, "list"], "is no name of a student");
    }
    // A folder is named by where it is, however it is written.
    let mut here = Command::new(env!("CARGO_BIN_EXE_learn"));
    here.current_dir(folder("ada")).args(["report", ".", "--output", &page]);
    let said = text(&here.output().expect("the program starts"));
    assert!(said.contains(".: 1 of "), "{said}");
}

fn of_student(name: &str, id: &str) -> &'static Task {
    let mut tasks = course::student::tasks_of(name).into_iter();
    tasks.find(|task| task.id() == id).expect("a task")
}

/// Tasks outside of the repository are graded as the course's, and go into a class without their solutions.
#[test]
fn tasks_of_a_teacher_are_graded() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session/tasks");
    let class = tempfile::tempdir().expect("a temporary folder");
    let (tasks, folder) = (source.display().to_string(), class.path().join("class"));
    let dir = folder.display().to_string();
    let solved = std::fs::read_to_string(source.join("columns_first.rs")).expect("it is there");
    let init = learn(class.path(), &["--tasks", &tasks, "init", &dir]);
    assert!(init.status.success(), "{}", text(&init));
    let given = format::shipped(&solved).unwrap();
    for name in ["columns_first.rs", "tasks/columns_first.rs"] {
        let file = std::fs::read_to_string(folder.join(name)).expect("it was written");
        assert_eq!(file, given, "{name}");
    }
    assert!(!folder.join("guard.rs").exists());
    // The student has the tasks of the class, the teacher those with solutions.
    let students = folder.join("tasks").display().to_string();
    let check = ["check", "columns_first", "--tasks"];
    for tasks in [&students, &tasks] {
        let arguments = [&check[..], &[tasks.as_str()]].concat();
        std::fs::write(folder.join("columns_first.rs"), &given).expect("a writable folder");
        assert_fails(&folder, &arguments, "sectors per load: 32 counted, at most 4 (32 lanes");
        let solved = format::solution(&solved).unwrap();
        std::fs::write(folder.join("columns_first.rs"), solved).expect("a writable folder");
        let passed = learn(&folder, &arguments);
        assert!(passed.status.success(), "{}", text(&passed));
    }
    // An editor has the tasks that were named last.
    for (arguments, id) in
        [(&["list"][..], "guard"), (&["list", "--tasks", &tasks], "columns_first")]
    {
        let listed = learn(&folder, arguments);
        assert!(listed.status.success(), "{}", text(&listed));
        let editor = std::fs::read_to_string(folder.join("editor/kernels/Cargo.toml"));
        assert!(editor.expect("it was written").contains(&format!("\"{id}\"")), "{id}");
    }
    // The second bound is for each element.
    let own = tempfile::tempdir().expect("a temporary folder");
    let settings = std::fs::read_to_string(source.join("columns_first.toml")).expect("it is there");
    let write = |rust: &str, settings: &str| {
        std::fs::write(own.path().join("mine.rs"), rust).expect("a writable folder");
        std::fs::write(own.path().join("mine.toml"), settings).expect("a writable folder");
    };
    let tasks = own.path().display().to_string();
    let edited = class.path().join("edited");
    write(&solved, &settings.replace("0.125", "0.0625"));
    assert_fails(&edited, &["--tasks", &tasks, "times"], "mine does not pass: sectors stored");
    let list = ["--tasks", tasks.as_str(), "list"];
    for (from, to, part) in [
        ("rows_to_lanes", "rows", "mine.toml, line 1: there is no task `rows`"),
        ("rows_to_lanes", "pinned", "mine.toml, line 1: `pinned` is a host task"),
        ("rows_to_lanes", "guard", "mine.toml, line 1: `guard` is a bug task"),
        ("\"sectors stored\"", "\"sector\"", "mine.toml, line 15: there is no count `sector`"),
        ("at_most = 4", "at_most = 0", "mine.toml, line 11: no count lies"),
        ("at_most = 4", "most = 4", "mine.toml, line 11: unknown field `most`"),
        ("hints = [", "hints = [[", "mine.toml, line"),
    ] {
        write(&solved, &settings.replace(from, to));
        assert_fails(&edited, &list, part);
    }
    for (from, to, part) in [
        ("//! # ", "//! ", "mine.rs, line 1: begin with the title"),
        ("    // learn: end\n", "", "mine.rs: line"),
        ("width: u32, height: u32", "width: u32", "line 13: the task is like `rows_to_lanes`"),
    ] {
        write(&solved.replace(from, to), &settings);
        assert_fails(&edited, &list, part);
    }
    std::fs::remove_file(own.path().join("mine.rs")).expect("a writable folder");
    assert_fails(&edited, &list, "mine.rs is not there");
    std::fs::remove_file(own.path().join("mine.toml")).expect("a writable folder");
    assert_fails(&edited, &list, "has no task: a task is NAME.rs and NAME.toml");
}
