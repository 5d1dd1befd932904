//! The `coalesce` program from outside.

mod command_line;
#[cfg(unix)]
mod ended_runs;
mod fleet;
mod foreign_programs;
#[cfg(unix)]
mod hostile_files;
mod predictions;
mod program;
mod python_module;
mod shown;
#[cfg(target_os = "linux")]
mod slurm;
