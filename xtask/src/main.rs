//! Orchestrates Coalesce's builds, tests and benches.
fn main() {}
