//! The instruments for the kernel with the planted race: `cargo planted verify --check`.

fn main() -> std::process::ExitCode {
    coalesce::main(&my_app::planted::CATALOGUE)
}
