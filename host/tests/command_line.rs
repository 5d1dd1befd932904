//! The `coalesce` program from outside: exit codes and one clear sentence per mistake.

use std::process::{Command, Output};

/// Runs the program where no driver can be found.
fn coalesce(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coalesce"))
        .args(arguments)
        .env("COALESCE_LIBCUDA", "/nonexistent/libcuda.so.1")
        .output()
        .expect("the program starts")
}

/// Asserts an exit code and a part of the message, which is one line without a backtrace.
fn assert_fails(arguments: &[&str], code: i32, part: &str) {
    let output = coalesce(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(message.contains(part), "{arguments:?}: {message}");
    assert!(message.starts_with("error: "), "{arguments:?}: {message}");
    assert!(
        !message.contains("panicked") && !message.contains("backtrace"),
        "{arguments:?}: {message}"
    );
}

#[test]
fn without_a_driver_measuring_says_what_is_missing() {
    for command in ["verify", "bench"] {
        assert_fails(&[command, "--device", "gpu"], 3, "/nonexistent/libcuda.so.1");
    }
}

#[test]
fn without_a_driver_the_virtual_device_is_taken_and_named() {
    let output =
        coalesce(&["verify", "transpose/padded", "--size", "rows=33,columns=65", "--check"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("device: virtual"), "{text}");
    assert!(text.contains("1 correct, 0 wrong, 0 not run, 0 hazards"), "{text}");
}

#[test]
fn a_device_that_does_not_exist_is_refused() {
    assert_fails(&["verify", "--device", "virtual:z9"], 2, "there is no profile `z9`");
    assert_fails(&["verify", "--device", "tpu"], 2, "`tpu` is no device");
}

#[test]
fn a_size_that_no_variant_takes_is_no_success() {
    let output = coalesce(&["verify", "transpose/wide", "--size", "rows=3", "--device", "virtual"]);
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
    assert_fails(&["bench", "coalescing", "--size", "n=many"], 2, "`many` is not a number");
}

#[test]
fn an_unwritable_file_is_refused_before_measuring() {
    assert_fails(
        &["bench", "--json", "/nonexistent/folder/out.json"],
        2,
        "cannot write /nonexistent/folder/out.json",
    );
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
fn the_list_is_valid_json_with_every_variant() {
    let output = coalesce(&["list", "--json"]);
    assert!(output.status.success());
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let listed: usize = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|pattern| pattern["variants"].as_array().map_or(0, Vec::len))
        .sum();
    let variants: usize =
        coalesce::patterns::PATTERNS.iter().map(|pattern| pattern.variants.len()).sum();
    assert_eq!(listed, variants);
}

#[test]
fn explaining_needs_no_device() {
    for pattern in coalesce::patterns::PATTERNS {
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
