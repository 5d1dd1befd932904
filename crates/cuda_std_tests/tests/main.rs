//! The PTX of every kernel, and the messages of the macros.

mod codegen;
mod macros;
