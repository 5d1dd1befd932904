//! The module of Python that the wheel brings, by this build's program, without pip.

use crate::program::*;
use results::Hazard;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/coalesce/src/python");

/// Its tests of NumPy are for `cargo xtask wheel --check`, where pip has installed that.
#[test]
fn the_module_checks_kernels_and_raises_what_is_found() {
    let program = program(&[]).get_program().to_owned();
    let mut python = Command::new("python3");
    python.arg("test_coalesce_gpu.py").current_dir(FOLDER).env("PYTHONDONTWRITEBYTECODE", "1");
    let Ok(ended) = python.env("COALESCE_PROGRAM", program).output() else {
        eprintln!("not run: there is no python3 on PATH");
        return;
    };
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn the_module_knows_which_hazards_are_notes() {
    let module = std::fs::read_to_string(format!("{FOLDER}/coalesce_gpu/__init__.py"));
    let module = module.expect("it is in the checkout");
    let line = module.lines().find_map(|line| line.strip_prefix("_NOTES = frozenset({"));
    let names = line.and_then(|line| line.strip_suffix("})")).expect("a set of names");
    let kinds = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/counters/src/hazard.rs");
    let kinds = std::fs::read_to_string(kinds).expect("it is in the checkout");
    assert_eq!(names.split(", ").count(), kinds.matches("That is a note").count());
    for name in names.split(", ") {
        let hazard: Hazard = serde_json::from_str(name).expect("a hazard has the name");
        assert!(hazard.is_note(), "{name}");
    }
}
