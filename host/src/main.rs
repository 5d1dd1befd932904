//! `coalesce`: lists, verifies, measures and explains the memory patterns.

fn main() -> std::process::ExitCode {
    coalesce::main(&host::CATALOGUE)
}
