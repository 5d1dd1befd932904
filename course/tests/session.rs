//! A learner's session, through the program: guess, fail, ask, paste, pass; and what goes wrong on the way.

use std::path::Path;
use std::process::{Command, Output};

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
    assert_fails(
        folder,
        &["show", "rows_to_lanes"],
        "after three tries".replace("three", "3").as_str(),
    );
    let first = learn(folder, &["check", "rows_to_lanes"]);
    // Behind the heading, which counts the tasks.
    let screen = String::from_utf8_lossy(&first.stdout).into_owned();
    let screen = screen.split_once('\n').map_or("", |(_, rest)| rest);
    assert_eq!(screen, include_str!("session/rows_to_lanes.txt"), "{screen}");
    assert!(
        text(&learn(folder, &["hint", "rows_to_lanes"])).starts_with("hint 1 of 3: Write down")
    );
    for _ in 0..2 {
        assert_fails(folder, &["check", "rows_to_lanes"], "32 counted, at most 4");
    }
    let solution = learn(folder, &["show", "rows_to_lanes"]);
    assert!(solution.status.success(), "{}", text(&solution));
    std::fs::write(folder.join("rows_to_lanes.rs"), &solution.stdout).expect("a writable folder");
    let passed = learn(folder, &["check", "--json", "rows_to_lanes"]);
    assert!(passed.status.success(), "{}", text(&passed));
    let json: serde_json::Value = serde_json::from_slice(&passed.stdout).expect("it is JSON");
    assert_eq!((&json["schema"], &json["passed"]), (&1.into(), &1.into()));
    // The first task is current still, and the questions are about the learner's own kernel.
    assert!(text(&learn(folder, &["open"])).contains("first_warp"));
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
        (endless.into_bytes(), "still running after"),
    ] {
        std::fs::write(&file, &bytes).expect("a writable folder");
        assert_fails(folder, &["check", "guard"], part);
        assert_eq!(std::fs::read(&file).expect("it is still there"), bytes);
    }
    std::fs::remove_file(&file).expect("a writable folder");
    assert_fails(folder, &["check", "guard"], "outside the array");
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
    std::fs::write(folder.join("progress.toml"), "version = 9\n").expect("a writable folder");
    assert_fails(folder, &["list"], "newer course");
    assert_eq!(std::fs::read_to_string(folder.join("progress.toml")).unwrap(), "version = 9\n");
}
