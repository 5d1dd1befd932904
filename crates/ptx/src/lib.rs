//! PTX text to a tree of directives and instructions: the one reader of PTX here.
//!
//! Surface syntax is regular (`[@[!]p] opcode(.modifier)* operand, ...;`), so no opcode is known here; `simt` gives
//! instructions their meaning.
//!
//! ```
//! let tree = ptx::parse(".version 8.0\n.target sm_80\n.entry twice(.param .u64 a) { ret; }")?;
//! let twice = tree.entry("twice").expect("it is there");
//! assert_eq!((twice.parameters.len(), twice.parameters[0].bytes()), (1, 8));
//! # Ok::<(), ptx::Error>(())
//! ```

mod cursor;
mod error;
mod expand;
mod expression;
mod lexer;
mod listing;
mod modifiers;
mod parser;
pub mod shared_spills;
mod statements;
mod target;
pub mod tree;
mod types;
mod variables;

pub use error::{Error, Position};
pub use listing::ListedLine;
pub use modifiers::Modifiers;
pub use parser::{parse, targets};
pub use target::{Target, family};
pub use types::Type;
