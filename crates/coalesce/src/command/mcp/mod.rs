//! `coalesce mcp`: the executor as tools of a Model Context Protocol server, over standard input and output.
//!
//! A tool runs this program or a compiler as a process of its own with limits on time and memory, so that no kernel of a
//! client ends the server. Answers depend on the request alone.

mod child;
mod protocol;
mod tools;

use anyhow::Result;
use child::Limits;
use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;
use tools::Tools;

/// Serve compile, check, explain and compare as tools of the Model Context Protocol, over standard input and output. No GPU is needed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM mcp\n  PROGRAM mcp --seconds 60 --memory 8192\n\nA client starts it by itself: {\"mcpServers\": {\"coalesce\": {\"command\": \"PROGRAM\", \"args\": [\"mcp\"]}}}"
)]
pub struct Arguments {
    /// End a tool's work after so many seconds.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// The memory that a tool's work may take, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(256..))]
    memory: u64,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let time = Duration::from_secs(arguments.seconds);
    let limits = Limits { time, memory_bytes: arguments.memory << 20 };
    let tools = Tools::new(limits)?;
    protocol::serve(BufReader::new(stdin().lock()), stdout().lock(), &tools)?;
    Ok(ExitCode::SUCCESS)
}
