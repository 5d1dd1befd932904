use crate::program::*;

#[test]
fn the_list_is_valid_json_with_every_variant() {
    let output = coalesce(&["list", "--json"]);
    assert!(output.status.success());
    let list: results::PatternList = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let listed: usize = list.patterns.iter().map(|pattern| pattern.variants.len()).sum();
    let variants: usize = host::patterns::ALL.iter().map(|pattern| pattern.variants.len()).sum();
    assert_eq!(listed, variants);
}

#[test]
fn explaining_needs_no_device() {
    for pattern in host::patterns::ALL {
        let output = coalesce(&["explain", pattern.name]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", pattern.name);
        let counts_traffic = text.contains("Traffic per request");
        assert_eq!(counts_traffic, !pattern.is_host_work(), "{}", pattern.name);
        for variant in pattern.variants {
            assert!(text.contains(variant.name), "{}/{}", pattern.name, variant.name);
        }
    }
}

#[test]
fn pictures_are_written_for_every_selected_variant() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inside = folder.path().join("pictures");
    let target = inside.to_str().expect("a plain path");
    for selection in ["transpose", "stream_semantics/blocking"] {
        let output = coalesce(&["explain", selection, "--svg", target]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&format!("Picture: {target}/")), "{text}");
    }
    let names: Vec<String> = std::fs::read_dir(&inside)
        .expect("the folder is there")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    let transposes = host::CATALOGUE.select("transpose").expect("a pattern");
    assert_eq!(names.len(), transposes.variants().count() + 1, "{names:?}");
    assert!(names.contains(&"stream_semantics_blocking.svg".to_owned()), "{names:?}");
    for name in names {
        let text = std::fs::read_to_string(inside.join(&name)).expect("a text");
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"), "{name}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_one_sentence() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let below = file.path().join("pictures");
    let target = below.to_str().expect("a plain path");
    assert_fails(&["explain", "graphs", "--svg", target], 1, "choose another folder");
}

/// A sixteenth of what an H200 sets aside at most, in bytes.
const SET_ASIDE: usize = 39_321_600 / 16;

/// A profile of an H200 with a sixteenth of L2 and of its rates, of which `set_aside` bytes can be set aside.
fn small_l2(folder: &std::path::Path, set_aside: usize) -> String {
    let h200 = virtual_gpu::Profile::named("h200").expect("a known profile");
    let profile = virtual_gpu::Profile {
        l2_bytes: h200.l2_bytes / 16,
        persisting_l2_bytes: set_aside as u64,
        dram_bytes_per_second: h200.dram_bytes_per_second / 16.0,
        l2_bytes_per_second: h200.l2_bytes_per_second / 16.0,
        ..h200
    };
    let path = folder.join("small.json");
    let text = serde_json::to_string(&profile).expect("a profile is JSON");
    std::fs::write(&path, text).expect("a writable folder");
    format!("virtual:{}", path.display())
}

#[test]
fn a_device_that_sets_no_l2_aside_runs_what_needs_none() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let device = small_l2(folder.path(), 0);
    let size = ["--size", "n=1025,table=128", "--device", &device];
    let output = coalesce(&[&["verify", "l2_persistence"], &size[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("3 correct, 0 wrong, 6 not run"), "{text}");
    assert!(text.contains("this device cannot set a part of L2 aside"), "{text}");
    assert_eq!(text.matches("cannot set").count(), 1, "a reason is said once: {text}");
    assert!(text.contains("not run, 6 times: this device"), "{text}");
    assert!(text.lines().last().is_some_and(|last| last.starts_with("3 correct")), "{text}");
    let verbose = coalesce(&[&["verify", "l2_persistence", "--verbose"], &size[..]].concat());
    let verbose = String::from_utf8_lossy(&verbose.stdout).into_owned();
    let listed = |line: &&str| line.starts_with("l2_persistence/") && line.contains(": not run:");
    assert_eq!(verbose.lines().filter(listed).count(), 6, "{verbose}");
    let output = coalesce(&[&["bench", "l2_persistence", "--quick"], &size[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("not run: this device cannot set").count(), 6, "{text}");
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains("predictions") && first.contains("exact"), "{first}");
}

/// The times over the table's length: a window pays up to the set-aside, a tuned one beyond.
#[test]
fn a_window_pays_while_its_table_fits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Ten of eleven parts that it allows: with all of it L2 is slow.
    let device = small_l2(folder.path(), SET_ASIDE / 10 * 11);
    let fits = SET_ASIDE / 4;
    let axis = format!("table={},{},{}", fits / 4, fits, 2 * fits);
    let json = folder.path().join("out.json");
    let json = json.to_string_lossy();
    let output = coalesce(&[
        "bench",
        "l2_persistence/plain",
        "l2_persistence/window",
        "l2_persistence/tuned",
        "l2_persistence/launch_window",
        "--size",
        "n=2^21,set_aside=0.9",
        "--axis",
        &axis,
        "--device",
        &device,
        "--json",
        &json,
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = results::Results::load(json.as_ref().as_ref(), host::CATALOGUE.renamed)
        .expect("it is readable");
    let time = |variant: &str, table: usize| {
        let is_it = |row: &&results::Row| {
            row.variant == variant && row.sweep.is_some() && row.size["table"] == table as f64
        };
        let row = results.rows.iter().find(is_it).expect("it has a row");
        row.measured().expect("it is measured").time_ms.median
    };
    // 8 bytes per element when the table is kept, 12 when it is not, 10 when half of it is.
    let kept = time("window", fits);
    for (variant, table, bytes) in [
        ("window", fits / 4, 8.0),
        ("tuned", fits / 4, 8.0),
        ("tuned", fits, 8.0),
        ("launch_window", fits, 8.0),
        ("window", 2 * fits, 12.0),
        ("tuned", 2 * fits, 10.0),
        ("launch_window", 2 * fits, 10.0),
    ] {
        let ratio = time(variant, table) / kept;
        // The launch and the events are a part of both.
        assert!((ratio / (bytes / 8.0) - 1.0).abs() < 0.1, "{variant} at {table}: {ratio}");
    }
    // What `plain` keeps by itself, the model knows only for one thread that executes.
    assert!(time("plain", 2 * fits) > 0.98 * kept);
}
