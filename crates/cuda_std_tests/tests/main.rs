//! The PTX of every kernel, what it computes, and the messages of the macros.
#![allow(clippy::print_stdout, reason = "tests report what they ran")]

mod accuracy;
mod blackwell;
mod blocks;
mod code;
mod codegen;
mod groups;
mod launches;
mod macros;
mod pipelines;
mod random;
mod safe;
mod textures;
// A list, a line for each item.
#[rustfmt::skip]
mod upstream_api;
