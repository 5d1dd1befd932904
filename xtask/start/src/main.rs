//! The program behind `cargo xtask`.

fn main() -> std::process::ExitCode {
    start::main()
}
