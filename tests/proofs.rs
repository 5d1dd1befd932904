//! Proofs that take too long for CI: which of them hold for these sources.

use crate::kernels_source::root;
use xtask::proofs::{self, PROOFS};

/// A proof whose inputs have changed is said and does not fail: `cargo xtask prove NAME` runs it anew.
#[test]
fn proofs_that_do_not_hold_for_this_checkout_are_said() {
    let record = proofs::load(&root()).expect("the file is well-formed and names known proofs");
    for proof in PROOFS {
        let stale = proofs::staleness(&root(), &record, proof).expect("its inputs are here");
        if let Some(why) = stale {
            println!("not run: {}, because {why} (cargo xtask prove {})", proof.name, proof.name);
        }
    }
}

#[test]
fn a_malformed_record_and_an_unknown_proof_are_errors() {
    let hash = "0".repeat(64);
    let entry = |name: &str, date: &str, hash: &str| {
        format!("[{name}]\nfigure = \"1\"\ndate = \"{date}\"\ninputs = \"{hash}\"\n")
    };
    let good = entry("fuzz", "2026-11-22", &hash);
    let record = proofs::parse(&good).expect("it is as it is written");
    assert!(proofs::text(&record).expect("it can be written").ends_with(&good));
    for (bad, part) in [
        (entry("fuss", "2026-11-22", &hash), "no proof `fuss`"),
        (entry("fuzz", "yesterday", &hash), "malformed"),
        (entry("fuzz", "2026-11-22", "0"), "malformed"),
        (format!("{good}more = 1\n"), "malformed"),
        ("fuzz".to_owned(), "malformed"),
    ] {
        let error = format!("{:#}", proofs::parse(&bad).expect_err(&bad));
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_changed_input_makes_a_proof_stale() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a writable folder");
    };
    let hash = || proofs::hash(folder.path(), &["a"]).expect("it can be read");
    std::fs::create_dir(folder.path().join("a")).expect("a writable folder");
    write("a/one", "1");
    let before = hash();
    write("b", "not an input");
    assert_eq!(hash(), before);
    write("a/one", "2");
    assert_ne!(hash(), before);
    write("a/one", "1");
    assert_eq!(hash(), before);
    write("a/two", "");
    assert_ne!(hash(), before);
}
