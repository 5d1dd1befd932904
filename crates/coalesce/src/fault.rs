use crate::data::Mismatch;

/// The outcome of one variant at one size.
#[derive(Clone, Debug, PartialEq)]
pub enum VerifyOutcome {
    /// Every element of every output is right.
    Correct,
    /// The variant cannot run here or at this size; the text says why.
    NotRun(String),
    /// An output is wrong.
    Wrong(Fault),
}

/// The fault of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// An element differs.
    Element {
        /// The output.
        output: usize,
        /// The first such element, and the number of all of them.
        mismatch: Mismatch,
    },
    /// A byte outside the output was written.
    OutOfBounds {
        /// The output.
        output: usize,
        /// The byte's distance from the output's start.
        byte: isize,
    },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Element { output, mismatch: Mismatch { index, count, result, reference } } => {
                write!(
                    formatter,
                    "output {output}: {count} element(s) differ, the first is [{index}] = {result}, reference {reference}"
                )
            }
            Fault::OutOfBounds { output, byte } => {
                write!(formatter, "output {output}: byte {byte}, outside the array, was written")
            }
        }
    }
}
