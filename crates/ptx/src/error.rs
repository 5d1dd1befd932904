use std::fmt;

/// A position in PTX text; both numbers start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Position {
    /// Line of the PTX text.
    pub line: u32,
    /// Column of the PTX text, in bytes.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A place at which the text is not PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The first token that does not fit.
    pub position: Position,
    /// The expectation, and what was found.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.message)
    }
}

impl std::error::Error for Error {}
