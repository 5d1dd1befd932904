//! The sanitizer that `cargo xtask prove sanitizers` builds with finds what is planted here.
//!
//! Without `SIMT_SANITIZER` nothing is looked for, and the tests of this file do nothing.

use std::process::Command;

/// Runs an ignored test of this file in a process of its own and gives what it wrote before it ended.
fn run(name: &str) -> (bool, String) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--ignored", "--exact", name]).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_is_planted_is_found() {
    if std::env::var_os("SIMT_SANITIZER").is_none_or(|name| name != "address") {
        return;
    }
    for (name, found) in [
        ("sanitized::planted_read_past_the_end", "heap-buffer-overflow"),
        ("sanitized::planted_use_after_free", "heap-use-after-free"),
    ] {
        let (passed, text) = run(name);
        assert!(!passed && text.contains(found), "{name}: {text}");
    }
}

#[test]
#[ignore = "planted: is run by what_is_planted_is_found"]
fn planted_read_past_the_end() {
    let bytes = std::hint::black_box(vec![1_u8; 40]);
    // SAFETY: none, it is planted: one byte past the end.
    let byte = unsafe { std::ptr::read_volatile(bytes.as_ptr().wrapping_add(40)) };
    std::hint::black_box(byte);
}

#[test]
#[ignore = "planted: is run by what_is_planted_is_found"]
fn planted_use_after_free() {
    let bytes = std::hint::black_box(vec![1_u8; 40]);
    let pointer = bytes.as_ptr();
    drop(bytes);
    // SAFETY: none, it is planted: the memory was freed.
    let byte = unsafe { std::ptr::read_volatile(pointer) };
    std::hint::black_box(byte);
}
