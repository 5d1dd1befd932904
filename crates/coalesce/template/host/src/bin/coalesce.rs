//! The instruments for the kernels of this project: `cargo coalesce --help`.

fn main() -> std::process::ExitCode {
    coalesce::main(&my_app::CATALOGUE)
}
