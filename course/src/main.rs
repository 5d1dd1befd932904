//! The program behind `cargo xtask learn`.

fn main() -> std::process::ExitCode {
    course::learn::main()
}
