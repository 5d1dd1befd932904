//! The syntax of PTX: text to a tree of directives and generic instructions.
//!
//! Surface syntax is regular (`[@[!]p] opcode(.modifier)* operand, ...;`), so no opcode is known
//! here; meaning is given by `decode`.

mod cursor;
mod expression;
pub(crate) mod lexer;
pub(crate) mod modifiers;
pub(crate) mod parser;
mod statements;
pub(crate) mod tree;
mod variables;
