//! Files that somebody wrote to read this machine's files, to fill its memory or to steer its terminal.

use crate::program::*;
use std::path::Path;
use std::process::Output;

/// A kernel whose only load is of line 1 of a source of this name.
fn ptx(source: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .u64 %rd<4>; .reg .u32 %r<4>;\nld.param.u64 %rd1,[p];\nmov.u32 %r1,%tid.x;\n\
         mul.wide.u32 %rd2,%r1,128;\nadd.u64 %rd1,%rd1,%rd2;\n.loc 1 1 0\nld.global.u32 %r2,[%rd1];\n\
         st.global.u32 [%rd1],%r2;\nret;\n}}\n.file 1 \"{source}\"\n"
    )
}

/// Returns what `explain` says of such a kernel, in a folder that has the file, and what it writes.
fn explained(folder: &Path, source: &str, more: &[&str]) -> [String; 2] {
    let (file, json) = (folder.join("k.ptx"), folder.join("k.json"));
    std::fs::write(&file, ptx(source)).expect("a writable folder");
    let launch = ["--grid=1", "--block=32", "--arg=p:u32*1024=iota", "--json"];
    let mut program = program(&["explain", &format!("{}:k", file.display())]);
    program.args(launch).arg(&json).args(more).current_dir(folder);
    let output = program.output().expect("the program starts");
    assert!(output.status.success(), "{}", said(&output));
    [said(&output), std::fs::read_to_string(json).expect("it was written")]
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

#[test]
fn ptx_does_not_name_files_of_the_machine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let secret = tempfile::tempdir().expect("a temporary folder");
    let key = secret.path().join("key.cu");
    std::fs::write(&key, "the key\n").expect("a writable folder");
    std::os::unix::fs::symlink(&key, folder.path().join("link.cu")).expect("a writable folder");
    std::fs::write(folder.path().join("k.cu"), "the source\n").expect("a writable folder");
    let is_told = |source: &str, text: &str, more: &[&str]| {
        let told = explained(folder.path(), source, more).map(|told| told.contains(text));
        assert_eq!(told[0], told[1], "{source}");
        told[0]
    };
    assert!(is_told("k.cu", "the source", &[]));
    let key = key.display().to_string();
    for source in [&key, "link.cu", "../../../../etc/passwd", "/etc/passwd", "/proc/self/environ"] {
        for text in ["the key", "root:", "PATH="] {
            assert!(!is_told(source, text, &[]), "{source}");
        }
    }
    let folder_of_key = secret.path().display().to_string();
    assert!(is_told(&key, "the key", &["--sources", &folder_of_key]), "the user says so");
}

#[test]
fn sources_without_end_end() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe.cu");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("coreutils are everywhere").success());
    for source in ["/dev/zero", "pipe.cu"] {
        explained(folder.path(), source, &[]);
    }
    std::fs::rename(&pipe, folder.path().join("pipe.ptx")).expect("ours");
    let file = folder.path().join("endless.ptx");
    std::fs::File::create(&file).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    assert_fails(&["explain", &file.display().to_string()], 2, "has more than 268435456 bytes");
}

#[test]
fn nothing_that_others_wrote_steers_the_terminal() {
    let is_plain = |text: &str| !text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\r']);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let escape = "\u{1b}]52;c;eA==\u{7}";
    std::fs::write(folder.path().join("k.cu"), format!("x {escape}\n")).expect("writable");
    for source in ["k.cu", &format!("{escape}.cu")] {
        let [told, json] = explained(folder.path(), source, &[]);
        assert!(is_plain(&told) && is_plain(&json) && !json.contains("\\u001b"), "{told:?}");
    }
    let file = folder.path().join("wrong.ptx");
    std::fs::write(&file, ptx("k.cu").replace("ret;", &format!("ret{escape};"))).expect("writable");
    let told = said(&coalesce(&["explain", &file.display().to_string(), "--grid=1", "--block=1"]));
    assert!(is_plain(&told), "{told:?}");

    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/nvidia-h200/reference.json");
    let mut results = results::Results::load(committed.as_ref(), host::CATALOGUE.renamed)
        .expect("it is committed");
    results.rows.truncate(20);
    results.environment.device.name += escape;
    let board = results.environment.board.as_mut().expect("it was a GPU");
    board.throttle_reasons = vec![escape.to_owned()];
    board.id = Some(escape.to_owned());
    for row in &mut results.rows[..3] {
        row.variant += escape;
        row.outcome = results::RowOutcome::Wrong { reason: format!("bad\r{escape}") };
    }
    let files: Vec<String> = (0..4)
        .map(|index| {
            let path = folder.path().join(format!("node{index}{escape}.json"));
            results.save(&path).expect("a writable folder");
            path.display().to_string()
        })
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for arguments in [
        &["compare", "--fleet", files[0], files[1], files[2], files[3]][..],
        &["compare", files[0], files[1]],
        &["results", files[0]],
        &["compare", files[0], "no-such-file"],
        &["bench", "coalescing", "--quick", "--device=virtual", "--check", files[0]],
    ] {
        let told = said(&coalesce(arguments));
        assert!(is_plain(&told), "{arguments:?}: {told:?}");
    }
}

/// A loader that searches the working folder, as with an empty element of its path, comes upon our library there.
#[test]
fn our_library_in_the_working_folder_is_no_driver_of_a_gpu() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = std::env::current_exe().expect("a test knows where it is");
    let built = built.with_file_name("libvirtual_libcuda.so");
    std::fs::create_dir(folder.path().join("lib")).expect("a new folder");
    for name in ["libcuda.so.1", "lib/libcuda.so.1"] {
        std::fs::copy(&built, folder.path().join(name)).expect("cargo builds it with the tests");
    }
    let started = |arguments: &[&str]| {
        let mut program = program_without_gpu(arguments);
        program.env("LD_LIBRARY_PATH", ":").current_dir(folder.path());
        program
    };
    let verify = ["verify", "coalescing", "--device=gpu"];
    assert_program_fails(&mut started(&verify), 3, "libcuda");
    let quick = ["bench", "coalescing", "--quick", "--json=out.json"];
    assert!(started(&quick).output().expect("the program starts").status.success());
    let results = results::Results::load(&folder.path().join("out.json"), &[]).expect("a file");
    assert!(results.environment.is_prediction, "the file says what measured it");
}
