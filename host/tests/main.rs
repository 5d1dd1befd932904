//! The `coalesce` program from outside.

#[path = "../../tests/chosen.rs"]
mod chosen;
mod command_line;
#[cfg(unix)]
mod ended_runs;
#[cfg(unix)]
mod exit_codes;
#[cfg(unix)]
mod findings;
mod fleet;
mod foreign_programs;
#[cfg(unix)]
mod hostile_files;
#[cfg(unix)]
mod mcp;
mod predictions;
mod program;
mod python_module;
#[cfg(unix)]
mod schema;
mod shown;
#[cfg(target_os = "linux")]
mod slurm;
