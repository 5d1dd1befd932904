//! Says which kernels of PTX files the executor can run: `cargo run --release -p coalesce-simt --example can_run -- FILE..`
//!
//! A line for each kernel, separated by tabs: the file, the kernel, and `runs` or why it is refused. "Runs" means that the
//! module loads and the whole kernel is decoded. `cargo xtask samples` makes a table of it.

#![expect(clippy::print_stdout, reason = "what it prints is its purpose")]

use simt::Module;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for file in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("error: cannot read {file}: {error}");
                code = ExitCode::FAILURE;
                continue;
            }
        };
        match Module::parse(&text) {
            Ok(module) => {
                for kernel in module.kernels() {
                    let verdict = match kernel.supported() {
                        Ok(()) => "runs".to_owned(),
                        Err(error) => in_a_line(&error.to_string()),
                    };
                    println!("{file}\t{}\t{verdict}", kernel.name);
                }
            }
            Err(error) => {
                for line in text.lines() {
                    if let Some((_, rest)) = line.split_once(".entry ") {
                        let name = rest.split('(').next().unwrap_or(rest).trim();
                        println!("{file}\t{name}\tmodule: {}", in_a_line(&error.to_string()));
                    }
                }
            }
        }
    }
    code
}

fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
