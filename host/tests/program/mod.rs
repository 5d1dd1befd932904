use results::Results;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The program with a driver that does not exist, so that no test takes a GPU.
pub fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_coalesce"));
    program.args(arguments).env("COALESCE_LIBCUDA", "/nonexistent/libcuda.so.1");
    program.env_remove("COALESCE_DEVICE");
    program
}

/// The program on a machine where no driver was chosen and no GPU can be found.
pub fn program_without_gpu(arguments: &[&str]) -> Command {
    let mut program = program(arguments);
    program.env_remove("COALESCE_LIBCUDA").env("CUDA_VISIBLE_DEVICES", "");
    program
}

pub fn coalesce(arguments: &[&str]) -> Output {
    program(arguments).output().expect("the program starts")
}

/// Asserts an exit code and a part of the message, which is one line without a backtrace.
pub fn assert_fails(arguments: &[&str], code: i32, part: &str) {
    assert_program_fails(&mut program(arguments), code, part);
}

/// [`assert_fails()`] of a program that was prepared; gives the message and what was printed.
pub fn assert_program_fails(program: &mut Command, code: i32, part: &str) -> [String; 2] {
    let arguments: Vec<_> = program.get_args().map(ToOwned::to_owned).collect();
    let output = program.output().expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(message.contains(part), "{arguments:?}: {message}");
    assert!(message.starts_with("error: "), "{arguments:?}: {message}");
    assert!(
        !message.contains("panicked") && !message.contains("backtrace"),
        "{arguments:?}: {message}"
    );
    [message, String::from_utf8_lossy(&output.stdout).into_owned()]
}

/// Reads a file of results.
pub fn load(path: &Path) -> Results {
    Results::load(path, host::CATALOGUE.renamed).expect("a result file")
}

/// Waits until a file of results has rows.
pub fn wait_for_rows(path: &Path) {
    let begin = Instant::now();
    while !path.exists() || load(path).rows.is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(100), "no rows come");
        std::thread::sleep(Duration::from_millis(10));
    }
}
