//! Comparisons from outside: boards of a fleet, and two files as JSON.

use crate::program::*;

/// Files of so many boards, from the committed measurement; one board's device memory is slow, if one is named.
pub fn boards(folder: &std::path::Path, count: usize, slow: Option<usize>) -> Vec<String> {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let mut results = results::Results::load(committed.as_ref(), host::CATALOGUE.renamed)
        .expect("it is committed");
    results.rows.retain(|row| ["coalescing", "transpose"].contains(&row.pattern.as_str()));
    let board = |index: usize| {
        let mut results = results.clone();
        for (place, row) in results.rows.iter_mut().enumerate() {
            let results::RowOutcome::Measured(measured) = &mut row.outcome else { continue };
            let noise = 1.0 + 0.001 * ((index * 7 + place * 3) % 5) as f64;
            let factor = if Some(index) == slow { 1.1 } else { 1.0 };
            measured.time_ms = measured.time_ms.scaled(noise * factor);
        }
        let path = folder.join(format!("node{index}-gpu0.json"));
        results.save(&path).expect("a writable folder");
        path.to_string_lossy().into_owned()
    };
    (0..count).map(board).collect()
}

#[test]
fn a_slow_board_of_a_fleet_is_named_and_fails_the_comparison() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let compare = |files: &[String], more: &[&str]| {
        let files = files.iter().map(String::as_str);
        let arguments: Vec<&str> = ["compare", "--fleet"].into_iter().chain(files).collect();
        coalesce(&[&arguments[..], more].concat())
    };
    let sound = boards(folder.path(), 6, None);
    let output = compare(&sound, &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("NVIDIA H200: 0 of 6 boards are outliers"), "{text}");

    let files = boards(folder.path(), 6, Some(4));
    let output = compare(&files, &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("node4-gpu0") && text.contains("1 of 6 boards"), "{text}");
    assert!(text.contains("DOUBTFUL") && text.contains("are of one board"), "{text}");
    let output = compare(&files, &["--json-lines"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(r#""board":"node4-gpu0""#) && text.contains(r#""finding":"outlier""#));
    let output = compare(&files, &["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(json["fleets"][0]["outliers"][0]["board"], "node4-gpu0");

    let arguments = ["compare", "--fleet", &files[0], &files[1], &files[2]];
    assert_fails(&arguments, 2, "has 4 boards here");
    assert_fails(&["compare", &files[0]], 2, "name two to compare");

    // The report of so many files is that of the fleet.
    let output = folder.path().join("fleet").to_string_lossy().into_owned();
    let report: Vec<&str> =
        ["report", "-o", &output].into_iter().chain(files.iter().map(String::as_str)).collect();
    assert!(coalesce(&report).status.success());
    let page = std::fs::read_to_string(format!("{output}/index.html")).expect("a page");
    assert!(page.contains("1 board is slower than the others"), "{page}");
    assert!(std::path::Path::new(&output).join("board-4.html").exists());
}

#[test]
fn boards_that_are_wrong_missing_or_damaged_come_first() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = boards(folder.path(), 6, None);
    let change = |index: usize, change: &dyn Fn(&mut results::Results)| {
        let path = files[index].as_ref();
        let mut board = results::Results::load(path, &[]).expect("it was written");
        change(&mut board);
        board.save(path).expect("ours");
    };
    let compare = |code: i32, more: &[&str], parts: &[&str]| {
        let files = files.iter().map(String::as_str);
        let arguments: Vec<&str> = ["compare", "--fleet"].into_iter().chain(files).collect();
        let output = coalesce(&[&arguments[..], more].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
        text
    };
    let list = folder.path().join("nodes.txt").display().to_string();
    std::fs::write(&list, "node0\nnode5\nnode05\nnode17\n").expect("a writable folder");
    let text = compare(7, &["--expect", &list], &["MISSING node05", "MISSING node17"]);
    assert!(!text.contains("MISSING node0:") && text.contains("0 of 6 boards"), "{text}");

    std::fs::write(&files[5], "{\"schema\": NaN").expect("ours");
    compare(8, &[], &["DAMAGED", "node5-gpu0.json", "0 of 5 boards are outliers"]);

    change(2, &|board| {
        for row in &mut board.rows {
            row.outcome = results::RowOutcome::Wrong { reason: "element 7 is 3, not 4".to_owned() };
        }
    });
    change(3, &|board| {
        board.rows.truncate(4);
        board.interrupted = true;
    });
    change(4, &|board| {
        let reason = "CUDA_ERROR_ECC_UNCORRECTABLE".to_owned();
        board.rows[0].outcome = results::RowOutcome::NotRun { reason };
    });
    let parts = [
        "WRONG node2-gpu0: ",
        "element 7 is 3, not 4",
        "ABSENT node3-gpu0: ",
        "INTERRUPTED node3-gpu0",
        "ABSENT node4-gpu0: 1 rows",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
    ];
    let text = compare(6, &["--expect", &list], &parts);
    assert!(text.starts_with("WRONG node2-gpu0"), "the first thing that is said: {text}");
    let lines = compare(6, &["--expect", &list, "--json-lines"], &[]);
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let is_there = |finding: &str, board: &str| {
        lines.iter().any(|line| line["finding"] == finding && line["board"] == board)
    };
    for (finding, board) in [
        ("wrong", "node2-gpu0"),
        ("absent", "node3-gpu0"),
        ("interrupted", "node3-gpu0"),
        ("absent", "node4-gpu0"),
        ("missing", "node17"),
    ] {
        assert!(is_there(finding, board), "{finding} {board}: {lines:?}");
    }
    assert!(lines.iter().any(|line| line["finding"] == "damaged"), "{lines:?}");
    let json = compare(6, &["--json"], &[]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON alone");
    assert_eq!(json["fleets"][0]["unsound"][0]["board"], "node2-gpu0");
    assert_eq!(json["damaged"].as_array().map(Vec::len), Some(1));

    let output = folder.path().join("fleet").to_string_lossy().into_owned();
    let report: Vec<&str> = ["report", "-o", &output]
        .into_iter()
        .chain(files[..5].iter().map(String::as_str))
        .collect();
    assert!(coalesce(&report).status.success());
    let page = std::fs::read_to_string(format!("{output}/index.html")).expect("a page");
    assert!(page.contains("rows are wrong") && page.contains("element 7 is 3"), "{page}");
}

#[test]
fn a_comparison_as_json_has_every_row() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let output = coalesce(&["compare", committed, committed, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    let rows = json["rows"].as_array().expect("rows");
    assert!(rows.len() > 300, "{}", rows.len());
    assert!(rows.iter().all(|row| row["verdict"] == "SAME" && row["ratio"] == 1.0));
}

/// The lines of the job files and their page that begin with our program are commands of it.
#[test]
fn the_commands_of_fleet_jobs_are_ours() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = boards(folder.path(), 4, None);
    std::fs::create_dir(folder.path().join("nodes")).expect("a writable folder");
    let mut found = 0;
    for name in ["README.md", "fleet.sbatch", "fleet.yaml"] {
        let path = format!("{}/../docs/fleet/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("it is there");
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("./coalesce ")) {
            let mut arguments: Vec<&str> = Vec::new();
            for word in line.split(' ').map(|word| word.trim_matches('"')) {
                match word {
                    "nodes/*.json" => arguments.extend(files.iter().map(String::as_str)),
                    "fleet" => arguments.push("fleet"),
                    word => arguments.push(word),
                }
            }
            let output = program(&arguments).current_dir(folder.path()).output();
            let output = output.expect("the program starts");
            // Without a GPU nothing is measured; a mistake in the arguments would be a 2.
            let expected = if arguments[0] == "bench" { 3 } else { 0 };
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(expected), "{name}: {line}: {message}");
            found += 1;
        }
    }
    assert_eq!(found, 4, "two jobs, and two commands on the page");
}
